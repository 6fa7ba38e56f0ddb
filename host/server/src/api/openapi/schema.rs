//! Fragments of JSON Schema that the resources share.

use serde_json::{Value, json};

pub(super) use crate::schema::{
    boolean, count, domain, list, moment, object, one_of, or_null, record, said, success, text,
    uuid,
};

/// Text in one of several formats.
pub(super) fn text_in(formats: &[&str]) -> Value {
    let choices: Vec<Value> = formats.iter().map(|format| json!({ "format": format })).collect();
    json!({ "type": "string", "anyOf": choices })
}

pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}
