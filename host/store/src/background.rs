//! The threads on which the embedded engine tidies up.
//!
//! It writes its tables and merges them in tasks that do not give way: on the service's own threads
//! each would hold up, for as long as it takes, whoever's turn is there. Reads and commits stay
//! with their callers.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// A runtime of its own, for what is begun on it and what that begins.
pub(crate) struct Background {
    /// Some until it is dropped.
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

    /// What a future comes to that runs there; an error when it panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> io::Result<T> {
        let runtime = self.runtime.as_ref().expect("it is there until it is dropped");
        Ok(runtime.spawn(future).await?)
    }
}

impl Drop for Background {
    /// Waits for nobody: whoever drops it may not be allowed to, and what was committed is on disk.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// One for what is written, one for what is merged.
const THREADS: usize = 2;
