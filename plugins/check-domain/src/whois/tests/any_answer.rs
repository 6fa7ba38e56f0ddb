//! What holds whatever a server sends.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::whois::fixtures::FIXTURES;

#[test]
fn a_large_answer_of_anything_is_read_in_time() {
    const SIZE: usize = 256 << 10;
    for piece in [
        "a:\n",
        ":\n",
        "\n",
        "\r",
        " ",
        "(",
        "[",
        "[a]\n",
        "Registrar:\n",
        " Registrar:\n  Name:\n",
        "Domain: \u{fc}.test\n",
        "registrant: EX-1\n",
        "expires: 1/1/2031\n",
        "Expires ",
        "nserver: a.test\n",
        "a. ",
        "not found. ",
        "too many ",
        "\u{0}",
        "é",
        "9",
        "Status: a,a,a,a\n",
        "example.test ",
        "% Registrar:\n",
        "x  ",
        "Expires on 1 ",
        "# ",
        "\u{301}",
    ] {
        let text: String =
            piece.chars().cycle().take(SIZE / piece.len() * piece.chars().count()).collect();
        let before = processor_time();
        read(text.as_bytes(), "example.test", "test");
        let taken = processor_time().saturating_sub(before);
        assert!(taken.as_secs() < 30, "{taken:?} for {piece:?}");
    }
}

/// What this thread has had of the processors, so that nothing counts that runs beside it; always
/// nothing where the system does not tell.
fn processor_time() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = told.split_ascii_whitespace().next().and_then(|nanos| nanos.parse().ok());
    nanos.map_or(Duration::ZERO, Duration::from_nanos)
}

/// A fixture with pieces cut out, doubled or put elsewhere.
fn mutated() -> impl Strategy<Value = (Vec<u8>, &'static str, &'static str)> {
    let edit = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_u8, any::<u8>());
    (0..FIXTURES.len(), prop::collection::vec(edit, 1..12)).prop_map(|(index, edits)| {
        let fixture = &FIXTURES[index];
        let mut bytes = fixture.text.as_bytes().to_vec();
        for (first, second, kind, byte) in edits {
            if bytes.is_empty() {
                break;
            }
            let (a, b) = (first.index(bytes.len()), second.index(bytes.len()));
            let (from, to) = (a.min(b), a.max(b));
            match kind {
                0 => drop(bytes.drain(from..to)),
                1 => bytes[from] = byte,
                2 => bytes.extend_from_within(from..to),
                _ => bytes.swap(from, to),
            }
        }
        (bytes, fixture.name, fixture.tld)
    })
}

/// What must hold whatever a server sends.
fn check(answer: &Answer) {
    let Answer::Record(record) = answer else { return };
    if let Some(at) = record.expires_at {
        assert!((0..253_402_300_800 + 86_400).contains(&at), "{at}");
        assert!(record.is_expiry_stated);
    }
    for server in record.name_servers.iter().flatten() {
        assert!(server.contains('.') && !server.contains(char::is_whitespace), "{server}");
    }
    for text in record.registrar.iter().chain(&record.statuses) {
        assert!(!text.is_empty() && !text.contains(char::is_control), "{text:?}");
    }
    if let Some(referral) = &record.referral {
        assert!(referral.host.is_ascii() && referral.host.contains('.'));
        assert!(!referral.host.contains(|char: char| char.is_ascii_control() || char == ' '));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..2_000), tld in "(com|jp|kr|th)?") {
        check(&read(&bytes, "example.com", &tld));
    }

    #[test]
    fn any_lines_are_read(text in "((Registrar|Expires|Status|Name Server|\\[Domain\\]|Registrant|%|nic-hdl|  ?)[ :.\\t]{0,3}[a-z0-9./() -]{0,12}\r?\n){0,40}") {
        check(&read(text.as_bytes(), "example.com", "com"));
    }

    #[test]
    fn any_change_to_an_answer_is_read((bytes, name, tld) in mutated()) {
        check(&read(&bytes, name, tld));
    }
}
