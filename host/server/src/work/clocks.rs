//! Holds the clock of this machine against that of the database server, which all nodes ask. A lease
//! is a node's until a moment: another whose clock is ahead takes that for over, and does the same
//! work again.
//!
//! *Invariant:* it tells, and changes nothing.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;
use vedette_model::Timestamp;
use vedette_store::CLOCKS_DIFFER;

use crate::App;

/// Runs until `shutdown`.
pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let mut pace = tokio::time::interval(PACE);
    let mut differ = false;
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = pace.tick() => {}
        }
        let Some(ahead) = look(&app).await else { continue };
        metrics::gauge!("vedette_clock_ahead_seconds").set(seconds(ahead));
        let differed = std::mem::replace(&mut differ, seconds(ahead).abs() > MOST);
        if differ != differed {
            tell(ahead, differ);
        }
    }
}

/// Whether the clock of this machine is known to be right, as far as the server's is.
pub(super) async fn is_right(app: &App) -> bool {
    look(app).await.is_some_and(|ahead| seconds(ahead).abs() <= MOST)
}

/// By how much the clock is ahead of the server's; none where that cannot be said. A database that is
/// away is told of elsewhere.
async fn look(app: &App) -> Option<TimeDelta> {
    let (asked, since) = (app.clock.now(), Instant::now());
    let shown = app.store.server_time().await.ok().flatten()?;
    ahead(asked, shown, since.elapsed())
}

/// The server looked at its clock at some moment between the question and its answer.
fn ahead(asked: Timestamp, shown: Timestamp, took: Duration) -> Option<TimeDelta> {
    (took <= PATIENCE).then(|| asked + took / 2 - shown)
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

const PACE: Duration = Duration::from_secs(15);
/// An answer that takes longer says too little of the moment it was given at.
const PATIENCE: Duration = Duration::from_secs(2);
/// In seconds.
const MOST: f64 = CLOCKS_DIFFER.as_secs() as f64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::sample::at;

    #[test]
    fn clock_is_compared_with_the_middle_between_question_and_answer() {
        for (asked, shown, took, expected) in [
            (100, 100, 0, Some(0)),
            (100, 101, 2, Some(0)),
            (220, 100, 0, Some(120)),
            (97, 100, 0, Some(-3)),
            (97, 100, 3, None),
        ] {
            let ahead = ahead(at(asked), at(shown), Duration::from_secs(took));
            assert_eq!(ahead.map(|span| span.num_seconds()), expected, "{asked} {shown} {took}");
        }
    }
}
