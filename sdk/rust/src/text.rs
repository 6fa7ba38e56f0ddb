//! Texts that strangers chose, kept to a length.

/// The first `max` characters, with an ellipsis where something was left out.
pub fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// At most `max` bytes, and an ellipsis where something was left out.
pub fn limit(mut text: String, max: usize) -> String {
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
        assert_eq!(cut("naïve", 3), "naï…");
        assert_eq!(cut("naïve", 5), "naïve");
        assert_eq!(limit("naïve".to_owned(), 3), "na…");
        assert_eq!(limit("naïve".to_owned(), 4), "naï…");
        assert_eq!(limit("naïve".to_owned(), 6), "naïve");
    }
}
