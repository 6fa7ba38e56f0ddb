//! How alerts end by themselves, and what is told of that.

use super::*;
use crate::alert::NoticeStatus::{Raised, Resolved};

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
fn an_announcement_is_told_and_never_open() {
    let mut past = Past::new();
    let up = past.run(&[finding("site.up", "x")]);
    assert_eq!(told(&up), [("site.up", Raised)]);
    assert_eq!((up.raised[0].is_resolved, up.raised[0].resolved_at), (true, Some(at(1))));
    for later in [&[finding("site.up", "x")][..], &[]] {
        let later = past.run(later);
        assert_eq!((later.raised.len(), later.resolved.len(), later.notices.len()), (0, 0, 0));
    }
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
