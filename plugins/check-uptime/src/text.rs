//! Texts that strangers chose, kept to a length.

pub(crate) use vedette_sdk::text::cut;

/// At most `max` bytes, and an ellipsis.
pub(crate) fn limit(mut text: String, max: usize) -> String {
    if text.len() > max {
        text.truncate(text.floor_char_boundary(max));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_ends_between_two_characters() {
        assert_eq!(limit("naïve".to_owned(), 3), "na…");
        assert_eq!(limit("naïve".to_owned(), 4), "naï…");
        assert_eq!(limit("naïve".to_owned(), 6), "naïve");
    }
}
