//! Schemas for readers: what kind of value, within which bounds, with which members.

use std::iter;

use serde_json::{Map, Value};

use super::text::{escape, inline};

/// The kind of value in a few words, other schemas as links.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(to) = schema["$ref"].as_str() {
        let name = escape(to.rsplit('/').next().unwrap_or(to));
        return format!("<a href=\"#schema-{name}\">{name}</a>");
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[keyword].as_array()
            && choices.iter().any(tells_kind)
        {
            return choices.iter().map(choice).collect::<Vec<_>>().join(" or ");
        }
    }
    match &schema["type"] {
        Value::String(name) => named(name, schema),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str);
            names.map(|name| named(name, schema)).collect::<Vec<_>>().join(" or ")
        }
        _ => "any value".to_owned(),
    }
}

/// Whether a choice is one of kinds, and not only of members or formats.
fn tells_kind(schema: &Value) -> bool {
    KINDS.iter().any(|word| schema.get(word).is_some())
}

/// One of several: where it is a value or a few, these.
fn choice(schema: &Value) -> String {
    let values = match (&schema["const"], &schema["enum"]) {
        (Value::Null, Value::Array(values)) => values.as_slice(),
        (Value::Null, _) => return kind(schema),
        (value, _) => std::slice::from_ref(value),
    };
    let codes = values.iter().map(|value| format!("<code>{}</code>", literal(value)));
    codes.collect::<Vec<_>>().join(" or ")
}

fn named(name: &str, schema: &Value) -> String {
    match name {
        "array" => format!("list of {}", kind(&schema["items"])),
        // Members that may only be null are named by nobody.
        "object"
            if schema["additionalProperties"].is_object()
                && schema["additionalProperties"]["type"] != "null" =>
        {
            format!("object of {}", kind(&schema["additionalProperties"]))
        }
        "string" => {
            let choices = schema["anyOf"].as_array().into_iter().flatten();
            let formats = iter::once(schema).chain(choices);
            let formats: Vec<String> =
                formats.filter_map(|schema| schema["format"].as_str()).map(escape).collect();
            if formats.is_empty() { "string".to_owned() } else { formats.join(" or ") }
        }
        other => escape(other),
    }
}

/// Values, bounds and default; empty where there are none.
pub(super) fn bounds(schema: &Value) -> String {
    let mut facts = Vec::new();
    let choices = schema["enum"].as_array().or_else(|| schema["items"]["enum"].as_array());
    if let Some(choices) = choices {
        let choices: Vec<String> =
            choices.iter().map(|choice| format!("<code>{}</code>", literal(choice))).collect();
        facts.push(choices.join(" "));
    }
    for (keyword, words) in BOUNDS {
        if let Some(bound) = schema.get(keyword) {
            facts.push(format!("{words} {}", literal(bound)));
        }
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        facts.push(format!("matches <code>{}</code>", escape(pattern)));
    }
    if let Some(default) = schema.get("default") {
        facts.push(format!("default <code>{}</code>", literal(default)));
    }
    facts.join(", ")
}

/// The members of an object, each with what is known of it; empty where none are named.
pub(super) fn members(schema: &Value) -> String {
    let Some(properties) = schema["properties"].as_object().filter(|named| !named.is_empty())
    else {
        return String::new();
    };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let entries = properties.iter().map(|(name, member)| {
        entry(name, member, required.contains(&name.as_str()), member["description"].as_str())
    });
    format!("<dl>{}</dl>", entries.collect::<String>())
}

/// One line of a list of members or parameters.
pub(super) fn entry(
    name: &str,
    schema: &Value,
    required: bool,
    description: Option<&str>,
) -> String {
    let required = if required { " <span class=\"required\">required</span>" } else { "" };
    let bounds = bounds(schema);
    let bounds = if bounds.is_empty() { bounds } else { format!("<p>{bounds}</p>") };
    let description = description.map(|text| format!("<p>{}</p>", inline(text)));
    format!(
        "<dt><code>{}</code> <span class=\"kind\">{}</span>{required}</dt><dd>{}{bounds}</dd>",
        escape(name),
        kind(schema),
        description.unwrap_or_default(),
    )
}

/// An example, indented.
pub(super) fn example(content: &Value) -> String {
    let one = content.get("example").map(|value| (None, value));
    let named = content["examples"].as_object().into_iter().flat_map(Map::values);
    let named =
        named.filter_map(|example| Some((example["summary"].as_str(), example.get("value")?)));
    let shown = one.into_iter().chain(named).map(|(summary, value)| {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        let caption = summary.map(|text| format!("<p>{}:</p>", inline(text)));
        format!("{}<pre tabindex=\"0\">{}</pre>", caption.unwrap_or_default(), escape(&text))
    });
    shown.collect()
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => escape(text),
        other => escape(&other.to_string()),
    }
}

const KINDS: [&str; 6] = ["$ref", "type", "const", "enum", "anyOf", "oneOf"];
const BOUNDS: [(&str, &str); 6] = [
    ("minimum", "at least"),
    ("maximum", "at most"),
    ("minLength", "characters: at least"),
    ("maxLength", "characters: at most"),
    ("minItems", "entries: at least"),
    ("maxItems", "entries: at most"),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_are_told_in_words() {
        let cases = [
            (json!({ "type": "integer" }), "integer"),
            (json!({ "type": ["integer", "null"] }), "integer or null"),
            (
                json!({ "type": "object", "additionalProperties": { "type": "integer" } }),
                "object of integer",
            ),
            (json!({ "type": "object", "additionalProperties": { "type": "null" } }), "object"),
            (json!({ "type": "string", "format": "uuid" }), "uuid"),
            (json!({ "type": "array", "items": { "type": "string" } }), "list of string"),
            (
                json!({ "anyOf": [{ "$ref": "#/components/schemas/Hsts" }, { "type": "null" }] }),
                "<a href=\"#schema-Hsts\">Hsts</a> or null",
            ),
            (
                json!({ "oneOf": [{ "const": "up" }, { "enum": ["down"] }, { "type": "null" }] }),
                "<code>up</code> or <code>down</code> or null",
            ),
            (json!({ "type": "string", "anyOf": [{ "format": "date" }] }), "date"),
            (
                json!({ "type": ["string", "null"], "anyOf": [{ "format": "ipv4" }, {}] }),
                "ipv4 or null",
            ),
            (json!({ "type": "object", "anyOf": [{ "required": ["a"] }] }), "object"),
            (json!({ "type": "<b>" }), "&lt;b&gt;"),
            (json!(true), "any value"),
        ];
        for (schema, words) in cases {
            assert_eq!(kind(&schema), words, "{schema}");
        }
    }

    #[test]
    fn bounds_and_defaults_are_told() {
        let schema = json!({ "type": "integer", "minimum": 1, "maximum": 200, "default": 50 });
        assert_eq!(bounds(&schema), "at least 1, at most 200, default <code>50</code>");
        assert_eq!(bounds(&json!({ "enum": ["a", null] })), "<code>a</code> <code>null</code>");
    }
}
