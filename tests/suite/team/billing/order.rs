//! Events that come twice, at once, late, or out of order.

use chrono::{TimeDelta, Utc};
use futures::future::join_all;
use serde_json::{Value, json};

use super::{Shop, event, purchase, with};
use crate::world::rfc3339;

/// When something happened, so many minutes ago.
fn ago(minutes: i64) -> Value {
    json!({"created_at": (Utc::now() - TimeDelta::minutes(minutes)).timestamp_millis()})
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_comes_again_does_nothing_again() {
    let mut shop = Shop::open().await;
    let account = shop.world.account("free").await;
    let bought = purchase(&account, "evt_1");
    let ended = event(&account, "evt_2", "subscription.canceled");
    for event in [&bought, &bought, &ended, &ended, &bought] {
        shop.told(event).await;
    }
    assert_eq!(shop.plan(&account).await, "free");
    // Whatever else it says by then: the id counts.
    shop.told(&with(bought.clone(), json!({"type": "subscription.active"}))).await;
    assert_eq!(shop.plan(&account).await, "free");
    assert_eq!(shop.subjects(&account, 2).await.len(), 2);

    shop.world.service.stop().await.expect("stops");
    shop.world.service = shop.world.service.start_again().await.expect("starts again");
    shop.told(&bought).await;
    assert_eq!(shop.plan(&account).await, "free", "ids are kept for ever");
    assert_eq!(shop.subjects(&account, 2).await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_one_event_many_times_at_once_one_is_taken() {
    let shop = Shop::open().await;
    let account = shop.world.account("free").await;
    let bought = purchase(&account, "evt_1");
    join_all((0..12).map(|_| shop.told(&bought))).await;
    assert_eq!(shop.plan(&account).await, "pro");
    assert_eq!(shop.subjects(&account, 1).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_events_at_once_none_is_lost() {
    let shop = Shop::open().await;
    let account = shop.world.account("free").await;
    let events: Vec<Value> =
        (0..12).map(|nth| event(&account, &format!("evt_{nth}"), "subscription.active")).collect();
    join_all(events.iter().map(|event| shop.told(event))).await;
    assert_eq!(shop.plan(&account).await, "pro");
    assert_eq!(shop.subjects(&account, 12).await.len(), 12);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_event_grants_nothing_that_a_newer_one_revoked() {
    let shop = Shop::open().await;
    for (newer, older) in [
        ("refund.created", "checkout.completed"),
        ("dispute.created", "subscription.paid"),
        ("subscription.canceled", "subscription.active"),
        ("subscription.expired", "subscription.update"),
        ("subscription.paused", "checkout.completed"),
    ] {
        let account = shop.world.account("free").await;
        let id = |name: &str| format!("evt_{}_{name}", account.id);
        shop.told(&with(purchase(&account, &id("first")), ago(30))).await;
        shop.told(&with(event(&account, &id("newer"), newer), ago(10))).await;
        shop.told(&with(event(&account, &id("older"), older), ago(20))).await;
        assert_eq!(shop.plan(&account).await, "free", "{older} after {newer}");
        let mails = shop.subjects(&account, 2).await;
        assert_eq!(mails.len(), 2, "nobody is told of {older}: {mails:?}");
        // It is noted all the same: sent again it is still the same event.
        shop.told(&with(event(&account, &id("older"), older), ago(0))).await;
        assert_eq!(shop.plan(&account).await, "free", "{older} again after {newer}");
        // What is newer than both counts, in whatever form it says so.
        let now = json!({"created_at": rfc3339(Utc::now())});
        shop.told(&with(purchase(&account, &id("last")), now)).await;
        assert_eq!(shop.plan(&account).await, "pro", "another purchase after {newer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_one_second_what_takes_away_counts_whichever_comes_first() {
    let shop = Shop::open().await;
    let second = json!({"created_at": Utc::now().timestamp()});
    let (active, ended) = ("subscription.active", "subscription.canceled");
    for kinds in [[active, ended], [ended, active]] {
        let account = shop.world.account("free").await;
        let id = |name: &str| format!("evt_{}_{name}", account.id);
        shop.told(&with(purchase(&account, &id("first")), ago(30))).await;
        for kind in kinds {
            shop.told(&with(event(&account, &id(kind), kind), second.clone())).await;
        }
        assert_eq!(shop.plan(&account).await, "free", "{kinds:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_event_revokes_nothing_that_a_newer_one_granted() {
    let shop = Shop::open().await;
    let account = shop.world.account("free").await;
    let seconds = json!({"created_at": Utc::now().timestamp()});
    shop.told(&with(purchase(&account, "evt_1"), seconds)).await;
    shop.told(&with(event(&account, "evt_2", "subscription.expired"), ago(10))).await;
    assert_eq!(shop.plan(&account).await, "pro");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_moment_only_a_purchase_grants_after_a_refund() {
    let shop = Shop::open().await;
    for taken_back in ["refund.created", "dispute.created"] {
        let account = shop.world.account("free").await;
        let tell = async |kind: &str| {
            let id = format!("evt_{}_{taken_back}_{kind}", account.id);
            shop.told(&event(&account, &id, kind)).await;
            shop.plan(&account).await
        };
        assert_eq!(tell("subscription.active").await, "pro");
        assert_eq!(tell(taken_back).await, "free");
        for kind in ["subscription.paid", "subscription.update"] {
            assert_eq!(tell(kind).await, "free", "{kind} after {taken_back}");
        }
        assert_eq!(tell("checkout.completed").await, "pro");
        // Newer than the next refund, and able to say so, if by a clock that is ahead.
        shop.told(&event(&account, &format!("evt_{}_again", account.id), taken_back)).await;
        let id = format!("evt_{}_ahead", account.id);
        shop.told(&with(event(&account, &id, "subscription.paid"), ago(-1))).await;
        assert_eq!(shop.plan(&account).await, "pro");
    }
}
