//! `plugins.lock`: which plugins the operator approved, what they were granted, and what is set for
//! them. Written by `vedette plugin …` in a form that is fit for version control, and read by people.
//!
//! *Invariant:* pure; what is written reads back as the same.
//! *Invariant:* a key that is not known is an error that names it: a lock that asks for a rule this
//! version does not have must not be followed without it.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use chrono::SecondsFormat;
use serde::{Deserialize, Deserializer, de};
use toml::{Table, Value};
use vedette_model::Timestamp;
use vedette_sandbox::{Capabilities, mistake};

use super::settings;
use crate::config::{parse_interval, span_text};

/// All plugins that were approved, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lock {
    pub(crate) plugins: Vec<Locked>,
}

/// One plugin, as the operator approved it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Locked {
    pub(crate) id: String,
    pub(crate) version: String,
    /// Of the component, whose file is named by it.
    pub(crate) sha256: String,
    /// Of the manifest in it.
    pub(crate) manifest_sha256: String,
    pub(crate) approved: Approved,
    #[serde(default = "yes")]
    pub(crate) enabled: bool,
    /// How often its check runs; none = as often as it asks.
    #[serde(default, deserialize_with = "interval")]
    pub(crate) interval: Option<Duration>,
    /// What its check is handed with every run.
    #[serde(default)]
    pub(crate) settings: Table,
    /// In the words of a manifest's `[capabilities]`.
    #[serde(default)]
    pub(crate) granted: Table,
    /// Where the values of secrets are that this version is granted, or one that is kept.
    #[serde(default)]
    pub(crate) secrets: BTreeMap<String, SecretPlace>,
    /// What can be rolled back to, the latest first.
    #[serde(default)]
    pub(crate) previous: Vec<Previous>,
}

/// A version that another one took the place of.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Previous {
    pub(crate) version: String,
    pub(crate) sha256: String,
    pub(crate) manifest_sha256: String,
    pub(crate) approved: Approved,
    #[serde(default)]
    pub(crate) granted: Table,
}

/// Who approved a version.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Approved {
    pub(crate) by: String,
    pub(crate) at: Timestamp,
}

/// Where a secret's value is read when its plugin is loaded; the lock never holds it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SecretPlace {
    Env(String),
    File(PathBuf),
}

/// What is wrong with a lock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("plugins.lock cannot be used: {0}")]
pub(crate) struct LockError(String);

/// Versions that are kept besides the one that runs.
pub(crate) const KEPT: usize = 2;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "version")]
    _version: i64,
    #[serde(default)]
    plugin: Vec<Locked>,
}

impl Lock {
    pub(crate) fn parse(text: &str) -> Result<Self, LockError> {
        let wrong = |error: toml::de::Error| LockError(mistake::told(text, &error));
        let table: Table = toml::from_str(text).map_err(wrong)?;
        match table.get("version") {
            Some(Value::Integer(VERSION)) => {}
            Some(other) => {
                return Err(LockError(format!(
                    "its version is {other}, and this program knows version {VERSION}; use the \
                     program that wrote it"
                )));
            }
            None => return Err(LockError(format!("it must begin with version = {VERSION}"))),
        }
        let file: File = toml::from_str(text).map_err(wrong)?;
        let lock = Self { plugins: file.plugin };
        lock.check().map_err(LockError)?;
        Ok(lock)
    }

    /// The file's text.
    pub(crate) fn to_text(&self) -> String {
        let plugins: String = self.plugins.iter().map(Locked::to_text).collect();
        format!("version = {VERSION}\n{plugins}")
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Locked> {
        self.plugins.iter().find(|plugin| plugin.id == id)
    }

    pub(crate) fn find_mut(&mut self, id: &str) -> Option<&mut Locked> {
        self.plugins.iter_mut().find(|plugin| plugin.id == id)
    }

    /// Whether a file belongs to a plugin of the lock, in its present version or an earlier one.
    pub(crate) fn names(&self, sha256: &str) -> bool {
        self.plugins.iter().any(|plugin| plugin.files().any(|file| file == sha256))
    }

    /// What types cannot say: how the entries stand to each other, and their forms.
    fn check(&self) -> Result<(), String> {
        for (index, plugin) in self.plugins.iter().enumerate() {
            let id = &plugin.id;
            if self.plugins[..index].iter().any(|other| other.id == *id) {
                return Err(format!("{id} stands in it twice; remove one of the two"));
            }
            plugin.check().map_err(|wrong| format!("{id}: {wrong}"))?;
        }
        Ok(())
    }
}

impl Locked {
    /// What the sandbox is to grant, with what is set in the place of its name.
    pub(crate) fn capabilities(&self) -> Result<Capabilities, String> {
        self.granted_with(&settings::as_json(&self.settings))
    }

    fn granted_with(&self, settings: &serde_json::Value) -> Result<Capabilities, String> {
        let granted = Capabilities::of_table(self.granted.clone(), settings);
        granted.map_err(|wrong| format!("granted: {wrong}"))
    }

    /// Whether this is the file that runs, and it is granted less than it runs with.
    pub(crate) fn takes_from(&self, running: &Self) -> bool {
        let is_same = self.granted == running.granted && self.settings == running.settings;
        if self.sha256 != running.sha256 || is_same {
            return false;
        }
        match (running.capabilities(), self.capabilities()) {
            (Ok(before), Ok(now)) => before.intersect(&now) != before,
            _ => true,
        }
    }

    /// Hashes of the files that belong to it.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        let previous = self.previous.iter().map(|previous| previous.sha256.as_str());
        std::iter::once(self.sha256.as_str()).chain(previous)
    }

    /// Puts a version in the place of this one, which is kept to roll back to.
    pub(crate) fn replace(&mut self, next: Previous) {
        let Previous { version, sha256, manifest_sha256, approved, granted } = next;
        let before = Previous {
            version: std::mem::replace(&mut self.version, version),
            sha256: std::mem::replace(&mut self.sha256, sha256),
            manifest_sha256: std::mem::replace(&mut self.manifest_sha256, manifest_sha256),
            approved: std::mem::replace(&mut self.approved, approved),
            granted: std::mem::replace(&mut self.granted, granted),
        };
        // The same file approved again has other grants, but is the same version.
        self.previous.retain(|kept| kept.sha256 != self.sha256);
        if before.sha256 != self.sha256 {
            self.previous.insert(0, before);
        }
        self.previous.truncate(KEPT);
        let granted = of_any_version(&self.granted, &self.previous);
        self.secrets.retain(|name, _| granted.contains(&name.as_str()));
    }

    /// Where the values of the secrets are that this version is granted.
    pub(crate) fn places(&self) -> impl Iterator<Item = (&String, &SecretPlace)> {
        let granted = granted_secrets(&self.granted);
        self.secrets.iter().filter(move |(name, _)| granted.contains(&name.as_str()))
    }

    fn check(&self) -> Result<(), String> {
        let previous = self.previous.iter().map(|kept| &kept.manifest_sha256);
        let manifests = previous.chain([&self.manifest_sha256]).map(String::as_str);
        if let Some(hash) = self.files().chain(manifests).find(|hash| !is_sha256(hash)) {
            return Err(format!("{hash:?} is no SHA-256 in lower case hex"));
        }
        if self.previous.len() > KEPT {
            return Err(format!("previous holds more than {KEPT} versions"));
        }
        // What is set may keep this plugin from being loaded, and no other.
        self.granted_with(&serde_json::Value::Null)?;
        let granted = of_any_version(&self.granted, &self.previous);
        if let Some(name) = self.secrets.keys().find(|name| !granted.contains(&name.as_str())) {
            return Err(format!("secrets.{name} is not in granted.secrets"));
        }
        Ok(())
    }

    fn to_text(&self) -> String {
        let mut text = format!("\n[[plugin]]\n{}", line("id", self.id.as_str()));
        text += &line("version", self.version.as_str());
        text += &line("sha256", self.sha256.as_str());
        text += &line("manifest-sha256", self.manifest_sha256.as_str());
        text += &line("approved", self.approved.to_value());
        text += &line("enabled", self.enabled);
        if let Some(interval) = self.interval {
            text += &line("interval", span_text(interval));
        }
        for (name, value) in &self.settings {
            text += &line(&format!("settings.{}", key(name)), value.clone());
        }
        for (name, granted) in &self.granted {
            text += &line(&format!("granted.{}", key(name)), granted.clone());
        }
        for (name, place) in &self.secrets {
            text += &line(&format!("secrets.{}", key(name)), place.to_value());
        }
        if !self.previous.is_empty() {
            let previous: Vec<Value> = self.previous.iter().map(Previous::to_value).collect();
            text += &line("previous", previous);
        }
        text
    }
}

impl Previous {
    fn to_value(&self) -> Value {
        table([
            ("version", self.version.as_str().into()),
            ("sha256", self.sha256.as_str().into()),
            ("manifest-sha256", self.manifest_sha256.as_str().into()),
            ("approved", self.approved.to_value()),
            ("granted", self.granted.clone().into()),
        ])
    }
}

impl Approved {
    fn to_value(&self) -> Value {
        let at = self.at.to_rfc3339_opts(SecondsFormat::AutoSi, true);
        table([("by", self.by.as_str().into()), ("at", at.into())])
    }
}

impl SecretPlace {
    fn to_value(&self) -> Value {
        match self {
            Self::Env(name) => table([("env", name.as_str().into())]),
            Self::File(path) => table([("file", path.display().to_string().into())]),
        }
    }
}

/// The secrets of the version that runs and of those that it can be rolled back to: where they are is
/// known then.
fn of_any_version<'a>(granted: &'a Table, previous: &'a [Previous]) -> Vec<&'a str> {
    let tables = std::iter::once(granted).chain(previous.iter().map(|kept| &kept.granted));
    tables.flat_map(granted_secrets).collect()
}

/// The secrets that a table of capabilities names.
pub(crate) fn granted_secrets(granted: &Table) -> Vec<&str> {
    let secrets = granted.get("secrets").and_then(Value::as_array);
    secrets.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn table<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let entries = entries.into_iter().map(|(name, value)| (name.to_owned(), value));
    Value::Table(entries.collect())
}

/// `key = value`, whatever the value, on one line.
fn line(key: &str, value: impl Into<Value>) -> String {
    format!("{key} = {}\n", value.into())
}

/// A key as TOML wants it: bare, or quoted.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(is_bare) {
        return name.to_owned();
    }
    // JSON's strings are TOML's.
    serde_json::Value::from(name).to_string()
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn interval<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(input)?;
    let interval = parse_interval(&text);
    interval.map(Some).map_err(|wrong| de::Error::custom(format!("interval {wrong}")))
}

fn yes() -> bool {
    true
}

const VERSION: i64 = 1;

#[cfg(test)]
mod tests;
