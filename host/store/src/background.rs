//! The threads on which the embedded engine tidies up.
//!
//! It writes and merges its tables in tasks that do not yield: on the service's own threads each
//! would hold up everything else for as long as it takes. Reads and commits stay with their
//! callers.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// A separate runtime, for what is begun on it and what that begins.
pub(crate) struct Background {
    /// Present until this is dropped.
    runtime: Option<Runtime>,
}

impl Background {
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("vedette-store")
            .enable_all()
            .build()?;
        Ok(Self { runtime: Some(runtime) })
    }

    /// The output of a future that runs there; an error if it panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> io::Result<T> {
        let runtime = self.runtime.as_ref().expect("it is there until it is dropped");
        Ok(runtime.spawn(future).await?)
    }
}

impl Drop for Background {
    /// Does not wait: the thread that drops it may not be allowed to, and what was committed is on
    /// disk.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// One for what is written, one for what is merged.
const THREADS: usize = 2;
