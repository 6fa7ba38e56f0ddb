//! Takes what is due from the schedule, as far as there is room, and has [`planned`] run it.
//!
//! *Invariant:* a check that has to wait for its host, its account or other slow checks does so
//! without a turn, and is given back after a while, so that it blocks nobody.
//! *Invariant:* when a clock is set back, nothing is left waiting for the time that it showed, nor
//! for that of another node's clock ([`set_back`]).

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use tokio::{
    task::{Id, JoinError, JoinSet},
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;
use vedette_model::{CheckType, Source};
use vedette_store::Lease;

use super::{
    clocks,
    set_back::{self, Reach},
    shown::{Shown, Step},
};
use crate::{
    App,
    service::{
        doubt::leaves_to_others,
        planned::{self, Ending, LEASE, Turn},
    },
    trouble::Trouble,
};

/// The loop. After `shutdown` it lets runs end and gives back those that do not.
pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let mut scheduler = Scheduler::new(Arc::clone(&app));
    while !shutdown.is_cancelled() {
        scheduler.see_the_clock().await;
        scheduler.take_up(&shutdown).await;
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = app.wake.schedule.notified() => {}
            () = sleep(POLL) => {}
            Some(ended) = scheduler.runs.join_next_with_id() => scheduler.ended(ended),
        }
        while let Some(ended) = scheduler.runs.try_join_next_with_id() {
            scheduler.ended(ended);
        }
    }
    scheduler.finish().await;
}

struct Scheduler {
    app: Arc<App>,
    runs: JoinSet<()>,
    /// What each run is about.
    leases: HashMap<Id, Lease>,
    shown: Shown,
    /// The longest interval of each check that was ever installed, as last seen.
    longest: BTreeMap<CheckType, Duration>,
    /// What may be planned for too late a moment; none = nothing.
    doubted: Option<Reach>,
    /// When what other nodes may have planned was looked through last.
    reviewed: Instant,
    unread: Trouble,
}

impl Scheduler {
    fn new(app: Arc<App>) -> Self {
        let shown = Shown::new(app.clock.now());
        // The clock may have been set while we were away.
        let doubted = Some(Reach::Longest);
        let longest = set_back::longest(&app);
        Self {
            app,
            runs: JoinSet::new(),
            leases: HashMap::new(),
            shown,
            longest,
            doubted,
            reviewed: Instant::now(),
            unread: Trouble::default(),
        }
    }

    /// Plans anew what a clock that was set back left behind, and what a plugin's previous version
    /// had planned less often.
    async fn see_the_clock(&mut self) {
        let now = self.app.clock.now();
        let step = self.shown.step(now);
        self.shown = Shown::new(now);
        if step != Step::Along {
            self.app.pulse.begins_anew(now);
        }
        if let Step::SetBack(by) = step {
            let seconds = by.num_seconds();
            tracing::warn!(
                seconds,
                "the clock of this machine was set back by {seconds} s: see that something keeps \
                 its time (NTP)"
            );
            self.doubted = Some(Reach::Shortest);
        }
        let longest = set_back::longest(&self.app);
        if set_back::shortened(&self.longest, &longest) {
            self.doubted = self.doubted.or(Some(Reach::Longest));
        }
        self.longest.extend(longest);
        self.review();
        let Some(reach) = self.doubted else { return };
        match set_back::plan_anew(&self.app, reach).await {
            Ok(0) => {}
            Ok(count) => tracing::warn!(
                count,
                "{count} checks and deliveries were planned for later than they may wait, by a \
                 clock that was ahead or by longer intervals: they are planned anew"
            ),
            Err(cause) => {
                let error = format!("{cause:#?}");
                tracing::error!(error, "what is planned too late cannot be planned anew: {cause}");
                return;
            }
        }
        self.doubted = None;
    }

    /// Now and then doubts what other nodes have planned: one whose clock was ahead may be gone.
    /// Not if our own clock is wrong: to one that is behind, all that the others plan would be too
    /// late.
    fn review(&mut self) {
        if self.app.store.embedded() || self.reviewed.elapsed() < REVIEW {
            return;
        }
        self.reviewed = Instant::now();
        if clocks::is_right(&self.app) {
            self.doubted = self.doubted.or(Some(Reach::Longest));
        }
    }

    /// Leases what is due, as far as there is room. Not for ever, even if runs keep ending while
    /// more is due, or neither the clock nor the shutdown would be noticed.
    async fn take_up(&mut self, shutdown: &CancellationToken) {
        let app = Arc::clone(&self.app);
        if leaves_to_others(&app) {
            app.pulse.looked(app.clock.now(), true);
            metrics::gauge!("vedette_runs_in_flight").set(app.planned.in_flight() as f64);
            return;
        }
        let types = app.sandbox.check_types();
        let mut idle = false;
        for _ in 0..MOST_ROUNDS {
            if idle || shutdown.is_cancelled() {
                break;
            }
            let turns: Vec<Turn> = std::iter::from_fn(|| app.planned.free_turn()).collect();
            if turns.is_empty() {
                break;
            }
            let (now, room) = (app.clock.now(), turns.len());
            let leased = match app.store.lease_due(&app.node, &types, now, LEASE, room).await {
                Ok(leased) => leased,
                Err(cause) => {
                    let error = format!("{cause:#?}");
                    if self.unread.is_news(&error, Instant::now()) {
                        tracing::error!(error, "the schedule cannot be read: {cause}");
                    }
                    return;
                }
            };
            idle = leased.is_empty();
            for (lease, turn) in leased.into_iter().zip(turns) {
                self.start(lease, turn, shutdown);
            }
        }
        app.pulse.looked(app.clock.now(), idle);
        metrics::gauge!("vedette_runs_in_flight").set(app.planned.in_flight() as f64);
    }

    fn start(&mut self, lease: Lease, turn: Turn, shutdown: &CancellationToken) {
        let (app, mine, shutdown) = (Arc::clone(&self.app), lease.clone(), shutdown.clone());
        let run = async move { see_to(&app, &mine, turn, &shutdown).await };
        self.leases.insert(self.runs.spawn(run).id(), lease);
    }

    fn ended(&mut self, ended: std::result::Result<(Id, ()), JoinError>) {
        let panicked = ended.is_err();
        let id = ended.map_or_else(|cause| cause.id(), |(id, ())| id);
        let Some(lease) = self.leases.remove(&id) else { return };
        if panicked {
            let Lease { site_id, check_type, .. } = lease;
            tracing::error!(
                %site_id, %check_type, "check {check_type} of {site_id} panicked; its lease runs out"
            );
        }
    }

    async fn finish(mut self) {
        let _ = tokio::time::timeout(DRAIN, async {
            while let Some(ended) = self.runs.join_next_with_id().await {
                let id = ended.map_or_else(|cause| cause.id(), |(id, ())| id);
                self.leases.remove(&id);
            }
        })
        .await;
        self.runs.shutdown().await;
        for (_, lease) in self.leases {
            planned::give_back(&self.app, &lease, lease.ready_at).await;
        }
    }
}

/// Runs what is leased, or gives it back: to be taken a little later, and after the shutdown at once.
async fn see_to(app: &App, lease: &Lease, turn: Turn, shutdown: &CancellationToken) {
    let waited = sleep(planned::WAIT);
    let over = async {
        tokio::select! {
            () = waited => {}
            () = shutdown.cancelled() => {}
        }
    };
    if let Ending::PutOff = planned::run(app, lease, Source::Scheduler, turn, over).await {
        let later = app.clock.now() + planned::put_off(lease);
        let due_at = if shutdown.is_cancelled() { lease.ready_at } else { later };
        planned::give_back(app, lease, due_at).await;
    }
}

/// How often the schedule is looked at without a hint.
const POLL: Duration = Duration::from_millis(500);
/// How often to ask for more in one go, as long as runs that end make room.
const MOST_ROUNDS: usize = 8;
/// How often what other nodes have planned is looked through, where they share the database.
const REVIEW: Duration = Duration::from_secs(5 * 60);
const DRAIN: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;

    /// Of what such a function answers.
    fn size<F: Future>(
        _: impl FnOnce(&'static App, &'static Lease, Turn, &'static CancellationToken) -> F,
    ) -> usize {
        size_of::<F>()
    }

    #[test]
    fn check_that_waits_for_its_places_holds_no_memory_for_its_run() {
        let bytes = size(see_to);
        assert!(bytes < 2 << 10, "{bytes} bytes");
    }
}
