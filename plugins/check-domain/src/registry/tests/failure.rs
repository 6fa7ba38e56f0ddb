//! What is told where nobody answers, and what is our own trouble.

use vedette_sdk::{CheckError, net::Phase};

use super::*;
use crate::fixture::thin;

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
