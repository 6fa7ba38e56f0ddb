//! What becomes an alert, what is told of it, and what only changes its words.

use super::*;
use crate::DomainName;
use crate::alert::NoticeStatus::{Raised, Resolved};

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
fn an_open_alert_goes_by_the_name_that_its_site_has_now() {
    let mut past = Past::new();
    past.run(&[finding("site.down", "site")]);
    past.run(&[finding("site.down", "site")]);
    past.site.domain = DomainName::parse("example.org").expect("a domain");
    let decision = past.run(&[finding("site.down", "site")]);
    assert!(decision.notices.is_empty() && decision.raised.is_empty());
    assert_eq!(decision.updated[0].domain, "example.org");
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
