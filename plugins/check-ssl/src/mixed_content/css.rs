//! References in style sheets: as much of the CSS syntax as tells them from comments and strings.

use crate::result::Kind;

/// Calls `found` for every reference of a sheet or of a `style` attribute: `url()` is an image,
/// hence passive; `@import` and the `url()` of a `@font-face` are active.
pub(super) fn references(css: &str, found: &mut dyn FnMut(Kind, &str)) {
    let mut scan = Scan { rest: css, depth: 0, font_face: None, rule: Rule::Plain };
    while let Some(token) = scan.next_token() {
        scan.take(token, found);
    }
}

enum Token {
    AtKeyword(String),
    Text(String),
    Url(String),
    Open,
    Close,
    Semicolon,
    Other,
}

/// What the prelude being read belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    Plain,
    /// `@import` before its reference.
    Import,
    FontFace,
    /// `@namespace` and the like: their URLs are names and are never fetched.
    Named,
}

struct Scan<'a> {
    rest: &'a str,
    depth: usize,
    /// Depth at which the block of a `@font-face` was opened.
    font_face: Option<usize>,
    rule: Rule,
}

impl<'a> Scan<'a> {
    fn take(&mut self, token: Token, found: &mut dyn FnMut(Kind, &str)) {
        match token {
            Token::AtKeyword(name) => self.rule = rule(&name),
            Token::Text(url) if self.rule == Rule::Import => self.import(&url, found),
            Token::Url(url) => match self.rule {
                Rule::Import => self.import(&url, found),
                Rule::Named => {}
                Rule::Plain | Rule::FontFace if self.font_face.is_some() => {
                    found(Kind::Active, &url);
                }
                Rule::Plain | Rule::FontFace => found(Kind::Passive, &url),
            },
            Token::Open => {
                self.depth += 1;
                if self.rule == Rule::FontFace {
                    self.font_face = Some(self.depth);
                }
                self.rule = Rule::Plain;
            }
            Token::Close => {
                if self.font_face == Some(self.depth) {
                    self.font_face = None;
                }
                self.depth = self.depth.saturating_sub(1);
                self.rule = Rule::Plain;
            }
            Token::Semicolon => self.rule = Rule::Plain,
            Token::Text(_) | Token::Other => {}
        }
    }

    /// The first reference is the sheet; conditions may follow.
    fn import(&mut self, url: &str, found: &mut dyn FnMut(Kind, &str)) {
        found(Kind::Active, url);
        self.rule = Rule::Named;
    }

    fn next_token(&mut self) -> Option<Token> {
        let first = self.rest.chars().next()?;
        let token = match first {
            '/' if self.rest.starts_with("/*") => {
                self.rest = self.rest[2..].split_once("*/").map_or("", |(_, rest)| rest);
                return Some(Token::Other);
            }
            '"' | '\'' => {
                self.rest = &self.rest[1..];
                return Some(Token::Text(self.string(first)));
            }
            '@' => {
                self.rest = &self.rest[1..];
                return Some(Token::AtKeyword(self.identifier().to_ascii_lowercase()));
            }
            c if is_name(c) => return Some(self.identifier_or_url()),
            '{' => Token::Open,
            '}' => Token::Close,
            ';' => Token::Semicolon,
            _ => Token::Other,
        };
        self.rest = &self.rest[first.len_utf8()..];
        Some(token)
    }

    fn identifier_or_url(&mut self) -> Token {
        let name = self.identifier();
        let Some(rest) = self.rest.strip_prefix('(').filter(|_| name.eq_ignore_ascii_case("url"))
        else {
            return Token::Other;
        };
        self.rest = rest.trim_start();
        match self.rest.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                self.rest = &self.rest[1..];
                Token::Url(self.string(quote))
            }
            _ => Token::Url(self.bare_url()),
        }
    }

    fn identifier(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.rest.chars().next() {
            if c == '\\' {
                name.push(self.escape());
            } else if is_name(c) {
                name.push(c);
                self.rest = &self.rest[c.len_utf8()..];
            } else {
                break;
            }
        }
        name
    }

    /// Up to the closing quote; an unescaped line break ends a broken string.
    fn string(&mut self, quote: char) -> String {
        let mut text = String::new();
        while let Some(c) = self.rest.chars().next() {
            if c == '\\' {
                text.push(self.escape());
                continue;
            }
            self.rest = &self.rest[c.len_utf8()..];
            if c == quote || c == '\n' {
                break;
            }
            text.push(c);
        }
        text.replace('\0', "")
    }

    fn bare_url(&mut self) -> String {
        let mut url = String::new();
        while let Some(c) = self.rest.chars().next() {
            if c == '\\' {
                url.push(self.escape());
                continue;
            }
            self.rest = &self.rest[c.len_utf8()..];
            if c == ')' || c.is_ascii_whitespace() {
                break;
            }
            url.push(c);
        }
        url
    }

    /// A backslash and what it stands for: up to six hex digits and one space, or any character.
    /// An escaped line break stands for nothing, shown as NUL, which no CSS text holds otherwise.
    fn escape(&mut self) -> char {
        let rest = &self.rest[1..];
        let digits = rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits > 0 {
            let code = u32::from_str_radix(&rest[..digits], 16).ok();
            let rest = &rest[digits..];
            self.rest = rest.strip_prefix([' ', '\t', '\n']).unwrap_or(rest);
            return code.filter(|&code| code != 0).and_then(char::from_u32).unwrap_or('\u{fffd}');
        }
        let next = rest.chars().next().unwrap_or('\u{fffd}');
        self.rest = rest.get(next.len_utf8()..).unwrap_or("");
        if next == '\n' { '\0' } else { next }
    }
}

fn rule(name: &str) -> Rule {
    match name {
        "import" => Rule::Import,
        "font-face" => Rule::FontFace,
        "namespace" | "charset" | "document" | "-moz-document" => Rule::Named,
        _ => Rule::Plain,
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '\\') || !c.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(css: &str) -> Vec<(Kind, String)> {
        let mut all = Vec::new();
        references(css, &mut |kind, url| all.push((kind, url.to_owned())));
        all
    }

    fn passive(url: &str) -> (Kind, String) {
        (Kind::Passive, url.to_owned())
    }

    fn active(url: &str) -> (Kind, String) {
        (Kind::Active, url.to_owned())
    }

    #[test]
    fn images_are_passive() {
        for css in [
            "background: url(http://a/b.png)",
            "background:URL( 'http://a/b.png' ) no-repeat",
            "p { background: url(\"http://a/b.png\") }",
            "@media print { p { background: u\\72l(http\\3a //a/b.png) } }",
            "background: url(http:\\/\\/a/b.png)",
            "background: url('http://a/\\\nb.png')",
            "background: url(http://a/b.png",
            "list-style: url(http://a/b.png\n)",
        ] {
            assert_eq!(found(css), [passive("http://a/b.png")], "{css}");
        }
    }

    #[test]
    fn imports_and_fonts_are_active() {
        for (css, expected) in [
            ("@import 'http://a/x.css';", vec![active("http://a/x.css")]),
            ("@IMPORT url(http://a/x.css) screen;", vec![active("http://a/x.css")]),
            (
                "@import url('x') supports(background: url(y)); p{a:url(z)}",
                vec![active("x"), passive("z")],
            ),
            (
                "@font-face { src: url(f) format('woff'), url(g) } p { background: url(b) }",
                vec![active("f"), active("g"), passive("b")],
            ),
            (
                "@media all { @font-face { src: url(f) } i { background: url(b) } }",
                vec![active("f"), passive("b")],
            ),
        ] {
            assert_eq!(found(css), expected, "{css}");
        }
    }

    #[test]
    fn comments_strings_and_names_are_no_references() {
        for css in [
            "/* url(http://a) */",
            "/* url(http://a)",
            "p::after { content: 'url(http://a)' }",
            "p::after { content: \"\\\"url(http://a)\" }",
            "@namespace svg url(http://www.w3.org/2000/svg);",
            "@namespace 'http://www.w3.org/1999/xhtml';",
            "@document url(http://a) {}",
            "p { x: my-url(http://a) }",
            "",
            "\\",
        ] {
            assert_eq!(found(css), [], "{css}");
        }
    }
}
