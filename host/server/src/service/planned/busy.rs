//! How many runs one host, or one account, has going at a time.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use parking_lot::Mutex;

/// Counts by key, up to a limit. Clones share the counts.
#[derive(Clone)]
pub(super) struct Busy<K: Eq + Hash> {
    counts: Arc<Mutex<HashMap<K, u32>>>,
    limit: u32,
}

/// One of a key's places; dropping it makes room.
pub(super) struct Place<K: Eq + Hash> {
    counts: Arc<Mutex<HashMap<K, u32>>>,
    key: K,
}

impl<K: Eq + Hash + Clone> Busy<K> {
    pub(super) fn new(limit: u32) -> Self {
        Self { counts: Arc::default(), limit }
    }

    /// A place, or none when the key has all of its own in use.
    pub(super) fn take(&self, key: &K) -> Option<Place<K>> {
        let mut counts = self.counts.lock();
        let count = counts.get(key).copied().unwrap_or(0);
        if count >= self.limit {
            return None;
        }
        counts.insert(key.clone(), count + 1);
        Some(Place { counts: Arc::clone(&self.counts), key: key.clone() })
    }
}

impl<K: Eq + Hash> Drop for Place<K> {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        if let Some(count) = counts.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_has_its_places_and_gets_them_back() {
        let busy = Busy::new(2);
        let first = busy.take(&"a");
        let second = busy.take(&"a");
        assert!(first.is_some() && second.is_some());
        assert!(busy.take(&"a").is_none());
        assert!(busy.take(&"b").is_some());
        drop(first);
        assert!(busy.take(&"a").is_some());
    }

    #[test]
    fn keys_without_runs_are_forgotten() {
        let busy = Busy::new(1);
        drop(busy.take(&"a"));
        assert!(busy.counts.lock().is_empty());
    }
}
