//! One certificate in place of another.

use serde_json::json;

use super::*;

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
    let issuer = |result| from("WE1", "Google Trust Services", result);
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
         until 2026-05-31 instead of 2026-03-02, issued by WE1, Google Trust Services",
    );
}

/// What an authority issues that has several intermediates.
fn from(issuer: &str, organisation: &str, result: SslResult) -> SslResult {
    let names = (issuer.to_owned(), Some(organisation.to_owned()));
    let mut other = SslResult { issuer: names.0, issuer_org: names.1, ..result };
    other.chain[0].issuer = format!("CN={issuer},O={organisation},C=US");
    other
}

#[test]
fn renewal_by_another_intermediate_is_told_as_one_and_listed_by_its_issuer() {
    let later = || leaf("aa02", NOW + 150 * DAY, NOW);
    let assessment = change(fixture::result(), from("R10", "Let's Encrypt", later()));
    // The event is of the same issuer alone.
    assert_eq!(events(&assessment), ["certificate.changed"]);
    let changed = &assessment.findings[0];
    assert_eq!(details(changed)["change_type"], "issuer_change");
    assert_eq!(
        changed.message,
        "www.example.com: certificate was renewed, by another intermediate of the same authority \
         (before: R11, Let's Encrypt), valid until 2026-05-31 instead of 2026-03-02, issued by R10, \
         Let's Encrypt",
    );
    let planned = wording::after_change(change::ChangeType::Renewal);
    assert_eq!(changed.suggestion.as_deref(), Some(planned));
}

#[test]
fn name_of_an_authority_alone_makes_no_renewal() {
    let (earlier, later) = (NOW + 20 * DAY, NOW + 150 * DAY);
    let other = |end| from("R10", "Let's Encrypt", leaf("aa02", end, NOW));
    let untrusted =
        |result| SslResult { valid: false, error: Some("untrusted_root".to_owned()), ..result };
    let names = |result| SslResult { san: vec!["www.example.com".to_owned()], ..result };
    let nameless = |result| SslResult { issuer_org: None, ..result };
    for (before, after) in [
        (fixture::result(), other(earlier)),
        (fixture::result(), names(other(later))),
        (fixture::result(), untrusted(other(later))),
        (untrusted(fixture::result()), untrusted(other(later))),
        (nameless(fixture::result()), nameless(other(later))),
    ] {
        let assessment = change(before, after);
        let changed = assessment.findings.last().expect("a change was found");
        assert!(changed.message.contains("comes from another issuer"), "{}", changed.message);
        let asks = changed.suggestion.as_deref().is_some_and(|text| text.contains("who can issue"));
        assert!(asks, "{:?}", changed.suggestion);
    }
}

#[test]
fn organisation_is_learned_of_a_certificate_that_was_remembered_without() {
    let mut site = Site::new();
    site.judge(SslResult { issuer_org: None, ..fixture::result() }, NOW);
    site.judge(fixture::result(), NOW + 60);
    let renewed = from("R10", "Let's Encrypt", leaf("aa02", NOW + 150 * DAY, NOW));
    let assessment = site.judge(renewed, NOW + 120);
    let message = &assessment.findings[0].message;
    assert!(message.contains("renewed, by another intermediate"), "{message}");
}

#[test]
fn issuer_that_only_the_result_names_is_compared_too() {
    let after = leaf("aa02", NOW + 150 * DAY, NOW);
    let after =
        SslResult { issuer: "E7".to_owned(), issuer_org: Some("Another".to_owned()), ..after };
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
