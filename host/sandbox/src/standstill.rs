//! When our process stood still: it was stopped, its machine was moved, or had time for nobody. What
//! ran out of time meanwhile did nothing wrong.
//!
//! *Invariant:* one thread ticks; a caller that asks sees a standstill even before that thread has.
//! *Invariant:* what is remembered is bounded, however often it happens.

use std::{
    collections::VecDeque,
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
    /// In their order, each shorter than the one before: what met a standstill also met all later
    /// ones, so one that is no longer than a later one is not kept.
    stood: VecDeque<Stood>,
}

struct Stood {
    went_on: Instant,
    span: Duration,
}

impl Standstill {
    pub(crate) fn new(now: Instant) -> Self {
        Self(Arc::new(Mutex::new(Seen { tick: now, stood: VecDeque::new() })))
    }

    /// Ticks are a moment apart, unless nothing ran between them.
    pub(crate) fn tick(&self, now: Instant) {
        let mut seen = self.0.lock();
        let span = now.saturating_duration_since(seen.tick);
        if span >= LATE {
            seen.note(Stood { went_on: now, span });
        }
        seen.tick = now;
    }

    /// The longest standstill that anything which began at `begun` has met by now; zero where it
    /// met none.
    pub(crate) fn longest(&self, begun: Instant, now: Instant) -> Duration {
        let seen = self.0.lock();
        let lasts = now.saturating_duration_since(seen.tick);
        let lasts = if lasts >= LATE { lasts } else { Duration::ZERO };
        let met = seen.stood.iter().find(|stood| stood.went_on > begun);
        met.map_or(lasts, |stood| stood.span.max(lasts))
    }

    /// Whether anything that began at `begun` has met a standstill by now.
    pub(crate) fn was_met(&self, begun: Instant, now: Instant) -> bool {
        !self.longest(begun, now).is_zero()
    }
}

impl Seen {
    fn note(&mut self, stood: Stood) {
        while self.stood.back().is_some_and(|before| before.span <= stood.span) {
            self.stood.pop_back();
        }
        if self.stood.len() == MOST {
            self.stood.pop_front();
        }
        self.stood.push_back(stood);
    }
}

/// More than any run meets.
const MOST: usize = 64;

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

    #[test]
    fn of_several_the_longest_counts_that_ended_after_the_beginning() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let standstill = Standstill::new(start);
        // They last for 5 s, 2 s, 3 s and 1 s.
        for second in [5, 7, 10, 11] {
            standstill.tick(at(second));
        }
        for (begun, now, longest) in
            [(0, 11, 5), (4, 11, 5), (5, 11, 3), (7, 11, 3), (10, 11, 1), (11, 11, 0), (10, 15, 4)]
        {
            let met = standstill.longest(at(begun), at(now));
            assert_eq!(met, Duration::from_secs(longest), "{begun}..{now}");
        }
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (start, standstill) = (Instant::now(), Standstill::new(Instant::now()));
        let (mut now, most) = (start, 10 * MOST as u64);
        for n in 0..most {
            now += LATE + Duration::from_secs(most - n);
            standstill.tick(now);
        }
        assert_eq!(standstill.0.lock().stood.len(), MOST);
        assert_eq!(standstill.longest(now - LATE, now), LATE + Duration::from_secs(1));
    }
}
