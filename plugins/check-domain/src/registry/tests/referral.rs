//! Registries that leave the rest to the registrar.

use vedette_sdk::net::Phase;

use super::*;
use crate::{
    fixture::{thick, thin},
    result::DataAvailability,
};

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
