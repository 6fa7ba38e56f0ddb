//! Texts that strangers chose, made fit to be kept and shown.

/// The first `max` characters without control characters, with an ellipsis where something was
/// left out.
pub(crate) fn cut(text: &str, max: usize) -> String {
    let mut shown: String = text.chars().filter(|c| !c.is_control()).take(max + 1).collect();
    if let Some((end, _)) = shown.char_indices().nth(max) {
        shown.truncate(end);
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_end_in_an_ellipsis_and_controls_are_gone() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("äöüß", 3), "äöü…");
        assert_eq!(cut("a\u{1b}[1mb\r\n", 9), "a[1mb");
    }
}
