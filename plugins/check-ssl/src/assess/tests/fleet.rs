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
fn certificate_is_compared_with_none_that_was_replaced_long_ago() {
    let later = || leaf("aa02", NOW + 150 * DAY, NOW);
    let kind = |unseen_for: i64, away_for: i64| {
        let mut site = Site::new();
        let other = || {
            let mut other = leaf("bb01", NOW + 300 * DAY, NOW);
            other.chain[0].issuer = "CN=DigiCert".to_owned();
            other
        };
        // A move from one authority to another, server by server.
        for (hours, result) in [(0, fixture::result()), (1, other()), (2, fixture::result())] {
            site.judge(result, NOW + hours * 3_600);
        }
        site.judge(other(), NOW + 3 * 3_600);
        let last = NOW + 2 * 3_600 + unseen_for;
        site.judge(other(), last);
        let assessment = site.judge(later(), last + away_for);
        details(assessment.findings.last().expect("a change was found"))["change_type"].clone()
    };
    assert_eq!(kind(DAY, 60), "renewal");
    assert_eq!(kind(DAY, 5 * DAY), "renewal");
    assert_eq!(kind(DAY + 1, 60), "issuer_change");
    assert_eq!(kind(30 * DAY, 60), "issuer_change");
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

/// A fleet of two, of which one has expired, as far as it is needed to know that they alternate.
fn half_expired() -> Site {
    let mut site = Site::new();
    site.judge(good(), NOW);
    for (hours, result, expected) in [
        (6, bad(), vec!["ssl.expired", "certificate.changed"]),
        // That may have been all.
        (12, good(), vec![]),
        (18, bad(), vec!["ssl.expired"]),
        (24, good(), vec![]),
        (30, bad(), vec!["ssl.expired"]),
    ] {
        let assessment = site.judge(result, NOW + hours * 3_600);
        assert_eq!(events(&assessment), expected, "hour {hours}");
    }
    site
}

fn good() -> SslResult {
    leaf("aa01", NOW + 60 * DAY, NOW)
}

fn bad() -> SslResult {
    leaf("aa02", NOW - 2 * DAY, NOW)
}

#[test]
fn trouble_of_one_that_alternates_lasts_for_four_looks_that_meet_others() {
    let mut site = half_expired();
    let at = |hours: i64| NOW + hours * 3_600;
    // However far apart they are.
    for hours in [31, 37, 48, 300] {
        let assessment = site.judge(good(), at(hours));
        assert_eq!(events(&assessment), ["ssl.expired"], "hour {hours}");
        assert_eq!(assessment.health, Health::Ok, "by this run alone");
        let finding = &assessment.findings[0];
        assert!(finding.message.contains("last seen 2026-01-02 06:00 UTC"), "{}", finding.message);
        let suggestion = finding.suggestion.as_deref().unwrap_or_default();
        assert!(suggestion.contains("with different certificates"), "{suggestion}");
    }
    assert_eq!(events(&site.judge(good(), at(306))), [""; 0]);

    let mut site = half_expired();
    // Who meets nobody tells nothing of it.
    for hours in 31..40 {
        assert_eq!(events(&site.judge(away(), at(hours))), ["ssl.expired"], "hour {hours}");
    }
    for seconds in 1..5 {
        let assessment = site.judge(good(), at(40) + seconds);
        assert_eq!(events(&assessment), ["ssl.expired"], "second {seconds}");
    }
    assert_eq!(events(&site.judge(good(), at(40) + 5)), [""; 0]);
    // From here on it counts as before.
    assert_eq!(events(&site.judge(bad(), at(41))), ["ssl.expired"]);
    assert_eq!(events(&site.judge(good(), at(42))), ["ssl.expired"]);
}

#[test]
fn trouble_of_one_that_alternates_lasts_an_hour_however_often_others_are_met() {
    let mut site = half_expired();
    let (mut met, minute) = (NOW + 30 * 3_600, 60);
    // Five or more in a row are good by chance, and then it is met again.
    for looks in [5, 20, 60] {
        for n in 1..=looks {
            let assessment = site.judge(good(), met + n * minute);
            assert_eq!(events(&assessment), ["ssl.expired"], "look {n} of {looks}");
        }
        met += (looks + 1) * minute;
        assert_eq!(events(&site.judge(bad(), met)), ["ssl.expired"]);
    }
    for n in 1..=60 {
        assert_eq!(events(&site.judge(good(), met + n * minute)), ["ssl.expired"], "look {n}");
    }
    assert_eq!(events(&site.judge(good(), met + 61 * minute)), [""; 0]);
}

#[test]
fn trouble_of_two_that_alternate_is_told_in_every_look() {
    let mut site = half_expired();
    let at = |hours: i64| NOW + hours * 3_600;
    let other = SslResult { error: Some("hostname_mismatch".to_owned()), valid: false, ..good() };
    for hours in [36, 48, 60] {
        let assessment = site.judge(other.clone(), at(hours));
        assert_eq!(events(&assessment), ["ssl.invalid", "ssl.expired"], "hour {hours}");
        let assessment = site.judge(bad(), at(hours + 6));
        assert_eq!(events(&assessment), ["ssl.expired", "ssl.invalid"], "hour {hours}");
    }
}

#[test]
fn trouble_of_one_that_alternates_ends_with_its_mending() {
    let at = |hours: i64| NOW + hours * 3_600;
    // By a certificate of its own, or as the same one: of a chain that is whole again, say.
    let mut site = half_expired();
    let renewed = leaf("aa03", NOW + 150 * DAY, NOW);
    assert_eq!(events(&site.judge(renewed, at(36))), ["ssl.renewed", "certificate.changed"]);
    assert_eq!(events(&site.judge(good(), at(42))), [""; 0]);

    let mut site = half_expired();
    let mended = || leaf("aa02", NOW + 50 * DAY, NOW);
    assert_eq!(events(&site.judge(mended(), at(36))), [""; 0]);
    assert_eq!(events(&site.judge(good(), at(42))), [""; 0]);
}

/// One of the servers lacks the intermediate.
#[test]
fn trouble_of_one_certificate_that_is_well_by_turns_is_told_once() {
    let minute = |n: i64| NOW + n * 60;
    let cut = || SslResult { error: Some("incomplete_chain".to_owned()), valid: false, ..good() };
    let turning = || {
        let mut site = Site::new();
        for (n, result, expected) in [
            (0, good(), vec![]),
            (1, cut(), vec!["ssl.invalid"]),
            (2, good(), vec![]),
            (3, cut(), vec!["ssl.invalid"]),
            // It may be mended, and broken again by mistake.
            (4, good(), vec![]),
            (5, cut(), vec!["ssl.invalid"]),
        ] {
            assert_eq!(events(&site.judge(result, minute(n))), expected, "minute {n}");
        }
        site
    };
    let mut site = turning();
    for n in 6..=65 {
        let result = if n % 7 == 0 { cut() } else { good() };
        assert_eq!(events(&site.judge(result, minute(n))), ["ssl.invalid"], "minute {n}");
    }
    let last = 63;
    for n in 66..=last + 61 {
        assert_eq!(events(&site.judge(good(), minute(n))), ["ssl.invalid"], "minute {n}");
    }
    assert_eq!(events(&site.judge(good(), minute(last + 62))), [""; 0]);
    // Days apart each time is one of its own.
    let mut site = Site::new();
    for day in 0..5 {
        assert_eq!(events(&site.judge(good(), NOW + day * 2 * DAY)), [""; 0], "day {day}");
        assert_eq!(events(&site.judge(cut(), NOW + day * 2 * DAY + 60)), ["ssl.invalid"]);
        assert_eq!(events(&site.judge(good(), NOW + day * 2 * DAY + 120)), [""; 0], "day {day}");
    }
    // A new certificate ends it.
    let mut site = turning();
    let renewed = leaf("aa03", NOW + 150 * DAY, NOW);
    assert_eq!(events(&site.judge(renewed, minute(6))), ["ssl.renewed", "certificate.changed"]);
}
