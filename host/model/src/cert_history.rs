//! What became of a site's certificates.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{SiteId, Timestamp, parse};

/// How a certificate differs from the one before (spec: Certificate history result).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeType {
    Renewal,
    Replacement,
    IssuerChange,
    SanChange,
}

/// One row of a site's certificate history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CertChange {
    pub site_id: SiteId,
    /// SHA-256 of the new certificate, lower-case hex.
    pub fingerprint: String,
    pub change_type: ChangeType,
    pub changed_at: Timestamp,
    pub issuer: String,
}

/// A row as `GET /cert-history` shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CertChangeView<'a> {
    pub fingerprint: &'a str,
    pub change_type: ChangeType,
    pub changed_at: Timestamp,
    pub issuer: &'a str,
}

impl CertChange {
    /// Reads the details of a `cert_change` finding, `{fingerprint, change_type, issuer,
    /// changed_at?}`. They are a plugin's words, so they are read leniently: without fingerprint
    /// or change type there is no row; without a moment it changed when it was seen.
    pub fn from_details(site_id: SiteId, details: &Value, seen_at: Timestamp) -> Option<Self> {
        let fingerprint = details.get("fingerprint")?.as_str().filter(|text| !text.is_empty())?;
        let change_type = ChangeType::deserialize(details.get("change_type")?).ok()?;
        let changed_at = details
            .get("changed_at")
            .and_then(Value::as_str)
            .and_then(|text| parse::timestamp("changed_at", text).ok())
            .unwrap_or(seen_at);
        let issuer = details.get("issuer").and_then(Value::as_str).unwrap_or_default();
        Some(Self {
            site_id,
            fingerprint: fingerprint.to_owned(),
            change_type,
            changed_at,
            issuer: issuer.to_owned(),
        })
    }

    pub fn view(&self) -> CertChangeView<'_> {
        CertChangeView {
            fingerprint: &self.fingerprint,
            change_type: self.change_type,
            changed_at: self.changed_at,
            issuer: &self.issuer,
        }
    }
}

#[cfg(test)]
mod tests;
