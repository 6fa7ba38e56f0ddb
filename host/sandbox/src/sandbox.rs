//! The sandbox itself: what it is built from, and what its handles share.

use std::{
    fmt,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use rustls_pki_types::CertificateDer;

use crate::{
    cache::Cache,
    egress::{self, Egress},
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
    pub egress: egress::Policy,
    /// DNS servers; empty = the system's.
    pub dns_servers: Vec<egress::DnsServer>,
    /// DNSKEY records that replace the root zone's as the anchor of DNSSEC; none = the root's.
    pub dnssec_anchor: Option<PathBuf>,
    /// Trusted besides the Mozilla set.
    pub roots: Vec<CertificateDer<'static>>,
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
    #[error(transparent)]
    Egress(#[from] egress::SetupError),
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
    /// Sets up engines, egress and runtime; nothing is installed yet. A native code cache that
    /// cannot be used is said in the log and done without.
    pub fn new(options: Options) -> Result<Self, SandboxError> {
        let egress = Egress::new(egress::Options {
            policy: options.egress,
            dns_servers: options.dns_servers,
            roots: options.roots,
            dnssec_anchor: options.dnssec_anchor,
            most_read: None,
        })?;
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
            egress,
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

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    /// Whoever prints the causes of an error would say it twice.
    #[test]
    fn what_keeps_the_egress_layer_from_being_set_up_is_said_once() {
        let anchor = egress::SetupError::Anchor {
            path: PathBuf::from("/nowhere/root.key"),
            reason: "there is no such file".to_owned(),
        };
        let cause = SandboxError::from(anchor);
        let said = "cannot read the DNSSEC anchor /nowhere/root.key: there is no such file";
        assert_eq!(cause.to_string(), said);
        assert!(cause.source().is_none());
    }
}
