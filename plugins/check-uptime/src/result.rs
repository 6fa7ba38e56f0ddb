//! The result of the check: what is stored, answered and judged (spec: Uptime check result).
//!
//! A run fills in every field. An agent or a client may send fewer: the schema requires `status`
//! alone.
//!
//! *Invariant:* whatever the schema lets pass can be read, since a verdict must stand it.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// What one run saw of a site. Times are milliseconds with two decimals, measured on a monotonic
/// clock. When nothing answered, `status_code` and the times are 0 and `phases` is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = require_status_alone)]
pub struct UptimeResult {
    pub status: Status,
    /// Of the last answer; 0 when nothing answered.
    #[serde(default, deserialize_with = "integer")]
    #[schemars(range(min = 0, max = 999))]
    pub status_code: u16,
    /// From the start of the first request to the end of the last answer's body, or of its first
    /// megabyte; or to where it was given up, if it did not come whole or redirected to where
    /// nobody answers.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub response_time_ms: f64,
    /// From the start of the first request to the first byte of the last answer; never more than
    /// `response_time_ms`.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub ttfb_ms: f64,
    /// Whether the page contains the keyword; null when none is set or no whole page came.
    #[serde(default)]
    pub keyword_match: Option<bool>,
    /// Null unless down; then why, as one token.
    #[serde(default)]
    pub error: Option<String>,
    /// What was asked for.
    #[serde(default)]
    pub url: Option<String>,
    /// What answered, after redirects, its first 2000 characters; null when nothing did.
    #[serde(default)]
    pub final_url: Option<String>,
    /// Where the last answer redirected to and nothing came from, its first 2000 characters; null
    /// unless that is why the site is down.
    #[serde(default)]
    pub failed_url: Option<String>,
    /// Redirects that were followed, up to the last answer.
    #[serde(default, deserialize_with = "integer")]
    #[schemars(range(min = 0, max = 10))]
    pub redirects: u16,
    /// Where the time went.
    #[serde(default)]
    pub phases: Option<Phases>,
}

/// What became of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It answered as expected, in time.
    Up,
    /// It answered as expected, slower than `degraded_ms`.
    Degraded,
    /// It did not answer, or not as expected.
    Down,
}

/// `response_time_ms` in parts. The first three are those of the last answer's connection; a part
/// that did not happen is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = require_nothing)]
pub struct Phases {
    /// Finding the addresses of the name; null for an address.
    #[schemars(range(min = 0))]
    pub dns_ms: Option<f64>,
    #[schemars(range(min = 0))]
    pub connect_ms: Option<f64>,
    /// The TLS handshake; null over plain http.
    #[schemars(range(min = 0))]
    pub tls_ms: Option<f64>,
    /// Sending the request and waiting for the first byte; with redirects also everything before
    /// the last request.
    #[schemars(range(min = 0))]
    pub first_byte_ms: Option<f64>,
    /// Receiving the rest, or waiting for where it redirects to.
    #[schemars(range(min = 0))]
    pub transfer_ms: Option<f64>,
}

/// JSON Schema calls `200.0` an integer too.
fn integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    f64::deserialize(deserializer).map(|number| number as u16)
}

fn require_status_alone(schema: &mut Schema) {
    schema.insert("required".to_owned(), Value::from(vec!["status"]));
}

fn require_nothing(schema: &mut Schema) {
    schema.remove("required");
}

#[cfg(test)]
mod tests {
    use schemars::generate::SchemaSettings;
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        let settings = SchemaSettings::draft2020_12().for_serialize();
        settings.into_generator().into_root_schema_for::<UptimeResult>().to_value()
    }

    #[test]
    fn status_alone_is_a_result() {
        let result: UptimeResult =
            serde_json::from_value(json!({"status": "down"})).expect("status is enough");
        assert_eq!((result.status, result.status_code, result.error), (Status::Down, 0, None));
        assert_eq!(schema()["required"], json!(["status"]));
        assert_eq!(schema()["$defs"]["Phases"].get("required"), None);
    }

    #[test]
    fn whatever_the_schema_lets_pass_can_be_read() {
        let validator = jsonschema::draft202012::new(&schema()).expect("the schema is one");
        for result in [
            json!({"status": "up", "status_code": 200.0, "redirects": 10.0}),
            json!({"status": "up", "response_time_ms": 1e300, "ttfb_ms": 0, "phases": null}),
            json!({"status": "degraded", "phases": {}, "keyword_match": null, "news": [1]}),
            json!({"status": "down", "phases": {"dns_ms": 3}, "error": "x".repeat(10_000)}),
        ] {
            assert!(validator.is_valid(&result), "{result}");
            serde_json::from_value::<UptimeResult>(result).expect("it passed the schema");
        }
        for result in [
            json!({}),
            json!({"status": "fine"}),
            json!({"status": "up", "status_code": 1000}),
            json!({"status": "up", "status_code": "200"}),
            json!({"status": "up", "response_time_ms": -1}),
        ] {
            assert!(!validator.is_valid(&result), "{result}");
        }
    }

    #[test]
    fn every_field_is_documented() {
        let schema = schema();
        let properties = schema["properties"].as_object().expect("it has properties");
        let undocumented: Vec<&String> = properties
            .iter()
            .filter(|(_, field)| field.get("description").is_none() && field.get("$ref").is_none())
            .map(|(name, _)| name)
            .collect();
        assert_eq!(undocumented, Vec::<&String>::new());
    }
}
