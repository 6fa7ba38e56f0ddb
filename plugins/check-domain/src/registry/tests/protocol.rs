//! RDAP first, then WHOIS: who is asked, and whose word counts.

use vedette_sdk::{CheckError, net::Phase};

use super::*;
use crate::{
    fixture::{self, rdap, thin},
    result::{DataAvailability, Source},
};

#[test]
fn rdap_tells_all_and_whois_is_not_asked() {
    let world = rdap_says(|| Ok(response(200, &rdap("EXAMPLE.COM", LATER))));
    let seen = world.run("www.example.com").expect("the check works");
    let expected = DomainResult {
        domain: "example.com".to_owned(),
        registrar: Some("Example Registrar".to_owned()),
        expires_at: Some(LATER.to_owned()),
        days_remaining: Some(60),
        name_servers: Some(vec!["ns1.example.net".to_owned(), "ns2.example.net".to_owned()]),
        privacy_protected: None,
        status: vec!["clientTransferProhibited".to_owned(), "active".to_owned()],
        data_availability: DataAvailability::Full,
        source: Some(Source::Rdap),
        error: None,
    };
    assert_eq!(seen.facts, expected);
    assert_eq!(seen.summary, "example.com: registered, 60 days left, registrar Example Registrar");
    assert_eq!((seen.next_run_in, seen.metrics.len()), (None, 1));
    assert_eq!(asked(&world), [COM]);
}

#[test]
fn registrable_name_is_what_registries_are_asked_about() {
    for (target, url) in [
        ("a.b.example.co.uk", "https://rdap.nominet.uk/uk/domain/example.co.uk"),
        ("example.app", "https://pubapi.registry.google/rdap/domain/example.app"),
        ("x.example.kg", "http://rdap.cctld.kg/domain/example.kg"),
    ] {
        let world = rdap_says(|| Err(NetError::Refused));
        world.check(target);
        assert_eq!(asked(&world)[0], format!("GET {url}"));
    }
    let world = World::new().whois(|server, query| match (server, query) {
        (ROOT, "io") => Ok(iana("io", Some("whois.nic.io"))),
        ("whois.nic.io:43", "github.io") => Ok(thin("github.io", LATER, "whois.nic.io")),
        other => panic!("nobody else is asked, not {other:?}"),
    });
    let result = world.check("someone.github.io");
    assert_eq!((result.domain.as_str(), result.expires_at.as_deref()), ("github.io", Some(LATER)));
    assert_eq!(result.source, Some(Source::Whois));
}

#[test]
fn address_and_bare_suffix_are_asked_about_nowhere() {
    for target in ["192.0.2.1", "co.uk", "uk.com", "com"] {
        let world = World::new();
        assert!(matches!(world.run(target), Err(CheckError::UnsupportedTarget(_))), "{target}");
        assert_eq!(world.asked(), [""; 0]);
    }
}

#[test]
fn not_registered_is_said_by_both_where_there_are_two() {
    let absent = || Ok(response(404, r#"{"errorCode":404,"title":"Not Found"}"#));
    let world = both_say(absent, not_found);
    let result = world.check("example.com");
    assert_eq!((error(&result), result.source), ("domain_not_found", Some(Source::RdapAndWhois)));
    assert_eq!(
        asked(&world),
        [COM, "whois.iana.org:43 com", &format!("{DOT_COM} domain example.com")]
    );

    // Whichever knows the name is right.
    let world = both_say(absent, || Ok(thin("example.com", LATER, "whois.verisign-grs.com")));
    let result = world.check("example.com");
    assert_eq!((error(&result), result.days_remaining), ("", Some(60)));
    assert_eq!(result.source, Some(Source::Whois));
}

#[test]
fn rdap_stands_alone_where_whois_has_nothing_to_say() {
    let absent = || Ok(response(404, ""));
    for whois in [
        || Err(NetError::Refused),
        || Err(NetError::Timeout(Phase::Receive)),
        || Ok(String::new()),
        || Ok("Welcome to a server that says nothing\r\n".to_owned()),
    ] {
        let result = both_say(absent, whois).check("example.com");
        assert_eq!((error(&result), result.source), ("domain_not_found", Some(Source::Rdap)));
    }
    let world = rdap_says(absent).whois(|_, tld| Ok(iana(tld, None)));
    let result = world.check("example.app");
    assert_eq!((error(&result), result.source), ("domain_not_found", Some(Source::Rdap)));
}

#[test]
fn rdap_that_cannot_be_read_leaves_the_question_to_whois() {
    let truncated =
        || Ok(Response { truncated: true, ..response(200, &rdap("example.com", LATER)) });
    let answers: [fn() -> Result<Response, NetError>; 10] = [
        || Ok(response(500, "")),
        || Ok(response(503, "<html>busy</html>")),
        || Ok(response(200, "<html>welcome</html>")),
        || Ok(response(200, r#"{"objectClassName":"domain","#)),
        || Ok(response(200, "{}")),
        || Ok(response(200, &rdap("example.net", LATER))),
        || Ok(response(302, "")),
        || Ok(response(400, "")),
        || Err(NetError::Timeout(Phase::Connect)),
        truncated,
    ];
    for answer in answers {
        let world = both_say(answer, || Ok(thin("example.com", LATER, "whois.verisign-grs.com")));
        let result = world.check("example.com");
        assert_eq!((error(&result), result.source), ("", Some(Source::Whois)));
        // And its failure is told where there is no WHOIS.
        let world = rdap_says(answer).whois(|_, tld| Ok(iana(tld, None)));
        let failed = world.check("example.com");
        assert!(
            ["registry_unavailable", "unparsable_response", "timeout"].contains(&error(&failed)),
            "{failed:?}",
        );
        assert_eq!(failed.source, None);
    }
}

/// A registry that names two servers, of which the first answers as given.
fn two_servers(first: impl Fn() -> Result<Response, NetError> + 'static) -> World {
    const OWN: &str = r#"{"rdap_bootstrap_url": "http://own.example/dns.json"}"#;
    let file =
        r#"{"services": [[["com"], ["http://two.example/", null, "https://one.example/"]]]}"#;
    World::new().settings(OWN).http(move |url| match url {
        "http://own.example/dns.json" => Ok(response(200, file)),
        "https://one.example/domain/example.com" => first(),
        "http://two.example/domain/example.com" => Ok(response(200, &rdap("example.com", LATER))),
        other => panic!("nobody else is asked, not {other}"),
    })
}

/// Which of the two were asked.
fn asked_of_two(world: &World) -> Vec<String> {
    let asked = world.asked().into_iter().filter(|question| question.ends_with(".com"));
    asked.filter_map(|url| url.strip_prefix("GET ").map(str::to_owned)).collect()
}

type Answer = fn() -> Result<Response, NetError>;

#[test]
fn rdap_server_that_fails_leaves_the_question_to_the_next() {
    let (one, two) =
        ("https://one.example/domain/example.com", "http://two.example/domain/example.com");
    let failures: [Answer; 4] = [
        || Err(NetError::Refused),
        || Err(NetError::Timeout(Phase::Connect)),
        || Ok(response(503, "")),
        || Ok(response(200, "<html>welcome</html>")),
    ];
    for failure in failures {
        let world = two_servers(failure);
        let result = world.check("example.com");
        assert_eq!((error(&result), result.source), ("", Some(Source::Rdap)));
        assert_eq!(asked_of_two(&world), [one, two]);
        // Not where that would cost WHOIS its time.
        let world = two_servers(failure);
        world.host.set_remaining(std::time::Duration::from_secs(15));
        assert_ne!(error(&world.check("example.com")), "");
        assert_eq!(asked_of_two(&world), [one]);
    }
    let answers: [(Answer, &str); 3] = [
        (|| Ok(response(200, &rdap("example.com", LATER))), ""),
        (|| Ok(response(404, "")), "domain_not_found"),
        (|| Ok(response(429, "")), "rate_limited"),
    ];
    for (answer, token) in answers {
        let world = two_servers(answer);
        assert_eq!(error(&world.check("example.com")), token);
        assert_eq!(asked_of_two(&world), [one]);
    }
}

#[test]
fn reserved_name_is_told_as_such() {
    let reserved = r#"{"objectClassName":"domain","ldhName":"example.com","status":["reserved"]}"#;
    let result = rdap_says(|| Ok(response(200, reserved))).check("example.com");
    assert_eq!((error(&result), result.source), ("domain_reserved", Some(Source::Rdap)));
}

#[test]
fn registry_that_publishes_no_expiry_is_partial() {
    let object = r#"{"objectClassName":"domain","ldhName":"example.nl","status":["active"],
        "entities":[{"roles":["registrar"],"vcardArray":["vcard",[["fn",{},"text","R"]]]}]}"#;
    let result = rdap_says(|| Ok(response(200, object))).check("example.nl");
    assert_eq!((error(&result), result.data_availability), ("", DataAvailability::Partial));
    assert_eq!((result.expires_at, result.days_remaining), (None, None));
    assert_eq!(result.name_servers, None);
    assert_eq!(LATER_AT, fixture::NOW + 60 * DAY);
}
