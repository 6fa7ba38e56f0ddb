use vedette_sdk::{http::Response, net::NetError};

use crate::{
    fixture::{IANA, NOW, World, iana, response},
    moment::DAY,
    result::DomainResult,
};

mod failure;
mod kept;
mod protocol;
mod referral;
mod root;
mod throttled;

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
