//! What a result means for the site: down, slow, or up again.
//!
//! A fold over time: an assessment remembers since when the site is down, so that the end of an
//! outage can tell how long it was, whether it was seen over https, and how the last looks at it ended.
//!
//! *Invariant:* pure; the only clock is the evidence's own time.

use serde::{Deserialize, Serialize};
use vedette_sdk::{Assessment, Evidence, Health};

use crate::{
    config::{Config, Scheme},
    result::{Status, UptimeResult},
};
use recent::Recent;
use secure::Secure;

mod recent;
mod secure;
mod wording;

/// What is remembered from one assessment to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Memory {
    /// The first run in a row that found the site down, in Unix seconds. Kept until a run that
    /// followed an outage has settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    down_since: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secure: Option<Secure>,
    #[serde(skip_serializing_if = "Recent::is_good")]
    recent: Recent,
}

/// Judges the current result. The site is up *again* as long as the last settled result is an
/// outage or slowness: then the recovery is reported until it is confirmed, and never a second time.
pub(crate) fn assess(evidence: Evidence<Config, UptimeResult>) -> Assessment {
    let (current, config, now) = (&evidence.current, &evidence.config, evidence.current_at);
    let Memory { down_since, secure, recent } = evidence.remembered().unwrap_or_default();
    let lost_https = |result: &UptimeResult, at: i64| {
        let is_either = config.scheme == Scheme::Auto;
        is_either && secure.as_ref().is_some_and(|secure| secure.is_lost(result, at))
    };
    let status = |result: &UptimeResult, at: i64| {
        if lost_https(result, at) { Status::Down } else { result.status }
    };
    let settled = evidence.settled.as_ref().map(|settled| status(&settled.facts, settled.at));
    let was_down = settled == Some(Status::Down);
    let current_status = status(current, now);
    let recent = recent.after(current_status == Status::Down);
    let outage_ends = || {
        let outage = down_since.map(|since| now.saturating_sub(since));
        wording::up_again(current, outage)
    };
    let assessment = match current_status {
        Status::Down if lost_https(current, now) => {
            Assessment::new(Health::Down).with(wording::without_https(current))
        }
        Status::Down => Assessment::new(Health::Down).with(wording::down(current, config)),
        Status::Degraded => {
            let slow = wording::degraded(current, config);
            // Down a moment ago and slow now: the second run in a row that was not good. Without
            // this a site that swings between the two would never be heard of.
            let confirmed = down_since.is_some() && !was_down;
            let slow = if confirmed { slow.confirmations(1) } else { slow };
            Assessment::new(Health::Degraded).with(slow)
        }
        // A single failure does not count; this many together are trouble.
        Status::Up if recent.is_unsteady() => {
            let unsteady = wording::unsteady(current).confirmations(1);
            let unwell = Assessment::new(Health::Degraded).with(unsteady);
            // An owner who was told that it is down is told that it is not, whatever else goes on.
            if was_down { unwell.with(outage_ends()) } else { unwell }
        }
        Status::Up => {
            let well = Assessment::new(Health::Ok);
            match settled {
                Some(Status::Down) => well.with(outage_ends()),
                Some(Status::Degraded) => well.with(wording::in_time_again(current)),
                Some(Status::Up) | None => well,
            }
        }
    };
    let down_since = match current_status {
        Status::Down => down_since.or(Some(now)),
        Status::Degraded | Status::Up => down_since.filter(|_| was_down),
    };
    let secure = Secure::after(secure, current, config, now);
    let memory = Memory { down_since, secure, recent };
    if memory == Memory::default() { assessment } else { assessment.remember(&memory) }
}

#[cfg(test)]
mod tests;
