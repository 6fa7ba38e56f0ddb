//! What a plugin says its results look like, cut to what is shown of them.

use serde_json::Value;
use vedette_model::Edition;

/// The schema of a result as an edition shows it.
pub(crate) fn shown(result: &Value, edition: &Edition) -> Value {
    let mut schema = result.clone();
    for field in edition.omitted() {
        leave_out(&mut schema, &field);
    }
    plain_numbers(&mut schema);
    schema
}

/// Takes out the formats that say how a plugin holds a number: JSON Schema knows none of them, and
/// clients warn of each.
fn plain_numbers(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("format").and_then(Value::as_str).is_some_and(is_of_number) {
                members.remove("format");
            }
            members.values_mut().for_each(plain_numbers);
        }
        Value::Array(items) => items.iter_mut().for_each(plain_numbers),
        _ => {}
    }
}

fn is_of_number(format: &str) -> bool {
    let sized = format.strip_prefix('u').unwrap_or(format).strip_prefix("int");
    matches!(format, "float" | "double")
        || sized.is_some_and(|size| size.is_empty() || size.bytes().all(|b| b.is_ascii_digit()))
}

/// A result schema with some of its fields only.
pub(crate) fn part(result: &Value, fields: &[&str]) -> Value {
    let mut part = result.clone();
    if let Some(properties) = part.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| fields.contains(&name.as_str()));
    }
    if let Some(names) = part.get_mut("required").and_then(Value::as_array_mut) {
        names.retain(|name| name.as_str().is_some_and(|name| fields.contains(&name)));
    }
    part
}

/// Takes out a field that the edition does not show: `tls_grade`, `records/CAA`.
fn leave_out(schema: &mut Value, field: &str) {
    if let Some(name) = field.strip_prefix("records/") {
        let definition = schema
            .pointer("/properties/records/items/$ref")
            .and_then(Value::as_str)
            .and_then(|to| to.strip_prefix('#'))
            .map(|pointer| format!("{pointer}/properties/type/enum"));
        let types = definition.and_then(|pointer| schema.pointer_mut(&pointer));
        if let Some(types) = types.and_then(Value::as_array_mut) {
            types.retain(|known| known != name);
        }
        return;
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove(field);
    }
    if let Some(names) = schema.get_mut("required").and_then(Value::as_array_mut) {
        names.retain(|known| known != field);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn formats_of_numbers_are_left_out_and_those_of_texts_stay() {
        let mut schema = json!({
            "properties": {
                "bits": { "type": "integer", "format": "uint32" },
                "share": { "type": "number", "format": "double" },
                "at": { "type": "string", "format": "date-time" },
                "format": { "type": ["integer", "null"], "format": "int64" },
            },
        });
        plain_numbers(&mut schema);
        assert_eq!(
            schema["properties"],
            json!({
                "bits": { "type": "integer" },
                "share": { "type": "number" },
                "at": { "type": "string", "format": "date-time" },
                "format": { "type": ["integer", "null"] },
            })
        );
    }

    #[test]
    fn what_an_edition_does_not_show_is_not_described() {
        let mut schema = json!({
            "properties": {
                "tls_grade": { "type": "string" },
                "records": { "items": { "$ref": "#/$defs/Set" } },
            },
            "required": ["records", "tls_grade"],
            "$defs": { "Set": { "properties": { "type": { "enum": ["A", "CAA"] } } } },
        });
        leave_out(&mut schema, "tls_grade");
        leave_out(&mut schema, "records/CAA");
        assert_eq!(schema["properties"].get("tls_grade"), None);
        assert_eq!(schema["required"], json!(["records"]));
        assert_eq!(schema["$defs"]["Set"]["properties"]["type"]["enum"], json!(["A"]));
    }
}
