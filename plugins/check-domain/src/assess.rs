//! What a result means for the site: the registration's expiry, and its loss.
//!
//! A fold over time: each assessment remembers the last registration that was seen, so that a run
//! which saw none neither resolves nor forgets what the registry said before; expiry goes on by the
//! calendar meanwhile, even if a source that publishes no date stands in for the one that gave it.
//! That a name is no longer registered counts once both sources say so, or one says it twice in a
//! row. A run that saw nothing is `unknown` only if nothing is due: the host ignores what comes
//! with `unknown`, and a date that has passed is known without the registry.
//!
//! *Invariant:* pure; the only clock is the evidence's own time.

use serde::{Deserialize, Serialize};
use vedette_sdk::{Assessment, Evidence, Finding, Health};

use crate::{config::Config, error::Token, events, result::DomainResult};
use loss::Loss;
use seen::Seen;

mod loss;
mod seen;
mod wording;

#[cfg(test)]
mod tests;

/// What is remembered from one assessment to the next.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Memory {
    /// The last registration that any result showed.
    registered: Option<Seen>,
    /// The name that was registered is not, as results since then say.
    lost: Option<Loss>,
}

/// What one result says.
enum Sight {
    Registered(Seen),
    /// Not registered, or withheld from registration.
    Unregistered(Loss),
    /// Nothing about the registration.
    None,
}

/// Judges the current result in the light of what was seen before.
pub(crate) fn assess(evidence: Evidence<Config, DomainResult>) -> Assessment {
    let now = evidence.current_at;
    let mut memory: Memory = evidence.remembered().unwrap_or_default();
    if memory.registered.is_none()
        && let Some(settled) = &evidence.settled
    {
        memory.registered = Seen::of(&settled.facts, settled.at);
    }
    let sight = Sight::of(&evidence.current, now);
    let (health, findings) = memory.judge(sight, evidence.alert_days, now);
    Assessment { health, findings, memory: None }.remember(&memory)
}

impl Sight {
    fn of(result: &DomainResult, now: i64) -> Self {
        let token = result.error.as_deref();
        let is_reserved = token == Some(Token::DomainReserved.as_str());
        if is_reserved || token == Some(Token::DomainNotFound.as_str()) {
            return Self::Unregistered(Loss::new(result.source, is_reserved));
        }
        Seen::of(result, now).map_or(Self::None, Self::Registered)
    }
}

impl Memory {
    fn judge(&mut self, sight: Sight, alert_days: u16, now: i64) -> (Health, Vec<Finding>) {
        match sight {
            Sight::Registered(seen) => {
                let seen = seen.dated_by(self.registered.as_ref());
                let findings = seen.findings(alert_days, now);
                self.lost = None;
                self.registered = Some(seen);
                (health(&findings), findings)
            }
            Sight::Unregistered(loss) => (Health::Down, self.lose(loss, alert_days, now)),
            Sight::None => {
                let findings = self.wait(alert_days, now);
                let health = if findings.is_empty() { Health::Unknown } else { health(&findings) };
                (health, findings)
            }
        }
    }

    /// A name that was never registered has nothing to lose.
    fn lose(&mut self, loss: Loss, alert_days: u16, now: i64) -> Vec<Finding> {
        let Some(known) = &self.registered else { return Vec::new() };
        let loss = loss.after(self.lost.as_ref());
        let mut findings = vec![wording::lost(known, &loss, now)];
        // One that has expired is expired in any case.
        if !loss.is_certain() && !known.is_expired(now) {
            findings[0].confirmations = Some(Loss::CONFIRMATIONS);
            findings.extend(known.expiring(alert_days, now));
        }
        self.lost = Some(loss);
        findings
    }

    /// What was certain stays so. A loss that is not must be told often enough in a row.
    fn wait(&mut self, alert_days: u16, now: i64) -> Vec<Finding> {
        let Some(known) = &self.registered else { return Vec::new() };
        self.lost = self.lost.take().filter(Loss::is_certain);
        match &self.lost {
            Some(loss) => vec![wording::lost(known, loss, now)],
            None => known.findings(alert_days, now),
        }
    }
}

fn health(findings: &[Finding]) -> Health {
    let found = |event: &str| findings.iter().any(|finding| finding.event == event);
    if found(events::EXPIRED.name) {
        Health::Down
    } else if found(events::EXPIRING.name) {
        Health::Degraded
    } else {
        Health::Ok
    }
}
