//! The result of the check: what is stored, answered and judged (spec: Domain check result).
//!
//! A run fills in every field. An agent or a client may send fewer: the schema requires none.
//!
//! *Invariant:* whatever the schema lets pass can be read, since a verdict must stand it.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Number;

/// What one run found out about a domain's registration. Null means that the registry does not
/// publish it, or that `error` says why nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = require_nothing)]
pub struct DomainResult {
    /// The registered name that the target belongs to, e.g. `example.co.uk`.
    pub domain: String,
    /// The registrar's name.
    pub registrar: Option<String>,
    /// When the registration ends, as the registry says; RFC 3339 in UTC.
    #[schemars(extend("format" = "date-time"))]
    pub expires_at: Option<String>,
    /// Whole days until then, rounded down; negative once it is past.
    #[serde(deserialize_with = "optional_integer")]
    pub days_remaining: Option<i64>,
    /// Lower case, sorted; empty where the registry says that there are none.
    pub name_servers: Option<Vec<String>>,
    /// The registrant is hidden, by the registry or by a privacy service.
    pub privacy_protected: Option<bool>,
    /// As the registry publishes it, e.g. `clientTransferProhibited`.
    pub status: Vec<String>,
    pub data_availability: DataAvailability,
    /// Which source said so; null if none was asked or none answered.
    pub source: Option<Source>,
    /// Null when the registration was seen; else one of `tld_not_supported`, `domain_not_found`,
    /// `domain_reserved`, `rate_limited`, `registry_unavailable`, `timeout`,
    /// `unparsable_response`.
    pub error: Option<String>,
}

/// How much of a registration is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DataAvailability {
    /// Registrar and expiry.
    Full,
    /// The registration, but not both of these: the registry does not publish them.
    Partial,
    /// Nothing: `error` says why.
    #[default]
    Unavailable,
}

/// The protocol that an answer came over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Rdap,
    Whois,
    /// Both, where they agree that the name is not registered.
    RdapAndWhois,
}

/// JSON Schema calls `5.0` and `1e30` integers too; numbers beyond an `i64` become its ends.
fn optional_integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let number = Option::<Number>::deserialize(deserializer)?;
    let whole = |number: &Number| {
        number.as_i64().unwrap_or_else(|| number.as_f64().unwrap_or_default() as i64)
    };
    Ok(number.as_ref().map(whole))
}

fn require_nothing(schema: &mut Schema) {
    schema.remove("required");
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(value: Value) -> DomainResult {
        serde_json::from_value(value).expect("any object of the schema can be read")
    }

    #[test]
    fn result_of_a_run_reads_back_as_it_was_written() {
        let result = DomainResult {
            domain: "example.com".to_owned(),
            registrar: Some("Registrar".to_owned()),
            days_remaining: Some(-3),
            name_servers: Some(vec!["ns1.example.com".to_owned()]),
            status: vec!["ok".to_owned()],
            data_availability: DataAvailability::Full,
            source: Some(Source::RdapAndWhois),
            ..DomainResult::default()
        };
        let written = serde_json::to_value(&result).expect("it has a form in JSON");
        assert_eq!(written.get("source"), Some(&json!("rdap_and_whois")));
        assert_eq!(read(written), result);
    }

    #[test]
    fn every_documented_field_is_written_even_when_empty() {
        let written = serde_json::to_value(DomainResult::default()).expect("it has a form in JSON");
        for field in [
            "registrar",
            "expires_at",
            "days_remaining",
            "name_servers",
            "privacy_protected",
            "error",
            "data_availability",
            "domain",
            "status",
            "source",
        ] {
            assert!(written.get(field).is_some(), "{field}");
        }
    }

    #[test]
    fn sparse_results_are_read_as_far_as_they_go() {
        assert_eq!(read(json!({})), DomainResult::default());
        let result = read(json!({
            "registrar": "R", "days_remaining": 5.0, "extra": [1], "error": "something_new",
        }));
        assert_eq!(
            (result.days_remaining, result.error.as_deref()),
            (Some(5), Some("something_new"))
        );
        assert_eq!(read(json!({"days_remaining": 1e30})).days_remaining, Some(i64::MAX));
    }
}
