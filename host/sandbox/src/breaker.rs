//! A breaker per plugin version: a plugin that keeps breaking is paused, so that it neither
//! burns CPU nor floods the operator.
//!
//! Five bad endings in the last ten open it. After 30 s one call may try (half-open): a good
//! ending closes it, a bad one doubles the pause, up to 15 minutes.
//!
//! *Invariant:* pure; `now` is a parameter.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// The breaker of one version of one plugin.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    /// The last endings, true = bad.
    endings: VecDeque<bool>,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Closed,
    /// Paused until then, for the last time so long.
    Open { until: Instant, pause: Duration },
    /// One call is trying; should it never report back, another may try after the pause.
    Trying { until: Instant, pause: Duration },
}

/// What the operator should hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Opened { pause: Duration },
    Closed,
}

const LAST: usize = 10;
const BAD: usize = 5;
const FIRST_PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);

impl Breaker {
    /// Whether a call may start now; if not, for how long not.
    pub(crate) fn admit(&mut self, now: Instant) -> Result<(), Duration> {
        match self.state {
            State::Closed => Ok(()),
            State::Open { until, .. } | State::Trying { until, .. } if now < until => {
                Err(until - now)
            }
            State::Open { pause, .. } | State::Trying { pause, .. } => {
                self.state = State::Trying { until: now + pause, pause };
                Ok(())
            }
        }
    }

    /// For how long no call may start; none = one may.
    pub(crate) fn pause(&self, now: Instant) -> Option<Duration> {
        match self.state {
            State::Open { until, .. } | State::Trying { until, .. } if now < until => {
                Some(until - now)
            }
            State::Closed | State::Open { .. } | State::Trying { .. } => None,
        }
    }

    /// Takes note of how a call ended.
    pub(crate) fn record(&mut self, bad: bool, now: Instant) -> Option<Change> {
        match (self.state, bad) {
            (State::Closed, _) => self.count(bad, now),
            (State::Trying { pause, .. }, true) => {
                Some(self.open((pause * 2).min(LONGEST_PAUSE), now))
            }
            (State::Trying { .. }, false) => {
                *self = Self::default();
                Some(Change::Closed)
            }
            // A call that started before the breaker opened.
            (State::Open { .. }, _) => None,
        }
    }

    fn count(&mut self, bad: bool, now: Instant) -> Option<Change> {
        if self.endings.len() == LAST {
            self.endings.pop_front();
        }
        self.endings.push_back(bad);
        let bad = self.endings.iter().filter(|bad| **bad).count();
        (bad >= BAD).then(|| self.open(FIRST_PAUSE, now))
    }

    fn open(&mut self, pause: Duration, now: Instant) -> Change {
        self.endings.clear();
        self.state = State::Open { until: now + pause, pause };
        Change::Opened { pause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::default();
        for _ in 0..BAD {
            breaker.record(true, now);
        }
        breaker
    }

    #[test]
    fn five_bad_endings_in_ten_open_it() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        let endings = [true, false, true, false, true, false, true, false, false];
        assert!(endings.iter().all(|bad| breaker.record(*bad, now).is_none()));
        assert_eq!(breaker.admit(now), Ok(()));
        assert_eq!(breaker.record(true, now), Some(Change::Opened { pause: 30 * SECOND }));
        assert_eq!(breaker.admit(now + SECOND), Err(29 * SECOND));
        assert_eq!(breaker.pause(now + SECOND), Some(29 * SECOND));
        assert_eq!(breaker.pause(now + 30 * SECOND), None);
    }

    #[test]
    fn old_bad_endings_are_forgotten() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        for _ in 0..4 {
            assert_eq!(breaker.record(true, now), None);
        }
        for _ in 0..LAST {
            assert_eq!(breaker.record(false, now), None);
        }
        assert_eq!(breaker.record(true, now), None);
    }

    #[test]
    fn after_the_pause_one_call_tries_and_a_good_ending_closes() {
        let now = Instant::now();
        let mut breaker = opened(now);
        let later = now + 30 * SECOND;
        assert_eq!(breaker.admit(later), Ok(()));
        assert_eq!(breaker.admit(later), Err(30 * SECOND), "only one at a time");
        assert_eq!(breaker.record(false, later), Some(Change::Closed));
        assert_eq!(breaker.admit(later), Ok(()));
        assert_eq!(breaker.record(true, later), None, "counting starts anew");
    }

    #[test]
    fn each_failed_trial_doubles_the_pause_up_to_a_quarter_of_an_hour() {
        let mut now = Instant::now();
        let mut breaker = opened(now);
        for seconds in [60_u32, 120, 240, 480, 900, 900] {
            now += LONGEST_PAUSE;
            assert_eq!(breaker.admit(now), Ok(()));
            let pause = seconds * SECOND;
            assert_eq!(breaker.record(true, now), Some(Change::Opened { pause }));
        }
    }

    #[test]
    fn a_trial_that_never_reports_back_does_not_block_for_ever() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert_eq!(breaker.admit(now + 30 * SECOND), Ok(()));
        assert_eq!(breaker.admit(now + 60 * SECOND), Ok(()));
    }
}
