//! The calls of a month, counted before they are answered.
//!
//! *Invariant:* with N calls left exactly N are admitted, over all tasks, nodes and crashes. A call
//! is admitted only once the write that counts it is durable, and only if the count it was given is
//! within the plan. A call counted beyond the plan is taken back before it is refused, by the task
//! that counted it, so the count never falls below the calls admitted.

mod so_far;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard};

use surrealdb::types::{Array, Object, RecordId, SurrealValue, Value};
use tokio::sync::oneshot;
use vedette_model::AccountId;

use crate::error::{Error, Result};
use crate::tx::Binds;
use crate::{Stamp, Store, key};

pub(crate) use self::so_far::Readings;

/// A call that was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The calls of the month, this one among them.
    pub used: u64,
    /// Where the account stood when it was counted; of one that is gone, where none ever stood.
    pub stamp: Stamp,
}

/// The calls that wait to be counted. One durable write counts all of them, whatever their account,
/// so calls are not limited by the rate of writes.
#[derive(Default)]
pub(crate) struct Turnstile {
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    calls: Vec<Call>,
    /// Whether somebody counts them already.
    in_charge: bool,
}

struct Call {
    of: Month,
    limit: u64,
    waiter: oneshot::Sender<Result<Counted>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Month {
    account: AccountId,
    /// `2026-11`
    month: String,
}

/// The calls that one write counts.
type Batch = HashMap<Month, Group>;

/// Calls of one account under one limit: a plan may change between two calls.
struct Group {
    limit: u64,
    waiters: Vec<oneshot::Sender<Result<Counted>>>,
}

#[derive(SurrealValue)]
struct AddedRow {
    counted: Vec<UsageRow>,
    /// None where the account is gone.
    stamps: Vec<Option<StampRow>>,
}

#[derive(SurrealValue)]
struct UsageRow {
    id: RecordId,
    used: u64,
}

#[derive(SurrealValue)]
struct StampRow {
    id: RecordId,
    stamp: Stamp,
}

impl Store {
    /// Counts one call of the month (`2026-11`), or answers `Exhausted`. A call whose future is
    /// dropped while it waits may be counted all the same.
    pub async fn count_call(&self, account: AccountId, month: &str, limit: u64) -> Result<Counted> {
        let (waiter, answer) = oneshot::channel();
        let of = Month { account, month: month.to_owned() };
        if self.inner.calls.join(Call { of, limit, waiter }) {
            // Apart from this future: if the caller goes away, the others still wait.
            let store = self.clone();
            tokio::spawn(async move { store.count_waiting().await });
        }
        answer.await.unwrap_or_else(|_| Err(Error::Unavailable("the store is closing".to_owned())))
    }

    /// Takes back a call that was counted and then refused.
    pub async fn take_back_call(&self, account: AccountId, month: &str) -> Result<()> {
        let binds = Binds::new().with("usage", key::usage(account, month));
        let _turn = self.turn(account.0).await;
        self.write("UPDATE $usage SET used -= 1 WHERE used > 0 RETURN NONE", binds).await
    }

    async fn count_waiting(&self) {
        let in_charge = InCharge(&self.inner.calls);
        while let Some(batch) = self.inner.calls.next() {
            match self.add(&batch).await {
                Ok(added) => admit(batch, &added),
                Err(error) => refuse(batch, &error),
            }
            // Every task that can run does so first: so more of many callers come along with the
            // next write.
            tokio::task::yield_now().await;
        }
        // `next` has given up the charge already, and somebody else may have it by now.
        std::mem::forget(in_charge);
    }

    /// Counts the calls of each account, and takes back those that go beyond its limit. The limit
    /// is checked here, not by the database: a sum alone is a third of the work there, and all
    /// callers have to wait for it.
    async fn add(&self, batch: &Batch) -> Result<HashMap<Month, Added>> {
        let unit = "LET $counted =
                (INSERT INTO usage $rows ON DUPLICATE KEY UPDATE used += $input.used RETURN AFTER);
            RETURN { counted: $counted, stamps: $accounts.{ id, stamp } }";
        let accounts: Array =
            batch.keys().map(|of| key::account(of.account).into_value()).collect();
        let rows: Array = batch.iter().map(|(of, group)| row(of, group.calls())).collect();
        let binds = Binds::new().with("rows", rows).with("accounts", accounts);
        let row: AddedRow = self.tx(unit, binds).await?;
        let stamps: HashMap<AccountId, Stamp> = row
            .stamps
            .into_iter()
            .flatten()
            .map(|row| Ok((key::uuid_at(&row.id, 0)?.into(), row.stamp)))
            .collect::<Result<_>>()?;
        self.forget_uncounted(batch, &stamps).await;
        let counted = row.counted.into_iter().map(|row| {
            let account: AccountId = key::uuid_at(&row.id, 0)?.into();
            let of = Month { account, month: key::text_at(&row.id, 1)? };
            let stamp = stamps.get(&account).copied().unwrap_or(Stamp::GONE);
            let calls = batch.get(&of).map_or(0, Group::calls);
            Ok((of, Added { before: row.used.saturating_sub(calls), stamp }))
        });
        let added = counted.collect::<Result<_>>()?;
        self.take_back_excess(batch, &added).await;
        Ok(added)
    }

    /// Takes back the calls that are refused. Those of a moment before a crash stay counted, in a
    /// month that is used up.
    async fn take_back_excess(&self, batch: &Batch, added: &HashMap<Month, Added>) {
        let beyond = batch.iter().filter_map(|(of, group)| {
            let before = added.get(of)?.before;
            let beyond = (before + group.calls()).saturating_sub(group.limit.max(before));
            (beyond > 0).then(|| row(of, beyond))
        });
        let beyond: Array = beyond.collect();
        if beyond.is_empty() {
            return;
        }
        // Not of a row that is gone: a sum would make it anew.
        let unit = "FOR $row IN $beyond { UPDATE $row.id SET used -= $row.used RETURN NONE }";
        if let Err(cause) = self.write(unit, Binds::new().with("beyond", beyond)).await {
            tracing::warn!(%cause, "calls that were refused stay counted: {cause}");
        }
    }

    /// Takes back what was counted for accounts that are gone, which leave nothing behind. Looking
    /// for them first would cost every other call.
    async fn forget_uncounted(&self, batch: &Batch, stamps: &HashMap<AccountId, Stamp>) {
        let gone = batch.keys().filter(|of| !stamps.contains_key(&of.account));
        let gone: Vec<RecordId> = gone.map(|of| key::usage(of.account, &of.month)).collect();
        if gone.is_empty() {
            return;
        }
        let binds = Binds::new().with("gone", gone);
        if let Err(cause) = self.write("DELETE $gone RETURN NONE", binds).await {
            tracing::warn!(%cause, "calls of a deleted account were counted: {cause}");
        }
    }
}

/// What a write found of the calls of one account.
struct Added {
    before: u64,
    stamp: Stamp,
}

impl Group {
    fn calls(&self) -> u64 {
        self.waiters.len() as u64
    }
}

/// So many calls as a row of their month.
fn row(of: &Month, calls: u64) -> Value {
    let mut row = Object::new();
    row.insert("id", key::usage(of.account, &of.month));
    row.insert("used", calls);
    Value::Object(row)
}

/// A caller that no longer waits was counted like the others.
fn admit(batch: Batch, added: &HashMap<Month, Added>) {
    for (of, group) in batch {
        for (nth, waiter) in (1_u64..).zip(group.waiters) {
            let _ = waiter.send(match added.get(&of) {
                Some(&Added { before, stamp }) if before + nth <= group.limit => {
                    Ok(Counted { used: before + nth, stamp })
                }
                Some(&Added { before, stamp }) => {
                    Err(Error::Exhausted { used: group.limit.max(before), stamp })
                }
                None => Err(Error::Engine("a call was not counted".to_owned())),
            });
        }
    }
}

/// Each hears what the one write of them all ended with.
fn refuse(batch: Batch, error: &Error) {
    for waiter in batch.into_values().flat_map(|group| group.waiters) {
        let _ = waiter.send(Err(error.clone()));
    }
}

/// Lets nobody wait for ever for a task that panicked or was dropped with its runtime.
struct InCharge<'a>(&'a Turnstile);

impl Drop for InCharge<'_> {
    fn drop(&mut self) {
        *self.0.lock() = Queue::default();
    }
}

impl Turnstile {
    /// Joins the calls that wait; true for the first, whose caller has to see that they are
    /// counted.
    fn join(&self, call: Call) -> bool {
        let mut queue = self.lock();
        queue.calls.push(call);
        !std::mem::replace(&mut queue.in_charge, true)
    }

    /// All calls that wait now, except those of an account with a second limit: they wait for the
    /// next write. None if no call waits; then nobody is in charge any more.
    fn next(&self) -> Option<Batch> {
        let mut queue = self.lock();
        if queue.calls.is_empty() {
            queue.in_charge = false;
            return None;
        }
        let mut batch = Batch::new();
        for call in std::mem::take(&mut queue.calls) {
            match batch.entry(call.of.clone()) {
                Entry::Vacant(entry) => {
                    entry.insert(Group { limit: call.limit, waiters: vec![call.waiter] });
                }
                Entry::Occupied(mut entry) if entry.get().limit == call.limit => {
                    entry.get_mut().waiters.push(call.waiter);
                }
                Entry::Occupied(_) => queue.calls.push(call),
            }
        }
        Some(batch)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().expect("nothing panics while it holds this lock")
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn who_was_not_counted_hears_why() {
        for error in [
            Error::Conflict,
            Error::Engine("no such field".to_owned()),
            Error::corrupt("usage", "it is no number"),
            Error::Unavailable("closed".to_owned()),
        ] {
            let (waiters, mut answers): (Vec<_>, Vec<_>) =
                (0..2).map(|_| oneshot::channel()).unzip();
            let of = Month { account: AccountId(Uuid::nil()), month: "2026-11".to_owned() };
            refuse(Batch::from([(of, Group { limit: 1, waiters })]), &error);
            for answer in &mut answers {
                let told = answer.try_recv().expect("answered").expect_err("not counted");
                assert_eq!(format!("{told:?}"), format!("{error:?}"));
            }
        }
    }
}
