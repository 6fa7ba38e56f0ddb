//! Removes what deleted sites and accounts left behind, deliveries that are long finished, addresses
//! that count no longer against new accounts, and events that are no longer kept, bit by bit.

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;
use vedette_model::account::counted_since;

use crate::{App, Result, service::event::KEEP as KEEP_EVENTS};

pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    loop {
        if let Err(cause) = clear(&app, &shutdown).await {
            tracing::error!(error = format!("{cause:#?}"), "leftovers were not removed: {cause}");
        }
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = app.wake.purge.notified() => {}
            () = tokio::time::sleep(POLL) => {}
        }
    }
}

async fn clear(app: &App, shutdown: &CancellationToken) -> Result<()> {
    while !shutdown.is_cancelled() && app.store.purge_next(BATCH).await? {
        // Between two batches others have their turn.
        tokio::task::yield_now().await;
    }
    let old = app.clock.now() - KEEP_DELIVERIES;
    while !shutdown.is_cancelled() && app.store.forget_deliveries(old, BATCH).await? {
        tokio::task::yield_now().await;
    }
    let old = counted_since(app.clock.now());
    while !shutdown.is_cancelled() && app.store.forget_signups(old, BATCH).await? {
        tokio::task::yield_now().await;
    }
    clear_events(app, shutdown).await
}

/// Numbers first what nobody was there to number: a feed stays short to read, and what is kept
/// for a time is counted from then on.
async fn clear_events(app: &App, shutdown: &CancellationToken) -> Result<()> {
    for account in app.store.event_feeds().await? {
        let now = app.clock.now();
        app.store.number_events(account, now).await?;
        let forget =
            || app.store.forget_events(account, now - KEEP_EVENTS, MOST_EVENTS, BATCH as u64, now);
        while !shutdown.is_cancelled() && forget().await? {
            tokio::task::yield_now().await;
        }
    }
    Ok(())
}

/// A transaction of this many rows takes some 20 ms.
const BATCH: usize = 500;
const POLL: Duration = Duration::from_secs(60);
/// Of an account.
const MOST_EVENTS: u64 = 10_000;
/// Long enough to find out why somebody was not told.
const KEEP_DELIVERIES: TimeDelta = TimeDelta::days(30);
