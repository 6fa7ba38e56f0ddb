//! What goes on without being asked: one file per loop.
//!
//! due check → [`scheduler`] → `service::planned`; queued delivery → [`outbox`] → receiver; deleted
//! site or account, and old history → [`purge`]; renewal that was asked for → [`renewal`]; our own
//! network and threads → [`guard`], and our clock → [`clocks`]; of nodes that share a database who is at
//! work → [`nodes`]; of what is due what nobody runs → [`without_plugin`]; what silent agents saw →
//! [`silence`]; and, where configured, the keys of session tokens → [`session_keys`] and a sign of
//! life → [`heartbeat`].
//!
//! *Invariant:* work is taken by a lease in the store, and its result counts only under that
//! lease's epoch: nothing here is remembered that a crash could lose.
//! *Invariant:* every loop looks at the store by itself; the hints of [`crate::wake::Wake`] only make
//! it look sooner.

mod clocks;
mod guard;
mod heartbeat;
mod lanes;
mod nodes;
mod outbox;
mod purge;
mod renewal;
#[cfg(test)]
mod sample;
mod scheduler;
mod session_keys;
mod set_back;
mod shown;
mod silence;
mod without_plugin;

use std::{sync::Arc, time::Duration};

use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    App, Result,
    service::{pipeline, unanswered},
};

/// Before [`start`]: on an embedded store the leases of the previous process, which is dead, end at
/// once. And the clock, which everything else relies on, is checked, and whether other nodes
/// are at work.
pub(crate) async fn take_over(app: &App) -> Result<()> {
    clocks::look(app).await?;
    if !app.store.embedded() {
        nodes::sign_on(app).await?;
    }
    let recovered = app.store.recover_leases(app.clock.now()).await?;
    if recovered > 0 {
        tracing::info!(recovered, "{recovered} leases of a process that ended were taken over");
    }
    Ok(())
}

/// Starts the loops as tasks of `tasks`; they end within some ten seconds once `shutdown` is
/// cancelled.
pub(crate) fn start(app: &Arc<App>, tasks: &TaskTracker, shutdown: &CancellationToken) {
    metrics::gauge!("vedette_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    pipeline::begin_counting(app);
    unanswered::begin_counting(app);
    outbox::begin_counting(app);
    keep(tasks, "scheduler", app, shutdown, scheduler::run);
    keep(tasks, "outbox", app, shutdown, outbox::run);
    keep(tasks, "guard", app, shutdown, guard::run);
    keep(tasks, "purge", app, shutdown, purge::run);
    keep(tasks, "renewal", app, shutdown, renewal::run);
    keep(tasks, "without plugin", app, shutdown, without_plugin::run);
    keep(tasks, "silent agents", app, shutdown, silence::run);
    if app.store.embedded() {
        keep(tasks, "clocks", app, shutdown, clocks::keep);
    } else {
        keep(tasks, "nodes", app, shutdown, nodes::run);
        keep(tasks, "clocks", app, shutdown, clocks::run);
    }
    if app.oidc.is_some() {
        keep(tasks, "session keys", app, shutdown, session_keys::run);
    }
    if app.config.heartbeat.url.is_some() {
        keep(tasks, "heartbeat", app, shutdown, heartbeat::run);
    }
}

/// Why this node does not do its work, in a word, and since how long; none while it is well.
pub(crate) struct Unwell {
    pub(crate) what: &'static str,
    pub(crate) span: Duration,
}

/// The scheduler is behind, or trouble that checks find has not been believed for minutes: then no
/// outage is reported, whatever the cause.
pub(crate) fn unwell(app: &App) -> Option<Unwell> {
    let now = app.clock.now();
    if let Some(span) = app.pulse.behind(now) {
        return Some(Unwell { what: BEHIND, span });
    }
    let (why, span) = app.guard.lock().doubted_for_long(now)?;
    guard::word(why).map(|what| Unwell { what, span })
}

/// Makes `/metrics` show what `/healthz` would say at this moment.
pub(crate) fn show_unwell(app: &App) {
    let unwell = unwell(app);
    for what in std::iter::once(BEHIND).chain(guard::WORDS) {
        let this = unwell.as_ref().filter(|unwell| unwell.what == what);
        let seconds = this.map_or(0.0, |unwell| unwell.span.as_secs_f64());
        metrics::gauge!("vedette_unwell_seconds", "what" => what).set(seconds);
    }
}

/// Runs a loop, and again should it ever panic: what it held comes back when its leases end.
fn keep<F, R>(
    tasks: &TaskTracker,
    name: &'static str,
    app: &Arc<App>,
    shutdown: &CancellationToken,
    run: F,
) where
    F: Fn(Arc<App>, CancellationToken) -> R + Send + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let (app, shutdown) = (Arc::clone(app), shutdown.clone());
    tasks.spawn(async move {
        while let Err(cause) = tokio::spawn(run(Arc::clone(&app), shutdown.clone())).await {
            if shutdown.is_cancelled() || cause.is_cancelled() {
                return;
            }
            tracing::error!(name, "the {name} loop panicked and is started again");
            tokio::time::sleep(AFTER_PANIC).await;
        }
    });
}

/// The scheduler has stalled, or checks begin too late.
const BEHIND: &str = "behind";
const AFTER_PANIC: Duration = Duration::from_secs(1);
