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
