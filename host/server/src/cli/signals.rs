//! SIGINT and SIGTERM, for commands that run until they are told to stop.

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancelled by the first of the two signals, which logs `meaning`; a second one ends the process
/// at once. Both are listened for when this comes back, so that none is missed.
///
/// # Errors
/// When the system refuses to tell of a signal.
pub(super) fn stop(meaning: &'static str) -> anyhow::Result<CancellationToken> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let shutdown = CancellationToken::new();
    let told = shutdown.clone();
    tokio::spawn(async move {
        for first in [true, false] {
            let code = tokio::select! {
                _ = interrupt.recv() => 130,
                _ = terminate.recv() => 143,
            };
            if first {
                tracing::info!("{meaning}");
                told.cancel();
            } else {
                std::process::exit(code);
            }
        }
    });
    Ok(shutdown)
}
