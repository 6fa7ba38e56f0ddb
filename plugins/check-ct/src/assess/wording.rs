//! What people read: which certificate, from whom, until when, and what to do about it.

use serde::Serialize;
use vedette_sdk::{
    Finding, Severity,
    text::{cut, limit},
};

use super::Seen;
use crate::{
    date, events,
    result::{Caa, CtResult},
};

/// Kept with the alert.
#[derive(Serialize)]
struct Details<'a> {
    issuer: String,
    issuer_org: Option<String>,
    san: Vec<String>,
    serial_number: String,
    not_before: Option<String>,
    not_after: Option<String>,
    logged_at: Option<String>,
    fingerprint: Option<String>,
    tbs_sha256: Option<String>,
    caa: Option<Caa>,
    source: Option<&'a str>,
}

/// A certificate that nobody expected. Critical where CAA forbids its issuer.
pub(super) fn unexpected(seen: &Seen<'_>, current: &CtResult) -> Finding {
    let forbidden = seen.certificate.caa == Some(Caa::Forbids);
    let message = limit(message(seen, current, forbidden), MAX_MESSAGE);
    let finding = Finding::new(&events::UNEXPECTED, seen.key(), message)
        .suggestion(if forbidden { AGAINST_CAA } else { UNEXPECTED })
        .details(&details(seen, current));
    if forbidden { finding.severity(Severity::Critical) } else { finding }
}

const UNEXPECTED: &str = "Ask whoever manages certificates for the domain whether they requested this one. If so, \
     resolve this alert, and name the authority in a CAA record of the domain: its certificates \
     are then expected. If nobody did, ask the authority to revoke it, and check who can change \
     the domain's DNS records and its web servers.";

const AGAINST_CAA: &str = "The domain's CAA records do not allow this authority. If the certificate is yours, add the \
     authority to the CAA records. If it is not, report it to the authority at once and ask for \
     revocation: it had to check CAA before issuing. Then check who can change the domain's DNS \
     records.";

/// `example.com: unexpected certificate for a.example.com, issued by X, valid until D (serial S)`.
fn message(seen: &Seen<'_>, current: &CtResult, forbidden: bool) -> String {
    let certificate = seen.certificate;
    let mut message = match current.domain.as_str() {
        "" => String::new(),
        domain => format!("{}: ", cut(domain, MAX_TEXT)),
    };
    message.push_str("unexpected certificate");
    if !certificate.san.is_empty() {
        message.push_str(&format!(" for {}", listed(&certificate.san)));
    }
    match cut(&seen.issuer.label(), MAX_TEXT) {
        issuer if issuer.is_empty() => {}
        issuer => message.push_str(&format!(", issued by {issuer}")),
    }
    if let Some(until) = certificate.not_after.as_deref().and_then(date::parse) {
        message.push_str(&format!(", valid until {}", date::day(until)));
    }
    if forbidden {
        message.push_str(", although CAA forbids this issuer");
    }
    if !certificate.serial_number.is_empty() {
        message.push_str(&format!(" (serial {})", cut(&certificate.serial_number, MAX_TEXT)));
    }
    message
}

fn details<'a>(seen: &Seen<'_>, current: &'a CtResult) -> Details<'a> {
    let certificate = seen.certificate;
    let text = |text: &Option<String>| text.as_deref().map(|text| cut(text, MAX_TEXT));
    Details {
        issuer: cut(&seen.issuer.name, MAX_TEXT),
        issuer_org: text(&seen.issuer.organisation),
        san: certificate.san.iter().take(MAX_NAMES).map(|name| cut(name, MAX_NAME)).collect(),
        serial_number: cut(&certificate.serial_number, MAX_TEXT),
        not_before: text(&certificate.not_before),
        not_after: text(&certificate.not_after),
        logged_at: text(&certificate.logged_at),
        fingerprint: text(&certificate.fingerprint),
        tbs_sha256: text(&certificate.tbs_sha256),
        caa: certificate.caa,
        source: current.source.as_deref().filter(|source| source.len() <= MAX_TEXT),
    }
}

/// `a, b, c and 5 more`.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| cut(name, MAX_TEXT)).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Names that a message shows.
const SHOWN: usize = 3;
/// Of a text that a certificate brought along, in characters.
const MAX_TEXT: usize = 128;
/// Of the details, so that they stay below 16 KiB.
const MAX_NAMES: usize = 20;
const MAX_NAME: usize = 100;
/// In bytes: the host refuses more than 1 KiB.
const MAX_MESSAGE: usize = 1_000;
