//! The grammar of `Strict-Transport-Security` (RFC 6797, 6.1 and 8.1).

use std::collections::BTreeSet;

use crate::result::Hsts;

/// Reads the header of a host's first response. Only the first field counts (RFC 6797, 8.1); an
/// invalid one is as good as none.
pub(crate) fn policy(headers: &[(String, String)]) -> Hsts {
    let mut fields = headers.iter();
    let first = fields.find(|(name, _)| name.eq_ignore_ascii_case("strict-transport-security"));
    first.and_then(|(_, value)| parse(value)).unwrap_or_default()
}

/// None when the value breaks the grammar or lacks what it requires.
fn parse(value: &str) -> Option<Hsts> {
    let mut directives = Directives(value);
    let mut seen = BTreeSet::new();
    let mut policy = Hsts::default();
    loop {
        directives.skip_separators();
        if directives.0.is_empty() {
            break;
        }
        let (name, value) = directives.next_directive()?;
        match (name.as_str(), value) {
            ("max-age", value) => policy.max_age = Some(seconds(&value?)?),
            ("includesubdomains", None) => policy.include_sub_domains = true,
            ("includesubdomains", Some(_)) => return None,
            // Not of the RFC, so any value makes it another, unknown directive.
            ("preload", None) => policy.preload = true,
            _ => {}
        }
        if !seen.insert(name) {
            return None;
        }
    }
    policy.enabled = policy.max_age? > 0;
    Some(policy)
}

/// What is left of the value.
struct Directives<'a>(&'a str);

impl<'a> Directives<'a> {
    /// Empty directives are allowed: `;; max-age=1 ;`.
    fn skip_separators(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t', ';']);
    }

    /// One directive and what separates it from the next: the name in lower case and its value.
    fn next_directive(&mut self) -> Option<(String, Option<String>)> {
        let name = self.token()?.to_ascii_lowercase();
        self.skip_space();
        let value = match self.0.strip_prefix('=') {
            None => None,
            Some(rest) => {
                self.0 = rest;
                self.skip_space();
                Some(self.value()?)
            }
        };
        self.skip_space();
        (self.0.is_empty() || self.0.starts_with(';')).then_some((name, value))
    }

    fn value(&mut self) -> Option<String> {
        match self.0.strip_prefix('"') {
            Some(rest) => self.quoted(rest),
            None => self.token().map(str::to_owned),
        }
    }

    /// The rest of a quoted string (RFC 9110, 5.6.4) behind its opening quote.
    fn quoted(&mut self, rest: &'a str) -> Option<String> {
        let mut text = String::new();
        let mut chars = rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.0 = &rest[at + 1..];
                    return Some(text);
                }
                '\\' => text.push(chars.next().map(|(_, c)| c).filter(|&c| is_text(c))?),
                c if is_text(c) => text.push(c),
                _ => return None,
            }
        }
        None
    }

    fn token(&mut self) -> Option<&'a str> {
        let end = self.0.find(|c: char| !is_token(c)).unwrap_or(self.0.len());
        let (token, rest) = self.0.split_at(end);
        self.0 = rest;
        (!token.is_empty()).then_some(token)
    }

    fn skip_space(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t']);
    }
}

/// Digits alone; larger numbers than JSON can carry exactly mean the same as the largest.
fn seconds(digits: &str) -> Option<u64> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(MAX_AGE).min(MAX_AGE))
}

/// RFC 9110, 5.6.2.
fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

fn is_text(c: char) -> bool {
    c == '\t' || !c.is_control()
}

const MAX_AGE: u64 = (1 << 53) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&str]) -> Vec<(String, String)> {
        let field = |value: &&str| ("Strict-Transport-Security".to_owned(), (*value).to_owned());
        values.iter().map(field).collect()
    }

    fn on(max_age: u64, include_sub_domains: bool, preload: bool) -> Hsts {
        Hsts { enabled: max_age > 0, max_age: Some(max_age), include_sub_domains, preload }
    }

    #[test]
    fn valid_headers_are_read() {
        for (value, expected) in [
            // The examples of RFC 6797, 6.2.
            ("max-age=31536000", on(31_536_000, false, false)),
            ("max-age=15768000 ; includeSubDomains", on(15_768_000, true, false)),
            ("max-age=\"31536000\"", on(31_536_000, false, false)),
            ("max-age=0", on(0, false, false)),
            ("max-age=0; includeSubDomains", on(0, true, false)),
            // Case, order, space and empty directives do not matter.
            ("MAX-AGE=1;INCLUDESUBDOMAINS;PRELOAD", on(1, true, true)),
            ("includeSubDomains; preload; max-age=63072000", on(63_072_000, true, true)),
            (" \t;; max-age \t= \t1 \t; ;", on(1, false, false)),
            ("max-age=1;includeSubDomains;", on(1, true, false)),
            ("max-age=\"\\3\\1\"", on(31, false, false)),
            ("max-age=007", on(7, false, false)),
            // Unknown directives are ignored, with or without a value.
            ("max-age=1; foo; bar=baz; quux=\"a;b=\\\"c\\\"\"", on(1, false, false)),
            ("max-age=1; x=\"; includeSubDomains\"", on(1, false, false)),
            ("max-age=1; preload=yes", on(1, false, false)),
            ("max-age=1; x=\"\"", on(1, false, false)),
            ("max-age=1; x=\"é\"", on(1, false, false)),
            // Too large for an exact number in JSON.
            ("max-age=9007199254740993", on(MAX_AGE, false, false)),
            ("max-age=99999999999999999999999999", on(MAX_AGE, false, false)),
        ] {
            assert_eq!(policy(&headers(&[value])), expected, "{value}");
        }
    }

    #[test]
    fn invalid_headers_are_as_good_as_none() {
        for value in [
            "",
            ";",
            "includeSubDomains",
            "max-age",
            "max-age=",
            "max-age=;includeSubDomains",
            "max-age=\"\"",
            "max-age=-1",
            "max-age=+1",
            "max-age=1.5",
            "max-age=0x10",
            "max-age=1e3",
            "max-age=31536000s",
            "max-age=1 2",
            "max-age='1'",
            "\"max-age\"=1",
            "max-age=1; max-age=1",
            "max-age=1; MAX-AGE=2",
            "max-age=1; includeSubDomains; includeSubDomains",
            "max-age=1; foo; FOO=2",
            "max-age=1; includeSubDomains=true",
            "max-age=1; includeSubDomains=\"\"",
            "max-age=1; foo bar",
            "max-age=1; foo=",
            "max-age=1; foo=bar baz",
            "max-age=1; =x",
            "max-age=1; foo=\"bar",
            "max-age=1; foo=\"bar\\",
            "max-age=1; foo=\"bar\"baz",
            "max-age=1, max-age=2",
            "max-age=1 includeSubDomains",
            "max-age:1",
        ] {
            assert_eq!(policy(&headers(&[value])), Hsts::default(), "{value}");
        }
    }

    #[test]
    fn header_of_many_directives_is_read_in_one_pass() {
        let many: String = (0..16_000).map(|n| format!("a{n:x};")).collect();
        assert_eq!(policy(&headers(&[&format!("{many}max-age=1")])), on(1, false, false));
        assert_eq!(policy(&headers(&[&format!("{many}max-age=1;a0")])), Hsts::default());
    }

    #[test]
    fn only_the_first_header_counts() {
        assert_eq!(policy(&headers(&["max-age=1", "max-age=2"])), on(1, false, false));
        assert_eq!(policy(&headers(&["nonsense", "max-age=2"])), Hsts::default());
        assert_eq!(policy(&[("server".to_owned(), "max-age=2".to_owned())]), Hsts::default());
    }
}
