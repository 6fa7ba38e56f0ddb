//! What was counted so far, for requests that count nothing: those that cost no call, and those that
//! their account's window refuses, which must know whether the plan is still the one they went by.
//!
//! *Invariant:* a caller is answered by a read that began after it came.
//! *Invariant:* however many ask about an account at once, one read of it runs at a time.

use std::{
    collections::HashMap,
    sync::{
        Arc, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use surrealdb::types::SurrealValue;
use tokio::sync::Mutex;
use vedette_model::AccountId;

use super::{Counted, Month};
use crate::error::Result;
use crate::tx::Binds;
use crate::{Stamp, Store, key};

/// For each account that somebody asks about at this moment: who reads, and what was read last.
#[derive(Default)]
pub(crate) struct Readings {
    /// Puts in order who comes and what begins.
    order: AtomicU64,
    turns: std::sync::Mutex<HashMap<Month, Turn>>,
}

type Turn = Arc<Mutex<Option<Reading>>>;

struct Reading {
    began: u64,
    found: Counted,
}

#[derive(SurrealValue)]
struct SoFarRow {
    used: Option<u64>,
    stamp: Option<Stamp>,
}

impl Store {
    /// How many calls were counted in a month, and where the account stands; counts nothing.
    pub async fn calls_so_far(&self, account: AccountId, month: &str) -> Result<Counted> {
        let of = Month { account, month: month.to_owned() };
        self.inner.readings.answer(of, self.read_so_far(account, month)).await
    }

    async fn read_so_far(&self, account: AccountId, month: &str) -> Result<Counted> {
        let row: SoFarRow = self
            .read(
                "RETURN { used: $usage.used, stamp: $account.stamp }",
                Binds::new()
                    .with("usage", key::usage(account, month))
                    .with("account", key::account(account)),
            )
            .await?;
        Ok(Counted { used: row.used.unwrap_or(0), stamp: row.stamp.unwrap_or(Stamp::GONE) })
    }
}

impl Readings {
    /// What somebody else has read since this one came, or else what `read` finds, which begins only
    /// here.
    async fn answer(
        &self,
        of: Month,
        read: impl Future<Output = Result<Counted>>,
    ) -> Result<Counted> {
        let came = self.next();
        let waiting = Waiting::new(self, of);
        let mut last = waiting.turn.lock().await;
        let shared = last.as_ref().filter(|last| last.began > came);
        if let Some(reading) = shared {
            return Ok(reading.found);
        }
        let began = self.next();
        let found = read.await?;
        *last = Some(Reading { began, found });
        Ok(found)
    }

    fn turns(&self) -> MutexGuard<'_, HashMap<Month, Turn>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> u64 {
        self.order.fetch_add(1, Ordering::SeqCst)
    }
}

/// A caller that waits for its turn, or has it.
struct Waiting<'a> {
    readings: &'a Readings,
    of: Month,
    turn: Turn,
}

impl<'a> Waiting<'a> {
    fn new(readings: &'a Readings, of: Month) -> Self {
        let turn = Arc::clone(readings.turns().entry(of.clone()).or_default());
        Self { readings, of, turn }
    }
}

impl Drop for Waiting<'_> {
    /// The last caller to leave, even by going away, removes the reading.
    fn drop(&mut self) {
        let mut turns = self.readings.turns();
        // The table's and this one.
        if Arc::strong_count(&self.turn) == 2 {
            turns.remove(&self.of);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::future::join_all;
    use uuid::Uuid;

    use super::*;
    use crate::tests::runtime;

    #[test]
    fn who_comes_while_one_reads_shares_the_next_read() {
        runtime().block_on(async {
            let (readings, reads) = (Readings::default(), AtomicU64::new(0));
            let ask = |account: u128| {
                let account = AccountId(Uuid::from_u128(account));
                let of = Month { account, month: "2026-11".to_owned() };
                readings.answer(of, async {
                    let used = reads.fetch_add(1, Ordering::SeqCst);
                    // All others come meanwhile.
                    tokio::task::yield_now().await;
                    Ok(Counted { used, stamp: Stamp::GONE })
                })
            };
            // Each account has its own turn, in whatever order they come.
            let asked = [1, 2, 1, 2, 1, 2].map(ask);
            let found: Vec<u64> =
                join_all(asked).await.into_iter().map(|answer| answer.unwrap().used).collect();
            assert_eq!(found, [0, 1, 2, 3, 2, 3]);
            assert_eq!(ask(2).await.unwrap().used, 4, "who comes later reads anew");
            assert!(readings.turns().is_empty(), "nothing is kept of whom nobody asks about");
        });
    }
}
