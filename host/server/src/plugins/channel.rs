//! The channels that operators' plugins bring: those without fields of their own in the settings.

use std::sync::Arc;

use vedette_model::settings::ChannelFields;
use vedette_sandbox::{ChannelDescriptor, Sandbox};

use super::rule::is_ours;

/// What each of them says of itself, by name.
pub(crate) fn channels(sandbox: &Sandbox) -> Vec<Arc<ChannelDescriptor>> {
    let names = sandbox.channels();
    let installed = names.iter().filter_map(|channel| sandbox.channel(channel));
    installed.filter(|channel| !is_ours(&channel.id)).collect()
}

/// What the settings must know of each of them.
pub(crate) fn channel_fields(sandbox: &Sandbox) -> Vec<ChannelFields> {
    let fields = channels(sandbox).into_iter().map(|channel| ChannelFields {
        channel: channel.channel.clone(),
        secret: channel.secret_fields.clone(),
        url: channel.url_field.clone(),
    });
    fields.collect()
}
