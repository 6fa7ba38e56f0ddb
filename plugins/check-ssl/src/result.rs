//! The result of the check: what is stored, answered and judged (spec: SSL check result).
//!
//! A run fills in every field. An agent or a client may send fewer: the schema requires `valid`
//! alone.
//!
//! *Invariant:* whatever the schema lets pass can be read, since a verdict must stand it.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, Value};

/// What one run saw of a server's certificate. Dates are RFC 3339 in UTC; without a certificate
/// they are null, `issuer` is empty and the lists are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = require_validity_alone)]
pub struct SslResult {
    /// The name that was checked.
    pub domain: String,
    /// Trusted by what the server sent, within its dates, for this name and not revoked.
    pub valid: bool,
    /// Common name of the leaf's issuer, else its organisation, unit or whole name.
    pub issuer: String,
    /// Organisation of the leaf's issuer.
    pub issuer_org: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    pub valid_from: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    pub valid_to: Option<String>,
    /// When the leaf expires.
    #[schemars(extend("format" = "date-time"))]
    pub expires_at: Option<String>,
    /// Whole days until the leaf expires, rounded down; negative once it has.
    #[serde(deserialize_with = "optional_integer")]
    pub days_remaining: Option<i64>,
    /// DNS names in the certificate's order, then IP addresses.
    pub san: Vec<String>,
    /// As served, leaf first.
    pub chain: Vec<ChainItem>,
    /// No issuer is missing from what the server sent, apart from any trust.
    pub chain_complete: bool,
    /// What is wrong with the chain, as a sentence.
    pub chain_error: Option<String>,
    /// E.g. `TLSv1.3`.
    pub protocol_version: Option<String>,
    /// The suite's name in the IANA registry.
    pub cipher_name: Option<String>,
    /// Effective bits.
    #[serde(deserialize_with = "optional_integer")]
    pub cipher_strength: Option<u32>,
    /// From the certificate, the versions and suites that the server accepts, and HSTS. Null where
    /// it was not asked for, where it cannot be told, and on ports with STARTTLS.
    pub tls_grade: Option<Grade>,
    /// Null when no HTTP answer could be had.
    pub hsts: Option<Hsts>,
    /// Null when the certificate names no OCSP responder.
    pub ocsp_stapling: Option<bool>,
    /// Null when there was no page to look at.
    pub mixed_content: Option<MixedContent>,
    /// Null exactly when valid; else the first problem, as one token.
    pub error: Option<String>,
}

/// How well the server's TLS is set up, the worst first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum Grade {
    F,
    D,
    C,
    B,
    A,
    #[serde(rename = "A+")]
    APlus,
}

/// One certificate of the chain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = require_nothing)]
pub struct ChainItem {
    /// RFC 4514.
    pub subject: String,
    /// RFC 4514.
    pub issuer: String,
    /// Lower-case hex.
    pub serial_number: String,
    /// Dates are null in a certificate that cannot be read.
    #[schemars(extend("format" = "date-time"))]
    pub valid_from: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    pub valid_to: Option<String>,
    #[serde(deserialize_with = "optional_integer")]
    pub days_remaining: Option<i64>,
    /// SHA-256 of the DER, lower-case hex.
    pub fingerprint: String,
    /// RSA, EC, Ed25519, Ed448 or DSA.
    pub key_type: String,
    #[serde(deserialize_with = "integer")]
    pub key_bits: u32,
    /// Long name, e.g. `sha256WithRSAEncryption`.
    pub signature_algorithm: String,
    pub is_ca: bool,
    pub self_signed: bool,
    pub in_trust_path: bool,
}

/// The `Strict-Transport-Security` header of the host (RFC 6797).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = require_nothing)]
pub struct Hsts {
    /// The header is valid and its `max_age` is not 0.
    pub enabled: bool,
    /// Seconds; null without a valid header.
    #[serde(deserialize_with = "optional_integer")]
    pub max_age: Option<u64>,
    pub include_sub_domains: bool,
    pub preload: bool,
}

/// Plain-http references of the site's first page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = require_nothing)]
pub struct MixedContent {
    /// Images and media: shown with a warning or upgraded by browsers.
    #[serde(deserialize_with = "integer")]
    pub passive_count: u32,
    /// Scripts, styles, frames and forms: blocked by browsers.
    #[serde(deserialize_with = "integer")]
    pub active_count: u32,
    /// The first ten distinct ones.
    pub examples: Vec<Example>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = require_nothing)]
pub struct Example {
    pub url: String,
    /// The element, e.g. `img`.
    pub tag: String,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    #[default]
    Passive,
    Active,
}

impl SslResult {
    /// Fingerprint of the leaf, where one was seen.
    pub fn fingerprint(&self) -> Option<&str> {
        let leaf = self.chain.first()?;
        (!leaf.fingerprint.is_empty()).then_some(leaf.fingerprint.as_str())
    }
}

/// JSON Schema calls `5.0` and `1e30` integers too.
fn integer<'de, D: Deserializer<'de>, N: TryFrom<i64> + Default>(
    deserializer: D,
) -> Result<N, D::Error> {
    Number::deserialize(deserializer).map(|number| whole(&number))
}

fn optional_integer<'de, D: Deserializer<'de>, N: TryFrom<i64> + Default>(
    deserializer: D,
) -> Result<Option<N>, D::Error> {
    Ok(Option::<Number>::deserialize(deserializer)?.as_ref().map(whole))
}

/// Numbers beyond an `i64` become its ends; what then does not fit says nothing.
fn whole<N: TryFrom<i64> + Default>(number: &Number) -> N {
    let float = || number.as_f64().unwrap_or_default() as i64;
    N::try_from(number.as_i64().unwrap_or_else(float)).unwrap_or_default()
}

fn require_validity_alone(schema: &mut Schema) {
    schema.insert("required".to_owned(), Value::from(vec!["valid"]));
}

fn require_nothing(schema: &mut Schema) {
    schema.remove("required");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> SslResult {
        serde_json::from_value(value).expect("any object can be read")
    }

    #[test]
    fn result_of_a_run_reads_back_as_it_was_written() {
        let result = SslResult {
            domain: "example.com".to_owned(),
            days_remaining: Some(-3),
            cipher_strength: Some(128),
            tls_grade: Some(Grade::APlus),
            chain: vec![ChainItem { key_bits: 256, ..ChainItem::default() }],
            hsts: Some(Hsts { enabled: true, max_age: Some(31_536_000), ..Hsts::default() }),
            mixed_content: Some(MixedContent {
                passive_count: 1,
                active_count: 0,
                examples: vec![Example {
                    url: "http://example.com/a.png".to_owned(),
                    tag: "img".to_owned(),
                    kind: Kind::Passive,
                }],
            }),
            ..SslResult::default()
        };
        let written = serde_json::to_value(&result).expect("the result has a form in JSON");
        assert_eq!(read(written), result);
    }

    #[test]
    fn every_documented_field_is_written_even_when_empty() {
        let written = serde_json::to_value(SslResult::default()).expect("it has a form in JSON");
        for field in [
            "valid",
            "issuer",
            "expires_at",
            "days_remaining",
            "san",
            "chain",
            "chain_complete",
            "chain_error",
            "protocol_version",
            "cipher_name",
            "cipher_strength",
            "tls_grade",
            "hsts",
            "ocsp_stapling",
            "mixed_content",
            "error",
            "domain",
            "issuer_org",
            "valid_from",
            "valid_to",
        ] {
            assert!(written.get(field).is_some(), "{field}");
        }
    }

    #[test]
    fn sparse_results_are_read_as_far_as_they_go() {
        assert_eq!(read(json!({})), SslResult::default());
        let result = read(json!({
            "valid": false, "days_remaining": 5.0, "cipher_strength": null, "tls_grade": "A",
            "chain": [{"fingerprint": "ab", "days_remaining": 1e30}],
            "hsts": {"max_age": 1e300}, "error": "hostname_mismatch",
        }));
        assert_eq!(result.days_remaining, Some(5));
        assert_eq!((result.cipher_strength, result.tls_grade), (None, Some(Grade::A)));
        assert_eq!(result.fingerprint(), Some("ab"));
        assert_eq!(result.chain[0].days_remaining, Some(i64::MAX));
        assert_eq!(result.hsts.and_then(|hsts| hsts.max_age), Some(i64::MAX as u64));
        assert_eq!(result.error.as_deref(), Some("hostname_mismatch"));
    }

    #[test]
    fn schema_requires_validity_alone() {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<SslResult>().to_value();
        assert_eq!(schema["required"], json!(["valid"]));
        let definitions = schema["$defs"].as_object().expect("the schema has definitions");
        assert!(definitions.values().all(|definition| definition.get("required").is_none()));
        assert_eq!(schema["properties"]["expires_at"]["type"], json!(["string", "null"]));
        assert_eq!(definitions["Grade"]["enum"], json!(["F", "D", "C", "B", "A", "A+"]));
        assert_eq!(definitions["ChainItem"]["properties"]["key_bits"]["type"], json!("integer"));
    }
}
