//! Whether the clock is believed by which something is removed for its age.

use std::time::Duration;

use tokio::time::Instant;
use vedette_model::Timestamp;

use crate::work::shown::{Shown, Step};

/// What is removed by a clock that is months ahead could not be brought back. Within an hour of its
/// leap, or of the start that found it so, it may be put right.
pub(super) struct Doubt {
    shown: Shown,
    /// By a clock that nobody sets.
    since: Instant,
}

impl Doubt {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { shown: Shown::new(now), since: Instant::now() }
    }

    /// Whether nothing may be removed for its age yet. Asked in every turn, or what passes between
    /// two of them would not be told from a leap.
    pub(super) fn lasts(&mut self, now: Timestamp) -> bool {
        if self.shown.step(now) != Step::Along {
            self.since = Instant::now();
        }
        self.shown = Shown::new(now);
        self.since.elapsed() < DOUBT
    }
}

const DOUBT: Duration = Duration::from_secs(3_600);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::sample::at;

    #[test]
    fn a_clock_is_doubted_for_an_hour_after_its_start_and_whenever_it_was_set() {
        let month = 30 * 24 * 3_600;
        let mut doubt = Doubt::new(at(0));
        // Ahead, put right, and as it goes.
        for shown in [0, month, 0] {
            assert!(doubt.lasts(at(shown)), "{shown}");
            doubt.since -= DOUBT / 2;
            assert!(doubt.lasts(at(shown + 1)), "{shown}");
            doubt.since -= DOUBT / 2;
            assert!(!doubt.lasts(at(shown + 2)), "{shown}");
        }
    }
}
