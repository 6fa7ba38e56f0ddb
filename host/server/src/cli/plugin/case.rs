//! Case files: one run of a check, with the answers that its probes had and what came of it, so
//! that it can be had again without a network.
//!
//! ```toml
//! [job]
//! target = "mail.example.com"
//! at = "2026-11-01T00:00:00Z"
//! config = { expected = "ESMTP" }
//!
//! [expect]
//! health = "ok"
//! result = { matched = true }
//!
//! [[probe]]
//! call = "tcp.exchange"
//! request = { endpoint = { host = "mail.example.com", port = 25 }, max = 512 }
//! response = { Ok = "220 mail.example.com ESMTP\r\n" }
//! ```
//!
//! *Invariant:* no case holds a secret as it is, or in a form that [`mask`] knows: `secret:NAME` stands
//! in its place, here and in the runs of a case.

use std::{cmp::Reverse, collections::BTreeMap, fs, io::Write, net::IpAddr, path::Path, sync::Arc};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use vedette_model::{CheckType, Health, Timestamp, domain_name::Target};
use vedette_sandbox::{Probe, Recorded, Recording, Settings};

use super::mask;
use crate::cli::check::{self, Seen, Wanted};

/// One run: what it is given, what its probes are answered, and what is to come of it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    job: CaseJob,
    #[serde(default)]
    expect: Expected,
    #[serde(default)]
    probe: Vec<Probe>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseJob {
    target: String,
    /// The time at which the run's clock stands.
    at: Timestamp,
    port: Option<u16>,
    origin_ip: Option<IpAddr>,
    /// What the target resolved to.
    #[serde(default)]
    addresses: Vec<IpAddr>,
    #[serde(default)]
    config: Map<String, Value>,
    /// What the operator set.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    settings: Map<String, Value>,
}

/// What is named here has to be there; of all else nothing is asked.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    health: Option<Health>,
    result: Option<Value>,
    findings: Option<Value>,
}

impl Case {
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(file)
            .with_context(|| format!("{} cannot be read", file.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is not a case file", file.display()))
    }

    /// What was recorded of a run; it expects nothing yet.
    pub(super) fn of(wanted: &Wanted<'_>, settings: Value, recorded: Recorded) -> Self {
        let object = |value: &Value| value.as_object().cloned().unwrap_or_default();
        let job = CaseJob {
            target: wanted.given.to_owned(),
            at: wanted.now,
            port: wanted.port,
            origin_ip: wanted.origin_ip,
            addresses: recorded.addresses,
            config: object(&wanted.config),
            settings: object(&settings),
        };
        Self { job, expect: Expected::default(), probe: recorded.probes }
    }

    pub(super) fn wanted(&self) -> anyhow::Result<Wanted<'_>> {
        Ok(Wanted {
            given: &self.job.target,
            target: Target::parse(&self.job.target)?,
            port: self.job.port,
            origin_ip: self.job.origin_ip,
            config: Value::Object(self.job.config.clone()),
            now: self.job.at,
        })
    }

    /// What a sandbox is to hand to the check.
    pub(super) fn settings(&self, check_type: &CheckType) -> Settings {
        Settings::from([(check_type.clone(), Value::Object(self.job.settings.clone()))])
    }

    pub(super) fn recording(&self) -> Arc<Recording> {
        let recording = Recording::new(self.probe.clone());
        Arc::new(recording.with_addresses(self.job.addresses.clone()))
    }

    /// From now on it expects what this run saw.
    pub(super) fn expect(&mut self, seen: &Seen) {
        self.expect = Expected {
            health: Some(seen.assessment.health),
            result: Some(seen.ran.observation.result.clone()),
            findings: Some(check::findings(seen)),
        };
    }

    /// Where a run saw something else than what is expected, a line each.
    pub(super) fn differences(&self, seen: &Seen) -> Vec<String> {
        let mut found = Vec::new();
        let Expected { health, result, findings } = &self.expect;
        if let Some(health) = health {
            compare("health", &json!(health), &json!(seen.assessment.health), &mut found);
        }
        if let Some(result) = result {
            compare("result", result, &seen.ran.observation.result, &mut found);
        }
        if let Some(findings) = findings {
            compare("findings", findings, &check::findings(seen), &mut found);
        }
        found
    }

    /// Writes a new file, in which secrets are given by name.
    pub(super) fn write(
        &self,
        file: &Path,
        secrets: &BTreeMap<String, String>,
    ) -> anyhow::Result<()> {
        let mut case = without_none(serde_json::to_value(self)?);
        for (name, value) in longest_first(secrets) {
            mask::lay(&mut case, value, &placeholder(name));
        }
        let text = toml::to_string_pretty(&case).context("the run does not fit into TOML")?;
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let made = fs::File::create_new(file);
        let mut made = made.with_context(|| {
            format!("{} cannot be made; give another with --record", file.display())
        })?;
        Ok(made.write_all(text.as_bytes())?)
    }
}

/// What a secret is in a case: a run of it is given this in its place.
pub(super) fn placeholder(name: &str) -> String {
    format!("secret:{name}")
}

/// Refuses a place that is taken, before anything runs.
pub(super) fn ensure_vacant(file: &Path) -> anyhow::Result<()> {
    if file.exists() {
        bail!("{} is there already; remove it, or give another with --record", file.display());
    }
    Ok(())
}

/// TOML has no word for none.
fn without_none(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let said = fields.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(said.map(|(name, value)| (name, without_none(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_none).collect()),
        scalar => scalar,
    }
}

/// In the order in which they are masked: one that is a part of another would leave the rest of it
/// behind. An empty one stands nowhere.
fn longest_first(secrets: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    let given = secrets.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut given: Vec<_> = given.filter(|(_, value)| !value.is_empty()).collect();
    given.sort_by_key(|(_, value)| Reverse(value.len()));
    given
}

fn compare(at: &str, expected: &Value, saw: &Value, found: &mut Vec<String>) {
    match (expected, saw) {
        (Value::Object(expected), Value::Object(saw)) => {
            for (name, expected) in expected {
                let saw = saw.get(name).unwrap_or(&Value::Null);
                compare(&format!("{at}.{name}"), expected, saw, found);
            }
        }
        (Value::Array(expected), Value::Array(saw)) if expected.len() == saw.len() => {
            for (nth, (expected, saw)) in expected.iter().zip(saw).enumerate() {
                compare(&format!("{at}[{nth}]"), expected, saw, found);
            }
        }
        (expected, saw) if is_same(expected, saw) => {}
        (expected, saw) => found.push(format!("{at}: expected {expected}, saw {saw}")),
    }
}

/// 1 and 1.0 are one number, which TOML writes in two ways.
fn is_same(expected: &Value, saw: &Value) -> bool {
    expected == saw || expected.as_f64().is_some_and(|number| saw.as_f64() == Some(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences(expected: &Value, saw: &Value) -> Vec<String> {
        let mut found = Vec::new();
        compare("result", expected, saw, &mut found);
        found
    }

    #[test]
    fn what_a_case_names_has_to_be_there() {
        let saw = json!({"banner": "hi", "error": null, "ms": 1.0, "names": ["a", "b"]});
        for fits in [
            json!({}),
            json!({"banner": "hi"}),
            json!({"error": null, "absent": null}),
            json!({"ms": 1}),
            json!({"names": ["a", "b"]}),
        ] {
            assert_eq!(differences(&fits, &saw), Vec::<String>::new(), "{fits}");
        }
        for (other, said) in [
            (json!({"banner": "ho"}), "result.banner: expected \"ho\", saw \"hi\""),
            (json!({"error": "x"}), "result.error: expected \"x\", saw null"),
            (json!({"names": ["a"]}), "result.names: expected [\"a\"], saw [\"a\",\"b\"]"),
            (json!({"names": ["a", "c"]}), "result.names[1]: expected \"c\", saw \"b\""),
            (json!("hi"), "result: expected \"hi\", saw "),
        ] {
            let found = differences(&other, &saw);
            assert!(found.len() == 1 && found[0].starts_with(said), "{other}: {found:?}");
        }
    }

    #[test]
    fn nothing_of_a_secret_that_begins_with_another_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("one.toml");
        let send = format!("hex:00{}", hex::encode("acme-s3cr3t"));
        let case: Case = serde_json::from_value(json!({
            "job": {"target": "example.com", "at": "2026-11-01T00:00:00Z"},
            "probe": [{"call": "tcp.exchange", "response": {"Ok": "+"},
                "request": {"login": "acme:acme-s3cr3t", "send": send}}],
        }))
        .expect("a case");
        let secrets = [("account", "acme"), ("none", ""), ("token", "acme-s3cr3t")];
        let secrets = secrets.map(|(name, value)| (name.to_owned(), value.to_owned()));
        case.write(&file, &BTreeMap::from(secrets)).expect("written");
        let read = Case::read(&file).expect("read");
        let send = format!("hex:00{}", hex::encode("secret:token"));
        let login = "secret:account:secret:token";
        assert_eq!(read.probe[0].request, json!({"login": login, "send": send}));
    }

    #[test]
    fn a_written_case_is_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("tests/one.toml");
        let case: Case = serde_json::from_value(json!({
            "job": {"target": "example.com", "at": "2026-11-01T00:00:00Z", "port": 25,
                "config": {"expected": "hi", "deep": {"list": [1, 2.5, true]}},
                "settings": {"relay": "relay.example:25"}},
            "expect": {"health": "ok", "result": {"banner": "hi", "error": null}},
            "probe": [{"call": "tcp.exchange", "request": {"max": 512},
                "response": {"Ok": "220 \"hi\"\r\n"}}],
        }))
        .expect("a case");
        case.write(&file, &BTreeMap::new()).expect("written");
        let read = Case::read(&file).expect("read");
        assert_eq!(read.probe, case.probe);
        assert_eq!(read.job.config, case.job.config);
        assert_eq!(read.job.settings, case.job.settings);
        assert_eq!((read.job.at, read.job.port), (case.job.at, Some(25)));
        assert_eq!(read.expect.health, Some(Health::Ok));
        assert_eq!(read.expect.result, Some(json!({"banner": "hi"})));
        assert!(case.write(&file, &BTreeMap::new()).is_err(), "never over another");
        assert!(ensure_vacant(&file).is_err());
    }
}
