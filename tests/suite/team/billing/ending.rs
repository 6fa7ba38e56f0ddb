//! An account that is deleted is paid for no more.

use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use serde_json::{Value, json};
use tokio::sync::Notify;
use vedette_tests::{Account, Response};

use super::{Shop, event, purchase, with, world};

/// Deletes an account while events about it arrive, and answers what was cancelled.
async fn deleted_while(shop: &Shop, account: &Account, events: &[Value]) -> Vec<String> {
    let before = shop.provider.received().len();
    let word = Arc::new(Notify::new());
    shop.provider.answer_next(Response::Held(Arc::clone(&word)));
    let meanwhile = async {
        shop.provider.wait_for(before + 1).await.expect("it is cancelled first");
        for event in events {
            shop.told(event).await;
        }
        word.notify_one();
    };
    let (answer, ()) = tokio::join!(account.client.delete("/account"), meanwhile);
    answer.expect(200);
    shop.provider.received().split_off(before).into_iter().map(|asked| asked.path).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_an_account_cancels_its_subscription_first() {
    let shop = Shop::open().await;
    let account = shop.world.account("free").await;
    let subscription = json!({"subscription": {"id": "sub_1"}});
    shop.told(&with(purchase(&account, "evt_1"), subscription)).await;
    shop.provider.answer_next(Response::Status(500, Vec::new()));
    account.client.delete("/account").await.expect(500);
    account.client.get("/billing/status").await.expect(200);
    assert_eq!(shop.plan(&account).await, "pro", "it is paid for, so it is there");

    account.client.delete("/account").await.expect(200);
    account.client.get("/billing/status").await.expect(401);
    let asked = shop.provider.received();
    assert_eq!(asked.len(), 2);
    for one in asked {
        assert_eq!(one.path, "/v1/subscriptions/sub_1/cancel");
        let body = one.json().expect("JSON");
        let customer = format!("cus_{}", account.id);
        assert_eq!(body, json!({"customer_id": customer, "subscription_id": "sub_1"}));
    }
    // Its customer leads to nobody, and its events stay what they are: taken.
    shop.told(&event(&account, "evt_2", "subscription.canceled")).await;
    shop.told(&purchase(&account, "evt_1")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_bought_while_the_account_is_deleted_is_cancelled_too() {
    let shop = Shop::open().await;
    let of = |id: &str| json!({"subscription": {"id": id}});
    let account = shop.world.account("free").await;
    shop.told(&with(purchase(&account, "evt_1"), of("sub_1"))).await;
    let again = with(purchase(&account, "evt_2"), of("sub_2"));
    let cancelled = deleted_while(&shop, &account, &[again]).await;
    assert_eq!(cancelled, ["/v1/subscriptions/sub_1/cancel", "/v1/subscriptions/sub_2/cancel"]);

    // That the provider did as it was told is nothing to cancel.
    let account = shop.world.account("free").await;
    shop.told(&with(purchase(&account, "evt_3"), of("sub_3"))).await;
    let ended = with(event(&account, "evt_4", "subscription.canceled"), of("sub_3"));
    let cancelled = deleted_while(&shop, &account, &[ended]).await;
    assert_eq!(cancelled, ["/v1/subscriptions/sub_3/cancel"]);

    // Nor is that it gave back what was paid.
    let account = shop.world.account("free").await;
    shop.told(&purchase(&account, "evt_5")).await;
    let refunded = event(&account, "evt_6", "refund.created");
    let cancelled = deleted_while(&shop, &account, &[refunded]).await;
    assert_eq!(cancelled, ["/v1/subscriptions/cancel"]);

    // What took its place is charged all the same, where it grants no plan.
    let account = shop.world.account("free").await;
    shop.told(&with(purchase(&account, "evt_7"), of("sub_7"))).await;
    let meanwhile = [
        with(event(&account, "evt_8", "refund.created"), of("sub_7")),
        with(event(&account, "evt_9", "subscription.canceled"), of("sub_7")),
        with(event(&account, "evt_10", "subscription.active"), of("sub_8")),
    ];
    let cancelled = deleted_while(&shop, &account, &meanwhile).await;
    assert_eq!(cancelled, ["/v1/subscriptions/sub_7/cancel", "/v1/subscriptions/sub_8/cancel"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_subscription_that_is_not_over_is_cancelled() {
    let shop = Shop::open().await;
    let now = Utc::now();
    let of = |seconds: i64, id: &str| {
        let created_at = (now - TimeDelta::seconds(seconds)).timestamp();
        json!({"created_at": created_at, "subscription": {"id": id}})
    };
    for (end, expected) in [
        (None, vec!["/v1/subscriptions/sub_1/cancel", "/v1/subscriptions/sub_2/cancel"]),
        (Some("subscription.canceled"), vec!["/v1/subscriptions/sub_2/cancel"]),
    ] {
        let account = shop.world.account("free").await;
        let tell = async |kind: &str, seconds: i64, subscription: &str| {
            let id = format!("evt_{}_{kind}_{subscription}", account.id);
            shop.told(&with(event(&account, &id, kind), of(seconds, subscription))).await;
        };
        tell("checkout.completed", 60, "sub_1").await;
        tell("subscription.update", 8, "sub_1").await;
        tell("checkout.completed", 10, "sub_2").await;
        if let Some(kind) = end {
            tell(kind, 8, "sub_1").await;
        }
        assert_eq!(shop.plan(&account).await, "pro", "after {end:?}");
        let before = shop.provider.received().len();
        account.client.delete("/account").await.expect(200);
        let asked = shop.provider.received().split_off(before);
        let paths: Vec<String> = asked.into_iter().map(|asked| asked.path).collect();
        assert_eq!(paths, expected, "after {end:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_late_of_another_than_the_one_that_ended_is_cancelled() {
    let shop = Shop::open().await;
    let now = Utc::now();
    let of = |seconds: i64, id: &str| {
        let created_at = (now - TimeDelta::seconds(seconds)).timestamp();
        json!({"created_at": created_at, "subscription": {"id": id}})
    };
    for is_refunded in [false, true] {
        for (bought_late, asked) in [("sub_2", 1), ("sub_1", 0)] {
            let account = shop.world.account("free").await;
            let id = |name: &str| format!("evt_{}_{name}", account.id);
            let before = shop.provider.received().len();
            shop.told(&with(purchase(&account, &id("first")), of(60, "sub_1"))).await;
            if is_refunded {
                let refunded = event(&account, &id("refunded"), "refund.created");
                shop.told(&with(refunded, of(9, "sub_1"))).await;
            }
            let ended = event(&account, &id("ended"), "subscription.canceled");
            shop.told(&with(ended, of(8, "sub_1"))).await;
            shop.told(&with(purchase(&account, &id("late")), of(10, bought_late))).await;
            let is_paid = asked > 0 && !is_refunded;
            let plan = if is_paid { "pro" } else { "free" };
            assert_eq!(shop.plan(&account).await, plan, "{bought_late}, refunded: {is_refunded}");
            account.client.delete("/account").await.expect(200);
            let told = shop.provider.received().len() - before;
            assert_eq!(told, asked, "{bought_late}, refunded: {is_refunded}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_ended_is_deleted_without_the_provider_and_nothing_else_is() {
    let shop = Shop::open().await;
    shop.provider.answer_always(Response::Status(500, Vec::new()));
    for members in [json!({}), json!({"subscription": {"id": "sub_1"}})] {
        for (kind, expected) in [
            ("subscription.canceled", 200),
            ("subscription.expired", 200),
            ("subscription.paused", 500),
            ("refund.created", 500),
            ("dispute.created", 500),
        ] {
            let account = shop.world.account("free").await;
            let before = shop.provider.received().len();
            shop.told(&with(purchase(&account, &format!("evt_1_{}", account.id)), members.clone()))
                .await;
            let told = event(&account, &format!("evt_2_{}", account.id), kind);
            shop.told(&with(told, members.clone())).await;
            let deleted = account.client.delete("/account").await;
            assert_eq!(deleted.status, expected, "{kind} with {members}: {}", deleted.text);
            let asked = shop.provider.received().len() - before;
            assert_eq!(asked, usize::from(expected == 500), "{kind} with {members}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_may_mean_that_it_goes_on_keeps_the_account() {
    let shop = Shop::open().await;
    let subscription = json!({"subscription": {"id": "sub_1"}});
    for (status, expected) in
        [(404, 200), (410, 200), (400, 500), (401, 500), (409, 500), (422, 500), (503, 500)]
    {
        let account = shop.world.account("free").await;
        let bought = purchase(&account, &format!("evt_{}", account.id));
        shop.told(&with(bought, subscription.clone())).await;
        shop.provider.answer_next(Response::Status(status, Vec::new()));
        let deleted = account.client.delete("/account").await;
        assert_eq!(deleted.status, expected, "after {status}: {}", deleted.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_replaced_keeps_no_account_where_it_cannot_be_cancelled() {
    let shop = Shop::open().await;
    let of = |id: &str| json!({"subscription": {"id": id}});
    for (status, expected, asked) in
        [(400, 200, 2), (409, 200, 2), (422, 200, 2), (401, 500, 1), (429, 500, 1), (503, 500, 1)]
    {
        let account = shop.world.account("free").await;
        for id in ["sub_1", "sub_2"] {
            let bought = purchase(&account, &format!("evt_{}_{id}", account.id));
            shop.told(&with(bought, of(id))).await;
        }
        let before = shop.provider.received().len();
        shop.provider.answer_next(Response::Status(status, Vec::new()));
        let deleted = account.client.delete("/account").await;
        assert_eq!(deleted.status, expected, "after {status}: {}", deleted.text);
        let told = shop.provider.received().split_off(before);
        let paths: Vec<&str> = told.iter().map(|asked| asked.path.as_str()).collect();
        let all = ["/v1/subscriptions/sub_1/cancel", "/v1/subscriptions/sub_2/cancel"];
        assert_eq!(paths, all[..asked], "after {status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_subscription_is_cancelled_for_the_customer_who_pays_for_it() {
    let shop = Shop::open().await;
    let account = shop.world.account("free").await;
    let bought = [("sub_1", "cus_1"), ("sub_2", "cus_2")];
    for (id, customer) in bought {
        let members = json!({"subscription": {"id": id}, "customer": {"id": customer}});
        shop.told(&with(purchase(&account, &format!("evt_{id}")), members)).await;
    }
    account.client.delete("/account").await.expect(200);
    let asked = shop.provider.received();
    let bodies: Vec<Value> = asked.iter().map(|asked| asked.json().expect("JSON")).collect();
    let expected =
        bought.map(|(id, customer)| json!({"customer_id": customer, "subscription_id": id}));
    assert_eq!(bodies, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_customer_pays_for_another_account_stays_that_accounts() {
    let shop = Shop::open().await;
    let (first, second) = (shop.world.account("free").await, shop.world.account("free").await);
    let customer = json!({"id": format!("cus_{}", first.id)});
    let of = |id: &str| json!({"subscription": {"id": id}, "customer": customer});
    shop.told(&with(purchase(&first, "evt_1"), of("sub_1"))).await;
    shop.told(&with(purchase(&second, "evt_2"), of("sub_2"))).await;
    // It does not say for which account it is, and the customer bought for the second last.
    let of_nobody = |id: &str, kind: &str| {
        let event = with(event(&first, id, kind), of("sub_1"));
        with(event, json!({"metadata": null}))
    };
    shop.told(&of_nobody("evt_3", "subscription.paid")).await;
    second.client.delete("/account").await.expect(200);
    let paths = || shop.provider.received().into_iter().map(|asked| asked.path);
    assert_eq!(paths().collect::<Vec<_>>(), ["/v1/subscriptions/sub_2/cancel"]);
    assert_eq!(shop.plan(&first).await, "pro");

    shop.told(&of_nobody("evt_4", "subscription.canceled")).await;
    assert_eq!(shop.plan(&first).await, "free");
    first.client.delete("/account").await.expect(200);
    assert_eq!(paths().count(), 1, "it is over");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_without_a_known_subscription_is_cancelled_as_a_whole() {
    let shop = Shop::open().await;
    let account = shop.world.account("free").await;
    shop.told(&purchase(&account, "evt_1")).await;
    shop.provider.answer_next(Response::Status(404, Vec::new()));
    account.client.delete("/account").await.expect(200);
    let asked = shop.provider.received().remove(0);
    assert_eq!(asked.path, "/v1/subscriptions/cancel");
    let body = asked.json().expect("JSON");
    assert_eq!(body["customer_id"], format!("cus_{}", account.id));
    assert!(body["subscription_id"].is_null(), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_customer_who_pays_for_another_account_by_now_is_left_alone() {
    let shop = Shop::open().await;
    let (first, second) = (shop.world.account("free").await, shop.world.account("free").await);
    shop.told(&purchase(&first, "evt_1")).await;
    shop.told(&event(&first, "evt_2", "subscription.paused")).await;
    let same = json!({"customer": {"id": format!("cus_{}", first.id)}});
    shop.told(&with(purchase(&second, "evt_3"), same)).await;

    first.client.delete("/account").await.expect(200);
    assert_eq!(shop.provider.received().len(), 0, "it would end what the second pays for");
    assert_eq!(shop.plan(&second).await, "pro");
    second.client.delete("/account").await.expect(200);
    assert_eq!(shop.provider.received().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_never_paid_is_deleted_without_a_provider() {
    let world = world("").await;
    world.owner.client.delete("/account").await.expect(200);
}
