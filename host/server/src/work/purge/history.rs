//! Removes history that is older than the operator keeps it, day by day. What became too old with the
//! last midnight is spread over as many turns as it takes.
//!
//! *Invariant:* a turn ends after so many batches, whatever is left: nothing else waits for long.
//! *Invariant:* what is noted here only saves looking again. A restarted process looks at
//! everything once more, and other nodes may do the same at the same time.

use chrono::NaiveDate;
use tokio_util::sync::CancellationToken;
use vedette_model::Timestamp;
use vedette_store::{Forgotten, Result};

use super::{BATCH, note};
use crate::{App, config::Retention};

/// How far this process is.
pub(super) struct History {
    checks: Sweep,
    alerts: Sweep,
}

impl History {
    pub(super) fn new() -> Self {
        Self { checks: Sweep::new("checks"), alerts: Sweep::new("alerts") }
    }

    pub(super) async fn clear(&mut self, app: &App, now: Timestamp, shutdown: &CancellationToken) {
        let Retention { checks, alerts } = &app.config.retention;
        if let Some(kept) = *checks {
            let before = now - kept;
            let batch = |passed| app.store.forget_checks(before, passed, BATCH);
            note(self.checks.turn(before, shutdown, batch).await);
        }
        if let Some(kept) = *alerts {
            let before = now - kept;
            let batch = |_| app.store.forget_alerts(before, BATCH);
            note(self.alerts.turn(before, shutdown, batch).await);
        }
    }
}

/// The removal of what is from before one day.
struct Sweep {
    kind: &'static str,
    /// The first day that is kept; none before the first turn.
    day: Option<NaiveDate>,
    /// How many records were met that have to stay.
    passed: usize,
    removed: u64,
    is_done: bool,
}

impl Sweep {
    fn new(kind: &'static str) -> Self {
        metrics::counter!("vedette_history_removed_total", "kind" => kind).increment(0);
        Self { kind, day: None, passed: 0, removed: 0, is_done: false }
    }

    /// Goes on for a while; on a new day it starts over. `batch` is told what to pass over.
    async fn turn<F>(
        &mut self,
        before: Timestamp,
        shutdown: &CancellationToken,
        batch: impl Fn(usize) -> F,
    ) -> Result<()>
    where
        F: Future<Output = Result<Forgotten>>,
    {
        let day = before.date_naive();
        if self.day != Some(day) {
            *self = Self { day: Some(day), ..Self::new(self.kind) };
        }
        for _ in 0..MOST_BATCHES {
            if self.is_done || shutdown.is_cancelled() {
                break;
            }
            match batch(self.passed).await? {
                Forgotten::Removed(count) => self.count(count),
                Forgotten::Latest => self.passed += 1,
                Forgotten::Nothing => self.finish(day),
            }
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    fn count(&mut self, removed: u64) {
        self.removed += removed;
        metrics::counter!("vedette_history_removed_total", "kind" => self.kind).increment(removed);
    }

    fn finish(&mut self, day: NaiveDate) {
        self.is_done = true;
        let Self { kind, removed, .. } = *self;
        if removed > 0 {
            tracing::info!(kind, removed, %day, "{removed} {kind} from before {day} were removed");
        }
    }
}

/// Of checks and of alerts each. That many take seconds; a turn in every minute does more than half a
/// million of them in a day, and a check that runs every minute needs three.
const MOST_BATCHES: usize = 500;

#[cfg(test)]
mod tests {
    use std::{
        cell::{Cell, RefCell},
        future::ready,
        time::Duration,
    };

    use serde_json::json;
    use vedette_model::{SiteId, edition::STANDARD};
    use vedette_store::{CheckFilter, Error};

    use super::*;
    use crate::{Caller, Clock, instance, service, work::sample::at};

    const DAY: i64 = 86_400;

    #[test]
    fn records_go_with_the_midnight_after_their_last_day_but_for_the_latest() {
        let noon = "2026-11-20T12:00:00Z".parse().expect("a moment");
        let (clock, hand) = Clock::manual(noon);
        instance::with_app(ready(instance::config()), clock, |app| async move {
            let caller = instance::owner(&app, &STANDARD).await;
            let body = json!({
                "domain": "shop.example", "check_types": ["ssl"], "monitoring_enabled": false,
            });
            let site = service::site::create(&app, &caller, &body).await.expect("a good body");
            for _ in 0..3 {
                one_result(&app, &caller, site.id).await;
                hand.advance(Duration::from_secs(60));
            }
            let mut history = History::new();
            for (hours, left) in [(400 * 24, 3_usize), (11, 3), (1, 1)] {
                hand.advance(Duration::from_secs(hours * 3600));
                history.clear(&app, app.clock.now(), &CancellationToken::new()).await;
                let filter = CheckFilter { limit: 50, ..CheckFilter::default() };
                let page = app.store.checks_page(caller.account.id, site.id, &filter).await;
                let page = page.expect("the store answers").expect("its site");
                assert_eq!((page.items.len(), page.total), (left, left as u64), "{hours} h on");
            }
        });
    }

    async fn one_result(app: &App, caller: &Caller, site: SiteId) {
        let result = json!({ "status": "down", "status_code": 0, "error": "connection_refused" });
        let body = json!({ "site_id": site, "check_type": "uptime", "result": result });
        service::check::record(app, caller, &body).await.expect("a good result");
    }

    #[tokio::test]
    async fn a_day_is_cleared_once_and_another_one_anew() {
        let (on, mut sweep) = (CancellationToken::new(), Sweep::new("checks"));
        let answers = RefCell::new(Vec::<Forgotten>::new());
        let told = RefCell::new(Vec::<usize>::new());
        let batch = |passed: usize| {
            told.borrow_mut().push(passed);
            ready(Ok(answers.borrow_mut().pop().unwrap_or(Forgotten::Nothing)))
        };
        let midnight = DAY - at(0).timestamp().rem_euclid(DAY);
        let looks: [(i64, Vec<Forgotten>, Vec<usize>); 4] = [
            (midnight, vec![Forgotten::Removed(500), Forgotten::Latest], vec![0, 0, 1]),
            (midnight + DAY - 1, vec![Forgotten::Removed(1)], vec![]),
            (midnight + DAY, vec![Forgotten::Removed(7)], vec![0, 0]),
            (midnight + 9 * DAY, vec![], vec![0]),
        ];
        for (before, there, asked) in looks {
            *answers.borrow_mut() = there.into_iter().rev().collect();
            sweep.turn(at(before), &on, batch).await.expect("nothing fails");
            assert_eq!(told.take(), asked, "{before}");
            answers.borrow_mut().clear();
        }
    }

    #[tokio::test]
    async fn a_turn_ends_however_much_there_is_and_the_next_goes_on() {
        let (on, mut sweep) = (CancellationToken::new(), Sweep::new("checks"));
        let left = Cell::new(MOST_BATCHES + 2);
        let batch = |_| {
            let there = left.get();
            left.set(there.saturating_sub(1));
            let found = if there > 0 { Forgotten::Removed(500) } else { Forgotten::Nothing };
            ready(Ok(found))
        };
        sweep.turn(at(0), &on, batch).await.expect("nothing fails");
        assert_eq!((left.get(), sweep.is_done), (2, false));
        sweep.turn(at(60), &on, batch).await.expect("nothing fails");
        let removed = 500 * (MOST_BATCHES as u64 + 2);
        assert_eq!((left.get(), sweep.is_done, sweep.removed), (0, true, removed));
    }

    #[tokio::test]
    async fn what_failed_is_tried_in_the_next_turn_and_a_stop_begins_nothing() {
        let (on, mut sweep) = (CancellationToken::new(), Sweep::new("alerts"));
        let batch = |_| async { Err(Error::Conflict) };
        let ended = sweep.turn(at(0), &on, batch).await;
        assert!(ended.is_err() && !sweep.is_done);
        on.cancel();
        let ended = sweep.turn(at(60), &on, batch).await;
        assert!(ended.is_ok() && !sweep.is_done);
    }
}
