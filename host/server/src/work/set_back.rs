//! What a clock that was set back leaves behind: work that was planned by the time it showed before,
//! and that nobody would do until it shows that time again. If nodes share a database it may be the
//! clock of any of them, even one that has gone since.
//!
//! *Invariant:* what is planned later than anybody would plan it is planned anew: a check within
//! its interval, at its moment of the grid, a delivery at once. Everything else stays as it is, and
//! so does what a check asked for itself, unless it did so at a time that is still to come.

use std::{collections::BTreeMap, time::Duration};

use chrono::TimeDelta;
use vedette_model::{CheckType, SiteId, Timestamp, schedule::next_due};
use vedette_store::CLOCKS_DIFFER;

use crate::{
    App,
    service::{due, planned::LONGEST_LEASE},
};

/// From which moment on work counts as planned too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Beyond the longest interval of any plan: nobody saw the clock being set.
    Longest,
    /// Beyond the shortest: the clock was set just now, and early is better than late.
    Shortest,
}

/// The longest interval of each installed check.
pub(super) fn longest(app: &App) -> BTreeMap<CheckType, Duration> {
    let types = app.sandbox.check_types().into_iter();
    let longest = types.map(|check_type| {
        let (_, longest) = due::bounds(app, &check_type);
        (check_type, longest)
    });
    longest.collect()
}

/// Whether a check is to run more often than before: another version of its plugin was loaded, and
/// what is planned is still as the previous one wanted it.
pub(super) fn shortened(
    before: &BTreeMap<CheckType, Duration>,
    now: &BTreeMap<CheckType, Duration>,
) -> bool {
    let mut now = now.iter();
    now.any(|(check_type, interval)| before.get(check_type).is_some_and(|was| interval < was))
}

/// Plans anew what is planned too late, and ends leases that run too long, of nodes that are gone;
/// answers how many both were.
pub(super) async fn plan_anew(app: &App, reach: Reach) -> vedette_store::Result<u64> {
    let now = app.clock.now();
    let mut count = app.store.hasten_deliveries(now + LONGEST_WAIT, now).await?;
    let is_shared = !app.store.embedded();
    if is_shared {
        count += app.store.end_delivery_leases(&app.node, now + LONGEST_WAIT, now).await?;
    }
    for check_type in app.sandbox.check_types() {
        let (shortest, longest) = due::bounds(app, &check_type);
        if is_shared {
            count += end_leases(app, &check_type, longest, now).await?;
        }
        let far = match reach {
            Reach::Longest => longest.saturating_add(differ(app)),
            Reach::Shortest => shortest,
        };
        let horizon = later(now, far);
        loop {
            let asked = now + differ(app);
            let sites = app.store.planned_after(&check_type, horizon, asked, BATCH).await?;
            let anew =
                sites.iter().map(|site| (*site, next_due(*site, &check_type, shortest, now)));
            let anew: Vec<(SiteId, Timestamp)> = anew.collect();
            app.store.plan_anew(&check_type, &anew).await?;
            count += anew.len() as u64;
            if anew.len() < BATCH {
                break;
            }
        }
    }
    Ok(count)
}

/// Of one check, those of nodes that are gone.
async fn end_leases(
    app: &App,
    check_type: &CheckType,
    longest: Duration,
    now: Timestamp,
) -> vedette_store::Result<u64> {
    let horizon = later(now, longest.max(LONGEST_LEASE).saturating_add(CLOCKS_DIFFER));
    let mut count = 0;
    loop {
        let ended = app.store.end_leases(&app.node, check_type, horizon, now, BATCH).await?;
        count += ended;
        if ended < BATCH as u64 {
            return Ok(count);
        }
    }
}

/// How far another node may have planned ahead of this clock while both are right.
fn differ(app: &App) -> Duration {
    if app.store.embedded() { Duration::ZERO } else { CLOCKS_DIFFER }
}

fn later(now: Timestamp, by: Duration) -> Timestamp {
    let by = TimeDelta::from_std(by).ok();
    by.and_then(|by| now.checked_add_signed(by)).unwrap_or(Timestamp::MAX_UTC)
}

/// Longer than a delivery waits for anything but maintenance, or is leased.
const LONGEST_WAIT: Duration = Duration::from_secs(90);
const BATCH: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::sample::at;

    #[test]
    fn check_that_is_to_run_more_often_is_noticed() {
        let of = |named: &[(&str, u64)]| -> BTreeMap<CheckType, Duration> {
            let each = named.iter();
            each.map(|(name, s)| (name.parse().unwrap(), Duration::from_secs(*s))).collect()
        };
        let before = of(&[("banner", 60), ("ssl", 60)]);
        for (now, expected) in [
            (of(&[("banner", 60), ("ssl", 60)]), false),
            (of(&[("banner", 59), ("ssl", 60)]), true),
            (of(&[("banner", 61), ("ssl", 60)]), false),
            (of(&[("ssl", 60)]), false),
            (of(&[("other", 5), ("ssl", 60)]), false),
        ] {
            assert_eq!(shortened(&before, &now), expected, "{now:?}");
        }
    }

    #[test]
    fn horizon_that_no_calendar_has_is_the_last_moment() {
        assert_eq!(later(at(0), Duration::from_secs(60)), at(60));
        assert_eq!(later(at(0), Duration::MAX), Timestamp::MAX_UTC);
    }
}
