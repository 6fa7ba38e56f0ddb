//! What a report says of one place (decisions: agents, certificate entry).
//!
//! *Invariant:* pure; the moment of the look is a parameter.
//! *Invariant:* the service accepts every text: whatever a certificate says, it cannot cost a
//! report.
//! *Invariant:* the first certificate is the leaf. If that cannot be read there is none at all.

use std::{collections::HashSet, iter::once};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use vedette_model::{Target, Timestamp};

/// One entry of `results`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Entry {
    host: String,
    port: u16,
    checked_at: Timestamp,
    /// Why no certificate was seen, as one token.
    error: Option<String>,
    certificates: Vec<Certificate>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Certificate {
    /// RFC 4514.
    subject: String,
    /// RFC 4514.
    issuer: String,
    /// Lower-case hex.
    serial_number: String,
    not_before: Timestamp,
    not_after: Timestamp,
    /// Lower-case hex.
    fingerprint_sha256: String,
    /// Of the leaf alone.
    san: Vec<String>,
    /// Of the leaf: trusted there, for this host; of the others: within its dates.
    is_valid: bool,
    /// Null exactly when valid.
    error: Option<String>,
}

/// As much of a result of the ssl check as a report tells.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Seen {
    valid: bool,
    san: Vec<String>,
    chain: Vec<Item>,
    error: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    subject: String,
    issuer: String,
    serial_number: String,
    /// Null, like the other, in a certificate that cannot be read.
    valid_from: Option<Timestamp>,
    valid_to: Option<Timestamp>,
    fingerprint: String,
}

impl Entry {
    /// The entry for a result of the ssl check.
    ///
    /// # Errors
    /// When it is no result of the ssl check.
    pub(super) fn of(
        host: &Target,
        port: u16,
        checked_at: Timestamp,
        result: Value,
    ) -> serde_json::Result<Self> {
        let Seen { valid, san, chain, error } = serde_json::from_value(result)?;
        let mut chain = chain.into_iter().map(|item| item.by_its_dates(checked_at));
        let (certificates, error) = match chain.next().flatten() {
            None => (Vec::new(), error),
            Some(leaf) => {
                let san = san.into_iter().filter(|name| name.chars().count() <= LONGEST).collect();
                let leaf = Certificate { san, is_valid: valid, error, ..leaf };
                (each_once(once(leaf).chain(chain.flatten())), None)
            }
        };
        Ok(Self { host: host.to_string(), port, checked_at, error, certificates })
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts, numbers and times have a form in JSON")
    }

    /// Leaves out what is told last until its JSON has at most `largest` bytes, as far as that
    /// goes: names of the leaf from the end, then certificates from the end. The leaf stays.
    pub(super) fn fit(&mut self, largest: usize) {
        let mut over = self.to_json().len().saturating_sub(largest);
        for certificate in &mut self.certificates {
            while over > 0
                && let Some(name) = certificate.san.pop()
            {
                // With its quotes and its comma.
                over = over.saturating_sub(name.len() + 3);
            }
        }
        while self.certificates.len() > 1 && self.to_json().len() > largest {
            self.certificates.pop();
        }
    }

    /// For logs.
    pub(super) fn place(&self) -> String {
        format!("{} port {}", self.host, self.port)
    }

    /// Why there is no certificate; none where there is one.
    pub(super) fn missing(&self) -> Option<&str> {
        let error = self.error.as_deref().unwrap_or(NO_CERTIFICATE);
        self.certificates.is_empty().then_some(error)
    }
}

impl Item {
    /// None where it cannot be read.
    fn by_its_dates(self, now: Timestamp) -> Option<Certificate> {
        let (not_before, not_after) = (self.valid_from?, self.valid_to?);
        let error = if now > not_after {
            Some(EXPIRED)
        } else if now < not_before {
            Some(NOT_YET_VALID)
        } else {
            None
        };
        Some(Certificate {
            subject: cut(self.subject),
            issuer: cut(self.issuer),
            serial_number: cut(self.serial_number),
            not_before,
            not_after,
            fingerprint_sha256: self.fingerprint,
            san: Vec::new(),
            is_valid: error.is_none(),
            error: error.map(str::to_owned),
        })
    }
}

/// Some servers send a certificate of their chain twice.
fn each_once(chain: impl Iterator<Item = Certificate>) -> Vec<Certificate> {
    let mut seen = HashSet::new();
    chain.filter(|certificate| seen.insert(certificate.fingerprint_sha256.clone())).collect()
}

/// The beginning of a text that is too long.
fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

/// In characters, of a text.
const LONGEST: usize = 1_000;
/// What the service calls it.
const NO_CERTIFICATE: &str = "no_certificate";
/// The tokens of the ssl check.
const EXPIRED: &str = "certificate_expired";
const NOT_YET_VALID: &str = "certificate_not_yet_valid";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn time(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn entry(result: Value) -> Value {
        let host = Target::parse("intranet.example").expect("a name");
        let entry = Entry::of(&host, 8443, time("2026-11-23T10:00:00.250Z"), result);
        serde_json::from_str(&entry.expect("a result").to_json()).expect("JSON")
    }

    fn item(name: &str, from: &str, to: &str) -> Value {
        json!({
            "subject": format!("CN={name}"), "issuer": "CN=Lab", "serial_number": "0a",
            "valid_from": from, "valid_to": to, "days_remaining": 9, "fingerprint": name,
            "is_ca": true,
        })
    }

    #[test]
    fn the_leaf_is_told_by_the_checks_verdict_and_the_others_by_their_dates() {
        let told = entry(json!({
            "valid": false, "error": "untrusted_root", "issuer": "Lab", "tls_grade": null,
            "san": ["intranet.example", "10.0.0.7"],
            "chain": [
                item("leaf", "2026-01-01T00:00:00Z", "2026-12-01T00:00:00Z"),
                item("old", "2020-01-01T00:00:00Z", "2026-11-23T10:00:00Z"),
                item("new", "2026-11-24T00:00:00Z", "2036-01-01T00:00:00Z"),
                item("root", "2026-11-23T10:00:00.250Z", "2036-01-01T00:00:00Z"),
            ],
        }));
        let place = json!(["intranet.example", 8443, "2026-11-23T10:00:00.250Z", null]);
        assert_eq!(
            json!([told["host"], told["port"], told["checked_at"], told["error"]]),
            place,
            "{told}"
        );
        assert_eq!(
            told["certificates"][0],
            json!({
                "subject": "CN=leaf", "issuer": "CN=Lab", "serial_number": "0a",
                "not_before": "2026-01-01T00:00:00Z", "not_after": "2026-12-01T00:00:00Z",
                "fingerprint_sha256": "leaf", "san": ["intranet.example", "10.0.0.7"],
                "is_valid": false, "error": "untrusted_root",
            })
        );
        let rest: Vec<_> = told["certificates"].as_array().expect("a list")[1..]
            .iter()
            .map(|told| json!([told["subject"], told["san"], told["is_valid"], told["error"]]))
            .collect();
        assert_eq!(
            rest,
            [
                json!(["CN=old", [], false, "certificate_expired"]),
                json!(["CN=new", [], false, "certificate_not_yet_valid"]),
                json!(["CN=root", [], true, null]),
            ]
        );
    }

    #[test]
    fn without_a_certificate_the_place_has_the_error() {
        let told = entry(json!({"valid": false, "error": "connection_refused", "chain": []}));
        assert_eq!(told["error"], "connection_refused");
        assert_eq!(told["certificates"], json!([]));
    }

    #[test]
    fn what_cannot_be_read_is_not_told_and_nothing_is_told_twice() {
        let fine = item("fine", "2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z");
        let broken = json!({"valid_from": null, "valid_to": null, "fingerprint": "broken"});
        let told = entry(json!({"valid": true, "chain": [fine, broken, fine]}));
        assert_eq!(told["certificates"].as_array().map(Vec::len), Some(1), "{told}");
        // Another one must not pass for the leaf.
        let error = "malformed_certificate";
        let told = entry(json!({"valid": false, "error": error, "chain": [broken, fine]}));
        assert_eq!((&told["error"], &told["certificates"]), (&json!(error), &json!([])));
        let host = Target::parse("a.example").expect("a name");
        assert!(Entry::of(&host, 1, time(NOW), json!({"valid": "yes"})).is_err());
    }

    #[test]
    fn no_text_is_longer_than_the_service_takes() {
        let long = "ü".repeat(1_001);
        let mut leaf = item(&long, "2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z");
        leaf["issuer"] = json!(long);
        let san = json!(["a.example", long, "ü".repeat(1_000)]);
        let told = entry(json!({"valid": true, "san": san, "chain": [leaf]}));
        let told = &told["certificates"][0];
        for field in ["subject", "issuer"] {
            assert_eq!(
                told[field].as_str().map(|text| text.chars().count()),
                Some(1_000),
                "{field}"
            );
        }
        assert_eq!(told["san"], json!(["a.example", "ü".repeat(1_000)]));
    }

    #[test]
    fn an_entry_can_be_made_to_fit() {
        let names: Vec<_> = (0..5_000).map(|nth| format!("host-{nth}.intranet.example")).collect();
        let dates = ("2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z");
        let chain: Vec<_> = (0..20)
            .map(|nth| item(&format!("{nth}{}", "x".repeat(1_000)), dates.0, dates.1))
            .collect();
        let result = json!({"valid": true, "san": names, "chain": chain});
        let host = Target::parse("intranet.example").expect("a name");
        let whole = Entry::of(&host, 443, time(NOW), result).expect("a result");

        let mut fewer_names = whole.clone();
        fewer_names.fit(60 << 10);
        assert!(fewer_names.to_json().len() <= 60 << 10);
        assert_eq!(fewer_names.certificates.len(), 20);
        let left = &fewer_names.certificates[0].san;
        assert!(left.len() > 100 && left[..] == names[..left.len()], "{} names", left.len());

        let mut fewer_certificates = whole.clone();
        fewer_certificates.fit(20 << 10);
        assert!(fewer_certificates.to_json().len() <= 20 << 10);
        assert!((1..20).contains(&fewer_certificates.certificates.len()));
        assert_eq!(fewer_certificates.certificates[0].subject, whole.certificates[0].subject);

        let mut as_it_was = whole.clone();
        as_it_was.fit(1 << 20);
        assert_eq!(as_it_was, whole);
    }

    const NOW: &str = "2026-11-23T10:00:00Z";
}
