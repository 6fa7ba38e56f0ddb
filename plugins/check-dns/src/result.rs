//! The result of the check: what is stored, answered and judged (spec: DNS check result).
//!
//! A run fills in every field. An agent or a client may send fewer: the schema requires `records`
//! alone.
//!
//! *Invariant:* whatever the schema lets pass can be read, since a verdict must stand it.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record_type::RecordType;

/// What one run saw of a name in the DNS.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = require_records_alone)]
pub struct DnsResult {
    /// The name that was checked.
    pub domain: String,
    /// One entry for each type that has values, in the order in which `type` lists them.
    pub records: Vec<RecordSet>,
    /// Types whose query failed: whether they have records is not known.
    pub failed_types: Vec<String>,
    /// Addresses differed between three questions in a row, which are asked only where they live for
    /// 60 seconds at most.
    pub rotating: bool,
    /// Addresses that only the later ones of these questions brought.
    pub turns: Vec<String>,
    /// Null where it cannot be told.
    pub dnssec: Option<Dnssec>,
    /// Why the name cannot be resolved: `nxdomain`, `servfail`, `dnssec_bogus`, `timeout`,
    /// `refused` or `cname_loop`. Null for a name without records, too, and where types failed but
    /// an address was found, or it was answered that there is no A.
    pub error: Option<String>,
}

/// The records of one type: sorted, without duplicates, at most 1024.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = require_nothing_and_suppose_no_type)]
pub struct RecordSet {
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["A", "AAAA", "CNAME", "MX", "TXT", "CAA", "NS"]))]
    pub rtype: String,
    /// Addresses as numbers are ordered, RFC 5952; names in lower case without trailing dot; MX
    /// `10 mx.example.com`; TXT without quotes, its strings joined, unprintable bytes as `\DDD`;
    /// CAA `0 issue "ca.example"`.
    pub values: Vec<String>,
}

/// What DNSSEC says of the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = require_nothing)]
pub struct Dnssec {
    /// The zone is signed.
    pub enabled: bool,
    /// The signatures hold up to the root; null where none does or can be followed: an unsigned
    /// zone, one whose parent does not vouch for it, algorithms that nobody knows.
    pub valid: Option<bool>,
}

impl DnsResult {
    /// The values of a type; empty where there are none.
    pub(crate) fn values(&self, rtype: RecordType) -> impl Iterator<Item = &str> {
        let sets = self.records.iter();
        let sets = sets.filter(move |set| RecordType::parse(&set.rtype) == Some(rtype));
        sets.flat_map(|set| &set.values).map(String::as_str)
    }

    /// Whether nothing is known of a type.
    pub(crate) fn failed(&self, rtype: RecordType) -> bool {
        self.failed_types.iter().any(|name| RecordType::parse(name) == Some(rtype))
    }
}

fn require_records_alone(schema: &mut Schema) {
    schema.insert("required".to_owned(), Value::from(vec!["records"]));
}

fn require_nothing(schema: &mut Schema) {
    schema.remove("required");
}

/// A set that names no type has none: the empty text is not one of them.
fn require_nothing_and_suppose_no_type(schema: &mut Schema) {
    require_nothing(schema);
    if let Some(Value::Object(rtype)) = schema.pointer_mut("/properties/type") {
        rtype.remove("default");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        settings.into_generator().into_root_schema_for::<DnsResult>().to_value()
    }

    #[test]
    fn every_documented_field_is_written_even_when_empty() {
        let written = serde_json::to_value(DnsResult::default()).expect("it has a form in JSON");
        for field in ["records", "dnssec", "error", "failed_types", "domain", "rotating", "turns"] {
            assert!(written.get(field).is_some(), "{field}");
        }
        let set = RecordSet { rtype: "A".to_owned(), values: vec!["192.0.2.1".to_owned()] };
        let written = serde_json::to_value(set).expect("it has a form in JSON");
        assert_eq!(written, json!({"type": "A", "values": ["192.0.2.1"]}));
    }

    #[test]
    fn schema_requires_records_alone() {
        let schema = schema();
        assert_eq!(schema["required"], json!(["records"]));
        let definitions = schema["$defs"].as_object().expect("the schema has definitions");
        assert!(definitions.values().all(|definition| definition.get("required").is_none()));
        let rtype = &definitions["RecordSet"]["properties"]["type"];
        assert!(rtype.get("enum").is_some() && rtype.get("default").is_none(), "{rtype}");
    }

    #[test]
    fn what_the_schema_lets_pass_can_be_read() {
        let validator = jsonschema::validator_for(&schema()).expect("the schema is one");
        for result in [
            json!({"records": []}),
            json!({"records": [{}], "dnssec": null, "error": null}),
            json!({"records": [{"type": "A"}, {"values": ["x"]}], "dnssec": {}}),
            json!({"records": [{"type": "MX", "values": ["", "\u{0}"]}], "more": {"a": [1]}}),
            json!({"records": [], "dnssec": {"enabled": true, "valid": null}, "error": "news",
                   "failed_types": ["SOA", ""], "domain": "", "rotating": true, "turns": ["x"]}),
        ] {
            assert!(validator.is_valid(&result), "{result}");
            serde_json::from_value::<DnsResult>(result).expect("it can be read");
        }
        for result in [
            json!({}),
            json!({"records": null}),
            json!({"records": [{"type": "SOA", "values": []}]}),
            json!({"records": [{"values": [1]}]}),
            json!({"records": [], "dnssec": {"enabled": null}}),
        ] {
            assert!(!validator.is_valid(&result), "{result}");
        }
    }
}
