//! How a subscription ends, and what is then left of it.

use super::*;

#[test]
fn what_has_ended_has_until_a_subscription_is_told_of_again() {
    let is_charged = |kinds: &[&str]| {
        let events: Vec<PaymentEvent> = kinds.iter().map(|kind| plain(kind)).collect();
        after(&events).is_charged()
    };
    for end in ["subscription.canceled", "subscription.expired"] {
        let ended = ["checkout.completed", end];
        assert!(!is_charged(&ended), "{end}");
        for taken_back in ["refund.created", "dispute.created"] {
            let told = [&ended[..], &[taken_back]].concat();
            assert!(!is_charged(&told), "{taken_back} after {end}");
        }
        for goes_on in ["checkout.completed", "subscription.paid", "subscription.paused"] {
            let told = [&ended[..], &[goes_on]].concat();
            assert!(is_charged(&told), "{goes_on} after {end}");
        }
    }
    for stays in ["subscription.paused", "refund.created", "dispute.created"] {
        assert!(is_charged(&["checkout.completed", stays]), "{stays} ends nothing");
    }
}

#[test]
fn of_one_moment_what_takes_away_counts_whichever_comes_first() {
    let bought = moment("checkout.completed", 1);
    for grants in GRANTING {
        for takes in [
            "subscription.canceled",
            "subscription.paused",
            "subscription.expired",
            "refund.created",
            "dispute.created",
        ] {
            let (granted, taken) = (moment(grants, 5), moment(takes, 5));
            for both in [[&granted, &taken], [&taken, &granted]] {
                // Of an account that bought before, and of one of which nothing was known.
                for before in [Some(&bought), None] {
                    let events: Vec<_> = before.into_iter().chain(both).cloned().collect();
                    assert_eq!(after(&events).plan, "free", "{events:?}");
                }
            }
            let newer = [taken, moment(grants, 6)];
            assert_eq!(after(&newer).plan, "pro", "{newer:?}");
        }
    }
}

#[test]
fn of_one_moment_the_end_of_another_subscription_takes_nothing_away() {
    let at_five = |kind, plan, subscription| PaymentEvent {
        created_at: Some(at(5)),
        ..of(kind, plan, subscription)
    };
    let first = of("checkout.completed", "pro", "s1");
    let bought = at_five("checkout.completed", "team", "s2");
    for end in ["subscription.canceled", "subscription.expired", "subscription.paused"] {
        let ended = at_five(end, "pro", "s1");
        for both in [[&ended, &bought], [&bought, &ended]] {
            let events: Vec<_> = [&first].into_iter().chain(both).cloned().collect();
            assert_eq!(after(&events).plan, "team", "{events:?}");
        }
        let again = at_five("subscription.active", "pro", "s1");
        let events = [first.clone(), ended, again];
        assert_eq!(after(&events).plan, "free", "{events:?}");
    }
}

#[test]
fn what_grants_nothing_after_an_end_may_still_be_left_to_cancel() {
    let bought = dated(1, of("checkout.completed", "pro", "s1"));
    let refunded = dated(11, of("refund.created", "pro", "s1"));
    let ended = dated(12, of("subscription.canceled", "pro", "s1"));
    let again = dated(13, of("subscription.expired", "pro", "s1"));
    for kind in GRANTING {
        let late = |subscription| dated(10, of(kind, "pro", subscription));
        for (event, is_over) in
            [(late("s1"), true), (late("s2"), false), (silent(late("s1")), false)]
        {
            let events = [&bought, &refunded, &ended, &event, &again].map(Clone::clone);
            for told in [&events[..4], &events] {
                let left = after(told);
                assert_eq!((left.plan, left.is_charged()), ("free", !is_over), "{told:?}");
            }
        }
    }
    // Without a moment of its own it brings nothing back either.
    for kind in &GRANTING[1..] {
        for (subscription, is_over) in [("s1", true), ("s2", false)] {
            let told = [&bought, &refunded, &ended, &of(kind, "pro", subscription)];
            let left = after(&told.map(Clone::clone));
            assert_eq!((left.plan, left.is_charged()), ("free", !is_over), "{told:?}");
        }
    }
}

#[test]
fn where_no_subscription_is_named_a_late_event_grants_nothing_and_leaves_a_doubt() {
    for kind in GRANTING {
        for end in ["subscription.canceled", "subscription.expired"] {
            let late = [moment("checkout.completed", 1), moment(end, 11), moment(kind, 10)];
            let left = after(&late);
            assert_eq!((left.plan, left.is_charged()), ("free", true), "{kind} after {end}");
            let newer = [&late[..], &[moment(kind, 12)]].concat();
            assert_eq!(after(&newer).plan, "pro", "{kind} makes nothing newer late");
        }
    }
}

#[test]
fn what_replaces_the_one_that_ended_is_granted_in_every_order() {
    let first = dated(1, of("checkout.completed", "pro", "s1"));
    let events = [
        dated(10, of("checkout.completed", "team", "s2")),
        dated(10, of("subscription.active", "team", "s2")),
        dated(11, of("subscription.canceled", "pro", "s1")),
        dated(12, of("subscription.expired", "pro", "s1")),
    ];
    for order in orders(&events) {
        let told = [vec![first.clone()], order].concat();
        let left = after(&told);
        let found = (left.plan, left.present(), left.is_charged());
        assert_eq!(found, ("team", Some("s2"), true), "{told:?}");
    }
    // What was taken back before is paid for again, as by any purchase.
    let refunded = dated(5, of("refund.created", "pro", "s1"));
    let (bought, ended) = (&events[0], &events[2]);
    for order in orders(&[refunded, ended.clone()]) {
        let told = [vec![first.clone()], order, vec![bought.clone()]].concat();
        assert_eq!(after(&told).plan, "team", "{told:?}");
    }
}

#[test]
fn what_replaced_it_and_stopped_too_is_not_granted_by_a_late_purchase() {
    let first = dated(1, of("checkout.completed", "pro", "s1"));
    let bought = dated(10, of("checkout.completed", "team", "s2"));
    let ended = dated(12, of("subscription.canceled", "pro", "s1"));
    for kind in [
        "subscription.canceled",
        "subscription.expired",
        "subscription.paused",
        "refund.created",
        "dispute.created",
    ] {
        for moment in [10, 11] {
            let stopped = dated(moment, of(kind, "team", "s2"));
            for events in [
                [&first, &ended, &stopped, &bought],
                [&first, &stopped, &ended, &bought],
                [&first, &ended, &bought, &stopped],
            ] {
                assert_eq!(after(&events.map(Clone::clone)).plan, "free", "{events:?}");
            }
        }
    }
}

#[test]
fn what_was_replaced_before_is_not_brought_back() {
    let present = dated(9, of("subscription.paid", "team", "s2"));
    let bought = dated(5, of("checkout.completed", "team", "s2"));
    let ended = dated(12, of("subscription.canceled", "team", "s2"));
    for kind in GRANTING {
        // Of the one before it, whose purchase comes late if at all, and of itself, named and not.
        let when = if kind == "checkout.completed" { 4 } else { 8 };
        let old = dated(when, of(kind, "pro", "s1"));
        for late in
            [old, dated(11, of(kind, "team", "s2")), silent(dated(11, of(kind, "team", "")))]
        {
            let events = [&bought, &present, &ended, &late].map(Clone::clone);
            assert_eq!(after(&events).plan, "free", "{events:?}");
        }
    }
}
