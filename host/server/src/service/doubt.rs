//! Whether a result that found trouble is believed, or the trouble may be our own
//! (decisions: our own trouble).
//!
//! *Invariant:* what is not believed is stored as `unknown` and looked at again soon
//! ([`super::due`]); nothing is dropped for good.

use vedette_model::{
    Alert, Assessment, CheckState, CheckStatus, Health, Source, Timestamp, guard::Verdict,
};
use vedette_store::CheckContext;

use super::{pipeline::Arrival, unanswered::OVERLOADED};
use crate::App;

/// Why the assessment of a result is not believed, as the token of its record. Results that
/// others measured are theirs to believe.
pub(crate) async fn doubt(
    app: &App,
    arrival: &Arrival,
    context: &CheckContext,
    assessment: &Assessment,
) -> Option<&'static str> {
    match arrival.source {
        Source::Scheduler | Source::OnDemand | Source::Cron => {}
        Source::Api | Source::Agent => return None,
    }
    let state = &context.state;
    let is_down = assessment.health == Health::Down;
    // The guard's own look is a moment old.
    let answered = is_answered(app, is_news(state, assessment.health)).await;
    let now = app.clock.now();
    let mut guard = app.guard.lock();
    guard.told(arrival.site_id, &arrival.check_type, is_down && state.was_well(), is_down, now);
    if let Some(answered) = answered {
        guard.resolved(answered);
    }
    guard.shown(app.clock.up(), now);
    let verdict = guard.verdict(now);
    drop(guard);
    // The guard learns of a standstill once it is over, but not which runs it hit.
    let stood_still = arrival.seen.stood_still() >= app.config.guard.late;
    match (verdict, assessment.health) {
        (_, Health::Unknown) => None,
        (Verdict::ClockDoubted, _) => {
            would_tell(assessment, &context.open).then_some(CLOCK_DOUBTED)
        }
        (_, Health::Ok) => None,
        (Verdict::Offline, _) => Some(OFFLINE),
        (Verdict::Overloaded, _) => Some(OVERLOADED),
        (Verdict::Fit | Verdict::HeldBack, _) if stood_still => Some(OVERLOADED),
        (Verdict::HeldBack, Health::Down) => Some(HELD_BACK),
        (Verdict::HeldBack, Health::Degraded) | (Verdict::Fit, _) => None,
    }
}

/// Whether anybody might be told of it: of trouble, of a change, or of an end. By a wrong clock a
/// certificate has expired, or one that has expired is good again.
fn would_tell(assessment: &Assessment, open: &[Alert]) -> bool {
    let is_trouble = assessment.health != Health::Ok || !assessment.findings.is_empty();
    is_trouble || open.iter().any(|alert| alert.self_resolving)
}

/// Whether our DNS servers answer us, and not only from their cache; none if nothing new is known
/// about them. For what is `news` they are asked after the run that found it.
async fn is_answered(app: &App, news: bool) -> Option<bool> {
    let resolver = app.sandbox.egress().resolver();
    let has_uplink = if news { resolver.has_uplink().await } else { None };
    // By this very run, perhaps.
    has_uplink.or_else(|| resolver.was_heard_lately().then_some(true))
}

/// Whether it is trouble that would be told if it stays: for what has been told already, no server
/// is asked whether the world is still there.
fn is_news(state: &CheckState, health: Health) -> bool {
    let settled = state.settled.as_ref().and_then(|settled| settled.status);
    match health {
        Health::Down | Health::Degraded => settled != Some(CheckStatus::from(health)),
        Health::Ok | Health::Unknown => false,
    }
}

/// Whether a run that could not work without DNS had none, as far as is known.
pub(crate) fn is_offline(app: &App) -> bool {
    app.sandbox.egress().resolver().is_cut_off() || app.guard.lock().is_offline()
}

/// Whether the clock that shows `now` may be wrong.
pub(crate) fn is_clock_doubted(app: &App, now: Timestamp) -> bool {
    let mut guard = app.guard.lock();
    guard.shown(app.clock.up(), now);
    guard.is_clock_doubted()
}

/// Whether other nodes have to do what is due: by a clock that is far ahead all of it would be taken by
/// this one, which believes no trouble that it finds, and planned for when theirs has got there.
pub(crate) fn leaves_to_others(app: &App) -> bool {
    app.store.has_peers() && is_clock_doubted(app, app.clock.now())
}

/// Our resolvers answered nobody, or only from their cache.
pub(crate) const OFFLINE: &str = "offline";
/// It came with too many others at once, see [`vedette_model::guard`].
pub(crate) const HELD_BACK: &str = "held_back";
/// Our clock may be wrong.
pub(crate) const CLOCK_DOUBTED: &str = "clock_doubted";

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chrono::TimeDelta;
    use serde_json::json;
    use vedette_model::{SiteId, Timestamp, edition::STANDARD};

    use super::*;
    use crate::{
        Caller, Clock, instance,
        service::{
            self,
            pipeline::{self, Seen},
        },
    };

    const MONTH: TimeDelta = TimeDelta::days(30);

    #[test]
    fn nothing_is_told_by_a_clock_that_leapt_until_it_is_put_right_or_an_hour_is_over() {
        let (clock, hand) = Clock::manual(noon());
        instance::with_idle_app(instance::config(), clock, |app| async move {
            let site = Watched::new(&app).await;
            assert_eq!(site.found("up").await, "ok");
            hand.set(noon() + MONTH);
            assert_eq!(site.found("up").await, "ok", "nobody would hear of that");
            assert_eq!(site.found("down").await, "unknown: clock_doubted");
            hand.set(noon());
            assert_eq!(site.found("down").await, "down: connection_refused");
            assert_eq!(site.found("down").await, "down: connection_refused");

            // Somebody is alerted by now, and would hear that it is over.
            hand.set(noon() + MONTH);
            assert_eq!(site.found("up").await, "unknown: clock_doubted");
            hand.advance(Duration::from_secs(3_599));
            assert_eq!(site.found("up").await, "unknown: clock_doubted");
            hand.advance(Duration::from_secs(1));
            assert_eq!(site.found("up").await, "ok");
        });
    }

    #[test]
    fn clock_that_time_passes_by_is_believed() {
        let (clock, hand) = Clock::manual(noon());
        instance::with_idle_app(instance::config(), clock, |app| async move {
            let site = Watched::new(&app).await;
            assert_eq!(site.found("up").await, "ok");
            hand.advance(Duration::from_secs(30 * 24 * 3_600));
            assert_eq!(site.found("down").await, "down: connection_refused");
        });
    }

    #[test]
    fn trouble_that_a_run_found_which_met_a_standstill_is_not_believed() {
        let (clock, _) = Clock::manual(noon());
        instance::with_idle_app(instance::config(), clock, |app| async move {
            let site = Watched::new(&app).await;
            for (status, millis, expected) in [
                ("up", 5_000, "ok"),
                ("down", 5_000, "unknown: overloaded"),
                ("down", 1_000, "unknown: overloaded"),
                ("down", 999, "down: connection_refused"),
            ] {
                let met = Duration::from_millis(millis);
                assert_eq!(site.found_after(status, met).await, expected, "{millis} ms");
            }
        });
    }

    #[test]
    fn node_whose_clock_is_doubted_leaves_checks_to_others_that_believe_theirs() {
        let (clock, hand) = Clock::manual(noon());
        instance::with_idle_app(instance::config(), clock, |app| async move {
            let (store, lasts) = (&app.store, Duration::from_secs(20));
            assert!(!is_clock_doubted(&app, noon()));
            hand.set(noon() + MONTH);
            store.stand_by(&app.node, noon(), lasts).await.expect("it is there");
            assert!(is_clock_doubted(&app, app.clock.now()));
            assert!(!leaves_to_others(&app), "nobody else would do it");

            store.sign_on("another", noon(), lasts).await.expect("it is there");
            store.stand_by(&app.node, noon(), lasts).await.expect("it is there");
            assert!(leaves_to_others(&app));
            // The other doubts its own as well.
            store.stand_by("another", noon(), lasts).await.expect("it is there");
            store.stand_by(&app.node, noon(), lasts).await.expect("it is there");
            assert!(!leaves_to_others(&app));

            store.sign_on("another", noon(), lasts).await.expect("it is there");
            hand.set(noon());
            store.sign_on(&app.node, noon(), lasts).await.expect("it is there");
            assert!(!leaves_to_others(&app));
        });
    }

    struct Watched<'a> {
        app: &'a App,
        owner: Caller,
        id: SiteId,
    }

    impl<'a> Watched<'a> {
        async fn new(app: &'a App) -> Self {
            let owner = instance::owner(app, &STANDARD).await;
            let body = json!({ "domain": "shop.example", "monitoring_enabled": false });
            let site = service::site::create(app, &owner, &body).await.expect("a good body");
            Self { app, owner, id: site.id }
        }

        async fn found(&self, status: &str) -> String {
            self.found_after(status, Duration::ZERO).await
        }

        /// What is stored of a run that found that: the status and why.
        async fn found_after(&self, status: &str, stood_still: Duration) -> String {
            let error = (status == "down").then_some("connection_refused");
            let arrival = Arrival {
                account_id: self.owner.account.id,
                site_id: self.id,
                check_type: "uptime".parse().expect("a check's name"),
                seen: Seen::Result {
                    result: json!({ "status": status, "status_code": 0, "error": error }),
                    next_run_in_s: None,
                    version: None,
                    stood_still,
                },
                checked_at: self.app.clock.now(),
                duration: Duration::ZERO,
                source: Source::OnDemand,
                lease: None,
                looked_at: None,
            };
            let stored = pipeline::submit(self.app, arrival).await.expect("it is judged");
            let record = stored.expect("its site is there").record;
            let status = serde_json::to_value(record.status).expect("a word");
            let status = status.as_str().expect("a word").to_owned();
            record.error.map_or(status.clone(), |error| format!("{status}: {error}"))
        }
    }

    fn noon() -> Timestamp {
        "2026-11-20T12:00:00Z".parse().expect("a moment")
    }
}
