//! The sandbox itself: what it is built from, and what its handles share.

use std::{
    fmt,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    cache::Cache,
    egress::Egress,
    engine::Engines,
    hidden::{Hidden, hide},
    manifest::Settings,
    registry::Registry,
    runtime::OwnRuntime,
    slots::Slots,
    state::StateStore,
};

/// The sandbox. Cheap to clone; the last clone takes the runtime and the engines with it.
#[derive(Clone)]
pub struct Sandbox {
    pub(crate) inner: Hidden<Inner>,
}

/// What a sandbox is built from.
pub struct Options {
    /// What its runs reach others by.
    pub egress: Egress,
    /// Where native code is kept, a folder of our own; none = every start compiles.
    pub cache_dir: Option<PathBuf>,
    /// What the operator set for each check: handed to its runs, and what its grants may name.
    pub settings: Settings,
    /// Where plugins keep small values.
    pub state: Arc<dyn StateStore>,
}

/// Why a sandbox cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("cannot start a WebAssembly engine: {0}")]
    Engine(String),
    #[error("cannot start the threads of the sandbox")]
    Runtime(#[from] std::io::Error),
}

pub(crate) struct Inner {
    pub(crate) engines: Engines,
    pub(crate) cache: Option<Cache>,
    pub(crate) registry: Registry,
    pub(crate) slots: Slots,
    pub(crate) egress: Egress,
    pub(crate) settings: Settings,
    pub(crate) state: Arc<dyn StateStore>,
    pub(crate) runtime: OwnRuntime,
}

impl Sandbox {
    /// Sets up engines and runtime; nothing is installed yet. A native code cache that
    /// cannot be used is said in the log and done without.
    pub fn new(options: Options) -> Result<Self, SandboxError> {
        let engines = Engines::new().map_err(|error| SandboxError::Engine(format!("{error:#}")))?;
        let cache = options.cache_dir.and_then(|folder| {
            let opened = Cache::open(&folder);
            opened
                .inspect_err(|error| {
                    tracing::warn!("native code is not cached in {}: {error}", folder.display());
                })
                .ok()
        });
        let inner = Inner {
            engines,
            cache,
            registry: Registry::default(),
            slots: Slots::new(),
            egress: options.egress,
            settings: options.settings,
            state: options.state,
            runtime: OwnRuntime::new()?,
        };
        Ok(Self { inner: hide(inner) })
    }

    /// How late a task of the sandbox's runtime wakes up from a sleep of `sample`: what probes
    /// measure is off by as much.
    pub async fn lag(&self, sample: Duration) -> Duration {
        let measure = async move {
            let started = tokio::time::Instant::now();
            tokio::time::sleep(sample).await;
            started.elapsed().saturating_sub(sample)
        };
        self.inner.runtime.run(measure).await
    }

    /// How long our process has stood still since `since`, at the longest; zero where it has not.
    pub fn stood_still(&self, since: Instant) -> Duration {
        self.inner.engines.standstill().longest(since, Instant::now())
    }

    /// The egress layer: webhooks and whatever else the server sends go through it too.
    pub fn egress(&self) -> &Egress {
        &self.inner.egress
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plugins = self.inner.registry.plugins();
        f.debug_struct("Sandbox")
            .field("checks", &plugins.checks.keys())
            .field("channels", &plugins.channels.keys())
            .finish_non_exhaustive()
    }
}
