//! Where plugins keep small values between runs.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use futures::future::{BoxFuture, FutureExt, ready};
use parking_lot::Mutex;

/// A key-value store for plugins. `scope` names whose values they are and is made by the
/// sandbox (`site/<site>/<plugin>`, `shared/<plugin>`); keys and values are within the contract's
/// sizes when they come here.
pub trait StateStore: Send + Sync {
    /// The value, or none when it was never set, expired or was deleted.
    fn get(
        &self,
        scope: &str,
        key: &str,
    ) -> BoxFuture<'static, Result<Option<Vec<u8>>, StateError>>;

    /// Sets a value for `ttl` or for ever, unless the scope's keys and values together would
    /// pass `quota` bytes. A store that lasts makes room in `shared/…` by what expires and
    /// was written longest ago.
    fn set(
        &self,
        scope: &str,
        key: &str,
        value: Vec<u8>,
        ttl: Option<Duration>,
        quota: u64,
    ) -> BoxFuture<'static, Result<(), StateError>>;

    /// Deletes a value; a key that does not exist is no error.
    fn delete(&self, scope: &str, key: &str) -> BoxFuture<'static, Result<(), StateError>>;
}

/// Why a value was not read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    #[error("the quota of the scope would be passed")]
    QuotaExceeded,
    #[error("the store did not answer: {0}")]
    Unavailable(String),
}

/// State that lasts as long as the process: for one-off checks without a database.
#[derive(Default)]
pub struct MemoryState {
    scopes: Mutex<HashMap<String, HashMap<String, Entry>>>,
}

struct Entry {
    value: Vec<u8>,
    until: Option<Instant>,
}

impl StateStore for MemoryState {
    fn get(
        &self,
        scope: &str,
        key: &str,
    ) -> BoxFuture<'static, Result<Option<Vec<u8>>, StateError>> {
        let scopes = self.scopes.lock();
        let entry = scopes.get(scope).and_then(|scope| scope.get(key));
        let value = entry.filter(|entry| entry.alive()).map(|entry| entry.value.clone());
        ready(Ok(value)).boxed()
    }

    fn set(
        &self,
        scope: &str,
        key: &str,
        value: Vec<u8>,
        ttl: Option<Duration>,
        quota: u64,
    ) -> BoxFuture<'static, Result<(), StateError>> {
        let mut scopes = self.scopes.lock();
        let entries = scopes.entry(scope.to_owned()).or_default();
        entries.retain(|_, entry| entry.alive());
        let others: usize = entries
            .iter()
            .filter(|(name, _)| *name != key)
            .map(|(name, entry)| name.len() + entry.value.len())
            .sum();
        if (others + key.len() + value.len()) as u64 > quota {
            return ready(Err(StateError::QuotaExceeded)).boxed();
        }
        let until = ttl.and_then(|ttl| Instant::now().checked_add(ttl));
        entries.insert(key.to_owned(), Entry { value, until });
        ready(Ok(())).boxed()
    }

    fn delete(&self, scope: &str, key: &str) -> BoxFuture<'static, Result<(), StateError>> {
        if let Some(entries) = self.scopes.lock().get_mut(scope) {
            entries.remove(key);
        }
        ready(Ok(())).boxed()
    }
}

impl Entry {
    fn alive(&self) -> bool {
        self.until.is_none_or(|until| Instant::now() < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now<T>(future: BoxFuture<'static, T>) -> T {
        future.now_or_never().expect("memory answers at once")
    }

    #[test]
    fn quota_counts_keys_and_values_and_a_rewrite_replaces() {
        let state = MemoryState::default();
        let set = |key: &str, len: usize| now(state.set("s", key, vec![0; len], None, 100));
        assert_eq!(set("a", 60), Ok(()));
        assert_eq!(set("b", 39), Err(StateError::QuotaExceeded));
        assert_eq!(set("a", 90), Ok(()));
        assert_eq!(now(state.delete("s", "a")), Ok(()));
        assert_eq!(set("b", 99), Ok(()));
    }

    #[test]
    fn scopes_do_not_see_each_other_and_expired_values_are_gone() {
        let state = MemoryState::default();
        now(state.set("one", "k", vec![1], None, 10)).expect("fits");
        now(state.set("one", "gone", vec![1], Some(Duration::ZERO), 10)).expect("fits");
        assert_eq!(now(state.get("one", "k")), Ok(Some(vec![1])));
        assert_eq!(now(state.get("one", "gone")), Ok(None));
        assert_eq!(now(state.get("two", "k")), Ok(None));
    }
}
