//! The name of a status page in its address.
//!
//! *Invariant:* lower-case letters, digits and single hyphens between them, at most 63 characters:
//! never a dot, so that `.json` and `.rss` after it are never part of it.

use deunicode::deunicode_char;
use serde::{Deserialize, Serialize};

use crate::Invalid;

/// The name of a page in its address.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Slug(String);

impl Slug {
    /// From the page's title, else from the first site's domain.
    pub fn of(title: &str, first_domain: Option<&str>) -> Self {
        let candidates = [title, first_domain.unwrap_or_default()];
        let found = candidates.into_iter().map(simplified).find(|text| !text.is_empty());
        Self(found.unwrap_or_else(|| NAMELESS.to_owned()))
    }

    /// The same with a suffix, where it is somebody else's already.
    #[must_use]
    pub fn with(&self, suffix: impl std::fmt::Display) -> Self {
        Self(format!("{}-{suffix}", self.0))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Slug {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for Slug {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::try_from(text.to_owned())
    }
}

impl TryFrom<String> for Slug {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let is_part = |part: &str| {
            let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
            !part.is_empty() && part.bytes().all(allowed)
        };
        if text.len() <= LONGEST && text.split('-').all(is_part) {
            Ok(Self(text))
        } else {
            Err(Invalid::new("status_page_slug", "must be the name of a status page"))
        }
    }
}

impl From<Slug> for String {
    fn from(slug: Slug) -> Self {
        slug.0
    }
}

/// As ASCII spells it; whatever is neither letter nor digit then becomes one hyphen.
fn simplified(text: &str) -> String {
    let spelled: String = text.chars().map(spelling).collect();
    let words = spelled.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    slug.truncate(LONGEST_BASE);
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// A blank for what has none, and for ideographs: each language that writes them reads them its own
/// way.
fn spelling(letter: char) -> &'static str {
    match letter {
        'ä' | 'Ä' => "ae",
        'ö' | 'Ö' => "oe",
        'ü' | 'Ü' => "ue",
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'.. => " ",
        letter => deunicode_char(letter).unwrap_or(" "),
    }
}

const NAMELESS: &str = "status";
/// A label of a domain name: it may become one.
const LONGEST: usize = 63;
/// Leaves room for a suffix.
const LONGEST_BASE: usize = 48;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_named_after_its_title_or_its_first_domain() {
        let table = [
            ("Acme Status", None, "acme-status"),
            ("  ACME -- Status! ", None, "acme-status"),
            ("Große Straße", None, "grosse-strasse"),
            ("Crème brûlée 24/7", None, "creme-brulee-24-7"),
            ("ÜBERSICHT für Žižkov", None, "uebersicht-fuer-zizkov"),
            ("cafe\u{301}", None, "cafe"),
            ("Мониторинг", None, "monitoring"),
            ("", Some("shop.example.com"), "shop-example-com"),
            ("", Some("_dmarc.xn--bcher-kva.example"), "dmarc-xn-bcher-kva-example"),
            ("監視", Some("shop.example"), "shop-example"),
            ("監視", None, "status"),
            ("…", None, "status"),
            ("<script>alert(1)</script>", None, "script-alert-1-script"),
            ("../../etc/passwd.json", None, "etc-passwd-json"),
        ];
        for (title, domain, expected) in table {
            assert_eq!(Slug::of(title, domain).as_str(), expected, "{title:?} {domain:?}");
        }
    }

    #[test]
    fn every_slug_that_is_made_is_one() {
        for title in ["x".repeat(300), "ä".repeat(100), "a-".repeat(100), "ß ".repeat(60)] {
            let slug = Slug::of(&title, None);
            assert!(slug.as_str().len() <= LONGEST_BASE, "{slug}");
            for slug in [slug.clone(), slug.with(2), slug.with("k3x9qa")] {
                assert_eq!(slug.as_str().parse::<Slug>(), Ok(slug));
            }
        }
    }

    #[test]
    fn whatever_else_a_path_holds_is_no_slug() {
        for text in ["", "-", "a-", "-a", "a--b", "A", "a.json", "a/b", "ä", "a b", "a_b", "%61"] {
            assert!(text.parse::<Slug>().is_err(), "{text:?}");
        }
        assert!("a".repeat(64).parse::<Slug>().is_err());
    }
}
