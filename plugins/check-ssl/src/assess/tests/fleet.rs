//! Several certificates that are served in turn.

use super::*;

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
fn member_of_a_fleet_is_known_until_it_expires() {
    let mut site = Site::new();
    let here = || leaf("aa01", NOW + 60 * DAY, NOW);
    let there = || leaf("aa02", NOW + 50 * DAY, NOW);
    site.judge(here(), NOW);
    site.judge(there(), NOW + 6 * 3_600);
    site.judge(here(), NOW + 12 * 3_600);
    // Whoever looks four times a day misses one of two for days.
    for days in [1, 2, 3, 20] {
        assert_eq!(events(&site.judge(here(), NOW + days * DAY)), [""; 0]);
    }
    assert_eq!(events(&site.judge(there(), NOW + 25 * DAY)), [""; 0]);
    site.judge(here(), NOW + 30 * DAY);
    site.judge(here(), NOW + 50 * DAY + 1);
    let expired = site.judge(there(), NOW + 50 * DAY + 2);
    assert_eq!(events(&expired).last(), Some(&"certificate.changed"));
}
