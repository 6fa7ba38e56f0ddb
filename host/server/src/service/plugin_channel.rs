//! The settings of channels that operators' plugins bring: judged by the egress policy, as far as
//! they are addresses, and by the plugins, as far as they are theirs to read.
//!
//! *Invariant:* a plugin sees none of its secrets, neither here nor where it writes.

use std::time::Instant;

use serde_json::Value;
use vedette_model::{
    Secret,
    settings::{ChannelPatch, ChannelSettings},
};
use vedette_sandbox::{ChannelDescriptor, PluginError, Problem, ValidateError};

use super::settings;
use crate::{App, Error, Result};

/// Judges what a patch sets, and puts in its place what the plugins make of it.
///
/// # Errors
/// `Invalid` for an address that may not be reached, and for what a plugin does not take;
/// `Internal` when a plugin gave no answer, `Limited` when there was no room to ask it.
pub(super) async fn judge(app: &App, patch: &mut ChannelPatch) -> Result<()> {
    // For all names together: nobody waits for as many as one body can hold.
    let deadline = Instant::now() + settings::RESOLVE;
    for (channel, set) in patch.set() {
        let descriptor = app.sandbox.channel(channel).ok_or_else(|| not_there(channel))?;
        vet_addresses(app, &descriptor, set.expose(), deadline).await?;
        let config = Value::Object(set.expose().clone());
        *set = match app.sandbox.validate_channel(channel, &config).await {
            Ok(normalised) => Secret::new(normalised),
            Err(ValidateError::Problems(problems)) => return Err(misfit(channel, &problems)),
            Err(ValidateError::Unavailable(PluginError::NotInstalled)) => {
                return Err(not_there(channel));
            }
            Err(ValidateError::Unavailable(cause)) => return Err(cause.into()),
        };
    }
    Ok(())
}

/// Any secret field may be an address to send to; one that is not a URL is judged when it is used.
async fn vet_addresses(
    app: &App,
    descriptor: &ChannelDescriptor,
    set: &ChannelSettings,
    deadline: Instant,
) -> Result<()> {
    for field in &descriptor.secret_fields {
        let text = set.get(field).and_then(Value::as_str).filter(|text| is_url(text));
        let Some(text) = text else { continue };
        let vetted = settings::vet(app, text, &descriptor.vendor, deadline).await;
        vetted.map_err(|reason| Error::invalid(place(&descriptor.channel, field), reason))?;
    }
    Ok(())
}

fn is_url(text: &str) -> bool {
    let begins = |scheme: &str| {
        let start = text.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    begins("http://") || begins("https://")
}

/// The first thing that a plugin does not take.
fn misfit(channel: &str, problems: &[Problem]) -> Error {
    let Some(Problem { pointer, message }) = problems.first() else {
        return Error::invalid(place(channel, ""), "does not fit the channel");
    };
    Error::invalid(place(channel, &pointer.replace('/', ".")), message.clone())
}

fn not_there(channel: &str) -> Error {
    Error::invalid(place(channel, ""), "cannot be set: its plugin is not installed")
}

/// `plugin_channels.pager.room`, for a field or for a pointer with dots.
fn place(channel: &str, inside: &str) -> String {
    match inside.trim_start_matches('.') {
        "" => format!("plugin_channels.{channel}"),
        inside => format!("plugin_channels.{channel}.{inside}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plugin_does_not_take_is_named_by_its_place() {
        let said = |pointer: &str| {
            let (pointer, message) = (pointer.to_owned(), "is not taken".to_owned());
            misfit("pager", &[Problem { pointer, message }]).to_string()
        };
        assert_eq!(said(""), "plugin_channels.pager is not taken");
        assert_eq!(said("/room"), "plugin_channels.pager.room is not taken");
        assert_eq!(said("/rooms/0/name"), "plugin_channels.pager.rooms.0.name is not taken");
        let nothing = misfit("pager", &[]).to_string();
        assert_eq!(nothing, "plugin_channels.pager does not fit the channel");
    }

    #[test]
    fn only_what_begins_like_a_url_is_judged_as_one() {
        for (text, expected) in [
            ("https://pager.example/", true),
            ("HTTP://169.254.169.254", true),
            ("http://", true),
            ("hunter2", false),
            ("http:/x", false),
            ("é", false),
            ("", false),
        ] {
            assert_eq!(is_url(text), expected, "{text}");
        }
    }
}
