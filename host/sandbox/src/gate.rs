//! The gate that every plugin passes before it is used: at start-up, at install, in the plugin
//! author's own build. One rule after the other, from what is cheap and safe to what runs code;
//! each failure is one sentence that says what to do.
//!
//! ```text
//! size → not precompiled → manifest → compiles → UTF-8 → imports equal the grants → exports →
//! resources → describe → validate of an empty configuration → native code cached
//! ```

use std::{
    any::Any,
    collections::BTreeMap,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use tokio::task::block_in_place;
use wasmtime::{
    Engine,
    component::{Component, InstancePre, Linker},
};

use crate::{
    bindings::{
        check::{CheckPluginPre, vedette::plugin::types as wit},
        notifier::{NotifierPluginPre, exports::vedette::plugin::notifier as wit_notifier},
    },
    breaker::Breaker,
    cache::{Cache, Entry},
    call::{End, Terms},
    engine::{Class, Engines},
    error::Stop,
    grants::{Capabilities, Grant},
    hidden::hide,
    host::Guest,
    limits::PLUGIN_RUNS,
    link,
    manifest::{Kind, Manifest, ManifestError, Settings},
    pure,
    registry::{Channel, Check, Installed, Plugin},
    slots::Runs,
    underway::Underway,
};

mod describe;
mod inspect;

/// A manifest, and the text that it was read from.
#[derive(Clone, Debug)]
pub struct Read {
    pub manifest: Manifest,
    /// As it is embedded in the component.
    pub text: String,
}

/// Why a component is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    #[error("the component has {size} bytes; at most {limit} are accepted")]
    Size { size: usize, limit: usize },
    #[error("this is native code; give the component that it was compiled from")]
    Precompiled,
    #[error("this is not a WebAssembly component: {0}")]
    NotAComponent(String),
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error("the component does not compile: {0}")]
    Compile(String),
    #[error("the component passes strings as {0}; build it with UTF-8 strings")]
    Encoding(&'static str),
    #[error(
        "the component imports {import}, which is not granted; ask for {capability} in \
         [capabilities] of plugin.toml and approve it, or remove the import"
    )]
    NotGranted { import: String, capability: &'static str },
    /// It was asked for: this is the operator's to mend.
    #[error(
        "the component imports {import}, which is not granted; add granted.{capability} to its \
         entry in plugins.lock, or disable it"
    )]
    Withheld { import: String, capability: &'static str },
    #[error("the component imports {0}, which no plugin can have; build it without")]
    ForeignImport(String),
    #[error("the component imports {0}; this host speaks version 1 of that interface")]
    ImportVersion(String),
    #[error(
        "plugin.toml asks for {capability}, but the component does not import {interface}; remove \
         it from [capabilities]"
    )]
    NotImported { interface: &'static str, capability: &'static str },
    #[error(
        "the component does not fit this host's contract: {0}; build it against this host's WIT"
    )]
    Contract(String),
    #[error("the component exports {found}; a {kind} exports {wanted} and nothing else")]
    Exports { kind: &'static str, wanted: &'static str, found: String },
    #[error("the component needs {needs}; a plugin of its size may have {limit}")]
    Resources { needs: String, limit: String },
    #[error("{call} failed at install: {reason}")]
    Call { call: &'static str, reason: String },
    #[error("the descriptor's {field} {reason}")]
    Descriptor { field: &'static str, reason: String },
}

/// What a component says of itself in its manifest. Nothing is compiled, and nothing runs.
pub(crate) fn read(bytes: &[u8], settings: &Settings) -> Result<Read, GateError> {
    let text = inspect::manifest_text(bytes)?;
    Ok(Read { manifest: Manifest::parse(text, settings)?, text: text.to_owned() })
}

/// The rules of the gate that run no code of the plugin: all up to `describe`.
pub(crate) fn examine(
    engines: &Engines,
    bytes: &[u8],
    grant: &Grant,
    settings: &Settings,
) -> Result<Read, GateError> {
    let read = read(bytes, settings)?;
    read.manifest.usable(&read.text)?;
    let class = read.manifest.class(bytes.len());
    read.manifest.limits(class)?;
    let engine = engines.get(class).map_err(|error| GateError::Compile(error.to_string()))?;
    let component = compile(engine, bytes)?;
    fits(bytes, &component, &read.manifest, &grant.given(&read.manifest.asked), class)?;
    Ok(read)
}

/// What a compiled component must be like, whatever its code does.
fn fits(
    bytes: &[u8],
    component: &Component,
    manifest: &Manifest,
    grants: &Capabilities,
    class: Class,
) -> Result<(), GateError> {
    inspect::encodings(bytes)?;
    inspect::imports(component, &manifest.asked, grants)?;
    inspect::exports(component, &manifest.kind)?;
    inspect::resources(component, class)
}

/// Takes a component through the gate. Compiles in this process: what comes here is the built-in
/// plugins, whose bytes the binary carries, and what the operator approved by its hash. Of
/// `secrets` the plugin has those that it was granted.
pub(crate) async fn admit(
    engines: &Engines,
    cache: Option<&Cache>,
    bytes: &[u8],
    grant: &Grant,
    settings: &Settings,
    secrets: BTreeMap<String, String>,
) -> Result<Installed, GateError> {
    let Read { manifest, .. } = read(bytes, settings)?;
    let class = manifest.class(bytes.len());
    let limits = manifest.limits(class)?;
    let engine = engines.get(class).map_err(|error| GateError::Compile(error.to_string()))?;
    let entry = Entry::of(engine, bytes);
    let known = cache.and_then(|cache| cache.load(engine, &entry));
    let turn = match cache {
        Some(cache) if known.is_none() => cache.turn().await,
        _ => None,
    };
    // The previous one to have the turn may have compiled the same.
    let native = match (&turn, cache) {
        (Some(_), Some(cache)) => cache.load(engine, &entry),
        _ => known,
    };
    let fresh = native.is_none();
    let component = match native {
        Some(component) => component,
        // Seconds, in which this thread drives no probe: another takes its place.
        None => block_in_place(|| compile(engine, bytes))?,
    };
    let grants = grant.given(&manifest.asked);
    fits(bytes, &component, &manifest, &grants, class)?;
    let granted = secrets.into_iter().filter(|(name, _)| grants.secrets.contains(name));
    let plugin = Plugin {
        id: manifest.id.as_str().into(),
        version: manifest.version.as_str().into(),
        class,
        engine: hide(engine.clone()),
        standstill: engines.standstill().clone(),
        limits,
        secrets: Arc::new(granted.collect()),
        grants: Arc::new(grants),
        settings: settings_of(&manifest, settings),
        runs: Runs::of(PLUGIN_RUNS[class as usize]),
        breaker: Breaker::default().into(),
    };
    let installed = match manifest.kind {
        Kind::Check(_) => Installed::Check(Arc::new(check(&manifest, plugin, &component).await?)),
        Kind::Notifier(_) => {
            Installed::Channel(Arc::new(channel(&manifest, plugin, &component).await?))
        }
    };
    if let Some(cache) = cache.filter(|_| fresh) {
        cache.store(&entry, &component);
    }
    drop(turn);
    Ok(installed)
}

/// JSON object of what the operator set for the plugin.
fn settings_of(manifest: &Manifest, settings: &Settings) -> Arc<str> {
    let set = match &manifest.kind {
        Kind::Check(check_type) => settings.get(check_type),
        Kind::Notifier(_) => None,
    };
    set.map_or_else(|| "{}".into(), |set| set.to_string().into())
}

/// The compiler refuses most of what it cannot take, and panics at the rest: at a component that is
/// composed of several with a memory of their own, whose glue needs a proposal that is off. What it
/// held by then is of this one component, and gone.
fn compile(engine: &Engine, bytes: &[u8]) -> Result<Component, GateError> {
    let compiling = AssertUnwindSafe(|| Component::from_binary(engine, bytes));
    match panic::catch_unwind(compiling) {
        Ok(compiled) => compiled.map_err(|error| GateError::Compile(format!("{error:#}"))),
        Err(panicked) => Err(GateError::Compile(format!(
            "the compiler cannot take it ({}); build it as one component, not composed of several",
            message(&*panicked)
        ))),
    }
}

/// What a panic said.
fn message(panicked: &(dyn Any + Send)) -> &str {
    let literal = panicked.downcast_ref::<&str>().copied();
    literal.or_else(|| panicked.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason")
}

async fn check(
    manifest: &Manifest,
    plugin: Plugin,
    component: &Component,
) -> Result<Check, GateError> {
    let engine = &plugin.engine;
    let live = ready(link::live(engine, &plugin.grants), component, CheckPluginPre::new)?;
    let pure = ready(link::pure(engine, component), component, CheckPluginPre::new)?;
    let nothing = ready(link::nothing(engine, component), component, CheckPluginPre::new)?;
    let descriptor = tried("describe", || describe_check(&plugin, nothing.clone())).await?;
    let described = describe::check(manifest, &plugin, descriptor)?;
    let check = Check {
        plugin,
        live: hide(live),
        pure: hide(pure),
        descriptor: Arc::new(described.descriptor),
        config: described.config,
        result: described.result,
        underway: Underway::default(),
    };
    // Problems are fine (a configuration may need a field), a trap is not.
    let empty = serde_json::json!({});
    tried("validate", || pure::validate(&check, "", &empty)).await?.ok();
    Ok(check)
}

async fn channel(
    manifest: &Manifest,
    plugin: Plugin,
    component: &Component,
) -> Result<Channel, GateError> {
    let engine = &plugin.engine;
    let pure = ready(link::pure(engine, component), component, NotifierPluginPre::new)?;
    let nothing = ready(link::nothing(engine, component), component, NotifierPluginPre::new)?;
    let descriptor = tried("describe", || describe_channel(&plugin, nothing.clone())).await?;
    let described = describe::channel(manifest, descriptor)?;
    let channel = Channel {
        plugin,
        pure: hide(pure),
        descriptor: Arc::new(described.descriptor),
        config: described.config,
    };
    let empty = serde_json::json!({});
    tried("validate", || pure::validate_channel(&channel, &empty)).await?.ok();
    Ok(channel)
}

/// Links once, and finds the exports once.
fn ready<P>(
    linker: wasmtime::Result<Linker<Guest>>,
    component: &Component,
    typed: impl FnOnce(InstancePre<Guest>) -> wasmtime::Result<P>,
) -> Result<P, GateError> {
    linker
        .and_then(|linker| linker.instantiate_pre(component))
        .and_then(typed)
        .map_err(|error| GateError::Contract(format!("{error:#}")))
}

async fn describe_check(
    plugin: &Plugin,
    nothing: CheckPluginPre<Guest>,
) -> Result<wit::Descriptor, End> {
    let ended = plugin.enter(Terms::pure(plugin, 0), move |store| {
        Box::pin(async move {
            let guest = nothing.instantiate_async(&mut *store).await?;
            guest.vedette_plugin_checker().call_describe(store).await
        })
    });
    ended.await.answer
}

async fn describe_channel(
    plugin: &Plugin,
    nothing: NotifierPluginPre<Guest>,
) -> Result<wit_notifier::ChannelDescriptor, End> {
    let ended = plugin.enter(Terms::pure(plugin, 0), move |store| {
        Box::pin(async move {
            let guest = nothing.instantiate_async(&mut *store).await?;
            guest.vedette_plugin_notifier().call_describe(store).await
        })
    });
    ended.await.answer
}

/// Calls until it ends otherwise than for want of time, a few times: on a machine that is busy, as
/// while it starts, a guest is charged for time that others had, and the service would not come up.
async fn tried<T, F>(call: &'static str, once: impl Fn() -> F) -> Result<T, GateError>
where
    F: Future<Output = Result<T, End>>,
{
    for _ in 1..TRIES {
        match once().await {
            Err(End::Overloaded | End::Stopped { why: Stop::Cpu | Stop::Wall, .. }) => {}
            ended => return ended.map_err(|end| call_failed(call, end)),
        }
    }
    once().await.map_err(|end| call_failed(call, end))
}

fn call_failed(call: &'static str, end: End) -> GateError {
    let reason = match end {
        End::Overloaded => "no room to run it; try again".to_owned(),
        End::Stopped { why, message } => format!("{why} ({message})"),
    };
    GateError::Call { call, reason }
}

const TRIES: u32 = 5;
