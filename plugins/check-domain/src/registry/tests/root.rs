//! Who is asked about a top-level domain: the root, a zone of its own, the operator's own root.

use vedette_sdk::net::Phase;

use super::*;
use crate::{fixture::thin, result::Source};

#[test]
fn top_level_domain_without_any_source_is_not_supported() {
    let world = World::new().whois(|_, tld| Ok(iana(tld, None)));
    let result = world.check("www.example.gr");
    assert_eq!((error(&result), result.domain.as_str()), ("tld_not_supported", "example.gr"));
    assert_eq!(asked(&world), ["whois.iana.org:43 gr"]);
    world.check("other.gr");
    assert_eq!(asked(&world), [""; 0], "the root is not asked again");
}

#[test]
fn root_that_does_not_answer_is_no_reason_to_call_it_unsupported() {
    type Answer = fn() -> Result<String, NetError>;
    let answers: [(Answer, &str); 3] = [
        (|| Err(NetError::Refused), "registry_unavailable"),
        (|| Err(NetError::Timeout(Phase::Connect)), "timeout"),
        (|| Ok(String::new()), "registry_unavailable"),
    ];
    for (answer, token) in answers {
        let world = World::new().whois(move |_, _| answer());
        assert_eq!(error(&world.check("example.de")), token);
    }
}

#[test]
fn root_that_throttles_is_left_alone_and_makes_nothing_unsupported() {
    let throttled = "% Query rate limit exceeded. Please try again later.\r\n";
    let world = World::new().whois(move |server, _| {
        assert_eq!(server, ROOT);
        Ok(throttled.to_owned())
    });
    assert_eq!(error(&world.check("example.de")), "rate_limited");
    assert_eq!(asked(&world), ["whois.iana.org:43 de"]);
    assert_eq!(error(&world.check("example.de")), "rate_limited");
    assert_eq!(asked(&world), [""; 0], "not before its time is over");
    assert_eq!(error(&world.check("other.de")), "rate_limited");
    assert_eq!(asked(&world), ["whois.iana.org:43 de"], "nothing was learnt of .de");
}

#[test]
fn operators_root_that_keeps_names_but_cannot_be_asked_says_nothing_of_them() {
    let own = r#"{"whois_root": "127.0.0.1:4343"}"#;
    let world = World::new().settings(own).whois(|_, query| match query {
        "throttled.lab" => Ok("Quota exceeded\r\n".to_owned()),
        "silent.lab" => Err(NetError::Timeout(Phase::Connect)),
        "closed.lab" => Err(NetError::Refused),
        _ => Ok("% This query returned 0 objects.\r\n".to_owned()),
    });
    for (name, token) in [
        ("throttled.lab", "rate_limited"),
        ("silent.lab", "timeout"),
        ("closed.lab", "registry_unavailable"),
        ("free.lab", "tld_not_supported"),
    ] {
        assert_eq!(error(&world.check(name)), token, "{name}");
    }
}

#[test]
fn zone_of_its_own_is_asked_and_not_its_parent() {
    let world = World::new().whois(|server, query| {
        assert_eq!((server, query), ("whois.centralnic.net:43", "shop.uk.com"));
        Ok(thin("shop.uk.com", LATER, "whois.centralnic.net"))
    });
    let result = world.check("www.shop.uk.com");
    assert_eq!((result.domain.as_str(), result.days_remaining), ("shop.uk.com", Some(60)));
}

#[test]
fn operators_root_is_always_asked_and_its_port_is_followed() {
    let own = r#"{"whois_root": "127.0.0.1:4343"}"#;
    let world = World::new().settings(own).whois(|server, query| match (server, query) {
        ("127.0.0.1:4343", "de") => Ok(iana("de", Some("whois.lab-of-names.com"))),
        ("whois.lab-of-names.com:4343", _) => {
            Ok("Domain: example.de\nStatus: connect\n".to_owned())
        }
        ("127.0.0.1:4343", "co.za" | "uk.com") => Ok(iana(query, None)),
        ("127.0.0.1:4343", "za" | "com") => Ok(iana(query, Some("whois.lab-of-names.com"))),
        other => panic!("{other:?} is not the operator's"),
    });
    assert_eq!(error(&world.check("example.de")), "");
    assert_eq!(
        asked(&world),
        ["127.0.0.1:4343 de", "whois.lab-of-names.com:4343 -T dn,ace example.de"]
            .map(str::to_owned),
    );
    world.check("shop.co.za");
    world.check("shop.uk.com");
    let expected = ["127.0.0.1:4343 co.za", "127.0.0.1:4343 za"];
    assert_eq!(asked(&world)[..2], expected.map(str::to_owned));
}

#[test]
fn operators_root_may_keep_the_names_itself() {
    let own = r#"{"whois_root": "127.0.0.1:4343"}"#;
    let world = World::new().settings(own).whois(|server, query| {
        assert_eq!(server, "127.0.0.1:4343");
        let record = "Domain Name: EXAMPLE.LAB\r\nRegistrar: Lab Registrar\r\n";
        Ok(match query {
            "example.lab" => format!("{record}Registry Expiry Date: {LATER}\r\n"),
            _ => "% This query returned 0 objects.\r\n".to_owned(),
        })
    });
    let result = world.check("example.lab");
    assert_eq!((error(&result), result.days_remaining), ("", Some(60)));
    assert_eq!(result.source, Some(Source::Whois));
    assert_eq!(asked(&world), ["127.0.0.1:4343 lab", "127.0.0.1:4343 example.lab"]);
    assert_eq!(error(&world.check("other.lab")), "tld_not_supported");
}
