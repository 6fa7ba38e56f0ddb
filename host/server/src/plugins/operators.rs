//! What the service knows of its operator's plugins, and the one reload at a time.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::Context;
use arc_swap::ArcSwap;
use tokio::sync::{Mutex, OwnedMutexGuard};
use vedette_model::CheckType;
use vedette_sandbox::{Kind, Sandbox};

use super::{changes::Running, folder::Folder, loading, lock::Lock};

/// The operator's plugins of this process. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Operators(Arc<Inner>);

struct Inner {
    folder: Folder,
    known: ArcSwap<Known>,
    /// Held by who reloads, until the last plugin is in its place.
    turn: Arc<Mutex<()>>,
}

/// How the last reload ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The last lock that could be read.
    pub(crate) lock: Lock,
    pub(crate) running: BTreeMap<String, Running>,
    /// Why a plugin of the lock is not loaded as it stands there, by its id.
    pub(crate) failures: BTreeMap<String, String>,
    /// Why the lock could not be read the last time.
    pub(crate) lock_error: Option<String>,
}

impl Operators {
    /// Nothing is loaded yet.
    pub(crate) fn new(folder: Folder) -> Self {
        let inner = Inner { folder, known: ArcSwap::default(), turn: Arc::default() };
        Self(Arc::new(inner))
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.0.folder
    }

    pub(crate) fn known(&self) -> Arc<Known> {
        self.0.known.load_full()
    }

    /// How often a check of these plugins is to run; none = as often as it asks.
    pub(crate) fn interval(&self, check_type: &CheckType) -> Option<Duration> {
        let known = self.0.known.load();
        let is_its = |kind: &Kind| matches!(kind, Kind::Check(of) if of == check_type);
        let running = known.running.values().find(|running| is_its(&running.kind));
        running.and_then(|running| running.locked.interval)
    }

    /// Reads the lock anew and does what it wants; waits for a reload that runs. One that was begun
    /// is finished, also where its caller goes away.
    ///
    /// # Errors
    /// When the lock cannot be read: all stays as it was. A plugin that cannot be loaded is no
    /// error; it is found in [`Self::known`].
    pub(crate) async fn reload(&self, sandbox: &Sandbox) -> anyhow::Result<()> {
        let turn = Arc::clone(&self.0.turn).lock_owned().await;
        let (inner, sandbox) = (Arc::clone(&self.0), sandbox.clone());
        let reloaded = tokio::task::spawn_blocking(move || inner.reload(&sandbox, turn));
        reloaded.await.context("loading the plugins panicked")?
    }
}

impl Inner {
    /// Takes the turn along, so that it ends with the work.
    fn reload(&self, sandbox: &Sandbox, _turn: OwnedMutexGuard<()>) -> anyhow::Result<()> {
        let known = self.known.load_full();
        let read = self.folder.lock();
        let (now, ended) = match read {
            Ok(lock) => (loading::apply(sandbox, &self.folder, &known, lock), Ok(())),
            Err(cause) => {
                let reason = format!("{cause:#}");
                tracing::error!("the operator's plugins stay as they are: {reason}");
                (Known { lock_error: Some(reason), ..Known::clone(&known) }, Err(cause))
            }
        };
        self.known.store(Arc::new(now));
        ended
    }
}
