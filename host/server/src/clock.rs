//! The one source of "now".
//!
//! *Invariant:* time only moves when the system's clock does, or when a test says so: with
//! [`Clock::Manual`] nothing that waits for a moment wakes before the clock was moved there.

use std::time::Duration;

use chrono::{SubsecRound, Utc};
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::watch;
use vedette_model::Timestamp;

/// Cheap to clone; clones of a manual clock show the same time.
#[derive(Clone, Debug)]
pub enum Clock {
    System,
    Manual(ManualClock),
}

/// A clock that stands still until it is moved.
#[derive(Clone, Debug)]
pub struct ManualClock {
    time: std::sync::Arc<watch::Sender<Face>>,
}

#[derive(Clone, Copy, Debug)]
struct Face {
    shown: Timestamp,
    /// Grows as it is moved forward, and not where it is set.
    up: Duration,
}

impl Clock {
    /// A manual clock that shows `now`; keep a clone of the [`ManualClock`] to move it.
    pub fn manual(now: Timestamp) -> (Self, ManualClock) {
        let face = Face { shown: now, up: UP_BEFORE };
        let clock = ManualClock { time: std::sync::Arc::new(watch::Sender::new(face)) };
        (Self::Manual(clock.clone()), clock)
    }

    /// In whole milliseconds: what is stored and what is compared are then the same value.
    pub fn now(&self) -> Timestamp {
        match self {
            Self::System => Utc::now().trunc_subsecs(3),
            Self::Manual(clock) => clock.now(),
        }
    }

    /// For how long the machine is up, its sleep included: what nobody sets.
    pub(crate) fn up(&self) -> Duration {
        match self {
            Self::System => Duration::try_from(clock_gettime(UNSET)).unwrap_or_default(),
            Self::Manual(clock) => clock.time.borrow().up,
        }
    }

    /// Waits until the clock shows `at` or later; at once when it already does.
    pub async fn sleep_until(&self, at: Timestamp) {
        match self {
            Self::System => loop {
                let Ok(left) = (at - Utc::now()).to_std() else { return };
                if left.is_zero() {
                    return;
                }
                // The wall clock may be set while we wait: look again at least once a minute.
                tokio::time::sleep(left.min(Duration::from_secs(60))).await;
            },
            Self::Manual(clock) => {
                let mut time = clock.time.subscribe();
                // The sender lives in `clock`, so the channel cannot close meanwhile.
                let _ = time.wait_for(|face| face.shown >= at).await;
            }
        }
    }

    /// Waits for a span of this clock's time.
    pub async fn sleep(&self, span: Duration) {
        self.sleep_until(self.now() + span).await;
    }
}

impl ManualClock {
    pub fn now(&self) -> Timestamp {
        self.time.borrow().shown
    }

    /// Moves the time forward and wakes what waited for it: so much time has passed.
    pub fn advance(&self, by: Duration) {
        self.time.send_modify(|face| {
            face.shown += by;
            face.up += by;
        });
    }

    /// Sets the time, even backwards, as somebody who corrects a clock does: no time has passed.
    pub fn set(&self, to: Timestamp) {
        self.time.send_modify(|face| face.shown = to);
    }
}

/// For how long a machine is up whose clock is moved by hand: it is not at its start, where a clock may
/// be set as it likes.
const UP_BEFORE: Duration = Duration::from_secs(24 * 3_600);

#[cfg(target_os = "linux")]
const UNSET: ClockId = ClockId::Boottime;
/// It stands still while the machine sleeps, which then passes for a leap.
#[cfg(not(target_os = "linux"))]
const UNSET: ClockId = ClockId::Monotonic;

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_sleeper_wakes_when_the_clock_is_moved_past_it() {
        let (clock, hand) = Clock::manual(Utc::now().trunc_subsecs(3));
        let sleeper = tokio::spawn({
            let clock = clock.clone();
            async move {
                clock.sleep(Duration::from_secs(3600)).await;
                clock.now()
            }
        });
        let before = hand.now();
        // Woken or not yet asleep, the sleeper sees a time that was moved in two steps.
        hand.advance(Duration::from_secs(1800));
        tokio::task::yield_now().await;
        assert!(!sleeper.is_finished());
        hand.advance(Duration::from_secs(5400));
        assert_eq!(sleeper.await.unwrap(), before + Duration::from_secs(7200));
    }

    #[test]
    fn time_passes_where_a_clock_is_moved_and_not_where_it_is_set() {
        let (clock, hand) = Clock::manual(Timestamp::UNIX_EPOCH);
        let (up, minute) = (clock.up(), Duration::from_secs(60));
        hand.advance(minute);
        hand.set(Timestamp::UNIX_EPOCH);
        assert_eq!((clock.now(), clock.up()), (Timestamp::UNIX_EPOCH, up + minute));
        let before = Clock::System.up();
        assert!(!before.is_zero() && before <= Clock::System.up());
    }

    #[test]
    fn the_past_is_not_waited_for() {
        let past = Utc::now() - Duration::from_secs(1);
        assert_eq!(Clock::System.sleep_until(past).now_or_never(), Some(()));
    }
}
