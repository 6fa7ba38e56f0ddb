use serde_json::{Value, json};
use vedette_sdk::{
    Settled,
    date::{self, DAY},
};

use super::*;
use crate::fixture::{self, DOMAIN, NOW};

/// A site whose results arrive one after the other; memory and settled result are carried on as
/// the host does.
struct Site {
    alert_days: u16,
    memory: Option<String>,
    settled: Option<Settled<SslResult>>,
}

impl Site {
    fn new() -> Self {
        Self { alert_days: 14, memory: None, settled: None }
    }

    fn judge(&mut self, current: SslResult, now: i64) -> Assessment {
        let assessment = assess(Evidence {
            current: current.clone(),
            current_at: now,
            settled: self.settled.clone(),
            siblings: Vec::new(),
            config: Config::default(),
            alert_days: self.alert_days,
            memory: self.memory.clone(),
        });
        self.memory.clone_from(&assessment.memory);
        self.settled = Some(Settled { facts: current, at: now });
        assessment
    }
}

/// A valid certificate that expires in so many days.
fn valid(days: i64, now: i64) -> SslResult {
    leaf("aa01", now + days * DAY, now)
}

fn leaf(fingerprint: &str, expires_at: i64, now: i64) -> SslResult {
    let mut result = fixture::result();
    result.chain[0].fingerprint = fingerprint.to_owned();
    result.chain[0].valid_to = Some(date::rfc3339(expires_at));
    result.valid_to = Some(date::rfc3339(expires_at));
    result.expires_at = result.valid_to.clone();
    result.days_remaining = Some(date::days_until(expires_at, now));
    result
}

fn invalid(error: &str) -> SslResult {
    SslResult { valid: false, error: Some(error.to_owned()), ..fixture::result() }
}

fn away() -> SslResult {
    crate::facts::of_failure(DOMAIN, "connection_refused")
}

fn events(assessment: &Assessment) -> Vec<&str> {
    assessment.findings.iter().map(|finding| finding.event.as_str()).collect()
}

fn details(finding: &Finding) -> Value {
    let details = finding.details.as_deref().expect("a change has details");
    serde_json::from_str(details).expect("details are JSON")
}

/// The change that a second result makes of a first.
fn change(before: SslResult, after: SslResult) -> Assessment {
    let mut site = Site::new();
    site.judge(before, NOW);
    site.judge(after, NOW + 3_600)
}

#[test]
fn expiring_begins_at_the_threshold_and_ends_with_the_certificate() {
    for (days, expected, health) in [
        (15, vec![], Health::Ok),
        (14, vec!["ssl.expiring"], Health::Degraded),
        (1, vec!["ssl.expiring"], Health::Degraded),
        (0, vec!["ssl.expiring"], Health::Degraded),
    ] {
        let assessment = Site::new().judge(valid(days, NOW), NOW);
        assert_eq!(events(&assessment), expected, "{days} days");
        assert_eq!(assessment.health, health, "{days} days");
    }
    let mut site = Site { alert_days: 365, ..Site::new() };
    assert_eq!(events(&site.judge(valid(300, NOW), NOW)), ["ssl.expiring"]);
}

#[test]
fn expired_certificate_is_expired_and_nothing_else() {
    let mut result = valid(-3, NOW);
    (result.valid, result.error) = (false, Some("certificate_expired".to_owned()));
    let assessment = Site::new().judge(result, NOW);
    assert_eq!(events(&assessment), ["ssl.expired"]);
    assert_eq!(assessment.health, Health::Down);
    // Also where a result lacks the token, or says something else.
    let posted = SslResult { error: Some("hostname_mismatch".to_owned()), ..valid(-1, NOW) };
    let assessment = Site::new().judge(SslResult { valid: false, ..posted }, NOW);
    assert_eq!(events(&assessment), ["ssl.expired"]);
}

#[test]
fn expired_intermediate_is_told_as_such() {
    let result = SslResult {
        chain_error: Some("expired intermediate \"R11\"".to_owned()),
        ..invalid("certificate_expired")
    };
    let assessment = Site::new().judge(result, NOW);
    assert_eq!(events(&assessment), ["ssl.expired"]);
    let finding = &assessment.findings[0];
    assert!(finding.message.contains("expired intermediate \"R11\""), "{}", finding.message);
    let suggestion = finding.suggestion.as_deref().unwrap_or_default();
    assert!(suggestion.contains("intermediate certificate"), "{suggestion}");
}

#[test]
fn intermediate_that_is_not_yet_valid_is_told_as_such() {
    let intermediate = SslResult {
        chain_error: Some("intermediate not yet valid \"R11\"".to_owned()),
        ..invalid("certificate_not_yet_valid")
    };
    let assessment = Site::new().judge(intermediate.clone(), NOW);
    assert_eq!(
        assessment.findings[0].message,
        "www.example.com: certificate chain is not valid yet; intermediate not yet valid \"R11\" \
         (issued by R11, Let's Encrypt, valid until 2026-03-02)",
    );
    let leaf =
        SslResult { valid_from: Some(date::rfc3339(NOW + DAY)), chain_error: None, ..intermediate };
    assert_eq!(
        Site::new().judge(leaf, NOW).findings[0].message,
        "www.example.com: certificate is not valid before 2026-01-02 00:00 UTC (issued by R11, \
         Let's Encrypt, valid until 2026-03-02)",
    );
}

#[test]
fn every_other_certificate_token_is_invalid() {
    for token in [
        "malformed_certificate",
        "certificate_not_yet_valid",
        "hostname_mismatch",
        "certificate_revoked",
        "self_signed_certificate",
        "untrusted_root",
        "incomplete_chain",
        "bad_signature",
        "invalid_purpose",
        "weak_key",
        "something_new",
    ] {
        let assessment = Site::new().judge(invalid(token), NOW);
        assert_eq!(events(&assessment), ["ssl.invalid"], "{token}");
        assert_eq!(assessment.health, Health::Down, "{token}");
        let finding = &assessment.findings[0];
        assert!(finding.message.starts_with("www.example.com: "), "{}", finding.message);
        assert!(finding.suggestion.is_some(), "{token}");
    }
    let soon =
        SslResult { valid: false, error: Some("untrusted_root".to_owned()), ..valid(5, NOW) };
    assert_eq!(events(&Site::new().judge(soon, NOW)), ["ssl.expiring", "ssl.invalid"]);
}

#[test]
fn connection_trouble_is_down_and_raises_nothing() {
    for token in ["connection_refused", "dns_not_found", "tls_not_spoken", "blocked_address"] {
        let result = crate::facts::of_failure(DOMAIN, token);
        let assessment = Site::new().judge(result, NOW);
        assert_eq!(events(&assessment), [""; 0], "{token}");
        assert_eq!(assessment.health, Health::Down, "{token}");
    }
}

#[test]
fn open_findings_outlast_a_server_that_is_away() {
    let mut site = Site::new();
    site.judge(valid(10, NOW), NOW);
    // Twice: the settled result is now one without a certificate.
    for hours in [6, 12] {
        let assessment = site.judge(away(), NOW + hours * 3_600);
        assert_eq!(events(&assessment), ["ssl.expiring"]);
        assert_eq!(assessment.health, Health::Down);
    }
    let message = site.judge(away(), NOW + 5 * DAY).findings[0].message.clone();
    assert_eq!(
        message,
        "www.example.com: certificate expires in 5 days, on 2026-01-11 (issued by R11, \
         Let's Encrypt, last seen 2026-01-01 00:00 UTC)",
    );
    // Time goes on meanwhile.
    assert_eq!(events(&site.judge(away(), NOW + 11 * DAY)), ["ssl.expired"]);

    let mut site = Site::new();
    site.judge(invalid("hostname_mismatch"), NOW);
    assert_eq!(events(&site.judge(away(), NOW + 3_600)), ["ssl.invalid"]);
    assert_eq!(events(&site.judge(fixture::result(), NOW + 7_200)), [""; 0]);
    assert_eq!(events(&site.judge(away(), NOW + 10_800)), [""; 0]);
}

#[test]
fn settled_result_is_judged_where_nothing_is_remembered() {
    let mut site = Site::new();
    site.settled = Some(Settled { facts: valid(10, NOW), at: NOW });
    assert_eq!(events(&site.judge(away(), NOW + DAY)), ["ssl.expiring"]);
    let mut site = Site::new();
    site.settled = Some(Settled { facts: valid(60, NOW), at: NOW });
    let assessment = site.judge(leaf("aa77", NOW + 150 * DAY, NOW), NOW);
    assert_eq!(events(&assessment), ["ssl.renewed", "certificate.changed"]);
}

#[test]
fn messages_tell_what_when_and_by_whom() {
    let message = |result: SslResult| Site::new().judge(result, NOW).findings[0].message.clone();
    assert_eq!(
        message(valid(5, NOW)),
        "www.example.com: certificate expires in 5 days, on 2026-01-06 (issued by R11, Let's Encrypt)",
    );
    assert_eq!(
        message(valid(1, NOW)),
        "www.example.com: certificate expires in 1 day, on 2026-01-02 (issued by R11, Let's Encrypt)",
    );
    assert_eq!(
        message(leaf("aa01", NOW + 3_660, NOW)),
        "www.example.com: certificate expires in less than a day, at 2026-01-01 01:01 UTC (issued \
         by R11, Let's Encrypt)",
    );
    assert_eq!(
        message(leaf("aa01", NOW - 2 * DAY - 60, NOW)),
        "www.example.com: certificate expired 2 days ago, on 2025-12-29 (issued by R11, Let's Encrypt)",
    );
    assert_eq!(
        message(leaf("aa01", NOW - 60, NOW)),
        "www.example.com: certificate expired less than a day ago, at 2025-12-31 23:59 UTC (issued \
         by R11, Let's Encrypt)",
    );
    let mismatch = SslResult {
        san: ["a.example", "b.example", "c.example", "d.example"].map(str::to_owned).to_vec(),
        ..invalid("hostname_mismatch")
    };
    assert_eq!(
        message(mismatch),
        "www.example.com: certificate is for other names: a.example, b.example, c.example and 1 \
         more (issued by R11, Let's Encrypt, valid until 2026-03-02)",
    );
    let incomplete = SslResult {
        chain_error: Some("unable to find issuer \"R11\"".to_owned()),
        ..invalid("incomplete_chain")
    };
    assert_eq!(
        message(incomplete),
        "www.example.com: the server does not send the whole certificate chain; unable to find \
         issuer \"R11\" (issued by R11, Let's Encrypt, valid until 2026-03-02)",
    );
    // Also of a good key whose certificate is signed with SHA-1.
    assert_eq!(
        message(invalid("weak_key")),
        "www.example.com: certificate chain uses a key or a signature that is too weak (issued \
         by R11, Let's Encrypt, valid until 2026-03-02)",
    );
}

#[test]
fn conditions_have_keys_of_their_own_that_stay() {
    let key = |result: SslResult| Site::new().judge(result, NOW).findings[0].dedup_key.clone();
    assert_eq!(key(valid(5, NOW)), "expiring");
    assert_eq!(key(valid(-5, NOW)), "expired");
    assert_eq!(key(invalid("weak_key")), "invalid");
    assert_eq!(key(invalid("bad_signature")), "invalid");
}

#[test]
fn first_certificate_is_the_baseline_and_the_same_one_no_change() {
    let mut site = Site::new();
    for hours in 0..4 {
        assert_eq!(events(&site.judge(fixture::result(), NOW + hours * 3_600)), [""; 0]);
    }
    // A server that was away, even for days, is not a new site.
    site.judge(away(), NOW + DAY);
    assert_eq!(events(&site.judge(fixture::result(), NOW + 9 * DAY)), [""; 0]);
}

#[test]
fn renewal_announces_itself_and_is_recorded() {
    let after = leaf("aa02", NOW + 150 * DAY, NOW + 3_600);
    let assessment = change(valid(10, NOW), after);
    assert_eq!(events(&assessment), ["ssl.renewed", "certificate.changed"]);
    assert_eq!(assessment.health, Health::Ok);
    let [renewed, changed] = assessment.findings.as_slice() else { panic!("two findings") };
    assert_eq!(
        renewed.message,
        "www.example.com: certificate renewed, now valid until 2026-05-31 (149 days), issued by \
         R11, Let's Encrypt",
    );
    assert_ne!(renewed.dedup_key, changed.dedup_key);
    assert_eq!(changed.dedup_key, "aa02");
    assert_eq!(
        changed.message,
        "www.example.com: certificate was renewed, valid until 2026-05-31 instead of 2026-01-11, \
         issued by R11, Let's Encrypt",
    );
    assert_eq!(
        details(changed),
        json!({ "fingerprint": "aa02", "change_type": "renewal", "issuer": "R11" }),
    );
}

#[test]
fn renewal_that_is_not_valid_is_no_good_news() {
    let after = SslResult {
        valid: false,
        error: Some("incomplete_chain".to_owned()),
        ..leaf("aa02", NOW + 150 * DAY, NOW)
    };
    let assessment = change(fixture::result(), after);
    assert_eq!(events(&assessment), ["ssl.invalid", "certificate.changed"]);
    assert_eq!(details(&assessment.findings[1])["change_type"], "renewal");
}

#[test]
fn renewal_of_what_was_never_trusted_is_one_all_the_same() {
    let wrong = |result: SslResult, token: &str| SslResult {
        valid: false,
        error: Some(token.to_owned()),
        ..result
    };
    let own = |result| wrong(result, "self_signed_certificate");
    let later = leaf("aa02", NOW + 150 * DAY, NOW + 3_600);
    let assessment = change(own(valid(10, NOW)), own(later));
    assert_eq!(events(&assessment), ["ssl.invalid", "ssl.renewed", "certificate.changed"]);

    let past = |result| wrong(result, "certificate_expired");
    let later = leaf("aa02", NOW - DAY, NOW + 3_600);
    let assessment = change(past(valid(-9, NOW)), past(later));
    assert_eq!(events(&assessment), ["ssl.expired", "certificate.changed"]);
}

#[test]
fn kind_of_change_follows_its_precedence() {
    let issuer = |result: SslResult| {
        let mut other = SslResult { issuer: "E7".to_owned(), ..result };
        other.chain[0].issuer = "CN=E7,O=Let's Encrypt,C=US".to_owned();
        other
    };
    let names = |result: SslResult| {
        let san = ["www.example.com", "shop.example.com"].map(str::to_owned).to_vec();
        SslResult { san, ..result }
    };
    let later = || leaf("aa02", NOW + 150 * DAY, NOW);
    let earlier = || leaf("aa02", NOW + 20 * DAY, NOW);
    for (after, kind) in [
        (later(), "renewal"),
        (earlier(), "replacement"),
        (leaf("aa02", NOW + 60 * DAY, NOW), "replacement"),
        (names(later()), "san_change"),
        (names(earlier()), "san_change"),
        (issuer(later()), "issuer_change"),
        (issuer(names(later())), "issuer_change"),
    ] {
        let assessment = change(fixture::result(), after);
        let changed = assessment.findings.last().expect("a change was found");
        assert_eq!(changed.event, "certificate.changed");
        assert_eq!(details(changed)["change_type"], kind);
    }
    let reordered = SslResult {
        san: ["EXAMPLE.com", "www.example.com"].map(str::to_owned).to_vec(),
        ..later()
    };
    assert_eq!(events(&change(fixture::result(), reordered)).len(), 2);

    let message = |after| change(fixture::result(), after).findings[0].message.clone();
    assert_eq!(
        message(names(earlier())),
        "www.example.com: certificate covers other names: added shop.example.com; removed \
         example.com, valid until 2026-01-21 instead of 2026-03-02, issued by R11, Let's Encrypt",
    );
    assert_eq!(
        message(issuer(later())),
        "www.example.com: certificate comes from another issuer (before: R11, Let's Encrypt), valid \
         until 2026-05-31 instead of 2026-03-02, issued by E7, Let's Encrypt",
    );
}

#[test]
fn issuer_that_only_the_result_names_is_compared_too() {
    let after = SslResult { issuer: "E7".to_owned(), ..leaf("aa02", NOW + 150 * DAY, NOW) };
    let assessment = change(fixture::result(), after);
    assert_eq!(events(&assessment), ["certificate.changed"]);
    let changed = details(&assessment.findings[0]);
    assert_eq!(
        (&changed["change_type"], &changed["issuer"]),
        (&json!("issuer_change"), &json!("E7"))
    );
    // Where a result does not name it, the DN alone counts.
    let after = SslResult { issuer: String::new(), ..leaf("aa02", NOW + 150 * DAY, NOW) };
    let assessment = change(fixture::result(), after);
    assert_eq!(events(&assessment), ["ssl.renewed", "certificate.changed"]);
}

#[test]
fn change_is_told_once() {
    let mut site = Site::new();
    site.judge(fixture::result(), NOW);
    let after = || leaf("aa02", NOW + 150 * DAY, NOW);
    assert_eq!(events(&site.judge(after(), NOW + 60)), ["ssl.renewed", "certificate.changed"]);
    assert_eq!(events(&site.judge(after(), NOW + 120)), [""; 0]);
}

#[test]
fn change_across_an_outage_is_found() {
    let mut site = Site::new();
    site.judge(valid(2, NOW), NOW);
    site.judge(away(), NOW + 3 * DAY);
    let assessment = site.judge(leaf("aa02", NOW + 90 * DAY, NOW + 5 * DAY), NOW + 5 * DAY);
    assert_eq!(events(&assessment), ["ssl.renewed", "certificate.changed"]);
}

#[test]
fn alternating_certificates_of_a_fleet_are_no_changes() {
    let mut site = Site::new();
    let rsa = || leaf("aa01", NOW + 60 * DAY, NOW);
    let ecdsa = || leaf("aa02", NOW + 50 * DAY, NOW);
    site.judge(rsa(), NOW);
    // The first sight of the other half cannot be told from a replacement.
    assert_eq!(events(&site.judge(ecdsa(), NOW + 3_600)), ["certificate.changed"]);
    for hours in 1..30 {
        let result = if hours % 2 == 0 { ecdsa() } else { rsa() };
        let assessment = site.judge(result, NOW + (1 + hours) * 3_600);
        assert_eq!(events(&assessment), [""; 0], "hour {hours}");
    }
    // One member is renewed while the other was served last.
    let at = NOW + 31 * 3_600;
    site.judge(ecdsa(), at);
    let renewed = leaf("aa03", NOW + 150 * DAY, at);
    let assessment = site.judge(renewed, at + 3_600);
    assert_eq!(events(&assessment), ["ssl.renewed", "certificate.changed"]);
}

#[test]
fn member_of_a_mixed_fleet_is_compared_with_the_one_it_resembles() {
    let mut site = Site::new();
    let other = || {
        let mut other = leaf("bb01", NOW + 300 * DAY, NOW);
        other.chain[0].issuer = "CN=DigiCert".to_owned();
        other
    };
    site.judge(fixture::result(), NOW);
    site.judge(other(), NOW + 60);
    site.judge(fixture::result(), NOW + 120);
    site.judge(other(), NOW + 180);
    let assessment = site.judge(leaf("aa02", NOW + 150 * DAY, NOW), NOW + 240);
    let changed = assessment.findings.last().expect("a change was found");
    assert_eq!(details(changed)["change_type"], "renewal");
}

#[test]
fn certificate_unseen_for_a_day_is_a_change_again() {
    let mut site = Site::new();
    site.judge(leaf("aa01", NOW + 60 * DAY, NOW), NOW);
    site.judge(leaf("aa02", NOW + 50 * DAY, NOW), NOW + 3_600);
    site.judge(leaf("aa02", NOW + 50 * DAY, NOW), NOW + DAY);
    let assessment = site.judge(leaf("aa01", NOW + 60 * DAY, NOW), NOW + DAY + 1);
    assert!(events(&assessment).contains(&"certificate.changed"));
}

#[test]
fn sparse_results_of_others_are_judged_by_what_they_say() {
    for (result, expected, health) in [
        (json!({"valid": true, "days_remaining": 5}), vec!["ssl.expiring"], Health::Degraded),
        (
            json!({"valid": true, "expires_at": "2026-01-06T00:00:00Z"}),
            vec!["ssl.expiring"],
            Health::Degraded,
        ),
        (json!({"valid": false, "days_remaining": -1}), vec!["ssl.expired"], Health::Down),
        (
            json!({"valid": false, "error": "certificate_expired"}),
            vec!["ssl.expired"],
            Health::Down,
        ),
        (json!({"valid": false, "error": "hostname_mismatch"}), vec!["ssl.invalid"], Health::Down),
        (json!({"valid": false, "days_remaining": 50}), vec!["ssl.invalid"], Health::Down),
        (
            json!({"valid": false, "issuer": "Lab CA", "error": "chain broken"}),
            vec!["ssl.invalid"],
            Health::Down,
        ),
        (json!({"valid": false, "san": ["www.example.com"]}), vec!["ssl.invalid"], Health::Down),
        (json!({"valid": true}), vec![], Health::Ok),
        (json!({"valid": false, "error": "connection_timeout"}), vec![], Health::Down),
        (json!({"valid": false}), vec![], Health::Unknown),
        (json!({"valid": true, "expires_at": "soon", "days_remaining": 1e30}), vec![], Health::Ok),
        (json!({"valid": true, "days_remaining": -1e30}), vec!["ssl.expired"], Health::Down),
    ] {
        let current: SslResult = serde_json::from_value(result.clone()).expect("it can be read");
        let assessment = Site::new().judge(current, NOW);
        assert_eq!(events(&assessment), expected, "{result}");
        assert_eq!(assessment.health, health, "{result}");
    }
    // The stated days count, whatever the date.
    let current = SslResult { days_remaining: Some(5), ..valid(60, NOW) };
    assert_eq!(events(&Site::new().judge(current, NOW)), ["ssl.expiring"]);
}

#[test]
fn hostile_names_stay_within_the_hosts_limits() {
    let long = "\u{1}é".repeat(5_000);
    let mut site = Site::new();
    for fingerprint in ["aa01", "aa02"] {
        let mut result = leaf(fingerprint, NOW + 5 * DAY, NOW);
        result.valid = false;
        result.error = Some(long.clone());
        result.issuer = format!("{fingerprint}{long}");
        result.chain[0].issuer = format!("{fingerprint}{long}");
        result.san = (0..5_000).map(|n| format!("{n}{long}")).take(50).collect();
        result.chain_error = Some(long.clone());
        let assessment = site.judge(result, NOW);
        assert!(assessment.memory.as_ref().is_some_and(|memory| memory.len() <= 64 << 10));
        for finding in &assessment.findings {
            assert!(finding.message.len() <= 1 << 10, "{}", finding.message.len());
            assert!(finding.suggestion.as_ref().is_none_or(|text| text.len() <= 2 << 10));
            assert!(finding.details.as_ref().is_none_or(|text| text.len() <= 16 << 10));
            assert!(finding.dedup_key.len() <= 256);
        }
    }
}

#[test]
fn memory_that_cannot_be_read_is_a_fresh_start() {
    let mut site = Site { memory: Some("{\"leaves\": 7}".to_owned()), ..Site::new() };
    assert_eq!(events(&site.judge(fixture::result(), NOW)), [""; 0]);
    assert_eq!(events(&site.judge(fixture::result(), NOW)), [""; 0]);
}

#[test]
fn same_evidence_gives_the_same_bytes() {
    let judged = || {
        let mut site = Site::new();
        site.judge(fixture::result(), NOW);
        site.judge(leaf("aa02", NOW + 150 * DAY, NOW), NOW + 60)
    };
    assert_eq!(judged(), judged());
}
