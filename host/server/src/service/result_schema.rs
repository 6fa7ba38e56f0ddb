//! What a plugin says its results look like, cut to what is shown of them.

use serde_json::{Map, Value, json};
use vedette_model::Edition;
use vedette_sandbox::CheckDescriptor;

/// The schema of a check's result as an edition shows it.
pub(crate) fn shown(check: &CheckDescriptor, edition: &Edition) -> Value {
    let mut schema = check.result_schema.clone();
    for field in edition.omitted(&check.check_type) {
        leave_out(&mut schema, &field);
    }
    plain(schema)
}

/// The schema in terms that all clients know. Formats that say how a plugin holds a number are not
/// part of JSON Schema, and clients warn about each. Texts that each have a schema of their own, to
/// say what they mean, become one list of texts: some clients take only the first of them.
pub(crate) fn plain(mut schema: Value) -> Value {
    make_plain(&mut schema);
    schema
}

fn make_plain(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("format").and_then(Value::as_str).is_some_and(is_of_number) {
                members.remove("format");
            }
            list_texts(members);
            members.values_mut().for_each(make_plain);
        }
        Value::Array(items) => items.iter_mut().for_each(make_plain),
        _ => {}
    }
}

/// Writes `oneOf` as `enum` where every choice is a text or a few, and keeps what is said of them.
fn list_texts(members: &mut Map<String, Value>) {
    let Some(choices) = members.get("oneOf").and_then(Value::as_array) else { return };
    let Some(texts) = choices.iter().map(texts).collect::<Option<Vec<_>>>() else { return };
    let whole = members.get("description").and_then(Value::as_str).map(str::to_owned);
    let each = choices.iter().zip(&texts).filter_map(|(choice, texts)| {
        let names: Vec<String> =
            texts.iter().filter_map(Value::as_str).map(|text| format!("`{text}`")).collect();
        Some(format!("{}: {}", names.join(", "), choice["description"].as_str()?))
    });
    let description: Vec<String> = whole.into_iter().chain(each).collect();
    if !description.is_empty() {
        members.insert("description".to_owned(), json!(description.join(" ")));
    }
    members.remove("oneOf");
    members.insert("type".to_owned(), json!("string"));
    members.insert("enum".to_owned(), Value::Array(texts.concat()));
}

/// The texts that a schema allows, if it does nothing else.
fn texts(choice: &Value) -> Option<Vec<Value>> {
    let known = ["type", "const", "enum", "description", "title"];
    let plain = choice.as_object()?.keys().all(|keyword| known.contains(&keyword.as_str()));
    let texts = match (choice.get("const"), choice.get("enum")) {
        (Some(text), None) => vec![text.clone()],
        (None, Some(Value::Array(texts))) => texts.clone(),
        _ => return None,
    };
    (plain && texts.iter().all(Value::is_string)).then_some(texts)
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

/// The schema of a run's result, which has every field: in a result from outside only some are
/// required.
pub(crate) fn filled(mut schema: Value) -> Value {
    require_all(&mut schema);
    schema
}

fn require_all(schema: &mut Value) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(require_all);
        let names: Vec<String> = properties.keys().cloned().collect();
        schema["required"] = json!(names);
    }
    if let Some(definitions) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
        definitions.values_mut().for_each(require_all);
    }
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
        make_plain(&mut schema);
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
    fn texts_with_meanings_become_one_list() {
        let told = json!({
            "description": "How much is known.",
            "oneOf": [
                { "type": "string", "enum": ["full", "whole"] },
                { "type": "string", "const": "part", "description": "Not all." },
            ],
        });
        let listed = json!({
            "description": "How much is known. `part`: Not all.",
            "type": "string",
            "enum": ["full", "whole", "part"],
        });
        assert_eq!(
            plain(json!({ "$defs": { "Share": told } })),
            json!({ "$defs": { "Share": listed } })
        );
        for other in [
            json!({ "oneOf": [{ "const": "up" }, { "type": "null" }] }),
            json!({ "oneOf": [{ "const": "up" }, { "const": 1 }] }),
            json!({ "properties": { "oneOf": { "type": "string" } } }),
        ] {
            assert_eq!(plain(other.clone()), other);
        }
    }

    #[test]
    fn what_a_run_answers_has_every_field_wherever_it_stands() {
        let of = |required: [Value; 3]| {
            let [root, inner, item] = required;
            json!({
                "properties": {
                    "chain": { "items": { "$ref": "#/$defs/Item" } },
                    "hsts": { "properties": { "enabled": {} }, "required": inner },
                },
                "required": root,
                "$defs": {
                    "Item": { "properties": { "issuer": {} }, "required": item },
                    "Grade": { "enum": ["A"] },
                },
            })
        };
        let lenient = of([json!(["chain"]), json!([]), json!([])]);
        let whole = of([json!(["chain", "hsts"]), json!(["enabled"]), json!(["issuer"])]);
        assert_eq!(filled(lenient), whole);
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
