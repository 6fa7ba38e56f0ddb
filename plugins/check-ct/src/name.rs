//! Names in certificates, and which of them concern the watched domain.

use vedette_sdk::suffix;

/// A DNS name as certificates carry it, in canonical form: lower case, no trailing dot, `*` only
/// as the whole left-most label. None for what is no DNS name (mail addresses, blanks, names of
/// other scripts that were not encoded).
pub(crate) fn canonical(text: &str) -> Option<String> {
    let text = text.trim();
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let host = name.strip_prefix("*.").unwrap_or(&name);
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    (name.len() <= LONGEST && host.split('.').all(label)).then_some(name)
}

/// Whether a certificate for `name` (canonical) speaks for `domain` or something below it: the
/// domain itself, names and wildcards below it, and the wildcard beside it that matches it.
pub(crate) fn concerns(name: &str, domain: &str) -> bool {
    let host = host(name);
    // RFC 9525: a wildcard stands for one label, above at least two.
    let beside = host != name && host.contains('.') && parent(domain) == Some(host);
    is_within(name, domain) || beside
}

/// Whether it is the domain itself, or a name or wildcard below it.
pub(crate) fn is_within(name: &str, domain: &str) -> bool {
    is_below(host(name), domain)
}

/// The name without its wildcard label.
pub(crate) fn host(name: &str) -> &str {
    name.strip_prefix("*.").unwrap_or(name)
}

/// What is one label above; none above a top-level domain.
pub(crate) fn parent(name: &str) -> Option<&str> {
    name.split_once('.').map(|(_, parent)| parent)
}

/// The wildcard that matches the domain without being below it, where it can be anybody's.
pub(crate) fn wildcard_beside(domain: &str) -> Option<String> {
    let parent = parent(domain).filter(|parent| suffix::registrable(parent).is_some())?;
    Some(format!("*.{parent}"))
}

/// The canonical names of a certificate, each once: those that concern the domain first, at most
/// [`MOST`] and [`BYTES`] bytes in all. Empty when none concerns it.
pub(crate) fn shown<'a>(names: impl Iterator<Item = &'a str>, domain: &str) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for name in names.filter_map(canonical) {
        let list = if concerns(&name, domain) { &mut own } else { &mut others };
        if list.len() < MOST && seen.insert(name.clone()) {
            list.push(name);
        }
    }
    if own.is_empty() {
        return own;
    }
    let mut room = BYTES;
    own.into_iter()
        .chain(others)
        .take(MOST)
        .take_while(|name| {
            let fits = name.len() <= room;
            room = room.saturating_sub(name.len());
            fits
        })
        .collect()
}

fn is_below(name: &str, domain: &str) -> bool {
    match name.strip_suffix(domain) {
        Some("") => true,
        Some(before) => before.ends_with('.'),
        None => false,
    }
}

/// Names of one certificate that are kept and shown.
pub(crate) const MOST: usize = 20;
const BYTES: usize = 2_048;
const LONGEST: usize = 255;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_become_canonical_or_nothing() {
        for (text, expected) in [
            ("WWW.Example.com.", Some("www.example.com")),
            (" *.example.com", Some("*.example.com")),
            ("_dmarc.example.com", Some("_dmarc.example.com")),
            ("xn--mnchen-3ya.de", Some("xn--mnchen-3ya.de")),
            ("münchen.de", None),
            ("admin@example.com", None),
            ("a.*.example.com", None),
            ("f*.example.com", None),
            ("*", None),
            ("a..b", None),
            ("", None),
            (".", None),
        ] {
            assert_eq!(canonical(text).as_deref(), expected, "{text:?}");
        }
        assert_eq!(canonical(&"a.".repeat(200)), None);
        assert_eq!(canonical(&format!("{}.com", "a".repeat(64))), None);
    }

    #[test]
    fn only_names_that_speak_for_the_domain_concern_it() {
        for (name, domain, expected) in [
            ("example.com", "example.com", true),
            ("www.example.com", "example.com", true),
            ("*.example.com", "example.com", true),
            ("*.a.example.com", "example.com", true),
            ("badexample.com", "example.com", false),
            ("example.com.evil.net", "example.com", false),
            ("*.com", "example.com", false),
            ("com", "example.com", false),
            ("*.example.com", "www.example.com", true),
            ("example.com", "www.example.com", false),
            ("*.example.com", "a.www.example.com", false),
            ("other.example.com", "www.example.com", false),
        ] {
            assert_eq!(concerns(name, domain), expected, "{name} for {domain}");
        }
    }

    #[test]
    fn wildcard_beside_a_domain_is_one_that_can_be_issued() {
        for (domain, expected) in [
            ("www.example.com", Some("*.example.com")),
            ("a.b.example.co.uk", Some("*.b.example.co.uk")),
            ("example.com", None),
            ("example.co.uk", None),
            ("com", None),
        ] {
            assert_eq!(wildcard_beside(domain).as_deref(), expected, "{domain}");
        }
    }

    #[test]
    fn names_of_the_domain_come_first_and_ten_thousand_are_cut() {
        let many: Vec<String> = (0..10_000).map(|n| format!("h{n}.other.net")).collect();
        let names = many.iter().map(String::as_str).chain(["WWW.example.com", "www.example.com"]);
        let shown = shown(names, "example.com");
        assert_eq!(shown.len(), MOST);
        assert_eq!(shown[0], "www.example.com");
        assert_eq!(shown[1], "h0.other.net");
        assert!(super::shown(["other.net"].into_iter(), "example.com").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_a_name_or_not(text in ".*", domain in "[a-z]{1,5}(\\.[a-z]{1,5}){1,3}") {
            if let Some(name) = canonical(&text) {
                prop_assert_eq!(canonical(&name), Some(name.clone()));
                let _ = concerns(&name, &domain);
            }
            let below = format!("x.{domain}");
            prop_assert!(concerns(&below, &domain));
        }
    }
}
