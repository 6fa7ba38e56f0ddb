//! RDAP (RFC 7480 to 7484, 9082, 9083): one question to one server, and what the answer says.
//!
//! *Invariant:* an answer is read leniently, except that it must say that it is about this name.
//! *Invariant:* throttled is never "not found".

use std::time::Duration;

use vedette_sdk::{
    CheckError, Cx,
    http::{Request, Response},
};

use crate::{
    error::{self, Token},
    facts::Reply,
    name::Name,
    time,
};

mod json;
mod object;
mod registrant;

/// Asks the server at `base` about a name.
pub(crate) fn ask(
    cx: &Cx,
    base: &str,
    name: &Name,
    at_most: Duration,
) -> Result<Reply, CheckError> {
    let Some(timeout_ms) = time::timeout_ms(cx, at_most) else {
        return Ok(Reply::Failed(Token::Timeout));
    };
    // RFC 9224, 4: the base is used with or without a slash at its end.
    let url = format!("{}/domain/{}", base.trim_end_matches('/'), name.as_str());
    let request = Request {
        headers: vec![("accept".to_owned(), "application/rdap+json".to_owned())],
        max_redirects: MAX_REDIRECTS,
        ..Request::get(url, timeout_ms, MAX_ANSWER)
    };
    match cx.fetch(&request) {
        Ok(response) => Ok(read(&response, name, cx.now())),
        Err(error) => error::of_exchange(error).map(Reply::Failed),
    }
}

/// `host[:port]` of a base: what is left alone once it throttled us.
pub(crate) fn authority(base: &str) -> &str {
    let rest = base.split_once("://").map_or(base, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or(rest)
}

/// What a response says about a name.
fn read(response: &Response, name: &Name, now: i64) -> Reply {
    let status = match response.status {
        200..=299 if response.truncated => return Reply::Failed(Token::UnparsableResponse),
        200..=299 => match object::read(&response.body, name) {
            object::Answer::Domain(registration) => return Reply::Registered(registration),
            object::Answer::Reserved => return Reply::Reserved,
            object::Answer::Unreadable => return Reply::Failed(Token::UnparsableResponse),
            // Some servers say 200 and mean this.
            object::Answer::Error(code) => code,
        },
        status => status,
    };
    match (status, response.retry_after(now)) {
        (404, _) => Reply::NotFound,
        (429, wait) => Reply::Throttled(wait),
        (403, Some(wait)) => Reply::Throttled(Some(wait)),
        // A firewall that dislikes our address says so for ever, and nothing of the registry's wish.
        (403, None) => Reply::Denied,
        (_, _) => Reply::Failed(Token::RegistryUnavailable),
    }
}

/// Each is vetted by the host.
pub(crate) const MAX_REDIRECTS: u8 = 5;
/// Of a server that is asked first.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(8);
/// Bytes.
const MAX_ANSWER: u32 = 256 << 10;

#[cfg(test)]
mod tests;
