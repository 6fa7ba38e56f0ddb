//! Payment events: each is taken once, with all that it changes or not at all.

use std::collections::BTreeMap;

use vedette_model::billing::{
    Billing, Effect, Offer, PaymentEvent, Stop, Subscription, Told, judge,
};
use vedette_model::delivery::{Rendered, letter};
use vedette_model::{AccountId, Delivery, edition};

use super::*;
use crate::billing::FORGET;
use crate::error::Error;
use crate::key;
use crate::tx::Binds;

/// An event about the plan `pro`.
fn event(id: &str, kind: &str, customer: &str) -> PaymentEvent {
    let body = json!({
        "id": id, "type": kind, "customer": {"id": customer}, "subscription": {"id": "sub_1"},
        "metadata": {"planId": "pro"},
    });
    match Told::parse(&body, noon()) {
        Ok(Told::Event(event)) => event,
        other => panic!("{other:?}"),
    }
}

fn purchase(id: &str) -> PaymentEvent {
    event(id, "checkout.completed", "cus_1")
}

/// For an account that is on a plan.
fn judged(billing: &Billing, on: &str, event: &PaymentEvent) -> Option<Effect> {
    let products = BTreeMap::new();
    let offer = Offer { edition: &edition::TEAM, products: &products };
    judge(billing, on, event, &offer).unwrap()
}

/// What an event says of another subscription than the others here.
fn of_second(event: PaymentEvent) -> PaymentEvent {
    PaymentEvent { subscription_id: Some("sub_2".to_owned()), ..event }
}

fn dated(ago: i64, event: PaymentEvent) -> PaymentEvent {
    PaymentEvent { created_at: Some(noon() - seconds(ago)), ..event }
}

fn mail(account: AccountId, event: &PaymentEvent) -> Delivery {
    let words = Rendered::Email {
        subject: "subject".to_owned(),
        text: "text".to_owned(),
        html: None,
        told: Vec::new(),
    };
    letter(event.letter_id(), account, "ops@example.com", words, noon())
}

/// Judges an event from what is stored now, and takes it.
async fn take(store: &Store, account: AccountId, event: &PaymentEvent) -> Result<()> {
    let context = store.billing_context(account, &event.id).await?;
    let effect = judged(&context.billing, context.plan.as_deref().unwrap_or("free"), event);
    let letters = [mail(account, event)];
    let version = context.billing.version;
    store.take_payment_event(account, event, version, effect.as_ref(), &letters).await
}

async fn plan_of(store: &Store, account: AccountId) -> String {
    store.account(account).await.unwrap().expect("it exists").plan
}

/// An account of the team edition, on its lowest plan.
async fn customer(store: &Store) -> AccountId {
    let account = Account { edition: "team".to_owned(), plan: "free".to_owned(), ..account() };
    store.create_account(&account, &api_key(&account, "first")).await.unwrap();
    account.id
}

async fn count(store: &Store, table: &str) -> u64 {
    rows(store).await.into_iter().find(|(name, _)| name == table).map_or(0, |(_, count)| count)
}

#[test]
fn a_purchase_reads_back_with_its_plan_its_customer_and_its_letter() {
    on_both(|store| async move {
        let (account, other) = (customer(&store).await, customer(&store).await);
        assert_eq!(store.billing(account).await.unwrap(), Billing::default());
        assert_eq!(store.account_of_customer("cus_1").await.unwrap(), None);
        let created_at = Some(noon() - seconds(5));
        let bought = PaymentEvent { created_at, ..purchase("evt_1") };
        take(&store, account, &bought).await.unwrap();
        let subscription = Subscription {
            id: Some("sub_1".to_owned()),
            customer_id: Some("cus_1".to_owned()),
            plan: Some("pro".to_owned()),
            planned_at: created_at,
            bought_at: created_at,
            paid_at: created_at,
            stopped: None,
        };
        let expected = Billing {
            customer_id: Some("cus_1".to_owned()),
            subscriptions: vec![subscription],
            revoked_at: None,
            version: 1,
        };
        assert_eq!(store.billing(account).await.unwrap(), expected);
        assert_eq!(store.account_of_customer("cus_1").await.unwrap(), Some(account));
        assert_eq!(plan_of(&store, account).await, "pro");
        assert_eq!(plan_of(&store, other).await, "free");
        let leased = only(store.lease_deliveries("a", noon(), LEASE, 9).await.unwrap());
        assert_eq!((leased.id, leased.account_id), (bought.letter_id(), account));
        let context = store.billing_context(account, "evt_1").await.unwrap();
        assert_eq!((context.billing, context.is_taken), (expected, true));
        let context = store.billing_context(other, "evt_2").await.unwrap();
        assert_eq!((context.billing, context.is_taken), (Billing::default(), false));
    });
}

#[test]
fn an_end_reads_back_until_the_next_purchase() {
    on_both(|store| async move {
        let account = customer(&store).await;
        for (bought, ended) in [("evt_1", "evt_2"), ("evt_3", "evt_4")] {
            take(&store, account, &purchase(bought)).await.unwrap();
            let known = only(store.billing(account).await.unwrap().subscriptions);
            assert_eq!((known.id.as_deref(), known.stopped), (Some("sub_1"), None));
            let end = event(ended, "subscription.expired", "cus_1");
            take(&store, account, &end).await.unwrap();
            let known = only(store.billing(account).await.unwrap().subscriptions);
            let stopped = Some(Stop { at: None, is_over: true });
            assert_eq!((known.id.as_deref(), known.stopped), (Some("sub_1"), stopped));
        }
    });
}

#[test]
fn each_subscription_reads_back_in_its_place() {
    on_both(|store| async move {
        let account = customer(&store).await;
        let end = dated(10, event("evt_1", "subscription.canceled", "cus_1"));
        let silent = PaymentEvent { subscription_id: None, ..purchase("evt_3") };
        let active = event("evt_4", "subscription.active", "cus_1");
        for event in [
            end,
            of_second(dated(20, purchase("evt_2"))),
            dated(5, silent),
            of_second(dated(15, active)),
            dated(30, purchase("evt_5")),
        ] {
            take(&store, account, &event).await.unwrap();
        }
        let at = |ago: i64| Some(noon() - seconds(ago));
        let known = |id: Option<&str>, bought_at, paid_at, stopped| Subscription {
            id: id.map(str::to_owned),
            customer_id: id.map(|_| "cus_1".to_owned()),
            plan: Some("pro".to_owned()),
            planned_at: paid_at,
            bought_at,
            paid_at,
            stopped,
        };
        let stopped = Some(Stop { at: at(10), is_over: true });
        let expected = [
            known(Some("sub_1"), at(30), at(30), stopped),
            known(Some("sub_2"), at(20), at(15), None),
            known(None, at(5), at(5), None),
        ];
        let billing = store.billing(account).await.unwrap();
        assert_eq!(billing.subscriptions, expected);
        assert_eq!(plan_of(&store, account).await, "pro");
    });
}

#[test]
fn what_changes_no_plan_leaves_the_account_as_it_is() {
    on_both(|store| async move {
        let account = customer(&store).await;
        take(&store, account, &purchase("evt_1")).await.unwrap();
        assert!(store.set_plan(account, "team").await.unwrap());
        let stamp = async || store.count_call(account, "2026-11", 100).await.unwrap().stamp;
        let (before, version) = (stamp().await, store.billing(account).await.unwrap().version);
        let other = of_second(event("evt_2", "subscription.canceled", "cus_1"));
        take(&store, account, &other).await.unwrap();
        let billing = store.billing(account).await.unwrap();
        assert_eq!((billing.version, billing.subscriptions.len()), (version + 1, 2));
        assert_eq!((plan_of(&store, account).await, stamp().await), ("team".to_owned(), before));
    });
}

#[test]
fn a_change_of_plan_is_seen_by_the_next_request_on_every_node() {
    on_both(|store| async move {
        let (account, other) = (customer(&store).await, store.without_memory());
        let key = only(store.api_keys(account).await.unwrap());
        let found = other.caller(&key.hash).await.unwrap().unwrap();
        take(&store, account, &purchase("evt_1")).await.unwrap();
        let counted = other.count_call(account, "2026-11", 100).await.unwrap();
        assert_ne!(counted.stamp, found.person.stamp);
    });
}

#[test]
fn an_event_is_taken_once_whatever_it_would_do() {
    on_both(|store| async move {
        let account = customer(&store).await;
        take(&store, account, &purchase("evt_1")).await.unwrap();
        take(&store, account, &event("evt_2", "refund.created", "cus_1")).await.unwrap();
        let before = rows(&store).await;
        for id in ["evt_1", "evt_2"] {
            let again = take(&store, account, &purchase(id)).await;
            assert!(matches!(again, Err(Error::Duplicate)), "{id}: {again:?}");
        }
        assert_eq!(plan_of(&store, account).await, "free");
        assert_eq!(rows(&store).await, before);
    });
}

#[test]
fn an_event_without_an_effect_is_noted_and_nothing_else() {
    on_both(|store| async move {
        let account = customer(&store).await;
        take(&store, account, &purchase("evt_0")).await.unwrap();
        take(&store, account, &event("evt_1", "refund.created", "cus_1")).await.unwrap();
        let billing = store.billing(account).await.unwrap();
        assert_eq!((billing.version, billing.revoked_at), (2, Some(noon())));
        let letters = count(&store, "delivery").await;
        let late = event("evt_2", "subscription.active", "cus_1");
        assert_eq!(judged(&billing, "free", &late), None);
        take(&store, account, &late).await.unwrap();
        assert_eq!(store.billing(account).await.unwrap(), billing);
        assert_eq!(plan_of(&store, account).await, "free");
        assert_eq!(count(&store, "delivery").await, letters, "nobody is told of it");
        assert!(store.billing_context(account, "evt_2").await.unwrap().is_taken);
    });
}

#[test]
fn of_one_event_20_times_at_once_one_is_taken() {
    on_both(|store| async move {
        let account = customer(&store).await;
        let take = {
            let store = store.clone();
            move |_: usize| {
                let store = store.clone();
                async move { take(&store, account, &purchase("evt_1")).await }
            }
        };
        let answers = at_once(20, take).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
        let known =
            |answer: &Result<()>| matches!(answer, Ok(()) | Err(Error::Duplicate | Error::Stale));
        assert!(answers.iter().all(known), "{answers:?}");
        assert_eq!(store.billing(account).await.unwrap().version, 1);
        assert_eq!(count(&store, "payment_event").await, 1);
        assert_eq!(count(&store, "delivery").await, 1);
    });
}

#[test]
fn what_was_judged_from_another_past_changes_nothing() {
    on_both(|store| async move {
        let account = customer(&store).await;
        let past = store.billing(account).await.unwrap();
        take(&store, account, &event("evt_1", "refund.created", "cus_1")).await.unwrap();
        let before = rows(&store).await;
        let active = event("evt_2", "subscription.active", "cus_1");
        let effect = judged(&past, "free", &active);
        assert!(effect.is_some(), "before the refund it would have granted");
        let effect = effect.as_ref();
        let taken = store.take_payment_event(account, &active, past.version, effect, &[]).await;
        assert!(matches!(taken, Err(Error::Stale)), "{taken:?}");
        assert_eq!(rows(&store).await, before);
        assert_eq!(plan_of(&store, account).await, "free");
    });
}

#[test]
fn a_customer_is_of_the_account_that_bought_last_and_an_account_has_one() {
    on_both(|store| async move {
        let (one, other) = (customer(&store).await, customer(&store).await);
        take(&store, one, &purchase("evt_1")).await.unwrap();
        take(&store, other, &purchase("evt_2")).await.unwrap();
        assert_eq!(store.account_of_customer("cus_1").await.unwrap(), Some(other));
        // What goes on for the first one, and its end, are no purchase.
        for (id, kind) in [("evt_5", "subscription.paid"), ("evt_6", "subscription.canceled")] {
            take(&store, one, &event(id, kind, "cus_1")).await.unwrap();
            assert_eq!(store.account_of_customer("cus_1").await.unwrap(), Some(other), "{kind}");
        }
        // The first one buys as somebody else, and takes nothing from the second.
        take(&store, one, &event("evt_3", "checkout.completed", "cus_2")).await.unwrap();
        assert_eq!(store.account_of_customer("cus_1").await.unwrap(), Some(other));
        assert_eq!(store.account_of_customer("cus_2").await.unwrap(), Some(one));
        take(&store, one, &event("evt_4", "checkout.completed", "cus_3")).await.unwrap();
        assert_eq!(store.account_of_customer("cus_2").await.unwrap(), None);
        assert_eq!(store.account_of_customer("cus_3").await.unwrap(), Some(one));
        // A customer of nobody's is whose event names it first.
        let third = customer(&store).await;
        take(&store, third, &event("evt_7", "subscription.active", "cus_4")).await.unwrap();
        assert_eq!(store.account_of_customer("cus_4").await.unwrap(), Some(third));
        // A purchase that names no customer says nothing of the one that is known.
        let silent = PaymentEvent { customer_id: None, ..purchase("evt_8") };
        take(&store, other, &event("evt_9", "checkout.completed", "cus_4")).await.unwrap();
        take(&store, third, &silent).await.unwrap();
        assert_eq!(store.account_of_customer("cus_4").await.unwrap(), Some(other));
    });
}

#[test]
fn a_subscription_is_of_the_account_that_it_was_told_of() {
    on_both(|store| async move {
        let (one, other) = (customer(&store).await, customer(&store).await);
        assert_eq!(store.account_of_subscription("sub_1").await.unwrap(), None);
        take(&store, one, &purchase("evt_1")).await.unwrap();
        take(&store, one, &of_second(purchase("evt_2"))).await.unwrap();
        let silent = PaymentEvent { subscription_id: None, ..purchase("evt_3") };
        take(&store, other, &silent).await.unwrap();
        for (subscription, account) in
            [("sub_1", Some(one)), ("sub_2", Some(one)), ("sub_3", None), ("", None)]
        {
            let found = store.account_of_subscription(subscription).await.unwrap();
            assert_eq!(found, account, "{subscription}");
        }
        let paid = store.billing(one).await.unwrap().version;
        assert!(store.close_account(one, paid).await.unwrap().is_some());
        assert_eq!(store.account_of_subscription("sub_1").await.unwrap(), None);
    });
}

#[test]
fn names_of_every_kind_are_told_apart() {
    on_both(|store| async move {
        let ids = ["7", "7.0", "⟨7⟩", "0199c1de-3f00-7a10-8c21-5f0a4c9d1e00", "x'); THROW 'gone"];
        for id in ids {
            let account = customer(&store).await;
            take(&store, account, &event(id, "checkout.completed", id)).await.unwrap();
            assert_eq!(store.account_of_customer(id).await.unwrap(), Some(account), "{id}");
            let billing = store.billing(account).await.unwrap();
            assert_eq!(billing.customer_id.as_deref(), Some(id));
        }
        assert_eq!(count(&store, "payment_event").await, ids.len() as u64);
    });
}

#[test]
fn who_is_gone_takes_no_event() {
    on_both(|store| async move {
        let nobody = account().id;
        let before = rows(&store).await;
        let taken = take(&store, nobody, &purchase("evt_1")).await;
        assert!(matches!(taken, Err(Error::Gone)), "{taken:?}");
        assert_eq!(rows(&store).await, before);
    });
}

#[test]
fn an_account_is_not_closed_over_a_purchase_that_nobody_cancelled() {
    on_both(|store| async move {
        let account = customer(&store).await;
        take(&store, account, &purchase("evt_1")).await.unwrap();
        let closed = store.close_account(account, 0).await;
        assert!(matches!(closed, Err(Error::Stale)), "{closed:?}");
        assert_eq!(store.account_of_customer("cus_1").await.unwrap(), Some(account));
        let paid = store.billing(account).await.unwrap().version;
        assert!(store.close_account(account, paid).await.unwrap().is_some());
        assert_eq!(store.account_of_customer("cus_1").await.unwrap(), None);
        assert_eq!(store.account(account).await.unwrap(), None);
    });
}

#[test]
fn what_is_forgotten_leaves_the_events_and_what_is_others() {
    on_both(|store| async move {
        let (one, other) = (customer(&store).await, customer(&store).await);
        take(&store, one, &purchase("evt_1")).await.unwrap();
        take(&store, other, &event("evt_2", "checkout.completed", "cus_2")).await.unwrap();
        let forget = async |account| {
            let binds = Binds::new().with("account", key::account(account));
            store.write(FORGET, binds).await.unwrap();
        };
        forget(one).await;
        assert_eq!(store.billing(one).await.unwrap(), Billing::default());
        assert_eq!(store.account_of_customer("cus_1").await.unwrap(), None);
        assert_eq!(store.account_of_customer("cus_2").await.unwrap(), Some(other));
        assert!(store.billing_context(one, "evt_1").await.unwrap().is_taken);

        // A customer that somebody else has taken over stays theirs.
        take(&store, one, &event("evt_3", "checkout.completed", "cus_2")).await.unwrap();
        forget(other).await;
        assert_eq!(store.account_of_customer("cus_2").await.unwrap(), Some(one));
        // Who never paid leaves nothing behind.
        forget(customer(&store).await).await;
        assert_eq!((count(&store, "billing").await, count(&store, "payment_event").await), (1, 3));
    });
}
