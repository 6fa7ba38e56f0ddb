//! `plugin.toml`, embedded in the component as the custom section `vedette:manifest`: what a
//! plugin is and what it asks for. It is read without running anything.

mod file;
mod quantity;
mod settable;
mod usable;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
    str::FromStr,
    time::Duration,
};

use serde_json::Value;
use vedette_model::CheckType;

use crate::{
    egress::Vendor,
    engine::Class,
    grants::{Capabilities, NoEntry},
    limits::{Ceiling, Limits},
    mistake,
};

use file::{File, KindName, LimitsTable, PluginTable};
use quantity::Span;

pub(crate) use quantity::Size;

/// A parsed manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// `publisher.name`.
    pub id: String,
    pub version: String,
    pub kind: Kind,
    pub asked: Capabilities,
    pub interval: Option<Duration>,
    pub min_interval: Option<Duration>,
    /// The settings field that holds a channel's URL, and what it may name.
    pub url_field: Option<String>,
    pub vendor: Vendor,
    /// What the operator may set for a check: a JSON Schema for each name.
    pub settings: BTreeMap<String, Value>,
    limits: LimitsTable,
}

/// What the operator set for each check, as JSON objects.
pub type Settings = BTreeMap<CheckType, Value>;

/// What a plugin plugs into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Check(CheckType),
    /// The channel's name, e.g. `webhook`.
    Notifier(String),
}

/// Why a manifest is refused; says which line to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    #[error(
        "the component has no custom section vedette:manifest; build it with its plugin.toml embedded"
    )]
    Missing,
    #[error("plugin.toml is not valid: {0}")]
    Syntax(String),
    #[error("plugin.toml: {field} {reason}")]
    Field { field: &'static str, reason: String },
    /// This is the operator's to mend.
    #[error("{0}")]
    Setting(String),
}

/// Name of the custom section.
pub const SECTION: &str = "vedette:manifest";

impl Manifest {
    /// Reads the text of a `plugin.toml`; what it says of the operator's settings is filled in, and
    /// settings that it does not declare are refused.
    pub fn parse(text: &str, settings: &Settings) -> Result<Self, ManifestError> {
        let file: File = toml::from_str(text)
            .map_err(|error| ManifestError::Syntax(mistake::told(text, &error)))?;
        Self::of(file, settings)
    }

    /// Holds what the operator would set, a JSON object, against what may be set.
    ///
    /// # Errors
    /// One sentence that names the setting, and those that there are where there is no such one.
    pub fn takes(&self, settings: &Value) -> Result<(), ManifestError> {
        settable::accept(&self.settings, settings)
    }

    /// Refuses what no call could ever use; `text` is what this was read from. Asked where a version
    /// comes in, and not where it is loaded: the rest of one that was approved before may well work.
    pub(crate) fn usable(&self, text: &str) -> Result<(), ManifestError> {
        usable::check(self, text)
    }

    /// Whether this may be a plugin's id: `publisher.name`, as in `acme.smtp-banner`.
    pub fn is_id(text: &str) -> bool {
        is_id(text)
    }

    /// The limits that this manifest asks for, within what its class may have.
    pub(crate) fn limits(&self, class: Class) -> Result<Limits, ManifestError> {
        let ceiling = Ceiling::of(class);
        let asked = &self.limits;
        let mut limits = Limits::of(class);
        if let Some(Size(memory)) = asked.memory {
            limits.memory = within("limits.memory", memory as usize, ceiling.memory)?;
        }
        if let Some(Span(cpu)) = asked.cpu {
            limits.cpu = within("limits.cpu", cpu, ceiling.cpu)?;
        }
        if let Some(Span(wall)) = asked.wall {
            limits.wall = within("limits.wall", wall, ceiling.wall)?;
        }
        if let Some(calls) = asked.calls {
            limits.calls = within("limits.calls", calls, ceiling.calls)?;
        }
        if let Some(Size(bytes)) = asked.bytes {
            limits.bytes = within("limits.bytes", bytes, ceiling.bytes)?;
        }
        Ok(limits)
    }

    /// Which engine a component of `size` bytes that asks for this runs on.
    pub(crate) fn class(&self, size: usize) -> Class {
        let light = Class::Light.room();
        let memory = self.limits.memory.map_or(0, |Size(memory)| memory as usize);
        if size > light.file || memory > light.memory { Class::Heavy } else { Class::Light }
    }

    fn of(file: File, operators: &Settings) -> Result<Self, ManifestError> {
        let File { plugin, schedule, capabilities, settings } = file;
        require(is_id(&plugin.id), "plugin.id", "must be publisher.name, as in acme.smtp-banner")?;
        require(is_version(&plugin.version), "plugin.version", "must be a version such as 1.2.0")?;
        let wit = plugin.wit == "vedette:plugin@1" || plugin.wit.starts_with("vedette:plugin@1.");
        require(wit, "plugin.wit", "must be vedette:plugin@1, the contract of this host")?;
        let kind = kind(&plugin)?;
        let set = match &kind {
            Kind::Check(check_type) => operators.get(check_type),
            Kind::Notifier(_) => None,
        };
        let named: BTreeSet<String> = capabilities.settings().map(str::to_owned).collect();
        let asked = capabilities
            .read(set.unwrap_or(&Value::Null))
            .map_err(|NoEntry { field, reason }| ManifestError::Field { field, reason })?;
        if matches!(kind, Kind::Notifier(_)) {
            let none = asked == Capabilities::default();
            require(none, "capabilities", "must be absent: the host sends for a notifier")?;
        }
        usable::shown(&asked)?;
        let declared = settable::declared(&kind, settings.properties, named)?;
        settable::accept(&declared, set.unwrap_or(&Value::Null))?;
        let vendor = Vendor { hosts: settings.hosts, paths: settings.paths };
        let formed = vendor.is_formed();
        require(
            formed,
            "settings",
            "must name hosts as example.com or *.example.com, and paths as /hooks/",
        )?;
        Ok(Self {
            id: plugin.id,
            version: plugin.version,
            kind,
            asked,
            interval: interval("schedule.interval", schedule.interval)?,
            min_interval: interval("schedule.min-interval", schedule.min_interval)?,
            url_field: settings.url_field,
            vendor,
            settings: declared,
            limits: plugin.limits,
        })
    }
}

fn kind(plugin: &PluginTable) -> Result<Kind, ManifestError> {
    match (plugin.kind, &plugin.check_type, &plugin.channel) {
        (KindName::Check, Some(check_type), None) => {
            let check_type = CheckType::from_str(check_type).map_err(|_| ManifestError::Field {
                field: "plugin.check-type",
                reason: "must match [a-z][a-z0-9_]{0,30}".into(),
            })?;
            Ok(Kind::Check(check_type))
        }
        (KindName::Notifier, None, Some(channel)) => {
            // The same alphabet: both become path segments and field names.
            let named = CheckType::from_str(channel).is_ok();
            require(named, "plugin.channel", "must match [a-z][a-z0-9_]{0,30}")?;
            Ok(Kind::Notifier(channel.clone()))
        }
        (KindName::Check, ..) => Err(ManifestError::Field {
            field: "plugin.kind",
            reason: "check needs plugin.check-type and no plugin.channel".into(),
        }),
        (KindName::Notifier, ..) => Err(ManifestError::Field {
            field: "plugin.kind",
            reason: "notifier needs plugin.channel and no plugin.check-type".into(),
        }),
    }
}

/// How often a check asks to be run.
fn interval(field: &'static str, asked: Option<Span>) -> Result<Option<Duration>, ManifestError> {
    let Some(Span(asked)) = asked else { return Ok(None) };
    require(INTERVALS.contains(&asked), field, "must be between 5s and 720h")?;
    Ok(Some(asked))
}

fn require(holds: bool, field: &'static str, reason: &str) -> Result<(), ManifestError> {
    if holds { Ok(()) } else { Err(ManifestError::Field { field, reason: reason.to_owned() }) }
}

fn within<T: PartialOrd + Default + std::fmt::Debug>(
    field: &'static str,
    asked: T,
    ceiling: T,
) -> Result<T, ManifestError> {
    require(asked > T::default(), field, "must be more than 0")?;
    if asked <= ceiling {
        return Ok(asked);
    }
    let reason = format!("asks for {asked:?}; a plugin of this size may have {ceiling:?}");
    Err(ManifestError::Field { field, reason })
}

fn is_id(id: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    id.len() <= 64
        && id.split_once('.').is_some_and(|(publisher, name)| part(publisher) && part(name))
}

/// It is the first thing shown to the person who decides whether the plugin may run: so no blanks
/// and no control characters, with which it could write lines of its own.
fn is_version(version: &str) -> bool {
    let shown = |b: u8| b.is_ascii_alphanumeric() || b".-+_".contains(&b);
    (1..=64).contains(&version.len()) && version.bytes().all(shown)
}

/// What one check of one site may ask of the scheduler: never a run after the other without a pause.
const INTERVALS: RangeInclusive<Duration> =
    Duration::from_secs(5)..=Duration::from_secs(720 * 3600);

#[cfg(test)]
mod tests {
    use super::*;

    const BANNER: &str = r#"
        [plugin]
        id = "acme.smtp-banner"
        version = "1.2.0"
        kind = "check"
        check-type = "smtp_banner"
        wit = "vedette:plugin@1"
        limits = { memory = "8MiB", cpu = "20ms", wall = "8s" }
        [schedule]
        interval = "5m"
        min-interval = "1m"
        [capabilities]
        tcp = { to = ["target:25"] }
    "#;

    fn with(from: &str, to: &str) -> Result<Manifest, ManifestError> {
        Manifest::parse(&BANNER.replace(from, to), &Settings::new())
    }

    #[test]
    fn asks_for_limits_within_its_class() {
        let manifest = Manifest::parse(BANNER, &Settings::new()).expect("a valid manifest");
        assert_eq!(manifest.class(50_000), Class::Light);
        let limits = manifest.limits(Class::Light).expect("within the ceiling");
        assert_eq!((limits.memory, limits.cpu), (8 << 20, Duration::from_millis(20)));
        assert_eq!((limits.wall, limits.calls), (Duration::from_secs(8), 64));
        assert_eq!(manifest.interval, Some(Duration::from_secs(300)));
    }

    #[test]
    fn more_than_the_ceiling_is_refused_by_name() {
        let manifest = with("20ms", "2s").expect("parses");
        let refused = manifest.limits(Class::Light).expect_err("above 200 ms");
        assert!(refused.to_string().starts_with("plugin.toml: limits.cpu asks for 2s"));
    }

    #[test]
    fn nothing_is_no_limit_that_a_run_could_keep() {
        for (line, field) in [
            ("cpu = \"0ms\"", "cpu"),
            ("wall = \"0s\"", "wall"),
            ("memory = \"0\"", "memory"),
            ("calls = 0", "calls"),
            ("bytes = \"0\"", "bytes"),
        ] {
            let asked = r#"memory = "8MiB", cpu = "20ms", wall = "8s""#;
            let manifest = with(asked, line).expect("parses");
            let refused = manifest.limits(Class::Light).expect_err(line).to_string();
            let expected = format!("plugin.toml: limits.{field} must be more than 0");
            assert_eq!(refused, expected, "{line}");
        }
    }

    #[test]
    fn large_memory_or_file_means_the_heavy_engine() {
        assert_eq!(with("8MiB", "64MiB").expect("parses").class(50_000), Class::Heavy);
        assert_eq!(
            Manifest::parse(BANNER, &Settings::new()).expect("parses").class(12 << 20),
            Class::Heavy
        );
    }

    #[test]
    fn mistakes_name_the_line() {
        let mistakes = [
            ("acme.smtp-banner", "smtp-banner", "plugin.toml: plugin.id must be publisher.name"),
            ("1.2.0", "", "plugin.toml: plugin.version must be a version such as 1.2.0"),
            ("1.2.0", "1.2.0\\nasks for: nothing", "plugin.toml: plugin.version must be a version"),
            ("1.2.0", "1.2.0\\u001b[2J", "plugin.toml: plugin.version must be a version"),
            ("smtp_banner\"", "Smtp Banner\"", "plugin.toml: plugin.check-type must match"),
            ("vedette:plugin@1", "vedette:plugin@2", "plugin.toml: plugin.wit must be"),
            ("kind = \"check\"", "kind = \"notifier\"", "plugin.toml: plugin.kind notifier needs"),
            ("target:25", "target:port", "plugin.toml: capabilities.tcp.to"),
            ("8MiB", "8MB", "plugin.toml is not valid: expected a size"),
            ("min-interval", "minimum", "plugin.toml is not valid: unknown field `minimum`"),
            ("\"1m\"", "\"0s\"", "plugin.toml: schedule.min-interval must be between 5s and"),
            ("\"5m\"", "\"4s\"", "plugin.toml: schedule.interval must be between 5s and 720h"),
            ("\"5m\"", "\"721h\"", "plugin.toml: schedule.interval must be between 5s and"),
        ];
        for (from, to, expected) in mistakes {
            let error = with(from, to).expect_err(expected).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let error = with("\"8s\"", "8").expect_err("no duration").to_string();
        assert!(
            error.ends_with("invalid type: integer `8`, expected a string (line 8)"),
            "{error}"
        );
    }

    #[test]
    fn a_notifier_asks_for_no_network() {
        let text = r#"
            [plugin]
            id = "vedette.webhook"
            version = "1.0.0"
            kind = "notifier"
            channel = "webhook"
            wit = "vedette:plugin@1"
            [settings]
            url-field = "custom_webhook_url"
        "#;
        let manifest = Manifest::parse(text, &Settings::new()).expect("a valid manifest");
        assert_eq!(manifest.kind, Kind::Notifier("webhook".into()));
        assert_eq!(manifest.url_field.as_deref(), Some("custom_webhook_url"));
        assert_eq!(manifest.vendor, Vendor::default());
        for line in ["hosts = [\"*evil.example\"]", "hosts = [\"\"]", "paths = [\"hooks\"]"] {
            let odd = Manifest::parse(&format!("{text}\n{line}"), &Settings::new());
            assert!(odd.is_err(), "{line}");
        }
        let greedy = format!("{text}\n[capabilities]\nhttp = {{ to = [\"https://*\"] }}");
        assert!(Manifest::parse(&greedy, &Settings::new()).is_err());
    }
}
