//! The public suffix list's own test vectors: each row is a name, and the name that is registered
//! above it, or null where there is none.
//!
//! The vectors count the whole list, ours the ICANN section alone: rows below a private suffix
//! are listed here with what that makes of them.

use vedette_sdk::suffix::{is_public_suffix, registrable};

const VECTORS: &str = include_str!("data/test_psl.txt");

/// Somebody has `uk.com` registered and lets others have names below it.
const PRIVATE: [(&str, &str); 4] = [
    ("uk.com", "uk.com"),
    ("example.uk.com", "uk.com"),
    ("b.example.uk.com", "uk.com"),
    ("a.b.example.uk.com", "uk.com"),
];

#[test]
fn every_vector_of_the_list_is_met() {
    let mut met = 0;
    for (name, expected) in VECTORS.lines().filter_map(vector) {
        // What is no name never reaches a plugin.
        let Some(name) = name.and_then(canonical) else {
            assert_eq!(expected, None);
            continue;
        };
        let private = PRIVATE.iter().find(|(below, _)| *below == name);
        let expected = match private {
            Some((_, registered)) => Some((*registered).to_owned()),
            None => expected.and_then(canonical),
        };
        assert_eq!(registrable(&name), expected.as_deref(), "{name}");
        assert_eq!(is_public_suffix(&name), expected.is_none(), "{name}");
        met += 1;
    }
    assert!(met >= 70, "{met} names were read");
}

/// One row; comments and empty lines are none.
fn vector(line: &str) -> Option<(Option<&str>, Option<&str>)> {
    let row = line.strip_prefix("checkPublicSuffix(")?.strip_suffix(");")?;
    let (name, expected) = row.split_once(", ").expect("a row has two columns");
    Some((quoted(name), quoted(expected)))
}

fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix('\'')?.strip_suffix('\'')
}

/// As the host hands names to plugins: lower-case A-labels. None for what is no name.
fn canonical(name: &str) -> Option<String> {
    idna::domain_to_ascii_strict(name).ok()
}
