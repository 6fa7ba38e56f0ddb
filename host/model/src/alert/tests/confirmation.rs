//! How many runs a finding takes, and what waits until nothing is in doubt.

use super::*;
use crate::alert::NoticeStatus::Raised;
use crate::check::Settled;

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
fn only_whether_a_target_is_down_is_looked_at_again_at_once() {
    for (health, event, at_once) in [
        (Health::Down, "site.down", true),
        (Health::Degraded, "site.down", false),
        (Health::Ok, "dns.changed", false),
        // A name that is gone: what is to be confirmed is that its records have changed.
        (Health::Down, "dns.changed", false),
    ] {
        let decision = Past::new().assess(health, &[finding(event, "x")]);
        assert_eq!((decision.recheck, decision.at_once), (true, at_once), "{health:?} {event}");
    }
    let mut past = Past::new();
    for (health, findings, at_once) in [
        (Health::Down, &[finding("site.down", "x")][..], true),
        (Health::Down, &[finding("site.down", "x")], false),
        (Health::Ok, &[], true),
        (Health::Ok, &[], false),
    ] {
        let decision = past.assess(health, findings);
        assert_eq!((decision.recheck, decision.at_once), (at_once, at_once), "{health:?}");
    }
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
