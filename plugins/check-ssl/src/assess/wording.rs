//! What people read: each message names the site, the date and the issuer, each suggestion says
//! what to do next.

use std::collections::BTreeSet;

use vedette_sdk::{
    Finding, date, dn,
    text::{cut, limit},
};

use super::{
    change::{Change, ChangeType},
    seen::{self, SHOWN_NAMES, Seen},
    threshold::Threshold,
};
use crate::{error, events, result::SslResult};

/// Of a message, in bytes: the host refuses more than 1 KiB.
const MAX_MESSAGE: usize = 1_000;
/// Of a name that a certificate brought along, in characters.
const MAX_NAME: usize = 100;

/// `days`: whole days left, 0 or more, and no more than `alert_days`.
pub(super) fn expiring(certificate: &Seen, days: i64, threshold: Threshold, now: i64) -> Finding {
    let Threshold { alert_days, only_overdue } = threshold;
    let at = certificate.expires_at.unwrap_or(now);
    let when = match days {
        0 => format!("in less than a day, at {}", date::minute(at)),
        days => format!("in {}, on {}", days_of(days), date::day(at)),
    };
    let message = sentence(certificate, &format!("certificate expires {when}"), None, now);
    let finding = Finding::new(&events::EXPIRING, "expiring", message);
    // Where the renewal is overdue the days are not what is wrong.
    let lifetime = certificate.lifetime().filter(|_| !only_overdue);
    let fitting = lifetime.map(fitting).filter(|fitting| *fitting < days);
    match lifetime.zip(fitting) {
        None => finding.suggestion(
            "Renew the certificate and reload the server before that date. If renewal is \
             automatic, find out why it has not happened: look at the log of the ACME client and \
             check that the server was reloaded after the last renewal.",
        ),
        Some((lifetime, fitting)) => finding.suggestion(format!(
            "This certificate is valid for {} in all, so alert_days {alert_days} alerts before its \
             renewal is due. If renewal is automatic, set alert_days of this site to {fitting}: \
             then this alert ends, and returns only if a renewal fails. (What an agent sees has no \
             such setting.) Otherwise renew the certificate and reload the server before that date.",
            days_of(lifetime / date::DAY),
        )),
    }
}

/// The `alert_days` that begin when the renewal of a certificate with this lifetime should have
/// happened: those that are renewed automatically are when a third of it is left.
fn fitting(lifetime: i64) -> i64 {
    // A day begins when there is less than the next one left.
    (lifetime / (3 * date::DAY) - 1).max(1)
}

/// `days`: below 0 where the leaf has expired, else it is an intermediate.
pub(super) fn expired(certificate: &Seen, days: Option<i64>, now: i64) -> Finding {
    let (what, suggestion) = match (days.filter(|&days| days < 0), &certificate.chain_error) {
        (None, Some(reason)) => (
            format!("certificate chain has expired: {}", name(reason)),
            "Visitors get a security warning. Install the current intermediate certificate of \
             your issuer and reload the server; the certificate itself has not expired.",
        ),
        (days, _) => (
            format!("certificate expired{}", ago(days, certificate.expires_at)),
            "Visitors get a security warning. Install a renewed certificate and reload the \
             server now; then find out why it was not renewed in time.",
        ),
    };
    Finding::new(&events::EXPIRED, "expired", sentence(certificate, &what, None, now))
        .suggestion(suggestion)
}

pub(super) fn invalid(certificate: &Seen, problem: &str, now: i64) -> Finding {
    let (what, suggestion) = explain(certificate, problem);
    let what = match &certificate.chain_error {
        Some(reason) if problem != error::SELF_SIGNED => format!("{what}; {}", name(reason)),
        _ => what,
    };
    let message = sentence(certificate, &what, certificate.expires_at, now);
    Finding::new(&events::INVALID, "invalid", message).suggestion(suggestion)
}

/// What was found of a certificate that some of the site's servers serve, but not this answer.
pub(super) fn of_another(finding: Finding) -> Finding {
    let own = finding.suggestion.as_deref().unwrap_or_default();
    let suggestion =
        format!("Its servers answer with different certificates: look at each of them. {own}");
    finding.suggestion(suggestion)
}

pub(super) fn renewed(current: &SslResult, fingerprint: &str, now: i64) -> Finding {
    let until = seen::expires_at(current, now).map(|at| {
        let days = date::days_until(at, now);
        format!(", now valid until {} ({})", date::day(at), days_of(days))
    });
    let what = format!("certificate renewed{}", until.unwrap_or_default());
    let message = limited(format!("{}{what}{}", prefix(&current.domain), by(&issuer_of(current))));
    Finding::new(&events::RENEWED, format!("renewed:{fingerprint}"), message)
        .suggestion("Nothing to do.")
}

pub(super) fn changed(
    change: &Change,
    current: &SslResult,
    settled: Option<&SslResult>,
    now: i64,
) -> String {
    let issuer = issuer_of(current);
    let what = match change.kind {
        ChangeType::Renewal => "certificate was renewed".to_owned(),
        ChangeType::Replacement => {
            "certificate was replaced by another one for the same names".to_owned()
        }
        ChangeType::SanChange => {
            format!("certificate covers other names{}", name_changes(settled, current))
        }
        ChangeType::IssuerChange => {
            let before = settled
                .map(issuer_of)
                .unwrap_or_else(|| name(dn::Name::read(&change.before.issuer).label()));
            let what = if change.is_renewal_by_sibling(current) {
                "certificate was renewed, by another intermediate of the same authority"
            } else {
                "certificate comes from another issuer"
            };
            format!("{what} (before: {before})")
        }
    };
    let until = seen::expires_at(current, now).map(date::day);
    let before = change.before.expires_at.map(date::day);
    let dates = match (until, before) {
        (Some(until), Some(before)) if until != before => {
            format!(", valid until {until} instead of {before}")
        }
        (Some(until), _) => format!(", valid until {until}"),
        (None, _) => String::new(),
    };
    limited(format!("{}{what}{dates}{}", prefix(&current.domain), by(&issuer)))
}

pub(super) fn after_change(kind: ChangeType) -> &'static str {
    match kind {
        ChangeType::Renewal => {
            "Nothing to do if the renewal was automatic or planned; resolve this alert once seen."
        }
        ChangeType::Replacement | ChangeType::SanChange | ChangeType::IssuerChange => {
            "Make sure that your team made this change; resolve this alert if so. If nobody did, \
             check who can issue certificates for the domain and whether its DNS records point to \
             your own servers."
        }
    }
}

/// What is wrong, and what to do about it.
fn explain(certificate: &Seen, problem: &str) -> (String, &'static str) {
    let (what, suggestion) = match problem {
        error::MALFORMED => (
            "the server's certificate cannot be read",
            "Install the certificate file again as your issuer delivered it.",
        ),
        error::NOT_YET_VALID => return not_yet_valid(certificate),
        error::HOSTNAME_MISMATCH => return hostname_mismatch(certificate),
        error::REVOKED => (
            "certificate was revoked by its issuer",
            "Get a new certificate with a new key and install it now; then ask your issuer why \
             the old one was revoked.",
        ),
        error::SELF_SIGNED => (
            "certificate is self-signed",
            "Install a certificate of a public authority. If you did, the server still uses its \
             default certificate for this name.",
        ),
        error::UNTRUSTED_ROOT => (
            "certificate does not lead to a trusted root",
            "Install a certificate of a public authority. For an internal authority, add its root \
             to the trusted roots of this service.",
        ),
        error::INCOMPLETE_CHAIN => (
            "the server does not send the whole certificate chain",
            "Configure the full chain (often fullchain.pem): the certificate first, then every \
             intermediate certificate. Some clients fail without it although browsers do not.",
        ),
        error::BAD_SIGNATURE => (
            "a signature in the certificate chain is wrong",
            "Install the intermediate certificates that belong to this certificate; your issuer \
             lists them.",
        ),
        error::INVALID_PURPOSE => (
            "certificate may not be used for a web server",
            "Install a certificate that was issued for server authentication.",
        ),
        error::WEAK_KEY => (
            "certificate chain uses a key or a signature that is too weak",
            "Create a new key (RSA of 2048 bits or more, or ECDSA P-256), have a certificate \
             issued for it that is signed with SHA-256 or better, and install it with the \
             intermediate certificates that come with it.",
        ),
        "" => ("certificate is not valid", OTHERWISE),
        other => return (format!("certificate is not valid ({})", name(other)), OTHERWISE),
    };
    (what.to_owned(), suggestion)
}

const OTHERWISE: &str = "Open the site in a browser and look at the details of its certificate.";

/// Where the leaf's own date has come, it is an intermediate that waits for its own.
fn not_yet_valid(certificate: &Seen) -> (String, &'static str) {
    if certificate.valid_from.is_some_and(|from| from <= certificate.at) {
        return (
            "certificate chain is not valid yet".to_owned(),
            "Install the current intermediate certificate of your issuer and reload the server; \
             the certificate itself is valid already.",
        );
    }
    let from = certificate.valid_from.map(|at| format!(" before {}", date::minute(at)));
    let what = format!("certificate is not valid{}", from.unwrap_or_else(|| " yet".to_owned()));
    (what, "Use the previous certificate until then, or have one issued that is valid now.")
}

fn hostname_mismatch(certificate: &Seen) -> (String, &'static str) {
    let what = match certificate.names.as_slice() {
        [] => "certificate does not name any host".to_owned(),
        names => {
            let total = names.len() + certificate.more_names;
            format!("certificate is for other names: {}", listed(names.iter(), total))
        }
    };
    (
        what,
        "Install a certificate that lists this name, or fix the server's configuration: it may be \
         answering with the certificate of another site.",
    )
}

/// `example.com: what (issued by X, valid until D)`, and when it was seen if that was earlier.
fn sentence(certificate: &Seen, what: &str, until: Option<i64>, now: i64) -> String {
    let mut known = Vec::new();
    let issuer = issuer(&certificate.issuer, certificate.issuer_org.as_deref());
    if !issuer.is_empty() {
        known.push(format!("issued by {issuer}"));
    }
    known.extend(until.map(|at| format!("valid until {}", date::day(at))));
    if certificate.at < now {
        known.push(format!("last seen {}", date::minute(certificate.at)));
    }
    let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
    limited(format!("{}{what}{known}", prefix(&certificate.domain)))
}

fn prefix(domain: &str) -> String {
    if domain.is_empty() { String::new() } else { format!("{domain}: ") }
}

fn by(issuer: &str) -> String {
    if issuer.is_empty() { String::new() } else { format!(", issued by {issuer}") }
}

fn issuer_of(result: &SslResult) -> String {
    issuer(&result.issuer, result.issuer_org.as_deref())
}

/// `R11, Let's Encrypt`.
fn issuer(own: &str, organisation: Option<&str>) -> String {
    match organisation {
        Some(organisation) if organisation != own => {
            format!("{}, {}", name(own), name(organisation))
        }
        _ => name(own),
    }
}

/// ` 2 days ago, on 2026-11-25`. Days are rounded down: -1 is less than a day ago.
fn ago(days: Option<i64>, at: Option<i64>) -> String {
    match (days, at) {
        (Some(-1), Some(at)) => format!(" less than a day ago, at {}", date::minute(at)),
        (Some(days), Some(at)) => format!(" {} ago, on {}", days_of(-(days + 1)), date::day(at)),
        _ => String::new(),
    }
}

fn days_of(days: i64) -> String {
    if days == 1 { "1 day".to_owned() } else { format!("{days} days") }
}

/// `: added a, b; removed c`, if the names before are known; else the names now.
fn name_changes(before: Option<&SslResult>, after: &SslResult) -> String {
    let set = |result: &SslResult| -> BTreeSet<String> {
        result.san.iter().map(|name| name.to_ascii_lowercase()).collect()
    };
    let after = set(after);
    let Some(before) = before.map(set) else {
        return format!(": {}", listed(after.iter(), after.len()));
    };
    let side = |verb: &str, names: Vec<&String>| {
        (!names.is_empty()).then(|| {
            let total = names.len();
            format!("{verb} {}", listed(names.into_iter(), total))
        })
    };
    let added = side("added", after.difference(&before).collect());
    let removed = side("removed", before.difference(&after).collect());
    let sides: Vec<String> = added.into_iter().chain(removed).collect();
    format!(": {}", sides.join("; "))
}

/// `a, b, c and 5 more`.
fn listed<'a>(names: impl Iterator<Item = &'a String>, total: usize) -> String {
    let shown: Vec<String> = names.take(SHOWN_NAMES).map(|own| name(own)).collect();
    match total.saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Names come from the certificate, so anybody may have chosen them.
fn name(text: &str) -> String {
    cut(text, MAX_NAME)
}

fn limited(message: String) -> String {
    limit(message, MAX_MESSAGE)
}
