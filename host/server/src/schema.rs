//! Fragments of JSON Schema that the description and the tools for assistants share.

use serde_json::{Map, Value, json};

pub(crate) fn uuid() -> Value {
    json!({ "type": "string", "format": "uuid" })
}

pub(crate) fn moment() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

pub(crate) fn text() -> Value {
    json!({ "type": "string" })
}

pub(crate) fn boolean() -> Value {
    json!({ "type": "boolean" })
}

pub(crate) fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

/// A bare host name, international ones included.
pub(crate) fn domain() -> Value {
    json!({
        "type": "string",
        "format": "idn-hostname",
        "minLength": 1,
        "maxLength": 253,
        "description": "A bare host name: no scheme, port, path or address.",
    })
}

/// A string out of a few.
pub(crate) fn one_of(values: &[&str]) -> Value {
    json!({ "type": "string", "enum": values })
}

pub(crate) fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// The same schema with a description of its own.
pub(crate) fn said(mut schema: Value, description: &str) -> Value {
    schema["description"] = json!(description);
    schema
}

/// What the schema lets pass, or null.
pub(crate) fn or_null(mut schema: Value) -> Value {
    let named = schema["type"].as_str().map(str::to_owned);
    let Some(kind) = named else {
        return json!({ "anyOf": [schema, { "type": "null" }] });
    };
    schema["type"] = json!([kind, "null"]);
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.push(Value::Null);
    }
    schema
}

/// An object of which every member is there.
pub(crate) fn record(properties: Value) -> Value {
    let names = properties.as_object().into_iter().flat_map(Map::keys).cloned();
    let required: Vec<String> = names.collect();
    json!({ "type": "object", "required": required, "properties": properties })
}

/// An object of which only some members must be there.
pub(crate) fn object(required: &[&str], properties: Value) -> Value {
    let mut object = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

/// `{success: true}`.
pub(crate) fn success() -> Value {
    record(json!({ "success": boolean() }))
}
