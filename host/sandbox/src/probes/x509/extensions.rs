//! What a certificate's extensions say, as far as it matters for facts and paths.

use std::{collections::HashSet, fmt, net::IpAddr};

use x509_parser::extensions::{GeneralName, KeyUsage, ParsedExtension, X509Extension};

use super::name::dotted;
use crate::egress::der::{self, Element};

/// What is read from the extensions. One that is malformed counts as absent; where something hangs
/// on it, it is an [`Obstacle`] too.
#[derive(Default)]
pub(super) struct Extensions {
    /// dNSName entries as presented.
    pub(super) names: Vec<String>,
    pub(super) addresses: Vec<IpAddr>,
    /// The contents of subjectAltName.
    pub(super) alternatives: Vec<u8>,
    pub(super) issuing: Issuing,
    /// The contents of nameConstraints.
    pub(super) constraints: Option<Vec<u8>>,
    pub(super) purposes: Purposes,
    pub(super) key_id: Option<Vec<u8>>,
    pub(super) authority_key_id: Option<Vec<u8>>,
    pub(super) issuer_urls: Vec<String>,
    pub(super) has_ocsp_url: bool,
    pub(super) must_staple: bool,
    pub(super) sct_count: u32,
    /// The first reason why nobody may rely on the certificate.
    pub(super) obstacle: Option<Obstacle>,
}

/// What the extensions say about signing other certificates.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Issuing {
    pub(super) ca: bool,
    pub(super) path_length: Option<u32>,
    /// keyUsage; none = it does not restrict.
    pub(super) cert_sign: Option<bool>,
}

/// Extended key usage and key usage; without the extensions everything goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Purposes {
    /// The extended key usage is absent or has serverAuth.
    pub(super) server_auth: bool,
    pub(super) ocsp_signing: bool,
    /// The key may do what some handshake asks of a server's key.
    pub(super) handshake: bool,
}

/// Why a certificate must not be relied on, whatever else it says (RFC 5280 section 4). The OID of
/// an extension is in dots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    UnknownCritical(String),
    Malformed(String),
    Repeated(String),
    /// A date that is not written as section 4.1.2.5 says.
    Date,
    /// A serial number that is no DER integer.
    Serial,
}

impl Default for Purposes {
    fn default() -> Self {
        Self { server_auth: true, ocsp_signing: false, handshake: true }
    }
}

impl Obstacle {
    /// Whether the certificate breaks its own format, rather than asking for what nobody knows.
    pub(super) fn is_malformed(&self) -> bool {
        !matches!(self, Self::UnknownCritical(_))
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownCritical(oid) => write!(f, "unknown critical extension {oid}"),
            Self::Malformed(oid) => write!(f, "malformed extension {oid}"),
            Self::Repeated(oid) => write!(f, "repeated extension {oid}"),
            Self::Date => f.write_str("malformed date"),
            Self::Serial => f.write_str("malformed serial number"),
        }
    }
}

impl Extensions {
    pub(super) fn read(extensions: &[X509Extension<'_>]) -> Self {
        let mut read = Self::default();
        let mut seen = HashSet::with_capacity(extensions.len());
        for extension in extensions {
            let oid = extension.oid.as_bytes();
            let obstacle = if !seen.insert(oid) {
                Some(Obstacle::Repeated(dotted(oid)))
            } else {
                read.take(oid, extension)
            };
            read.obstacle = read.obstacle.take().or(obstacle);
        }
        read
    }

    fn take(&mut self, oid: &[u8], extension: &X509Extension<'_>) -> Option<Obstacle> {
        if !is_well_formed(oid, extension.value) {
            return Some(Obstacle::Malformed(dotted(oid)));
        }
        let taken = match oid {
            ALTERNATIVE_NAMES => self.take_names(extension.value),
            NAME_CONSTRAINTS => {
                self.constraints = der::contents(extension.value).map(<[u8]>::to_vec);
                self.constraints.is_some()
            }
            TLS_FEATURE => {
                self.must_staple = wants_staple(extension.value);
                true
            }
            _ => return self.take_parsed(oid, extension),
        };
        (!taken).then(|| Obstacle::Malformed(dotted(oid)))
    }

    fn take_parsed(&mut self, oid: &[u8], extension: &X509Extension<'_>) -> Option<Obstacle> {
        match extension.parsed_extension() {
            ParsedExtension::BasicConstraints(constraints) => {
                self.issuing.ca = constraints.ca;
                self.issuing.path_length = constraints.path_len_constraint;
            }
            ParsedExtension::KeyUsage(usage) => {
                self.issuing.cert_sign = Some(usage.key_cert_sign());
                self.purposes.handshake = serves(usage);
            }
            ParsedExtension::ExtendedKeyUsage(usage) => {
                self.purposes.server_auth = usage.server_auth;
                self.purposes.ocsp_signing = usage.ocsp_signing;
            }
            ParsedExtension::SubjectKeyIdentifier(id) => self.key_id = Some(id.0.to_vec()),
            ParsedExtension::AuthorityKeyIdentifier(authority) => {
                self.authority_key_id = authority.key_identifier.as_ref().map(|id| id.0.to_vec());
            }
            ParsedExtension::AuthorityInfoAccess(access) => {
                for description in access.iter() {
                    let method = description.access_method.as_bytes();
                    self.take_access(method, &description.access_location);
                }
            }
            ParsedExtension::SCT(list) => self.sct_count = list.len() as u32,
            // Nobody here asks for a policy, and revocation comes with the staple.
            ParsedExtension::CertificatePolicies(_)
            | ParsedExtension::PolicyMappings(_)
            | ParsedExtension::PolicyConstraints(_)
            | ParsedExtension::InhibitAnyPolicy(_)
            | ParsedExtension::CRLDistributionPoints(_) => {}
            ParsedExtension::ParseError { .. } => {
                let matters = extension.critical || DECISIVE.contains(&oid);
                return matters.then(|| Obstacle::Malformed(dotted(oid)));
            }
            _ => return extension.critical.then(|| Obstacle::UnknownCritical(dotted(oid))),
        }
        None
    }

    /// False where the extension cannot be read; then there are no names.
    fn take_names(&mut self, extension: &[u8]) -> bool {
        let contents = der::contents(extension);
        let Some((contents, names)) = contents.and_then(|all| Some((all, der::elements(all)?)))
        else {
            return false;
        };
        for name in names {
            match name.tag {
                DNS_NAME => self.names.push(String::from_utf8_lossy(name.contents).into_owned()),
                IP_ADDRESS => self.addresses.extend(address(name.contents)),
                _ => {}
            }
        }
        self.alternatives = contents.to_vec();
        true
    }

    fn take_access(&mut self, method: &[u8], location: &GeneralName<'_>) {
        let GeneralName::URI(url) = location else { return };
        match method {
            OCSP => self.has_ocsp_url = true,
            CA_ISSUERS => self.issuer_urls.push((*url).to_owned()),
            _ => {}
        }
    }
}

/// Whether an extension that names keys or lists of revocations has its form. Which key is meant is
/// a hint here, and the lists are not asked for, but OpenSSL refuses the certificate else. What
/// stands in its fields is not looked at: URLs are written in every alphabet.
fn is_well_formed(oid: &[u8], value: &[u8]) -> bool {
    let value = || der::element(value).map(|(value, _)| value);
    match oid {
        SUBJECT_KEY_ID => value().is_some_and(|id| id.tag == OCTET_STRING),
        AUTHORITY_KEY_ID => value().is_some_and(|id| has_fields(id, &[0x80, 0xa1, 0x82])),
        DISTRIBUTION_POINTS => {
            let points = value().filter(|points| points.tag == der::SEQUENCE);
            points.and_then(|points| der::elements(points.contents)).is_some_and(|points| {
                points.into_iter().all(|point| has_fields(point, &[0xa0, 0x81, 0xa2]))
            })
        }
        _ => true,
    }
}

/// Whether it is a sequence of fields with these tags.
fn has_fields(element: Element<'_>, tags: &[u8]) -> bool {
    let fields = Some(element.contents).filter(|_| element.tag == der::SEQUENCE);
    fields
        .and_then(der::elements)
        .is_some_and(|fields| fields.iter().all(|field| tags.contains(&field.tag)))
}

/// Signing the handshake, taking a secret sent to the key, or agreeing on one with it.
fn serves(usage: &KeyUsage) -> bool {
    usage.digital_signature() || usage.key_encipherment() || usage.key_agreement()
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

/// GeneralName: `[2]` and `[7]`, implicit.
pub(super) const DNS_NAME: u8 = 0x82;
pub(super) const IP_ADDRESS: u8 = 0x87;

pub(super) const SCT_LIST: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x02];
const TLS_FEATURE: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x18];
const OCSP: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01];
const CA_ISSUERS: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x02];

const OCTET_STRING: u8 = 0x04;
const SUBJECT_KEY_ID: &[u8] = &[0x55, 0x1d, 0x0e];
const DISTRIBUTION_POINTS: &[u8] = &[0x55, 0x1d, 0x1f];
const AUTHORITY_KEY_ID: &[u8] = &[0x55, 0x1d, 0x23];
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
const NAME_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x1e];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
/// Without these a certificate would be good for more than it says.
const DECISIVE: [&[u8]; 3] = [KEY_USAGE, BASIC_CONSTRAINTS, EXTENDED_KEY_USAGE];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_is_looked_at_and_not_what_it_holds() {
        let sequence = |contents: &[u8]| der::wrap(der::SEQUENCE, contents);
        let url = der::wrap(0x86, "ldap:///CN=Prüfstelle".as_bytes());
        let point = sequence(&der::wrap(0xa0, &der::wrap(0xa0, &url)));
        let key = der::wrap(0x80, &[1, 2, 3]);
        for (oid, value, expected) in [
            (SUBJECT_KEY_ID, der::wrap(OCTET_STRING, &[1, 2, 3]), true),
            (SUBJECT_KEY_ID, sequence(&[]), false),
            (SUBJECT_KEY_ID, b"junk".to_vec(), false),
            (AUTHORITY_KEY_ID, sequence(&key), true),
            (AUTHORITY_KEY_ID, sequence(&[]), true),
            (AUTHORITY_KEY_ID, key, false),
            (AUTHORITY_KEY_ID, sequence(&der::wrap(OCTET_STRING, &[1])), false),
            (AUTHORITY_KEY_ID, b"junk".to_vec(), false),
            (DISTRIBUTION_POINTS, sequence(&point), true),
            (DISTRIBUTION_POINTS, sequence(&url), false),
            (DISTRIBUTION_POINTS, b"junk".to_vec(), false),
            (DISTRIBUTION_POINTS, Vec::new(), false),
            (KEY_USAGE, b"junk".to_vec(), true),
        ] {
            assert_eq!(is_well_formed(oid, &value), expected, "{} {value:?}", dotted(oid));
        }
    }
}
