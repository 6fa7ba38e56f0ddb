//! The text of a page: decoded by byte order mark, then header, then what the page declares
//! itself, else as UTF-8 (HTML, 13.2.3.2).

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};
use vedette_sdk::media_type;

mod prescan;

/// The page as text; what cannot be decoded becomes U+FFFD. `content_type` is its header.
pub(crate) fn decode<'a>(body: &'a [u8], content_type: Option<&str>) -> Cow<'a, str> {
    let (encoding, body) = match Encoding::for_bom(body) {
        Some((encoding, mark)) => (encoding, body.get(mark..).unwrap_or_default()),
        None => (declared(body, content_type).unwrap_or(UTF_8), body),
    };
    encoding.decode_without_bom_handling(body).0
}

/// Only markup can declare its own encoding: elsewhere a `<meta>` is mere text.
fn declared(body: &[u8], content_type: Option<&str>) -> Option<&'static Encoding> {
    let named = content_type.and_then(|header| media_type::parameter(header, "charset"));
    let named = named.and_then(|label| Encoding::for_label(label.as_bytes()));
    let markup = content_type.is_none_or(|content_type| {
        let content_type = content_type.to_ascii_lowercase();
        content_type.contains("html") || content_type.contains("xml")
    });
    named.or_else(|| if markup { prescan::encoding(body) } else { None })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn utf16(text: &str, big: bool) -> Vec<u8> {
        let units = text.encode_utf16();
        units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    }

    #[test]
    fn mark_beats_header_beats_declaration() {
        let latin = b"<meta charset=utf-8>caf\xe9";
        let mut marked = b"\xef\xbb\xbf".to_vec();
        marked.extend("<meta charset=latin1>café".as_bytes());
        for (body, content_type, expected) in [
            (latin.to_vec(), Some("text/html; charset=iso-8859-1"), "<meta charset=utf-8>café"),
            (latin.to_vec(), Some("text/html"), "<meta charset=utf-8>caf\u{fffd}"),
            (marked, Some("text/html; charset=iso-8859-1"), "<meta charset=latin1>café"),
            ([b"\xff\xfe".to_vec(), utf16("<p>", false)].concat(), None, "<p>"),
            ([b"\xfe\xff".to_vec(), utf16("<p>", true)].concat(), None, "<p>"),
            (utf16("é", true), Some("text/plain;charset=utf-16be"), "é"),
            (b"\xe9".to_vec(), Some("text/plain; Charset = \"windows-1251\""), "й"),
            (b"\x1b$B%F\x1b(B".to_vec(), Some("text/html; charset=ISO-2022-JP"), "テ"),
            ("é".as_bytes().to_vec(), Some("text/html; charset=unheard-of"), "é"),
            ("é".as_bytes().to_vec(), Some(";;=;charset"), "é"),
        ] {
            assert_eq!(decode(&body, content_type), expected, "{content_type:?}");
        }
    }

    #[test]
    fn only_markup_declares_its_own_encoding() {
        let body = b"<meta charset=windows-1251>\xe9";
        for (content_type, expected) in [
            (None, "й"),
            (Some("text/html"), "й"),
            (Some("application/XHTML+XML"), "й"),
            (Some("application/json"), "\u{fffd}"),
            (Some("text/plain"), "\u{fffd}"),
        ] {
            assert_eq!(
                decode(body, content_type),
                format!("<meta charset=windows-1251>{expected}"),
                "{content_type:?}",
            );
        }
    }

    #[test]
    fn utf8_is_read_where_it_lies() {
        assert!(matches!(decode("é".as_bytes(), None), Cow::Borrowed("é")));
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_text(body: Vec<u8>, content_type: Option<String>) {
            decode(&body, content_type.as_deref());
        }

        #[test]
        fn any_markup_has_an_end(body in "(<|!|--|>|meta|/| |charset|=|\"|'|<\\?xml|encoding|a){0,200}") {
            decode(body.as_bytes(), None);
        }
    }
}
