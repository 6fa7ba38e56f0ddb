//! What a decision keeps of a run: its record, the state, the history of certificates.

use super::*;
use crate::alert::NoticeStatus::Raised;
use crate::cert_history::ChangeType;

#[test]
fn an_unknown_run_changes_nothing_but_the_latest() {
    let mut past = Past::new();
    past.run(&[finding("ssl.expiring", "a"), finding("site.down", "x")]);
    let before = past.state.clone();
    let unknown = |findings: &[Finding]| Assessment {
        health: Health::Unknown,
        findings: findings.to_vec(),
        memory: None,
    };
    let worse = [finding("ssl.expired", "a"), finding("site.down", "x")];
    for assessment in [None, Some(unknown(&[])), Some(unknown(&worse))] {
        let decision = past.decide(assessment);
        assert_eq!(decision.record.status, CheckStatus::Unknown);
        assert!(decision.raised.is_empty() && decision.updated.is_empty());
        assert!(decision.resolved.is_empty() && decision.notices.is_empty());
        assert!(decision.cert_changes.is_empty() && !decision.recheck);
        let latest = Some(decision.record.clone());
        let version = before.version + 1;
        assert_eq!(decision.state, CheckState { version, latest, ..before.clone() });
        assert_eq!(decision.unconfirmed_runs, before.unconfirmed_runs);
    }
    let confirmed = past.run(&[finding("ssl.expiring", "a"), finding("site.down", "x")]);
    assert_eq!(told(&confirmed), [("site.down", Raised)], "the count went on");
}

#[test]
fn a_run_turns_when_its_status_is_another_than_before() {
    let mut past = Past::new();
    for (health, turned) in [
        (Health::Ok, true),
        (Health::Ok, false),
        (Health::Down, true),
        (Health::Down, false),
        (Health::Unknown, true),
        (Health::Ok, true),
    ] {
        assert_eq!(past.assess(health, &[]).turned, turned, "{health:?}");
    }
}

#[test]
fn a_target_was_well_as_the_last_runs_left_it_that_told_anything() {
    let mut past = Past::new();
    assert!(!past.state.was_well(), "nobody has looked");
    let down = [finding("site.down", "site")];
    let runs: [(Health, &[Finding], bool); 9] = [
        (Health::Ok, &[], true),
        (Health::Unknown, &[], true),
        (Health::Down, &down, false),
        // Once down is nothing yet, whatever came between.
        (Health::Unknown, &[], true),
        (Health::Down, &down, false),
        (Health::Unknown, &[], false),
        (Health::Ok, &[], true),
        (Health::Ok, &[], true),
        (Health::Degraded, &[], false),
    ];
    for (nth, (health, findings, was_well)) in runs.into_iter().enumerate() {
        past.assess(health, findings);
        assert_eq!(past.state.was_well(), was_well, "run {nth}: {health:?}");
    }
}

#[test]
fn trouble_counts_unless_it_was_announced() {
    let mut past = Past { check_type: "uptime", ..Past::new() };
    let down = [finding("site.down", "site")];
    let runs: [(Health, &[Finding], bool); 7] = [
        (Health::Ok, &[], false),
        (Health::Down, &down, false),
        (Health::Down, &down, true),
        (Health::Degraded, &[], true),
        (Health::Ok, &[], true),
        (Health::Degraded, &[], false),
        (Health::Down, &[], true),
    ];
    for (health, findings, maintenance) in runs {
        past.maintenance = maintenance;
        past.assess(health, findings);
    }
    let days = &past.state.tally.days;
    let counted = days.iter().map(|day| (day.ok, day.degraded, day.down, day.unknown));
    assert_eq!(counted.collect::<Vec<_>>(), [(2, 1, 1, 0)]);
}

#[test]
fn an_open_change_that_happens_again_is_one_alert_and_two_rows_of_history() {
    let mut past = Past::new();
    let first = past.run(&[change("a")]);
    assert_eq!(first.cert_changes.len(), 1);
    let row = &first.cert_changes[0];
    assert_eq!((row.change_type, row.changed_at), (ChangeType::Renewal, at(1)));
    assert!(past.run(&[change("a")]).cert_changes.is_empty(), "still the same change");
    past.run(&[]);
    let again = past.run(&[change("a")]);
    assert!(again.raised.is_empty() && again.notices.is_empty());
    assert_eq!(again.cert_changes.len(), 1);
}

#[test]
fn only_certificate_changes_make_history() {
    let mut past = Past::new();
    let details = change("a").details;
    let other = Finding { details, ..finding("ssl.expiring", "a") };
    let bare = Finding { details: None, ..change("b") };
    let decision = past.run(&[other, bare]);
    assert_eq!((decision.raised.len(), decision.cert_changes.len()), (2, 0));
}

#[test]
fn a_decision_records_health_memory_and_version() {
    let mut past = Past::new();
    for (version, health, status) in [
        (1, Health::Ok, CheckStatus::Ok),
        (2, Health::Degraded, CheckStatus::Degraded),
        (3, Health::Down, CheckStatus::Down),
    ] {
        let decision = past.assess(health, &[]);
        assert_eq!((decision.state.version, decision.record.status), (version, status));
        assert_eq!(decision.state.latest, Some(decision.record));
        assert_eq!(decision.state.memory.as_deref(), Some("{}"));
    }
}
