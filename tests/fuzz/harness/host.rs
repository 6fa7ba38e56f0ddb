//! The host of a check, and what it answers.

use vedette_sdk::{
    http::Response,
    net::{NetError, Timing},
    testing::Host,
    x509::{Certificate, Examination, Verification},
};

/// A host that nobody answers.
pub fn lonely() -> Host {
    let host = Host::new();
    host.dns(|_| Err(NetError::NameNotFound));
    host.tls(|_| Err(NetError::Refused));
    host.x509(|_| Err("nobody looks at certificates here".to_owned()));
    host.http(|_| Err(NetError::Refused));
    host.tcp(|_| Err(NetError::Refused));
    host.connection(|_| Err(NetError::Refused));
    host
}

/// A whole response.
pub fn response(status: u16, headers: Vec<(String, String)>, body: &[u8]) -> Response {
    Response {
        status,
        headers,
        body: body.to_vec(),
        truncated: false,
        final_url: "https://example.com/".to_owned(),
        hops: Vec::new(),
        peer_address: "192.0.2.7".to_owned(),
        timing: Timing {
            resolve_us: None,
            connect_us: None,
            tls_us: None,
            first_byte_us: None,
            total_us: 1,
        },
    }
}

/// A leaf for `example.com` that was read and does not expire.
pub fn certificate() -> Certificate {
    Certificate {
        subject: "CN=example.com".to_owned(),
        issuer: "CN=Issuer".to_owned(),
        issuer_cn: None,
        issuer_org: None,
        serial: "01".to_owned(),
        not_before: 0,
        not_after: 253_402_300_799,
        san_dns: vec!["example.com".to_owned()],
        san_ip: Vec::new(),
        signature_algorithm: "sha256WithRSAEncryption".to_owned(),
        key_algorithm: "RSA".to_owned(),
        key_bits: 2_048,
        sha256: "aa".to_owned(),
        spki_sha256: "bb".to_owned(),
        tbs_sha256: "cc".to_owned(),
        is_ca: false,
        self_signed: false,
        in_trust_path: true,
        has_ocsp_url: false,
        must_staple: false,
        sct_count: 0,
    }
}

/// A chain that nothing is wrong with.
pub fn examination(chain: Vec<Certificate>) -> Examination {
    let verification = Verification {
        trusted: true,
        chain_complete: true,
        hostname_matches: true,
        time_valid: true,
        purpose_valid: true,
        missing_issuer: None,
        completed_by_aia: false,
        error: None,
        chain_error: None,
    };
    Examination { chain, verification, ocsp_staple: None }
}
