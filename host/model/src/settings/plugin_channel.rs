//! Channels that the operator's plugins bring: what an account sets for each of them, and what a
//! PATCH says of that.
//!
//! A plugin names the fields that it never sees ([`ChannelFields`]) and judges the others itself;
//! here they are bounded, changed channel by channel, and shown.
//!
//! *Invariant:* the settings of a channel are for its own plugin: no reference leads out of them.
//! *Invariant:* a secret that is not the receiver's URL is shown as `true` and never as it is;
//! `true`, sent back, keeps it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::change::{LONGEST_URL, PatchError, http_url};
use super::{NotificationSettings, is_documented};
use crate::parse::{self, Body};
use crate::{CheckType, Feature, Invalid, Patch, Plan, Secret};

/// What an account set for one channel, by field.
pub type ChannelSettings = Map<String, Value>;

/// What the plugin of a channel says of its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelFields {
    /// The channel's name.
    pub channel: String,
    /// Fields that the plugin never sees.
    pub secret: Vec<String>,
    /// The one of them that holds the receiver's URL; it is shown like those of other webhooks.
    pub url: Option<String>,
}

/// What a PATCH says of the plugins' channels: null or an object for each that it names.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelPatch(Patch<Changes>);

type Changes = BTreeMap<String, Option<Change>>;

/// What takes the place of a channel's settings.
#[derive(Clone, Debug, PartialEq)]
struct Change {
    settings: Secret<ChannelSettings>,
    /// Fields that `true` keeps.
    hidden: Vec<String>,
}

impl ChannelPatch {
    /// Reads `plugin_channels` of a body. Only channels of `installed` may be set; any may be
    /// taken out, also those whose plugin is gone.
    ///
    /// Where a URL leads, and whether the rest fits the plugin, is not known here.
    pub fn parse(body: &Value, installed: &[ChannelFields]) -> Result<Self, Invalid> {
        let body = Body::of(body)?;
        body.patch(FIELD, |field, value| changes(field, value, installed)).map(Self)
    }

    /// The channels that it sets, each with its settings, which may be replaced when they are
    /// judged. `true` stands there for what is kept.
    pub fn set(&mut self) -> impl Iterator<Item = (&str, &mut Secret<ChannelSettings>)> {
        let changes = match &mut self.0 {
            Patch::Set(changes) => Some(changes),
            Patch::Keep | Patch::Clear => None,
        };
        let named = changes.into_iter().flatten();
        named.filter_map(|(channel, change)| {
            Some((channel.as_str(), &mut change.as_mut()?.settings))
        })
    }
}

impl NotificationSettings {
    /// Changes the channels that the patch names, all or nothing: null takes one out, an object
    /// takes the place of all that was set for it. Whatever the plan, a channel may stay as it is
    /// or be taken out.
    pub fn patch_channels(&mut self, patch: &ChannelPatch, plan: &Plan) -> Result<(), PatchError> {
        let changes = match &patch.0 {
            Patch::Keep => return Ok(()),
            Patch::Clear => {
                self.plugin_channels.clear();
                return Ok(());
            }
            Patch::Set(changes) => changes,
        };
        let mut next = self.plugin_channels.clone();
        for (channel, change) in changes {
            match change {
                None => {
                    next.remove(channel);
                }
                Some(change) => {
                    let before = self.plugin_channels.get(channel);
                    next.insert(channel.clone(), change.upon(channel, before)?);
                }
            }
        }
        if next.len() > MOST_CHANNELS {
            return Err(Invalid::new(FIELD, "must hold at most 16 channels").into());
        }
        let sets = next.iter().any(|(channel, set)| self.plugin_channels.get(channel) != Some(set));
        if sets && !plan.includes(FEATURE) {
            return Err(PatchError::Forbidden(FEATURE));
        }
        self.plugin_channels = next;
        Ok(())
    }

    /// The plugins' channels as the API shows them. A channel whose plugin is not there shows which
    /// fields are set, and none of their values: nobody can say which of them are secret.
    pub fn shown_channels(&self, installed: &[ChannelFields]) -> Map<String, Value> {
        let shown = self.plugin_channels.iter().map(|(channel, set)| {
            let fields = find(installed, channel);
            let members = set.expose().iter().map(|(name, value)| {
                let hidden = fields.is_none_or(|fields| fields.hides(name));
                (name.clone(), if hidden { Value::Bool(true) } else { value.clone() })
            });
            (channel.clone(), Value::Object(members.collect()))
        });
        shown.collect()
    }

    /// What the plugin of a channel is configured with: nothing for the documented ones, whose
    /// settings are all addresses. None where the channel is not set.
    pub fn config_of(&self, channel: &str) -> Option<Value> {
        if is_documented(channel) {
            return Some(Value::Object(Map::new()));
        }
        self.plugin_channels.get(channel).map(|set| Value::Object(set.expose().clone()))
    }

    /// What `ref:<field>` stands for, written by the plugin of `channel`: of a documented channel
    /// a documented field, of any other a field of its own settings and of no other's.
    pub fn referenced_by(&self, channel: &str, field: &str) -> Option<&str> {
        if is_documented(channel) {
            return self.referenced(field);
        }
        self.plugin_channels.get(channel)?.expose().get(field)?.as_str()
    }
}

/// What a plan must have for them, like for the custom webhook.
pub(super) const FEATURE: Feature = Feature::CustomWebhook;

impl ChannelFields {
    /// Whether a field is written and never shown.
    fn hides(&self, field: &str) -> bool {
        self.url.as_deref() != Some(field) && self.secret.iter().any(|secret| secret == field)
    }

    fn vet(&self, field: &str, value: &Value) -> Result<(), Invalid> {
        if field.chars().count() > LONGEST_NAME {
            let reason = "must have fields whose names have at most 64 characters";
            return Err(Invalid::new(place(&self.channel), reason));
        }
        let wrong = |reason: Cow<'static, str>| Invalid::new(inside(&self.channel, field), reason);
        if self.url.as_deref() == Some(field) {
            let read = http_url(FIELD, value, LONGEST_URL);
            return read.map(drop).map_err(|refused| wrong(refused.reason));
        }
        let is_kept = *value == Value::Bool(true);
        if self.hides(field) && !is_kept && !value.is_string() {
            return Err(wrong("must be a string, or true to keep the one that is set".into()));
        }
        if holds_longer(value) {
            return Err(wrong(format!("must have at most {LONGEST_URL} characters").into()));
        }
        Ok(())
    }
}

impl Change {
    /// The settings, with what is kept of those before.
    fn upon(
        &self,
        channel: &str,
        before: Option<&Secret<ChannelSettings>>,
    ) -> Result<Secret<ChannelSettings>, Invalid> {
        let mut set = self.settings.expose().clone();
        for field in &self.hidden {
            let Some(value) = set.get_mut(field).filter(|value| **value == Value::Bool(true))
            else {
                continue;
            };
            let kept = before.and_then(|before| before.expose().get(field));
            *value = kept.cloned().ok_or_else(|| {
                let reason = "must be a string: nothing is set that true could keep";
                Invalid::new(inside(channel, field), reason)
            })?;
        }
        Ok(Secret::new(set))
    }
}

fn changes(
    field: &'static str,
    value: &Value,
    installed: &[ChannelFields],
) -> Result<Changes, Invalid> {
    let mut changes = Changes::new();
    for (channel, value) in parse::object(field, value)? {
        let change = if value.is_null() { None } else { Some(change(channel, value, installed)?) };
        changes.insert(channel.clone(), change);
    }
    Ok(changes)
}

fn change(channel: &str, value: &Value, installed: &[ChannelFields]) -> Result<Change, Invalid> {
    let Some(fields) = find(installed, channel) else {
        return Err(Invalid::new(place(channel), unknown(installed)));
    };
    let Some(set) = value.as_object() else {
        return Err(Invalid::new(place(channel), "must be an object, or null to remove it"));
    };
    if set.len() > MOST_FIELDS {
        return Err(Invalid::new(place(channel), "must have at most 32 fields"));
    }
    for (field, value) in set {
        fields.vet(field, value)?;
    }
    if let Some(url) = fields.url.as_ref().filter(|url| !set.contains_key(url.as_str())) {
        return Err(Invalid::new(inside(channel, url), "is required"));
    }
    let hidden = fields.secret.iter().filter(|field| fields.hides(field)).cloned().collect();
    Ok(Change { settings: Secret::new(set.clone()), hidden })
}

fn find<'a>(installed: &'a [ChannelFields], channel: &str) -> Option<&'a ChannelFields> {
    installed.iter().find(|fields| fields.channel == channel)
}

fn unknown(installed: &[ChannelFields]) -> String {
    let names: Vec<&str> = installed.iter().map(|fields| fields.channel.as_str()).collect();
    let there = match names.as_slice() {
        [] => "none is installed".to_owned(),
        names => format!("installed are {}", names.join(", ")),
    };
    format!("names no channel of an installed plugin; {there}")
}

/// How an error names a channel. What could be no channel's name is not repeated.
fn place(channel: &str) -> String {
    match channel.parse::<CheckType>() {
        Ok(_) => format!("{FIELD}.{channel}"),
        Err(_) => FIELD.to_owned(),
    }
}

fn inside(channel: &str, field: &str) -> String {
    format!("{FIELD}.{channel}.{field}")
}

/// Whether a text in it is longer than any of these may be.
fn holds_longer(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() > LONGEST_URL && text.chars().count() > LONGEST_URL,
        Value::Array(items) => items.iter().any(holds_longer),
        Value::Object(members) => members.values().any(holds_longer),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

const FIELD: &str = "plugin_channels";
const MOST_CHANNELS: usize = 16;
const MOST_FIELDS: usize = 32;
const LONGEST_NAME: usize = 64;

#[cfg(test)]
mod tests;
