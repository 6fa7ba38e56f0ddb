//! One look at a place, and the SSL result that it makes.

use serde_json::{Value, json};

use super::certificate::{Entry, moment, text, trouble};
use super::{Certificate, Place, place, report, said};
use crate::parse::{self, Body};
use crate::{Invalid, Timestamp};

/// One entry of a report's `results[]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    pub place: Place,
    /// None = when the report arrived.
    pub checked_at: Option<Timestamp>,
    /// Why no certificate was seen, or what is wrong with the first.
    pub error: Option<String>,
    /// As served, at most 20; empty where none was seen. Once looks are [`apart`](super::apart),
    /// a leaf with its chain; empty, too, where a leaf [is gone](Look::is_gone).
    pub certificates: Vec<Certificate>,
    /// Whether it tells of all that was served, so that what it does not show is gone. Not where it
    /// saw none, nor where an entry could not be read.
    pub is_whole: bool,
}

/// What a look says of the leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub is_valid: bool,
    /// None when it is valid; else the first problem, if it was told.
    pub error: Option<String>,
}

impl Look {
    pub(super) fn read(body: Body<'_>) -> Result<Self, Invalid> {
        let host = body.required("host", place::host)?;
        let port =
            body.required("port", |field, value| parse::integer(field, value, 1..=u16::MAX))?;
        let entries = body.required("certificates", |field, value| {
            report::entries(field, value, MOST_CERTIFICATES, Entry::read)
        })?;
        let error = trouble(&body, text)?;
        let served = entries.len();
        let (certificates, error) = match readable(entries) {
            Ok(certificates) => (certificates, error),
            Err(unread) => (Vec::new(), Some(unread)),
        };
        Ok(Self {
            place: Place { host, port, beside: None },
            checked_at: said(&body, "checked_at", moment)?,
            error,
            is_whole: !certificates.is_empty() && certificates.len() == served,
            certificates,
        })
    }

    /// One that tells that what stood there is gone.
    pub fn gone(place: Place) -> Self {
        Self { place, checked_at: None, error: None, certificates: Vec::new(), is_whole: true }
    }

    /// One that nobody made, since its agent is silent: what was there is judged by the calendar.
    pub fn silent(place: Place) -> Self {
        let error = Some(AGENT_SILENT.to_owned());
        Self { error, is_whole: false, ..Self::gone(place) }
    }

    /// Whether it says that the certificate that was there is gone: others of the place were served
    /// without it, or the agent no longer looks there.
    pub fn is_gone(&self) -> bool {
        self.is_whole && self.certificates.is_empty()
    }

    /// When it was: an agent whose clock is ahead saw nothing of the future.
    pub fn at(&self, now: Timestamp) -> Timestamp {
        self.checked_at.map_or(now, |at| at.min(now))
    }

    /// What the agent found, and what the dates say where it did not tell.
    pub fn verdict(&self, at: Timestamp) -> Verdict {
        if self.is_gone() {
            // With nothing wrong any more, whatever was raised about it ends.
            return Verdict { is_valid: true, error: None };
        }
        let leaf = self.certificates.first();
        let told = leaf.and_then(|leaf| leaf.error.as_ref()).or(self.error.as_ref());
        let dates = leaf.and_then(|leaf| leaf.trouble_with_dates(at));
        let is_valid = leaf
            .is_some_and(|leaf| leaf.is_valid.unwrap_or_else(|| told.is_none() && dates.is_none()));
        if is_valid {
            return Verdict { is_valid, error: None };
        }
        let nothing = leaf.is_none().then_some(NO_CERTIFICATE);
        Verdict { is_valid, error: told.cloned().or_else(|| dates.or(nothing).map(str::to_owned)) }
    }

    /// The result of the certificate check that it amounts to (spec: SSL check result). What an
    /// agent does not tell is null.
    pub fn result(&self, at: Timestamp) -> Value {
        let Verdict { is_valid, error } = self.verdict(at);
        let leaf = self.certificates.first();
        let until = leaf.map(|leaf| leaf.not_after);
        let chain: Vec<Value> = self.certificates.iter().map(|one| chain_item(one, at)).collect();
        json!({
            "domain": self.place.to_string(),
            "valid": is_valid,
            "issuer": leaf.map(Certificate::issuer_name).unwrap_or_default(),
            "issuer_org": leaf.and_then(Certificate::issuer_org),
            "valid_from": leaf.and_then(|leaf| leaf.not_before),
            "valid_to": until,
            "expires_at": until,
            "days_remaining": leaf.map(|leaf| leaf.days_left(at)),
            "san": leaf.map(|leaf| leaf.san.as_slice()).unwrap_or_default(),
            "chain": chain,
            "chain_complete": leaf.is_some() && error.as_deref() != Some(INCOMPLETE_CHAIN),
            "chain_error": null,
            "protocol_version": null,
            "cipher_name": null,
            "cipher_strength": null,
            "tls_grade": null,
            "hsts": null,
            "ocsp_stapling": null,
            "mixed_content": null,
            "error": error,
        })
    }
}

/// The certificates among these entries. Where the first could not be read, why: another one must
/// not pass for the leaf.
fn readable(entries: Vec<Entry>) -> Result<Vec<Certificate>, String> {
    let mut certificates = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry {
            Entry::Certificate(certificate) => certificates.push(certificate),
            Entry::Unread(error) if certificates.is_empty() => return Err(error),
            Entry::Unread(_) => {}
        }
    }
    Ok(certificates)
}

fn chain_item(certificate: &Certificate, at: Timestamp) -> Value {
    json!({
        "subject": certificate.subject,
        "issuer": certificate.issuer,
        "serial_number": certificate.serial_number.as_deref().unwrap_or_default(),
        "valid_from": certificate.not_before,
        "valid_to": certificate.not_after,
        "days_remaining": certificate.days_left(at),
        "fingerprint": certificate.identity(),
    })
}

/// What a look found that saw none and does not say why: nothing of a certificate, so that none is
/// judged by it.
const NO_CERTIFICATE: &str = "no_certificate";
/// Says as little of a certificate.
const AGENT_SILENT: &str = "agent_silent";
const MOST_CERTIFICATES: usize = 20;
/// A token of the certificate check.
const INCOMPLETE_CHAIN: &str = "incomplete_chain";
