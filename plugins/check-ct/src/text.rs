//! Texts that strangers chose, kept to a length.

/// The first `max` characters, with an ellipsis where something was left out.
pub(crate) fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
