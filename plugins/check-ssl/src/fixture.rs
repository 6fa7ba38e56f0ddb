//! What the tests of this crate share: a good server, seen on the first day of 2026.

use vedette_sdk::{
    date::DAY,
    net::Timing,
    tls::Report,
    x509::{Certificate, Examination, Verification},
};

use crate::{facts, result::SslResult};

/// 2026-01-01T00:00:00Z, where the SDK's double starts.
pub(crate) const NOW: i64 = 1_767_225_600;
pub(crate) const DOMAIN: &str = "www.example.com";

pub(crate) fn report() -> Report {
    Report {
        peer_address: "192.0.2.7".to_owned(),
        version: 0x0304,
        cipher: 0x1301,
        alpn: None,
        chain: vec![vec![1], vec![2]],
        examination: examination(),
        timing: Timing {
            resolve_us: Some(500),
            connect_us: Some(1_000),
            tls_us: Some(2_000),
            first_byte_us: None,
            total_us: 3_500,
        },
    }
}

pub(crate) fn examination() -> Examination {
    Examination {
        chain: vec![leaf(), intermediate()],
        verification: Verification {
            trusted: true,
            chain_complete: true,
            hostname_matches: true,
            time_valid: true,
            purpose_valid: true,
            missing_issuer: None,
            completed_by_aia: false,
            error: None,
            chain_error: None,
        },
        ocsp_staple: None,
    }
}

/// Valid for 60 more days.
pub(crate) fn leaf() -> Certificate {
    Certificate {
        subject: "CN=www.example.com".to_owned(),
        issuer: "CN=R11,O=Let's Encrypt,C=US".to_owned(),
        issuer_cn: Some("R11".to_owned()),
        issuer_org: Some("Let's Encrypt".to_owned()),
        serial: "0A".to_owned(),
        not_before: NOW - 30 * DAY,
        not_after: NOW + 60 * DAY,
        san_dns: vec![DOMAIN.to_owned(), "example.com".to_owned()],
        san_ip: Vec::new(),
        signature_algorithm: "sha256WithRSAEncryption".to_owned(),
        key_algorithm: "EC".to_owned(),
        key_bits: 256,
        sha256: "AA01".to_owned(),
        spki_sha256: "bb01".to_owned(),
        tbs_sha256: "cc01".to_owned(),
        is_ca: false,
        self_signed: false,
        in_trust_path: true,
        has_ocsp_url: false,
        must_staple: false,
        sct_count: 2,
    }
}

pub(crate) fn intermediate() -> Certificate {
    Certificate {
        subject: "CN=R11,O=Let's Encrypt,C=US".to_owned(),
        issuer: "CN=ISRG Root X1,O=Internet Security Research Group,C=US".to_owned(),
        issuer_cn: Some("ISRG Root X1".to_owned()),
        issuer_org: Some("Internet Security Research Group".to_owned()),
        not_before: NOW - 600 * DAY,
        not_after: NOW + 400 * DAY,
        san_dns: Vec::new(),
        key_algorithm: "RSA".to_owned(),
        key_bits: 2048,
        sha256: "aa02".to_owned(),
        is_ca: true,
        ..leaf()
    }
}

/// The result of the good server.
pub(crate) fn result() -> SslResult {
    facts::of_report(DOMAIN, &report(), NOW)
}
