//! Alerts that their owner resolved or reopened.

use super::*;
use crate::alert::NoticeStatus::Raised;

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
