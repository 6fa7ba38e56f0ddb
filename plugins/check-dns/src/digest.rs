//! Short stand-ins for long texts.

/// FNV-1a of 128 bits over texts, each with its length: recognises what was there before, and need
/// not resist an attacker, since the one who chooses the records also owns the name.
pub(crate) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let mut mix = |bytes: &[u8]| {
        for byte in bytes {
            hash ^= u128::from(*byte);
            hash = hash.wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    };
    for text in texts {
        mix(&(text.len() as u64).to_le_bytes());
        mix(text.as_bytes());
    }
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_told_apart() {
        assert_eq!(of(["a", "b"]), of(["a", "b"]));
        for other in [vec!["ab"], vec!["b", "a"], vec!["a", "b", ""], vec![]] {
            assert_ne!(of(["a", "b"]), of(other));
        }
    }
}
