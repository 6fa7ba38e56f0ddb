//! Fragments of JSON Schema that the resources share.

use serde_json::{Value, json};

pub(super) use crate::schema::{
    boolean, count, domain, list, moment, object, one_of, or_null, record, said, success, text,
    uuid,
};

pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}
