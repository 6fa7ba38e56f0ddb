//! Runs what is due when a scheduler of the operator's asks for it (spec: `POST /cron`).
//!
//! A call leases what is due as room comes free, has [`planned`] run each check to its end, and
//! counts what came of it. Nothing is taken away from our own scheduler: whoever leases a check
//! first runs it.
//!
//! *Invariant:* a call runs what was due when it came, each check once, and only so many.
//! *Invariant:* a run that has begun ends as it would otherwise, even if the caller is gone; a
//! check that has not begun stays due.

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::{JoinError, JoinSet},
    time::{Instant, sleep, sleep_until, timeout_at},
};
use tokio_util::sync::CancellationToken;
use vedette_model::{
    CheckStatus, CheckType, Invalid, Source, Timestamp,
    parse::{self, Body},
};
use vedette_store::Lease;

use super::{
    doubt::leaves_to_others,
    planned::{self, Ending, LEASE, Turn},
};
use crate::{App, Result};

/// What the calls of a process share.
pub(crate) struct Cron {
    places: Arc<Semaphore>,
    shutdown: CancellationToken,
}

impl Cron {
    pub(crate) fn new(shutdown: CancellationToken) -> Self {
        Self { places: Arc::new(Semaphore::new(MOST_AT_ONCE)), shutdown }
    }
}

/// What a call has done (decisions: cron).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Runs that were made.
    pub checked: usize,
    /// Those of them that brought no result.
    pub errors: usize,
    /// Alerts that they raised.
    pub alerts: usize,
}

/// Runs what is due now: everything, or the checks of the body's `type` alone. Answers what has
/// ended within 50 s; what takes longer ends without being counted.
///
/// # Errors
/// `Invalid` for another `type` than `all` and `domain`; `Internal` when the schedule cannot be
/// read.
pub async fn run(app: &Arc<App>, body: &Value) -> Result<Counts> {
    let scope = Scope::parse(body)?;
    let now = Instant::now();
    let call = Arc::new(Call {
        types: scope.within(app.sandbox.check_types()),
        asked_at: app.clock.now(),
        until: now + BEGIN,
        counts: Mutex::default(),
        app: Arc::clone(app),
    });
    // A task of its own: it goes on when the caller hangs up.
    let work = app.tasks.spawn(Arc::clone(&call).work());
    if let Ok(ended) = timeout_at(now + ANSWER, work).await {
        ended.context("a call of POST /cron panicked")??;
    }
    Ok(*call.counts.lock())
}

/// Which checks a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    All,
    Domain,
}

impl Scope {
    fn parse(body: &Value) -> Result<Self, Invalid> {
        let scope =
            Body::of(body)?.optional("type", |field, value| match parse::text(field, value)? {
                "all" => Ok(Self::All),
                "domain" => Ok(Self::Domain),
                _ => Err(Invalid::new(field, "must be all or domain")),
            });
        Ok(scope?.unwrap_or(Self::All))
    }

    fn within(self, mut installed: Vec<CheckType>) -> Vec<CheckType> {
        match self {
            Self::All => {}
            Self::Domain => installed.retain(|check_type| check_type.as_str() == "domain"),
        }
        installed
    }
}

impl Counts {
    fn add(&mut self, ending: Ending) {
        match ending {
            Ending::Stored { status, raised } => {
                self.checked += 1;
                self.errors += usize::from(status == CheckStatus::Unknown);
                self.alerts += raised;
            }
            Ending::Failed => {
                self.checked += 1;
                self.errors += 1;
            }
            Ending::Nothing | Ending::PutOff => {}
        }
    }
}

/// Room for one run: among those of the calls, and among those of the process.
struct Room {
    place: OwnedSemaphorePermit,
    turn: Turn,
}

/// One call at work.
struct Call {
    app: Arc<App>,
    types: Vec<CheckType>,
    /// What becomes due later is not this call's.
    asked_at: Timestamp,
    /// Once this is over nothing is begun.
    until: Instant,
    counts: Mutex<Counts>,
}

impl Call {
    async fn work(self: Arc<Self>) -> Result<()> {
        let mut runs = JoinSet::new();
        let taken = self.take_up(&mut runs).await;
        while let Some(ended) = runs.join_next().await {
            self.note(ended);
        }
        taken
    }

    /// Begins what is due, until there is no more of it, or the time is over.
    async fn take_up(self: &Arc<Self>, runs: &mut JoinSet<Ending>) -> Result<()> {
        let (app, term) = (&self.app, BEGIN + LEASE);
        if leaves_to_others(app) {
            return Ok(());
        }
        let mut left = MOST_CHECKS;
        while left > 0 {
            let rooms = self.rooms(left).await;
            let (types, most) = (&self.types, rooms.len());
            let leased = app.store.lease_due(&app.node, types, self.asked_at, term, most).await?;
            // Also where there was no time left for any.
            if leased.is_empty() {
                break;
            }
            left -= leased.len();
            for (lease, room) in leased.into_iter().zip(rooms) {
                runs.spawn(Arc::clone(self).see_to(lease, room));
            }
            while let Some(ended) = runs.try_join_next() {
                self.note(ended);
            }
        }
        Ok(())
    }

    fn note(&self, ended: Result<Ending, JoinError>) {
        let ending = ended.unwrap_or_else(|cause| {
            tracing::error!("a check of POST /cron panicked; its lease runs out: {cause}");
            Ending::Failed
        });
        self.counts.lock().add(ending);
    }

    /// Runs one check. What does not end within the patience of a stop is given back.
    async fn see_to(self: Arc<Self>, lease: Lease, room: Room) -> Ending {
        tokio::select! {
            ending = self.run(lease.clone(), room) => ending,
            () = self.cut_off() => self.give_back(&lease, lease.ready_at).await,
        }
    }

    /// What waits for its host or its account does so until the time is over.
    async fn run(&self, lease: Lease, room: Room) -> Ending {
        let Room { place: _place, turn } = room;
        match planned::run(&self.app, &lease, Source::Cron, turn, self.over()).await {
            Ending::PutOff => self.give_back(&lease, self.due_again(&lease)).await,
            ending => ending,
        }
    }

    /// When a check that found no room is due again. Once the time is over, as it was, for whoever
    /// comes first; before that a little later, or this call would take it again and again.
    fn due_again(&self, lease: &Lease) -> Timestamp {
        let is_over = self.app.cron.shutdown.is_cancelled() || self.until <= Instant::now();
        if is_over { lease.ready_at } else { self.app.clock.now() + planned::put_off(lease) }
    }

    async fn give_back(&self, lease: &Lease, due_at: Timestamp) -> Ending {
        planned::give_back(&self.app, lease, due_at).await;
        Ending::Nothing
    }

    /// Waits for room, and takes as much more of what is free as it can use; none when the time is
    /// over.
    async fn rooms(&self, most: usize) -> Vec<Room> {
        let first = tokio::select! {
            biased;
            () = self.over() => return Vec::new(),
            room = self.room() => room,
        };
        let free = std::iter::from_fn(|| self.free_room()).take(most - 1);
        std::iter::once(first).chain(free).collect()
    }

    async fn room(&self) -> Room {
        let place = Arc::clone(&self.app.cron.places).acquire_owned().await;
        let place = place.expect("this semaphore is never closed");
        Room { place, turn: self.app.planned.turn().await }
    }

    fn free_room(&self) -> Option<Room> {
        let place = Arc::clone(&self.app.cron.places).try_acquire_owned().ok()?;
        Some(Room { place, turn: self.app.planned.free_turn()? })
    }

    /// Ends when nothing is to be begun any more.
    async fn over(&self) {
        tokio::select! {
            () = self.app.cron.shutdown.cancelled() => {}
            () = sleep_until(self.until) => {}
        }
    }

    /// Ends when a stop no longer waits.
    async fn cut_off(&self) {
        self.app.cron.shutdown.cancelled().await;
        sleep(DRAIN).await;
    }
}

/// Runs of one call; the next call has the rest.
const MOST_CHECKS: usize = 1_000;
/// Of all calls: half of what goes on at a time, so that our own scheduler keeps up meanwhile.
const MOST_AT_ONCE: usize = planned::MOST_RUNS / 2;
/// How long a call begins runs. What it leases may wait as long, and has a whole lease left then.
const BEGIN: Duration = Duration::from_secs(40);
/// When a call is answered at the latest: proxies commonly give up on a silent one after a minute.
const ANSWER: Duration = Duration::from_secs(50);
/// As long as our own scheduler waits for its runs at a stop.
const DRAIN: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
