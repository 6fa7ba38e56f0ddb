//! What a result means for the site: certificates that nobody expected.
//!
//! A fold over time. A certificate is expected when it is the one that the site serves, when its
//! issuer was accepted (it was there at the baseline, or the site served a valid certificate of
//! it since), or when CAA permits its issuer. Each unexpected certificate is told once; the alert
//! then waits for its owner.
//!
//! The run's own `expected` counts as far as it goes: not where the run had nothing to compare
//! with (its state was lost, another agent took over), and not for issuers that were told as
//! unexpected before.
//!
//! *Invariant:* pure; the only clock is the evidence's own time.
//! *Invariant:* an alert does not make its issuer accepted, and a source that is away changes
//! nothing.

use vedette_sdk::{Assessment, Evidence, Finding, Health};

use crate::{
    config::Config,
    date,
    identity::{Identity, Traits},
    issuer::Issuer,
    result::{Caa, Certificate, CtResult},
};
use memory::{Memory, Standing};
use served::Served;

mod memory;
mod served;
mod wording;

#[cfg(test)]
mod tests;

/// Judges the current result in the light of what was accepted before.
pub(crate) fn assess(evidence: Evidence<Config, CtResult>) -> Assessment {
    let now = evidence.current_at;
    if evidence.current.error.is_some() {
        return Assessment { memory: evidence.memory, ..Assessment::new(Health::Unknown) };
    }
    let served: Option<Served> = evidence.sibling("ssl");
    let mut memory = match evidence.remembered::<Memory>() {
        Some(memory) => memory,
        None => Memory::of_settled(evidence.settled.as_ref().map(|settled| &settled.facts)),
    };
    if let Some(family) = served.as_ref().and_then(Served::family) {
        memory.accept(family);
    }

    let is_baseline = memory.takes_as_baseline(&evidence.current);
    let mut verdict = Verdict::default();
    for certificate in evidence.current.certificates.iter().take(JUDGED) {
        let seen = Seen::of(certificate, &evidence.current.domain);
        if seen.is_expired(now) {
            continue;
        }
        if is_baseline && memory.standing(&seen.identity).is_none() {
            seen.family.clone().into_iter().for_each(|family| memory.accept(family));
        }
        let is_expected = is_baseline || seen.is_expected(&memory, &evidence.current, &served);
        verdict.add(&seen, is_expected, &mut memory, &evidence.current);
    }
    memory.go_on(&evidence.current);
    let health = if verdict.is_degraded { Health::Degraded } else { Health::Ok };
    Assessment { health, findings: verdict.findings, memory: None }.remember(&memory)
}

/// A certificate of the result, with what it is recognised by.
struct Seen<'a> {
    certificate: &'a Certificate,
    issuer: Issuer,
    family: Option<String>,
    identity: Identity,
}

#[derive(Default)]
struct Verdict {
    findings: Vec<Finding>,
    is_degraded: bool,
}

impl<'a> Seen<'a> {
    fn of(certificate: &'a Certificate, domain: &str) -> Self {
        let issuer = Issuer::of_result(&certificate.issuer, certificate.issuer_org.as_deref());
        let date = |text: &Option<String>| text.as_deref().and_then(date::parse);
        let text = |text: &'a Option<String>| text.as_deref().filter(|text| !text.is_empty());
        let serial = crate::certificate::serial(&certificate.serial_number);
        let identity = Identity::of(&Traits {
            tbs: text(&certificate.tbs_sha256),
            issuer: issuer.folded(),
            serial: &serial,
            fingerprint: text(&certificate.fingerprint),
            dates: [date(&certificate.not_before), date(&certificate.not_after)],
            names: &certificate.san,
            domain,
        });
        Self { certificate, family: issuer.family(), issuer, identity }
    }

    /// Of the alert: the TBS digest, or the mark of issuer and serial number.
    fn key(&self) -> String {
        let digest = self.certificate.tbs_sha256.as_deref().and_then(crate::certificate::hash);
        let mark = || self.identity.tbs.clone().unwrap_or_else(|| self.identity.name.clone());
        digest.unwrap_or_else(mark)
    }

    fn is_expired(&self, now: i64) -> bool {
        let until = self.certificate.not_after.as_deref().and_then(date::parse);
        until.is_some_and(|until| until < now)
    }

    fn is_expected(&self, memory: &Memory, current: &CtResult, served: &Option<Served>) -> bool {
        if served.as_ref().is_some_and(|served| served.is(self.certificate, &self.issuer)) {
            return true;
        }
        let family = self.family.as_deref().unwrap_or_default();
        // What the run knew from its own baseline.
        let run_knew = self.certificate.expected && !current.baseline && !memory.suspects(family);
        memory.accepts(family) || self.certificate.caa == Some(Caa::Permits) || run_knew
    }
}

impl Verdict {
    /// One finding for a certificate that was never told; of more than fit, the others follow
    /// with the next result.
    fn add(&mut self, seen: &Seen<'_>, is_expected: bool, memory: &mut Memory, current: &CtResult) {
        let standing = match memory.standing(&seen.identity) {
            // What was expected when it was issued stays so, whatever CAA says by now.
            Some(Standing::Expected) => Standing::Expected,
            Some(Standing::Unexpected) | None if is_expected => Standing::Expected,
            Some(Standing::Unexpected) => Standing::Unexpected,
            None if self.findings.len() < FINDINGS => {
                self.findings.push(wording::unexpected(seen, current));
                memory.suspect(seen.family.clone());
                Standing::Unexpected
            }
            None => {
                self.is_degraded = true;
                return;
            }
        };
        self.is_degraded |= standing == Standing::Unexpected;
        memory.see(&seen.identity, standing);
    }
}

/// Findings of one assessment: the host's own limit.
const FINDINGS: usize = 32;
/// Certificates of a result that are judged: runs list fewer.
const JUDGED: usize = 1_000;
