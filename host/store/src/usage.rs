//! The calls of a month, counted before they are answered.
//!
//! *Invariant:* with N calls left exactly N are admitted, over all tasks, nodes and crashes: a
//! call is admitted only after the write that counts it is durable.

use std::collections::HashMap;
use std::sync::Mutex;

use surrealdb::types::SurrealValue;
use tokio::sync::oneshot;
use vedette_model::AccountId;

use crate::error::{Error, Result};
use crate::tx::Binds;
use crate::{Store, key};

/// Who waits to be counted. One durable write counts all who wait for the same account at that
/// moment, so the rate of calls is not bound to the rate of writes.
#[derive(Default)]
pub(crate) struct Turnstile {
    waiting: Mutex<HashMap<Counter, Vec<Waiter>>>,
}

type Waiter = oneshot::Sender<Result<u64>>;

/// Calls that one write can count together. The limit is a part because a plan may change
/// between two calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Counter {
    account: AccountId,
    month: String,
    limit: u64,
}

#[derive(SurrealValue)]
struct Counted {
    before: u64,
    after: u64,
}

impl Store {
    /// Counts one call of the month (`2026-11`) and answers how many were made with it, or
    /// `Exhausted`. A call whose future is dropped while it waits may be counted all the same.
    pub async fn count_call(&self, account: AccountId, month: &str, limit: u64) -> Result<u64> {
        let counter = Counter { account, month: month.to_owned(), limit };
        let (waiter, answer) = oneshot::channel();
        if self.inner.calls.join(&counter, waiter) {
            // Apart from this future: if the caller goes away, the others still wait.
            let store = self.clone();
            tokio::spawn(async move { store.count_waiting(counter).await });
        }
        answer.await.unwrap_or_else(|_| Err(Error::Unavailable("the store is closing".to_owned())))
    }

    /// How many calls were counted in a month.
    pub async fn usage(&self, account: AccountId, month: &str) -> Result<u64> {
        let used: Option<u64> = self
            .read(
                "SELECT VALUE used FROM ONLY $usage",
                Binds::new().with("usage", key::usage(account, month)),
            )
            .await?;
        Ok(used.unwrap_or(0))
    }

    async fn count_waiting(&self, counter: Counter) {
        let in_charge = InCharge { turnstile: &self.inner.calls, counter: &counter };
        while let Some(waiters) = self.inner.calls.next(&counter) {
            let counted = self.add(&counter, waiters.len() as u64).await;
            for (nth, waiter) in (1_u64..).zip(waiters) {
                let answer = match &counted {
                    Ok(counted) if counted.before + nth <= counted.after => {
                        Ok(counted.before + nth)
                    }
                    Ok(counted) => Err(Error::Exhausted { used: counted.after }),
                    Err(Error::Conflict) => Err(Error::Conflict),
                    Err(error) => Err(Error::Unavailable(error.to_string())),
                };
                // Who no longer waits was counted like the others.
                let _ = waiter.send(answer);
            }
        }
        // `next` has given up the charge already, and somebody else may have it by now.
        std::mem::forget(in_charge);
    }

    /// Counts up to `calls`, as far as the limit goes; writes nothing once it is reached.
    async fn add(&self, counter: &Counter, calls: u64) -> Result<Counted> {
        let unit = "LET $before = (SELECT VALUE used FROM ONLY $usage) ?? 0;
            LET $after = math::max([$before, math::min([$before + $calls, $limit])]);
            IF $after > $before { UPSERT $usage SET used = $after RETURN NONE };
            RETURN { before: $before, after: $after }";
        let binds = Binds::new()
            .with("usage", key::usage(counter.account, &counter.month))
            .with("calls", calls)
            .with("limit", counter.limit);
        self.tx(unit, binds).await
    }
}

/// Lets nobody wait for ever for a task that panicked or was dropped with its runtime.
struct InCharge<'a> {
    turnstile: &'a Turnstile,
    counter: &'a Counter,
}

impl Drop for InCharge<'_> {
    fn drop(&mut self) {
        self.turnstile.lock().remove(self.counter);
    }
}

impl Turnstile {
    /// Joins those who wait; true for the first, who has to see to it that they are counted.
    fn join(&self, counter: &Counter, waiter: Waiter) -> bool {
        let mut waiting = self.lock();
        if let Some(waiters) = waiting.get_mut(counter) {
            waiters.push(waiter);
            return false;
        }
        waiting.insert(counter.clone(), vec![waiter]);
        true
    }

    /// All who wait now; none, and nobody is in charge any more, when nobody does.
    fn next(&self, counter: &Counter) -> Option<Vec<Waiter>> {
        let mut waiting = self.lock();
        let waiters = std::mem::take(waiting.get_mut(counter)?);
        if waiters.is_empty() {
            waiting.remove(counter);
            return None;
        }
        Some(waiters)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Counter, Vec<Waiter>>> {
        self.waiting.lock().expect("nothing panics while it holds this lock")
    }
}
