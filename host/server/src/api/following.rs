//! What is made from the installed checks, and made again when they change: the description and
//! what assistants are offered.

use std::sync::Arc;

use arc_swap::ArcSwap;
use vedette_sandbox::{CheckDescriptor, Sandbox};

/// A value that follows the installed checks. The first request after plugins were installed or
/// taken out makes it, which takes milliseconds; all others find it made.
pub(super) struct Following<T> {
    make: Box<Make<T>>,
    made: ArcSwap<Made<T>>,
}

type Make<T> = dyn Fn(&[Arc<CheckDescriptor>]) -> T + Send + Sync;

struct Made<T> {
    /// Of the sandbox.
    generation: u64,
    value: Arc<T>,
}

impl<T> Following<T> {
    /// Makes the first value at once.
    pub(super) fn new(
        sandbox: &Sandbox,
        make: impl Fn(&[Arc<CheckDescriptor>]) -> T + Send + Sync + 'static,
    ) -> Arc<Self> {
        let make: Box<Make<T>> = Box::new(make);
        let made = ArcSwap::from_pointee(made(sandbox, &*make));
        Arc::new(Self { make, made })
    }

    pub(super) fn current(&self, sandbox: &Sandbox) -> Arc<T> {
        let made = self.made.load();
        if made.generation == sandbox.generation() {
            return Arc::clone(&made.value);
        }
        // Two that come at once make it twice.
        let anew = Arc::new(self::made(sandbox, &*self.make));
        self.made.store(Arc::clone(&anew));
        Arc::clone(&anew.value)
    }
}

fn made<T>(sandbox: &Sandbox, make: &Make<T>) -> Made<T> {
    // Asked first: a change in the meantime is another generation, and has it made again.
    let generation = sandbox.generation();
    let types = sandbox.check_types();
    let checks: Vec<_> = types.iter().filter_map(|check_type| sandbox.check(check_type)).collect();
    Made { generation, value: Arc::new(make(&checks)) }
}
