//! Signals: SIGINT and SIGTERM, for commands that run until they are told to stop, and one that would
//! end a service without a word.

use anyhow::Context;
use rustix::process::Signal;
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

/// Has a write beyond the limit of a file's size (`ulimit -f`, `LimitFSIZE=`) fail like one on a full
/// disk: by itself SIGXFSZ ends the process.
///
/// # Errors
/// When the system refuses to tell of a signal.
pub(super) fn outlive_file_limit() -> anyhow::Result<()> {
    // Once taken, a signal stays taken.
    let taken = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()));
    taken.map(drop).context("cannot listen for SIGXFSZ")
}
