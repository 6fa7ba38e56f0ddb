//! Evidence that is sparse, hostile, unreadable or the same.

use serde_json::json;

use super::*;

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
        (json!({"valid": false}), vec!["ssl.invalid"], Health::Down),
        (
            json!({"valid": false, "error": "no trust", "chain_error": "no issuer"}),
            vec!["ssl.invalid"],
            Health::Down,
        ),
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
