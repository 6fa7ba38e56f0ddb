mod invariants;

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta};
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::assessment::{Assessment, EventType, Finding, Health};
use crate::cert_history::ChangeType;
use crate::check::{CheckRecord, CheckState, CheckStatus, Settled, Source};
use crate::site::{NewSite, Site};

fn at(minutes: i64) -> Timestamp {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a moment of 2027")
        + TimeDelta::minutes(minutes)
}

fn site() -> Site {
    NewSite::parse(&json!({"domain": "example.com"}), &[]).expect("a domain is enough").into_site(
        Uuid::from_u128(1).into(),
        Uuid::from_u128(2).into(),
        at(0),
    )
}

fn event(name: &str, alert_type: &str, severity: Severity, confirmations: u32) -> EventType {
    EventType {
        name: name.into(),
        alert_type: alert_type.into(),
        severity,
        title: name.into(),
        self_resolving: alert_type != "cert_change" && alert_type != "dns",
        confirmations,
        clears: if name == "site.down" { 2 } else { 1 },
    }
}

fn events() -> Vec<EventType> {
    vec![
        event("ssl.expiring", "ssl", Severity::Critical, 1),
        event("ssl.expired", "ssl", Severity::Critical, 1),
        event("ssl.invalid", "ssl", Severity::Critical, 1),
        event("ssl.renewed", "ssl", Severity::Info, 1),
        event("certificate.changed", "cert_change", Severity::Warning, 1),
        event("dns.changed", "dns", Severity::Warning, 2),
        event("site.down", "uptime", Severity::Critical, 2),
        event("site.degraded", "uptime", Severity::Warning, 1),
        event("site.up", "uptime", Severity::Info, 1),
    ]
}

fn finding(event: &str, key: &str) -> Finding {
    Finding {
        event: event.into(),
        severity: None,
        dedup_key: key.into(),
        message: format!("{event} on example.com"),
        suggestion: None,
        details: None,
        confirmations: None,
    }
}

fn change(fingerprint: &str) -> Finding {
    let details =
        json!({"fingerprint": fingerprint, "change_type": "renewal", "issuer": "Example CA"});
    Finding { details: Some(details), ..finding("certificate.changed", fingerprint) }
}

/// What a store does with decisions, without a store: one site and one check.
struct Past {
    site: Site,
    state: CheckState,
    alerts: BTreeMap<AlertId, Alert>,
    source: Source,
    runs: i64,
    ids: u128,
}

impl Past {
    fn new() -> Self {
        let state = CheckState::default();
        let source = Source::Scheduler;
        Self { site: site(), state, alerts: BTreeMap::new(), source, runs: 0, ids: 0 }
    }

    fn now(&self) -> Timestamp {
        at(self.runs)
    }

    fn open(&self) -> Vec<Alert> {
        self.alerts.values().filter(|alert| !alert.is_resolved).cloned().collect()
    }

    fn open_events(&self) -> Vec<String> {
        self.open().into_iter().map(|alert| alert.event).collect()
    }

    fn decide(&mut self, assessment: Option<Assessment>) -> Decision {
        self.runs += 1;
        let check_type = "ssl".parse().expect("a well-formed name");
        let record = CheckRecord {
            id: Uuid::from_u128(1000 + self.ids).into(),
            site_id: self.site.id,
            check_type,
            checked_at: self.now(),
            status: CheckStatus::Unknown,
            result: json!({"run": self.runs}),
            error: None,
            duration_ms: 3,
            source: self.source,
            location: "local".into(),
        };
        let (check_type, events, open) = (record.check_type.clone(), events(), self.open());
        let ctx = Context {
            account_id: self.site.account_id,
            site: &self.site,
            check_type: &check_type,
            events: &events,
            state: &self.state,
            open: &open,
            now: self.now(),
        };
        let ids = &mut self.ids;
        reconcile(&ctx, record, assessment, &mut || {
            *ids += 1;
            Uuid::from_u128(*ids)
        })
    }

    fn commit(&mut self, decision: &Decision) {
        self.state = decision.state.clone();
        let changed = decision.raised.iter().chain(&decision.updated).chain(&decision.resolved);
        self.alerts.extend(changed.map(|alert| (alert.id, alert.clone())));
    }

    fn run(&mut self, findings: &[Finding]) -> Decision {
        self.assess(Health::Degraded, findings)
    }

    fn assess(&mut self, health: Health, findings: &[Finding]) -> Decision {
        let assessment =
            Assessment { health, findings: findings.to_vec(), memory: Some("{}".into()) };
        let decision = self.decide(Some(assessment));
        self.commit(&decision);
        decision
    }

    fn by_hand(&mut self, id: AlertId, resolved: bool) {
        let now = self.now();
        self.alerts.get_mut(&id).expect("a stored alert").set_resolved(resolved, now);
    }
}

fn told(decision: &Decision) -> Vec<(&str, NoticeStatus)> {
    decision.notices.iter().map(|notice| (notice.event.as_str(), notice.status)).collect()
}

use NoticeStatus::{Raised, Resolved};

#[test]
fn a_finding_is_raised_once_and_told_once() {
    let mut past = Past::new();
    let first = past.run(&[finding("ssl.expiring", "a")]);
    assert_eq!(told(&first), [("ssl.expiring", Raised)]);
    let alert = &first.raised[0];
    assert_eq!(
        (alert.severity, alert.domain.as_str(), alert.created_at, alert.is_resolved),
        (Severity::Critical, "example.com", at(1), false)
    );
    for _ in 0..3 {
        let repeat = past.run(&[finding("ssl.expiring", "a")]);
        assert!(repeat.raised.is_empty() && repeat.updated.is_empty() && repeat.notices.is_empty());
    }
    assert_eq!(past.alerts.len(), 1);
}

#[test]
fn different_keys_are_different_alerts() {
    let mut past = Past::new();
    let both = past.run(&[finding("ssl.expiring", "a"), finding("ssl.expiring", "b")]);
    assert_eq!(told(&both), [("ssl.expiring", Raised), ("ssl.expiring", Raised)]);
    let one = past.run(&[finding("ssl.expiring", "b")]);
    assert_eq!(told(&one), [("ssl.expiring", Resolved)]);
    assert_eq!(one.resolved[0].key, "a");
}

#[test]
fn notices_keep_the_plugins_order() {
    let mut past = Past::new();
    past.run(&[finding("ssl.expiring", "old")]);
    let renewed = past.run(&[finding("ssl.renewed", "new"), change("new")]);
    assert_eq!(told(&renewed), [("ssl.renewed", Raised), ("certificate.changed", Raised)]);
}

#[test]
fn a_message_that_changes_is_updated_in_silence() {
    let mut past = Past::new();
    past.run(&[finding("ssl.expiring", "a")]);
    let later = Finding { message: "2 days left".into(), ..finding("ssl.expiring", "a") };
    let decision = past.run(std::slice::from_ref(&later));
    assert!(decision.notices.is_empty() && decision.raised.is_empty());
    assert_eq!(decision.updated[0].message, "2 days left");
    assert_eq!((decision.updated[0].created_at, decision.updated[0].updated_at), (at(1), at(2)));
    assert!(past.run(&[later]).updated.is_empty());
}

#[test]
fn a_severity_that_rises_is_told_and_one_that_falls_is_not() {
    let mut past = Past::new();
    let with = |severity| [Finding { severity: Some(severity), ..finding("ssl.expiring", "a") }];
    past.run(&with(Severity::Warning));
    let rises = past.run(&with(Severity::Critical));
    assert_eq!(told(&rises), [("ssl.expiring", Raised)]);
    assert_eq!(rises.notices[0].severity, Severity::Critical);
    assert_eq!((rises.raised.len(), rises.updated.len()), (0, 1));
    let falls = past.run(&with(Severity::Warning));
    assert!(falls.notices.is_empty());
    assert_eq!(falls.updated[0].severity, Severity::Warning);
}

#[test]
fn a_condition_resolves_itself_and_a_change_waits_for_its_owner() {
    let mut past = Past::new();
    past.run(&[finding("ssl.expiring", "a"), change("b")]);
    let gone = past.assess(Health::Ok, &[]);
    assert_eq!(told(&gone), [("ssl.expiring", Resolved)]);
    assert_eq!(gone.resolved[0].resolved_at, Some(at(2)));
    assert_eq!(past.open_events(), ["certificate.changed"]);
}

#[test]
fn the_end_of_an_info_alert_is_not_told() {
    let mut past = Past::new();
    past.run(&[finding("site.up", "x")]);
    let gone = past.run(&[]);
    assert_eq!((gone.resolved.len(), gone.notices.len()), (1, 0));
}

#[test]
fn an_announcement_stands_for_the_resolution() {
    let mut past = Past::new();
    past.run(&[finding("ssl.expiring", "old"), finding("site.degraded", "x")]);
    let renewed = past.run(&[finding("ssl.renewed", "new"), change("new")]);
    // The announcement speaks for its own alert type alone.
    assert_eq!(
        told(&renewed),
        [("ssl.renewed", Raised), ("certificate.changed", Raised), ("site.degraded", Resolved)]
    );
    assert_eq!(renewed.resolved.len(), 2);
    let expiring = renewed.resolved.iter().find(|alert| alert.alert_type == "ssl");
    assert_eq!(renewed.notices[0].ends, [expiring.expect("it is over").id]);
    assert!(renewed.notices[1].ends.is_empty());
}

#[test]
fn trouble_that_changes_its_form_is_not_told_as_resolved() {
    let mut past = Past::new();
    past.run(&[finding("ssl.expiring", "expiring")]);
    let expired = past.run(&[finding("ssl.expired", "expired")]);
    assert_eq!(told(&expired), [("ssl.expired", Raised)]);
    assert_eq!(past.open_events(), ["ssl.expired"]);
}

#[test]
fn trouble_that_other_trouble_takes_the_place_of_is_told_as_resolved() {
    let mut past = Past::new();
    past.run(&[finding("ssl.expiring", "expiring")]);
    let swapped = past.run(&[finding("ssl.invalid", "invalid"), change("b")]);
    assert_eq!(
        told(&swapped),
        [("ssl.invalid", Raised), ("certificate.changed", Raised), ("ssl.expiring", Resolved)]
    );
    let back = past.run(&[finding("ssl.expiring", "expiring")]);
    assert_eq!(told(&back), [("ssl.expiring", Raised), ("ssl.invalid", Resolved)]);
}

#[test]
fn equal_keys_of_one_alert_type_are_one_alert() {
    let mut past = Past::new();
    past.run(&[finding("site.degraded", "x")]);
    let slow = past.open();
    past.run(&[finding("site.down", "x")]);
    past.run(&[finding("site.down", "x")]);
    let down = past.open();
    assert_eq!((down.len(), down[0].id), (1, slow[0].id));
    let slow_again = past.run(&[finding("site.degraded", "x")]);
    assert!(slow_again.notices.is_empty(), "better, and not well");
    assert_eq!(past.open_events(), ["site.degraded"]);
}

#[test]
fn worse_than_what_its_owner_resolved_is_raised_anew() {
    let mut past = Past::new();
    past.run(&[finding("site.degraded", "x")]);
    let slow = past.open()[0].id;
    past.by_hand(slow, true);
    past.run(&[finding("site.down", "x")]);
    let down = past.run(&[finding("site.down", "x")]);
    assert_eq!(told(&down), [("site.down", Raised)]);
    assert_ne!(past.open()[0].id, slow);
}

#[test]
fn an_alert_resolves_after_as_many_good_runs_as_its_event_asks_for() {
    let mut past = Past::new();
    let down = [finding("site.down", "x")];
    past.run(&down);
    past.run(&down);
    let first = past.assess(Health::Ok, &[]);
    assert!(first.resolved.is_empty() && first.recheck);
    assert!(past.run(&down).notices.is_empty(), "it is the same trouble");
    assert!(past.assess(Health::Ok, &[]).resolved.is_empty(), "the count starts anew");
    let second = past.assess(Health::Ok, &[]);
    assert_eq!(told(&second), [("site.down", Resolved)]);
    assert!(!second.recheck && past.open().is_empty());
}

#[test]
fn end_of_trouble_that_somebody_brings_is_believed_at_once() {
    let mut past = Past { source: Source::Api, ..Past::new() };
    let down = [finding("site.down", "x")];
    assert!(past.run(&down).notices.is_empty(), "trouble is not");
    assert_eq!(told(&past.run(&down)), [("site.down", Raised)]);
    let up = Finding { confirmations: Some(2), ..finding("site.up", "up") };
    let over = past.assess(Health::Ok, &[up]);
    assert_eq!((told(&over), over.resolved.len()), (vec![("site.up", Raised)], 1));
    assert!(!over.recheck);
}

#[test]
fn a_slow_site_that_may_be_down_has_not_recovered() {
    let mut past = Past::new();
    past.run(&[finding("site.degraded", "x")]);
    let doubtful = past.run(&[finding("site.down", "x")]);
    assert!(doubtful.notices.is_empty() && doubtful.resolved.is_empty() && doubtful.recheck);
    let down = past.run(&[finding("site.down", "x")]);
    assert_eq!(told(&down), [("site.down", Raised)]);
    assert_eq!(past.open_events(), ["site.down"]);
}

#[test]
fn a_finding_is_confirmed_by_runs_in_a_row() {
    let mut past = Past::new();
    let down = [finding("site.down", "x")];
    let first = past.run(&down);
    assert!(first.raised.is_empty() && first.recheck);
    assert_eq!(first.unconfirmed_runs, 1);
    let well = past.assess(Health::Ok, &[]);
    assert_eq!((well.recheck, well.unconfirmed_runs), (false, 0));
    assert!(past.run(&down).raised.is_empty(), "the count starts anew");
    let confirmed = past.run(&down);
    assert_eq!(told(&confirmed), [("site.down", Raised)]);
    assert_eq!((confirmed.recheck, confirmed.unconfirmed_runs), (false, 0));
}

#[test]
fn a_finding_may_ask_for_more_confirmations_or_fewer() {
    let asks = |confirmations| [Finding { confirmations, ..finding("dns.changed", "k") }];
    for (confirmations, needed) in [(Some(3), 3), (None, 2), (Some(1), 1), (Some(0), 1)] {
        let mut past = Past::new();
        for run in 1..=needed {
            let raised = past.run(&asks(confirmations)).raised.len();
            assert_eq!(raised, usize::from(run == needed), "{confirmations:?}, run {run}");
        }
    }
}

#[test]
fn runs_that_find_something_new_each_time_are_counted() {
    let mut past = Past::new();
    for run in 1..=4 {
        let decision = past.run(&[finding("dns.changed", &format!("key {run}"))]);
        assert_eq!((decision.recheck, decision.unconfirmed_runs), (true, run));
    }
    assert!(past.alerts.is_empty());
}

#[test]
fn the_settled_result_waits_until_nothing_is_in_doubt() {
    let mut past = Past::new();
    past.assess(Health::Ok, &[]);
    let settled = |run: i64, status| {
        Some(Settled { result: json!({ "run": run }), at: at(run), status: Some(status) })
    };
    let baseline = settled(1, CheckStatus::Ok);
    assert_eq!(past.state.settled, baseline);
    past.run(&[finding("dns.changed", "k")]);
    assert_eq!(past.state.settled, baseline);
    past.run(&[finding("dns.changed", "k")]);
    assert_eq!(past.state.settled, settled(3, CheckStatus::Degraded));
}

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
fn what_its_owner_resolved_stays_quiet_until_it_is_gone() {
    let mut past = Past::new();
    let first = past.run(&[finding("ssl.expiring", "a")]).raised[0].id;
    past.by_hand(first, true);
    let worse = Finding { message: "1 day left".into(), ..finding("ssl.expiring", "a") };
    for _ in 0..3 {
        let decision = past.run(std::slice::from_ref(&worse));
        assert!(decision.notices.is_empty() && decision.raised.is_empty());
        assert!(decision.updated.is_empty());
    }
    past.run(&[]);
    let again = past.run(&[worse]);
    assert_eq!(told(&again), [("ssl.expiring", Raised)]);
    assert_ne!(again.raised[0].id, first);
}

#[test]
fn a_reopened_alert_goes_on_as_itself() {
    let mut past = Past::new();
    let expiring = [finding("ssl.expiring", "a")];
    let id = past.run(&expiring).raised[0].id;
    past.by_hand(id, true);
    past.run(&[]);
    past.by_hand(id, false);
    let back = past.run(&expiring);
    assert!(back.raised.is_empty() && back.notices.is_empty(), "it is open already");
    let gone = past.run(&[]);
    assert_eq!(gone.resolved[0].id, id);
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
fn an_unlisted_event_is_nothing() {
    let mut past = Past::new();
    let decision = past.run(&[finding("site.haunted", "a")]);
    assert!(decision.raised.is_empty() && !decision.recheck && decision.state.tracked.is_empty());
}

#[test]
fn doubles_in_one_run_count_once_as_the_worst() {
    let mut past = Past::new();
    let info = Finding { severity: Some(Severity::Info), ..finding("site.down", "x") };
    let plain = finding("site.down", "x");
    let first = past.run(&[info.clone(), plain.clone()]);
    assert!(first.raised.is_empty(), "two reports in one run are no confirmation");
    let second = past.run(&[plain, info]);
    assert_eq!(second.raised.len(), 1);
    assert_eq!(second.raised[0].severity, Severity::Critical);
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

#[test]
fn an_alert_shows_what_is_documented_and_its_domain_event_and_times() {
    let mut past = Past::new();
    let suggestion = Some("renew it".to_owned());
    let decision = past.run(&[Finding { suggestion, ..finding("ssl.expiring", "a") }]);
    assert_eq!(
        serde_json::to_value(decision.raised[0].view()).unwrap(),
        json!({
            "id": "00000000-0000-0000-0000-000000000001", "type": "ssl", "event": "ssl.expiring",
            "severity": "critical", "message": "ssl.expiring on example.com",
            "suggestion": "renew it", "is_resolved": false,
            "site_id": "00000000-0000-0000-0000-000000000001", "domain": "example.com",
            "created_at": "2027-01-15T08:01:00Z", "updated_at": "2027-01-15T08:01:00Z",
            "resolved_at": null,
        })
    );
    let row = serde_json::to_value(&decision.raised[0]).unwrap();
    assert_eq!(serde_json::from_value::<Alert>(row).unwrap(), decision.raised[0]);
}

#[test]
fn the_query_asks_for_open_alerts_unless_told_otherwise() {
    for (text, filter) in [
        (None, Some(Some(false))),
        (Some("false"), Some(Some(false))),
        (Some("true"), Some(Some(true))),
        (Some("all"), Some(None)),
        (Some(""), None),
        (Some("TRUE"), None),
    ] {
        assert_eq!(resolved_filter(text).ok(), filter, "{text:?}");
    }
    assert_eq!("warning".parse(), Ok(Severity::Warning));
    assert_eq!("fatal".parse::<Severity>().unwrap_err().field, "severity");
    assert!(Severity::Info < Severity::Warning && Severity::Warning < Severity::Critical);
}
