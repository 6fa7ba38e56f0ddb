//! What the owner wrote, as HTML, JSON and RSS can all hold it.

/// Without the characters that are an error in HTML, or that XML cannot hold however they are
/// written: control characters, and those that Unicode says are none.
pub(super) fn clean(text: &str) -> String {
    text.chars().filter(|c| is_text(*c)).collect()
}

/// Whether nobody would see anything of it.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_unseen(c))
}

fn is_text(c: char) -> bool {
    let code = u32::from(c);
    let is_character = code & 0xfffe != 0xfffe && !(0xfdd0..=0xfdef).contains(&code);
    is_character && (!c.is_control() || matches!(c, '\t' | '\n' | '\r'))
}

/// What Unicode lets a display ignore where it knows nothing better
/// (`Default_Ignorable_Code_Point`), and the empty pattern of Braille.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_html_or_xml_cannot_hold_is_left_out_and_all_else_stays() {
        let odd = "\u{0}\u{8}\u{b}\u{1b}\u{7f}\u{85}\u{9f}\u{fdd0}\u{fffe}\u{ffff}\u{10ffff}";
        assert_eq!(clean(&format!("a{odd}b")), "ab");
        let fine =
            "two\tlines\r\nü — \u{202e}\u{5d0}\u{200d}\u{1f3f3}\u{fe0f} <&> \u{fffd}\u{fdcf}";
        assert_eq!(clean(fine), fine);
    }

    #[test]
    fn what_nobody_sees_is_blank() {
        for blank in ["", " \n", "\u{202e}\u{200b}", "\u{a0}\u{3164}\u{2800}", "\u{feff}\u{e0041}"]
        {
            assert!(is_blank(blank), "{blank:?}");
        }
        for seen in ["a", "\u{200b}.", "\u{202e}\u{5d0}", "—", "\u{1f3f3}\u{fe0f}"] {
            assert!(!is_blank(seen), "{seen:?}");
        }
    }
}
