//! One certificate: the facts that are shown, and the pieces that path building needs.

use std::{collections::HashSet, net::IpAddr};

use aws_lc_rs::digest::{SHA256, digest};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::{
    Certificate,
    extensions::{Extensions, Issuing, Obstacle, Purposes, SCT_LIST},
    key,
    links::Signatures,
    name::Name,
    signature::{Signed, Worth, usual_key_id},
};
use crate::egress::der;

/// A certificate that could be read.
#[derive(Clone, Debug)]
pub(super) struct Parsed {
    pub(super) der: Vec<u8>,
    pub(super) facts: Certificate,
    /// The contents of the names' DER encodings.
    pub(super) subject: Vec<u8>,
    pub(super) issuer: Vec<u8>,
    /// The names as they are compared.
    pub(super) known_as: Vec<u8>,
    pub(super) issued_by: Vec<u8>,
    /// The contents of the SubjectPublicKeyInfo.
    pub(super) key_info: Vec<u8>,
    /// The serial number, without a leading zero.
    pub(super) serial: Vec<u8>,
    pub(super) key_id: Option<Vec<u8>>,
    pub(super) authority_key_id: Option<Vec<u8>>,
    /// dNSName entries as presented.
    pub(super) names: Vec<String>,
    pub(super) addresses: Vec<IpAddr>,
    /// The contents of subjectAltName: GeneralNames of all kinds.
    pub(super) alternatives: Vec<u8>,
    pub(super) issuing: Issuing,
    /// The contents of nameConstraints.
    pub(super) constraints: Option<Vec<u8>>,
    pub(super) purposes: Purposes,
    pub(super) obstacle: Option<Obstacle>,
    /// RSA below 1024 bits or with exponent 1, EC below 123 bits.
    pub(super) weak_key: bool,
    /// caIssuers URLs.
    pub(super) issuer_urls: Vec<String>,
    /// The signature's algorithm is named alike inside and outside of what is signed.
    one_algorithm: bool,
}

impl Parsed {
    /// Finds out whether it signed itself, which takes a signature to tell.
    pub(super) fn in_chain(mut self, signatures: &Signatures) -> Self {
        let own = || signatures.worth(&self, &self.key_info);
        let self_signed = self.is_self_issued() && own().is_some_and(|worth| worth != Worth::Bad);
        self.facts.self_signed = self_signed;
        self
    }

    /// Reads a certificate of whatever version and age, without a look at any signature: a stranger
    /// may send hundreds of them. None where it is malformed.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (rest, parsed) = X509Certificate::from_der(bytes).ok()?;
        if !rest.is_empty() {
            return None;
        }
        let [tbs, algorithm, _] = pieces(bytes)?;
        let extensions = Extensions::read(parsed.extensions());
        let (key_algorithm, key_bits) = key::describe(parsed.public_key());
        let small = match key_algorithm.as_str() {
            "RSA" => key_bits < 1024 || key::has_exponent_one(parsed.public_key()),
            "EC" => key_bits < 123,
            _ => false,
        };
        let subject = der::contents(parsed.subject().as_raw())?.to_vec();
        let issuer = der::contents(parsed.issuer().as_raw())?.to_vec();
        Some(Self {
            der: bytes.to_vec(),
            facts: Certificate {
                subject: Name(&subject).to_text(),
                issuer: Name(&issuer).to_text(),
                issuer_cn: Name(&issuer).common_name(),
                issuer_org: Name(&issuer).organisation(),
                serial: hex::encode(unsigned(parsed.raw_serial())),
                not_before: parsed.validity().not_before.timestamp(),
                not_after: parsed.validity().not_after.timestamp(),
                san_dns: shown_names(&extensions.names),
                san_ip: shown_addresses(&extensions.addresses),
                signature_algorithm: key::signature_name(der::contents(algorithm)?),
                key_algorithm,
                key_bits,
                sha256: sha256(bytes),
                spki_sha256: sha256(parsed.public_key().raw),
                tbs_sha256: sha256(&without_transparency(tbs)?),
                is_ca: extensions.issuing.ca,
                self_signed: false,
                in_trust_path: false,
                has_ocsp_url: extensions.has_ocsp_url,
                must_staple: extensions.must_staple,
                sct_count: extensions.sct_count,
            },
            known_as: Name(&subject).comparable(),
            issued_by: Name(&issuer).comparable(),
            subject,
            issuer,
            key_info: der::contents(parsed.public_key().raw)?.to_vec(),
            serial: unsigned(parsed.raw_serial()).to_vec(),
            key_id: extensions.key_id,
            authority_key_id: extensions.authority_key_id,
            names: extensions.names,
            addresses: extensions.addresses,
            alternatives: extensions.alternatives,
            issuing: extensions.issuing,
            constraints: extensions.constraints,
            purposes: extensions.purposes,
            obstacle: if !has_plain_dates(tbs) {
                Some(Obstacle::Date)
            } else if !is_integer(parsed.raw_serial()) {
                Some(Obstacle::Serial)
            } else {
                extensions.obstacle
            },
            weak_key: small,
            issuer_urls: extensions.issuer_urls,
            one_algorithm: inner_algorithm(tbs) == Some(algorithm),
        })
    }

    /// What the certificate's signature is worth, judged against a key: the contents of a
    /// SubjectPublicKeyInfo.
    pub(super) fn signed_by(&self, key_info: &[u8]) -> Worth {
        // RFC 5280 section 4.1.1.2: the two names of the algorithm must be equal.
        if !self.one_algorithm {
            return Worth::Bad;
        }
        let [tbs, algorithm, signature] =
            pieces(&self.der).expect("the pieces were there when the certificate was read");
        Signed { algorithm, message: tbs, signature }.by(key_info)
    }

    pub(super) fn is_self_issued(&self) -> bool {
        self.known_as == self.issued_by
    }

    /// Whether it names itself as its issuer, with its own key. One that names no key may be of
    /// another that bears the name, if it says where that is to be found.
    pub(super) fn claims_itself(&self) -> bool {
        let own_key = || self.key_id.clone().or_else(|| usual_key_id(&self.key_info));
        let claims = match &self.authority_key_id {
            Some(meant) => own_key().as_ref() == Some(meant),
            None => self.issuer_urls.is_empty(),
        };
        self.is_self_issued() && claims
    }

    pub(super) fn expired_at(&self, at: i64) -> bool {
        at > self.facts.not_after
    }

    pub(super) fn too_early_at(&self, at: i64) -> bool {
        at < self.facts.not_before
    }

    /// What a person calls it.
    pub(super) fn label(&self) -> String {
        Name(&self.subject).to_label()
    }

    pub(super) fn issuer_label(&self) -> String {
        Name(&self.issuer).to_label()
    }
}

/// tbsCertificate (whole), signature algorithm (contents) and signature bits.
fn pieces(certificate: &[u8]) -> Option<[&[u8]; 3]> {
    match der::elements(der::contents(certificate)?)?[..] {
        [tbs, algorithm, signature] => {
            let signature = signature.contents.strip_prefix(&[NO_UNUSED_BITS])?;
            Some([tbs.raw, algorithm.contents, signature])
        }
        _ => None,
    }
}

/// The contents of the AlgorithmIdentifier inside a tbsCertificate: the first sequence in it, after
/// version and serial number.
fn inner_algorithm(tbs: &[u8]) -> Option<&[u8]> {
    let fields = der::elements(der::contents(tbs)?)?;
    fields.into_iter().find(|field| field.tag == der::SEQUENCE).map(|field| field.contents)
}

/// Whether both dates are written as RFC 5280 section 4.1.2.5 says. The parser reads others too
/// (an offset, a fraction, no seconds), and clients refuse them.
fn has_plain_dates(tbs: &[u8]) -> bool {
    let fields = der::contents(tbs).and_then(der::elements).unwrap_or_default();
    // Behind the algorithm and the issuer.
    let validity = fields.iter().filter(|field| field.tag == der::SEQUENCE).nth(2);
    let dates = validity.and_then(|validity| der::elements(validity.contents));
    dates.is_some_and(|dates| dates.iter().all(is_plain_date))
}

/// `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`.
fn is_plain_date(date: &der::Element<'_>) -> bool {
    let digits = match date.tag {
        UTC_TIME => 12,
        GENERALIZED_TIME => 14,
        _ => return false,
    };
    let written = date.contents.strip_suffix(b"Z");
    written.is_some_and(|w| w.len() == digits && w.iter().all(u8::is_ascii_digit))
}

/// Whether these are the contents of a DER integer: some octets, and none to spare in front.
fn is_integer(contents: &[u8]) -> bool {
    match contents {
        [] => false,
        [0, next, ..] => *next >= 0x80,
        [0xff, next, ..] => *next < 0x80,
        _ => true,
    }
}

/// The tbsCertificate without SCT list and poison, which is what a precertificate and its
/// certificate have in common (RFC 6962 section 3.2).
fn without_transparency(tbs: &[u8]) -> Option<Vec<u8>> {
    let fields = der::elements(der::contents(tbs)?)?;
    let mut kept = Vec::with_capacity(tbs.len());
    for field in fields {
        if field.tag != EXTENSIONS {
            kept.extend(field.raw);
            continue;
        }
        let list = der::elements(der::contents(field.contents)?)?;
        let others = list.into_iter().filter(|extension| {
            let oid = der::contents(extension.contents).unwrap_or_default();
            oid != SCT_LIST && oid != POISON
        });
        let others = others.map(|extension| extension.raw).collect::<Vec<_>>().concat();
        if !others.is_empty() {
            kept.extend(der::wrap(EXTENSIONS, &der::wrap(der::SEQUENCE, &others)));
        }
    }
    Some(der::wrap(der::SEQUENCE, &kept))
}

/// Lower-case A-labels in the order of the certificate, each once.
fn shown_names(presented: &[String]) -> Vec<String> {
    let mut seen = HashSet::with_capacity(presented.len());
    let shown = presented.iter().map(|name| shown_name(name));
    shown.filter(|name| seen.insert(name.clone())).collect()
}

fn shown_name(presented: &str) -> String {
    if presented.is_ascii() {
        return presented.to_ascii_lowercase();
    }
    // What is too long for a name is shown as it is: mapping it would only be work.
    let ascii = (presented.len() <= LONGEST_NAME).then(|| idna::domain_to_ascii(presented).ok());
    ascii.flatten().unwrap_or_else(|| presented.to_lowercase())
}

fn shown_addresses(presented: &[IpAddr]) -> Vec<String> {
    let mut seen = HashSet::with_capacity(presented.len());
    let distinct = presented.iter().filter(|address| seen.insert(**address));
    distinct.map(IpAddr::to_string).collect()
}

/// Without the zero that keeps a positive number positive.
pub(super) fn unsigned(integer: &[u8]) -> &[u8] {
    match integer {
        [0, rest @ ..] if !rest.is_empty() => rest,
        all => all,
    }
}

/// In lower-case hex.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex::encode(digest(&SHA256, bytes))
}

const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// `[3]`, explicit.
const EXTENSIONS: u8 = 0xa3;
const POISON: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x03];
/// The first octet of a bit string that is made of whole octets.
const NO_UNUSED_BITS: u8 = 0;
/// In UTF-8: 253 characters of up to four octets.
const LONGEST_NAME: usize = 4 * 253;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_seconds_and_are_utc() {
        let plain = (UTC_TIME, "261110235959Z");
        for (tag, date, expected) in [
            (UTC_TIME, "261110235959Z", true),
            (GENERALIZED_TIME, "20261110235959Z", true),
            (GENERALIZED_TIME, "99991231235959Z", true),
            (UTC_TIME, "2611102359Z", false),
            (UTC_TIME, "261110235959+0100", false),
            (UTC_TIME, "261110235959", false),
            (UTC_TIME, "20261110235959Z", false),
            (GENERALIZED_TIME, "20261110235959.5Z", false),
            (GENERALIZED_TIME, "20261110235959+0100", false),
            (GENERALIZED_TIME, "202611102359Z", false),
            (0x13, "261110235959Z", false),
        ] {
            assert_eq!(has_plain_dates(&between(plain, (tag, date))), expected, "{tag} {date}");
            assert_eq!(has_plain_dates(&between((tag, date), plain)), expected, "{tag} {date}");
        }
        assert!(!has_plain_dates(&[]));
    }

    #[test]
    fn integers_are_as_short_as_they_can_be() {
        for (contents, expected) in [
            (&[0][..], true),
            (&[5], true),
            (&[0, 0x80], true),
            (&[0xff], true),
            (&[0xff, 0x7f], true),
            (&[], false),
            (&[0, 0], false),
            (&[0, 0x7f], false),
            (&[0xff, 0x80], false),
        ] {
            assert_eq!(is_integer(contents), expected, "{contents:?}");
        }
    }

    /// As much of a tbsCertificate as has dates.
    fn between(from: (u8, &str), to: (u8, &str)) -> Vec<u8> {
        let date = |(tag, text): (u8, &str)| der::wrap(tag, text.as_bytes());
        let empty = || der::wrap(der::SEQUENCE, &[]);
        let validity = der::wrap(der::SEQUENCE, &[date(from), date(to)].concat());
        let serial = der::wrap(2, &[1]);
        let fields = [serial, empty(), empty(), validity, empty()];
        der::wrap(der::SEQUENCE, &fields.concat())
    }
}
