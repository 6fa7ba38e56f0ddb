//! A search for a name in bytes, whatever its case, in linear time: certificates carry their
//! names as plain ASCII, so most of a log need not be parsed at all.

/// What is looked for (Knuth, Morris, Pratt).
#[derive(Debug)]
pub(super) struct Needle {
    /// Lower case.
    text: Vec<u8>,
    /// For each prefix, the longest border: how much still matches after a mismatch.
    borders: Vec<usize>,
}

impl Needle {
    pub(super) fn new(text: &str) -> Self {
        let text = text.to_ascii_lowercase().into_bytes();
        let mut borders = vec![0; text.len()];
        let mut matched = 0;
        for at in 1..text.len() {
            matched = step(&text, &borders, matched, text[at]);
            borders[at] = matched;
        }
        Self { text, borders }
    }

    /// An empty text is nowhere.
    pub(super) fn is_in(&self, bytes: &[u8]) -> bool {
        let mut matched = 0;
        bytes.iter().any(|byte| {
            matched = step(&self.text, &self.borders, matched, byte.to_ascii_lowercase());
            !self.text.is_empty() && matched == self.text.len()
        })
    }
}

/// How much of the text matches after one more byte.
fn step(text: &[u8], borders: &[usize], mut matched: usize, byte: u8) -> usize {
    loop {
        if text.get(matched) == Some(&byte) {
            return matched + 1;
        }
        match matched.checked_sub(1).and_then(|last| borders.get(last)) {
            Some(border) => matched = *border,
            None => return 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_found_in_any_case() {
        let needle = Needle::new("www.Example.com");
        assert!(needle.is_in(b"\x82\x0fwww.example.COM\x82"));
        assert!(needle.is_in(b"wwww.wwww.www.example.com"));
        assert!(!needle.is_in(b"www.example.co"));
        assert!(!needle.is_in(b""));
        assert!(!Needle::new("").is_in(b"x"));
    }

    #[test]
    fn search_is_linear_where_comparing_at_each_place_is_not() {
        let needle = Needle::new(&format!("{}b", "a".repeat(2_000)));
        assert!(!needle.is_in(&vec![b'a'; 2 << 20]));
    }

    proptest! {
        #[test]
        fn finds_what_a_plain_search_finds(needle in "[ab]{1,6}", text in "[ab]{0,60}") {
            prop_assert_eq!(Needle::new(&needle).is_in(text.as_bytes()), text.contains(&needle));
        }
    }
}
