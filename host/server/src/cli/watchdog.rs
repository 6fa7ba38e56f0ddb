//! Starts the program again when its embedded database stands still.
//!
//! The engine is a part of this process, so whatever holds all of its readers (two locks taken in
//! two orders, as in surrealkv 0.21; a disk that no longer answers) holds the whole service, and
//! nobody outside gets an answer from then on. What was acknowledged is on disk, so the cure is
//! another process.
//!
//! *Invariant:* it depends on nothing that could stand still with the engine: a thread of its own
//! asks, and waits for so long. It asks to read; writes may have to wait while tables are merged.

use std::{
    convert::Infallible,
    env, io,
    os::unix::process::CommandExt,
    process::{self, Command},
    sync::mpsc,
    thread,
    time::Duration,
};

use tokio::runtime::Handle;
use vedette_store::Store;

/// Watches a store that is a file of this process, from within its runtime, for as long as the
/// process lives.
pub(super) fn start(store: Store) -> io::Result<()> {
    let runtime = Handle::current();
    let read = move || {
        let (answer, answered) = mpsc::sync_channel(1);
        let store = store.clone();
        runtime.spawn(async move {
            // An error is an answer, too. The caller may have gone.
            let _ = store.any_account().await;
            let _ = answer.send(());
        });
        answered
    };
    let watch = move || {
        // A process that was stopped for a while finds its patience over, and asks once more.
        while (0..TIMES).any(|_| answers(read(), PATIENCE)) {
            thread::sleep(PACE);
        }
        let seconds = (PATIENCE * TIMES).as_secs();
        tracing::error!(
            seconds,
            "the database has not answered for {seconds} s: the program starts again"
        );
        let Err(cause) = start_again();
        tracing::error!("the program cannot start itself again: {cause}");
        process::abort();
    };
    thread::Builder::new().name("watchdog".into()).spawn(watch).map(drop)
}

/// Whether an answer comes in time. One that never will, because the runtime is ending, is not
/// waited for.
fn answers(answered: mpsc::Receiver<()>, patience: Duration) -> bool {
    answered.recv_timeout(patience) != Err(mpsc::RecvTimeoutError::Timeout)
}

/// Becomes a new process of the same program, with the same arguments and the same process id.
/// Files, their locks and sockets are closed on the way.
fn start_again() -> io::Result<Infallible> {
    let program = env::current_exe()?;
    Err(Command::new(program).args(env::args_os().skip(1)).exec())
}

const PACE: Duration = Duration::from_secs(5);
/// With one question.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it asks before it gives up.
const TIMES: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_in_time_and_a_runtime_that_ends_are_no_reason_to_start_again() {
        let (answer, answered) = mpsc::sync_channel(1);
        answer.send(()).unwrap();
        assert!(answers(answered, Duration::ZERO));
        let (answer, answered) = mpsc::sync_channel::<()>(1);
        drop(answer);
        assert!(answers(answered, Duration::ZERO));
    }

    #[test]
    fn silence_is_one() {
        let (_answer, answered) = mpsc::sync_channel::<()>(1);
        assert!(!answers(answered, Duration::from_millis(1)));
    }
}
