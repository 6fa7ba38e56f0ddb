//! What a result means for the site: expiry, validity, and changes of the certificate.
//!
//! A fold over time: each assessment remembers the certificates that were served and how the last
//! one was found, so that a run which saw none neither resolves nor raises what only a certificate
//! can show. Expiry goes on by the calendar meanwhile. If a site's servers alternate between
//! certificates, a faulty one counts even while the others are met: half of the visitors meet it.
//!
//! *Invariant:* pure; the only clock is the evidence's own time.

use vedette_sdk::{Assessment, Evidence, Finding, Health};

use crate::{config::Config, error, events, result::SslResult};
use memory::Memory;
use seen::Seen;
use threshold::Threshold;

mod change;
mod memory;
mod seen;
mod threshold;
mod wording;

#[cfg(test)]
mod tests;

/// Judges the current result in the light of what was served before.
pub(crate) fn assess(evidence: Evidence<Config, SslResult>) -> Assessment {
    let now = evidence.current_at;
    let current = &evidence.current;
    let settled = evidence.settled.as_ref();
    let mut memory: Memory = evidence.remembered().unwrap_or_default();
    if let Some(settled) = settled {
        memory.fill_in(&settled.facts, settled.at);
    }

    let seen = Seen::of(current, now);
    let change = memory.observe(current, now);
    let threshold = Threshold::of(&evidence);
    let found = |certificate: &Seen| condition(certificate, threshold, now);
    let certificate = seen.as_ref().or(memory.last.as_ref());
    let mut findings = certificate.map(found).unwrap_or_default();
    let health = health(seen.as_ref(), &findings);
    let of_others = memory.troubled_besides(current).map(found).unwrap_or_default();
    if let Some(seen) = &seen {
        memory.note(current, seen, !findings.is_empty());
    }
    for finding in of_others {
        if findings.iter().all(|own| own.dedup_key != finding.dedup_key) {
            findings.push(wording::of_another(finding));
        }
    }

    if let Some(change) = change {
        let before = settled.map(|settled| &settled.facts);
        findings.extend(change.findings(current, before, memory.last.as_ref(), now));
    }
    memory.last = seen.or(memory.last);
    Assessment { health, findings, memory: None }.remember(&memory)
}

/// What is wrong with a certificate at a moment. It is expired or otherwise invalid, not both;
/// expiring it may be in any case, also below an intermediate that has expired before it.
fn condition(certificate: &Seen, threshold: Threshold, now: i64) -> Vec<Finding> {
    let days = certificate.days_left(now);
    let mut findings = Vec::new();
    if let Some(days) = days.filter(|days| threshold.is_reached(certificate, *days, now)) {
        findings.push(wording::expiring(certificate, days, threshold, now));
    }
    if days.is_some_and(|days| days < 0) || certificate.problem.as_deref() == Some(error::EXPIRED) {
        findings.push(wording::expired(certificate, days, now));
    } else if let Some(problem) = &certificate.problem {
        findings.push(wording::invalid(certificate, problem, now));
    }
    findings
}

/// By this run alone: an open finding about an earlier certificate does not make a server that
/// answers well look bad, nor one that does not answer look well.
fn health(seen: Option<&Seen>, findings: &[Finding]) -> Health {
    let found = |event: &str| findings.iter().any(|finding| finding.event == event);
    match seen {
        Some(_) if found(events::EXPIRED.name) || found(events::INVALID.name) => Health::Down,
        Some(_) if found(events::EXPIRING.name) => Health::Degraded,
        Some(_) => Health::Ok,
        // Not valid, for a reason of the connection.
        None => Health::Down,
    }
}
