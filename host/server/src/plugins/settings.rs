//! What the operator sets for a plugin's check: from the lock to the sandbox, and from a command line
//! to the lock.
//!
//! *Invariant:* pure. What may be set, the plugin's manifest says.

use std::time::Duration;

use serde_json::{Map, Value, json};
use toml::Table;
use vedette_sandbox::{Kind, Manifest, Read, Settings};

/// What a sandbox is to hand to a plugin of this kind.
pub(crate) fn of(kind: &Kind, set: &Table) -> Settings {
    match kind {
        Kind::Check(check_type) if !set.is_empty() => {
            Settings::from([(check_type.clone(), as_json(set))])
        }
        Kind::Check(_) | Kind::Notifier(_) => Settings::new(),
    }
}

/// Why a version cannot be loaded with what is set for its plugin; none where it can.
pub(crate) fn misfit(read: &Read, interval: Option<Duration>, set: &Table) -> Option<String> {
    let kind = &read.manifest.kind;
    let wrong = match kind {
        Kind::Check(_) => Manifest::parse(&read.text, &of(kind, set)).err()?.to_string(),
        Kind::Notifier(_) if interval.is_some() => {
            "a channel has no interval: it sends when there is something to tell".to_owned()
        }
        Kind::Notifier(_) if !set.is_empty() => {
            "a channel has no settings here: each account sets its own".to_owned()
        }
        Kind::Notifier(_) => return None,
    };
    Some(wrong)
}

/// The value that a text stands for: itself where the setting is a text, else what it is in TOML.
pub(crate) fn value(manifest: &Manifest, name: &str, text: &str) -> toml::Value {
    let itself = toml::Value::from(text);
    let takes = |value: &toml::Value| manifest.takes(&json!({ name: json_of(value) })).is_ok();
    match text.parse::<toml::Value>() {
        // Where neither fits, what is said of a number is said of one.
        Ok(value) if takes(&value) || !takes(&itself) => value,
        Ok(_) | Err(_) => itself,
    }
}

/// As plugins are given it.
pub(crate) fn as_json(set: &Table) -> Value {
    let members = set.iter().map(|(name, value)| (name.clone(), json_of(value)));
    Value::Object(members.collect::<Map<_, _>>())
}

/// JSON has no word for a moment, and none for what is no number.
fn json_of(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Integer(number) => (*number).into(),
        toml::Value::Float(number) => (*number).into(),
        toml::Value::Boolean(is) => (*is).into(),
        toml::Value::Datetime(moment) => moment.to_string().into(),
        toml::Value::Array(items) => items.iter().map(json_of).collect(),
        toml::Value::Table(table) => as_json(table),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: &str, more: &str) -> Read {
        let text = format!(
            "[plugin]\nid = \"acme.banner\"\nversion = \"1.0.0\"\n{kind}\n\
             wit = \"vedette:plugin@1\"\n{more}"
        );
        let manifest = Manifest::parse(&text, &Settings::new()).expect("a manifest");
        Read { manifest, text }
    }

    fn check() -> Read {
        let settings = "[capabilities]\nhttp = { to = [\"{api}\"] }\n[settings.properties]\n\
                        expect = { type = \"string\" }\nlimit = { type = \"integer\" }\n\
                        words = { items = { type = \"string\" } }\n";
        read("kind = \"check\"\ncheck-type = \"banner\"", settings)
    }

    #[test]
    fn a_text_is_what_its_setting_takes() {
        let manifest = check().manifest;
        for (name, text, expected) in [
            ("expect", "ESMTP", json!("ESMTP")),
            ("expect", "220", json!("220")),
            ("expect", "2026-11-26", json!("2026-11-26")),
            ("expect", "", json!("")),
            ("limit", "220", json!(220)),
            ("limit", "many", json!("many")),
            ("limit", "1.5", json!(1.5)),
            ("words", "[\"a\", \"b\"]", json!(["a", "b"])),
            ("words", "a b", json!("a b")),
            ("api", "https://api.example:8443/v1", json!("https://api.example:8443/v1")),
            ("other", "true", json!(true)),
        ] {
            assert_eq!(json_of(&value(&manifest, name, text)), expected, "{name}={text}");
        }
    }

    #[test]
    fn a_version_is_held_against_what_is_set() {
        let channel = read("kind = \"notifier\"\nchannel = \"pager\"", "");
        for (read, interval, settings, expected) in [
            (check(), None, "", None),
            (check(), Some(5), "expect = 'ESMTP'\napi = 'https://api.example'", None),
            (check(), None, "expct = 'ESMTP'", Some("this plugin has api, expect, limit, words")),
            (check(), None, "limit = 'many'", Some("the setting limit: value is not of type")),
            (check(), None, "api = 'nowhere'", Some("names {api}, which is set to something")),
            (channel.clone(), None, "", None),
            (channel.clone(), Some(5), "", Some("a channel has no interval")),
            (channel, None, "room = 'ops'", Some("each account sets its own")),
        ] {
            let interval = interval.map(Duration::from_secs);
            let said = misfit(&read, interval, &settings.parse().expect("TOML"));
            match (&said, expected) {
                (None, None) => {}
                (Some(said), Some(expected)) => assert!(said.contains(expected), "{said}"),
                _ => panic!("{settings}: {said:?}"),
            }
        }
    }

    #[test]
    fn plugins_are_given_json() {
        let set = "a = 1\nb = [1.5, true]\nc = { d = 2026-11-26 }\ne = nan";
        let expected = json!({ "a": 1, "b": [1.5, true], "c": { "d": "2026-11-26" }, "e": null });
        assert_eq!(as_json(&set.parse().expect("TOML")), expected);
    }
}
