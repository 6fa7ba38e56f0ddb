//! The plugins that passed the gate. A call clones what it needs and runs on, whatever is swapped
//! meanwhile.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use vedette_model::CheckType;
use wasmtime::Engine;

use crate::{
    bindings::{check::CheckPluginPre, notifier::NotifierPluginPre},
    breaker::{Breaker, Change, Generation, Subject},
    channel::ChannelDescriptor,
    check::CheckDescriptor,
    engine::Class,
    error::Stop,
    grants::Capabilities,
    hidden::Hidden,
    host::Guest,
    limits::Limits,
    schema::Schema,
    slots::Runs,
    standstill::Standstill,
    underway::Underway,
};

/// What is installed, swapped as a whole.
#[derive(Default)]
pub(crate) struct Registry(ArcSwap<Plugins>);

/// One state of the registry.
#[derive(Clone, Default)]
pub(crate) struct Plugins {
    /// Another one for every state.
    pub(crate) generation: u64,
    pub(crate) checks: BTreeMap<CheckType, Arc<Check>>,
    pub(crate) channels: BTreeMap<String, Arc<Channel>>,
}

/// What the gate lets through.
pub(crate) enum Installed {
    Check(Arc<Check>),
    Channel(Arc<Channel>),
}

/// A check plugin, ready to be called.
pub(crate) struct Check {
    pub(crate) plugin: Plugin,
    /// With the granted interfaces linked: for `run`.
    pub(crate) live: Hidden<CheckPluginPre<Guest>>,
    /// With log and clock only, all else traps: for `validate` and `assess`.
    pub(crate) pure: Hidden<CheckPluginPre<Guest>>,
    pub(crate) descriptor: Arc<CheckDescriptor>,
    pub(crate) config: Schema,
    pub(crate) result: Schema,
    /// Those of its runs that several may wait for.
    pub(crate) underway: Underway,
}

/// A notifier plugin, ready to be called.
pub(crate) struct Channel {
    pub(crate) plugin: Plugin,
    pub(crate) pure: Hidden<NotifierPluginPre<Guest>>,
    pub(crate) descriptor: Arc<ChannelDescriptor>,
    pub(crate) config: Schema,
}

/// What both kinds have: what it is, what it may do, how it has been doing.
pub(crate) struct Plugin {
    pub(crate) id: Arc<str>,
    pub(crate) version: Arc<str>,
    pub(crate) class: Class,
    pub(crate) engine: Hidden<Engine>,
    pub(crate) standstill: Standstill,
    pub(crate) limits: Limits,
    pub(crate) grants: Arc<Capabilities>,
    /// Values of the granted secrets.
    pub(crate) secrets: Arc<BTreeMap<String, String>>,
    /// What the operator set for it, a JSON object.
    pub(crate) settings: Arc<str>,
    /// Runs at a time.
    pub(crate) runs: Runs,
    pub(crate) breaker: Mutex<Breaker>,
}

impl Registry {
    pub(crate) fn plugins(&self) -> Arc<Plugins> {
        self.0.load_full()
    }

    pub(crate) fn check(&self, check_type: &CheckType) -> Option<Arc<Check>> {
        self.0.load().checks.get(check_type).cloned()
    }

    pub(crate) fn channel(&self, channel: &str) -> Option<Arc<Channel>> {
        self.0.load().channels.get(channel).cloned()
    }

    /// For how long the plugin of this id does not run because it broke too often; none = it runs.
    pub(crate) fn pause(&self, id: &str, now: Instant) -> Option<Duration> {
        let plugins = self.plugins();
        let checks = plugins.checks.values().map(|check| &check.plugin);
        let channels = plugins.channels.values().map(|channel| &channel.plugin);
        let plugin = checks.chain(channels).find(|plugin| *plugin.id == *id)?;
        plugin.breaker.lock().pause(now)
    }

    /// Puts a plugin in its place; running calls end on the one before. Where that had another
    /// place, it leaves it.
    pub(crate) fn swap_in(&self, installed: &Installed) {
        installed.plugin().begin_counting();
        self.0.rcu(|plugins| {
            let mut plugins = plugins.without(&installed.plugin().id);
            match installed {
                Installed::Check(check) => {
                    let check_type = check.descriptor.check_type.clone();
                    plugins.checks.insert(check_type, Arc::clone(check));
                }
                Installed::Channel(channel) => {
                    let name = channel.descriptor.channel.clone();
                    plugins.channels.insert(name, Arc::clone(channel));
                }
            }
            plugins
        });
    }

    /// Takes a plugin out; running calls end on it. False where there was none of that id.
    pub(crate) fn take_out(&self, id: &str) -> bool {
        let before = self.0.rcu(|plugins| plugins.without(id));
        before.holds(id)
    }
}

impl Plugins {
    /// The next state, without the plugin of that id.
    fn without(&self, id: &str) -> Self {
        let mut next = self.clone();
        next.generation += 1;
        next.checks.retain(|_, check| &*check.plugin.id != id);
        next.channels.retain(|_, channel| &*channel.plugin.id != id);
        next
    }

    fn holds(&self, id: &str) -> bool {
        let checks = self.checks.values().map(|check| &check.plugin);
        let channels = self.channels.values().map(|channel| &channel.plugin);
        checks.chain(channels).any(|plugin| &*plugin.id == id)
    }
}

impl Installed {
    pub(crate) fn plugin(&self) -> &Plugin {
        match self {
            Self::Check(check) => &check.plugin,
            Self::Channel(channel) => &channel.plugin,
        }
    }
}

impl AsRef<Plugin> for Check {
    fn as_ref(&self) -> &Plugin {
        &self.plugin
    }
}

impl AsRef<Plugin> for Channel {
    fn as_ref(&self) -> &Plugin {
        &self.plugin
    }
}

/// A call that the breaker has let start.
pub(crate) struct Begun(Option<(Subject, Generation)>);

impl Plugin {
    /// Whether the breaker lets a call start, which `finish` is told; if not, for how long not.
    /// `about` is what the call counts for, none if it does not count
    /// ([`breaker`](crate::breaker)).
    pub(crate) fn admit(&self, about: Option<Subject>, now: Instant) -> Result<Begun, String> {
        let mut breaker = self.breaker.lock();
        let admitted = match about {
            Some(about) => breaker.admit(now).map(|generation| Some((about, generation))),
            None => breaker.pause(now).map_or(Ok(None), Err),
        };
        admitted.map(Begun).map_err(|pause| {
            format!("{} broke too often and is paused for {} s", self.id, pause.as_secs().max(1))
        })
    }

    /// Takes note of a call that ended well, and of one that did not: counted, logged for the
    /// operator, weighed by the breaker.
    pub(crate) fn finish(&self, begun: Begun, stopped: Option<(Stop, &str)>, now: Instant) {
        let (plugin, version) = (&*self.id, &*self.version);
        if let Some((why, _)) = stopped {
            self.stops(why).increment(1);
        }
        // A plugin that says it could not work, as all do without DNS, has not broken: if paused,
        // it would be missing when the trouble is over, and judge no result that others bring. Nor
        // was it stopped; its caller reports what it said.
        let broken = stopped.filter(|(why, _)| *why != Stop::Failed);
        if let Some((why, message)) = broken {
            tracing::warn!(
                plugin,
                version,
                why = why.code(),
                "plugin {plugin} was stopped, {why}: {message}"
            );
        }
        let Begun(Some((about, generation))) = begun else { return };
        match self.breaker.lock().record(generation, about, broken.is_some(), now) {
            Some(Change::Opened { pause }) => {
                tracing::error!(
                    plugin,
                    version,
                    "plugin {plugin} is paused for {} s",
                    pause.as_secs()
                );
            }
            Some(Change::Closed) => tracing::info!(plugin, version, "plugin {plugin} works again"),
            None => {}
        }
    }

    /// Has its stops be counted from 0: else the first one would be no growth for Prometheus.
    fn begin_counting(&self) {
        for why in Stop::COUNTED {
            self.stops(why).increment(0);
        }
    }

    fn stops(&self, why: Stop) -> metrics::Counter {
        metrics::counter!(
            "vedette_plugin_stops_total",
            "plugin" => self.id.to_string(), "version" => self.version.to_string(),
            "why" => why.code(),
        )
    }
}
