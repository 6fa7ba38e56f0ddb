//! The clock of the database server, which all nodes ask, and this machine's beside it. One loop reads
//! it, for all that go by it.
//!
//! *Invariant:* what is told is what the last reading found. One that came to nothing takes away what
//! the one before found.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use tokio::sync::watch;
use vedette_model::Timestamp;
use vedette_store::{Result, Store};

use crate::Clock;

/// By how much the clock of this machine was ahead of it at the last reading; none where that cannot
/// be said.
#[derive(Debug, Default)]
pub(crate) struct ServerClock(watch::Sender<Option<TimeDelta>>);

impl ServerClock {
    /// What it shows; none where the database is a part of this process.
    pub(crate) async fn read(&self, store: &Store, clock: &Clock) -> Result<Option<Timestamp>> {
        let (asked, since) = (clock.now(), Instant::now());
        let shown = store.server_time().await;
        self.note(match &shown {
            Ok(Some(shown)) => ahead(asked, *shown, since.elapsed()),
            Ok(None) | Err(_) => None,
        });
        shown
    }

    /// What was found at the last reading.
    pub(crate) fn ahead(&self) -> Option<TimeDelta> {
        *self.0.borrow()
    }

    /// What is found at each reading, beginning with the last one.
    pub(crate) fn readings(&self) -> watch::Receiver<Option<TimeDelta>> {
        let mut readings = self.0.subscribe();
        readings.mark_changed();
        readings
    }

    fn note(&self, ahead: Option<TimeDelta>) {
        self.0.send_replace(ahead);
    }
}

/// The server looked at its clock at some moment between the question and its answer.
fn ahead(asked: Timestamp, shown: Timestamp, took: Duration) -> Option<TimeDelta> {
    (took <= PATIENCE).then(|| asked + took / 2 - shown)
}

/// An answer that takes longer says too little of the moment it was given at.
const PATIENCE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    #[test]
    fn clock_is_compared_with_the_middle_between_question_and_answer() {
        for (asked, shown, took, expected) in [
            (100, 100, 0, Some(0)),
            (100, 101, 2, Some(0)),
            (220, 100, 0, Some(120)),
            (97, 100, 0, Some(-3)),
            (97, 100, 3, None),
        ] {
            let ahead = ahead(at(asked), at(shown), Duration::from_secs(took));
            assert_eq!(ahead.map(|span| span.num_seconds()), expected, "{asked} {shown} {took}");
        }
    }

    #[test]
    fn each_reading_is_told_also_one_that_came_to_nothing() {
        let clock = ServerClock::default();
        clock.note(Some(TimeDelta::seconds(7)));
        let mut readings = clock.readings();
        let ahead = TimeDelta::seconds(8);
        for found in [Some(TimeDelta::seconds(7)), Some(ahead), Some(ahead), None] {
            clock.note(found);
            assert!(readings.has_changed().expect("the clock is there"), "{found:?}");
            assert_eq!(*readings.borrow_and_update(), found);
            assert_eq!(clock.ahead(), found);
        }
    }
}
