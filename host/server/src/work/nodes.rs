//! Tells the nodes that share the database that this one is at work, and learns whether there are
//! others: then one of them confirms what this one found (`vedette_store::Store::lease_due`). Each
//! time it also reads the server's clock, for all that rely on it ([`crate::server_clock`]).
//!
//! *Invariant:* moments are those of the server's clock, whatever the nodes' own show.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;
use vedette_store::Result;

use crate::{App, service::doubt::is_clock_doubted};

/// Runs until `shutdown`.
pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let mut pace = tokio::time::interval(PACE);
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            _ = pace.tick() => {}
        }
        // A database that is away is reported elsewhere.
        if let Err(cause) = sign_on(&app).await {
            tracing::debug!("the other nodes are not known: {cause}");
        }
    }
    if let Err(cause) = app.store.sign_off(&app.node).await {
        tracing::debug!("the other nodes find out by themselves that this one has ended: {cause}");
    }
}

pub(super) async fn sign_on(app: &App) -> Result<()> {
    let read = app.server_clock.read(&app.store, &app.clock);
    let Some(now) = read.await? else { return Ok(()) };
    // Of nodes that all doubt their clocks none would be at work for another.
    if is_clock_doubted(app, app.clock.now()) {
        app.store.stand_by(&app.node, now, LASTS).await
    } else {
        app.store.sign_on(&app.node, now, LASTS).await
    }
}

const PACE: Duration = Duration::from_secs(5);
/// How long a node counts as being at work.
const LASTS: Duration = Duration::from_secs(20);
