//! When a check runs next: the model's grid with the operator's intervals and the plan's bounds.

use std::time::Duration;

use vedette_model::{
    CheckRecord, CheckType, Decision, Edition, Plan, SiteId, Timestamp,
    schedule::{Intervals, next_due, put_off, recheck_after, retry_after},
};

use super::run;
use crate::App;

/// The interval of a check on a plan, never shorter than the plan allows.
pub(crate) fn interval(app: &App, check_type: &CheckType, plan: &Plan) -> Duration {
    intervals(app, check_type).interval(check_type, plan)
}

/// The interval of a check on the plan that has it run most often, and on the one that has it run
/// least often.
pub(crate) fn bounds(app: &App, check_type: &CheckType) -> (Duration, Duration) {
    let intervals = intervals(app, check_type);
    let plans = Edition::all().into_iter().flat_map(|edition| edition.plans);
    let each = plans.map(|plan| intervals.interval(check_type, plan));
    each.fold((Duration::MAX, Duration::ZERO), |(shortest, longest), interval| {
        (shortest.min(interval), longest.max(interval))
    })
}

/// The operator's intervals. A check that the configuration does not name runs as often as its
/// plugin asks.
fn intervals(app: &App, check_type: &CheckType) -> Intervals {
    let configured = &app.config.intervals;
    let defaults = Intervals::default();
    let descriptor = app.sandbox.check(check_type);
    let asked = descriptor.as_ref().and_then(|check| check.interval);
    Intervals {
        ssl: configured.ssl,
        dns: configured.dns,
        domain: configured.domain,
        ct: configured.ct,
        uptime: configured.uptime,
        other: asked.unwrap_or(defaults.other),
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
/// plugin; else when it is regular. `before` is the record before this one.
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
    let soon = recheck(app, decision, now).or_else(|| retry(app, &decision.record, before, now));
    if let Some(soon) = soon {
        return soon.min(regular);
    }
    let Some(seconds) = hint else { return regular };
    let descriptor = app.sandbox.check(check_type);
    let shortest = descriptor.and_then(|check| check.min_interval).unwrap_or(SHORTEST_HINT);
    let shortest = shortest.max(plan.min_interval(check_type));
    now + Duration::from_secs(seconds.into()).min(LONGEST_HINT).max(shortest)
}

/// When to look again for the confirmation of a finding; none when there is nothing to confirm.
pub(crate) fn recheck(app: &App, decision: &Decision, now: Timestamp) -> Option<Timestamp> {
    let wait = recheck_after(decision.unconfirmed_runs, app.config.confirm.recheck);
    wait.filter(|_| decision.recheck).map(|wait| now + wait)
}

/// When to look again where our own trouble kept a run from an answer, each time later while it
/// goes on: the regular run may be a day away. What broke together does not come back together.
fn retry(
    app: &App,
    record: &CheckRecord,
    before: Option<&CheckRecord>,
    now: Timestamp,
) -> Option<Timestamp> {
    if !run::is_own_trouble(record) {
        return None;
    }
    let before = before.filter(|before| run::is_own_trouble(before));
    let since = before.map(|before| (now - before.checked_at).to_std().unwrap_or_default());
    let least = retry_after(since, app.config.confirm.recheck);
    Some(now + put_off(record.site_id, &record.check_type, least))
}

const SHORTEST_HINT: Duration = Duration::from_secs(5);
const LONGEST_HINT: Duration = Duration::from_secs(24 * 3600);
