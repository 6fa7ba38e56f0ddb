//! Hints that there is something to do before the next look at the store.
//!
//! *Invariant:* a lost hint delays work until that look, but never loses it.
//! *Invariant:* only so many lanes are named; beyond them the outbox looks at the store.

use std::collections::HashSet;

use parking_lot::Mutex;
use tokio::sync::Notify;
use vedette_model::AccountId;

/// One hint for each loop; one per process.
#[derive(Default)]
pub(crate) struct Wake {
    /// A check became due: a site was created or changed.
    pub(crate) schedule: Notify,
    /// A delivery was queued.
    pub(crate) outbox: Queued,
    /// A renewal has begun.
    pub(crate) renewal: Notify,
    /// Something was deleted whose rows are still there.
    pub(crate) purge: Notify,
}

/// The lanes that something was queued in: one channel of one account each.
#[derive(Default)]
pub(crate) struct Queued {
    told: Mutex<Told>,
    notify: Notify,
}

/// What the outbox was told since it asked last.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Told {
    pub(crate) lanes: HashSet<(AccountId, String)>,
    /// There may be more to do than in these.
    pub(crate) elsewhere: bool,
}

impl Queued {
    /// Something was queued in these lanes.
    pub(crate) fn tell(&self, lanes: impl IntoIterator<Item = (AccountId, String)>) {
        self.keep(lanes);
        self.notify.notify_one();
    }

    /// Something changed, and nobody knows which lanes it is about.
    pub(crate) fn tell_of_all(&self) {
        self.told.lock().elsewhere = true;
        self.notify.notify_one();
    }

    /// These cannot be gathered yet: they are named again when somebody asks.
    pub(crate) fn keep(&self, lanes: impl IntoIterator<Item = (AccountId, String)>) {
        let mut told = self.told.lock();
        for lane in lanes {
            if told.lanes.len() < MOST_NAMED {
                told.lanes.insert(lane);
            } else {
                told.elsewhere = true;
            }
        }
    }

    /// What was told so far, once.
    pub(crate) fn take(&self) -> Told {
        std::mem::take(&mut self.told.lock())
    }

    /// Ends when something was told since it ended last.
    pub(crate) async fn told(&self) {
        self.notify.notified().await;
    }
}

const MOST_NAMED: usize = 4_096;

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn lane(account: usize) -> (AccountId, String) {
        (AccountId(Uuid::from_u128(account as u128)), "webhook".to_owned())
    }

    #[test]
    fn lane_is_named_once_however_often_it_is_told() {
        let queued = Queued::default();
        queued.tell([lane(1), lane(2)]);
        queued.tell([lane(1)]);
        let both = Told { lanes: [lane(1), lane(2)].into(), elsewhere: false };
        assert_eq!(queued.take(), both);
        assert_eq!(queued.take(), Told::default());
        queued.tell_of_all();
        assert!(queued.take().elsewhere);
    }

    #[test]
    fn more_lanes_than_are_named_are_found_in_the_store() {
        let queued = Queued::default();
        queued.tell((0..MOST_NAMED).map(lane));
        queued.tell([lane(0)]);
        queued.keep([lane(MOST_NAMED)]);
        let told = queued.take();
        assert!(told.elsewhere && !told.lanes.contains(&lane(MOST_NAMED)));
        assert_eq!(told.lanes.len(), MOST_NAMED);
    }
}
