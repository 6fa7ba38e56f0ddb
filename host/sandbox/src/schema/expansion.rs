//! How large a schema is with each reference replaced by what it names: so much may have to be
//! looked at for one value, and a few references that are each named twice are more than any
//! machine gets through.
//!
//! *Invariant:* what is counted is what the validator follows; a reference that it could read
//! otherwise is refused.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Refuses a schema that is too large when it is written out, or that has no end.
pub(super) fn bounded(schema: &Value) -> Result<(), String> {
    let mut expansion = Expansion { schema, sizes: HashMap::new() };
    let size = expansion.of(schema, 0)?;
    if size > MOST {
        return Err(format!(
            "with each reference replaced by what it names it has more than {MOST} values; let \
             fewer definitions refer to others"
        ));
    }
    Ok(())
}

struct Expansion<'a> {
    schema: &'a Value,
    /// Of what each reference names; none while that is being counted.
    sizes: HashMap<&'a str, Option<usize>>,
}

impl<'a> Expansion<'a> {
    fn of(&mut self, value: &'a Value, depth: usize) -> Result<usize, String> {
        if depth > DEEPEST {
            return Err(format!(
                "with each reference replaced by what it names it is nested more than {DEEPEST} \
                 deep; let fewer definitions refer to others"
            ));
        }
        let mut size: usize = 1;
        match value {
            Value::Array(items) => {
                for item in items {
                    size = size.saturating_add(self.of(item, depth + 1)?);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    size = size.saturating_add(self.field(name, value, depth + 1)?);
                }
            }
            _ => {}
        }
        Ok(size)
    }

    fn field(&mut self, name: &str, value: &'a Value, depth: usize) -> Result<usize, String> {
        match (name, value) {
            ("$ref" | "$dynamicRef", Value::String(to)) => self.named(to, depth),
            // The references below would start from it.
            ("$id", Value::String(id)) if depth > 1 => {
                Err(format!("its $id {id:?} is not that of the whole schema; remove it"))
            }
            _ => self.of(value, depth),
        }
    }

    /// What a reference names, counted once.
    fn named(&mut self, to: &'a str, depth: usize) -> Result<usize, String> {
        match self.sizes.get(to) {
            Some(Some(size)) => return Ok(*size),
            Some(None) => {
                return Err(format!(
                    "its reference {to:?} leads back to itself; write out as many levels as you need"
                ));
            }
            None => {}
        }
        let Some(target) = self.target(to) else {
            return Err(format!("its reference {to:?} names nothing in it; use #/$defs/<name>"));
        };
        self.sizes.insert(to, None);
        let size = self.of(target, depth)?;
        self.sizes.insert(to, Some(size));
        Ok(size)
    }

    /// A fragment that is a JSON Pointer (RFC 6901 section 6).
    fn target(&self, to: &str) -> Option<&'a Value> {
        let pointer = to.strip_prefix('#')?;
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return None;
        }
        self.schema.pointer(&percent_decode_str(pointer).decode_utf8().ok()?)
    }
}

/// The largest schema of a built-in plugin has a few hundred.
const MOST: usize = 50_000;
/// Twice what JSON may be nested.
const DEEPEST: usize = 256;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// `count` definitions, each of which refers to the next as often as it is told.
    fn chain(count: usize, times: usize) -> Value {
        let defs = (0..count).map(|n| {
            let next = json!({ "$ref": format!("#/$defs/a{}", n + 1) });
            (format!("a{n}"), json!({ "allOf": vec![next; times] }))
        });
        let mut defs: serde_json::Map<String, Value> = defs.collect();
        defs.insert(format!("a{count}"), json!({ "type": "string" }));
        json!({ "$ref": "#/$defs/a0", "$defs": defs })
    }

    #[test]
    fn what_doubles_with_each_reference_is_refused() {
        assert_eq!(bounded(&chain(8, 2)), Ok(()));
        assert_eq!(bounded(&chain(20, 1)), Ok(()));
        for (count, times, reason) in
            [(40, 2, "more than 50000 values"), (3, 99, "50000 values"), (2000, 1, "256 deep")]
        {
            let refused = bounded(&chain(count, times)).expect_err("it is too large");
            assert!(refused.contains(reason), "{count} {times}: {refused}");
        }
    }

    #[test]
    fn what_leads_back_to_itself_is_refused() {
        for schema in [
            json!({ "properties": { "child": { "$ref": "#" } } }),
            json!({ "items": { "$dynamicRef": "#/items" } }),
            json!({
                "$ref": "#/$defs/a",
                "$defs": { "a": { "not": { "$ref": "#/$defs/b" } }, "b": { "$ref": "#/$defs/a" } },
            }),
        ] {
            let refused = bounded(&schema).expect_err("it has no end");
            assert!(refused.contains("leads back to itself"), "{schema}: {refused}");
        }
    }

    #[test]
    fn a_reference_that_may_be_read_in_two_ways_is_refused() {
        let schema = |to: &str| json!({ "$ref": to, "$defs": { "a b": {} }, "allOf": [{}, {}] });
        for to in ["#/$defs/a%20b", "#/allOf/1"] {
            assert_eq!(bounded(&schema(to)), Ok(()), "{to}");
        }
        for to in ["#anchor", "#%2fallOf", "#/allOf/+1", "#/allOf/01", "#/$defs/b"] {
            let refused = bounded(&schema(to)).expect_err(to);
            assert!(refused.contains("names nothing in it"), "{to}: {refused}");
        }
        let inner = json!({ "$id": "urn:all", "$defs": { "a": { "$id": "urn:a" } } });
        let refused = bounded(&inner).expect_err("an inner $id");
        assert!(refused.contains("\"urn:a\" is not that of the whole schema"), "{refused}");
    }
}
