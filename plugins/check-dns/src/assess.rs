//! What a result means for the site: whether the name resolves, and what has changed.
//!
//! A fold over time. The baseline of each type is remembered here rather than taken from the last
//! settled result, since a result in which one type failed must not make that type's past be
//! forgotten; likewise a difference is counted for each type by itself, so that a record which
//! changes all the time hides no other. A difference becomes a finding when it appears, and again,
//! to be raised at once, when it has been seen often enough: then the new state is the baseline.
//!
//! *Invariant:* pure; the only clock is the evidence's own time.
//! *Invariant:* a type that failed in a run neither differs, nor agrees, nor is forgotten.

use vedette_sdk::{Assessment, Evidence, Health, NoConfig};

use crate::{
    facts::{BOGUS, LOOP, NXDOMAIN},
    look::Failure,
    record_type::RecordType,
    result::DnsResult,
};
use memory::Memory;
use state::State;

mod addresses;
mod difference;
mod memory;
mod state;
mod turns;
mod wording;

#[cfg(test)]
mod tests;

/// Judges the current result in the light of those before.
pub(crate) fn assess(evidence: Evidence<NoConfig, DnsResult>) -> Assessment {
    let now = evidence.current_at;
    let current = &evidence.current;
    let mut memory: Memory = evidence.remembered().unwrap_or_default();
    let health = health(current, memory.has_failed());
    if health == Health::Unknown {
        return Assessment { health, findings: Vec::new(), memory: evidence.memory };
    }
    if let Some(settled) = evidence.settled.as_ref().filter(|_| memory.has_gaps()) {
        memory.fill_in(&State::of(&settled.facts), settled.at);
    }
    memory.note_failure(current.error.as_deref() == Some(Failure::ServFail.token()));
    let state = State::of(current);
    let differences = memory.compare(&state, now);
    let changes = memory.confirm(differences, &state, now);
    let domain = memory.domain.clone();
    let findings = changes.iter().map(|change| wording::finding(change, &domain, current));
    Assessment { health, findings: findings.collect(), memory: None }.remember(&memory)
}

/// By this run alone, except for a first failure of the name's servers, which may pass.
fn health(current: &DnsResult, has_failed: bool) -> Health {
    let token = current.error.as_deref();
    match token {
        Some(NXDOMAIN | BOGUS | LOOP) => Health::Down,
        Some(token) if token == Failure::ServFail.token() && has_failed => Health::Down,
        Some(token) if token == Failure::ServFail.token() => Health::Degraded,
        Some(_) => Health::Unknown,
        None if current.dnssec.is_some_and(|dnssec| dnssec.valid == Some(false)) => Health::Down,
        None if RecordType::ALL.iter().all(|rtype| current.failed(*rtype)) => Health::Unknown,
        None => Health::Ok,
    }
}
