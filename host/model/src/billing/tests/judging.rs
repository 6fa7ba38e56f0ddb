//! What an event does to an account.

use chrono::TimeDelta;

use super::*;

#[test]
fn each_event_does_what_is_documented() {
    let bought = after(&[plain("checkout.completed")]).billing;
    let pro = sold("pro");
    for (kind, plan, mail) in [
        ("checkout.completed", "pro", Some(Mail::Purchased(pro))),
        ("subscription.active", "pro", Some(Mail::Activated(pro))),
        ("subscription.paid", "pro", None),
        ("subscription.update", "pro", None),
        ("subscription.canceled", "free", Some(Mail::Canceled)),
        ("subscription.paused", "free", Some(Mail::Paused)),
        ("subscription.expired", "free", Some(Mail::Expired)),
        ("refund.created", "free", Some(Mail::Revoked)),
        ("dispute.created", "free", Some(Mail::Revoked)),
    ] {
        for state in [&bought, &Billing::default()] {
            let effect = judged(state, &plain(kind)).unwrap_or_else(|| panic!("nothing: {kind}"));
            assert_eq!((effect.plan, effect.mail), (Some(sold(plan)), mail), "{kind}");
        }
    }
}

#[test]
fn purchase_is_remembered_and_its_end_leaves_the_customer() {
    let first =
        PaymentEvent { subscription_id: Some("s1".into()), ..moment("checkout.completed", 1) };
    let state = judged(&Billing::default(), &first).expect("an effect").billing;
    let told = Some(at(1));
    let bought = Subscription {
        id: Some("s1".into()),
        customer_id: Some("c".into()),
        plan: Some("pro".into()),
        planned_at: told,
        bought_at: told,
        paid_at: told,
        stopped: None,
    };
    let known = |subscription| Billing {
        customer_id: Some("c".into()),
        subscriptions: vec![subscription],
        revoked_at: None,
        version: 0,
    };
    assert_eq!(state, known(bought.clone()));
    let silent = PaymentEvent { customer_id: None, ..plain("subscription.paid") };
    assert_eq!(judged(&state, &silent).expect("an effect").billing, state);
    let ended = judged(&state, &moment("subscription.canceled", 2)).expect("an effect").billing;
    let stopped = Some(Stop { at: Some(at(2)), is_over: true });
    assert_eq!(ended, known(Subscription { stopped, ..bought.clone() }));
    let paused = judged(&state, &plain("subscription.paused")).expect("an effect").billing;
    let stopped = Some(Stop { at: told, is_over: false });
    assert_eq!(paused, known(Subscription { stopped, ..bought }), "it can still be cancelled");
}

#[test]
fn what_changes_no_plan_leaves_the_one_that_the_operator_has_set() {
    let bought = after(&[dated(5, of("checkout.completed", "pro", "s2"))]).billing;
    for kind in GRANTING {
        // Late, of another one, or of one that waits for its purchase.
        for event in [dated(4, of(kind, "pro", "s2")), dated(4, of(kind, "pro", "s1"))] {
            let effect = judged(&bought, &event);
            let set = effect.and_then(|effect| effect.plan.map(|plan| (plan, effect.mail)));
            assert_eq!(set, None, "{event:?}");
        }
    }
    for kind in ["subscription.canceled", "subscription.expired", "subscription.paused"] {
        let effect = judged(&bought, &dated(9, of(kind, "pro", "s1"))).expect("it is known then");
        assert_eq!((effect.plan, effect.mail), (None, None), "{kind}");
    }
    // What says how things stand sets it again, and nothing is set that is so already.
    let renewed = dated(6, of("subscription.paid", "pro", "s2"));
    let plan = |on| judged_on(&bought, on, &renewed).expect("it is paid for").plan;
    assert_eq!((plan("team"), plan("pro")), (Some(sold("pro")), None));
}

#[test]
fn plan_is_that_of_the_product_else_the_one_carried_along() {
    let products = products();
    let offer = Offer { edition: &TEAM, products: &products };
    let bought = after(&[dated(0, of("checkout.completed", "team", "s1"))]).billing;
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
        match (judge(state, "free", &event, &offer), expected) {
            (Ok(Some(effect)), Some(plan)) => assert_eq!(effect.plan, Some(sold(plan)), "{what}"),
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
        assert_eq!(judged.and_then(|effect| effect.plan), expected.map(sold), "{carried}");
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
        assert_eq!(after(&events).plan, plan, "{events:?}");
    }
}

#[test]
fn what_is_late_is_not_even_asked_for_its_product() {
    let state = after(&[moment("subscription.active", 5)]).billing;
    let unknown = Some("prod_new".to_owned());
    let late = PaymentEvent { product_id: unknown, ..moment("subscription.active", 4) };
    assert_eq!(judged(&state, &late), None);
}

#[test]
fn after_a_refund_only_another_purchase_grants() {
    for taken_back in ["refund.created", "dispute.created"] {
        for kind in ["subscription.active", "subscription.paid", "subscription.update"] {
            let left = after(&[plain("checkout.completed"), plain(taken_back), plain(kind)]);
            assert_eq!(left.plan, "free", "{kind} after {taken_back}");
            let mails = [Mail::Purchased(sold("pro")), Mail::Revoked];
            assert_eq!(left.mails, mails, "{kind} after {taken_back}");
            let same = [moment(taken_back, 5), moment(kind, 5)];
            assert_eq!(after(&same).plan, "free", "{kind} of the moment of {taken_back}");
            let newer = [moment(taken_back, 5), moment(kind, 6)];
            assert_eq!(after(&newer).plan, "pro", "{kind} newer than {taken_back}");
            let again = [plain(taken_back), plain("checkout.completed"), plain(kind)];
            assert_eq!(after(&again).plan, "pro", "{kind} after another purchase");
        }
        // Without a moment of its own it counts from when it arrived.
        let (arrived, later) = (at(1_000), at(1_000) + TimeDelta::seconds(1));
        let mut left = after(&[plain(taken_back), moment("checkout.completed", 999)]);
        assert_eq!(left.billing.revoked_at, Some(arrived));
        assert_eq!((left.plan, &left.mails[..]), ("free", &[Mail::Revoked][..]));
        let newer = PaymentEvent { created_at: Some(later), ..plain("subscription.paid") };
        left.tell(&newer).expect("it can be told");
        assert_eq!(left.plan, "pro");
    }
}

#[test]
fn end_of_a_subscription_that_was_replaced_takes_nothing_away() {
    let current = after(&[of("checkout.completed", "pro", "s2")]);
    for kind in ["subscription.canceled", "subscription.expired", "subscription.paused"] {
        let mut left = current.clone();
        left.tell(&of(kind, "pro", "s1")).expect("it can be told");
        assert_eq!((left.plan, &left.mails), ("pro", &current.mails), "{kind}");
        for told in [of(kind, "pro", "s2"), silent(of(kind, "pro", "s2"))] {
            let mut left = current.clone();
            left.tell(&told).expect("it can be told");
            assert_eq!((left.plan, left.mails.len()), ("free", 2), "{told:?}");
        }
    }
    let refunded = judged(&current.billing, &of("refund.created", "pro", "s1"));
    assert_eq!(refunded.expect("an effect").plan, Some(sold("free")));
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
            assert_eq!(after(&events).plan, plan, "{seconds:?} after {ended}");
        }
        let resumed = [&over[..], &[update(None), plain("subscription.paid")]].concat();
        assert_eq!(after(&resumed).plan, "pro", "paid for again after {ended}");
    }
    let changed = [moment("checkout.completed", 1), update(None)];
    assert_eq!(after(&changed).plan, "team");
    assert_eq!(after(&[update(None)]).plan, "team", "the first that is told of an account");
}

#[test]
fn subscription_that_was_replaced_grants_nothing() {
    let events = [of("checkout.completed", "pro", "s1"), of("checkout.completed", "team", "s2")];
    let current = after(&events);
    assert_eq!(current.present(), Some("s2"));
    let told = |state: &Left, event: &PaymentEvent| {
        let mut left = state.clone();
        left.tell(event).expect("it can be told");
        left
    };
    for kind in ["subscription.active", "subscription.paid", "subscription.update"] {
        let left = told(&current, &of(kind, "pro", "s1"));
        assert_eq!((left.plan, left.mails.len()), ("team", 2), "{kind}");
        let unknown = Some("prod_old".to_owned());
        let old = PaymentEvent { product_id: unknown, plan_id: None, ..of(kind, "pro", "s1") };
        assert_eq!(told(&current, &old).plan, "team", "{kind} is not even asked for its product");
        // Its own plan changes, and who has no known subscription takes the one that is told.
        for own in [of(kind, "pro", "s2"), silent(of(kind, "pro", ""))] {
            let left = told(&current, &own);
            assert_eq!((left.plan, left.present()), ("pro", Some("s2")), "{own:?}");
        }
        let first = told(&Left::new(), &of(kind, "pro", "s1"));
        assert_eq!((first.plan, first.present()), ("pro", Some("s1")), "{kind}");
    }
}

#[test]
fn what_is_not_sold_here_waits_for_no_purchase_and_is_refused_where_it_would_count() {
    let of_old = |seconds, kind| {
        let product_id = Some("prod_old".to_owned());
        dated(seconds, PaymentEvent { product_id, plan_id: None, ..of(kind, "", "s9") })
    };
    for kind in ["subscription.active", "subscription.paid", "subscription.update"] {
        let bought = [dated(1, of("checkout.completed", "pro", "s1")), of_old(2, kind)];
        let mut left = after(&bought);
        assert_eq!((left.plan, left.billing.subscriptions.len()), ("pro", 1), "{kind}");
        left.tell(&dated(3, of("subscription.canceled", "pro", "s1"))).expect("it can be told");
        left.tell(&of_old(4, kind)).expect_err("nobody knows what that is");
        assert_eq!((left.plan, left.mails.len()), ("free", 2), "{kind}");
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
        assert_eq!(after(&events).plan, "team", "{events:?}");
    }
}

#[test]
fn purchase_without_a_subscription_leaves_the_next_one_to_be_told() {
    let bought = [of("checkout.completed", "pro", "s1"), plain("checkout.completed")];
    assert_eq!(after(&bought).present(), None);
    for kind in ["subscription.active", "subscription.paid", "subscription.update"] {
        let mut left = after(&[&bought[..], &[of(kind, "team", "s2")]].concat());
        assert_eq!((left.plan, left.present()), ("team", Some("s2")), "{kind}");
        for event in [of("subscription.paid", "pro", "s1"), of("subscription.canceled", "", "s1")] {
            left.tell(&event).expect("it can be told");
            assert_eq!((left.plan, left.present()), ("team", Some("s2")), "{event:?}");
        }
        left.tell(&of("subscription.canceled", "team", "s2")).expect("it can be told");
        assert_eq!((left.plan, left.is_charged()), ("free", false), "{kind}");
    }
    // What is told of the one before is not about the purchase.
    let left = after(&[&bought[..], &[of("subscription.canceled", "pro", "s1")]].concat());
    assert_eq!((left.plan, left.present()), ("pro", None));
}

#[test]
fn purchase_without_a_subscription_comes_before_its_activation_or_after() {
    let first = [
        dated(1, of("checkout.completed", "pro", "s1")),
        dated(2, of("subscription.active", "pro", "s1")),
    ];
    let events = [
        silent(dated(10, of("checkout.completed", "team", "s2"))),
        dated(11, of("subscription.active", "team", "s2")),
        dated(12, of("subscription.canceled", "pro", "s1")),
    ];
    for order in orders(&events) {
        let told = [&first[..], &order].concat();
        let mut left = after(&told);
        assert_eq!((left.plan, left.present()), ("team", Some("s2")), "{told:?}");
        left.tell(&dated(20, of("subscription.expired", "team", "s2"))).expect("it can be told");
        assert_eq!(left.plan, "free", "{told:?}");
    }
}

#[test]
fn purchase_that_is_told_after_its_activation_is_confirmed() {
    let left = after(&[
        dated(2, of("subscription.active", "pro", "s1")),
        dated(1, of("checkout.completed", "pro", "s1")),
        dated(1, of("subscription.active", "pro", "s1")),
    ]);
    let mails = [Mail::Activated(sold("pro")), Mail::Purchased(sold("pro"))];
    assert_eq!((left.plan, &left.mails[..]), ("pro", &mails[..]));
}
