//! Digests by which a thing is recognised later without being kept.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

/// The first 96 bits of SHA-256 over the parts, as [`MARK`] characters. Enough that nobody makes
/// a certificate which is taken for a given other one.
pub(crate) fn mark(parts: &[&str]) -> String {
    let digest = over(parts);
    URL_SAFE_NO_PAD.encode(digest.first_chunk::<MARK_BYTES>().expect("a digest has 32 bytes"))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes of an even number of hex digits; none for anything else.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}

/// Each part with its length, so that no two lists of parts are the same bytes.
fn over(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// Characters of a mark.
pub(crate) const MARK: usize = 16;
const MARK_BYTES: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_kept_apart() {
        assert_ne!(mark(&["ab", "c"]), mark(&["a", "bc"]));
        assert_ne!(mark(&["a"]), mark(&["a", ""]));
        assert_eq!(mark(&["a", "b"]).len(), MARK);
    }

    #[test]
    fn hex_reads_back() {
        assert_eq!(unhex(&hex(&[0, 0xab, 0xff])), Some(vec![0, 0xab, 0xff]));
        assert_eq!(unhex("0"), None);
        assert_eq!(unhex("zz"), None);
    }
}
