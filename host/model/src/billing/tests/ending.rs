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
