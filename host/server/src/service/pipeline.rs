//! The one path that every result takes, wherever it comes from: scheduler, `POST /cron`, on-demand
//! check, `POST /checks`, reports of agents.
//!
//! context → the plugin's `assess` (in `judge`) → `model::alert::reconcile` → deliveries → one
//! commit. When somebody else decided meanwhile, the commit is refused and everything is judged
//! anew.
//!
//! *Invariant:* only the commit changes anything, and it is all or nothing.

mod judge;

use std::{cmp::Ordering, time::Duration};

use backon::{BackoffBuilder, ExponentialBuilder};
use serde_json::Value;
use tokio::sync::OnceCell;
use vedette_model::{
    AccountId, Assessment, CheckId, CheckRecord, CheckStatus, CheckType, Decision, Health,
    LookedAt, MaintenanceWindow, SiteId, Source, Timestamp,
    alert::{self, reconcile},
    delivery,
    maintenance::silences,
    status_page::Tally,
};
use vedette_sandbox::CheckVersion;
use vedette_store::{CLOCKS_DIFFER, CheckContext, Commit, Error as StoreError, Lease, Settle};

use self::judge::{Judged, judge};
use super::{due, plan, random};
use crate::{App, Result};

/// A result on its way in.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(crate) account_id: AccountId,
    pub(crate) site_id: SiteId,
    pub(crate) check_type: CheckType,
    pub(crate) seen: Seen,
    pub(crate) checked_at: Timestamp,
    pub(crate) duration: Duration,
    pub(crate) source: Source,
    /// The lease that the run was made under; none for runs that nobody had planned.
    pub(crate) lease: Option<Lease>,
    /// Where a run on demand looked, which must still be where the site is; none for runs under a
    /// lease, which ends when the site moves, and for what others measured.
    pub(crate) looked_at: Option<LookedAt>,
}

/// What a run brought.
#[derive(Clone, Debug)]
pub(crate) enum Seen {
    Result {
        result: Value,
        /// The plugin's wish.
        next_run_in_s: Option<u32>,
        /// The version that ran; none if others measured.
        version: Option<CheckVersion>,
        /// How long we stood still meanwhile, at most.
        stood_still: Duration,
    },
    /// Nothing about the target; a token says why (see [`super::unanswered::token`]).
    Unknown(&'static str),
}

/// What became of a result.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) record: CheckRecord,
    /// How many alerts it raised.
    pub(crate) raised: usize,
    /// Whether the plugin gave its verdict, believed or not; otherwise the trouble was ours.
    pub(crate) is_judged: bool,
}

/// Stores a result and what follows from it. None when it counts for nothing: the site is gone or
/// has moved, the lease has gone to another owner, or an agent's report came late
/// or came twice.
///
/// # Errors
/// `Invalid` when a result that came from outside does not fit the check's schema.
pub(crate) async fn submit(app: &App, mut arrival: Arrival) -> Result<Option<Stored>> {
    // The record keeps its id over all tries, and so do the deliveries that are named by it.
    let id = random::id();
    let windows = OnceCell::new();
    let mut waits = TRIES.build();
    loop {
        let Some(context) = look_up(app, &arrival).await? else { return Ok(None) };
        let now = app.clock.now();
        if is_outdated(&arrival, &context, now) {
            return Ok(None);
        }
        arrival.checked_at = in_turn(&arrival, context.state.latest.as_ref(), now);
        let decided = decide(app, &arrival, &context, &windows, id).await?;
        match decided.commit(app, &arrival).await {
            Ok(stored) => return Ok(Some(stored)),
            Err(StoreError::Stale) => match waits.next() {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(StoreError::Conflict.into()),
            },
            Err(StoreError::Gone) => return Ok(None),
            Err(StoreError::Fenced) => {
                let Arrival { site_id, check_type, .. } = &arrival;
                tracing::info!(%site_id, %check_type, "check {check_type} of {site_id} came too late");
                return Ok(None);
            }
            Err(cause) => return Err(cause.into()),
        }
    }
}

/// What the result is judged by. What agents look at stands where a site stands.
async fn look_up(app: &App, arrival: &Arrival) -> Result<Option<CheckContext>, StoreError> {
    let Arrival { account_id, site_id, check_type, .. } = arrival;
    match arrival.source {
        Source::Agent => app.store.target_context(*account_id, *site_id, check_type).await,
        Source::Scheduler | Source::OnDemand | Source::Api | Source::Cron => {
            app.store.check_context(*account_id, *site_id, check_type).await
        }
    }
}

/// A site may move while a run on demand looks at its old place: the next run at the new place
/// would be compared with what was found there. And an agent keeps what it saw while the service is
/// away, and sends it again if it does not know whether it arrived; what nobody could judge is
/// judged when it comes again.
fn is_outdated(arrival: &Arrival, context: &CheckContext, now: Timestamp) -> bool {
    if arrival.looked_at.as_ref().is_some_and(|place| place.must_be_of(&context.site).is_err()) {
        return true;
    }
    let latest = context.state.latest.as_ref();
    let latest = latest.filter(|latest| arrival.source == Source::Agent && !is_ahead(latest, now));
    latest.is_some_and(|latest| match latest.checked_at.cmp(&arrival.checked_at) {
        Ordering::Less => false,
        Ordering::Equal => latest.status != CheckStatus::Unknown,
        Ordering::Greater => true,
    })
}

/// After the record that was committed before it: results overtake each other on their way in, and
/// otherwise the newest of the history would not be the latest record. Not after one that is ahead
/// of the clock; and an agent itself says when it looked.
fn in_turn(arrival: &Arrival, latest: Option<&CheckRecord>, now: Timestamp) -> Timestamp {
    latest
        .filter(|latest| arrival.source != Source::Agent && !is_ahead(latest, now))
        .map_or(arrival.checked_at, |latest| {
            arrival.checked_at.max(latest.checked_at + Duration::from_millis(1))
        })
}

/// Whether a record is of a clock that has been set back since.
fn is_ahead(record: &CheckRecord, now: Timestamp) -> bool {
    record.checked_at > now + CLOCKS_DIFFER
}

/// A decision and what is committed with it.
struct Decided {
    decision: Decision,
    /// Why the result is not believed.
    doubted: Option<&'static str>,
    is_judged: bool,
    expected_version: u64,
    deliveries: Vec<vedette_model::Delivery>,
    /// When the next planned run is due; for a run without a lease only when it should be sooner.
    next_due: Option<Timestamp>,
}

async fn decide(
    app: &App,
    arrival: &Arrival,
    context: &CheckContext,
    windows: &OnceCell<Vec<MaintenanceWindow>>,
    id: CheckId,
) -> Result<Decided> {
    let plan = plan::of(&context.account)?;
    let judged = judge(app, arrival, context, id).await?;
    let Judged { record, assessment, doubted, is_judged, version, at: now } = judged;
    let maintenance = match &assessment {
        Some(assessment) => in_maintenance(app, arrival, assessment, windows).await?,
        None => false,
    };
    let ground = alert::Context {
        account_id: arrival.account_id,
        site: &context.site,
        check_type: &arrival.check_type,
        events: version.as_ref().map_or(&[], |version| &version.descriptor().events),
        state: &context.state,
        open: &context.open,
        maintenance,
        now,
    };
    let decision = reconcile(&ground, record, assessment, &mut random::id);
    // Also for channels whose plugins are not here: they may be on another node, or here later.
    let deliveries = delivery::queue(&decision, &context.account, &context.settings, now);
    let before = context.state.latest.as_ref();
    let next_due = match arrival.source {
        Source::Scheduler | Source::Cron => {
            Some(due::after(app, &decision, before, arrival.seen.wish(), plan, now))
        }
        Source::OnDemand => due::soon(app, &decision, before, now),
        // Whoever reported it reports the confirmation too.
        Source::Api | Source::Agent => None,
    };
    let expected_version = context.state.version;
    Ok(Decided { decision, doubted, is_judged, expected_version, deliveries, next_due })
}

/// Whether a window announced the trouble of a run. The windows are read only if that makes a
/// difference, and once for all tries: a site may have a thousand, and most runs find no trouble.
async fn in_maintenance(
    app: &App,
    arrival: &Arrival,
    assessment: &Assessment,
    windows: &OnceCell<Vec<MaintenanceWindow>>,
) -> Result<bool, StoreError> {
    let in_trouble = match assessment.health {
        Health::Down | Health::Degraded => true,
        Health::Ok | Health::Unknown => false,
    };
    if !in_trouble || !Tally::is_of(&arrival.check_type) {
        return Ok(false);
    }
    let Arrival { account_id, site_id, checked_at, .. } = arrival;
    let read = || app.store.maintenance_windows_of(*account_id, *site_id);
    Ok(silences(windows.get_or_try_init(read).await?, *site_id, *checked_at))
}

impl Seen {
    /// In how many seconds the plugin would be run again.
    fn wish(&self) -> Option<u32> {
        match self {
            Self::Result { next_run_in_s, .. } => *next_run_in_s,
            Self::Unknown(_) => None,
        }
    }

    /// How long we stood still while it was found.
    pub(super) fn stood_still(&self) -> Duration {
        match self {
            Self::Result { stood_still, .. } => *stood_still,
            Self::Unknown(_) => Duration::ZERO,
        }
    }
}

impl Decided {
    async fn commit(self, app: &App, arrival: &Arrival) -> Result<Stored, StoreError> {
        let settle = arrival.lease.as_ref().zip(self.next_due);
        let asked_at = arrival.seen.wish().map(|_| arrival.checked_at);
        app.store
            .commit(Commit {
                account_id: arrival.account_id,
                node: &app.node,
                expected_version: self.expected_version,
                decision: &self.decision,
                deliveries: &self.deliveries,
                settle: settle.map(|(lease, next_due)| Settle { lease, next_due, asked_at }),
                next_due: self.next_due,
            })
            .await?;
        self.announce(app);
        app.streams.announce(arrival.account_id);
        let Decision { record, raised, .. } = self.decision;
        Ok(Stored { record, raised: raised.len(), is_judged: self.is_judged })
    }

    /// Tells metrics and the work loops what has just become real.
    fn announce(&self, app: &App) {
        let Decision { record, raised, resolved, recheck, .. } = &self.decision;
        metrics::counter!(
            "vedette_checks_total",
            "check_type" => record.check_type.to_string(),
            "status" => record.status.as_str(),
        )
        .increment(1);
        if let Some(token) = self.doubted {
            metrics::counter!("vedette_results_doubted_total", "error" => token).increment(1);
        }
        for alert in raised {
            let event = alert.event.clone();
            metrics::counter!("vedette_alerts_raised_total", "event" => event).increment(1);
        }
        metrics::counter!("vedette_alerts_resolved_total").increment(resolved.len() as u64);
        if !self.deliveries.is_empty() {
            let lanes = self.deliveries.iter();
            app.wake.outbox.tell(lanes.map(|one| (one.account_id, one.channel.clone())));
        }
        if *recheck {
            app.wake.schedule.notify_one();
        }
    }
}

/// Makes the count of every installed check begin at 0: to Prometheus a counter that is first seen
/// at 1 has not grown, and one that was never seen cannot be missed.
pub(crate) fn begin_counting(app: &App) {
    for check_type in app.sandbox.check_types() {
        for status in CheckStatus::ALL {
            metrics::counter!(
                "vedette_checks_total",
                "check_type" => check_type.to_string(),
                "status" => status.as_str(),
            )
            .increment(0);
        }
    }
}

/// Of many decisions about one thing at one moment only one gets through in each round: each of the
/// others comes back at a moment of its own. Some 3 s altogether.
pub(super) const TRIES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(2))
    .with_factor(1.6)
    .with_max_delay(Duration::from_millis(200))
    .with_max_times(24)
    .with_jitter();

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use serde_json::json;
    use uuid::Uuid;
    use vedette_model::{
        Account, CheckState, DomainName, NewSite, NotificationSettings, site::Endpoint,
    };
    use vedette_store::Stamp;

    use super::*;
    use crate::service::{sample, unanswered};

    fn arrival(source: Source, checked_at: Timestamp) -> Arrival {
        Arrival {
            account_id: AccountId(Uuid::from_u128(1)),
            site_id: SiteId(Uuid::from_u128(2)),
            check_type: "ssl".parse().expect("a check's name"),
            seen: Seen::Unknown(unanswered::OVERLOADED),
            checked_at,
            duration: Duration::ZERO,
            source,
            lease: None,
            looked_at: None,
        }
    }

    #[test]
    fn result_that_is_outdated_counts_for_nothing() {
        let now = Timestamp::UNIX_EPOCH;
        let account = Account {
            id: AccountId(Uuid::from_u128(1)),
            email: "ops@example.com".to_owned(),
            full_name: None,
            edition: "standard".to_owned(),
            plan: "pro".to_owned(),
            created_at: now,
        };
        let body = json!({ "domain": "new.example", "custom_port": 8443 });
        let new = NewSite::parse(&body, &[]).expect("a site");
        let site = new.into_site(SiteId(Uuid::from_u128(2)), account.id, now);
        let looked_at = |place: Option<(&str, u16)>| Arrival {
            looked_at: place.map(|(name, port)| LookedAt {
                domain: DomainName::parse(name).expect("a name"),
                endpoint: Some(Endpoint { port, address: None }),
            }),
            ..arrival(Source::OnDemand, now)
        };
        let report = Arrival { source: Source::Agent, ..looked_at(None) };
        let (same, before) = (("new.example", 8443), ("new.example", 443));
        let arrivals = [None, Some(same), Some(("old.example", 8443)), Some(before)].map(looked_at);
        let context = CheckContext {
            account,
            stamp: Stamp::default(),
            site,
            state: CheckState::default(),
            open: Vec::new(),
            siblings: Vec::new(),
            settings: NotificationSettings::default(),
        };
        let outdated = arrivals.map(|arrival| is_outdated(&arrival, &context, now));
        assert_eq!(outdated, [false, false, true, true]);

        for (known_at, expected) in [(-1, false), (0, false), (1, true), (5, true), (6, false)] {
            let checked_at = now + TimeDelta::seconds(known_at);
            let status = CheckStatus::Unknown;
            let latest = CheckRecord { checked_at, status, ..sample::record() };
            let state = CheckState { latest: Some(latest), ..CheckState::default() };
            let context = CheckContext { state, ..context.clone() };
            assert_eq!(is_outdated(&report, &context, now), expected, "{known_at}");
        }
    }

    #[test]
    fn record_stands_behind_the_one_that_overtook_it() {
        let at = |millis| Timestamp::from_timestamp_millis(millis).expect("a moment");
        let turn = |source, latest: Option<i64>| {
            let latest =
                latest.map(|millis| CheckRecord { checked_at: at(millis), ..sample::record() });
            in_turn(&arrival(source, at(1000)), latest.as_ref(), at(1500)).timestamp_millis()
        };
        assert_eq!(turn(Source::Api, None), 1000);
        assert_eq!(turn(Source::Api, Some(999)), 1000);
        assert_eq!(turn(Source::Api, Some(1000)), 1001, "two within a millisecond");
        assert_eq!(turn(Source::Scheduler, Some(1400)), 1401);
        assert_eq!(turn(Source::OnDemand, Some(2000)), 2001, "another node's clock is ahead");
        assert_eq!(turn(Source::Scheduler, Some(9_000_000)), 1000, "the clock was set back");
        assert_eq!(turn(Source::Agent, Some(1000)), 1000);
    }
}
