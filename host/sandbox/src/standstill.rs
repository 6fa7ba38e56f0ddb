//! When our process stood still: it was stopped, its machine was moved, or had time for nobody. What
//! ran out of time meanwhile did nothing wrong.
//!
//! *Invariant:* one thread ticks; whoever asks sees a standstill also before that thread has.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// From when on a tick, or a limit, is noticed too late.
pub(crate) const LATE: Duration = Duration::from_secs(1);

/// What the ticking thread saw, for all who judge by time.
#[derive(Clone)]
pub(crate) struct Standstill(Arc<Mutex<Seen>>);

struct Seen {
    tick: Instant,
    /// When it last went on after it had stood still.
    went_on: Option<Instant>,
}

impl Standstill {
    pub(crate) fn new(now: Instant) -> Self {
        Self(Arc::new(Mutex::new(Seen { tick: now, went_on: None })))
    }

    /// Ticks are a moment apart, unless nothing ran between them.
    pub(crate) fn tick(&self, now: Instant) {
        let mut seen = self.0.lock();
        if now.saturating_duration_since(seen.tick) >= LATE {
            seen.went_on = Some(now);
        }
        seen.tick = now;
    }

    /// Whether anything that began at `begun` has met a standstill by now.
    pub(crate) fn was_met(&self, begun: Instant, now: Instant) -> bool {
        let seen = self.0.lock();
        now.saturating_duration_since(seen.tick) >= LATE
            || seen.went_on.is_some_and(|went_on| went_on > begun)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_under_way_has_met_it_and_what_began_behind_it_has_not() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let standstill = Standstill::new(start);
        for ms in [5, 10, 900] {
            standstill.tick(at(ms));
        }
        assert!(!standstill.was_met(start, at(905)), "it was busy, and went on");
        assert!(standstill.was_met(at(500), at(1_900)), "nobody has ticked yet");
        standstill.tick(at(1_900));
        standstill.tick(at(1_905));
        assert!(standstill.was_met(at(500), at(1_906)));
        assert!(!standstill.was_met(at(1_901), at(1_906)));
    }
}
