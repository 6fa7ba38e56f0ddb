//! Words of others as one harmless line.

use vedette_sdk::message::plain;

/// `text` on one line of at most `longest` characters: line breaks and other controls are blanks,
/// and what is invisible or turns the direction of reading is gone.
pub(crate) fn clean(text: &str, longest: usize) -> String {
    cut(plain(text), longest)
}

/// A name of which the end is kept: that is where it says whose it is.
pub(crate) fn name(text: &str, longest: usize) -> String {
    let name = clean(text, usize::MAX);
    let length = name.chars().count();
    if length <= longest {
        return name;
    }
    let end: String = name.chars().skip(length + 1 - longest).collect();
    format!("…{end}")
}

/// A line that stands in a mail header: `=?` would begin an encoded word (RFC 2047), which a
/// reader decodes to whatever its author wanted.
pub(crate) fn header(text: &str, longest: usize) -> String {
    cut(text.replace("=?", "= ?"), longest)
}

fn cut(text: String, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text;
    }
    let kept: String = text.chars().take(longest.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_are_one_line() {
        for (text, expected) in [
            ("the certificate expires", "the certificate expires"),
            ("one\r\nBcc: two@example.com", "one Bcc: two@example.com"),
            ("a\u{2028}b\u{2029}c\u{85}d\te", "a b c d e"),
            ("\0a\u{1b}[31mred", "a [31mred"),
            ("abc\u{202e}fdp.exe\u{202c}", "abcfdp.exe"),
            ("pay\u{200b}pal\u{feff}", "paypal"),
            ("  two   blanks ", "two blanks"),
            ("bücher 猫", "bücher 猫"),
            ("بانک\u{200c}ها", "بانک\u{200c}ها"),
            ("", ""),
        ] {
            assert_eq!(clean(text, 80), expected, "{text:?}");
        }
    }

    #[test]
    fn long_lines_are_cut_and_long_names_keep_their_end() {
        assert_eq!(clean("abcdef", 6), "abcdef");
        assert_eq!(clean("abcdefg", 6), "abcde…");
        assert_eq!(clean("abcd efg", 6), "abcd…");
        assert_eq!(name("bank.example.evil.test", 10), "…evil.test");
        assert_eq!(name("short.test", 10), "short.test");
    }

    #[test]
    fn encoded_word_is_not_one_any_more() {
        assert_eq!(header("=?utf-8?b?SGk=?=", 80), "= ?utf-8?b?SGk= ?=");
        assert_eq!(header("a=??=b", 80), "a= ??=b");
    }
}
