//! From what the host saw to the fields of the result.

use std::collections::HashSet;

use vedette_sdk::{
    date, dn,
    text::cut,
    tls::Report,
    x509::{Certificate, Examination},
};

use crate::{
    error,
    result::{ChainItem, SslResult},
    suites,
};

/// More certificates than any server has reason to send are not shown.
const MAX_CHAIN: usize = 20;
/// Of all names of a leaf together, in bytes: the host refuses results beyond 256 KiB.
const MAX_NAMES: usize = 128 << 10;
/// Of any other text that the certificate's maker chose, in characters.
const MAX_TEXT: usize = 1_000;

/// The result of a finished handshake; HTTP and the staple's second look are added by the run.
pub(crate) fn of_report(domain: &str, report: &Report, now: i64) -> SslResult {
    of_chain(domain, report.version, report.cipher, &report.examination, now)
}

/// The result of a chain and of the version and suite that were negotiated with it.
pub(crate) fn of_chain(
    domain: &str,
    version: u16,
    cipher: u16,
    seen: &Examination,
    now: i64,
) -> SslResult {
    let error = error::of_certificate(seen, now);
    let mut result = SslResult {
        domain: domain.to_owned(),
        valid: error.is_none(),
        error: error.map(str::to_owned),
        chain: seen.chain.iter().take(MAX_CHAIN).map(|item| chain_item(item, now)).collect(),
        chain_complete: !seen.chain.is_empty() && seen.verification.chain_complete,
        chain_error: seen.verification.chain_error.as_ref().map(|reason| cut(reason, MAX_TEXT)),
        ocsp_stapling: stapling(seen),
        ..SslResult::default()
    };
    describe_connection(&mut result, version, cipher);
    if let Some(leaf) = seen.chain.first().filter(|leaf| is_readable(leaf)) {
        describe_leaf(&mut result, leaf, now);
    }
    result
}

/// Adds what was negotiated, as on the wire.
pub(crate) fn describe_connection(result: &mut SslResult, version: u16, cipher: u16) {
    result.protocol_version = protocol(version).map(str::to_owned);
    result.cipher_name = suites::name(cipher).map(str::to_owned);
    result.cipher_strength = suites::strength(cipher);
}

/// The result of a handshake that was not finished.
pub(crate) fn of_failure(domain: &str, token: &str) -> SslResult {
    SslResult { domain: domain.to_owned(), error: Some(token.to_owned()), ..SslResult::default() }
}

/// Null when the leaf names no responder; true when a staple covers it now, whatever it says.
pub(crate) fn stapling(seen: &Examination) -> Option<bool> {
    let leaf = seen.chain.first()?;
    let fresh = matches!(seen.ocsp_staple.as_deref(), Some("good" | "revoked" | "unknown"));
    leaf.has_ocsp_url.then_some(fresh)
}

fn describe_leaf(result: &mut SslResult, leaf: &Certificate, now: i64) {
    result.issuer = cut(&issuer(leaf), MAX_TEXT);
    result.issuer_org = leaf.issuer_org.as_ref().map(|org| cut(org, MAX_TEXT));
    result.valid_from = Some(date::rfc3339(leaf.not_before));
    result.valid_to = Some(date::rfc3339(leaf.not_after));
    result.expires_at = result.valid_to.clone();
    result.days_remaining = Some(date::days_until(leaf.not_after, now));
    result.san = names(leaf);
}

/// Common name, else organisation, else unit, else the whole name.
fn issuer(leaf: &Certificate) -> String {
    let named = leaf.issuer_cn.clone().or_else(|| leaf.issuer_org.clone());
    named.unwrap_or_else(|| dn::Name::read(&leaf.issuer).label().to_owned())
}

fn names(leaf: &Certificate) -> Vec<String> {
    let dns = leaf.san_dns.iter().map(|name| name.to_ascii_lowercase());
    let mut seen = HashSet::new();
    let mut bytes = 0;
    dns.chain(leaf.san_ip.iter().cloned())
        .filter(|name| seen.insert(name.clone()))
        .take_while(|name| {
            bytes += name.len();
            bytes <= MAX_NAMES
        })
        .collect()
}

fn chain_item(certificate: &Certificate, now: i64) -> ChainItem {
    let readable = is_readable(certificate);
    ChainItem {
        subject: cut(&certificate.subject, MAX_TEXT),
        issuer: cut(&certificate.issuer, MAX_TEXT),
        serial_number: certificate.serial.to_ascii_lowercase(),
        valid_from: readable.then(|| date::rfc3339(certificate.not_before)),
        valid_to: readable.then(|| date::rfc3339(certificate.not_after)),
        days_remaining: readable.then(|| date::days_until(certificate.not_after, now)),
        fingerprint: certificate.sha256.to_ascii_lowercase(),
        key_type: certificate.key_algorithm.clone(),
        key_bits: certificate.key_bits,
        signature_algorithm: certificate.signature_algorithm.clone(),
        is_ca: certificate.is_ca,
        self_signed: certificate.self_signed,
        in_trust_path: certificate.in_trust_path,
    }
}

/// Of a certificate that cannot be read the host knows only the hash.
fn is_readable(certificate: &Certificate) -> bool {
    !certificate.key_algorithm.is_empty()
}

fn protocol(version: u16) -> Option<&'static str> {
    match version {
        0x0304 => Some("TLSv1.3"),
        0x0303 => Some("TLSv1.2"),
        0x0302 => Some("TLSv1.1"),
        0x0301 => Some("TLSv1.0"),
        0x0300 => Some("SSLv3"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, NOW};

    #[test]
    fn good_server_fills_every_field_of_the_handshake() {
        let result = of_report("www.example.com", &fixture::report(), NOW);
        assert!(result.valid);
        assert_eq!(result.error, None);
        assert_eq!(result.issuer, "R11");
        assert_eq!(result.issuer_org.as_deref(), Some("Let's Encrypt"));
        assert_eq!(result.expires_at.as_deref(), Some("2026-03-02T00:00:00Z"));
        assert_eq!(result.valid_to, result.expires_at);
        assert_eq!(result.valid_from.as_deref(), Some("2025-12-02T00:00:00Z"));
        assert_eq!(result.days_remaining, Some(60));
        assert_eq!(result.san, ["www.example.com", "example.com"]);
        assert_eq!(result.protocol_version.as_deref(), Some("TLSv1.3"));
        assert_eq!(result.cipher_name.as_deref(), Some("TLS_AES_128_GCM_SHA256"));
        assert_eq!(result.cipher_strength, Some(128));
        assert_eq!(result.chain.len(), 2);
        assert_eq!(result.fingerprint(), Some("aa01"));
        assert_eq!(result.chain[0].serial_number, "0a");
        assert!(result.chain_complete);
        assert_eq!(result.chain_error, None);
        assert_eq!(result.ocsp_stapling, None);
    }

    #[test]
    fn expired_certificate_still_tells_its_facts() {
        let mut report = fixture::report();
        report.examination.chain[0].not_after = NOW - 1;
        let result = of_report("www.example.com", &report, NOW);
        assert!(!result.valid);
        assert_eq!(result.error.as_deref(), Some("certificate_expired"));
        assert_eq!(result.days_remaining, Some(-1));
        assert_eq!(result.issuer, "R11");
        assert_eq!(result.chain.len(), 2);
    }

    #[test]
    fn issuer_is_the_best_name_there_is() {
        let mut leaf = fixture::leaf();
        leaf.issuer_cn = None;
        assert_eq!(issuer(&leaf), "Let's Encrypt");
        leaf.issuer_org = None;
        leaf.issuer = "OU=Web\\, Ops,C=US".to_owned();
        assert_eq!(issuer(&leaf), "Web, Ops");
        leaf.issuer = "C=US".to_owned();
        assert_eq!(issuer(&leaf), "C=US");
    }

    #[test]
    fn names_keep_their_order_and_lose_their_doubles() {
        let mut leaf = fixture::leaf();
        leaf.san_dns = ["b.example", "A.example", "B.EXAMPLE"].map(str::to_owned).to_vec();
        leaf.san_ip = ["192.0.2.1", "2001:db8::1", "192.0.2.1"].map(str::to_owned).to_vec();
        assert_eq!(names(&leaf), ["b.example", "a.example", "192.0.2.1", "2001:db8::1"]);
    }

    #[test]
    fn unreadable_certificate_is_shown_by_its_fingerprint() {
        let mut report = fixture::report();
        let seen = &mut report.examination;
        seen.verification.error = Some("malformed_certificate".to_owned());
        seen.chain[0] = Certificate {
            subject: String::new(),
            issuer: String::new(),
            issuer_cn: None,
            issuer_org: None,
            key_algorithm: String::new(),
            not_before: 0,
            not_after: 0,
            san_dns: Vec::new(),
            ..fixture::leaf()
        };
        let result = of_report("www.example.com", &report, NOW);
        assert_eq!(result.error.as_deref(), Some("malformed_certificate"));
        assert_eq!(
            (result.expires_at, result.days_remaining, result.issuer.as_str()),
            (None, None, "")
        );
        assert_eq!(result.chain[0].fingerprint, "aa01");
        assert_eq!(
            (result.chain[0].valid_to.as_ref(), result.chain[0].days_remaining),
            (None, None)
        );
    }

    #[test]
    fn trouble_of_the_chain_is_told_in_the_hosts_words() {
        let mut report = fixture::report();
        let facts = &mut report.examination.verification;
        (facts.trusted, facts.chain_complete) = (false, false);
        facts.error = Some("incomplete_chain".to_owned());
        facts.chain_error = Some("unable to find issuer \"R11\"".to_owned());
        let result = of_report("www.example.com", &report, NOW);
        assert!(!result.valid && !result.chain_complete);
        assert_eq!(result.error.as_deref(), Some("incomplete_chain"));
        assert_eq!(result.chain_error.as_deref(), Some("unable to find issuer \"R11\""));
    }

    #[test]
    fn long_chain_is_cut() {
        let mut report = fixture::report();
        report.examination.chain = vec![fixture::leaf(); 30];
        assert_eq!(of_report("www.example.com", &report, NOW).chain.len(), MAX_CHAIN);
    }

    #[test]
    fn staple_counts_when_it_covers_the_leaf_now() {
        let mut seen = fixture::examination();
        assert_eq!(stapling(&seen), None);
        seen.chain[0].has_ocsp_url = true;
        for (staple, expected) in [
            (None, false),
            (Some("good"), true),
            (Some("revoked"), true),
            (Some("unknown"), true),
            (Some("stale"), false),
            (Some("invalid"), false),
        ] {
            seen.ocsp_staple = staple.map(str::to_owned);
            assert_eq!(stapling(&seen), Some(expected), "{staple:?}");
        }
        seen.chain.clear();
        assert_eq!(stapling(&seen), None);
    }

    #[test]
    fn failure_says_nothing_of_a_certificate() {
        let result = of_failure("www.example.com", "connection_refused");
        assert!(!result.valid);
        assert_eq!(result.error.as_deref(), Some("connection_refused"));
        assert_eq!(
            (result.expires_at, result.days_remaining, result.issuer.as_str()),
            (None, None, "")
        );
        assert!(result.san.is_empty() && result.chain.is_empty());
    }
}
