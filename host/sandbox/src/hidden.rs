//! What a handle shares with its clones, behind a trait object.
//!
//! For a handle held in a future the compiler checks of every type within whether it may cross
//! threads, again in every function; an engine, a resolver and their like have thousands. A trait
//! object answers that for all: without it, the server takes more than three times as long to
//! build.

use std::{ops::Deref, sync::Arc};

pub(crate) type Hidden<T> = Arc<dyn Deref<Target = T> + Send + Sync>;

pub(crate) fn hide<T: Send + Sync + 'static>(shared: T) -> Hidden<T> {
    Arc::new(Box::new(shared))
}
