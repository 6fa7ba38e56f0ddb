//! What the operator may set for a check: `[settings.properties]`, a JSON Schema for each name, and
//! what `[capabilities]` name in braces.
//!
//! *Invariant:* pure.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Kind, ManifestError, require};
use crate::schema::Schema;

/// JSON Schemas of what may be set, by name; a name that a grant uses needs no schema of its own.
pub(super) fn declared(
    kind: &Kind,
    mut properties: BTreeMap<String, Value>,
    named: impl IntoIterator<Item = String>,
) -> Result<BTreeMap<String, Value>, ManifestError> {
    if matches!(kind, Kind::Notifier(_)) {
        let reason = "must be absent: what a notifier is given is set by each account";
        require(properties.is_empty(), FIELD, reason)?;
        return Ok(BTreeMap::new());
    }
    let formed = properties.keys().all(|name| is_name(name));
    require(formed, FIELD, "must have names such as api_url, of letters, digits, _ and -")?;
    for name in named.into_iter().filter(|name| is_name(name)) {
        properties.entry(name).or_insert_with(|| json!({ "type": ["string", "array"] }));
    }
    compiled(&properties)?;
    Ok(properties)
}

/// Holds what the operator set, a JSON object, against what may be set.
pub(super) fn accept(
    properties: &BTreeMap<String, Value>,
    set: &Value,
) -> Result<(), ManifestError> {
    let Some(set) = set.as_object().filter(|set| !set.is_empty()) else { return Ok(()) };
    if let Some(unknown) = set.keys().find(|name| !properties.contains_key(*name)) {
        let known: Vec<&str> = properties.keys().map(String::as_str).collect();
        let known = match known.as_slice() {
            [] => "this plugin has no settings".to_owned(),
            known => format!("this plugin has {}", known.join(", ")),
        };
        return Err(ManifestError::Setting(format!("no setting is called {unknown:?}; {known}")));
    }
    let checked = compiled(properties)?.check(&Value::Object(set.clone()));
    checked.map_err(|wrong| {
        let wrong = one_line(wrong.trim_start_matches('/'));
        ManifestError::Setting(format!("the setting {wrong}"))
    })
}

fn compiled(properties: &BTreeMap<String, Value>) -> Result<Schema, ManifestError> {
    let schema = json!({ "type": "object", "properties": properties });
    Schema::new(&schema.to_string()).map_err(|wrong| {
        let reason = format!("is refused: {}", one_line(&wrong));
        ManifestError::Field { field: FIELD, reason }
    })
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// It comes before a `=` on a command line, and is shown to the person who types that.
fn is_name(text: &str) -> bool {
    let shown = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    (1..=64).contains(&text.len()) && text.bytes().all(shown) && !text.starts_with('-')
}

const FIELD: &str = "settings.properties";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{Manifest, Settings};

    const CHECK: &str = r#"
        [plugin]
        id = "acme.banner"
        version = "1.0.0"
        kind = "check"
        check-type = "banner"
        wit = "vedette:plugin@1"
        [capabilities]
        http = { to = ["{api_url}", "target"] }
        tcp = { to = ["*:{relay}"] }
        [settings.properties]
        expect = { type = "string", maxLength = 5 }
        limit = { type = "integer", minimum = 1 }
    "#;

    fn with(set: Value) -> Result<Manifest, String> {
        let check_type = "banner".parse().expect("a check type");
        let settings = Settings::from([(check_type, set)]);
        Manifest::parse(CHECK, &settings).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn what_is_declared_or_named_by_a_grant_may_be_set() {
        let manifest = with(Value::Null).expect("a manifest");
        let names: Vec<_> = manifest.settings.keys().map(String::as_str).collect();
        assert_eq!(names, ["api_url", "expect", "limit", "relay"]);
        for set in [
            json!({}),
            json!({ "expect": "ESMTP", "limit": 3 }),
            json!({ "api_url": "https://api.example/v1", "relay": "relay.example:25" }),
            json!({ "api_url": ["https://a.example", "https://b.example"] }),
        ] {
            assert_eq!(with(set.clone()).err(), None, "{set}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        for (set, expected) in [
            (
                json!({ "expct": "ESMTP" }),
                "no setting is called \"expct\"; this plugin has api_url, expect, limit, relay",
            ),
            (json!({ "expect": 220 }), "the setting expect: value is not of type \"string\""),
            (json!({ "limit": 0 }), "the setting limit: value is less than the minimum of 1"),
            (json!({ "relay": 25 }), "the setting relay: value is not of types"),
            (json!({ "api_url": "nowhere" }), "plugin.toml: capabilities.http.to names {api_url}"),
        ] {
            let refused = with(set.clone()).expect_err("refused");
            assert!(refused.starts_with(expected), "{set}: {refused}");
        }
        let none =
            accept(&BTreeMap::new(), &json!({ "a\nb": 1 })).expect_err("refused").to_string();
        assert_eq!(none, "no setting is called \"a\\nb\"; this plugin has no settings");
    }

    #[test]
    fn schemas_that_make_no_sense_are_the_authors_to_mend() {
        for (from, to, expected) in [
            ("\"integer\"", "\"intger\"", "plugin.toml: settings.properties is refused: it is no"),
            ("limit =", "\"a b\" =", "plugin.toml: settings.properties must have names such as"),
            ("limit =", "-l =", "plugin.toml: settings.properties must have names such as"),
        ] {
            let refused = Manifest::parse(&CHECK.replace(from, to), &Settings::new());
            let refused = refused.expect_err(expected).to_string();
            assert!(refused.starts_with(expected), "{refused}");
        }
        let notifier = "[plugin]\nid = \"acme.pager\"\nversion = \"1\"\nkind = \"notifier\"\n\
                        channel = \"pager\"\nwit = \"vedette:plugin@1\"\n\
                        [settings.properties]\nroom = { type = \"string\" }\n";
        let refused = Manifest::parse(notifier, &Settings::new()).expect_err("a notifier");
        assert!(refused.to_string().contains("is set by each account"), "{refused}");
    }
}
