//! How an account wants to be told, and how its status page looks.
//!
//! *Invariant:* a channel that is configured but not in the plan is kept and not used: after a
//! downgrade nothing is lost and nothing is sent.

mod change;
mod plugin_channel;
mod signing;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::change::PatchError;
pub use self::plugin_channel::{ChannelFields, ChannelPatch, ChannelSettings};
use crate::status_page::Slug;
use crate::{Feature, Plan, Secret};

/// Stored settings; fields that a row lacks have their defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotificationSettings {
    pub email: bool,
    /// At most 5, lower case, no duplicates; empty = the account's own address.
    pub alert_emails: Vec<String>,
    /// Who knows the URL of a chat or a webhook may write there: none of them is ever logged.
    pub slack_webhook_url: Option<Secret<String>>,
    pub discord_webhook_url: Option<Secret<String>>,
    pub teams_webhook: Option<Secret<String>>,
    pub custom_webhook_url: Option<Secret<String>>,
    /// `whsec_` and base64: what deliveries to the custom webhook are signed with. Written, never
    /// shown.
    pub webhook_secret: Option<Secret<String>>,
    /// Of each channel that an operator's plugin brings and that is set, its settings. Which of
    /// them are secret is the plugin's to say.
    pub plugin_channels: BTreeMap<String, Secret<ChannelSettings>>,
    pub status_page_enabled: bool,
    pub status_page_title: String,
    pub status_page_logo_url: Option<String>,
    /// `#rgb` or `#rrggbb`, as it was written.
    pub status_page_accent_color: String,
    pub status_page_favicon_url: Option<String>,
    pub status_page_custom_domain: Option<String>,
    pub status_page_hide_powered_by: bool,
    pub status_page_custom_css: Option<String>,
    /// Where the page is; made when it is first enabled, and kept.
    pub status_page_slug: Option<Slug>,
}

/// Settings as the API shows them: the documented fields, and whether a signing secret is set. What
/// it shows of the plugins' channels takes knowing the plugins: [`shown_channels`].
///
/// [`shown_channels`]: NotificationSettings::shown_channels
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingsView<'a> {
    pub email: bool,
    pub alert_emails: &'a [String],
    pub slack_webhook_url: Option<&'a str>,
    pub discord_webhook_url: Option<&'a str>,
    pub teams_webhook: Option<&'a str>,
    pub custom_webhook_url: Option<&'a str>,
    pub webhook_secret_set: bool,
    pub status_page_enabled: bool,
    pub status_page_title: &'a str,
    pub status_page_logo_url: Option<&'a str>,
    pub status_page_accent_color: &'a str,
    pub status_page_favicon_url: Option<&'a str>,
    pub status_page_custom_domain: Option<&'a str>,
    pub status_page_hide_powered_by: bool,
    pub status_page_custom_css: Option<&'a str>,
    pub status_page_slug: Option<&'a str>,
}

impl Default for NotificationSettings {
    /// Silent until asked: nobody is mailed through a relay that may not be there.
    fn default() -> Self {
        Self {
            email: false,
            alert_emails: Vec::new(),
            slack_webhook_url: None,
            discord_webhook_url: None,
            teams_webhook: None,
            custom_webhook_url: None,
            webhook_secret: None,
            plugin_channels: BTreeMap::new(),
            status_page_enabled: false,
            status_page_title: String::new(),
            status_page_logo_url: None,
            status_page_accent_color: DEFAULT_ACCENT.to_owned(),
            status_page_favicon_url: None,
            status_page_custom_domain: None,
            status_page_hide_powered_by: false,
            status_page_custom_css: None,
            status_page_slug: None,
        }
    }
}

impl NotificationSettings {
    pub fn view(&self) -> SettingsView<'_> {
        SettingsView {
            email: self.email,
            alert_emails: &self.alert_emails,
            slack_webhook_url: shown(&self.slack_webhook_url),
            discord_webhook_url: shown(&self.discord_webhook_url),
            teams_webhook: shown(&self.teams_webhook),
            custom_webhook_url: shown(&self.custom_webhook_url),
            webhook_secret_set: self.webhook_secret.is_some(),
            status_page_enabled: self.status_page_enabled,
            status_page_title: &self.status_page_title,
            status_page_logo_url: self.status_page_logo_url.as_deref(),
            status_page_accent_color: &self.status_page_accent_color,
            status_page_favicon_url: self.status_page_favicon_url.as_deref(),
            status_page_custom_domain: self.status_page_custom_domain.as_deref(),
            status_page_hide_powered_by: self.status_page_hide_powered_by,
            status_page_custom_css: self.status_page_custom_css.as_deref(),
            status_page_slug: self.status_page_slug.as_ref().map(Slug::as_str),
        }
    }

    /// The channels that are configured, by the names that the test call answers: the documented
    /// ones, then those of plugins.
    pub fn channels(&self) -> Vec<&str> {
        self.channels_with(|_| true)
    }

    /// The channels that are configured and in the plan: those that alerts go to.
    pub fn active_channels(&self, plan: &Plan) -> Vec<&str> {
        self.channels_with(|feature| plan.includes(feature))
    }

    fn channels_with(&self, includes: impl Fn(Feature) -> bool) -> Vec<&str> {
        let on = CHANNELS.iter().filter(|channel| (channel.on)(self) && includes(channel.feature));
        let mut channels: Vec<&str> = on.map(|channel| channel.id).collect();
        if includes(plugin_channel::FEATURE) {
            channels.extend(self.plugin_channels.keys().map(String::as_str));
        }
        channels
    }

    /// What a documented field holds that a plugin may refer to; none for fields that are unset, or
    /// no reference.
    pub fn referenced(&self, field: &str) -> Option<&str> {
        match field {
            "slack_webhook_url" => shown(&self.slack_webhook_url),
            "discord_webhook_url" => shown(&self.discord_webhook_url),
            "teams_webhook" => shown(&self.teams_webhook),
            "custom_webhook_url" => shown(&self.custom_webhook_url),
            _ => None,
        }
    }

    /// The key that deliveries to the custom webhook are signed with (Standard Webhooks), as
    /// bytes; none = they are not signed.
    pub fn signing_key(&self) -> Option<Secret<Vec<u8>>> {
        signing::key(self.webhook_secret.as_ref()?.expose()).map(Secret::new)
    }
}

/// Whether a channel has its own fields in the settings, as those of the description do.
pub fn is_documented(channel: &str) -> bool {
    CHANNELS.iter().any(|known| known.id == channel)
}

/// What a plan must include for alerts to go to a channel; one without own fields is a plugin's.
pub fn needed_by(channel: &str) -> Feature {
    let known = CHANNELS.iter().find(|known| known.id == channel);
    known.map_or(plugin_channel::FEATURE, |known| known.feature)
}

/// A channel, what it needs, and when it is configured.
struct Channel {
    id: &'static str,
    feature: Feature,
    on: fn(&NotificationSettings) -> bool,
}

fn shown(secret: &Option<Secret<String>>) -> Option<&str> {
    secret.as_ref().map(|secret| secret.expose().as_str())
}

const CHANNELS: [Channel; 5] = [
    Channel { id: "email", feature: Feature::Email, on: |set| set.email },
    Channel {
        id: "slack",
        feature: Feature::ChatWebhooks,
        on: |set| set.slack_webhook_url.is_some(),
    },
    Channel {
        id: "discord",
        feature: Feature::ChatWebhooks,
        on: |set| set.discord_webhook_url.is_some(),
    },
    Channel { id: "teams", feature: Feature::ChatWebhooks, on: |set| set.teams_webhook.is_some() },
    Channel {
        id: "webhook",
        feature: Feature::CustomWebhook,
        on: |set| set.custom_webhook_url.is_some(),
    },
];

const DEFAULT_ACCENT: &str = "#2f6feb";

#[cfg(test)]
mod tests;
