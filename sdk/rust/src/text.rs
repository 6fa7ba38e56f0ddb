//! Texts that strangers chose, kept to a length.

/// The first `max` characters, with an ellipsis where something was left out.
pub fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_ends_between_two_characters() {
        assert_eq!(cut("naïve", 3), "naï…");
        assert_eq!(cut("naïve", 5), "naïve");
    }
}
