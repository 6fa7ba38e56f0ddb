//! Digests by which a thing is recognised later without being kept.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

/// The first 96 bits of SHA-256 over the parts, as [`MARK`] characters. Enough that nobody makes
/// a certificate which is taken for a given other one.
pub(crate) fn mark(parts: &[&str]) -> String {
    let digest = over(parts);
    URL_SAFE_NO_PAD.encode(digest.first_chunk::<MARK_BYTES>().expect("a digest has 32 bytes"))
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
}
