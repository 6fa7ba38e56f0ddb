//! The character encoding of a page: byte order mark, then header, then what the page declares
//! (HTML, 13.2.3.2).

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use vedette_sdk::media_type;

use super::markup::{Markup, Piece, Tag};

/// How far browsers look for a declaration.
const PRESCAN: usize = 1024;
/// A page that has to be converted may become three times as long, and memory is limited.
const MAX_CONVERTED: usize = 1 << 20;

/// The page as text; none when it is too long to be converted. `declared` is the charset of its
/// `Content-Type`.
pub(super) fn decode<'a>(body: &'a [u8], declared: Option<&str>) -> Option<Cow<'a, str>> {
    let (encoding, body) = match Encoding::for_bom(body) {
        Some((encoding, mark)) => (Some(encoding), &body[mark..]),
        None => (declared.and_then(|label| Encoding::for_label(label.as_bytes())), body),
    };
    let encoding = encoding.or_else(|| prescan(body));
    if encoding.is_none_or(|encoding| encoding == UTF_8)
        && let Ok(text) = std::str::from_utf8(body)
    {
        return Some(Cow::Borrowed(text));
    }
    let encoding = encoding.unwrap_or(WINDOWS_1252);
    (body.len() <= MAX_CONVERTED).then(|| encoding.decode_without_bom_handling(body).0)
}

/// The encoding that an XML declaration or a `<meta>` near the start names.
fn prescan(body: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&body[..body.len().min(PRESCAN)]);
    let label = match head.strip_prefix("<?xml") {
        Some(rest) => xml_encoding(rest).or_else(|| meta_charset(&head))?,
        None => meta_charset(&head)?,
    };
    let encoding = Encoding::for_label(label.as_bytes())?;
    // A declaration that could be read cannot have been written in UTF-16.
    let readable = encoding != UTF_16LE && encoding != UTF_16BE;
    Some(if readable { encoding } else { UTF_8 })
}

fn xml_encoding(declaration: &str) -> Option<String> {
    let declaration = &declaration[..declaration.find("?>")?];
    let (_, value) = declaration.split_once("encoding")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value[1..].split_once(quote).map(|(label, _)| label.to_owned())
}

fn meta_charset(head: &str) -> Option<String> {
    let metas = Markup::new(head, false).filter_map(|piece| match piece {
        Piece::Start(tag) if tag.name == "meta" => Some(tag),
        _ => None,
    });
    metas.into_iter().find_map(|meta| declared_charset(&meta))
}

fn declared_charset(meta: &Tag) -> Option<String> {
    if let Some(charset) = meta.attribute("charset") {
        return Some(charset.to_owned());
    }
    let pragma = meta.attribute("http-equiv")?.trim();
    let content = meta.attribute("content")?;
    if !pragma.eq_ignore_ascii_case("content-type") {
        return None;
    }
    media_type::parameter(content, "charset").map(str::to_owned)
}

#[cfg(test)]
mod tests {
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
        for (body, header, expected) in [
            (latin.to_vec(), Some("iso-8859-1"), "<meta charset=utf-8>café"),
            (latin.to_vec(), None, "<meta charset=utf-8>caf\u{fffd}"),
            (marked, Some("iso-8859-1"), "<meta charset=latin1>café"),
            ([b"\xff\xfe".to_vec(), utf16("<p>", false)].concat(), Some("utf-8"), "<p>"),
            ([b"\xfe\xff".to_vec(), utf16("<p>", true)].concat(), None, "<p>"),
            (utf16("<p>", true), Some("utf-16be"), "<p>"),
            (b"\x1b$B%F\x1b(B".to_vec(), Some("ISO-2022-JP"), "テ"),
        ] {
            assert_eq!(decode(&body, header).as_deref(), Some(expected));
        }
    }

    #[test]
    fn page_declares_its_own_encoding() {
        for (head, expected) in [
            ("<meta charset=windows-1251>", "й"),
            ("<META HTTP-EQUIV='Content-Type' CONTENT='text/html; charset=\"windows-1251\"'>", "й"),
            ("<?xml version='1.0' encoding = 'windows-1251'?>", "й"),
            ("<!-- <meta charset=windows-1251> --><meta charset=latin1>", "é"),
            ("<meta charset=utf-16><meta charset=windows-1251>", "\u{fffd}"),
            ("<meta content='charset=windows-1251'>", "é"),
            ("<meta charset=unheard-of>", "é"),
            ("", "é"),
        ] {
            let body = [head.as_bytes(), b"\xe9"].concat();
            let expected = format!("{head}{expected}");
            assert_eq!(decode(&body, None).as_deref(), Some(expected.as_str()), "{head}");
        }
    }

    #[test]
    fn undeclared_utf8_is_read_as_it_is() {
        assert!(matches!(decode("é".as_bytes(), None), Some(Cow::Borrowed("é"))));
    }

    #[test]
    fn long_page_is_read_unless_it_has_to_be_converted() {
        let mut page = vec![b'x'; MAX_CONVERTED + 1];
        assert!(decode(&page, None).is_some());
        assert!(decode(&page, Some("utf-8")).is_some());
        assert!(decode(&page, Some("windows-1251")).is_none());
        page[0] = 0xe9;
        assert!(decode(&page, Some("utf-8")).is_none());
        page.pop();
        assert!(decode(&page, Some("utf-8")).is_some());
    }
}
