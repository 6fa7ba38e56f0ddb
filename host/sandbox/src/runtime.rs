//! The runtime that guests and probes have to themselves, so that a spinning guest never delays
//! the API.

use std::{io, panic, thread};

use futures::future::BoxFuture;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio_util::task::AbortOnDropHandle;

/// A tokio runtime that may be dropped anywhere.
pub(crate) struct OwnRuntime(Option<Runtime>);

impl OwnRuntime {
    pub(crate) fn new() -> io::Result<Self> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let runtime = Builder::new_multi_thread()
            .worker_threads(cores.max(2))
            .thread_name("sandbox")
            .thread_stack_size(STACK)
            .enable_all()
            .build()?;
        Ok(Self(Some(runtime)))
    }

    pub(crate) fn handle(&self) -> Handle {
        self.runtime().handle().clone()
    }

    /// Has `work` done here; a caller that goes away takes it along. Boxed, so that the futures
    /// of callers do not carry the whole type of the work.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> BoxFuture<'static, T> {
        let task = self.start(work);
        Box::pin(async move {
            match task.await {
                Ok(done) => done,
                Err(error) => panic::resume_unwind(error.into_panic()),
            }
        })
    }

    /// Begins `work` here; dropping the handle ends it.
    pub(crate) fn start<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> AbortOnDropHandle<T> {
        AbortOnDropHandle::new(self.runtime().spawn(work))
    }

    /// Has `work` done here while the calling thread waits; from inside another runtime too.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let (answer, answered) = std::sync::mpsc::sync_channel(1);
        let task = self.runtime().spawn(async move {
            // The receiver waits below until it has its answer.
            let _ = answer.send(work.await);
        });
        answered.recv().unwrap_or_else(|_| {
            task.abort();
            panic!("the work panicked; its message is in the log")
        })
    }

    fn runtime(&self) -> &Runtime {
        self.0.as_ref().expect("a runtime is taken out only when it is dropped")
    }
}

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        // The last owner may be a task of this very runtime, which must not wait for itself.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Guests run on fibers of their own; this is for probes and for compiling.
const STACK: usize = 8 << 20;
