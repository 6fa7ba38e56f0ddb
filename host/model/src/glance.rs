//! What a summary shows of a check's latest record (spec: MCP, the `list_sites` status summary), and of
//! `uptime`, which says first whether a site is there.
//!
//! Only these fields are read of a stored record: summaries are made of many records at once, and
//! most of a record is not in them.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{CheckType, Edition, SiteId, Timestamp};

/// A stored record, read as far as a summary shows it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Glance {
    pub site_id: SiteId,
    pub check_type: CheckType,
    pub checked_at: Timestamp,
    /// Why there is no result.
    error: Option<String>,
    result: Option<Fields>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Fields {
    error: Value,
    valid: Value,
    days_remaining: Value,
    issuer: Value,
    records: Value,
    dnssec: Value,
    registrar: Value,
    status: Value,
    data_availability: Value,
}

impl Glance {
    /// The documented summary; none for checks that have none.
    pub fn view(&self, edition: &Edition) -> Option<Value> {
        let seen = self.result.clone().unwrap_or_default();
        let error = match (&seen.error, &self.error) {
            (Value::Null, Some(error)) => json!(error),
            (error, _) => error.clone(),
        };
        let at = self.checked_at;
        Some(match self.check_type.as_str() {
            "ssl" => json!({
                "checked_at": at,
                "valid": seen.valid,
                "days_remaining": seen.days_remaining,
                "issuer": seen.issuer,
                "error": error,
            }),
            "dns" => json!({
                "checked_at": at,
                "records": shown(seen.records, edition),
                "dnssec": seen.dnssec,
                "error": error,
            }),
            "domain" => json!({
                "checked_at": at,
                "registrar": seen.registrar,
                "days_remaining": seen.days_remaining,
                "data_availability": seen.data_availability,
                "error": error,
            }),
            "uptime" => json!({ "checked_at": at, "status": seen.status, "error": error }),
            _ => return None,
        })
    }
}

/// The record types that the edition shows.
fn shown(mut records: Value, edition: &Edition) -> Value {
    if let Some(sets) = records.as_array_mut() {
        sets.retain(|set| {
            set["type"].as_str().is_some_and(|name| edition.record_types.contains(&name))
        });
    }
    records
}

/// The checks that a summary has an entry for.
pub const SUMMARISED: [&str; 4] = ["ssl", "dns", "domain", CheckType::UPTIME];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edition::{STANDARD, TEAM};

    fn glance(check_type: &str, error: Value, result: Value) -> Glance {
        let record = json!({
            "id": "0199c1e2-89f0-7e55-a3b9-1c2d3e4f5061",
            "site_id": "0199c1de-3f5a-7c31-9d4e-2b7f61c0a811",
            "check_type": check_type, "checked_at": "2026-11-20T15:04:05Z", "status": "ok",
            "result": result, "error": error, "duration_ms": 3, "source": "api", "location": "x",
        });
        serde_json::from_value(record).expect("a record")
    }

    #[test]
    fn a_summary_has_its_fields_and_no_other() {
        let at = "2026-11-20T15:04:05Z";
        let ssl = json!({ "valid": true, "days_remaining": 9, "issuer": "R11", "chain": [{}] });
        let caa =
            json!([{ "type": "A", "values": ["192.0.2.1"] }, { "type": "CAA", "values": [] }]);
        let a = json!([{ "type": "A", "values": ["192.0.2.1"] }]);
        let cases = [
            (
                glance("ssl", Value::Null, ssl),
                json!({
                    "checked_at": at, "valid": true, "days_remaining": 9, "issuer": "R11",
                    "error": null,
                }),
            ),
            (
                glance("dns", Value::Null, json!({ "records": caa, "dnssec": null })),
                json!({ "checked_at": at, "records": a, "dnssec": null, "error": null }),
            ),
            (
                glance("domain", json!("overloaded"), Value::Null),
                json!({
                    "checked_at": at, "registrar": null, "days_remaining": null,
                    "data_availability": null, "error": "overloaded",
                }),
            ),
            (
                glance("uptime", Value::Null, json!({ "status": "down", "error": "http_status" })),
                json!({ "checked_at": at, "status": "down", "error": "http_status" }),
            ),
        ];
        for (glance, expected) in cases {
            assert_eq!(glance.view(&TEAM), Some(expected));
        }
        let whole = glance("dns", Value::Null, json!({ "records": caa })).view(&STANDARD);
        assert_eq!(whole.expect("a summary")["records"], caa);
        assert_eq!(glance("ct", Value::Null, json!({})).view(&STANDARD), None);
    }
}
