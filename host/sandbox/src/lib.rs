//! Runs plugins: wasmtime, the egress layer and the host's probes; nothing else knows them.
//!
//! ```text
//! install: component → gate → registry
//! run:     job → schema → turn → egress policy → fresh instance ⇄ host functions → observation
//!                                                     grants → budget → probe → egress
//! assess, validate, render, interpret: fresh instance with log and clock only
//! ```
//!
//! *Invariant:* a plugin reaches what its manifest asked for, the operator granted and the egress
//! policy allows, and nothing else; by default only the target of the run.
//! *Invariant:* a fresh store and instance serve one call; whatever goes wrong, they are dropped.
//! *Invariant:* a plugin that breaks is our trouble ([`Stop`]); it says nothing of the target.
//! *Invariant:* guests and probes run on a runtime of their own, never the caller's.
//! *Invariant:* what a plugin answers is bounded, parsed and held against its schema before it
//! leaves this crate.

pub mod egress;
pub mod key_file;
pub mod mistake;
pub mod probes;
pub mod whole_file;

mod accept;
mod bindings;
mod breaker;
mod cache;
mod call;
mod channel;
mod check;
mod convert;
mod cost;
mod engine;
mod error;
mod gate;
mod grants;
mod hidden;
mod host;
mod limits;
mod link;
mod manifest;
mod offline;
mod output;
mod prober;
mod pure;
mod registry;
mod run;
mod runtime;
mod schema;
mod slots;
mod standstill;
mod state;
mod underway;

pub use channel::{ChannelDescriptor, Notification, Receipt, Verdict};
pub use check::{CheckDescriptor, CheckVersion, Cost, Job, MetricDef, Problem, Ran};
pub use error::{PluginError, RunError, Stop, ValidateError};
pub use gate::{GateError, Read};
pub use grants::{
    Capabilities, Dns, Grant, Host, Http, Names, NoEntry, Origin, Place, Port, State, Tls,
};
pub use limits::{Limits, TARGET_RUNS};
pub use manifest::{Kind, Manifest, ManifestError, SECTION, Settings};
pub use prober::{Probe, Recorded, Recorder, Recording};
pub use state::{MemoryState, StateError, StateStore};

use std::{
    collections::BTreeMap,
    fmt,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use rustls_pki_types::CertificateDer;
use serde_json::{Map, Value};
use vedette_model::{Assessment, CheckType, Evidence, delivery::Rendered};

use breaker::Subject;
use cache::Cache;
use egress::Egress;
use engine::Engines;
use hidden::{Hidden, hide};
use prober::Prober;
use registry::{Channel, Check, Registry};
use runtime::OwnRuntime;
use slots::Slots;
use underway::Question;

/// The sandbox. Cheap to clone; the last clone takes the runtime and the engines with it.
#[derive(Clone)]
pub struct Sandbox {
    inner: Hidden<Inner>,
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

struct Inner {
    engines: Engines,
    cache: Option<Cache>,
    registry: Registry,
    slots: Slots,
    egress: Egress,
    settings: Settings,
    state: Arc<dyn StateStore>,
    runtime: OwnRuntime,
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

    /// Takes a component through the gate and puts it in its place; running calls end on the one
    /// before. Blocks the calling thread: compiling is tens of milliseconds for a small plugin,
    /// seconds for a large one.
    pub fn install(&self, component: &[u8], grant: Grant) -> Result<(), GateError> {
        self.install_with(component, grant, BTreeMap::new(), Settings::new())
    }

    /// The same for a plugin of an operator's: with the values of the secrets that it was granted, by
    /// name, of which it sees no others; and with what the operator set for its check, in place of
    /// what the sandbox was built with.
    pub fn install_with(
        &self,
        component: &[u8],
        grant: Grant,
        secrets: BTreeMap<String, String>,
        own: Settings,
    ) -> Result<(), GateError> {
        let (inner, bytes) = (Arc::clone(&self.inner), component.to_vec());
        let mut settings = inner.settings.clone();
        settings.extend(own);
        let installed = self.inner.runtime.wait(async move {
            let (engines, cache) = (&inner.engines, inner.cache.as_ref());
            gate::admit(engines, cache, &bytes, &grant, &settings, secrets).await
        })?;
        self.inner.registry.swap_in(&installed);
        let plugin = installed.plugin();
        tracing::info!(
            plugin = &*plugin.id,
            version = &*plugin.version,
            "plugin {} is installed",
            plugin.id
        );
        Ok(())
    }

    /// Removes native code that is not used any more from the cache. For a service, once all its
    /// plugins are installed: who needs but one of them would remove what others need.
    pub fn prune_native_code(&self) {
        if let Some(cache) = &self.inner.cache {
            cache.prune(SystemTime::now());
        }
    }

    /// Takes a plugin out by its id; running calls end on it, later ones find it not installed.
    /// False where there was none of that id.
    pub fn uninstall(&self, id: &str) -> bool {
        let found = self.inner.registry.take_out(id);
        if found {
            tracing::info!(plugin = id, "plugin {id} is uninstalled");
        }
        found
    }

    /// Grows whenever a plugin is installed or uninstalled: what was made from descriptors holds
    /// while it stays.
    pub fn generation(&self) -> u64 {
        self.inner.registry.plugins().generation
    }

    /// The types of the installed checks.
    pub fn check_types(&self) -> Vec<CheckType> {
        self.inner.registry.plugins().checks.keys().cloned().collect()
    }

    /// What an installed check says of itself.
    pub fn check(&self, check_type: &CheckType) -> Option<Arc<CheckDescriptor>> {
        self.inner.registry.check(check_type).map(|check| Arc::clone(&check.descriptor))
    }

    /// The version of a check that is installed now.
    pub fn version(&self, check_type: &CheckType) -> Option<CheckVersion> {
        self.inner.registry.check(check_type).map(|check| CheckVersion::of(&check))
    }

    /// Whether runs of an installed check connect to what they are about; others ask somebody else
    /// about it.
    pub fn reaches_target(&self, check_type: &CheckType) -> bool {
        let check = self.inner.registry.check(check_type);
        check.is_some_and(|check| check.plugin.grants.reaches_target())
    }

    /// For how long an installed plugin does not run because it broke too often; none = it runs.
    pub fn paused(&self, id: &str) -> Option<Duration> {
        self.inner.registry.pause(id, Instant::now())
    }

    /// What a run of an installed check may use up.
    pub fn limits(&self, check_type: &CheckType) -> Option<Limits> {
        self.inner.registry.check(check_type).map(|check| check.plugin.limits.clone())
    }

    /// The names of the installed channels.
    pub fn channels(&self) -> Vec<String> {
        self.inner.registry.plugins().channels.keys().cloned().collect()
    }

    /// What an installed channel says of itself.
    pub fn channel(&self, channel: &str) -> Option<Arc<ChannelDescriptor>> {
        self.inner.registry.channel(channel).map(|channel| Arc::clone(&channel.descriptor))
    }

    /// Checks a check's configuration for a target and answers it normalised.
    pub async fn validate(
        &self,
        check_type: &CheckType,
        target: &str,
        config: &Value,
    ) -> Result<Value, ValidateError> {
        let check = self.installed(check_type)?;
        let problems = check.config.problems(config);
        if !problems.is_empty() {
            return Err(ValidateError::Problems(problems));
        }
        let about = Subject::of(target);
        let (target, config) = (target.to_owned(), config.clone());
        let work = async move |check: Arc<Check>| pure::validate(&check, &target, &config).await;
        self.purely(check, about, work).await?.map_err(ValidateError::Problems)
    }

    /// Checks a channel's settings and answers them normalised. The plugin is given `ref:<field>` in
    /// place of every secret one, as in [`Self::render`], and so is its schema; what is answered
    /// holds them as they came.
    pub async fn validate_channel(
        &self,
        channel: &str,
        config: &Value,
    ) -> Result<Map<String, Value>, ValidateError> {
        let channel = self.installed_channel(channel)?;
        let given = pure::referring(&channel, config);
        let problems = channel.config.problems(&given);
        if !problems.is_empty() {
            return Err(ValidateError::Problems(problems));
        }
        let about = Subject::of_text(&config.to_string());
        let work =
            async move |channel: Arc<Channel>| pure::validate_channel(&channel, &given).await;
        let normalised = self.purely(Arc::clone(&channel), about, work).await?;
        let normalised = normalised.map_err(ValidateError::Problems)?;
        Ok(pure::restored(&channel, normalised, config)?)
    }

    /// Runs a check. A job that is no site's shares the run of another that asks the same and goes
    /// on at this moment, and its ending.
    pub async fn run(&self, check_type: &CheckType, job: Job) -> Result<Ran, RunError> {
        let prober = Prober::Live { egress: self.inner.egress.clone(), recorder: None };
        let Some(question) = Question::of(&job) else {
            return self.run_with(check_type, job, prober).await;
        };
        let run = self.join(check_type, question, job, prober)?;
        run.await.expect("the run did not panic; what it said is in the log")
    }

    /// The same, and has the recorder write down what is asked and answered. Random bytes are
    /// those that a replay has: in a run for its author alone, nobody is to guess them.
    pub async fn record(
        &self,
        check_type: &CheckType,
        job: Job,
        recorder: Arc<Recorder>,
    ) -> Result<Ran, RunError> {
        let prober = Prober::Live { egress: self.inner.egress.clone(), recorder: Some(recorder) };
        self.run_with(check_type, job, prober).await
    }

    /// Runs a check without a network: its probes are answered from a recording, and a probe
    /// that is not in it breaks the run. Its clock stands at the job's time.
    pub async fn replay(
        &self,
        check_type: &CheckType,
        job: Job,
        recording: Arc<Recording>,
    ) -> Result<Ran, RunError> {
        self.run_with(check_type, job, Prober::Recorded(recording)).await
    }

    /// Makes and drops `rounds` instances of a check and answers how long each took: what every
    /// call pays before it does anything.
    pub async fn instantiate(
        &self,
        check_type: &CheckType,
        rounds: usize,
    ) -> Result<Vec<Duration>, PluginError> {
        let check = self.installed(check_type)?;
        let work = async move |check: Arc<Check>| cost::instantiate(&check, rounds).await;
        self.purely(check, Subject::of_text(""), work).await
    }

    /// Says what the evidence means that a run about `target` found, by one version of its check,
    /// whether or not another has its place by now.
    pub async fn assess(
        &self,
        version: &CheckVersion,
        target: &str,
        evidence: Evidence,
    ) -> Result<Assessment, PluginError> {
        let check = Arc::clone(version.check());
        // Agents and clients send results too: what does not fit never reaches the plugin.
        check.result.check(&evidence.current).map_err(PluginError::InvalidInput)?;
        let work = async move |check: Arc<Check>| pure::assess(&check, evidence).await;
        self.purely(check, Subject::of(target), work).await
    }

    /// Has a channel write a notification. `ref:<field>` stays in the rendered URL for the caller
    /// to resolve; the plugin is given it in place of every secret setting.
    pub async fn render(
        &self,
        channel: &str,
        notification: Notification,
        config: &Value,
    ) -> Result<Vec<Rendered>, PluginError> {
        let channel = self.installed_channel(channel)?;
        let about = notification.alerts.first().map_or("", |alert| &alert.domain);
        let (about, config) = (Subject::of(about), config.clone());
        let work =
            async move |channel: Arc<Channel>| pure::render(&channel, notification, &config).await;
        self.purely(channel, about, work).await
    }

    /// Has a channel read the reply that the receiver, a host, gave to one attempt.
    pub async fn interpret(
        &self,
        channel: &str,
        receiver: &str,
        receipt: Receipt,
    ) -> Result<Verdict, PluginError> {
        let channel = self.installed_channel(channel)?;
        let work = async move |channel: Arc<Channel>| pure::interpret(&channel, receipt).await;
        self.purely(channel, Subject::of(receiver), work).await
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

    /// The egress layer: webhooks and whatever else the server sends go through it too.
    pub fn egress(&self) -> &Egress {
        &self.inner.egress
    }

    async fn run_with(
        &self,
        check_type: &CheckType,
        job: Job,
        prober: Prober,
    ) -> Result<Ran, RunError> {
        let check = self.inner.registry.check(check_type).ok_or(RunError::NotInstalled)?;
        let inner = Arc::clone(&self.inner);
        self.inner.runtime.run(async move { inner.run(&check, job, prober).await }).await
    }

    fn installed(&self, check_type: &CheckType) -> Result<Arc<Check>, PluginError> {
        self.inner.registry.check(check_type).ok_or(PluginError::NotInstalled)
    }

    fn installed_channel(&self, channel: &str) -> Result<Arc<Channel>, PluginError> {
        self.inner.registry.channel(channel).ok_or(PluginError::NotInstalled)
    }
}

/// What a component says of itself in its manifest: nothing of it is compiled, and nothing runs.
///
/// # Errors
/// [`GateError`] for a file that is no component, or whose manifest is missing or wrong.
pub fn read(component: &[u8]) -> Result<Read, GateError> {
    gate::read(component, &Settings::new())
}

/// Holds a component against the rules of the gate that run nothing of it. It is compiled.
///
/// # Errors
/// [`GateError`], for the first rule that it breaks.
pub fn examine(component: &[u8], grant: &Grant) -> Result<Read, GateError> {
    let engines = Engines::new().map_err(|error| GateError::Compile(format!("{error:#}")))?;
    gate::examine(&engines, component, grant, &Settings::new())
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
    use std::{error::Error, path::PathBuf};

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
