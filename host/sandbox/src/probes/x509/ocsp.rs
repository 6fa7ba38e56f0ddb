//! Stapled OCSP responses (RFC 6960): whether one covers the leaf, who signed it, what it says.

use ::der::{Decode, Encode};
use aws_lc_rs::digest::{Algorithm, SHA1_FOR_LEGACY_USE_ONLY, SHA256, SHA384, SHA512, digest};
use x509_ocsp::{
    BasicOcspResponse, CertStatus, OcspGeneralizedTime, OcspResponse, OcspResponseStatus,
    ResponderId, RevokedInfo, SingleResponse,
};

use super::{
    certificate::{Parsed, unsigned},
    name::Name,
    signature::{Signed, Worth, key_parts},
};
use crate::egress::der;

/// What a staple is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Good,
    Revoked,
    /// The responder does not know the certificate.
    Unknown,
    /// Signed and about the leaf, but not of this time. What it says may hold nevertheless: a
    /// certificate does not come back from revocation.
    Stale {
        revoked: bool,
    },
    /// Malformed, an error response, about another certificate, or not signed by somebody who may.
    Invalid,
}

impl Status {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Revoked => "revoked",
            Self::Unknown => "unknown",
            Self::Stale { .. } => "stale",
            Self::Invalid => "invalid",
        }
    }

    /// Whether the certificate is revoked, by a staple of now or of the past.
    pub(super) fn is_revocation(self) -> bool {
        matches!(self, Self::Revoked | Self::Stale { revoked: true })
    }
}

/// The time that a staple's statement is about.
enum Tense {
    Past,
    Present,
    Future,
}

/// Judges a staple. `issuer`: the contents of the issuer's SubjectPublicKeyInfo; without it no
/// signature can be checked, and nothing unsigned counts.
pub(super) fn status(staple: &[u8], leaf: &Parsed, issuer: Option<&[u8]>, at: i64) -> Status {
    let judged = issuer.and_then(|issuer| judge(staple, leaf, issuer, at));
    judged.unwrap_or(Status::Invalid)
}

fn judge(staple: &[u8], leaf: &Parsed, issuer: &[u8], at: i64) -> Option<Status> {
    let response = OcspResponse::from_der(staple).ok()?;
    if response.response_status != OcspResponseStatus::Successful {
        return None;
    }
    let bytes = response.response_bytes?;
    if bytes.response_type.as_bytes() != BASIC {
        return None;
    }
    let encoded = bytes.response.as_bytes();
    let basic = BasicOcspResponse::from_der(encoded).ok()?;
    let single = covering(&basic, leaf, issuer)?;
    let tense = tense(single, at);
    // A statement from the past was made by somebody who could make it then.
    let said = match tense {
        Tense::Past => seconds(&single.this_update),
        Tense::Present | Tense::Future => at,
    };
    let signer = signer(&basic, leaf, issuer, said)?;
    if !is_signed(encoded, &signer) {
        return None;
    }
    // Whatever the reason is: others take the status alone, too.
    Some(match (tense, &single.cert_status) {
        (Tense::Future, _) => Status::Stale { revoked: false },
        (Tense::Past, status) => Status::Stale { revoked: is_final(status) },
        (Tense::Present, CertStatus::Revoked(_)) => Status::Revoked,
        (Tense::Present, CertStatus::Good(_)) => Status::Good,
        (Tense::Present, CertStatus::Unknown(_)) => Status::Unknown,
    })
}

/// Revoked for good, rather than on hold or on its way off it.
fn is_final(status: &CertStatus) -> bool {
    let CertStatus::Revoked(info) = status else { return false };
    !matches!(reason(info), Some(CERTIFICATE_HOLD | REMOVE_FROM_CRL))
}

/// The number of the reason (RFC 5280 section 5.3.1).
fn reason(info: &RevokedInfo) -> Option<u32> {
    info.revocation_reason.map(|reason| reason as u32)
}

/// The answer about the leaf: name and key of its issuer by hash, and its serial number.
fn covering<'a>(
    basic: &'a BasicOcspResponse,
    leaf: &Parsed,
    issuer: &[u8],
) -> Option<&'a SingleResponse> {
    let name = der::wrap(der::SEQUENCE, &leaf.issuer);
    let (_, key) = key_parts(issuer)?;
    basic.tbs_response_data.responses.iter().find(|single| {
        let id = &single.cert_id;
        let Some(hash) = hash(id.hash_algorithm.oid.as_bytes()) else { return false };
        id.issuer_name_hash.as_bytes() == digest(hash, &name).as_ref()
            && id.issuer_key_hash.as_bytes() == digest(hash, key).as_ref()
            && unsigned(id.serial_number.as_bytes()) == leaf.serial
    })
}

/// The key info that must have signed: the issuer's own, or that of a responder the issuer has
/// delegated to (RFC 6960 section 4.2.2.2), whose certificate must have been valid at `said`.
fn signer(basic: &BasicOcspResponse, leaf: &Parsed, issuer: &[u8], said: i64) -> Option<Vec<u8>> {
    let id = &basic.tbs_response_data.responder_id;
    if is_named(id, &leaf.issued_by, issuer) {
        return Some(issuer.to_vec());
    }
    let certificates = basic.certs.as_deref().unwrap_or_default().iter().take(MAX_RESPONDERS);
    let mut certificates =
        certificates.filter_map(|certificate| Parsed::read(&certificate.to_der().ok()?));
    let delegated = certificates.find(|responder| {
        is_named(id, &responder.known_as, &responder.key_info)
            && responder.issued_by == leaf.issued_by
            && responder.purposes.ocsp_signing
            && !responder.expired_at(said)
            && !responder.too_early_at(said)
            && responder.signed_by(issuer) == Worth::Good
    });
    delegated.map(|responder| responder.key_info)
}

/// `known_as`: the name as it is compared; `key_info`: contents.
fn is_named(id: &ResponderId, known_as: &[u8], key_info: &[u8]) -> bool {
    match id {
        ResponderId::ByName(named) => named.to_der().is_ok_and(|encoded| {
            der::contents(&encoded).is_some_and(|name| Name(name).comparable() == known_as)
        }),
        ResponderId::ByKey(hash) => key_parts(key_info).is_some_and(|(_, key)| {
            digest(&SHA1_FOR_LEGACY_USE_ONLY, key).as_ref() == hash.as_bytes()
        }),
    }
}

/// Checks the bytes as they came; encoding them anew might not give the same.
fn is_signed(basic: &[u8], key_info: &[u8]) -> bool {
    let fields = der::contents(basic).and_then(der::elements).unwrap_or_default();
    let [data, algorithm, signature, ..] = fields[..] else { return false };
    let Some((_, signature)) = signature.contents.split_first() else { return false };
    let signed = Signed { algorithm: algorithm.contents, message: data.raw, signature };
    signed.by(key_info) == Worth::Good
}

/// Present: thisUpdate ≤ now < nextUpdate. Without nextUpdate, newer information is always
/// available on request, which a staple cannot make.
fn tense(single: &SingleResponse, at: i64) -> Tense {
    if at < seconds(&single.this_update) {
        Tense::Future
    } else if single.next_update.as_ref().is_some_and(|next| at >= seconds(next)) {
        Tense::Past
    } else {
        Tense::Present
    }
}

fn seconds(time: &OcspGeneralizedTime) -> i64 {
    time.0.to_unix_duration().as_secs() as i64
}

fn hash(oid: &[u8]) -> Option<&'static Algorithm> {
    match oid {
        [0x2b, 0x0e, 0x03, 0x02, 0x1a] => Some(&SHA1_FOR_LEGACY_USE_ONLY),
        [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01] => Some(&SHA256),
        [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02] => Some(&SHA384),
        [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03] => Some(&SHA512),
        _ => None,
    }
}

const CERTIFICATE_HOLD: u32 = 6;
const REMOVE_FROM_CRL: u32 = 8;

/// Each may be another signature to verify.
const MAX_RESPONDERS: usize = 8;

/// id-pkix-ocsp-basic, 1.3.6.1.5.5.7.48.1.1
const BASIC: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01, 0x01];
