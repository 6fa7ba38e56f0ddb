//! The text of a page, as browsers read it: by its byte order mark, then its header, then what the page
//! itself declares; else as UTF-8 if it is that, and as windows-1252 if not (HTML, 13.2.3.2).

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use crate::media_type;

mod prescan;

/// A page as it was served.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// Without the byte order mark.
    bytes: &'a [u8],
    /// None if nothing says it.
    encoding: Option<&'static Encoding>,
}

impl<'a> Page<'a> {
    /// `content_type` is its header.
    pub fn of(body: &'a [u8], content_type: Option<&str>) -> Self {
        match Encoding::for_bom(body) {
            Some((encoding, mark)) => {
                Self { bytes: body.get(mark..).unwrap_or_default(), encoding: Some(encoding) }
            }
            None => Self { bytes: body, encoding: declared(body, content_type) },
        }
    }

    /// The text where it lies, if it is UTF-8; then nothing has to be converted.
    pub fn as_utf8(&self) -> Option<&'a str> {
        let may_be = self.encoding.is_none_or(|encoding| encoding == UTF_8);
        if may_be { std::str::from_utf8(self.bytes).ok() } else { None }
    }

    /// The text; what cannot be read becomes U+FFFD. One that is converted takes up to three times as
    /// much memory as the page.
    pub fn text(&self) -> Cow<'a, str> {
        if let Some(text) = self.as_utf8() {
            return Cow::Borrowed(text);
        }
        self.encoding.unwrap_or(WINDOWS_1252).decode_without_bom_handling(self.bytes).0
    }
}

/// Only markup can declare its own encoding: elsewhere a `<meta>` is mere text.
fn declared(body: &[u8], content_type: Option<&str>) -> Option<&'static Encoding> {
    let content_type = content_type.filter(|header| !header.trim().is_empty());
    let named = content_type.and_then(|header| media_type::parameter(header, "charset"));
    let named = named.and_then(|label| Encoding::for_label(label.as_bytes()));
    let is_markup = content_type.is_none_or(|content_type| {
        let content_type = content_type.to_ascii_lowercase();
        content_type.contains("html") || content_type.contains("xml")
    });
    named.or_else(|| if is_markup { prescan::encoding(body) } else { None })
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
            assert_eq!(Page::of(&body, content_type).text(), expected, "{content_type:?}");
        }
    }

    #[test]
    fn only_markup_declares_its_own_encoding() {
        let body = b"<meta charset=windows-1251>\xe9";
        for (content_type, expected) in [
            (None, "й"),
            (Some("text/html"), "й"),
            (Some("application/XHTML+XML"), "й"),
            (Some(" "), "й"),
            (Some("application/json"), "é"),
            (Some("text/plain"), "é"),
        ] {
            assert_eq!(
                Page::of(body, content_type).text(),
                format!("<meta charset=windows-1251>{expected}"),
                "{content_type:?}",
            );
        }
    }

    #[test]
    fn utf8_is_read_where_it_lies() {
        for (content_type, lies_there) in [
            (None, true),
            (Some("text/plain; charset=utf-8"), true),
            (Some("a/b; charset=latin1"), false),
        ] {
            let page = Page::of("é".as_bytes(), content_type);
            assert_eq!(page.as_utf8().is_some(), lies_there, "{content_type:?}");
            assert_eq!(matches!(page.text(), Cow::Borrowed("é")), lies_there, "{content_type:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_text(body: Vec<u8>, content_type: Option<String>) {
            Page::of(&body, content_type.as_deref()).text();
        }

        #[test]
        fn any_markup_has_an_end(body in "(<|!|--|>|meta|/| |charset|=|\"|'|<\\?xml|encoding|a){0,200}") {
            Page::of(body.as_bytes(), None).text();
        }
    }
}
