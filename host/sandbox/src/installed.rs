//! What is installed, and what it says of itself.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use vedette_model::CheckType;

use crate::{
    Sandbox,
    channel::ChannelDescriptor,
    check::{CheckDescriptor, CheckVersion},
    error::PluginError,
    limits::Limits,
    registry::{Channel, Check},
    slots::PlannedRoom,
};

impl Sandbox {
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
        self.check(check_type).is_some_and(|check| check.reaches_target)
    }

    /// Whether runs of an installed check that are given the same see the same, whatever site they are
    /// for: it remembers nothing of sites.
    pub fn is_alike_for_sites(&self, check_type: &CheckType) -> bool {
        let check = self.inner.registry.check(check_type);
        check.is_some_and(|check| !check.plugin.grants.keeps_of_sites())
    }

    /// What room planned runs of an installed check share with others.
    pub fn planned_rooms(&self, check_type: &CheckType) -> Vec<PlannedRoom> {
        let check = self.inner.registry.check(check_type);
        check.map(|check| self.inner.slots.planned_rooms(&check.plugin)).unwrap_or_default()
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

    pub(crate) fn installed(&self, check_type: &CheckType) -> Result<Arc<Check>, PluginError> {
        self.inner.registry.check(check_type).ok_or(PluginError::NotInstalled)
    }

    pub(crate) fn installed_channel(&self, channel: &str) -> Result<Arc<Channel>, PluginError> {
        self.inner.registry.channel(channel).ok_or(PluginError::NotInstalled)
    }
}
