//! The deprecated renewal of certificates: its log, what a site must be set to, and what comes
//! out.
//!
//! *Invariant:* a log is for the site's owner: no entry holds a secret, and what others said is
//! one line of bounded length.

mod provider;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::provider::{Algorithm, Rfc2136, challenge_name};
use crate::{DomainName, Invalid, Secret, Site, SiteId, Timestamp, parse};

/// Where a renewal stands (spec: Renewal log entry).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RenewalStatus {
    /// It has begun.
    Pending,
    Success,
    Failed,
}

/// One line of a site's renewal log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RenewalEntry {
    pub status: RenewalStatus,
    pub message: String,
    pub created_at: Timestamp,
}

/// What a renewal brought, kept for the owner until the next one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RenewedCertificate {
    /// The chain in PEM, leaf first.
    pub certificate: String,
    /// PKCS#8 in PEM.
    pub private_key: Secret<String>,
    pub expires_at: Timestamp,
}

impl RenewalEntry {
    pub fn pending(domain: &DomainName, now: Timestamp) -> Self {
        let message = format!("renewal of the certificate for {domain} has begun");
        Self { status: RenewalStatus::Pending, message, created_at: now }
    }

    pub fn success(domain: &DomainName, renewed: &RenewedCertificate, now: Timestamp) -> Self {
        let until = renewed.expires_at.format("%Y-%m-%d");
        let message = format!(
            "the certificate for {domain} was renewed and is valid until {until}; \
             download it from /renewal/certificate"
        );
        Self { status: RenewalStatus::Success, message, created_at: now }
    }

    /// `reason` may quote a server: it is cut, and made one line.
    pub fn failed(reason: &str, now: Timestamp) -> Self {
        let line = reason.split(|c: char| c.is_control() || c.is_whitespace());
        let line = line.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let message = match line.char_indices().nth(LONGEST_MESSAGE) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        };
        Self { status: RenewalStatus::Failed, message, created_at: now }
    }
}

/// The body of `POST /renewal`.
pub fn parse_site(body: &Value) -> Result<SiteId, Invalid> {
    let id = parse::Body::of(body)?
        .required("site_id", |field, value| parse::uuid(field, parse::text(field, value)?))?;
    Ok(SiteId(id))
}

/// Whether the certificate can be brought where the site wants it: so far it is kept for its
/// owner to download, and brought nowhere.
pub fn deployable(site: &Site) -> Result<(), Invalid> {
    match site.deploy_target.as_deref() {
        None | Some(DOWNLOAD) => Ok(()),
        Some(_) => {
            Err(Invalid::new("deploy_target", "is not supported: set it to download, or clear it"))
        }
    }
}

/// The answer to everybody for whom the operator has not switched renewal on.
pub const CLOSED: &str = "certificate renewal is closed to new users; \
    it goes on for accounts that the operator has switched it on for";

const DOWNLOAD: &str = "download";
const LONGEST_MESSAGE: usize = 500;

#[cfg(test)]
mod tests;
