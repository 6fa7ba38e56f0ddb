//! What a text of somebody else may do to the line that it is shown in.

/// Whether the character ends a line or turns the direction of reading: in a log, a mail's subject or
/// an answer it would make other words of those around it.
pub fn misleads(c: char) -> bool {
    ends_line(c) || turns_direction(c)
}

/// Controls, and the separators of Unicode.
pub fn ends_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// The marks, embeddings, overrides and isolates of the bidirectional algorithm (UAX #9, 2).
pub fn turns_direction(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_misleads_is_told_from_what_people_write() {
        for c in ['\0', '\n', '\u{1b}', '\u{85}', '\u{2028}', '\u{2029}'] {
            assert!(ends_line(c) && misleads(c) && !turns_direction(c), "{c:?}");
        }
        for c in ['\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}']
        {
            assert!(turns_direction(c) && misleads(c) && !ends_line(c), "{c:?}");
        }
        // A space, a hyphen that breaks, joiners of scripts and of emoji.
        for c in
            [' ', 'a', 'é', '\u{5d0}', '\u{ad}', '\u{200c}', '\u{200d}', '\u{fe0f}', '\u{1f3f3}']
        {
            assert!(!misleads(c), "{c:?}");
        }
    }
}
