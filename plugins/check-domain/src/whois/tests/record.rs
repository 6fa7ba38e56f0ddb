//! Records of every style: what is taken from them, and what is not theirs.

use super::*;
use crate::whois::fixtures::FIXTURES;

#[test]
fn every_registrys_style_is_read() {
    assert!(FIXTURES.len() >= 40, "styles are not dropped");
    for fixture in FIXTURES {
        let record = record_of(fixture.text, fixture.name, fixture.tld);
        let style = fixture.style;
        assert_eq!(record.registrar.as_deref(), fixture.registrar, "registrar, {style}");
        assert_eq!(record.expires_at, fixture.expires.map(day), "expiry, {style}");
        assert_eq!(record.is_expiry_stated, fixture.expires.is_some(), "stated, {style}");
        let servers: Option<Vec<&str>> =
            record.name_servers.as_ref().map(|all| all.iter().map(String::as_str).collect());
        assert_eq!(servers.as_deref(), fixture.servers, "servers, {style}");
        assert_eq!(record.privacy_protected, fixture.privacy, "privacy, {style}");
        let statuses: Vec<&str> = record.statuses.iter().map(String::as_str).collect();
        assert!(statuses.starts_with(fixture.statuses), "{statuses:?}, {style}");
    }
}

#[test]
fn line_ends_and_indent_do_not_matter() {
    for fixture in FIXTURES.iter().filter(|fixture| fixture.text.contains('\n')) {
        let expected = parse(fixture.text, fixture.name, fixture.tld);
        let lines: Vec<&str> = fixture.text.lines().collect();
        for (title, text) in [
            ("CRLF", lines.join("\r\n")),
            ("LF", lines.join("\n")),
            ("CR", lines.join("\r")),
            ("trailing spaces", lines.join("  \r\n")),
        ] {
            let read = parse(&text, fixture.name, fixture.tld);
            assert_eq!(read, expected, "{title}, {}", fixture.style);
        }
    }
}

#[test]
fn a_name_that_is_held_without_being_delegated_is_a_record() {
    for status in ["NOT DELEGATED", "inactive", "on-hold", "NOT AVAILABLE", "suspended"] {
        let text = format!("domain: example.test\nstate: REGISTERED, {status}\n");
        let record = record_of(&text, "example.test", "test");
        assert_eq!(record.statuses.len(), 2, "{status}");
    }
}

#[test]
fn a_name_beyond_ascii_is_recognised() {
    for line in [
        "Domain Name: bücher.test",
        "Domain: Bücher.Test",
        "Domain Name: bücher.test (xn--bcher-kva.test)",
        "Domain Name: XN--BCHER-KVA.TEST",
        "Domain: bücher.test\nDomain-Ace: xn--bcher-kva.test",
    ] {
        let text = format!("{line}\nExpires: 2031-03-04\n");
        let record = record_of(&text, "xn--bcher-kva.test", "test");
        assert_eq!(record.expires_at, Some(day("2031-03-04T00:00:00Z")), "{line}");
    }
}

#[test]
fn only_the_object_of_the_name_counts() {
    let text = "   Server Name: EXAMPLE.TEST.IS.GREAT.EXAMPLE\n   IP Address: 192.0.2.1\n   \
                Registrar: OTHER, INC.\n   Whois Server: whois.other.example\n\n   \
                Domain Name: EXAMPLE.TEST\n   Registrar: REGISTRAR EXAMPLE, INC.\n   \
                Whois Server: whois.registrar.example\n   Expiration Date: 29-apr-2031\n\n   \
                Domain Name: EXAMPLE.TEST.OTHER.EXAMPLE\n   Registrar: THIRD, INC.\n   \
                Expiration Date: 29-apr-2029\n";
    let record = record_of(text, "example.test", "test");
    assert_eq!(record.registrar.as_deref(), Some("REGISTRAR EXAMPLE, INC."));
    assert_eq!(record.expires_at, Some(day("2031-04-29T00:00:00Z")));
    let referral = Referral { host: "whois.registrar.example".to_owned(), port: None };
    assert_eq!(record.referral, Some(referral));
}

#[test]
fn registrars_are_named_without_tags_and_addresses() {
    for (line, expected) in [
        (
            "Registrar: Example Inc. ( https://registry.example/registrar/434 )",
            Some("Example Inc."),
        ),
        ("Registrar: Example Ltd [Tag = EXAMPLE]", Some("Example Ltd")),
        ("Registrar: Example https://www.registrar.example", Some("Example")),
        ("Registrar: Example (d/b/a Sample)", Some("Example (d/b/a Sample)")),
        ("Registrar:   \"Example,   Inc.\" ", Some("Example, Inc.")),
        ("Registrar: Example ((", Some("Example ((")),
        ("Registrar: N/A", None),
        ("Registrar: None", None),
        ("Registrar: No registrar listed. This domain is directly registered.", None),
        ("Registrar IANA ID: 9999", None),
        ("Registrar Abuse Contact Email: abuse@registrar.example", None),
        ("Registrar:\nRegistrar IANA ID: 9999", None),
        ("Registrar:\n\n    Example Inc.\n", Some("Example Inc.")),
        ("Registrar:\n    Name: Example Inc.\n    Phone: 1", Some("Example Inc.")),
        ("Registrar:\n    Organization: Example Inc.\n    Name: EX-1", Some("Example Inc.")),
        ("Registrar Handle: REG1\n\n[Registrar]\nName: Example Inc.", Some("Example Inc.")),
    ] {
        let text = format!("Domain Name: example.test\nCreated: 2001-01-01\n{line}\n");
        let record = record_of(&text, "example.test", "test");
        assert_eq!(record.registrar.as_deref(), expected, "{line}");
    }
}

#[test]
fn the_roots_answer_names_the_server() {
    for (text, expected) in [
        (
            "% IANA WHOIS server\n\nrefer:        whois.registry.example\n\ndomain:       TEST\n\norganisation: Example\n\nwhois:        whois.nic.test\n\nstatus:       ACTIVE\n",
            Some("whois.nic.test"),
        ),
        ("refer: whois.registry.example\ndomain: TEST\n", Some("whois.registry.example")),
        ("domain: TEST\nwhois:\nstatus: ACTIVE\n", None),
        ("whois: 127.0.0.1:4343\n", Some("127.0.0.1:4343")),
        ("whois: 127.0.0.1\n", Some("127.0.0.1")),
        ("whois: [::1]:4343\n", Some("[::1]:4343")),
        ("whois: whois.nic.test:4343\n", Some("whois.nic.test:4343")),
        ("whois: localhost\n", None),
        ("remarks: whois: whois.nic.test\n", None),
        ("", None),
    ] {
        assert_eq!(server_of_tld(text).as_deref(), expected, "{text}");
    }
}
