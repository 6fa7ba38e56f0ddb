//! Examples of the built-in checks' results.

use serde_json::{Value, json};
use vedette_model::{CheckType, Edition};

use super::sample::{DOMAIN, LATER, SOON};
use crate::service::check::{PUBLIC, public_part, shown};

/// What a check might answer, as the edition shows it; none for checks that are not built in.
pub(super) fn example(check_type: &str, edition: &Edition) -> Option<Value> {
    let result = match check_type {
        "ssl" => ssl(),
        "dns" => dns(),
        "domain" => registration(),
        "ct" => ct(),
        "uptime" => uptime(),
        _ => return None,
    };
    let check_type: CheckType = check_type.parse().ok()?;
    Some(shown(edition, &check_type, result))
}

/// What the check without a key might answer.
pub(super) fn public_example() -> Value {
    public_part(ssl(), &PUBLIC)
}

fn ssl() -> Value {
    json!({
        "domain": DOMAIN,
        "valid": true,
        "issuer": "R11",
        "issuer_org": "Let's Encrypt",
        "valid_from": "2026-08-31T08:00:00Z",
        "valid_to": SOON,
        "expires_at": SOON,
        "days_remaining": 8,
        "san": [DOMAIN],
        "chain": [{
            "subject": "CN=shop.example.com",
            "issuer": "CN=R11,O=Let's Encrypt,C=US",
            "serial_number": "4c1f0a9be2d87356",
            "valid_from": "2026-08-31T08:00:00Z",
            "valid_to": SOON,
            "days_remaining": 8,
            "fingerprint": "5f1c3a0e9b7d42c86a10f3e5d4b2c9780e6f1a2b3c4d5e6f708192a3b4c5d6e7",
            "key_type": "EC",
            "key_bits": 256,
            "signature_algorithm": "sha256WithRSAEncryption",
            "is_ca": false,
            "self_signed": false,
            "in_trust_path": true,
        }],
        "chain_complete": true,
        "chain_error": null,
        "protocol_version": "TLSv1.3",
        "cipher_name": "TLS_AES_128_GCM_SHA256",
        "cipher_strength": 128,
        "tls_grade": "A+",
        "hsts": {
            "enabled": true,
            "max_age": 31_536_000,
            "include_sub_domains": true,
            "preload": false,
        },
        "ocsp_stapling": null,
        "mixed_content": { "passive_count": 0, "active_count": 0, "examples": [] },
        "error": null,
    })
}

fn dns() -> Value {
    json!({
        "domain": DOMAIN,
        "records": [
            { "type": "A", "values": ["203.0.113.10"] },
            { "type": "MX", "values": ["10 mx.example.com"] },
            { "type": "CAA", "values": ["0 issue \"letsencrypt.org\""] },
        ],
        "failed_types": [],
        "rotating": false,
        "turns": [],
        "dnssec": { "enabled": true, "valid": true },
        "error": null,
    })
}

fn registration() -> Value {
    json!({
        "domain": "example.com",
        "registrar": "Example Registrar, Inc.",
        "expires_at": LATER,
        "days_remaining": 90,
        "name_servers": ["a.iana-servers.net", "b.iana-servers.net"],
        "privacy_protected": true,
        "status": ["clientTransferProhibited"],
        "data_availability": "full",
        "source": "rdap",
        "error": null,
    })
}

fn ct() -> Value {
    json!({
        "domain": DOMAIN,
        "certificates": [{
            "issuer": "R11",
            "issuer_org": "Let's Encrypt",
            "san": [DOMAIN],
            "serial_number": "4c1f0a9be2d87356",
            "not_before": "2026-08-31T08:00:00Z",
            "not_after": SOON,
            "logged_at": "2026-08-31T08:58:31Z",
            "fingerprint": null,
            "tbs_sha256": null,
            "expected": true,
            "caa": "permits",
        }],
        "total": 1,
        "new_count": 0,
        "unexpected_count": 0,
        "source": "crtsh",
        "baseline": false,
        "error": null,
    })
}

fn uptime() -> Value {
    json!({
        "status": "up",
        "status_code": 200,
        "response_time_ms": 184.21,
        "ttfb_ms": 152.4,
        "keyword_match": null,
        "error": null,
        "url": "https://shop.example.com/",
        "final_url": "https://shop.example.com/",
        "failed_url": null,
        "redirects": 0,
        "phases": {
            "dns_ms": 8.12,
            "connect_ms": 21.4,
            "tls_ms": 43.08,
            "first_byte_ms": 79.8,
            "transfer_ms": 31.81,
        },
    })
}
