//! What was sent has to be written down, or it is sent again: so a task waits for a database that
//! is away.
//!
//! *Invariant:* what is written late counts only if nobody else has the batch: the epoch tells.

use std::time::Duration;

use tokio::time::Instant;
use vedette_store::{Error, Result};

/// Writes something, trying as often as it takes within [`Patience`].
pub(super) async fn until_written<T, F>(write: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let mut patience = Patience::from(Instant::now());
    loop {
        match write().await {
            Err(cause) if patience.lasts(&cause, Instant::now()) => {}
            written => return written,
        }
        tokio::time::sleep(TRY_AGAIN).await;
    }
}

/// How long it is tried.
struct Patience {
    /// For this long if the database is away.
    until: Instant,
    /// This often if it is there.
    tries: u32,
}

impl Patience {
    fn from(now: Instant) -> Self {
        Self { until: now + AWAY, tries: TRIES }
    }

    /// Whether to try once more after this.
    fn lasts(&mut self, cause: &Error, now: Instant) -> bool {
        if matches!(cause, Error::Unavailable(_)) {
            return now < self.until;
        }
        let left = self.tries.checked_sub(1);
        self.tries = left.unwrap_or_default();
        left.is_some()
    }
}

/// Between two tries: sooner than other nodes look again, which would lease what is due.
const TRY_AGAIN: Duration = Duration::from_millis(500);
/// Longer than the lease: nobody else can take the batch while the database cannot be reached, nor
/// does this process lease what it already holds. But not for ever: a batch that can never be
/// written would keep its room.
const AWAY: Duration = Duration::from_secs(10 * 60);
const TRIES: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_that_is_away_is_waited_for_beyond_a_lease_and_one_that_refuses_is_not() {
        let start = Instant::now();
        let mut patience = Patience::from(start);
        let away = Error::Unavailable("the connection broke".to_owned());
        for (second, lasts) in [(0, true), (59, true), (300, true), (599, true), (600, false)] {
            let now = start + Duration::from_secs(second);
            assert_eq!(patience.lasts(&away, now), lasts, "{second} s");
        }
        for (nth, lasts) in [true, true, true, true, true, false, false].into_iter().enumerate() {
            assert_eq!(patience.lasts(&Error::Conflict, start), lasts, "{nth}");
        }
    }
}
