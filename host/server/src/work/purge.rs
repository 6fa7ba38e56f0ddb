//! Removes what deleted sites and accounts left behind, deliveries that are long finished, addresses
//! that count no longer against new accounts, events that are no longer kept, and old history, bit by
//! bit.
//!
//! *Invariant:* what cannot be removed does not keep anything else from being removed.
//! *Invariant:* nothing is removed because of its age by a clock that is doubted, or was at the
//! start: that could not be undone.

mod doubt;
mod history;

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;
use vedette_model::{AccountId, Timestamp, account::counted_since};
use vedette_store::{Error, Result};

use self::{doubt::Doubt, history::History};
use crate::{App, service::event::KEEP as KEEP_EVENTS};

pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let doubt = Doubt::from_start();
    let mut history = History::new();
    loop {
        note(bit_by_bit(&shutdown, || app.store.purge_next(BATCH)).await);
        let now = app.clock.now();
        if doubt.lasts(&app, now) {
            // They are numbered all the same, and surplus ones are removed.
            let none_is_old = Timestamp::UNIX_EPOCH;
            clear_feeds(&app, none_is_old, &shutdown).await;
        } else {
            clear(&app, now, &shutdown).await;
            clear_feeds(&app, now - KEEP_EVENTS, &shutdown).await;
            history.clear(&app, now, &shutdown).await;
        }
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = app.wake.purge.notified() => {}
            () = tokio::time::sleep(POLL) => {}
        }
    }
}

async fn clear(app: &App, now: Timestamp, shutdown: &CancellationToken) {
    let old = now - KEEP_DELIVERIES;
    note(bit_by_bit(shutdown, || app.store.forget_deliveries(old, BATCH)).await);
    let old = counted_since(now);
    note(bit_by_bit(shutdown, || app.store.forget_signups(old, BATCH)).await);
}

async fn clear_feeds(app: &App, old: Timestamp, shutdown: &CancellationToken) {
    let clear = |account| clear_events(app, account, old, shutdown);
    match app.store.event_feeds().await {
        Ok(accounts) => one_by_one(shutdown, accounts, clear).await,
        Err(cause) => note(Err(cause)),
    }
}

/// Clears one account's feed after the other, until the service stops or the database is away.
async fn one_by_one<F>(
    shutdown: &CancellationToken,
    accounts: Vec<AccountId>,
    clear: impl Fn(AccountId) -> F,
) where
    F: Future<Output = Result<()>>,
{
    for account in accounts {
        if shutdown.is_cancelled() {
            return;
        }
        let cleared = clear(account).await;
        let is_away = matches!(cleared, Err(Error::Unavailable(_)));
        note(cleared);
        if is_away {
            // The same would be logged for every other account.
            return;
        }
    }
}

/// First numbers events that nobody was there to number: so a feed stays short to read, and the
/// time that events are kept counts from then on.
async fn clear_events(
    app: &App,
    account: AccountId,
    old: Timestamp,
    shutdown: &CancellationToken,
) -> Result<()> {
    let now = app.clock.now();
    app.store.number_events(account, now).await?;
    let forget = || app.store.forget_events(account, old, MOST_EVENTS, BATCH as u64, now);
    bit_by_bit(shutdown, forget).await
}

/// Removes one batch after the other, until nothing is left or the service stops; between two of
/// them others have their turn.
async fn bit_by_bit<F>(shutdown: &CancellationToken, batch: impl Fn() -> F) -> Result<()>
where
    F: Future<Output = Result<bool>>,
{
    while !shutdown.is_cancelled() && batch().await? {
        tokio::task::yield_now().await;
    }
    Ok(())
}

fn note(cleared: Result<()>) {
    if let Err(cause) = cleared {
        tracing::error!(error = format!("{cause:#?}"), "leftovers were not removed: {cause}");
    }
}

/// A transaction of this many rows takes some 20 ms.
const BATCH: usize = 500;
const POLL: Duration = Duration::from_secs(60);
/// Of an account.
const MOST_EVENTS: u64 = 10_000;
/// Long enough to find out why somebody was not told.
const KEEP_DELIVERIES: TimeDelta = TimeDelta::days(30);

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn batches_follow_one_another_until_nothing_is_left_or_one_fails() {
        let on = CancellationToken::new();
        for (left, fails_at, made, ends_well) in
            [(0, None, 1, true), (3, None, 4, true), (3, Some(2), 2, false)]
        {
            let batches = Cell::new(0);
            let batch = || async {
                batches.set(batches.get() + 1);
                if fails_at == Some(batches.get()) {
                    Err(Error::Conflict)
                } else {
                    Ok(batches.get() <= left)
                }
            };
            let ended = bit_by_bit(&on, batch).await;
            assert_eq!((batches.get(), ended.is_ok()), (made, ends_well), "{left} {fails_at:?}");
        }
    }

    #[tokio::test]
    async fn a_stop_begins_no_batch() {
        let off = CancellationToken::new();
        off.cancel();
        let ended = bit_by_bit(&off, || async { Err(Error::Conflict) }).await;
        assert!(ended.is_ok());
    }

    #[tokio::test]
    async fn feeds_are_cleared_until_the_service_stops_or_the_database_is_away() {
        let away = Err(Error::Unavailable("lost".to_owned()));
        for (stops_at, fails_at, answer, cleared) in [
            (None, None, Ok(()), 3),
            (Some(1), None, Ok(()), 1),
            (None, Some(2), away, 2),
            (None, Some(2), Err(Error::Conflict), 3),
        ] {
            let (shutdown, count) = (CancellationToken::new(), Cell::new(0));
            let clear = |_: AccountId| {
                let nth = count.get() + 1;
                count.set(nth);
                if stops_at == Some(nth) {
                    shutdown.cancel();
                }
                std::future::ready(if fails_at == Some(nth) { answer.clone() } else { Ok(()) })
            };
            let accounts = vec![AccountId(uuid::Uuid::nil()); 3];
            one_by_one(&shutdown, accounts, clear).await;
            assert_eq!(count.get(), cleared, "{stops_at:?} {fails_at:?}");
        }
    }
}
