//! Which part of a name somebody registered: the ICANN section of the public suffix list.
//!
//! The list's private section (`github.io`, `blogspot.com`) says where cookies end, not where
//! registries do, and does not count here. Names are canonical: lower-case A-labels without a
//! trailing dot.
//!
//! *Invariant:* pure; the list is compiled in.

use psl::Type;

/// The name that a registry knows: one label more than the public suffix. None for a public
/// suffix itself. A top-level domain that the list does not know is a suffix of one label.
///
/// ```
/// use vedette_sdk::suffix::registrable;
/// assert_eq!(registrable("www.example.co.uk"), Some("example.co.uk"));
/// assert_eq!(registrable("someone.github.io"), Some("github.io"));
/// assert_eq!(registrable("co.uk"), None);
/// ```
pub fn registrable(name: &str) -> Option<&str> {
    let suffix = public_suffix(name);
    let before = name.strip_suffix(suffix)?.strip_suffix('.')?;
    let label = before.rsplit('.').next().filter(|label| !label.is_empty())?;
    name.get(before.len() - label.len()..)
}

/// Whether names are registered directly below `name`.
pub fn is_public_suffix(name: &str) -> bool {
    public_suffix(name) == name
}

/// The longest suffix below which a registry registers names; the last label if none is known.
pub fn public_suffix(name: &str) -> &str {
    let mut rest = name;
    loop {
        let Some(suffix) = psl::suffix(rest.as_bytes()) else { return last_label(name) };
        let Ok(text) = std::str::from_utf8(suffix.as_bytes()) else { return last_label(name) };
        if suffix.typ() != Some(Type::Private) {
            return &name[name.len() - text.len()..];
        }
        // A private suffix is itself registered by its operator: a shorter rule says below what.
        match text.split_once('.') {
            Some((_, parent)) => rest = &name[name.len() - parent.len()..],
            None => return last_label(name),
        }
    }
}

fn last_label(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_icann_section_counts() {
        let names = [
            ("example.com", Some("example.com")),
            ("a.b.example.com", Some("example.com")),
            ("com", None),
            ("example.co.uk", Some("example.co.uk")),
            ("a.github.io", Some("github.io")),
            ("github.io", Some("github.io")),
            ("x.blogspot.co.uk", Some("blogspot.co.uk")),
            ("a.b.c.kobe.jp", Some("b.c.kobe.jp")),
            ("c.kobe.jp", None),
            ("www.city.kobe.jp", Some("city.kobe.jp")),
            ("www.ck", Some("www.ck")),
            ("a.b.ck", Some("a.b.ck")),
            ("host.unknown-tld", Some("host.unknown-tld")),
            ("unknown-tld", None),
            ("", None),
        ];
        for (name, expected) in names {
            assert_eq!(registrable(name), expected, "{name}");
        }
    }

    #[test]
    fn a_suffix_has_no_registrable_name() {
        for suffix in ["com", "co.uk", "xn--p1ai", "city.c.kobe.jp"] {
            assert_eq!(is_public_suffix(suffix), registrable(suffix).is_none(), "{suffix}");
        }
    }
}
