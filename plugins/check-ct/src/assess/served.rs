//! The certificate that the site serves, as the latest result of the check `ssl` tells of it.

use serde::Deserialize;

use crate::{certificate, date, issuer::Issuer, name, result::Certificate};

/// What is read of that result.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Served {
    valid: bool,
    issuer: String,
    issuer_org: Option<String>,
    expires_at: Option<String>,
    san: Vec<String>,
    chain: Vec<Link>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Link {
    serial_number: String,
    fingerprint: String,
}

impl Served {
    /// Whether it is this certificate: by fingerprint, else by issuer and serial number. Anybody
    /// can copy the latter, so names and dates must fit as well, and the server must have proven
    /// its certificate.
    pub(super) fn is(&self, certificate: &Certificate, issuer: &Issuer) -> bool {
        let Some(leaf) = self.chain.first() else { return false };
        if let Some(fingerprint) = certificate.fingerprint.as_deref()
            && !leaf.fingerprint.is_empty()
            && fingerprint.eq_ignore_ascii_case(&leaf.fingerprint)
        {
            return true;
        }
        let serial = certificate::serial(&certificate.serial_number);
        let same = !serial.is_empty()
            && serial == certificate::serial(&leaf.serial_number)
            && self.issuer().folded() == issuer.folded();
        self.valid && same && self.has_dates_of(certificate) && self.has_names_of(certificate)
    }

    /// Of the issuer, where the certificate is valid: what anybody could have put on a server
    /// accepts nobody.
    pub(super) fn family(&self) -> Option<String> {
        let is_seen = self.valid && !self.chain.is_empty();
        is_seen.then(|| self.issuer().family()).flatten()
    }

    fn issuer(&self) -> Issuer {
        Issuer::of_result(&self.issuer, self.issuer_org.as_deref())
    }

    fn has_dates_of(&self, certificate: &Certificate) -> bool {
        let own = self.expires_at.as_deref().and_then(date::parse);
        let other = certificate.not_after.as_deref().and_then(date::parse);
        own.zip(other).is_none_or(|(own, other)| own == other)
    }

    fn has_names_of(&self, certificate: &Certificate) -> bool {
        let own: std::collections::BTreeSet<String> =
            self.san.iter().filter_map(|text| name::canonical(text)).collect();
        own.is_empty()
            || certificate
                .san
                .iter()
                .filter_map(|text| name::canonical(text))
                .all(|name| own.contains(&name))
    }
}
