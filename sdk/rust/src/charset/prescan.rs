//! What a page says of its encoding near its start: the prescan of HTML (13.2.3.2), which reads
//! bytes, since there is no text yet.
//!
//! *Invariant:* one pass over at most [`LOOK_AT`] bytes.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// How far browsers look for a declaration.
const LOOK_AT: usize = 1024;

/// The encoding that an XML declaration or a `<meta>` names.
pub(super) fn encoding(body: &[u8]) -> Option<&'static Encoding> {
    let head = body.get(..LOOK_AT).unwrap_or(body);
    let declared = xml_declaration(head).or_else(|| Scan { rest: head }.meta())?;
    Some(match declared {
        // A declaration that could be read cannot have been written in UTF-16.
        wide if wide == UTF_16LE || wide == UTF_16BE => UTF_8,
        own if own == X_USER_DEFINED => WINDOWS_1252,
        encoding => encoding,
    })
}

/// `<?xml version="1.0" encoding="…"?>`, only at the very start.
fn xml_declaration(head: &[u8]) -> Option<&'static Encoding> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let end = declaration.iter().position(|b| *b == b'>')?;
    let declaration = String::from_utf8_lossy(declaration.get(..end)?);
    let (_, value) = declaration.split_once("encoding")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (label, _) = value.get(1..)?.split_once(quote)?;
    Encoding::for_label(label.as_bytes())
}

/// What is left to look at.
struct Scan<'a> {
    rest: &'a [u8],
}

/// Name and value; both lower case, since labels of encodings have no case.
#[derive(Debug, PartialEq)]
struct Attribute {
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Scan<'_> {
    /// The encoding of the first `<meta>` that names one.
    fn meta(&mut self) -> Option<&'static Encoding> {
        while let Some(first) = self.take() {
            if first != b'<' {
                continue;
            }
            match self.peek() {
                Some(b'!') if self.rest.starts_with(b"!--") => self.comment(),
                Some(b'/') if self.rest.get(1).is_some_and(u8::is_ascii_alphabetic) => {
                    self.take();
                    self.tag();
                }
                Some(b'!' | b'/' | b'?') => self.skip_while(|b| b != b'>'),
                Some(letter) if letter.is_ascii_alphabetic() => {
                    let (name, attributes) = self.tag();
                    let declared = (name == b"meta").then(|| declared(&attributes)).flatten();
                    if declared.is_some() {
                        return declared;
                    }
                }
                Some(_) | None => {}
            }
        }
        None
    }

    /// To the end of a comment. Its dashes may be those that opened it: `<!-->`.
    fn comment(&mut self) {
        self.take();
        let end = self.rest.windows(3).position(|three| three == b"-->");
        self.rest = end.and_then(|end| self.rest.get(end + 3..)).unwrap_or_default();
    }

    /// Name and attributes of a tag.
    fn tag(&mut self) -> (Vec<u8>, Vec<Attribute>) {
        let name = self.word(|b| is_space(b) || matches!(b, b'/' | b'>'));
        let attributes = std::iter::from_fn(|| self.attribute()).collect();
        (name, attributes)
    }

    /// The next attribute of a tag; none at its end.
    fn attribute(&mut self) -> Option<Attribute> {
        self.skip_while(|b| is_space(b) || b == b'/');
        if matches!(self.peek(), None | Some(b'>')) {
            return None;
        }
        // A name may begin with the sign that ends it elsewhere.
        let mut name = vec![self.take()?.to_ascii_lowercase()];
        name.extend(self.word(|b| is_space(b) || matches!(b, b'=' | b'/' | b'>')));
        self.skip_while(is_space);
        if self.peek() != Some(b'=') {
            return Some(Attribute { name, value: Vec::new() });
        }
        self.take();
        self.skip_while(is_space);
        let value = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => {
                self.take();
                let value = self.word(|b| b == quote);
                self.take();
                value
            }
            _ => self.word(|b| is_space(b) || b == b'>'),
        };
        Some(Attribute { name, value })
    }

    /// What stands before the first byte that ends it.
    fn word(&mut self, ends: impl Fn(u8) -> bool) -> Vec<u8> {
        let length = self.rest.iter().position(|b| ends(*b)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        word.to_ascii_lowercase()
    }

    fn skip_while(&mut self, skipped: impl Fn(u8) -> bool) {
        self.word(|b| !skipped(b));
    }

    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn take(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }
}

/// What a `<meta>` declares: by `charset`, or by `content` where `http-equiv` says so. Of doubled
/// attributes the first counts.
fn declared(attributes: &[Attribute]) -> Option<&'static Encoding> {
    let value = |name: &[u8]| {
        let found = attributes.iter().find(|attribute| attribute.name == name);
        found.map(|attribute| attribute.value.as_slice())
    };
    if let Some(label) = value(b"charset") {
        return Encoding::for_label(label);
    }
    if value(b"http-equiv")? != b"content-type" {
        return None;
    }
    Encoding::for_label(in_content(value(b"content")?)?)
}

/// The label in `text/html; charset=…` (HTML, 2.6.4).
fn in_content(content: &[u8]) -> Option<&[u8]> {
    let mut rest = content;
    loop {
        let at = rest.windows(CHARSET.len()).position(|seven| seven == CHARSET)?;
        rest = rest.get(at + CHARSET.len()..)?.trim_ascii_start();
        let Some(label) = rest.strip_prefix(b"=") else { continue };
        let label = label.trim_ascii_start();
        return match label.split_first() {
            Some((quote @ (b'"' | b'\''), label)) => {
                label.split(|b| b == quote).next().filter(|inside| inside.len() < label.len())
            }
            _ => label.split(|b| is_space(*b) || *b == b';').next(),
        };
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

const CHARSET: &[u8] = b"charset";

#[cfg(test)]
mod tests {
    use encoding_rs::WINDOWS_1251;

    use super::*;

    #[test]
    fn page_declares_its_own_encoding() {
        for page in [
            "<meta charset=windows-1251>",
            "<META\tCHARSET = 'Windows-1251' />",
            "<meta/charset=windows-1251>",
            "<!DOCTYPE html><html lang=ru><head><meta charset=\"windows-1251\">",
            "<meta http-equiv=Content-Type content='text/html; charset=\"windows-1251\"'>",
            "<meta content='text/html; charset = windows-1251; x=y' http-equiv=content-type>",
            "<meta content='charset charset=windows-1251' http-equiv=content-type>",
            "<?xml version='1.0' encoding = 'windows-1251'?><html>",
            "<!-- <meta charset=utf-8> --><meta charset=windows-1251>",
            "<!--><meta charset=windows-1251>",
            "<a title='<meta charset=utf-8>'><meta charset=windows-1251>",
            "</a title='<meta charset=utf-8>'><meta charset=windows-1251>",
            "<meta charset=unheard-of><meta charset=windows-1251>",
            "<meta charset=windows-1251 charset=utf-8>",
            "< meta charset=utf-8><metal charset=utf-8><meta charset=windows-1251>",
        ] {
            assert_eq!(encoding(page.as_bytes()), Some(WINDOWS_1251), "{page}");
        }
    }

    #[test]
    fn what_only_looks_like_a_declaration_is_none() {
        let far = format!("{}<meta charset=utf-8>", " ".repeat(LOOK_AT));
        for page in [
            "",
            "<",
            "<meta",
            "<meta charset",
            "<meta charset=>",
            "<meta content='charset=utf-8'>",
            "<meta http-equiv=refresh content='text/html; charset=utf-8'>",
            "<meta http-equiv=content-type content='text/html; charset=\"utf-8'>",
            "<meta http-equiv=content-type content=charset>",
            "<!-- <meta charset=utf-8>",
            "<? <meta charset=utf-8",
            " <?xml encoding='utf-8'?>",
            "<?xml encoding=utf-8?>",
            "<?xml encoding='utf-8",
            "<p charset=utf-8>",
            &far,
        ] {
            assert_eq!(encoding(page.as_bytes()), None, "{page}");
        }
    }

    #[test]
    fn readable_declaration_is_never_of_utf16() {
        assert_eq!(encoding(b"<meta charset=utf-16>"), Some(UTF_8));
        assert_eq!(encoding(b"<meta charset=x-user-defined>"), Some(WINDOWS_1252));
    }
}
