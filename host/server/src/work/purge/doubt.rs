//! Whether to believe the clock by which something is removed because of its age.

use std::time::Duration;

use tokio::time::Instant;
use vedette_model::Timestamp;

use crate::{App, service::doubt::is_clock_doubted};

/// What a clock that is months ahead removes could not be brought back. So nothing is removed while
/// the guard doubts the clock, nor within an hour of a start that may have found it wrong: by then
/// it may have been set right.
pub(super) struct Doubt {
    /// By a clock that nobody sets.
    started: Instant,
}

impl Doubt {
    pub(super) fn from_start() -> Self {
        Self { started: Instant::now() }
    }

    /// Whether nothing may be removed yet because of its age, by the clock that shows `now`.
    pub(super) fn lasts(&self, app: &App, now: Timestamp) -> bool {
        is_clock_doubted(app, now) || self.started.elapsed() < AFTER_START
    }
}

const AFTER_START: Duration = Duration::from_secs(3_600);

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::{Clock, instance, work::sample::at};

    #[test]
    fn a_clock_is_doubted_for_an_hour_after_the_start_and_while_the_guard_doubts_it() {
        let (clock, hand) = Clock::manual(at(0));
        instance::with_idle_app(instance::config(), clock, |app| async move {
            let mut doubt = Doubt::from_start();
            let lasts = |doubt: &Doubt| doubt.lasts(&app, app.clock.now());
            assert!(lasts(&doubt), "the start may have found it wrong");
            doubt.started -= AFTER_START;
            assert!(!lasts(&doubt));
            for shown in [5, 4, 300] {
                hand.set(at(shown));
                assert!(!lasts(&doubt), "it was corrected by little: {shown}");
            }

            let compare = |ahead| {
                app.guard.lock().compared(ahead, app.clock.up(), app.clock.now());
            };
            compare(TimeDelta::days(30));
            assert!(lasts(&doubt), "since the start, as the server says");
            compare(TimeDelta::zero());
            assert!(!lasts(&doubt));

            hand.set(at(30 * 24 * 3_600));
            assert!(lasts(&doubt), "it leapt");
            hand.set(at(300));
            assert!(!lasts(&doubt));
        });
    }
}
