//! Removes what deleted sites left behind, and deliveries that are long finished, bit by bit.

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;

use crate::{App, Result};

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
    Ok(())
}

/// A transaction of this many rows takes some 20 ms.
const BATCH: usize = 500;
const POLL: Duration = Duration::from_secs(60);
/// Long enough to find out why somebody was not told.
const KEEP_DELIVERIES: TimeDelta = TimeDelta::days(30);
