//! What people read: each message names the URL and the reason, each suggestion says what to do
//! next.

use vedette_sdk::{
    Finding, net,
    text::{cut, limit},
};

use crate::{config::Config, error, events, redirect, result::UptimeResult};

/// Of a message, in bytes: the host refuses more than 1 KiB.
const MAX_MESSAGE: usize = 1_000;
/// Of a URL, a keyword or a foreign token within a message, in characters.
const MAX_QUOTE: usize = 100;

/// The tokens of a name that does not exist, and of what may not be connected to.
const NOT_FOUND: &str = "dns_not_found";
const BLOCKED: &str = "blocked_address";

pub(super) fn down(result: &UptimeResult, config: &Config) -> Finding {
    let (why, suggestion) = match result.failed_url.as_deref() {
        Some(failed) if !failed.is_empty() => behind_redirect(failed, result, config),
        _ => {
            let (why, suggestion) = reason(result, config);
            (why, suggestion.to_owned())
        }
    };
    let message = limit(format!("{} is down: {why}", subject(result)), MAX_MESSAGE);
    Finding::new(&events::DOWN, events::TROUBLE, message).suggestion(suggestion)
}

/// For a site that was seen over https and now answers over plain http alone.
pub(super) fn without_https(result: &UptimeResult) -> Finding {
    let url = subject(result).replacen("http:", "https:", 1);
    let message = format!("{url} is down over https: only plain http answers");
    Finding::new(&events::DOWN, events::TROUBLE, limit(message, MAX_MESSAGE)).suggestion(
        "Switch TLS on again: check that the web server listens for it on this port, with its \
         certificate, and that no firewall rejects connections. If the site is meant to be plain \
         http from now on, set scheme to http in its check_config.uptime.",
    )
}

pub(super) fn degraded(result: &UptimeResult, config: &Config) -> Finding {
    let taken = seconds(result.response_time_ms);
    let allowed = match config.degraded_ms {
        0 => String::new(),
        limit => format!(", more than the {} allowed", seconds(f64::from(limit))),
    };
    let message = limit(
        format!("{} is slow: it took {taken} to answer{allowed}", subject(result)),
        MAX_MESSAGE,
    );
    Finding::new(&events::DEGRADED, events::TROUBLE, message).suggestion(
        "Look at the load of the server and of its database. If the page is meant to take that \
         long, raise degraded_ms in the site's check_config.uptime.",
    )
}

/// For a site that answers now, as it did after each of its failures. The words stay the same while
/// that goes on: every new message rewrites the alert.
pub(super) fn unsteady(result: &UptimeResult) -> Finding {
    let message = limit(format!("{} keeps failing and recovering", subject(result)), MAX_MESSAGE);
    Finding::new(&events::DEGRADED, events::TROUBLE, message).suggestion(
        "Look at each server behind the load balancer by itself: often one of them fails. The \
         failed checks of this site show the error.",
    )
}

/// `outage`: how long the site was down, in seconds, where that is known.
pub(super) fn up_again(result: &UptimeResult, outage: Option<i64>) -> Finding {
    let after = outage.map(|seconds| format!(" after {}", duration(seconds)));
    recovered(format!("{} is up again{}", subject(result), after.unwrap_or_default()))
}

pub(super) fn in_time_again(result: &UptimeResult) -> Finding {
    let taken = seconds(result.response_time_ms);
    recovered(format!("{} answers in time again: it took {taken}", subject(result)))
}

fn recovered(message: String) -> Finding {
    Finding::new(&events::UP, events::RECOVERY, limit(message, MAX_MESSAGE))
        .suggestion("Nothing to do.")
}

fn subject(result: &UptimeResult) -> String {
    match result.url.as_deref().map(quoted) {
        Some(url) if !url.is_empty() => url,
        _ => "The site".to_owned(),
    }
}

/// A URL without its query, which may hold what is not everybody's business.
fn quoted(url: &str) -> String {
    cut(url.split('?').next().unwrap_or_default(), MAX_QUOTE)
}

/// Why a site is down that redirects to where nobody answers. The trouble is there; on a host that is
/// not the site's own, it may be the redirect that has to change.
fn behind_redirect(failed: &str, result: &UptimeResult, config: &Config) -> (String, String) {
    let (why, suggestion) = reason(result, config);
    // Not its path: every new message rewrites the alert, and is told.
    let place = cut(&redirect::origin(failed), MAX_QUOTE);
    let why = format!("it redirects to {place}, and that fails: {why}");
    let host = redirect::host(failed);
    let is_own = |url: &str| redirect::host(url).eq_ignore_ascii_case(host);
    if result.url.as_deref().is_some_and(is_own) {
        return (why, suggestion.to_owned());
    }
    let host = cut(host, MAX_QUOTE);
    let suggestion = match token(result) {
        NOT_FOUND => format!(
            "Correct the redirect if {host} is mistyped or no longer used. If visitors are meant \
             to get there, check that its domain is registered and that its DNS zone has an A or \
             AAAA record for the name."
        ),
        BLOCKED => format!(
            "Check the redirect to {host}, and the DNS records of that name: private and reserved \
             addresses, and ports of other protocols, are not checked."
        ),
        _ => format!(
            "Correct the redirect if visitors are not meant to get to {host}. If they are, look \
             there: at its DNS records, its server and its certificate."
        ),
    };
    (why, suggestion)
}

/// Why it is down, and what to do about it.
fn reason(result: &UptimeResult, config: &Config) -> (String, &'static str) {
    let (why, suggestion) = match token(result) {
        error::UNEXPECTED_STATUS => return unexpected_status(result.status_code),
        error::KEYWORD_MISSING => return keyword_missing(config),
        error::RESPONSE_TIMEOUT => (
            "it did not answer completely in time",
            "The server accepts connections but does not get round to answering: look at its load \
             and at what the application waits for.",
        ),
        error::INVALID_RESPONSE if (300..400).contains(&result.status_code) => (
            "it redirects endlessly, to an address that is not followed or cannot be read, or to \
             where nothing speaks HTTP",
            "Open the site in a browser. Look for redirects that lead to each other (often http \
             and https, or with and without www), and at the Location header of the last one: it \
             must be an http or https URL of a public host, without a user name and without \
             backslashes.",
        ),
        error::INVALID_RESPONSE => (
            "its answer is not valid HTTP",
            "Open the site in a browser, and check whether the port is the web server's.",
        ),
        error::RESPONSE_TOO_LARGE => (
            "its answer has more headers than clients accept, or never ends",
            "Look for cookies or headers that the application sets over and over, and for a server \
             or proxy that sends interim answers, empty parts or padding and never finishes.",
        ),
        BLOCKED => (
            "it leads to an address that this service may not connect to",
            "Check the DNS records of the name and where the site redirects to: private and \
             reserved addresses are not checked.",
        ),
        NOT_FOUND => (
            "its name does not exist or has no address",
            "Check that the name is spelled correctly, that its domain is registered and has not \
             lapsed, and that its DNS zone has an A or AAAA record for the name.",
        ),
        "dns_failed" => (
            "the DNS servers of its name fail",
            "Check the name servers of the domain and, if it is signed, its DNSSEC records.",
        ),
        "connection_refused" => (
            "the connection was refused",
            "Check that the web server runs and listens on this port, and that no firewall \
             rejects connections.",
        ),
        "connection_reset" => (
            "the connection was closed before the answer was complete",
            "Look at the logs of the web server and of proxies in front of it for crashes and \
             limits.",
        ),
        "connection_timeout" => (
            "the connection was not answered in time",
            "Check that the server is running and that no firewall drops connections to it.",
        ),
        "tls_not_spoken" => (
            "the port does not speak TLS",
            "Switch TLS on for this port. If the site is meant to be plain http, set scheme to \
             http in its check_config.uptime.",
        ),
        "tls_unrecognized_name" => (
            "the server does not know the name in its TLS configuration",
            "Add the name to the server's TLS configuration, with a certificate for it.",
        ),
        "tls_handshake_failed" => (
            "the TLS handshake failed",
            "Check the server's TLS configuration: its versions, its cipher suites and its \
             certificate.",
        ),
        token => match certificate(token) {
            Some(what) => (what, CERTIFICATE),
            None => return (otherwise(token), OTHERWISE),
        },
    };
    (why.to_owned(), suggestion)
}

/// The reason's token; of a result that somebody brought without one, what its other fields tell.
fn token(result: &UptimeResult) -> &str {
    match result.error.as_deref().unwrap_or_default() {
        "" if result.keyword_match == Some(false) => error::KEYWORD_MISSING,
        "" if result.status_code >= 400 => error::UNEXPECTED_STATUS,
        token => token,
    }
}

fn unexpected_status(code: u16) -> (String, &'static str) {
    let suggestion = match code {
        500.. => {
            "The server or the application behind it fails: look at their logs, and at what was \
             deployed last."
        }
        401 | 403 => {
            "The page asks for a login or turns us away. If that is intended, add the code to \
             expected_status in the site's check_config.uptime."
        }
        404 | 410 => "The page is gone: restore it, or set another path in check_config.uptime.",
        429 => "The server limits requests: allow those of this service.",
        _ => {
            "If this answer is intended, add its code to expected_status in the site's \
             check_config.uptime."
        }
    };
    (format!("it answered with HTTP status {code}"), suggestion)
}

fn keyword_missing(config: &Config) -> (String, &'static str) {
    let keyword = config.keyword.as_deref();
    let keyword = keyword.map(|keyword| format!(" “{}”", cut(keyword, MAX_QUOTE)));
    (
        format!("its page does not contain the keyword{}", keyword.unwrap_or_default()),
        "Open the page and look at its source: is it an error page, or was the text changed? The \
         keyword is case-sensitive and must be in the first megabyte.",
    )
}

fn certificate(token: &str) -> Option<&'static str> {
    Some(match token {
        net::certificate::MALFORMED => "its certificate cannot be read",
        net::certificate::EXPIRED => "its certificate has expired",
        net::certificate::NOT_YET_VALID => "its certificate is not valid yet",
        net::certificate::HOSTNAME_MISMATCH => "its certificate is for other names",
        net::certificate::REVOKED => "its certificate was revoked",
        net::certificate::SELF_SIGNED => "its certificate is self-signed",
        net::certificate::UNTRUSTED_ROOT => "its certificate does not lead to a trusted root",
        net::certificate::INCOMPLETE_CHAIN => "it does not send the whole certificate chain",
        net::certificate::BAD_SIGNATURE => "a signature in its certificate chain is wrong",
        net::certificate::INVALID_PURPOSE => "its certificate may not be used for a web server",
        net::certificate::WEAK_KEY => "its certificate uses a key or a signature that is too weak",
        _ => return None,
    })
}

const CERTIFICATE: &str = "Visitors get a security warning. Install a valid certificate; the ssl check of this site \
     tells more. To check the site all the same, set verify_tls to false in its \
     check_config.uptime.";

/// A reason of a later version or of somebody else's agent.
fn otherwise(token: &str) -> String {
    if token.is_empty() { "it does not work".to_owned() } else { cut(token, MAX_QUOTE) }
}

const OTHERWISE: &str = "Open the site in a browser, and look at the log of its server.";

/// `6.3 s`.
fn seconds(ms: f64) -> String {
    format!("{:.1} s", ms / 1_000.0)
}

/// The two largest units: `14 minutes`, `3 hours 5 minutes`.
fn duration(seconds: i64) -> String {
    let minutes = seconds.max(0) / 60;
    let (days, hours) = (minutes / (24 * 60), minutes / 60 % 24);
    let count = |number: i64, unit: &str| match number {
        0 => None,
        1 => Some(format!("1 {unit}")),
        more => Some(format!("{more} {unit}s")),
    };
    let parts = [count(days, "day"), count(hours, "hour"), count(minutes % 60, "minute")];
    let parts: Vec<String> = parts.into_iter().flatten().take(2).collect();
    if parts.is_empty() { "less than a minute".to_owned() } else { parts.join(" ") }
}

#[cfg(test)]
mod tests;
