//! The one source of "now".
//!
//! *Invariant:* time only moves when the system's clock does, or when a test says so: with
//! [`Clock::Manual`] nothing that waits for a moment wakes before the clock was moved there.

use std::time::Duration;

use chrono::{SubsecRound, Utc};
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
    time: std::sync::Arc<watch::Sender<Timestamp>>,
}

impl Clock {
    /// A manual clock that shows `now`; keep a clone of the [`ManualClock`] to move it.
    pub fn manual(now: Timestamp) -> (Self, ManualClock) {
        let clock = ManualClock { time: std::sync::Arc::new(watch::Sender::new(now)) };
        (Self::Manual(clock.clone()), clock)
    }

    /// In whole milliseconds: what is stored and what is compared are then the same value.
    pub fn now(&self) -> Timestamp {
        match self {
            Self::System => Utc::now().trunc_subsecs(3),
            Self::Manual(clock) => clock.now(),
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
                let _ = time.wait_for(|now| *now >= at).await;
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
        *self.time.borrow()
    }

    /// Moves the time forward and wakes what waited for it.
    pub fn advance(&self, by: Duration) {
        self.time.send_modify(|now| *now += by);
    }

    /// Sets the time, also backwards, as a clock that is corrected does.
    pub fn set(&self, to: Timestamp) {
        self.time.send_replace(to);
    }
}

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
    fn the_past_is_not_waited_for() {
        let past = Utc::now() - Duration::from_secs(1);
        assert_eq!(Clock::System.sleep_until(past).now_or_never(), Some(()));
    }
}
