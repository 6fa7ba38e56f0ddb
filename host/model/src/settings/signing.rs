//! The secret of the custom webhook, in the format of Standard Webhooks: `whsec_` and the base64
//! of 24 to 64 bytes.

use crate::base64::decode;

/// The bytes of a well-formed secret; none for any other text. The prefix may be left out.
pub(super) fn key(text: &str) -> Option<Vec<u8>> {
    let encoded = text.strip_prefix("whsec_").unwrap_or(text);
    decode(encoded).filter(|key| (24..=64).contains(&key.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_has_24_to_64_bytes() {
        let of = |bytes: usize| format!("whsec_{}", "AAAA".repeat(bytes / 3));
        for (bytes, taken) in [(21, false), (24, true), (63, true), (66, false)] {
            assert_eq!(key(&of(bytes)).is_some(), taken, "{bytes} bytes");
        }
        assert_eq!(key(&"AAAA".repeat(8)).map(|key| key.len()), Some(24));
    }
}
