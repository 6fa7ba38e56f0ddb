use vedette_sdk::{Settled, Severity};

use super::*;
use crate::{
    fixture::{HOUR, NOW},
    moment::{self, DAY},
    result::{DataAvailability, Source},
};

/// A site whose results arrive one after the other; memory and settled result are carried on as
/// the host does.
struct Site {
    alert_days: u16,
    memory: Option<String>,
    settled: Option<Settled<DomainResult>>,
}

impl Site {
    fn new() -> Self {
        Self { alert_days: 14, memory: None, settled: None }
    }

    fn judge(&mut self, current: DomainResult, now: i64) -> Assessment {
        let evidence = || Evidence {
            current: current.clone(),
            current_at: now,
            settled: self.settled.clone(),
            siblings: Vec::new(),
            config: Config::default(),
            alert_days: self.alert_days,
            memory: self.memory.clone(),
        };
        let assessment = assess(evidence());
        assert_eq!(assess(evidence()), assessment, "the same evidence, the same verdict");
        self.memory.clone_from(&assessment.memory);
        self.settled = Some(Settled { facts: current, at: now });
        assessment
    }
}

/// A registration that ends after so many days.
fn registered(days: i64, now: i64) -> DomainResult {
    until(now + days * DAY, now)
}

fn until(expires_at: i64, now: i64) -> DomainResult {
    DomainResult {
        domain: "example.com".to_owned(),
        registrar: Some("Example Registrar".to_owned()),
        expires_at: Some(moment::rfc3339(expires_at)),
        days_remaining: Some(moment::days_until(expires_at, now)),
        data_availability: DataAvailability::Full,
        source: Some(Source::Rdap),
        ..DomainResult::default()
    }
}

fn with_status(days: i64, status: &str) -> DomainResult {
    DomainResult { status: vec!["ok".to_owned(), status.to_owned()], ..registered(days, NOW) }
}

fn failed(error: &str) -> DomainResult {
    DomainResult {
        domain: "example.com".to_owned(),
        error: Some(error.to_owned()),
        ..DomainResult::default()
    }
}

fn missing(source: Source) -> DomainResult {
    DomainResult { source: Some(source), ..failed("domain_not_found") }
}

fn events(assessment: &Assessment) -> Vec<&str> {
    assessment.findings.iter().map(|finding| finding.event.as_str()).collect()
}

/// How often the loss must be told before it is raised; none where it is not told.
fn confirmations(assessment: &Assessment) -> Option<u8> {
    let expired = assessment.findings.iter().find(|f| f.event == events::EXPIRED.name)?;
    Some(expired.confirmations.unwrap_or(events::EXPIRED.confirmations))
}

#[test]
fn expiring_begins_at_the_threshold_and_ends_with_the_registration() {
    for (seconds, expected, health) in [
        (15 * DAY, vec![], Health::Ok),
        (15 * DAY - 1, vec!["domain.expiring"], Health::Degraded),
        (14 * DAY, vec!["domain.expiring"], Health::Degraded),
        (DAY, vec!["domain.expiring"], Health::Degraded),
        (0, vec!["domain.expiring"], Health::Degraded),
        (-1, vec!["domain.expired"], Health::Down),
        (-400 * DAY, vec!["domain.expired"], Health::Down),
    ] {
        let assessment = Site::new().judge(until(NOW + seconds, NOW), NOW);
        assert_eq!(events(&assessment), expected, "{seconds} s");
        assert_eq!(assessment.health, health, "{seconds} s");
    }
    let mut site = Site { alert_days: 365, ..Site::new() };
    assert_eq!(events(&site.judge(registered(365, NOW), NOW)), ["domain.expiring"]);
    assert_eq!(events(&site.judge(registered(366, NOW), NOW)), [""; 0]);
}

#[test]
fn a_registrar_whose_name_ends_in_a_dot_ends_no_sentence_twice() {
    let registrar = Some("Example Registrar, Inc.".to_owned());
    for days in [5, -5] {
        let result = DomainResult { registrar: registrar.clone(), ..registered(days, NOW) };
        let finding = Site::new().judge(result, NOW).findings.remove(0);
        let suggestion = finding.suggestion.expect("there is something to do");
        assert!(!suggestion.contains(".."), "{suggestion}");
    }
}

#[test]
fn expiring_and_expired_are_two_alerts() {
    let assessment = Site::new().judge(with_status(5, "redemptionPeriod"), NOW);
    assert_eq!(events(&assessment), ["domain.expiring", "domain.expired"]);
    let keys: Vec<&str> = assessment.findings.iter().map(|f| f.dedup_key.as_str()).collect();
    assert_eq!(keys, ["expiring", "expired"]);
    assert_eq!(
        (events::EXPIRING.severity, events::EXPIRED.severity),
        (Severity::Warning, Severity::Critical)
    );
    assert!(events::ALL.iter().all(|event| event.alert_type == "domain" && event.self_resolving));
}

#[test]
fn redemption_and_deletion_have_expired_before_the_date() {
    for (status, expected) in [
        ("redemptionPeriod", vec!["domain.expired"]),
        ("redemption period", vec!["domain.expired"]),
        ("REDEMPTION-PERIOD", vec!["domain.expired"]),
        ("pendingDelete", vec!["domain.expired"]),
        ("pending delete", vec!["domain.expired"]),
        ("pendingDeleteRestorable", vec!["domain.expired"]),
        ("in quarantine", vec!["domain.expired"]),
        ("autoRenewPeriod", vec![]),
        ("auto renew period", vec![]),
        ("renewPeriod", vec![]),
        ("clientHold", vec![]),
        ("serverDeleteProhibited", vec![]),
        ("", vec![]),
    ] {
        let assessment = Site::new().judge(with_status(300, status), NOW);
        assert_eq!(events(&assessment), expected, "{status}");
        let health = if expected.is_empty() { Health::Ok } else { Health::Down };
        assert_eq!(assessment.health, health, "{status}");
    }
}

#[test]
fn registration_without_a_published_expiry_is_well() {
    let partial = DomainResult {
        expires_at: None,
        days_remaining: None,
        data_availability: DataAvailability::Partial,
        ..registered(0, NOW)
    };
    let assessment = Site::new().judge(partial, NOW);
    assert_eq!((assessment.health, events(&assessment)), (Health::Ok, vec![]));
}

#[test]
fn source_without_a_date_takes_none_back_from_the_other() {
    let undated = |source| DomainResult {
        expires_at: None,
        days_remaining: None,
        data_availability: DataAvailability::Partial,
        source: Some(source),
        ..registered(0, NOW)
    };
    let mut site = Site::new();
    site.judge(registered(10, NOW), NOW);
    // RDAP is away for two days, and WHOIS stands in.
    for days in [1, 2] {
        let assessment = site.judge(undated(Source::Whois), NOW + days * DAY);
        let told = (assessment.health, events(&assessment));
        assert_eq!(told, (Health::Degraded, vec!["domain.expiring"]));
        assert!(assessment.findings[0].message.contains(&format!("in {} days", 10 - days)));
    }
    // What published the date publishes it no longer: then there is none.
    let withdrawn = site.judge(undated(Source::Rdap), NOW + 3 * DAY);
    assert_eq!((withdrawn.health, events(&withdrawn)), (Health::Ok, vec![]));
    assert_eq!(events(&site.judge(undated(Source::Whois), NOW + 4 * DAY)), [""; 0]);

    // A source that nobody named is not another one.
    let mut site = Site::new();
    site.judge(registered(10, NOW), NOW);
    let unnamed = DomainResult { source: None, ..undated(Source::Whois) };
    assert_eq!(events(&site.judge(unnamed, NOW + DAY)), [""; 0]);
}

#[test]
fn renewal_ends_the_alert() {
    let mut site = Site::new();
    assert_eq!(events(&site.judge(registered(3, NOW), NOW)), ["domain.expiring"]);
    assert_eq!(events(&site.judge(registered(368, NOW), NOW + DAY)), [""; 0]);
    // Also of one that was lost.
    site.judge(missing(Source::RdapAndWhois), NOW + 2 * DAY);
    let back = site.judge(registered(368, NOW), NOW + 3 * DAY);
    assert_eq!((back.health, events(&back)), (Health::Ok, vec![]));
    assert_eq!(confirmations(&site.judge(missing(Source::Rdap), NOW + 4 * DAY)), Some(2));
}

#[test]
fn open_findings_outlast_a_registry_that_is_away() {
    for token in ["rate_limited", "timeout", "registry_unavailable", "unparsable_response", "news"]
    {
        let mut site = Site::new();
        site.judge(registered(10, NOW), NOW);
        // Twice: the settled result is now one without a registration.
        for days in [1, 2] {
            let assessment = site.judge(failed(token), NOW + days * DAY);
            assert_eq!(events(&assessment), ["domain.expiring"], "{token}");
            assert_eq!(assessment.health, Health::Degraded, "{token}");
        }
        // Time goes on meanwhile.
        let late = site.judge(failed(token), NOW + 10 * DAY + 1);
        assert_eq!((late.health, events(&late)), (Health::Down, vec!["domain.expired"]));
    }
    let unsupported = Site::new().judge(failed("tld_not_supported"), NOW);
    assert_eq!((unsupported.health, events(&unsupported)), (Health::Unknown, vec![]));
}

#[test]
fn date_that_comes_while_the_registry_is_away_is_told() {
    let mut site = Site::new();
    site.judge(registered(16, NOW), NOW);
    let mut told = |days: i64| {
        let assessment = site.judge(failed("registry_unavailable"), NOW + days * DAY);
        let events: Vec<String> =
            assessment.findings.iter().map(|finding| finding.event.clone()).collect();
        (assessment.health, events.join(" "))
    };
    // Only where something is due does the host look at what is found.
    assert_eq!(told(1), (Health::Unknown, String::new()));
    assert_eq!(told(2), (Health::Degraded, "domain.expiring".to_owned()));
    assert_eq!(told(16), (Health::Degraded, "domain.expiring".to_owned()));
    assert_eq!(told(17), (Health::Down, "domain.expired".to_owned()));
}

#[test]
fn settled_result_is_judged_where_nothing_is_remembered() {
    let mut site = Site::new();
    site.settled = Some(Settled { facts: registered(10, NOW), at: NOW });
    assert_eq!(events(&site.judge(failed("timeout"), NOW + DAY)), ["domain.expiring"]);
    let mut site = Site::new();
    site.settled = Some(Settled { facts: registered(100, NOW), at: NOW });
    assert_eq!(confirmations(&site.judge(missing(Source::Whois), NOW + DAY)), Some(2));
}

#[test]
fn name_that_was_never_registered_has_nothing_to_lose() {
    let mut site = Site::new();
    for (hours, result) in
        [missing(Source::RdapAndWhois), missing(Source::Whois), failed("domain_reserved")]
            .into_iter()
            .enumerate()
    {
        let assessment = site.judge(result, NOW + hours as i64 * HOUR);
        assert_eq!((assessment.health, events(&assessment)), (Health::Down, vec![]));
    }
}

#[test]
fn loss_is_raised_at_once_where_both_say_so() {
    let mut site = Site::new();
    site.judge(registered(100, NOW), NOW);
    let assessment = site.judge(missing(Source::RdapAndWhois), NOW + DAY);
    assert_eq!((assessment.health, confirmations(&assessment)), (Health::Down, Some(1)));
    assert_eq!(
        assessment.findings[0].message,
        "example.com: no longer registered: neither RDAP nor WHOIS knows it (registrar Example \
         Registrar, last seen 2026-01-01 00:00 UTC)",
    );
    // It stays, whoever says so next, and while nobody says anything.
    assert_eq!(confirmations(&site.judge(missing(Source::Rdap), NOW + 2 * DAY)), Some(1));
    for _ in 0..2 {
        let away = site.judge(failed("timeout"), NOW + 3 * DAY);
        assert_eq!((away.health, confirmations(&away)), (Health::Down, Some(1)));
    }
}

#[test]
fn loss_that_one_source_tells_is_raised_when_it_is_told_twice_in_a_row() {
    for result in [
        missing(Source::Rdap),
        missing(Source::Whois),
        failed("domain_not_found"),
        failed("domain_reserved"),
    ] {
        let mut site = Site::new();
        site.judge(registered(100, NOW), NOW);
        assert_eq!(confirmations(&site.judge(result.clone(), NOW + DAY)), Some(2));
        // A result in between that knows nothing breaks the row, and raises nothing itself.
        assert_eq!(confirmations(&site.judge(failed("rate_limited"), NOW + 2 * DAY)), None);
        assert_eq!(confirmations(&site.judge(result.clone(), NOW + 3 * DAY)), Some(2));
        assert_eq!(confirmations(&site.judge(result.clone(), NOW + 3 * DAY + 10)), Some(1));
        assert_eq!(confirmations(&site.judge(failed("rate_limited"), NOW + 4 * DAY)), Some(1));
        // A glitch that is over leaves nothing.
        let mut site = Site::new();
        site.judge(registered(100, NOW), NOW);
        site.judge(result, NOW + DAY);
        assert_eq!(events(&site.judge(registered(99, NOW), NOW + DAY + 10)), [""; 0]);
    }
}

#[test]
fn open_alerts_do_not_flap_over_a_loss_that_is_not_certain() {
    let mut site = Site::new();
    site.judge(registered(10, NOW), NOW);
    let doubtful = site.judge(missing(Source::Rdap), NOW + DAY);
    assert_eq!(events(&doubtful), ["domain.expired", "domain.expiring"]);
    let certain = site.judge(missing(Source::Rdap), NOW + DAY + 10);
    assert_eq!(events(&certain), ["domain.expired"]);
    // One that has expired is expired in any case.
    let mut site = Site::new();
    site.judge(registered(-3, NOW), NOW);
    assert_eq!(confirmations(&site.judge(missing(Source::Rdap), NOW + DAY)), Some(1));
}

#[test]
fn messages_tell_what_when_and_by_whom() {
    let told = |result: DomainResult| {
        let finding = Site::new().judge(result, NOW).findings.pop().expect("there is a finding");
        (finding.message, finding.suggestion.expect("there is something to do"))
    };
    for (result, message) in [
        (registered(5, NOW), "registration expires in 5 days, on 2026-01-06"),
        (registered(1, NOW), "registration expires in 1 day, on 2026-01-02"),
        (
            until(NOW + 3_660, NOW),
            "registration expires in less than a day, at 2026-01-01 01:01 UTC",
        ),
        (
            until(NOW - 3_600, NOW),
            "registration expired less than a day ago, at 2025-12-31 23:00 UTC",
        ),
        (registered(-3, NOW), "registration expired 2 days ago, on 2025-12-29"),
        (until(NOW - 3 * DAY - 1, NOW), "registration expired 3 days ago, on 2025-12-28"),
        (
            with_status(300, "redemptionPeriod"),
            "registration has lapsed: the registry holds the name in its redemption period",
        ),
        (
            with_status(300, "pendingDelete"),
            "registration has lapsed: the registry is about to delete the name",
        ),
    ] {
        let (said, suggestion) = told(result);
        assert_eq!(said, format!("example.com: {message} (registrar Example Registrar)"));
        assert!(suggestion.contains("its registrar"), "{suggestion}");
        assert!(!suggestion.contains("Example"), "a stranger's words tell nobody what to do");
    }
    let (_, suggestion) = told(registered(5, NOW));
    assert!(suggestion.contains("no proof that it was paid for"), "{suggestion}");
    let bare = DomainResult { days_remaining: Some(3), ..DomainResult::default() };
    assert_eq!(told(bare).0, "registration expires in 3 days, on 2026-01-04");
}

#[test]
fn any_result_of_the_right_shape_is_judged() {
    for result in [
        DomainResult::default(),
        DomainResult { days_remaining: Some(i64::MIN), ..DomainResult::default() },
        DomainResult { days_remaining: Some(i64::MAX), ..DomainResult::default() },
        DomainResult { expires_at: Some("soon".to_owned()), ..DomainResult::default() },
        DomainResult {
            expires_at: Some("9999-12-31T23:59:59Z".to_owned()),
            ..DomainResult::default()
        },
        DomainResult { error: Some(String::new()), ..DomainResult::default() },
        DomainResult {
            domain: "\u{1}ä".repeat(9_000),
            registrar: Some("\"\\\u{7f}".repeat(9_000)),
            status: vec!["pendingDelete".repeat(900); 900],
            ..registered(3, NOW)
        },
    ] {
        let mut site = Site::new();
        for now in [i64::MIN, 0, NOW, i64::MAX] {
            let assessment = site.judge(result.clone(), now);
            assert!(assessment.memory.as_ref().is_some_and(|memory| memory.len() < 8 << 10));
            for finding in &assessment.findings {
                assert!(finding.message.len() <= 1_024, "{}", finding.message.len());
                assert!(finding.suggestion.as_ref().is_some_and(|text| text.len() <= 2_048));
            }
        }
    }
    assert_eq!(Site::new().judge(DomainResult::default(), NOW).health, Health::Unknown);
    // Facts beside an error of their own count.
    let both = DomainResult { error: Some("timeout".to_owned()), ..registered(3, NOW) };
    assert_eq!(events(&Site::new().judge(both, NOW)), ["domain.expiring"]);
}
