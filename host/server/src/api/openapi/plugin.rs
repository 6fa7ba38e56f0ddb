//! The schemas that plugins bring, as components: the check `ssl` has `SslResult` and `SslConfig`,
//! the channel `pager` of an operator's plugin `PagerChannel` and `PagerChannelFields`.
//!
//! *Invariant:* whatever a plugin's schema refers to within itself is a component too, under the
//! component's own name, so that no two plugins meet.

use serde_json::{Map, Value, json};
use vedette_model::Edition;
use vedette_sandbox::{ChannelDescriptor, CheckDescriptor};

use super::schema::{reference, said};
use crate::service::result_schema::plain;
pub(super) use crate::service::result_schema::{filled, part, shown};

/// The component that a check's result is.
pub(super) fn result_name(check_type: &str) -> String {
    format!("{}Result", pascal(check_type))
}

/// The component that a check's configuration is.
pub(super) fn config_name(check_type: &str) -> String {
    format!("{}Config", pascal(check_type))
}

/// `smtp_banner` → `SmtpBanner`.
pub(super) fn pascal(check_type: &str) -> String {
    let words = check_type.split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    words.collect()
}

/// The components of one check, as the edition shows its results.
pub(super) fn components(check: &CheckDescriptor, edition: &Edition) -> Vec<(String, Value)> {
    let check_type = check.check_type.as_str();
    let result = shown(check, edition);
    let mut components = hoisted(&result_name(check_type), result);
    components.extend(hoisted(&config_name(check_type), plain(check.config_schema.clone())));
    components
}

/// The component that the settings of a channel are.
pub(super) fn channel_name(channel: &str) -> String {
    format!("{}Channel", pascal(channel))
}

/// The components of one channel: what is set for it, and what its plugin says of that. In place of
/// the secrets, which the host keeps for itself, the plugin speaks of texts.
pub(super) fn channel_components(channel: &ChannelDescriptor) -> Vec<(String, Value)> {
    let name = channel_name(&channel.channel);
    let fields = format!("{name}Fields");
    let secrets = channel.secret_fields.iter().map(|field| {
        let is_url = channel.url_field.as_ref() == Some(field);
        (field.clone(), if is_url { url() } else { hidden() })
    });
    let properties: Map<String, Value> = secrets.collect();
    let required: Vec<&String> = channel.url_field.iter().collect();
    let mut components = hoisted(&fields, plain(channel.config_schema.clone()));
    let settings = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "allOf": [reference(&fields)],
    });
    components.push((name, said(settings, &channel.description)));
    components
}

fn url() -> Value {
    json!({
        "type": "string",
        "maxLength": 2048,
        "pattern": "^[hH][tT][tT][pP][sS]?://",
        "description": "Where it sends.",
    })
}

fn hidden() -> Value {
    json!({
        "type": ["string", "boolean"],
        "maxLength": 2048,
        "description": "Can be set but is never shown: `true` is answered in its place. Sending \
             `true` keeps the value.",
    })
}

/// Makes a component of a schema and of each of its definitions that something refers to.
pub(super) fn hoisted(name: &str, mut schema: Value) -> Vec<(String, Value)> {
    let Some(root) = schema.as_object_mut() else {
        return vec![(name.to_owned(), schema)];
    };
    // The document says which dialect this is, and where.
    for keyword in ["$schema", "$id"] {
        root.remove(keyword);
    }
    let mut definitions = match root.remove("$defs") {
        Some(Value::Object(definitions)) => definitions,
        _ => Map::new(),
    };
    // A title that only repeats the Rust type's name says nothing.
    root.remove("title");
    let mut components = vec![(name.to_owned(), schema)];
    let mut next = 0;
    while next < components.len() {
        let mut wanted = Vec::new();
        redirect(&mut components[next].1, name, &mut wanted);
        for definition in wanted {
            if let Some(schema) = definitions.remove(&definition) {
                components.push((component(name, &definition), schema));
            }
        }
        next += 1;
    }
    components
}

/// Makes every reference lead to a component, and collects the definitions that are named.
fn redirect(value: &mut Value, root: &str, wanted: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| redirect(item, root, wanted)),
        Value::Object(members) => {
            for (keyword, member) in members {
                match member {
                    Value::String(to) if keyword == "$ref" => *to = redirected(to, root, wanted),
                    member => redirect(member, root, wanted),
                }
            }
        }
        _ => {}
    }
}

fn redirected(to: &str, root: &str, wanted: &mut Vec<String>) -> String {
    if let Some(pointer) = to.strip_prefix("#/$defs/") {
        let (definition, rest) = match pointer.split_once('/') {
            Some((definition, rest)) => (definition, format!("/{rest}")),
            None => (pointer, String::new()),
        };
        let definition = definition.replace("~1", "/").replace("~0", "~");
        let target = component(root, &definition);
        wanted.push(definition);
        return format!("#/components/schemas/{target}{rest}");
    }
    match to.strip_prefix('#') {
        Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => {
            format!("#/components/schemas/{root}{pointer}")
        }
        _ => to.to_owned(),
    }
}

/// `SslResult`, `ChainItem` → `SslResultChainItem`, of the characters that names may have.
fn component(root: &str, definition: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!("{root}{}", definition.chars().map(allowed).collect::<String>())
}

/// Any of the results, as they are brought.
pub(super) fn any_result<'a>(checks: impl Iterator<Item = &'a str>) -> Vec<Value> {
    checks.map(|check_type| reference(&result_name(check_type))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn definitions_become_components_of_their_own() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Facts",
            "type": "object",
            "properties": {
                "chain": { "type": "array", "items": { "$ref": "#/$defs/Item" } },
                "whole": { "$ref": "#" },
                "deep": { "$ref": "#/$defs/Item/properties/kind" },
            },
            "$defs": {
                "Item": { "type": "object", "properties": { "kind": { "$ref": "#/$defs/a~1b" } } },
                "a/b": { "enum": ["x"] },
                "Unused": { "type": "null" },
            },
        });
        let components = hoisted("SslResult", schema);
        let names: Vec<&str> = components.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["SslResult", "SslResultItem", "SslResulta_b"]);
        let expected = json!({
            "type": "object",
            "properties": {
                "chain": {
                    "type": "array",
                    "items": { "$ref": "#/components/schemas/SslResultItem" },
                },
                "whole": { "$ref": "#/components/schemas/SslResult" },
                "deep": { "$ref": "#/components/schemas/SslResultItem/properties/kind" },
            },
        });
        assert_eq!(components[0].1, expected);
        let kind = "#/components/schemas/SslResulta_b";
        assert_eq!(components[1].1["properties"]["kind"]["$ref"], kind);
    }

    #[test]
    fn names_of_checks_become_names_of_types() {
        assert_eq!(result_name("ssl"), "SslResult");
        assert_eq!(config_name("smtp_banner"), "SmtpBannerConfig");
    }
}
