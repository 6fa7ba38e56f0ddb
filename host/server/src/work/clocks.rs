//! Holds the clock of this machine against that of the database server, at each reading of that. A
//! lease is a node's until a moment: another whose clock is ahead takes that for over, and does the
//! same work again.
//!
//! *Invariant:* it tells, and changes nothing.

use std::sync::Arc;

use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;
use vedette_store::CLOCKS_DIFFER;

use crate::App;

/// Runs until `shutdown`.
pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let mut readings = app.server_clock.readings();
    let mut differ = false;
    while let Some(Ok(())) = shutdown.run_until_cancelled(readings.changed()).await {
        let Some(ahead) = *readings.borrow_and_update() else { continue };
        metrics::gauge!("vedette_clock_ahead_seconds").set(seconds(ahead));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_agree_within_five_seconds() {
        for (ahead, expected) in
            [(0, true), (5_000, true), (-5_000, true), (5_001, false), (-5_001, false)]
        {
            assert_eq!(agree(TimeDelta::milliseconds(ahead)), expected, "{ahead} ms");
        }
    }
}
