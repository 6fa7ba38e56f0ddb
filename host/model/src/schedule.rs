//! When a check is due.
//!
//! *Invariant:* the due moments of a (site, check type) lie on one grid, `phase + n × interval`:
//! they are the same on every node and after every restart, and different sites are spread over
//! the interval (decisions: intervals).

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::{CheckStatus, CheckType, Plan, SiteId, Timestamp};

/// How often each check runs, as the operator configured it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    pub ssl: Duration,
    pub dns: Duration,
    pub domain: Duration,
    pub ct: Duration,
    pub uptime: Duration,
    /// Every check type that the table does not name.
    pub other: Duration,
}

impl Default for Intervals {
    fn default() -> Self {
        Self {
            ssl: Duration::from_secs(6 * 3600),
            dns: Duration::from_secs(3600),
            domain: Duration::from_secs(24 * 3600),
            ct: Duration::from_secs(3600),
            uptime: Duration::from_secs(60),
            other: Duration::from_secs(5 * 60),
        }
    }
}

impl Intervals {
    /// The interval of a check on a plan: the operator's, but never shorter than the plan allows.
    pub fn interval(&self, check_type: &CheckType, plan: &Plan) -> Duration {
        let configured = match check_type.as_str() {
            "ssl" => self.ssl,
            "dns" => self.dns,
            "domain" => self.domain,
            "ct" => self.ct,
            "uptime" => self.uptime,
            _ => self.other,
        };
        configured.max(plan.min_interval(check_type))
    }
}

/// The first moment of the grid strictly after `after`: at most one interval away, so that after
/// a downtime each check runs once, spread over its interval.
pub fn next_due(
    site_id: SiteId,
    check_type: &CheckType,
    interval: Duration,
    after: Timestamp,
) -> Timestamp {
    let interval = i64::try_from(interval.as_millis()).unwrap_or(i64::MAX / 4).max(1);
    let phase = phase(site_id, check_type, interval);
    let since_grid = (after.timestamp_millis() - phase).rem_euclid(interval);
    after
        .checked_add_signed(TimeDelta::milliseconds(interval - since_grid))
        // Below a millisecond the grid has no points.
        .and_then(|due| DateTime::from_timestamp_millis(due.timestamp_millis()))
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// How soon a check runs again to confirm a finding, after so many runs in a row that left one
/// unconfirmed: `at_once` where that was decided (see [`crate::alert::Decision::at_once`]), else after
/// `recheck`. A target that says something new every time gets no more than [`MOST_RECHECKS`]; then
/// (none) it waits for its turn.
pub fn recheck_after(unconfirmed_runs: u32, at_once: bool, recheck: Duration) -> Option<Duration> {
    awaits_confirmation(unconfirmed_runs).then_some(if at_once { Duration::ZERO } else { recheck })
}

/// Whether the next run is to confirm what so many runs in a row left unconfirmed: an owner who is
/// to be told does not wait for everything else that is overdue.
pub fn awaits_confirmation(unconfirmed_runs: u32) -> bool {
    (1..=MOST_RECHECKS).contains(&unconfirmed_runs)
}

/// How soon a check runs again whose run had no answer through no fault of its target: after
/// `recheck`; where the run before had none either, after twice as long as that is ago.
pub fn retry_after(since_last: Option<Duration>, recheck: Duration) -> Duration {
    since_last.map_or(recheck, |since| recheck.max(since.saturating_mul(2)))
}

/// When a check runs whose plugin asked to run again in `wait`, and whose run was judged as
/// `status`; `since_same`: how long ago the run before was, if it was judged the same. A check that
/// learned something about its target runs again at its regular time at the latest: the plugin may
/// ask for an earlier run, and an owner who set a short interval keeps it. While a target stays
/// down each wait is twice the one before: what is fixed soon is seen soon, and what is down for
/// good is looked at as often as any other. A check that learned nothing (its registry throttles)
/// may ask for a longer wait.
pub fn asked_for(
    wait: Duration,
    status: CheckStatus,
    since_same: Option<Duration>,
    regular: Timestamp,
    now: Timestamp,
) -> Timestamp {
    let wait = match status {
        CheckStatus::Unknown => return now + wait,
        CheckStatus::Down => retry_after(since_same, wait),
        CheckStatus::Ok | CheckStatus::Degraded => wait,
    };
    let longest = (regular - now).to_std().unwrap_or_default();
    now + wait.min(longest)
}

/// A wait that a plugin asks for, between 5 seconds and the check's own interval.
pub fn wait_of(seconds: u32, interval: Duration) -> Duration {
    Duration::from_secs(u64::from(seconds)).max(SHORTEST_WAIT).min(interval.max(SHORTEST_WAIT))
}

/// For how long a check is put off that found no place, or had no answer through trouble of ours:
/// `least`, and up to as long again by site and type, so that not all of a burst come back in one
/// moment.
pub fn put_off(site_id: SiteId, check_type: &CheckType, least: Duration) -> Duration {
    let range = i64::try_from(least.as_millis()).unwrap_or(i64::MAX).max(1);
    least + Duration::from_millis(phase(site_id, check_type, range).unsigned_abs())
}

/// Rechecks in a row before a check waits for its next regular run.
pub const MOST_RECHECKS: u32 = 5;

/// FNV-1a over the id and the type, mixed once more, since ids made in one moment share most of
/// their bytes. Written out here because it must never change: it decides when things run.
fn phase(site_id: SiteId, check_type: &CheckType, interval: i64) -> i64 {
    let bytes = site_id.0.as_bytes().iter().chain(check_type.as_str().as_bytes());
    let mut hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    // The shift makes it fit: 63 bits are plenty for a phase.
    i64::try_from(hash >> 1).expect("63 bits fit") % interval
}

const SHORTEST_WAIT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests;
