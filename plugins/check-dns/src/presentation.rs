//! Character strings between their bytes, the presentation form of RFC 1035 section 5.1, and what
//! people are shown.

use std::fmt::Write;

/// What stands for the quotes and backslashes of a text that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Within {
    /// Nothing around it: they are shown as they are.
    Nothing,
    /// Quotes around it: they are escaped.
    Quotes,
}

/// The bytes of one or more character strings, joined without a separator. Strings are quoted or
/// single words; `\DDD` is a byte, and `\` before any other character is that character. Never
/// fails: a quote that is not closed ends with the text.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    let mut joined = Vec::with_capacity(text.len());
    let mut quoted = false;
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => quoted = !quoted,
            b'\\' => {
                let mut ahead = rest.clone();
                let digits = [ahead.next(), ahead.next(), ahead.next()];
                if let Some(escaped) = decimal(digits) {
                    joined.push(escaped);
                    rest = ahead;
                } else {
                    joined.extend(rest.next());
                }
            }
            b' ' | b'\t' | b'\r' | b'\n' if !quoted => {}
            _ => joined.push(byte),
        }
    }
    joined
}

/// The bytes as text: what is no printable UTF-8 becomes `\DDD`, byte by byte.
pub(crate) fn shown(bytes: &[u8], within: Within) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' if within == Within::Quotes => text.extend(['\\', c]),
                c if is_printable(c) => text.push(c),
                c => escape(&mut text, c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        escape(&mut text, chunk.invalid());
    }
    text
}

fn escape(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        write!(text, "\\{byte:03}").expect("writing to a string does not fail");
    }
}

fn decimal(digits: [Option<u8>; 3]) -> Option<u8> {
    let value = digits.into_iter().try_fold(0_u16, |value, digit| {
        let digit = digit.filter(u8::is_ascii_digit)?;
        Some(value * 10 + u16::from(digit - b'0'))
    });
    u8::try_from(value?).ok()
}

/// What has a shape of its own and does not rearrange its neighbours: a blank that only looks like
/// one breaks an SPF record, and must be seen.
fn is_printable(c: char) -> bool {
    let invisible = matches!(c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
        | '\u{e0000}'..='\u{e0fff}');
    c == ' ' || !(c.is_control() || c.is_whitespace() || invisible)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn strings_are_joined_with_nothing_between() {
        let table: &[(&str, &[u8])] = &[
            (r#""v=spf1 " "-all""#, b"v=spf1 -all"),
            (r#""a\"b" "\\" "\000\255""#, b"a\"b\\\x00\xff"),
            ("word other", b"wordother"),
            (r#""never closed"#, b"never closed"),
            (r#""\25" "\256" "\"#, b"25256"),
            (r#""""#, b""),
            ("", b""),
        ];
        for (text, expected) in table {
            assert_eq!(bytes(text), *expected, "{text}");
        }
    }

    #[test]
    fn unprintable_bytes_are_shown_as_numbers() {
        let table: &[(&[u8], &str)] = &[
            (b"plain \"quoted\" \\ text", "plain \"quoted\" \\ text"),
            (b"\x00\t\n\x7f", r"\000\009\010\127"),
            ("é 日本".as_bytes(), "é 日本"),
            (b"\xff\xc3", r"\255\195"),
            ("a\u{a0}b\u{202e}c\u{feff}".as_bytes(), r"a\194\160b\226\128\174c\239\187\191"),
        ];
        for (raw, expected) in table {
            assert_eq!(shown(raw, Within::Nothing), *expected);
        }
        assert_eq!(shown(b"a\"b\\", Within::Quotes), r#"a\"b\\"#);
    }

    #[test]
    fn every_byte_value_is_shown() {
        let all: Vec<u8> = (0..=255).collect();
        let text = shown(&all, Within::Quotes);
        assert!(text.chars().all(is_printable));
        assert_eq!(bytes(&format!("\"{text}\"")), all);
    }

    proptest! {
        #[test]
        fn what_is_shown_in_quotes_reads_back(raw in proptest::collection::vec(any::<u8>(), 0..300)) {
            let text = shown(&raw, Within::Quotes);
            prop_assert_eq!(bytes(&format!("\"{text}\"")), raw);
        }

        #[test]
        fn any_text_can_be_read(text in ".*") {
            prop_assert!(bytes(&text).len() <= text.len());
        }
    }
}
