use vedette_sdk::{
    CheckError,
    http::Response,
    net::{NetError, Phase},
};

use crate::{
    fixture::{self, HOUR, IANA, NOW, World, iana, rdap, response, thick, thin},
    moment::DAY,
    result::{DataAvailability, DomainResult, Source},
};

const COM: &str = "GET https://rdap.verisign.com/com/v1/domain/example.com";
const DOT_COM: &str = "whois.verisign-grs.com:43";
const ROOT: &str = "whois.iana.org:43";
const LATER: &str = "2026-03-02T00:00:00Z";
const LATER_AT: i64 = NOW + 60 * DAY;

/// IANA's file as dead as can be, RDAP as given.
fn rdap_says(answer: impl Fn() -> Result<Response, NetError> + 'static) -> World {
    World::new().http(move |url| if url == IANA { Ok(response(503, "")) } else { answer() })
}

/// The same with a WHOIS server that answers, and a root that knows it.
fn both_say(
    rdap: impl Fn() -> Result<Response, NetError> + 'static,
    whois: impl Fn() -> Result<String, NetError> + 'static,
) -> World {
    rdap_says(rdap).whois(move |server, query| match server {
        ROOT => Ok(iana(query, Some("whois.verisign-grs.com"))),
        _ => whois(),
    })
}

fn error(result: &DomainResult) -> &str {
    result.error.as_deref().unwrap_or_default()
}

/// Without the fetch of the bootstrap file, which each test of its own accord has.
fn asked(world: &World) -> Vec<String> {
    world.asked().into_iter().filter(|question| !question.ends_with(IANA)).collect()
}

fn not_found() -> Result<String, NetError> {
    Ok("No match for domain \"EXAMPLE.COM\".\r\n>>> Last update of whois database <<<\r\n"
        .to_owned())
}

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
fn failures_have_their_tokens() {
    let without_whois = |answer: fn() -> Result<Response, NetError>| {
        let world = rdap_says(answer).whois(|_, tld| Ok(iana(tld, None)));
        error(&world.check("example.com")).to_owned()
    };
    assert_eq!(without_whois(|| Ok(response(500, ""))), "registry_unavailable");
    assert_eq!(without_whois(|| Ok(response(200, "<html>"))), "unparsable_response");
    assert_eq!(without_whois(|| Err(NetError::Timeout(Phase::Receive))), "timeout");
    let whois = |answer: fn() -> Result<String, NetError>| {
        error(&both_say(|| Ok(response(500, "")), answer).check("example.com")).to_owned()
    };
    assert_eq!(whois(|| Err(NetError::Refused)), "registry_unavailable");
    assert_eq!(whois(|| Err(NetError::Timeout(Phase::Connect))), "timeout");
    assert_eq!(
        whois(|| Ok("Welcome to a server that says nothing\r\n".to_owned())),
        "unparsable_response"
    );
    assert_eq!(whois(not_found), "domain_not_found");
}

#[test]
fn reserved_name_is_told_as_such() {
    let reserved = r#"{"objectClassName":"domain","ldhName":"example.com","status":["reserved"]}"#;
    let result = rdap_says(|| Ok(response(200, reserved))).check("example.com");
    assert_eq!((error(&result), result.source), ("domain_reserved", Some(Source::Rdap)));
}

#[test]
fn name_that_was_throttled_is_not_asked_for_six_hours() {
    for (status, retry_after, hours) in
        [(429, None, 6), (429, Some("120"), 6), (403, None, 6), (429, Some("36000"), 10)]
    {
        let world = rdap_says(move || {
            let headers = retry_after.map(|v| ("retry-after".to_owned(), v.to_owned()));
            Ok(Response { headers: headers.into_iter().collect(), ..response(status, "") })
        });
        let wait = |hours: i64| Some(std::time::Duration::from_secs((hours * HOUR) as u64));
        let seen = world.run("example.com").expect("the check works");
        assert_eq!((error(&seen.facts), seen.next_run_in), ("rate_limited", wait(hours)));
        assert_eq!(asked(&world), [COM], "WHOIS is the same registry's");
        world.pass(HOUR);
        let seen = world.run("example.com").expect("the check works");
        assert_eq!((error(&seen.facts), seen.next_run_in), ("rate_limited", wait(hours - 1)));
        assert_eq!(asked(&world), [""; 0]);
        world.pass((hours - 1) * HOUR);
        world.check("example.com");
        assert_eq!(asked(&world), [COM]);
    }
}

#[test]
fn registry_that_throttles_again_and_again_is_left_alone() {
    let world = rdap_says(|| Ok(response(429, "")));
    for target in ["a.com", "b.com", "c.com", "d.com", "e.com"] {
        assert_eq!(error(&world.check(target)), "rate_limited");
        assert_eq!(asked(&world).len(), 1, "{target}");
    }
    for target in ["a.com", "f.com"] {
        assert_eq!(error(&world.check(target)), "rate_limited");
        assert_eq!(asked(&world), [""; 0], "{target}");
    }
}

#[test]
fn retry_after_may_be_a_date() {
    let world = rdap_says(|| {
        let headers = vec![("retry-after".to_owned(), "Thu, 01 Jan 2026 08:00:00 GMT".to_owned())];
        Ok(Response { headers, ..response(429, "") })
    });
    let seen = world.run("example.com").expect("the check works");
    assert_eq!(seen.next_run_in.map(|wait| wait.as_secs()), Some(8 * 3_600));
}

#[test]
fn whois_server_that_throttled_a_name_is_not_asked_for_it() {
    let world = both_say(
        || Ok(response(500, "")),
        || Ok("% Query rate limit exceeded. Please try again later.\r\n".to_owned()),
    );
    let seen = world.run("example.com").expect("the check works");
    assert_eq!(error(&seen.facts), "rate_limited");
    assert_eq!(seen.next_run_in.map(|wait| wait.as_secs()), Some(6 * 3_600));
    asked(&world);
    world.pass(6 * HOUR - 1);
    assert_eq!(error(&world.check("example.com")), "rate_limited");
    let questions = asked(&world);
    assert!(questions.iter().all(|question| !question.contains(DOT_COM)), "{questions:?}");
    world.pass(1);
    world.check("example.com");
    assert!(asked(&world).iter().any(|question| question.contains(DOT_COM)));
    // Not asking is no reason to doubt RDAP.
    let world = both_say(|| Ok(response(404, "")), || Ok(String::new()));
    assert_eq!(error(&world.check("example.com")), "domain_not_found");
}

#[test]
fn thin_registry_is_completed_by_the_registrar() {
    const REGISTRAR: &str = "whois.registrar-of-names.com";
    let world = rdap_says(|| Err(NetError::Reset)).whois(|server, query| match server {
        ROOT => Ok(iana(query, Some("whois.verisign-grs.com"))),
        DOT_COM => Ok(thin("example.com", LATER, REGISTRAR)),
        "whois.registrar-of-names.com:43" => Ok(thick("example.com", "2025-12-01T00:00:00Z")),
        other => panic!("nobody refers to {other}"),
    });
    let result = world.check("example.com");
    assert_eq!(result.expires_at.as_deref(), Some(LATER), "the registry's expiry counts");
    assert_eq!(result.privacy_protected, Some(true));
    assert_eq!(
        result.name_servers,
        Some(vec!["ns1.example.net".to_owned(), "ns2.example.net".to_owned()]),
    );
    assert_eq!(result.data_availability, DataAvailability::Full);
    assert_eq!(
        asked(&world).last().map(String::as_str),
        Some("whois.registrar-of-names.com:43 example.com")
    );
}

#[test]
fn registrar_that_fails_costs_nothing() {
    let answers: [fn() -> Result<String, NetError>; 7] = [
        || Err(NetError::Refused),
        || Err(NetError::Timeout(Phase::Connect)),
        || Err(NetError::BudgetExhausted),
        || Err(NetError::Other(("resolver-down".to_owned(), String::new()))),
        || Ok(String::new()),
        || Ok("No match for \"EXAMPLE.COM\".\r\n".to_owned()),
        || Ok("\u{0}\u{1}".repeat(1_000)),
    ];
    for answer in answers {
        let world = rdap_says(|| Err(NetError::Reset)).whois(move |server, query| match server {
            ROOT => Ok(iana(query, Some("whois.verisign-grs.com"))),
            DOT_COM => Ok(thin("example.com", LATER, "whois.registrar-of-names.com")),
            _ => answer(),
        });
        let result = world.check("example.com");
        assert_eq!((error(&result), result.expires_at.as_deref()), ("", Some(LATER)));
        assert_eq!(result.registrar.as_deref(), Some("Example Registrar, Inc."));
        assert_eq!(result.privacy_protected, None);
    }
}

#[test]
fn referrals_end_after_two_hops_and_in_loops() {
    let refer = |to: &'static str| {
        rdap_says(|| Err(NetError::Reset)).whois(move |server, query| {
            let number =
                |n: usize| thin("example.com", LATER, &format!("whois.hop{n}-of-names.com"));
            Ok(match (server, to) {
                (ROOT, _) => iana(query, Some("whois.verisign-grs.com")),
                (DOT_COM, "chain") => number(1),
                ("whois.hop1-of-names.com:43", _) => number(2),
                ("whois.hop2-of-names.com:43", _) => number(3),
                (DOT_COM, to) => thin("example.com", LATER, to),
                other => panic!("nobody may be asked beyond: {other:?}"),
            })
        })
    };
    for (to, questions) in [
        ("chain", 3),
        ("WHOIS.verisign-grs.com.", 1),
        ("whois.registrar-of-names.com:4343", 1),
        ("127.0.0.1", 1),
        ("localhost", 1),
    ] {
        let world = refer(to);
        let result = world.check("example.com");
        assert_eq!(result.expires_at.as_deref(), Some(LATER), "{to}");
        let whois = asked(&world)
            .into_iter()
            .filter(|q| q.contains("example.com") && !q.starts_with("GET"));
        assert_eq!(whois.count(), questions, "{to}");
    }
}

#[test]
fn dripping_server_is_a_timeout_and_one_that_never_closes_is_not() {
    let full = thin("example.com", LATER, "whois.verisign-grs.com");
    let half = full[..full.find("Expiry").unwrap_or_default()].to_owned();
    let through_the_date = full[..full.find("-02T").unwrap_or_default()].to_owned();
    for (said, token) in [(full, ""), (half, "timeout"), (through_the_date, "timeout")] {
        let world = World::new();
        let clock = world.host.clone();
        let world = world.http(|_| Err(NetError::Reset)).whois(move |server, query| {
            if server == ROOT {
                return Ok(iana(query, Some("whois.verisign-grs.com")));
            }
            clock.set_now(clock.cx().now() + 10);
            Ok(said.clone())
        });
        assert_eq!(error(&world.check("example.com")), token);
    }
}

#[test]
fn kept_answer_is_dated_anew_and_asked_for_again_after_a_day() {
    let world = rdap_says(|| Ok(response(200, &rdap("example.com", LATER))));
    assert_eq!(world.check("example.com").days_remaining, Some(60));
    asked(&world);
    world.pass(20 * HOUR);
    assert_eq!(world.check("www.example.com").days_remaining, Some(59));
    assert_eq!(asked(&world), [""; 0]);
    // The next of the runs that are a day apart.
    world.pass(4 * HOUR);
    world.check("example.com");
    assert_eq!(asked(&world), [COM]);
}

#[test]
fn registration_that_ran_out_while_it_was_kept_is_asked_for_again() {
    let mut renewed = false;
    let world = World::new().http(move |url| {
        if url == IANA {
            return Err(NetError::Refused);
        }
        let until = if renewed { "2027-01-01T05:00:00Z" } else { "2026-01-01T05:00:00Z" };
        renewed = true;
        Ok(response(200, &rdap("example.com", until)))
    });
    assert_eq!(world.check("example.com").days_remaining, Some(0));
    world.pass(6 * HOUR);
    assert_eq!(world.check("example.com").days_remaining, Some(364));
}

#[test]
fn failure_is_kept_for_minutes_only() {
    let world = both_say(|| Ok(response(500, "")), || Err(NetError::Refused));
    world.check("example.com");
    asked(&world);
    world.pass(599);
    assert_eq!(error(&world.check("example.com")), "registry_unavailable");
    assert_eq!(asked(&world), [""; 0]);
    world.pass(1);
    world.check("example.com");
    assert_eq!(asked(&world).first().map(String::as_str), Some(COM));
}

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

#[test]
fn our_own_trouble_is_no_result() {
    let down = || NetError::Other(("resolver-down".to_owned(), "no answer".to_owned()));
    for trouble in [NetError::BudgetExhausted, down()] {
        let http = trouble.clone();
        let world = rdap_says(move || Err(http.clone()));
        assert!(matches!(world.run("example.com"), Err(CheckError::Failed(_))));
        let world = World::new().whois(move |_, _| Err(trouble.clone()));
        assert!(matches!(world.run("example.de"), Err(CheckError::Failed(_))));
    }
}

#[test]
fn run_without_time_says_so() {
    let world = World::new();
    world.host.set_remaining(std::time::Duration::from_millis(700));
    assert_eq!(error(&world.check("example.com")), "timeout");
    assert_eq!(world.asked(), [""; 0]);
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
