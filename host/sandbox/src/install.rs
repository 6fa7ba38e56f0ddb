//! Component → gate → registry, and out of it again.

use std::{collections::BTreeMap, sync::Arc, time::SystemTime};

use crate::{
    Sandbox,
    engine::Engines,
    gate::{self, GateError, Read},
    grants::Grant,
    manifest::Settings,
};

impl Sandbox {
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

    /// Removes native code that is no longer used from the cache. For a service, once all its
    /// plugins are installed: a process with only one of them would remove what others need.
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
