//! The result of the check: what is stored, answered and judged (decisions: Checks, ct).
//!
//! A run fills in every field. An agent or a client may send fewer: the schema requires
//! `certificates` alone.
//!
//! *Invariant:* whatever the schema lets pass can be read, since a verdict must stand it.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, Value};

/// Certificates of a domain that were found in certificate transparency. Dates are RFC 3339 in
/// UTC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = require_certificates_alone)]
pub struct CtResult {
    /// The name that was checked.
    pub domain: String,
    /// Unexpired certificates for the domain and names below it, newest first. At most 250 and
    /// 128 KiB: of more, the unexpected and the newest ones.
    pub certificates: Vec<Certificate>,
    /// Unexpired certificates in all, listed or not.
    #[serde(deserialize_with = "integer")]
    pub total: u64,
    /// Those that no earlier run has seen.
    #[serde(deserialize_with = "integer")]
    pub new_count: u64,
    /// Those that are not expected.
    #[serde(deserialize_with = "integer")]
    pub unexpected_count: u64,
    /// Kind of the source that answered: `crtsh`, `certspotter` or `static`; null when none did.
    pub source: Option<String>,
    /// Nothing was known before: what this run found is the baseline, and all of it is expected.
    pub baseline: bool,
    /// Null when a source answered, else `ct_source_unavailable`, `rate_limited` or `timeout`:
    /// then nothing is known of the certificates.
    pub error: Option<String>,
}

/// One certificate; a precertificate and its certificate are one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "LoggedCertificate", transform = require_nothing)]
pub struct Certificate {
    /// Common name of the issuer, else its organisation, unit or whole name.
    pub issuer: String,
    /// Organisation of the issuer.
    pub issuer_org: Option<String>,
    /// DNS names, those of the checked domain first; at most 20.
    pub san: Vec<String>,
    /// Lower-case hex, two digits an octet as in the `ssl` check; empty where the source has none.
    pub serial_number: String,
    #[schemars(extend("format" = "date-time"))]
    pub not_before: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    pub not_after: Option<String>,
    /// When it was logged; null where the source does not tell.
    #[schemars(extend("format" = "date-time"))]
    pub logged_at: Option<String>,
    /// SHA-256 of the DER, lower-case hex; null where the source has none.
    pub fingerprint: Option<String>,
    /// SHA-256 of what was signed, without the SCT list and the poison extension: equal for a
    /// precertificate and its certificate. Null where the source has none.
    pub tbs_sha256: Option<String>,
    /// As far as the run can tell: its issuer was there from the first run on, or CAA permits it.
    /// Whether it is the certificate that the site serves is known only to the assessment.
    pub expected: bool,
    /// What the CAA records of its names say of its issuer; null where they say nothing, or were
    /// not asked since the issuer is accepted.
    pub caa: Option<Caa>,
}

/// What CAA records say of an issuer (RFC 8659).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Caa {
    /// Each name has records, and they name the issuer.
    Permits,
    /// A name has records, and they do not name the issuer, whose CAA names are known.
    Forbids,
}

impl CtResult {
    /// A run without an answer.
    pub(crate) fn failed(domain: &str, error: &str) -> Self {
        Self { domain: domain.to_owned(), error: Some(error.to_owned()), ..Self::default() }
    }
}

/// JSON Schema calls `5.0` and `1e30` integers too; what no count can be counts as 0.
fn integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let number = Number::deserialize(deserializer)?;
    let float = || number.as_f64().unwrap_or_default() as u64;
    Ok(number.as_u64().unwrap_or_else(float))
}

fn require_certificates_alone(schema: &mut Schema) {
    schema.insert("required".to_owned(), Value::from(vec!["certificates"]));
}

fn require_nothing(schema: &mut Schema) {
    schema.remove("required");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_decided_field_is_written_even_when_empty() {
        let result = CtResult { certificates: vec![Certificate::default()], ..CtResult::default() };
        let written = serde_json::to_value(&result).expect("the result has a form in JSON");
        for field in ["certificates", "total", "new_count", "unexpected_count", "source", "error"] {
            assert!(written.get(field).is_some(), "{field}");
        }
        for field in [
            "issuer",
            "issuer_org",
            "san",
            "serial_number",
            "not_before",
            "not_after",
            "logged_at",
            "fingerprint",
            "expected",
        ] {
            assert!(written["certificates"][0].get(field).is_some(), "{field}");
        }
        let read: CtResult = serde_json::from_value(written).expect("what was written is read");
        assert_eq!(read, result);
    }

    #[test]
    fn sparse_results_are_read_as_far_as_they_go() {
        let sparse = json!({"certificates": [{}], "total": 5.0, "new_count": 1e300, "more": 1});
        let result: CtResult = serde_json::from_value(sparse).expect("a sparse result is one");
        assert_eq!((result.total, result.new_count), (5, u64::MAX));
        assert_eq!(result.certificates, [Certificate::default()]);
    }
}
