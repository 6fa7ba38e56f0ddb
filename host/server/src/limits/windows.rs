//! Exact windows for many keys, in bounded memory.

use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::{BuildHasher, Hash},
};

use parking_lot::Mutex;
use vedette_model::{
    Timestamp,
    quota::{Admitted, Limit, Refused, Window},
};

/// Split into shards, so that callers rarely wait for each other.
pub(super) struct Windows<K> {
    shards: Vec<Mutex<Shard<K>>>,
    hasher: RandomState,
    /// Windows per shard.
    most: usize,
}

struct Shard<K> {
    windows: HashMap<K, Window>,
    /// When idle windows were last looked for because the shard was full.
    swept: Option<Timestamp>,
}

impl<K: Hash + Eq + Clone> Windows<K> {
    /// `most` windows are kept at a time.
    pub(super) fn new(most: usize) -> Self {
        let shard = || Mutex::new(Shard { windows: HashMap::new(), swept: None });
        Self {
            shards: std::iter::repeat_with(shard).take(SHARDS).collect(),
            hasher: RandomState::new(),
            most: most.div_ceil(SHARDS),
        }
    }

    /// Counts a request in the key's window.
    pub(super) fn admit(&self, key: K, limit: Limit, now: Timestamp) -> Result<Admitted, Refused> {
        let mut shard = self.shard(&key).lock();
        if let Some(window) = shard.windows.get_mut(&key) {
            return window.admit(limit, now);
        }
        shard.make_room(self.most, limit, now);
        shard.windows.entry(key).or_default().admit(limit, now)
    }

    /// Takes back a request that was counted in the key's window at this moment.
    pub(super) fn take_back(&self, key: &K, at: Timestamp) {
        if let Some(window) = self.shard(key).lock().windows.get_mut(key) {
            window.take_back(at);
        }
    }

    /// What [`Windows::admit`] would answer, without counting.
    pub(super) fn look(&self, key: &K, limit: Limit, now: Timestamp) -> Result<Admitted, Refused> {
        match self.shard(key).lock().windows.get_mut(key) {
            Some(window) => window.look(limit, now),
            None => Window::default().look(limit, now),
        }
    }

    /// Drops the windows in which nothing counts.
    pub(super) fn forget_idle(&self, limit: Limit, now: Timestamp) {
        for shard in &self.shards {
            let mut shard = shard.lock();
            shard.windows.retain(|_, window| !window.idle(limit, now));
            if shard.windows.capacity() > 4 * shard.windows.len() + 64 {
                shard.windows.shrink_to_fit();
            }
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().windows.len()).sum()
    }

    fn shard(&self, key: &K) -> &Mutex<Shard<K>> {
        &self.shards[self.hasher.hash_one(key) as usize % SHARDS]
    }
}

impl<K: Hash + Eq + Clone> Shard<K> {
    /// In a full shard the idle windows go first, at most once a second; when all of them count,
    /// the least used of a few goes: a flood of new addresses then displaces itself.
    fn make_room(&mut self, most: usize, limit: Limit, now: Timestamp) {
        if self.windows.len() < most {
            return;
        }
        let due = self.swept.is_none_or(|at| (now - at).num_milliseconds().abs() >= 1000);
        if due {
            self.swept = Some(now);
            self.windows.retain(|_, window| !window.idle(limit, now));
        }
        while self.windows.len() >= most {
            let Some(key) = self.least_used(limit, now) else { return };
            self.windows.remove(&key);
        }
    }

    fn least_used(&mut self, limit: Limit, now: Timestamp) -> Option<K> {
        let sample = self.windows.iter_mut().take(SAMPLE).map(|(key, window)| {
            let left = window.look(limit, now).map_or(0, |left| left.remaining);
            (left, key)
        });
        sample.max_by_key(|(left, _)| *left).map(|(_, key)| key.clone())
    }
}

const SHARDS: usize = 64;
const SAMPLE: usize = 8;
