//! What the tests of this crate share: certificates made by hand, and a host that reads them.

use sha2::{Digest as _, Sha256};
use vedette_sdk::{
    dns::{Answer, Dnssec, Rr},
    http::Response,
    net::{NetError, Phase, Timing},
    testing::Host,
    x509::{self, Examination, Verification},
};
use x509_parser::prelude::{FromDer, GeneralName, ParsedExtension, X509Certificate};

use crate::{
    certificate::Certificate,
    date::{self, DAY},
    issuer::Issuer,
};

/// 2026-01-01T00:00:00Z, where the SDK's double starts.
pub(crate) const NOW: i64 = 1_767_225_600;

/// A certificate of example.com as a source tells of it.
pub(crate) fn certificate(serial: &str) -> Certificate {
    Certificate {
        issuer: Issuer::of_dn("C=US, O=Let's Encrypt, CN=R11"),
        names: vec!["example.com".to_owned()],
        serial: serial.to_owned(),
        not_before: Some(NOW - 30 * DAY),
        not_after: Some(NOW + 60 * DAY),
        logged_at: Some(NOW - 30 * DAY),
        fingerprint: None,
        tbs: None,
    }
}

pub(crate) fn response(status: u16, body: &[u8]) -> Response {
    Response {
        status,
        headers: Vec::new(),
        body: body.to_vec(),
        truncated: false,
        final_url: String::new(),
        hops: Vec::new(),
        peer_address: "192.0.2.1".to_owned(),
        timing: Timing {
            resolve_us: None,
            connect_us: None,
            tls_us: None,
            first_byte_us: None,
            total_us: 1,
        },
    }
}

/// Answers CAA lookups from a zone of (owner, record). A record may be a response code or
/// `TIMEOUT` instead; names that are not listed exist and have no records.
pub(crate) fn caa(host: &Host, zone: &'static [(&str, &str)]) {
    host.dns(|question| {
        assert_eq!((question.rrtype.as_str(), question.validate), ("CAA", false));
        let records = zone.iter().filter(|(owner, _)| *owner == question.name);
        let records: Vec<&str> = records.map(|(_, record)| *record).collect();
        let rcode = match records.as_slice() {
            ["TIMEOUT"] => return Err(NetError::Timeout(Phase::Receive)),
            [code @ ("SERVFAIL" | "NXDOMAIN")] => *code,
            _ => "NOERROR",
        };
        let shown = records.into_iter().filter(|record| record.contains(' '));
        let records = shown.map(|data| Rr {
            name: question.name.clone(),
            rrtype: "CAA".to_owned(),
            ttl: 60,
            data: data.to_owned(),
        });
        Ok(Answer {
            rcode: rcode.to_owned(),
            records: records.collect(),
            dnssec: Dnssec::Indeterminate,
            dnssec_detail: None,
            server: "192.0.2.53:53".to_owned(),
            elapsed_us: 1,
        })
    });
}

/// What a certificate is made of. Its signature is of nothing.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) serial: Vec<u8>,
    /// Common name and organisation.
    pub(crate) issuer: (&'static str, &'static str),
    pub(crate) names: Vec<String>,
    pub(crate) not_before: i64,
    pub(crate) not_after: i64,
    /// With the poison of a precertificate.
    pub(crate) is_poisoned: bool,
}

pub(crate) fn leaf() -> Leaf {
    Leaf {
        serial: vec![0x0a, 0xbc],
        issuer: ("R11", "Let's Encrypt"),
        names: vec!["example.com".to_owned(), "www.example.com".to_owned()],
        not_before: NOW - DAY,
        not_after: NOW + 60 * DAY,
        is_poisoned: false,
    }
}

impl Leaf {
    pub(crate) fn der(&self) -> Vec<u8> {
        sequence(&[&self.tbs(), ALGORITHM, &tlv(0x03, &[0, 1, 2, 3])])
    }

    pub(crate) fn tbs(&self) -> Vec<u8> {
        let (name, organisation) = self.issuer;
        let issuer = sequence(&[&attribute(0x0a, organisation), &attribute(0x03, name)]);
        let validity = sequence(&[&time(self.not_before), &time(self.not_after)]);
        let key = sequence(&[KEY_ALGORITHM, &tlv(0x03, &[&[0, 4], [7; 64].as_slice()].concat())]);
        let names: Vec<Vec<u8>> =
            self.names.iter().map(|name| tlv(0x82, name.as_bytes())).collect();
        let names = tlv(0x30, &names.concat());
        let alternative = sequence(&[&tlv(0x06, &[0x55, 0x1d, 0x11]), &tlv(0x04, &names)]);
        let poison = if self.is_poisoned { POISON } else { &[] };
        let extensions = tlv(0xa3, &sequence(&[&alternative, poison]));
        sequence(&[
            &tlv(0xa0, &[0x02, 0x01, 0x02]),
            &tlv(0x02, &self.serial),
            ALGORITHM,
            &issuer,
            &validity,
            &sequence(&[]),
            &key,
            &extensions,
        ])
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Answers [`vedette_sdk::Cx::examine`] as the host does, as far as single certificates go.
pub(crate) fn examine(host: &Host) {
    host.x509(|chain| {
        let size: usize = chain.certificates.iter().map(Vec::len).sum();
        if size > 256 << 10 {
            return Err("a chain has at most 262144 bytes".to_owned());
        }
        Ok(Examination {
            chain: chain.certificates.iter().take(20).map(|der| read(der)).collect(),
            verification: Verification {
                trusted: false,
                chain_complete: false,
                hostname_matches: false,
                time_valid: false,
                purpose_valid: false,
                missing_issuer: None,
                completed_by_aia: false,
                error: None,
                chain_error: None,
            },
            ocsp_staple: None,
        })
    });
}

fn read(der: &[u8]) -> x509::Certificate {
    let mut read = x509::Certificate {
        subject: String::new(),
        issuer: String::new(),
        issuer_cn: None,
        issuer_org: None,
        serial: String::new(),
        not_before: 0,
        not_after: 0,
        san_dns: Vec::new(),
        san_ip: Vec::new(),
        signature_algorithm: String::new(),
        key_algorithm: String::new(),
        key_bits: 0,
        sha256: hex::encode(sha256(der)),
        spki_sha256: String::new(),
        tbs_sha256: String::new(),
        is_ca: false,
        self_signed: false,
        in_trust_path: false,
        has_ocsp_url: false,
        must_staple: false,
        sct_count: 0,
    };
    let Ok((_, parsed)) = X509Certificate::from_der(der) else { return read };
    read.issuer = parsed.issuer().to_string();
    let organisation = parsed.issuer().iter_organization().next();
    read.issuer_org = organisation.and_then(|org| org.as_str().ok()).map(str::to_owned);
    read.serial = hex::encode(parsed.raw_serial()).trim_start_matches("00").to_owned();
    read.not_before = parsed.validity().not_before.timestamp();
    read.not_after = parsed.validity().not_after.timestamp();
    // The digest is over what was signed without the poison: it is computed again, as no other
    // extension differs in the certificates of these tests.
    let tbs = parsed.tbs_certificate.as_ref();
    let without = tbs.windows(POISON.len()).position(|window| window == POISON);
    let tbs = match without {
        Some(at) => unpoisoned(tbs, at),
        None => tbs.to_vec(),
    };
    read.tbs_sha256 = hex::encode(sha256(&tbs));
    for extension in parsed.extensions() {
        if let ParsedExtension::SubjectAlternativeName(names) = extension.parsed_extension() {
            read.san_dns.extend(names.general_names.iter().filter_map(|name| match name {
                GeneralName::DNSName(name) => Some(name.to_ascii_lowercase()),
                _ => None,
            }));
        }
    }
    read
}

/// The poison is the last extension, and nothing follows the extensions.
fn unpoisoned(tbs: &[u8], at: usize) -> Vec<u8> {
    let fields = &tbs[header(tbs)..at];
    let start = fields.iter().rposition(|byte| *byte == 0xa3).expect("extensions are tagged");
    let extensions = &fields[start..];
    let list = &extensions[header(extensions)..];
    let list = &list[header(list)..];
    sequence(&[&fields[..start], &tlv(0xa3, &tlv(0x30, list))])
}

/// Bytes of tag and length.
fn header(der: &[u8]) -> usize {
    if der[1] < 0x80 { 2 } else { 2 + usize::from(der[1] & 0x7f) }
}

fn attribute(kind: u8, value: &str) -> Vec<u8> {
    let pair = sequence(&[&tlv(0x06, &[0x55, 0x04, kind]), &tlv(0x0c, value.as_bytes())]);
    tlv(0x31, &pair)
}

fn time(at: i64) -> Vec<u8> {
    let digits = date::rfc3339(at).replace(['-', ':', 'T'], "");
    tlv(0x18, digits.as_bytes())
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tlv(0x30, &parts.concat())
}

fn tlv(tag: u8, contents: &[u8]) -> Vec<u8> {
    let length = match contents.len() {
        short @ ..=0x7f => vec![short as u8],
        medium @ 0x80..=0xff => vec![0x81, medium as u8],
        long => [&[0x82][..], &(long as u16).to_be_bytes()].concat(),
    };
    [&[tag][..], &length, contents].concat()
}

/// ecdsa-with-SHA256.
const ALGORITHM: &[u8] = &[0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
/// A key on the curve P-256.
const KEY_ALGORITHM: &[u8] = &[
    0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
    0xce, 0x3d, 0x03, 0x01, 0x07,
];
/// The critical extension 1.3.6.1.4.1.11129.2.4.3.
const POISON: &[u8] = &[
    0x30, 0x13, 0x06, 0x0a, 0x2b, 0x06, 0x01, 0x04, 0x01, 0xd6, 0x79, 0x02, 0x04, 0x03, 0x01, 0x01,
    0xff, 0x04, 0x02, 0x05, 0x00,
];
