//! Looks at ourselves: do our resolvers answer, are our threads on time? And tells the operator
//! when what the checks find is not believed.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use vedette_model::guard::Verdict;

use crate::{
    App,
    config::span_text,
    service::{
        doubt::{CLOCK_DOUBTED, HELD_BACK, OFFLINE},
        unanswered::OVERLOADED,
    },
    shortage,
};

/// Runs until `shutdown`.
pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let mut last = Verdict::Fit;
    show(last);
    let mut looked = std::time::Instant::now();
    while shutdown.run_until_cancelled(sleep(EVERY)).await.is_some() {
        let lag = own_lag().await.max(app.sandbox.lag(SAMPLE).await);
        // The samples miss this: most of a second lies between them.
        let since = std::mem::replace(&mut looked, std::time::Instant::now());
        let lag = lag.max(app.sandbox.stood_still(since));
        metrics::gauge!("vedette_loop_lag_seconds").set(lag.as_secs_f64());
        let deadline = std::time::Instant::now() + PATIENCE;
        let answered = app.sandbox.egress().resolver().is_resolving(deadline).await;
        let now = app.clock.now();
        let (verdict, (failed, seen)) = {
            let mut guard = app.guard.lock();
            guard.resolved(answered);
            guard.lagged(lag, now);
            guard.shown(app.clock.up(), now);
            (guard.verdict(now), guard.counts())
        };
        if verdict != last {
            tell(&app, verdict, failed, seen);
            last = verdict;
        }
    }
}

/// The word for a doubt; none if there is no doubt.
pub(super) fn word(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Fit => None,
        Verdict::ClockDoubted => Some(CLOCK_DOUBTED),
        Verdict::Offline => Some(OFFLINE),
        Verdict::Overloaded => Some(OVERLOADED),
        Verdict::HeldBack => Some(HELD_BACK),
    }
}

fn show(verdict: Verdict) {
    for state in WORDS {
        let is_on = if word(verdict) == Some(state) { 1.0 } else { 0.0 };
        metrics::gauge!("vedette_guard", "state" => state).set(is_on);
    }
}

fn tell(app: &App, verdict: Verdict, failed: usize, seen: usize) {
    show(verdict);
    match verdict {
        Verdict::Fit => tracing::info!("what the checks find is believed again"),
        Verdict::ClockDoubted => tell_clock_doubted(app),
        Verdict::Offline => tell_offline(app),
        Verdict::Overloaded => tracing::error!(
            "this machine is late by {} or more: what fails now is stored as unknown; give it more \
             CPU or fewer sites",
            span_text(app.config.guard.late)
        ),
        Verdict::HeldBack => tracing::error!(
            failed,
            seen,
            "{failed} of the last {seen} sites that were looked at failed: they are held back and \
             looked at again before anybody is alerted; look at the network of this machine"
        ),
    }
}

fn tell_clock_doubted(app: &App) {
    if app.store.embedded() {
        tracing::error!(
            "the clock of this machine has leapt by more than an hour, or shows an earlier time than \
             before this service was started: what fails now, and what is well again, is stored as \
             unknown until it is put right, or for an hour; see that something keeps its time (NTP)"
        );
        return;
    }
    tracing::error!(
        "the clock of this machine has leapt, or is more than an hour from the database server's: \
         what fails now, and what is well again, is stored as unknown until they agree; see that \
         something keeps the time of both (NTP)"
    );
}

/// Without a file descriptor no question is sent at all.
fn tell_offline(app: &App) {
    if let Some(cause) = shortage::of_descriptors() {
        tracing::error!(
            "no DNS server can be asked: {cause}: what fails now is stored as unknown; {}",
            shortage::advice(&cause)
        );
        return;
    }
    let resolver = app.sandbox.egress().resolver();
    if resolver.is_cut_off() {
        let domains: Vec<_> = resolver.proven_domains().iter().map(ToString::to_string).collect();
        let domains = domains.join(" and ");
        tracing::error!(
            domains,
            "the DNS servers answer from their cache at most, and fail for names beneath \
             {domains} that they were never asked for: what fails now is stored as unknown; look at \
             the network of this machine, at dns_server and at the servers that those ask"
        );
        return;
    }
    tracing::error!(
        "the DNS servers do not answer: what fails now is stored as unknown; look at the network \
         of this machine and at dns_server"
    );
}

/// How late a task of this runtime wakes up.
async fn own_lag() -> Duration {
    let started = Instant::now();
    sleep(SAMPLE).await;
    started.elapsed().saturating_sub(SAMPLE)
}

/// All that [`word`] may say: each is a line of the metrics, which exists before there is a doubt.
pub(super) const WORDS: [&str; 4] = [CLOCK_DOUBTED, OFFLINE, OVERLOADED, HELD_BACK];
const EVERY: Duration = Duration::from_secs(1);
const SAMPLE: Duration = Duration::from_millis(50);
/// How long the resolvers may take before they count as silent.
const PATIENCE: Duration = Duration::from_secs(4);
