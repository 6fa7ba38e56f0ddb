//! How a subscription ends, and what is then left of it.

use super::*;

#[test]
fn what_has_ended_has_until_a_subscription_is_told_of_again() {
    let after = |events: &[&str]| {
        events.iter().fold(Billing::default(), |state, kind| {
            judged_on(&state, "free", &plain(kind)).map_or(state, |effect| effect.billing)
        })
    };
    for end in ["subscription.canceled", "subscription.expired"] {
        let ended = ["checkout.completed", end];
        assert_eq!(after(&ended).ended_at, Some(at(1_000)), "{end}: from its arrival on");
        for taken_back in ["refund.created", "dispute.created"] {
            let told = [&ended[..], &[taken_back]].concat();
            assert!(after(&told).ended_at.is_some(), "{taken_back} after {end}");
        }
        for goes_on in ["checkout.completed", "subscription.paid", "subscription.paused"] {
            let told = [&ended[..], &[goes_on]].concat();
            assert_eq!(after(&told).ended_at, None, "{goes_on} after {end}");
        }
    }
    for stays in ["subscription.paused", "refund.created", "dispute.created"] {
        assert_eq!(after(&["checkout.completed", stays]).ended_at, None, "{stays} ends nothing");
    }
}

#[test]
fn of_one_moment_what_takes_away_counts_whichever_comes_first() {
    let bought = moment("checkout.completed", 1);
    for grants in
        ["checkout.completed", "subscription.active", "subscription.paid", "subscription.update"]
    {
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
                    assert_eq!(told(&events).0, Some("free"), "{events:?}");
                }
            }
            let newer = [taken, moment(grants, 6)];
            assert_eq!(told(&newer).0, Some("pro"), "{newer:?}");
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
            assert_eq!(told(&events).0, Some("team"), "{events:?}");
        }
        let again = at_five("subscription.active", "pro", "s1");
        let events = [first.clone(), ended, again];
        assert_eq!(told(&events).0, Some("free"), "{events:?}");
    }
}

/// What is known of an account after these, one after the other, and the plan that it is on.
fn left(events: &[PaymentEvent]) -> (&'static str, Billing) {
    events.iter().fold(("free", Billing::default()), |(on, state), event| {
        let effect = judged_on(&state, on, event);
        effect.map_or((on, state), |effect| (effect.plan.id, effect.billing))
    })
}

fn dated(seconds: i64, event: PaymentEvent) -> PaymentEvent {
    PaymentEvent { created_at: Some(at(seconds)), ..event }
}

/// An event that names no subscription.
fn silent(event: PaymentEvent) -> PaymentEvent {
    PaymentEvent { subscription_id: None, ..event }
}

const GRANTING: [&str; 4] =
    ["checkout.completed", "subscription.active", "subscription.paid", "subscription.update"];

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
                let (plan, state) = left(told);
                assert_eq!((plan, state.ended_at.is_some()), ("free", is_over), "{told:?}");
            }
        }
    }
    // Without a moment of its own it brings nothing back either.
    for kind in &GRANTING[1..] {
        for (subscription, is_over) in [("s1", true), ("s2", false)] {
            let told = [&bought, &refunded, &ended, &of(kind, "pro", subscription)];
            let (plan, state) = left(&told.map(Clone::clone));
            assert_eq!((plan, state.ended_at.is_some()), ("free", is_over), "{told:?}");
        }
    }
}

#[test]
fn where_no_subscription_is_named_a_late_event_grants_nothing_and_leaves_a_doubt() {
    for kind in GRANTING {
        for end in ["subscription.canceled", "subscription.expired"] {
            let (plan, state) =
                left(&[moment("checkout.completed", 1), moment(end, 11), moment(kind, 10)]);
            assert_eq!((plan, state.ended_at), ("free", None), "{kind} after {end}");
            assert_eq!(state.newest_at, Some(at(11)), "{kind} makes nothing newer or older");
        }
    }
}

/// All orders of some events.
fn orders(events: &[PaymentEvent]) -> Vec<Vec<PaymentEvent>> {
    if events.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (nth, first) in events.iter().enumerate() {
        let rest = [&events[..nth], &events[nth + 1..]].concat();
        all.extend(orders(&rest).into_iter().map(|rest| [vec![first.clone()], rest].concat()));
    }
    all
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
        let (plan, state) = left(&told);
        let present = state.subscription_id.as_deref();
        assert_eq!((plan, present, state.ended_at), ("team", Some("s2"), None), "{told:?}");
    }
    // What was taken back before is paid for again, as by any purchase.
    let refunded = dated(5, of("refund.created", "pro", "s1"));
    let (bought, ended) = (&events[0], &events[2]);
    for order in orders(&[refunded, ended.clone()]) {
        let told = [vec![first.clone()], order, vec![bought.clone()]].concat();
        assert_eq!(left(&told).0, "team", "{told:?}");
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
                let (plan, _) = left(&events.map(Clone::clone));
                assert_eq!(plan, "free", "{events:?}");
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
        // Of the one before it, and of itself, named and not.
        let old = dated(8, of(kind, "pro", "s1"));
        for late in
            [old, dated(11, of(kind, "team", "s2")), silent(dated(11, of(kind, "team", "")))]
        {
            let events = [&bought, &present, &ended, &late].map(Clone::clone);
            assert_eq!(left(&events).0, "free", "{events:?}");
        }
    }
}
