//! One certificate: the facts that are shown, and the pieces that path building needs.

use std::net::IpAddr;

use aws_lc_rs::digest::{SHA256, digest};
use x509_parser::{
    extensions::{GeneralName, ParsedExtension, X509Extension},
    prelude::{FromDer, X509Certificate},
};

use super::{Certificate, hex, key, name::Name, signature::Signed};
use crate::egress::der;

/// A certificate that could be read.
#[derive(Clone, Debug)]
pub(super) struct Parsed {
    pub(super) der: Vec<u8>,
    pub(super) facts: Certificate,
    /// The contents of the names' DER encodings.
    pub(super) subject: Vec<u8>,
    pub(super) issuer: Vec<u8>,
    /// The contents of the SubjectPublicKeyInfo.
    pub(super) key_info: Vec<u8>,
    /// The serial number, without a leading zero.
    pub(super) serial: Vec<u8>,
    pub(super) key_id: Option<Vec<u8>>,
    pub(super) authority_key_id: Option<Vec<u8>>,
    /// dNSName entries as presented.
    pub(super) names: Vec<String>,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) issuing: Issuing,
    pub(super) purposes: Purposes,
    /// RSA below 1024 bits or with exponent 1, EC below 123 bits.
    pub(super) weak_key: bool,
    /// caIssuers URLs.
    pub(super) issuer_urls: Vec<String>,
}

/// What its extensions say about signing other certificates.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Issuing {
    pub(super) ca: bool,
    pub(super) path_length: Option<u32>,
    /// keyUsage; none = it does not restrict.
    pub(super) cert_sign: Option<bool>,
    pub(super) name_constraints: bool,
}

/// Extended key usage; without the extension everything goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Purposes {
    pub(super) server_auth: bool,
    pub(super) ocsp_signing: bool,
}

impl Parsed {
    /// Reads a certificate of whatever version and age; none where it is malformed.
    pub(super) fn from_der(bytes: &[u8]) -> Option<Self> {
        let (rest, parsed) = X509Certificate::from_der(bytes).ok()?;
        if !rest.is_empty() {
            return None;
        }
        let [tbs, algorithm, _] = pieces(bytes)?;
        let extensions = Extensions::read(parsed.extensions());
        let (key_algorithm, key_bits) = key::describe(parsed.public_key());
        let small = match key_algorithm.as_str() {
            "RSA" => key_bits < 1024 || key::rsa_exponent(parsed.public_key()) == Some(1),
            "EC" => key_bits < 123,
            _ => false,
        };
        let subject = der::contents(parsed.subject().as_raw())?.to_vec();
        let issuer = der::contents(parsed.issuer().as_raw())?.to_vec();
        let mut certificate = Self {
            der: bytes.to_vec(),
            facts: Certificate {
                subject: Name(&subject).to_text(),
                issuer: Name(&issuer).to_text(),
                issuer_cn: Name(&issuer).common_name(),
                issuer_org: Name(&issuer).organisation(),
                serial: hex(unsigned(parsed.raw_serial())),
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
            subject,
            issuer,
            key_info: der::contents(parsed.public_key().raw)?.to_vec(),
            serial: unsigned(parsed.raw_serial()).to_vec(),
            key_id: extensions.key_id,
            authority_key_id: extensions.authority_key_id,
            names: extensions.names,
            addresses: extensions.addresses,
            issuing: extensions.issuing,
            purposes: extensions.purposes,
            weak_key: small,
            issuer_urls: extensions.issuer_urls,
        };
        certificate.facts.self_signed = certificate.is_self_signed();
        Some(certificate)
    }

    /// The signature of the certificate itself.
    pub(super) fn signed(&self) -> Signed<'_> {
        let [tbs, algorithm, signature] =
            pieces(&self.der).expect("the pieces were there when the certificate was read");
        Signed { algorithm, message: tbs, signature }
    }

    pub(super) fn is_self_issued(&self) -> bool {
        self.subject == self.issuer
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

    fn is_self_signed(&self) -> bool {
        use super::signature::Worth;
        self.is_self_issued() && self.signed().by(&self.key_info) != Worth::Bad
    }
}

/// tbsCertificate (whole), signature algorithm (contents) and signature bits.
fn pieces(certificate: &[u8]) -> Option<[&[u8]; 3]> {
    match der::elements(der::contents(certificate)?)?[..] {
        [tbs, algorithm, signature] => {
            Some([tbs.raw, algorithm.contents, signature.contents.split_first()?.1])
        }
        _ => None,
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

/// What is read from the extensions. One that is malformed counts as absent.
#[derive(Default)]
struct Extensions {
    names: Vec<String>,
    addresses: Vec<IpAddr>,
    issuing: Issuing,
    purposes: Purposes,
    key_id: Option<Vec<u8>>,
    authority_key_id: Option<Vec<u8>>,
    issuer_urls: Vec<String>,
    has_ocsp_url: bool,
    must_staple: bool,
    sct_count: u32,
}

impl Default for Purposes {
    fn default() -> Self {
        Self { server_auth: true, ocsp_signing: false }
    }
}

impl Extensions {
    fn read(extensions: &[X509Extension<'_>]) -> Self {
        let mut read = Self::default();
        for extension in extensions {
            match extension.parsed_extension() {
                ParsedExtension::SubjectAlternativeName(san) => read.names(&san.general_names),
                ParsedExtension::BasicConstraints(constraints) => {
                    read.issuing.ca = constraints.ca;
                    read.issuing.path_length = constraints.path_len_constraint;
                }
                ParsedExtension::KeyUsage(usage) => {
                    read.issuing.cert_sign = Some(usage.key_cert_sign());
                }
                ParsedExtension::ExtendedKeyUsage(usage) => {
                    read.purposes.server_auth = usage.server_auth;
                    read.purposes.ocsp_signing = usage.ocsp_signing;
                }
                ParsedExtension::NameConstraints(_) => read.issuing.name_constraints = true,
                ParsedExtension::SubjectKeyIdentifier(id) => read.key_id = Some(id.0.to_vec()),
                ParsedExtension::AuthorityKeyIdentifier(authority) => {
                    read.authority_key_id =
                        authority.key_identifier.as_ref().map(|id| id.0.to_vec());
                }
                ParsedExtension::AuthorityInfoAccess(access) => {
                    for description in access.iter() {
                        let method = description.access_method.as_bytes();
                        read.access(method, &description.access_location);
                    }
                }
                ParsedExtension::SCT(list) => read.sct_count = list.len() as u32,
                _ if extension.oid.as_bytes() == TLS_FEATURE => {
                    read.must_staple = wants_staple(extension.value);
                }
                _ => {}
            }
        }
        read
    }

    fn names(&mut self, names: &[GeneralName<'_>]) {
        for name in names {
            match name {
                GeneralName::DNSName(name) => self.names.push((*name).to_owned()),
                GeneralName::IPAddress(bytes) => self.addresses.extend(address(bytes)),
                _ => {}
            }
        }
    }

    fn access(&mut self, method: &[u8], location: &GeneralName<'_>) {
        let GeneralName::URI(url) = location else { return };
        match method {
            OCSP => self.has_ocsp_url = true,
            CA_ISSUERS => self.issuer_urls.push((*url).to_owned()),
            _ => {}
        }
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        16 => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
        _ => None,
    }
}

/// RFC 7633: a sequence of TLS extension numbers; 5 is status_request.
fn wants_staple(features: &[u8]) -> bool {
    let numbers = der::contents(features).and_then(der::elements).unwrap_or_default();
    numbers.iter().any(|number| number.contents == [5])
}

/// Lower-case A-labels in the order of the certificate, each once.
fn shown_names(presented: &[String]) -> Vec<String> {
    let mut shown = Vec::with_capacity(presented.len());
    for name in presented {
        let name = if name.is_ascii() {
            name.to_ascii_lowercase()
        } else {
            idna::domain_to_ascii(name).unwrap_or_else(|_| name.to_lowercase())
        };
        if !shown.contains(&name) {
            shown.push(name);
        }
    }
    shown
}

fn shown_addresses(presented: &[IpAddr]) -> Vec<String> {
    let mut shown = Vec::with_capacity(presented.len());
    for address in presented {
        let address = address.to_string();
        if !shown.contains(&address) {
            shown.push(address);
        }
    }
    shown
}

/// Without the zero that keeps a positive number positive.
pub(super) fn unsigned(integer: &[u8]) -> &[u8] {
    match integer {
        [0, rest @ ..] if !rest.is_empty() => rest,
        all => all,
    }
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}

/// `[3]`, explicit.
const EXTENSIONS: u8 = 0xa3;
const SCT_LIST: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x02];
const POISON: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x03];
const TLS_FEATURE: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x18];
const OCSP: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01];
const CA_ISSUERS: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x02];
