//! Carries out the renewals that were asked for, two at a time.
//!
//! *Invariant:* a renewal is a row until it has ended: what a crash or a stop interrupts is leased
//! again.

use std::{sync::Arc, time::Duration};

use tokio::{
    task::{JoinError, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use vedette_store::RenewalLease;

use crate::{App, Result, service::renewal::carry_out, trouble::Trouble};

/// The loop. After `shutdown` it waits for what is under way, which ends early and is given back.
pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let mut tasks = JoinSet::new();
    let mut unread = Trouble::default();
    while !shutdown.is_cancelled() {
        if let Err(cause) = take_up(&app, &mut tasks, &shutdown).await {
            let error = format!("{cause:#?}");
            if unread.is_news(&error, Instant::now()) {
                tracing::error!(error, "renewals cannot be started: {cause}");
            }
        }
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = app.wake.renewal.notified() => {}
            () = tokio::time::sleep(POLL) => {}
            Some(ended) = tasks.join_next() => note(ended),
        }
    }
    while let Some(ended) = tasks.join_next().await {
        note(ended);
    }
}

async fn take_up(
    app: &Arc<App>,
    tasks: &mut JoinSet<()>,
    shutdown: &CancellationToken,
) -> Result<()> {
    while let Some(ended) = tasks.try_join_next() {
        note(ended);
    }
    let room = AT_ONCE.saturating_sub(tasks.len());
    if room == 0 {
        return Ok(());
    }
    for lease in app.store.lease_renewals(&app.node, app.clock.now(), LEASE, room).await? {
        tasks.spawn(one(Arc::clone(app), lease, shutdown.clone()));
    }
    Ok(())
}

async fn one(app: Arc<App>, lease: RenewalLease, shutdown: CancellationToken) {
    if let Err(cause) = carry_out(&app, &lease, &shutdown).await {
        // The lease runs out, and somebody begins it again.
        let error = format!("{cause:#?}");
        tracing::error!(error, site_id = %lease.site_id, "a renewal did not end: {cause}");
    }
}

fn note(ended: Result<(), JoinError>) {
    if let Err(cause) = ended {
        tracing::error!("a renewal panicked; it is begun anew when its lease ends: {cause}");
    }
}

/// Authorities limit how fast they are asked, and nobody waits in front of a screen.
const AT_ONCE: usize = 2;
/// Longer than a renewal may take.
const LEASE: Duration = Duration::from_secs(6 * 60);
const POLL: Duration = Duration::from_secs(5);
