//! How many runs have a place at one spot at a time, and which wait for one of them to end.
//!
//! *Invariant:* a place that comes free is handed to the waiting run that comes first by [`Rank`];
//! no other overtakes it.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::oneshot;
use vedette_model::Timestamp;
use vedette_store::Lease;

/// Counts by key, up to the key's limit.
pub(super) struct Busy<K: Clone + Eq + Hash> {
    lines: Lines<K>,
    limit: fn(&K) -> u32,
}

/// One of a key's places; dropping it hands it on, or makes room.
pub(super) struct Place<K: Clone + Eq + Hash> {
    lines: Lines<K>,
    key: K,
}

/// The order of waiting runs: first those that confirm a finding, then those planned first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pub(super) is_first_look: bool,
    pub(super) planned_for: Timestamp,
}

type Lines<K> = Arc<Mutex<HashMap<K, Line<K>>>>;

/// A key's places, and the runs that wait for them, in the order of their turns.
struct Line<K: Clone + Eq + Hash> {
    taken: u32,
    waiting: BTreeMap<Seat, oneshot::Sender<Place<K>>>,
    /// How many have waited: runs planned for the same moment come in this order.
    waited: u64,
}

type Seat = (Rank, u64);

/// A run that waits, and the channel by which it is handed its place.
type Waits<'a, K> = (Waiter<'a, K>, oneshot::Receiver<Place<K>>);

/// A run that waits; dropping it leaves the line.
struct Waiter<'a, K: Clone + Eq + Hash> {
    lines: &'a Lines<K>,
    key: &'a K,
    seat: Seat,
}

impl Rank {
    pub(super) fn of(lease: &Lease) -> Self {
        Self { is_first_look: !lease.recheck, planned_for: lease.due_at }
    }
}

impl<K: Clone + Eq + Hash> Busy<K> {
    pub(super) fn new(limit: fn(&K) -> u32) -> Self {
        Self { lines: Arc::default(), limit }
    }

    /// A place, or none when the key has all of its own in use.
    pub(super) fn take(&self, key: &K) -> Option<Place<K>> {
        let mut lines = self.lines.lock();
        let line = lines.entry(key.clone()).or_default();
        line.takes((self.limit)(key)).then(|| self.place(key))
    }

    /// A place as soon as there is one, after the runs that come first.
    pub(super) async fn wait(&self, key: &K, rank: Rank) -> Place<K> {
        match self.line_up(key, rank) {
            Ok(place) => place,
            Err((_waiter, handed)) => handed.await.expect("who waits is handed a place"),
        }
    }

    fn line_up<'a>(&'a self, key: &'a K, rank: Rank) -> Result<Place<K>, Waits<'a, K>> {
        let mut lines = self.lines.lock();
        let line = lines.entry(key.clone()).or_default();
        if line.takes((self.limit)(key)) {
            return Ok(self.place(key));
        }
        line.waited += 1;
        let seat = (rank, line.waited);
        let (hand, handed) = oneshot::channel();
        line.waiting.insert(seat, hand);
        Err((Waiter { lines: &self.lines, key, seat }, handed))
    }

    fn place(&self, key: &K) -> Place<K> {
        Place { lines: Arc::clone(&self.lines), key: key.clone() }
    }
}

impl<K: Clone + Eq + Hash> Line<K> {
    /// Whether one more finds room; if so it is counted.
    fn takes(&mut self, limit: u32) -> bool {
        let has_room = self.taken < limit;
        self.taken += u32::from(has_room);
        has_room
    }
}

impl<K: Clone + Eq + Hash> Place<K> {
    pub(super) fn key(&self) -> &K {
        &self.key
    }

    /// The run that has it next; if none waits, there is room.
    fn next(&self) -> Option<oneshot::Sender<Self>> {
        let mut lines = self.lines.lock();
        let line = lines.get_mut(&self.key)?;
        if let Some((_, next)) = line.waiting.pop_first() {
            return Some(next);
        }
        line.taken -= 1;
        if line.taken == 0 {
            lines.remove(&self.key);
        }
        None
    }
}

impl<K: Clone + Eq + Hash> Drop for Place<K> {
    fn drop(&mut self) {
        if let Some(next) = self.next() {
            let place = Self { lines: Arc::clone(&self.lines), key: self.key.clone() };
            // A run that has just left does not take it: it comes back here, and goes on to the
            // next.
            drop(next.send(place));
        }
    }
}

impl<K: Clone + Eq + Hash> Drop for Waiter<'_, K> {
    fn drop(&mut self) {
        if let Some(line) = self.lines.lock().get_mut(self.key) {
            line.waiting.remove(&self.seat);
        }
    }
}

impl<K: Clone + Eq + Hash> Default for Line<K> {
    fn default() -> Self {
        Self { taken: 0, waiting: BTreeMap::new(), waited: 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::{FutureExt, poll};

    use super::*;

    fn planned(seconds: u64) -> Rank {
        let planned_for = Timestamp::UNIX_EPOCH + Duration::from_secs(seconds);
        Rank { is_first_look: true, planned_for }
    }

    #[test]
    fn key_has_its_places_and_gets_them_back() {
        let busy = Busy::new(|_| 2);
        let first = busy.take(&"a");
        let second = busy.take(&"a");
        assert!(first.is_some() && second.is_some());
        assert!(busy.take(&"a").is_none());
        assert!(busy.take(&"b").is_some());
        drop(first);
        assert!(busy.take(&"a").is_some());
    }

    #[tokio::test]
    async fn who_waits_comes_in_order_and_nobody_overtakes() {
        let busy = Busy::new(|_| 1);
        let mut held = busy.take(&"a").expect("nobody has it");
        let mut later = Box::pin(busy.wait(&"a", planned(2)));
        let mut sooner = Box::pin(busy.wait(&"a", planned(1)));
        let mut recheck = Box::pin(busy.wait(&"a", Rank { is_first_look: false, ..planned(3) }));
        let mut same = Box::pin(busy.wait(&"a", planned(2)));
        for waits in [&mut later, &mut sooner, &mut recheck, &mut same] {
            assert!(poll!(waits).is_pending());
        }
        for next in [recheck, sooner, later, same] {
            drop(held);
            assert!(busy.take(&"a").is_none(), "it is somebody's who waited");
            held = next.now_or_never().expect("it is handed on");
        }
    }

    #[tokio::test]
    async fn place_of_whoever_left_goes_to_the_next() {
        let busy = Busy::new(|_| 1);
        let held = busy.take(&"a").expect("nobody has it");
        let mut left = Box::pin(busy.wait(&"a", planned(1)));
        let mut late = Box::pin(busy.wait(&"a", planned(2)));
        let mut last = Box::pin(busy.wait(&"a", planned(3)));
        for waits in [&mut left, &mut late, &mut last] {
            assert!(poll!(waits).is_pending());
        }
        drop(left);
        drop(held);
        // It was handed the place, and leaves without having seen it.
        drop(late);
        drop(last.now_or_never().expect("it is handed on"));
        assert!(busy.lines.lock().is_empty());
    }

    #[test]
    fn keys_without_runs_are_forgotten() {
        let busy = Busy::new(|_| 1);
        drop(busy.take(&"a"));
        assert!(busy.lines.lock().is_empty());
    }
}
