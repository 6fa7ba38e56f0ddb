//! A thread apart, for writes that many wait for: on the threads of those who wait each step of the
//! next write would stand behind all whom the last one let go on.

use std::future::Future;
use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

/// Started with its first work.
#[derive(Default)]
pub(crate) struct Writer(OnceLock<Runtime>);

impl Writer {
    /// Work that nobody takes back; it ends with the writer.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.get_or_init(start).spawn(work);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The last owner may be a task of this very runtime, which must not wait for itself.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

fn start() -> Runtime {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("writer")
        .thread_stack_size(STACK)
        .enable_all()
        .build();
    runtime.expect("a process that serves can start a thread")
}

/// As the engine wants it (see [`Store::open`](crate::Store::open)).
const STACK: usize = 10 << 20;
