//! The requests of a run: over https, and over http where that is what the site serves.
//!
//! *Invariant:* the site's `origin_ip` is not used: uptime is what visitors get.
//! *Invariant:* plain http is the outcome only where it is certain that the site's own port, and
//! not one that it redirects to, turned https away: by what it said to https, or where it said
//! nothing, by an answer that no port gives which speaks TLS.

use std::{net::IpAddr, time::Duration};

use vedette_sdk::{
    Cx, Job,
    http::{Arrival, Request},
    net::{NetError, Phase},
};

use crate::{
    config::{Config, Scheme},
    redirect,
};

/// What the visit brought, and the URL that it was made to.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) url: String,
    pub(crate) outcome: Result<Arrival, NetError>,
    /// Where the answer redirected to and nothing came from.
    pub(crate) failed_url: Option<String>,
}

/// Of a body, decompressed.
pub(crate) const MAX_BODY: u32 = 1 << 20;
const MAX_REDIRECTS: u8 = 10;
const BRIEFLY_MS: u32 = 2_000;
/// What web servers with TLS answer to a request in clear.
const TLS_WANTED: u16 = 400;
/// What a run needs after its last request.
const RESERVE: Duration = Duration::from_millis(500);

impl Visit {
    /// Asks the site once; a second time over http only if https is not served. If http brings
    /// nothing either, what https brought is the outcome, unless the port accepts connections: then
    /// http says what is wrong there.
    pub(crate) fn make(cx: &Cx, job: &Job<Config>) -> Self {
        let asker = Asker { cx, job };
        match job.config.scheme {
            Scheme::Https => asker.visit(HTTPS),
            Scheme::Http => asker.visit(HTTP),
            Scheme::Auto => {
                let secure = asker.visit(HTTPS);
                let plain = if asker.turns_https_away(&secure.outcome) {
                    let is_of_http = job.port.is_some();
                    Some(asker.visit(HTTP)).filter(|plain| is_of_http || plain.met_or_is_ours())
                } else if asker.may_speak_no_tls(&secure.outcome) {
                    Some(asker.visit_briefly(HTTP)).filter(Self::is_of_plain_http)
                } else {
                    None
                };
                plain.unwrap_or(secure)
            }
        }
    }

    /// The URL that brought no answer, and why: the site's own, or one that it redirects to.
    pub(crate) fn unanswered(&self) -> Option<(&str, &NetError)> {
        match (&self.outcome, &self.failed_url) {
            (Err(error), _) => Some((self.url.as_str(), error)),
            (Ok(Arrival { failure: Some(error), .. }), Some(url)) => Some((url.as_str(), error)),
            (Ok(_), _) => None,
        }
    }

    /// Whether that settles it: with an answer, if only its head, with the failure of a server that
    /// took the connection, or with trouble of our own.
    fn met_or_is_ours(&self) -> bool {
        match &self.outcome {
            Ok(_) => true,
            Err(error) => took_connection(error) || crate::error::of_request(error).is_err(),
        }
    }

    /// Whether it brought an answer, and not one that a port which speaks TLS gives to what comes in
    /// clear: a complaint, or a redirect to where nobody answers.
    fn is_of_plain_http(&self) -> bool {
        let is_answered =
            |arrival: &Arrival| self.failed_url.is_none() && arrival.response.status != TLS_WANTED;
        self.outcome.as_ref().is_ok_and(is_answered)
    }
}

/// Whether a request over http failed after somebody had taken its connection.
fn took_connection(error: &NetError) -> bool {
    match error {
        NetError::Reset | NetError::Tls(_) | NetError::Protocol(_) | NetError::TooLarge(_) => true,
        NetError::Timeout(phase) => match phase {
            Phase::Handshake | Phase::Send | Phase::Receive => true,
            Phase::Resolve | Phase::Connect => false,
        },
        NetError::NotPermitted(_)
        | NetError::AddressBlocked(_)
        | NetError::NameNotFound
        | NetError::Refused
        | NetError::BudgetExhausted
        | NetError::Other(_) => false,
    }
}

/// Makes requests within what a run has left.
struct Asker<'a> {
    cx: &'a Cx,
    job: &'a Job<Config>,
}

impl Asker<'_> {
    fn visit(&self, scheme: &str) -> Visit {
        self.make(self.request(scheme, self.max_redirects()))
    }

    /// A visit that must not double the time which a site that is away takes.
    fn visit_briefly(&self, scheme: &str) -> Visit {
        let request = self.request(scheme, self.max_redirects());
        self.make(Request { timeout_ms: request.timeout_ms.min(BRIEFLY_MS), ..request })
    }

    fn make(&self, request: Request) -> Visit {
        let outcome = self.cx.fetch_partial(&request);
        let arrival = outcome.as_ref().ok().filter(|_| request.max_redirects > 0);
        let failed_url = arrival.and_then(redirect::failed_url);
        Visit { url: request.url, outcome, failed_url }
    }

    /// Whether the site's own port turned https away; what a redirect led to is no error here. The
    /// usual port refuses where nobody serves https; a site's own port is open all the same, and does
    /// not speak TLS.
    fn turns_https_away(&self, outcome: &Result<Arrival, NetError>) -> bool {
        match (outcome, self.job.port) {
            (Err(NetError::Refused), None) => true,
            (Err(NetError::Tls(reason)), Some(_)) => reason.starts_with("not-tls"),
            _ => false,
        }
    }

    /// A port of its own without TLS may say nothing to a handshake, for it waits for the end of a
    /// request, or hang up on what it cannot read. One that is reset may have spoken TLS before.
    fn may_speak_no_tls(&self, outcome: &Result<Arrival, NetError>) -> bool {
        self.job.port.is_some()
            && match outcome {
                Err(NetError::Timeout(Phase::Handshake)) => true,
                Err(NetError::Tls(reason)) => reason.starts_with("closed"),
                _ => false,
            }
    }

    fn max_redirects(&self) -> u8 {
        if self.job.config.follow_redirects { MAX_REDIRECTS } else { 0 }
    }

    fn request(&self, scheme: &str, max_redirects: u8) -> Request {
        let Config { path, verify_tls, .. } = &self.job.config;
        let url = format!("{scheme}://{}{path}", self.authority());
        let timeout_ms = self.cx.timeout_ms(self.job.config.timeout(), RESERVE);
        Request {
            max_redirects,
            verify_tls: *verify_tls,
            ..Request::get(url, timeout_ms, MAX_BODY)
        }
    }

    fn authority(&self) -> String {
        let host = &self.job.target;
        let host = match host.parse() {
            Ok(IpAddr::V6(address)) => format!("[{address}]"),
            _ => host.clone(),
        };
        match self.job.port {
            Some(port) => format!("{host}:{port}"),
            None => host,
        }
    }
}

const HTTPS: &str = "https";
const HTTP: &str = "http";

#[cfg(test)]
mod tests;
