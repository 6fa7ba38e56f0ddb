//! Compares the clock of this machine with another: with the database server's at each reading, if
//! nodes share a database; else with what it showed in the process before this one.
//!
//! A node has a lease until a certain moment: another node whose clock is ahead takes it for over
//! and does the same work again, which the operator is told. And by a clock that is far off every
//! certificate has expired: the guard hears of each reading, and judges ([`vedette_model::guard`]).
//!
//! *Invariant:* nothing is judged before the clock was looked at.
//! *Invariant:* a clock that is doubted is not what the next process goes by.

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;
use vedette_store::CLOCKS_DIFFER;

use crate::{App, service::doubt::is_clock_doubted, trouble::Trouble};

/// The first look, before anything else begins.
pub(super) async fn look(app: &App) -> vedette_store::Result<()> {
    if !app.store.embedded() {
        app.server_clock.read(&app.store, &app.clock).await?;
        if let Some(ahead) = app.server_clock.ahead() {
            compare(app, ahead);
        }
        return Ok(());
    }
    let last = app.store.signed_on_alone_at().await?;
    let (up, now) = (app.clock.up(), app.clock.now());
    let mut guard = app.guard.lock();
    if let Some(last) = last {
        guard.resumed(last, up, now);
    }
    // What it is compared with from here on.
    guard.shown(up, now);
    Ok(())
}

/// If no other node shares the database: writes down what the clock shows, until `shutdown`.
pub(super) async fn keep(app: Arc<App>, shutdown: CancellationToken) {
    let mut pace = tokio::time::interval(PACE);
    let mut untold = Trouble::default();
    while shutdown.run_until_cancelled(pace.tick()).await.is_some() {
        let Err(cause) = note(&app).await else { continue };
        let text = cause.to_string();
        if untold.is_news(&text, tokio::time::Instant::now()) {
            tracing::warn!("what the clock shows is not written down: {text}");
        }
    }
}

async fn note(app: &App) -> vedette_store::Result<()> {
    let now = app.clock.now();
    if is_clock_doubted(app, now) { Ok(()) } else { app.store.sign_on_alone(now).await }
}

/// If nodes share the database. Runs until `shutdown`.
pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let mut readings = app.server_clock.readings();
    let mut differ = false;
    while let Some(Ok(())) = shutdown.run_until_cancelled(readings.changed()).await {
        let Some(ahead) = *readings.borrow_and_update() else { continue };
        metrics::gauge!("vedette_clock_ahead_seconds").set(seconds(ahead));
        compare(&app, ahead);
        let differed = std::mem::replace(&mut differ, !agree(ahead));
        if differ != differed {
            tell(ahead, differ);
        }
    }
}

/// Whether the clock of this machine is known to be right, as far as the server's is.
pub(super) fn is_right(app: &App) -> bool {
    app.server_clock.ahead().is_some_and(agree)
}

/// Tells the guard what a reading found.
fn compare(app: &App, ahead: TimeDelta) {
    app.guard.lock().compared(ahead, app.clock.up(), app.clock.now());
}

fn agree(ahead: TimeDelta) -> bool {
    seconds(ahead).abs() <= MOST
}

fn seconds(span: TimeDelta) -> f64 {
    span.num_milliseconds() as f64 / 1000.0
}

fn tell(ahead: TimeDelta, differ: bool) {
    if !differ {
        tracing::info!("the clocks of this machine and of the database server agree again");
        return;
    }
    let seconds = ahead.num_seconds();
    let (by, side) = (seconds.abs(), if seconds < 0 { "behind" } else { "ahead of" });
    tracing::warn!(
        seconds,
        "the clock of this machine is {by} s {side} the database server's: nodes whose clocks \
         differ run checks and send notifications twice; see that something keeps the time of \
         both (NTP)"
    );
}

/// In seconds.
const MOST: f64 = CLOCKS_DIFFER.as_secs() as f64;
/// How much of the time that a process ran may be unknown to the next one.
const PACE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use vedette_model::{Timestamp, guard::Verdict};

    use super::*;
    use crate::{Clock, instance, work::sample::at};

    const MONTH: i64 = 30 * 24 * 3_600;

    #[test]
    fn clock_that_begins_behind_what_the_process_before_saw_is_doubted_until_it_is_put_right() {
        let (clock, hand) = Clock::manual(at(0));
        instance::with_idle_app(instance::config(), clock, |app| async move {
            look(&app).await.expect("nobody has looked before");
            note(&app).await.expect("it is written down");
            hand.set(at(-MONTH));
            look(&app).await.expect("the store answers");
            assert_eq!(verdict(&app), Verdict::ClockDoubted);
            note(&app).await.expect("nothing is written down");
            assert_eq!(written(&app).await, Some(at(0)));

            hand.set(at(MONTH));
            assert_eq!(verdict(&app), Verdict::Fit);
            note(&app).await.expect("it is written down");
            assert_eq!(written(&app).await, Some(at(MONTH)));
        });
    }

    #[test]
    fn clock_is_doubted_while_it_is_more_than_an_hour_from_the_servers() {
        let (clock, _) = Clock::manual(at(0));
        instance::with_idle_app(instance::config(), clock, |app| async move {
            for (ahead, expected) in [
                (61, Verdict::Fit),
                (3_600, Verdict::Fit),
                (3_601, Verdict::ClockDoubted),
                (-3_601, Verdict::ClockDoubted),
                (-3_600, Verdict::Fit),
            ] {
                compare(&app, TimeDelta::seconds(ahead));
                assert_eq!(verdict(&app), expected, "{ahead} s");
            }
        });
    }

    async fn written(app: &App) -> Option<Timestamp> {
        app.store.signed_on_alone_at().await.expect("the store answers")
    }

    fn verdict(app: &App) -> Verdict {
        let now = app.clock.now();
        let mut guard = app.guard.lock();
        guard.shown(app.clock.up(), now);
        guard.verdict(now)
    }

    #[test]
    fn clocks_agree_within_five_seconds() {
        for (ahead, expected) in
            [(0, true), (5_000, true), (-5_000, true), (5_001, false), (-5_001, false)]
        {
            assert_eq!(agree(TimeDelta::milliseconds(ahead)), expected, "{ahead} ms");
        }
    }
}
