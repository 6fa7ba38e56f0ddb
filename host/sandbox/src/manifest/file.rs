//! What stands in a `plugin.toml`, table by table and line by line; an unknown line is refused.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::quantity::{Size, Span};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) plugin: PluginTable,
    #[serde(default)]
    pub(super) schedule: ScheduleTable,
    #[serde(default)]
    pub(super) capabilities: crate::grants::Tables,
    #[serde(default)]
    pub(super) settings: SettingsTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PluginTable {
    pub(super) id: String,
    pub(super) version: String,
    pub(super) kind: KindName,
    pub(super) check_type: Option<String>,
    pub(super) channel: Option<String>,
    pub(super) wit: String,
    #[serde(default)]
    pub(super) limits: LimitsTable,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum KindName {
    Check,
    Notifier,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsTable {
    pub(super) memory: Option<Size>,
    pub(super) cpu: Option<Span>,
    pub(super) wall: Option<Span>,
    pub(super) calls: Option<u32>,
    pub(super) bytes: Option<Size>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ScheduleTable {
    pub(super) interval: Option<Span>,
    pub(super) min_interval: Option<Span>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SettingsTable {
    pub(super) url_field: Option<String>,
    #[serde(default)]
    pub(super) hosts: Vec<String>,
    #[serde(default)]
    pub(super) paths: Vec<String>,
    /// Of the operator's settings.
    #[serde(default)]
    pub(super) properties: BTreeMap<String, Value>,
}
