//! What the clock showed last, and whether it was set since: judged by how much time has passed on
//! a clock that nobody sets.

use std::time::Duration;

use chrono::TimeDelta;
use tokio::time::Instant;
use vedette_model::Timestamp;

/// What the clock showed last, and when that was.
pub(super) struct Shown {
    at: Timestamp,
    looked: Instant,
}

/// What became of the clock since it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nobody set it.
    Along,
    /// It went on by more than the time that has passed.
    Leapt,
    SetBack(TimeDelta),
}

impl Shown {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { at: now, looked: Instant::now() }
    }

    /// How the clock got from there to `now`.
    pub(super) fn step(&self, now: Timestamp) -> Step {
        match set_back(self.at, now) {
            Some(by) => Step::SetBack(by),
            None if leapt(self.at, now, self.looked.elapsed()) => Step::Leapt,
            None => Step::Along,
        }
    }
}

/// Whether the clock was set back since it showed `before`, a moment ago, and by how much.
fn set_back(before: Timestamp, now: Timestamp) -> Option<TimeDelta> {
    let by = before - now;
    (by >= NOTABLE).then_some(by)
}

/// Whether the clock went on by more than the time that has passed.
fn leapt(before: Timestamp, now: Timestamp, passed: Duration) -> bool {
    now - before - LEAP > TimeDelta::from_std(passed).unwrap_or(TimeDelta::MAX)
}

/// The clock is looked at several times a second. Less is lost in the waits between two looks.
const NOTABLE: TimeDelta = TimeDelta::seconds(1);
/// Well within a lease.
const LEAP: TimeDelta = TimeDelta::seconds(5);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::sample::at;

    #[test]
    fn clock_that_shows_less_than_before_was_set_back() {
        for (now, by) in [(10, None), (600, None), (0, None), (-1, Some(1)), (-3600, Some(3600))] {
            assert_eq!(set_back(at(0), at(now)), by.map(TimeDelta::seconds), "{now}");
        }
    }

    #[test]
    fn clock_leaps_that_goes_on_by_more_than_has_passed() {
        for (now, passed, leaps) in [
            (1, 1, false),
            (300, 300, false),
            (5, 0, false),
            (6, 0, true),
            (3600, 1, true),
            (-3600, 1, false),
        ] {
            assert_eq!(leapt(at(0), at(now), Duration::from_secs(passed)), leaps, "{now}");
        }
    }

    #[test]
    fn a_step_is_along_ahead_or_back() {
        let shown = Shown::new(at(0));
        for (now, step) in
            [(0, Step::Along), (3600, Step::Leapt), (-3600, Step::SetBack(TimeDelta::hours(1)))]
        {
            assert_eq!(shown.step(at(now)), step, "{now}");
        }
    }
}
