//! When a check runs next: the model's grid with the operator's intervals and the plan's bounds.

use std::time::Duration;

use vedette_model::{
    CheckRecord, CheckType, Decision, Edition, Plan, SiteId, Timestamp,
    schedule::{Intervals, asked_for, next_due, put_off, recheck_after, retry_after},
};
use vedette_store::Lease;

use super::{doubt, unanswered};
use crate::App;

/// The interval of a check on a plan, never shorter than the plan allows.
pub(crate) fn interval(app: &App, check_type: &CheckType, plan: &Plan) -> Duration {
    intervals(app, check_type).interval(check_type, plan)
}

/// The shortest and the longest interval of a check, over all plans.
pub(crate) fn bounds(app: &App, check_type: &CheckType) -> (Duration, Duration) {
    let intervals = intervals(app, check_type);
    let plans = Edition::all().into_iter().flat_map(|edition| edition.plans);
    let each = plans.map(|plan| intervals.interval(check_type, plan));
    each.fold((Duration::MAX, Duration::ZERO), |(shortest, longest), interval| {
        (shortest.min(interval), longest.max(interval))
    })
}

/// The operator's intervals. A check that the configuration does not name runs as often as is set
/// for its plugin, or else as often as the plugin asks.
fn intervals(app: &App, check_type: &CheckType) -> Intervals {
    let configured = &app.config.intervals;
    let defaults = Intervals::default();
    let asked = || app.sandbox.check(check_type).and_then(|check| check.interval);
    let other = app.plugins.interval(check_type).or_else(asked);
    Intervals {
        ssl: configured.ssl,
        dns: configured.dns,
        domain: configured.domain,
        ct: configured.ct,
        uptime: configured.uptime,
        other: other.unwrap_or(defaults.other),
    }
}

/// The next regular run after `now`.
pub(crate) fn regular(
    app: &App,
    site: SiteId,
    check_type: &CheckType,
    plan: &Plan,
    now: Timestamp,
) -> Timestamp {
    next_due(site, check_type, interval(app, check_type, plan), now)
}

/// The next run after one that led to `decision`: soon, when a finding awaits confirmation or our
/// own trouble kept it from an answer; when the plugin asked for it, within the bounds of plan and
/// plugin, no later than is regular where it could tell something, and less and less often while it is
/// down; else when it is regular. `before` is the record before this one.
pub(crate) fn after(
    app: &App,
    decision: &Decision,
    before: Option<&CheckRecord>,
    hint: Option<u32>,
    plan: &Plan,
    now: Timestamp,
) -> Timestamp {
    let (site, check_type) = (decision.record.site_id, &decision.record.check_type);
    let regular = regular(app, site, check_type, plan, now);
    if let Some(soon) = soon(app, decision, before, now) {
        return soon.min(regular);
    }
    let Some(seconds) = hint else { return regular };
    let descriptor = app.sandbox.check(check_type);
    let shortest = descriptor.and_then(|check| check.min_interval).unwrap_or(SHORTEST_HINT);
    let shortest = shortest.max(plan.min_interval(check_type));
    let wait = Duration::from_secs(seconds.into()).min(LONGEST_HINT).max(shortest);
    let same = before.filter(|_| !decision.turned);
    asked_for(wait, decision.record.status, same.map(|same| since(same, now)), regular, now)
}

/// When to look again before the regular run: to confirm a finding, or because our own trouble kept
/// a run from an answer. None if neither applies.
pub(crate) fn soon(
    app: &App,
    decision: &Decision,
    before: Option<&CheckRecord>,
    now: Timestamp,
) -> Option<Timestamp> {
    let recheck = app.config.confirm.recheck;
    let asks_others = !app.sandbox.reaches_target(&decision.record.check_type);
    let wait = confirmed_after(decision, asks_others, recheck)
        .or_else(|| retry(&decision.record, before, recheck, now))?;
    Some(now + wait)
}

/// How soon a finding that awaits confirmation is looked at again. A check that asks others about
/// the target (registries, DNS servers, logs) does not ask them again at once, whatever it found:
/// they, or a cache in front of them, would only repeat themselves.
fn confirmed_after(decision: &Decision, asks_others: bool, recheck: Duration) -> Option<Duration> {
    let at_once = decision.at_once && !asks_others;
    recheck_after(decision.unconfirmed_runs, at_once, recheck).filter(|_| decision.recheck)
}

/// How soon after our own trouble: later each time while it lasts. Checks that failed together do
/// not come back together.
fn retry(
    record: &CheckRecord,
    before: Option<&CheckRecord>,
    recheck: Duration,
    now: Timestamp,
) -> Option<Duration> {
    let longest = match unanswered::own_trouble(record)? {
        // A jump, many sites down at once, is believed or over within a few rechecks.
        doubt::HELD_BACK => return Some(recheck),
        // It passes at once for all checks.
        doubt::CLOCK_DOUBTED | doubt::OFFLINE | unanswered::OVERLOADED => LONGEST_RETRY,
        _ => Duration::MAX,
    };
    let before = before.filter(|before| unanswered::own_trouble(before).is_some());
    let since_before = before.map(|before| since(before, now));
    let least = retry_after(since_before, recheck).min(longest.max(recheck));
    Some(put_off(record.site_id, &record.check_type, least))
}

fn since(before: &CheckRecord, now: Timestamp) -> Duration {
    (now - before.checked_at).to_std().unwrap_or_default()
}

/// How soon a check that could not be done is tried again. Nothing is known of its plan then: so as
/// after our own trouble, and no later than on any plan.
pub(crate) fn after_failure(app: &App, lease: &Lease) -> Duration {
    let (shortest, _) = bounds(app, &lease.check_type);
    let waited = (lease.ready_at - lease.due_at).to_std().unwrap_or_default();
    let least = until_next_try(waited, app.config.confirm.recheck, shortest);
    put_off(lease.site_id, &lease.check_type, least)
}

/// Longer each time, after `waited` since the run was planned. It is not known whether the trouble
/// ends for all checks at once, as a database's does, or stays, as a damaged row's does.
fn until_next_try(waited: Duration, recheck: Duration, interval: Duration) -> Duration {
    retry_after(Some(waited), recheck).min(interval.min(LONGEST_RETRY).max(recheck))
}

const LONGEST_RETRY: Duration = Duration::from_secs(5 * 60);
const SHORTEST_HINT: Duration = Duration::from_secs(5);
const LONGEST_HINT: Duration = Duration::from_secs(24 * 3600);

#[cfg(test)]
mod tests {
    use vedette_model::{CheckState, CheckStatus};

    use super::*;
    use crate::service::sample;

    const RECHECK: Duration = Duration::from_secs(10);

    fn at(seconds: u32) -> Timestamp {
        Timestamp::UNIX_EPOCH + Duration::from_secs(seconds.into())
    }

    fn unknown(error: &str, seconds: u32) -> CheckRecord {
        let error = Some(error.to_owned());
        CheckRecord { checked_at: at(seconds), error, ..sample::record() }
    }

    #[test]
    fn what_asks_others_is_not_asked_again_at_once() {
        let decision = |at_once, recheck| Decision {
            record: sample::record(),
            turned: false,
            state: CheckState::default(),
            raised: Vec::new(),
            updated: Vec::new(),
            resolved: Vec::new(),
            notices: Vec::new(),
            cert_changes: Vec::new(),
            recheck,
            at_once,
            unconfirmed_runs: 1,
        };
        for (at_once, asks_others, wait) in [
            (true, false, Duration::ZERO),
            (true, true, RECHECK),
            (false, false, RECHECK),
            (false, true, RECHECK),
        ] {
            let again = confirmed_after(&decision(at_once, true), asks_others, RECHECK);
            assert_eq!(again, Some(wait), "{at_once} {asks_others}");
            let nothing = confirmed_after(&decision(at_once, false), asks_others, RECHECK);
            assert_eq!(nothing, None, "{at_once} {asks_others}");
        }
    }

    #[test]
    fn our_own_trouble_is_waited_for_longer_and_longer_within_what_its_kind_allows() {
        for (error, since, least) in [
            ("offline", 4, 10),
            ("offline", 12, 24),
            ("offline", 3_600, 300),
            ("overloaded", 3_600, 300),
            ("clock_doubted", 3_600, 300),
            ("plugin_failed", 3_600, 7_200),
            ("plugin_unavailable", 3_600, 7_200),
        ] {
            let before = unknown("plugin_failed", 0);
            let wait = retry(&unknown(error, since), Some(&before), RECHECK, at(since));
            let least = Duration::from_secs(least);
            let in_time = wait.is_some_and(|wait| (least..2 * least).contains(&wait));
            assert!(in_time, "{error} after {since} s: {wait:?}");
        }
    }

    #[test]
    fn what_cannot_be_done_is_tried_less_and_less_often_and_no_less_often_than_it_runs() {
        let interval = |minutes: u64| Duration::from_secs(60 * minutes);
        for (waited, interval, expected) in [
            (0, interval(1), 10),
            (12, interval(1), 24),
            (40, interval(1), 60),
            (40, interval(60), 80),
            (86_400, interval(60), 300),
        ] {
            let wait = until_next_try(Duration::from_secs(waited), RECHECK, interval);
            assert_eq!(wait, Duration::from_secs(expected), "{waited} s, {interval:?}");
        }
        let recheck = Duration::from_secs(120);
        assert_eq!(until_next_try(Duration::ZERO, recheck, interval(1)), recheck);
    }

    #[test]
    fn what_is_held_back_is_looked_at_after_each_recheck() {
        let before = unknown("held_back", 0);
        let held = unknown("held_back", 600);
        assert_eq!(retry(&held, Some(&before), RECHECK, at(600)), Some(RECHECK));
    }

    #[test]
    fn first_trouble_is_looked_at_soon_and_that_of_others_when_it_is_regular() {
        let well = CheckRecord { status: CheckStatus::Ok, ..sample::record() };
        let first = retry(&unknown("overloaded", 600), Some(&well), RECHECK, at(600));
        assert!(first.is_some_and(|wait| (RECHECK..2 * RECHECK).contains(&wait)), "{first:?}");
        for error in ["throttled", "blocked_address", "invalid_config"] {
            assert_eq!(retry(&unknown(error, 0), None, RECHECK, at(0)), None, "{error}");
        }
        let own = CheckRecord { status: CheckStatus::Down, ..unknown("overloaded", 0) };
        assert_eq!(retry(&own, None, RECHECK, at(0)), None, "a result's own token");
    }
}
