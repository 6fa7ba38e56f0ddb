//! What a process remembers of its planned checks from one run to the next. Nothing of it is stored:
//! a process that begins knows nothing, and learns it again with each run.

use std::time::Duration;

use moka::sync::Cache;
use parking_lot::Mutex;
use tokio::time::Instant;
use vedette_model::{CheckType, SiteId};
use vedette_store::Lease;

use crate::trouble::Trouble;

/// Bounded; of sites that are gone it is forgotten in time.
pub(super) struct Memory {
    /// Checks that took long the last time.
    slow: Cache<Check, ()>,
    /// How often in a row a check asked to be run later.
    waits: Cache<Check, u32>,
    /// What was told lately of checks that cannot be done.
    undone: Mutex<Trouble>,
}

/// Of which site, and which of its checks.
type Check = (SiteId, CheckType);

impl Memory {
    pub(super) fn new() -> Self {
        Self {
            slow: Cache::builder().max_capacity(MOST_REMEMBERED).time_to_live(REMEMBERED).build(),
            waits: Cache::builder().max_capacity(MOST_REMEMBERED).time_to_idle(REMEMBERED).build(),
            undone: Mutex::default(),
        }
    }

    /// A run took so long, through no trouble of ours.
    pub(super) fn learn(&self, lease: &Lease, took: Duration) {
        let check = check_of(lease);
        if took < SLOW {
            self.slow.invalidate(&check);
        } else {
            self.slow.insert(check, ());
        }
    }

    pub(super) fn is_slow(&self, lease: &Lease) -> bool {
        self.slow.contains_key(&check_of(lease))
    }

    /// Counts a wish to be run later; three in a row are granted. Whoever holds the lease is alone
    /// with the count.
    pub(super) fn may_wait(&self, lease: &Lease) -> bool {
        let check = check_of(lease);
        let count = self.waits.get(&check).unwrap_or_default() + 1;
        self.waits.insert(check, count);
        count <= MOST_WAITS
    }

    /// A check was run: its wishes to be run later count anew.
    pub(super) fn has_run(&self, lease: &Lease) {
        self.waits.invalidate(&check_of(lease));
    }

    /// Whether the log has to say this of a check that cannot be done: each is tried again and again.
    pub(super) fn is_news(&self, said: &str) -> bool {
        self.undone.lock().is_news(said, Instant::now())
    }
}

fn check_of(lease: &Lease) -> Check {
    (lease.site_id, lease.check_type.clone())
}

/// What takes this long is slow, until it is quick.
pub(super) const SLOW: Duration = Duration::from_secs(5);
/// Some hundred bytes each.
const MOST_REMEMBERED: u64 = 16_384;
/// For how long is known how a check went. Longer than it waits for its next run, also where it is late:
/// what is forgotten before says nothing of it.
const REMEMBERED: Duration = Duration::from_secs(7 * 24 * 3600);
const MOST_WAITS: u32 = 3;

#[cfg(test)]
mod tests {
    use vedette_model::schedule::Intervals;

    use super::*;

    #[test]
    fn check_that_was_slow_is_still_known_to_be_when_it_runs_again() {
        // It may be late, too, and be given back before it finds a place.
        assert!(REMEMBERED > 2 * Intervals::default().domain);
    }
}
