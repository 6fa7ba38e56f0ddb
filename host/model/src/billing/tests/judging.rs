//! What an event does to an account.

use chrono::TimeDelta;

use super::*;

#[test]
fn each_event_does_what_is_documented() {
    let paid = Billing { plan: Some("pro".into()), ..Billing::default() };
    for (kind, plan, mail) in [
        ("checkout.completed", "pro", Some(Mail::Purchased)),
        ("subscription.active", "pro", Some(Mail::Activated)),
        ("subscription.paid", "pro", None),
        ("subscription.update", "pro", None),
        ("subscription.canceled", "free", Some(Mail::Canceled)),
        ("subscription.paused", "free", Some(Mail::Paused)),
        ("subscription.expired", "free", Some(Mail::Expired)),
        ("refund.created", "free", Some(Mail::Revoked)),
        ("dispute.created", "free", Some(Mail::Revoked)),
    ] {
        let effect = judged(&paid, &plain(kind)).unwrap_or_else(|| panic!("{kind} does nothing"));
        assert_eq!((effect.plan.id, effect.mail), (plan, mail), "{kind}");
    }
}

#[test]
fn purchase_is_remembered_and_its_end_leaves_the_customer() {
    let bought =
        PaymentEvent { subscription_id: Some("s1".into()), ..moment("checkout.completed", 1) };
    let state = judged(&Billing::default(), &bought).expect("an effect").billing;
    let expected = Billing {
        customer_id: Some("c".into()),
        subscription_id: Some("s1".into()),
        plan: Some("pro".into()),
        newest_at: Some(at(1)),
        revoked_at: None,
        ended_at: None,
        ended_subscription_id: None,
        succeeded_after: None,
        version: 0,
    };
    assert_eq!(state, expected);
    let silent = PaymentEvent { customer_id: None, ..plain("subscription.paid") };
    assert_eq!(judged(&state, &silent).expect("an effect").billing, state);
    let ended = judged(&state, &moment("subscription.canceled", 2)).expect("an effect").billing;
    let told = Some(at(2));
    let over = Billing {
        subscription_id: None,
        newest_at: told,
        ended_at: told,
        ended_subscription_id: Some("s1".into()),
        succeeded_after: Some(at(1)),
        ..expected.clone()
    };
    assert_eq!(ended, over);
    let paused = judged(&state, &plain("subscription.paused")).expect("an effect").billing;
    assert_eq!(paused, expected, "what is paused can still be cancelled");
}

#[test]
fn plan_is_that_of_the_product_else_the_one_carried_along() {
    let products = products();
    let offer = Offer { edition: &TEAM, products: &products };
    let bought = Billing { plan: Some("team".into()), ..Billing::default() };
    let (checkout, update) = ("checkout.completed", "subscription.update");
    for (state, kind, product, carried, expected) in [
        (&bought, update, Some("prod_pro"), Some("team"), Some("pro")),
        (&bought, update, Some("prod_new"), Some("pro"), None),
        (&bought, checkout, Some("prod_new"), Some("pro"), None),
        (&bought, update, Some("prod_new"), None, None),
        (&bought, update, None, Some("gold"), Some("team")),
        (&bought, update, None, None, Some("team")),
        (&bought, checkout, None, None, None),
        (&bought, checkout, None, Some("pro"), Some("pro")),
        (&Billing::default(), update, None, None, None),
    ] {
        let event = PaymentEvent {
            product_id: product.map(str::to_owned),
            plan_id: carried.map(str::to_owned),
            ..plain(kind)
        };
        let what = format!("{kind} of {product:?} with {carried:?}");
        match (judge(state, "team", &event, &offer), expected) {
            (Ok(Some(effect)), Some(plan)) => assert_eq!(effect.plan.id, plan, "{what}"),
            (Err(refused), None) => {
                assert!(refused.to_string().contains("payments.products"), "{what}: {refused}");
            }
            (other, _) => panic!("{what}: {other:?}"),
        }
    }
}

#[test]
fn plan_is_the_one_carried_along_where_no_products_are_told() {
    let none = BTreeMap::new();
    let offer = Offer { edition: &TEAM, products: &none };
    for (carried, expected) in [("team", Some("team")), ("free", None)] {
        let event = PaymentEvent {
            product_id: Some("prod_new".into()),
            plan_id: Some(carried.into()),
            ..plain("checkout.completed")
        };
        let judged = judge(&Billing::default(), "free", &event, &offer).ok().flatten();
        assert_eq!(judged.map(|effect| effect.plan.id), expected, "{carried}");
    }
}

#[test]
fn older_event_changes_nothing_after_a_newer_one() {
    let bought = moment("checkout.completed", 10);
    for (events, plan) in [
        (vec![bought.clone(), moment("subscription.canceled", 9)], "pro"),
        (vec![bought.clone(), moment("subscription.canceled", 10)], "free"),
        (vec![moment("subscription.canceled", 11), bought.clone()], "free"),
        (vec![moment("refund.created", 11), bought.clone()], "free"),
        (vec![moment("dispute.created", 11), moment("subscription.active", 10)], "free"),
        (vec![moment("subscription.expired", 11), moment("subscription.paid", 10)], "free"),
        (vec![bought.clone(), moment("refund.created", 9)], "pro"),
        // Without a moment it counts where it arrives, and makes no other one late.
        (vec![moment("subscription.canceled", 11), plain("checkout.completed")], "pro"),
        (vec![plain("subscription.canceled"), bought.clone()], "pro"),
        (vec![bought, plain("subscription.canceled")], "free"),
    ] {
        assert_eq!(told(&events).0, Some(plan), "{events:?}");
    }
}

#[test]
fn what_is_late_is_not_even_asked_for_its_product() {
    let state = Billing { newest_at: Some(at(5)), ..Billing::default() };
    let unknown = Some("prod_new".to_owned());
    let late = PaymentEvent { product_id: unknown, ..moment("subscription.active", 4) };
    assert_eq!(judged(&state, &late), None);
}

#[test]
fn after_a_refund_only_another_purchase_grants() {
    for taken_back in ["refund.created", "dispute.created"] {
        for kind in ["subscription.active", "subscription.paid", "subscription.update"] {
            let (plan, mails) =
                told(&[plain("checkout.completed"), plain(taken_back), plain(kind)]);
            assert_eq!(plan, Some("free"), "{kind} after {taken_back}");
            assert_eq!(mails, [Mail::Purchased, Mail::Revoked], "{kind} after {taken_back}");
            let same = [moment(taken_back, 5), moment(kind, 5)];
            assert_eq!(told(&same).0, Some("free"), "{kind} of the moment of {taken_back}");
            let newer = [moment(taken_back, 5), moment(kind, 6)];
            assert_eq!(told(&newer).0, Some("pro"), "{kind} newer than {taken_back}");
            let again = [plain(taken_back), plain("checkout.completed"), plain(kind)];
            assert_eq!(told(&again).0, Some("pro"), "{kind} after another purchase");
        }
        // Without a moment of its own it counts from when it arrived.
        let (arrived, later) = (at(1_000), at(1_000) + TimeDelta::seconds(1));
        let state = judged(&Billing::default(), &plain(taken_back)).expect("an effect").billing;
        assert_eq!((state.revoked_at, state.newest_at), (Some(arrived), Some(arrived)));
        assert_eq!(judged(&state, &moment("checkout.completed", 999)), None);
        let newer = PaymentEvent { created_at: Some(later), ..plain("subscription.paid") };
        assert!(judged(&state, &newer).is_some());
    }
}

#[test]
fn end_of_a_subscription_that_was_replaced_takes_nothing_away() {
    let of = |kind: &str, subscription: Option<&str>| PaymentEvent {
        subscription_id: subscription.map(str::to_owned),
        ..plain(kind)
    };
    let current = judged(&Billing::default(), &of("checkout.completed", Some("s2")));
    let current = current.expect("an effect").billing;
    for kind in ["subscription.canceled", "subscription.expired", "subscription.paused"] {
        assert_eq!(judged(&current, &of(kind, Some("s1"))), None, "{kind}");
        for told in [Some("s2"), None] {
            assert!(judged(&current, &of(kind, told)).is_some(), "{kind} of {told:?}");
        }
    }
    assert!(judged(&current, &of("refund.created", Some("s1"))).is_some());
}

#[test]
fn a_change_of_plan_grants_nothing_once_the_plan_has_ended() {
    let update = |seconds: Option<i64>| PaymentEvent {
        created_at: seconds.map(at),
        product_id: Some("prod_team_month".to_owned()),
        ..plain("subscription.update")
    };
    for ended in ["subscription.canceled", "subscription.paused", "subscription.expired"] {
        let over = [moment("checkout.completed", 1), moment(ended, 10)];
        for (seconds, plan) in [(None, "free"), (Some(10), "free"), (Some(11), "team")] {
            let events = [&over[..], &[update(seconds)]].concat();
            assert_eq!(told(&events).0, Some(plan), "{seconds:?} after {ended}");
        }
        let resumed = [&over[..], &[update(None), plain("subscription.paid")]].concat();
        assert_eq!(told(&resumed).0, Some("pro"), "paid for again after {ended}");
    }
    let changed = [moment("checkout.completed", 1), update(None)];
    assert_eq!(told(&changed).0, Some("team"));
    assert_eq!(told(&[update(None)]).0, Some("team"), "the first that is told of an account");
}

#[test]
fn subscription_that_was_replaced_grants_nothing() {
    let bought = judged(&Billing::default(), &of("checkout.completed", "pro", "s1"));
    let upgraded =
        judged(&bought.expect("an effect").billing, &of("checkout.completed", "team", "s2"));
    let current = upgraded.expect("an effect").billing;
    assert_eq!(current.subscription_id.as_deref(), Some("s2"));
    for kind in ["subscription.active", "subscription.paid", "subscription.update"] {
        assert_eq!(judged(&current, &of(kind, "pro", "s1")), None, "{kind}");
        let unknown = Some("prod_old".to_owned());
        let old = PaymentEvent { product_id: unknown, plan_id: None, ..of(kind, "pro", "s1") };
        assert_eq!(judged(&current, &old), None, "{kind} is not even asked for its product");
        // Its own plan changes, and who has no known subscription takes the one that is told.
        let own = judged(&current, &of(kind, "pro", "s2")).expect("an effect");
        assert_eq!((own.plan.id, own.billing.subscription_id.as_deref()), ("pro", Some("s2")));
        let silent = PaymentEvent { subscription_id: None, ..of(kind, "pro", "") };
        let silent = judged(&current, &silent).expect("an effect");
        assert_eq!(silent.billing.subscription_id.as_deref(), Some("s2"), "{kind}");
        let first = judged(&Billing::default(), &of(kind, "pro", "s1")).expect("an effect");
        assert_eq!(first.billing.subscription_id.as_deref(), Some("s1"), "{kind}");
    }
}

#[test]
fn upgrade_and_its_activation_come_in_either_order() {
    let old = [of("checkout.completed", "pro", "s1"), of("subscription.active", "pro", "s1")];
    let bought = PaymentEvent { created_at: Some(at(5)), ..of("checkout.completed", "team", "s2") };
    let active =
        PaymentEvent { created_at: Some(at(6)), ..of("subscription.active", "team", "s2") };
    let renewed = of("subscription.paid", "pro", "s1");
    let ended = of("subscription.canceled", "pro", "s1");
    for new in [[&bought, &active], [&active, &bought]] {
        let events: Vec<PaymentEvent> =
            old.iter().chain(new).chain([&renewed, &ended]).cloned().collect();
        assert_eq!(told(&events).0, Some("team"), "{events:?}");
    }
}

#[test]
fn purchase_without_a_subscription_leaves_the_next_one_to_be_told() {
    let before = judged(&Billing::default(), &of("checkout.completed", "pro", "s1"));
    let bought = plain("checkout.completed");
    let state = judged(&before.expect("an effect").billing, &bought).expect("an effect").billing;
    assert_eq!(state.subscription_id, None);
    let state = judged(&state, &of("subscription.active", "team", "s2")).expect("an effect");
    assert_eq!(state.billing.subscription_id.as_deref(), Some("s2"));
    assert_eq!(judged(&state.billing, &of("subscription.paid", "pro", "s1")), None);
}
