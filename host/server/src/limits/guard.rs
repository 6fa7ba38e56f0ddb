//! The guard beside the exact windows: 8 bytes an address instead of a log.
//!
//! By itself it would admit up to 2N − 1 in a trailing span, and it never refuses what an exact
//! window admits. It matters when a flood of addresses has pushed exact windows out of memory:
//! an address whose window was dropped starts a new one, but not a new guard.
//!
//! *Invariant:* it is bounded too. When more addresses count than it keeps, it lets everything
//! pass until some of them are idle: the exact windows go on counting.

use std::{
    net::IpAddr,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use governor::{
    Quota, RateLimiter, clock, middleware::NoOpMiddleware, state::keyed::DashMapStateStore,
};
use parking_lot::Mutex;
use vedette_model::{
    Timestamp,
    quota::{Limit, Refused},
};

use crate::Clock;

pub(super) struct Guard {
    cells: RateLimiter<IpAddr, DashMapStateStore<IpAddr>, Monotone, NoOpMiddleware<Duration>>,
    clock: Monotone,
    requests: AtomicU64,
    full: AtomicBool,
}

/// The service's clock, except that it never runs backwards: from where the clock was set back to it
/// goes on, and is never behind the windows, which may stand still for a while.
#[derive(Clone)]
struct Monotone {
    clock: Clock,
    gone: Arc<Mutex<Gone>>,
}

/// What a clock has gone forward since it was looked at first.
struct Gone {
    by: Duration,
    /// What it showed last.
    shown: Timestamp,
}

impl Guard {
    pub(super) fn new(limit: Limit, clock: &Clock) -> Self {
        let burst = NonZeroU32::new(limit.max).expect("an address's limit is not zero");
        let quota = Quota::with_period(limit.span / limit.max)
            .expect("an address's span is not zero")
            .allow_burst(burst);
        let clock = Monotone::of(clock);
        Self {
            cells: RateLimiter::new(quota, DashMapStateStore::default(), clock.clone()),
            clock,
            requests: AtomicU64::new(0),
            full: AtomicBool::new(false),
        }
    }

    /// Counts a request, or says when the next one passes.
    pub(super) fn pass(&self, address: &IpAddr, now: Timestamp) -> Result<(), Refused> {
        if self.is_full() {
            return Ok(());
        }
        self.cells.check_key(address).map_err(|not_until| {
            let wait = not_until.wait_time_from(clock::Clock::now(&self.clock));
            let retry_after = wait.max(Duration::from_millis(1));
            Refused { retry_after, reset: now + retry_after }
        })
    }

    pub(super) fn forget_idle(&self) {
        self.cells.retain_recent();
        self.cells.shrink_to_fit();
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Looks once in so many requests, since looking visits every shard; what is idle goes first.
    fn is_full(&self) -> bool {
        if self.requests.fetch_add(1, Ordering::Relaxed).is_multiple_of(LOOK_EVERY) {
            if self.cells.len() > MOST {
                self.cells.retain_recent();
            }
            self.full.store(self.cells.len() > MOST, Ordering::Relaxed);
        }
        self.full.load(Ordering::Relaxed)
    }
}

impl Monotone {
    fn of(clock: &Clock) -> Self {
        let gone = Gone { by: Duration::ZERO, shown: clock.now() };
        Self { clock: clock.clone(), gone: Arc::new(Mutex::new(gone)) }
    }
}

impl clock::Clock for Monotone {
    type Instant = Duration;

    fn now(&self) -> Duration {
        let mut gone = self.gone.lock();
        let now = self.clock.now();
        let forward = (now - gone.shown).to_std().unwrap_or_default();
        gone.by += forward;
        gone.shown = now;
        gone.by
    }
}

/// With keys and tables about 60 bytes each, so 16 MB.
pub(super) const MOST: usize = 1 << 18;
pub(super) const LOOK_EVERY: u64 = 1 << 14;
