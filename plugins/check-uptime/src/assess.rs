//! What a result means for the site: down, slow, or up again.
//!
//! A fold over time: an assessment remembers since when the site is down, so that the end of an
//! outage can tell how long it was.
//!
//! *Invariant:* pure; the only clock is the evidence's own time.

use serde::{Deserialize, Serialize};
use vedette_sdk::{Assessment, Evidence, Health};

use crate::{
    config::Config,
    result::{Status, UptimeResult},
};

mod wording;

/// Kept until a run that followed an outage has settled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Memory {
    /// The first run in a row that found the site down, in Unix seconds.
    down_since: i64,
}

/// Judges the current result. The site is up *again* as long as the last settled result is an
/// outage or slowness: then the recovery is reported until it is confirmed, and never a second time.
pub(crate) fn assess(evidence: Evidence<Config, UptimeResult>) -> Assessment {
    let (current, config) = (&evidence.current, &evidence.config);
    let remembered: Option<Memory> = evidence.remembered();
    let settled = evidence.settled.as_ref().map(|settled| settled.facts.status);
    let was_down = settled == Some(Status::Down);
    let down_since = remembered.as_ref().map(|memory| memory.down_since);
    let assessment = match current.status {
        Status::Down => Assessment::new(Health::Down).with(wording::down(current, config)),
        Status::Degraded => {
            let slow = wording::degraded(current, config);
            // Down a moment ago and slow now: the second run in a row that was not good. Without
            // this a site that swings between the two would never be heard of.
            let confirmed = remembered.is_some() && !was_down;
            let slow = if confirmed { slow.confirmations(1) } else { slow };
            Assessment::new(Health::Degraded).with(slow)
        }
        Status::Up => {
            let outage = down_since.map(|since| evidence.current_at.saturating_sub(since));
            let well = Assessment::new(Health::Ok);
            match settled {
                Some(Status::Down) => well.with(wording::up_again(current, outage)),
                Some(Status::Degraded) => well.with(wording::in_time_again(current)),
                Some(Status::Up) | None => well,
            }
        }
    };
    let down_since = match current.status {
        Status::Down => down_since.or(Some(evidence.current_at)),
        Status::Degraded | Status::Up => down_since.filter(|_| was_down),
    };
    match down_since {
        Some(down_since) => assessment.remember(&Memory { down_since }),
        None => assessment,
    }
}

#[cfg(test)]
mod tests;
