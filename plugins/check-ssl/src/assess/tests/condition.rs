//! What is wrong with a certificate: expiry, validity, the words for it, and servers that are away.

use super::*;

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
fn short_lived_certificate_is_told_with_the_threshold_that_fits() {
    let suggestion = |hours: i64, alert_days: u16, valid_from: bool| {
        let mut site = Site { alert_days, ..Site::new() };
        let from = valid_from.then(|| date::rfc3339(NOW));
        let result = SslResult { valid_from: from, ..leaf("aa01", NOW + hours * 3_600, NOW) };
        site.judge(result, NOW).findings[0].suggestion.clone().unwrap_or_default()
    };
    let said = suggestion(160, 14, true);
    assert!(said.contains("valid for 6 days in all, so alert_days 14 "), "{said}");
    assert!(said.contains("set alert_days of this site to 1:"), "{said}");
    let said = suggestion(90 * 24, 90, true);
    assert!(said.contains("set alert_days of this site to 29:"), "{said}");
    let said = suggestion(14 * 24, 14, false);
    assert!(said.contains("find out why it has not happened"), "{said}");
    // Once the renewal is overdue, that is what the alert is about.
    for (left, overdue) in [(30, false), (29, true)] {
        let valid_from = Some(date::rfc3339(NOW - (90 - left) * DAY));
        let result = SslResult { valid_from, ..valid(left, NOW) };
        let mut site = Site { alert_days: 60, ..Site::new() };
        let said = site.judge(result, NOW).findings[0].suggestion.clone().unwrap_or_default();
        assert_eq!(said.contains("find out why it has not happened"), overdue, "{said}");
    }
}

#[test]
fn where_only_what_is_overdue_is_told_the_lifetime_counts() {
    // Hours of its lifetime, hours left, whether the start is told.
    for (lifetime, left, valid_from, expected) in [
        (24, 23, true, false),
        (24, 6, true, false),
        (24, 5, true, true),
        (160, 40, true, false),
        (160, 39, true, true),
        (14 * 24, 4 * 24, true, false),
        (14 * 24, 3 * 24, true, true),
        (365 * 24, 15 * 24, true, false),
        (365 * 24, 14 * 24, true, true),
        (24, 23, false, true),
    ] {
        let config = Config { only_overdue: true, ..Config::default() };
        let mut site = Site { config, ..Site::new() };
        let from = valid_from.then(|| date::rfc3339(NOW - (lifetime - left) * 3_600));
        let result = SslResult { valid_from: from, ..leaf("aa01", NOW + left * 3_600, NOW) };
        let assessment = site.judge(result, NOW);
        let told = events(&assessment) == ["ssl.expiring"];
        assert_eq!(told, expected, "{left} of {lifetime} hours: {assessment:?}");
        for finding in &assessment.findings {
            let said = finding.suggestion.as_deref().unwrap_or_default();
            assert!(said.contains("find out why it has not happened"), "{said}");
        }
        // Nobody saw it since.
        let later = site.judge(away(), NOW + (left - 1) * 3_600);
        assert_eq!(events(&later), ["ssl.expiring"], "{left} of {lifetime} hours");
    }
}

#[test]
fn what_lives_for_hours_is_told_once_its_renewal_is_overdue() {
    for (lifetime, left, expected) in
        [(24, 23, false), (24, 6, false), (24, 5, true), (47, 12, false), (48, 47, true)]
    {
        let from = date::rfc3339(NOW - (lifetime - left) * 3_600);
        let leaf = leaf("aa01", NOW + left * 3_600, NOW);
        let result = SslResult { valid_from: Some(from), ..leaf };
        let told = events(&Site::new().judge(result, NOW)) == ["ssl.expiring"];
        assert_eq!(told, expected, "{left} of {lifetime} hours");
    }
}

#[test]
fn conditions_have_keys_of_their_own_that_stay() {
    let key = |result: SslResult| Site::new().judge(result, NOW).findings[0].dedup_key.clone();
    assert_eq!(key(valid(5, NOW)), "expiring");
    assert_eq!(key(valid(-5, NOW)), "expired");
    assert_eq!(key(invalid("weak_key")), "invalid");
    assert_eq!(key(invalid("bad_signature")), "invalid");
}
