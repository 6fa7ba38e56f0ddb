//! What each event does to an account, and whom it is about.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::json;
use vedette_tests::Client;

use super::{Shop, event, purchase, with};
use crate::{
    refusal::refused,
    world::{text, until},
};

#[tokio::test(flavor = "multi_thread")]
async fn every_event_sets_the_plan_and_writes_what_is_documented() {
    let shop = Shop::open().await;
    let account = shop.world.account("free").await;
    let team = json!({"product": {"id": "prod_team"}});
    let mut told = Vec::new();
    for (nth, (kind, members, plan, subject)) in [
        ("checkout.completed", json!({}), "pro", Some(BOUGHT)),
        ("subscription.active", json!({}), "pro", Some(ACTIVE)),
        ("subscription.update", team.clone(), "team", None),
        ("subscription.paused", json!({}), "free", Some(PAUSED)),
        ("subscription.paid", team.clone(), "team", None),
        ("subscription.paid", team, "team", None),
        ("subscription.canceled", json!({}), "free", Some(CANCELLED)),
        ("subscription.active", json!({}), "pro", Some(ACTIVE)),
        ("subscription.expired", json!({}), "free", Some(EXPIRED)),
        ("checkout.completed", json!({}), "pro", Some(BOUGHT)),
        ("refund.created", json!({}), "free", Some(REVOKED)),
        ("checkout.completed", json!({}), "pro", Some(BOUGHT)),
        ("dispute.created", json!({}), "free", Some(REVOKED)),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("evt_{nth}");
        shop.told(&with(event(&account, &id, kind), members)).await;
        assert_eq!(shop.plan(&account).await, plan, "after {kind}, {nth}");
        told.extend(subject.map(str::to_owned));
    }
    told.sort_unstable();
    assert_eq!(shop.subjects(&account, told.len()).await, told);
    let mails = shop.mails(&account);
    let ids: BTreeSet<_> =
        mails.iter().flat_map(|mail| mail.header("x-vedette-delivery")).collect();
    assert_eq!(ids.len(), mails.len(), "each event has a mail of its own");
    let status = account.client.get("/billing/status").await.expect(200);
    assert_eq!(status, json!({"plan": "free", "customerId": format!("cus_{}", account.id)}));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_relay_a_purchase_queues_no_letter() {
    let shop = Shop::without_relay().await;
    let world = &shop.world;
    let team = json!({"product": {"id": "prod_team"}});
    shop.told(&with(purchase(&world.owner, "evt_1"), team)).await;
    // What is queued later goes out.
    world.hook().await;
    let site = world.site("soon.example", 5).await;
    world.watch("soon.example", &site).await;
    world.lab.receiver.wait_for(1).await.expect("the alert arrives");
    let log = world.service.output();
    assert!(!log.contains("on channel letter"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_cancellation_sites_beyond_the_free_plan_stay_and_are_not_checked() {
    let shop = Shop::open().await;
    let owner = &shop.world.owner;
    shop.told(&purchase(owner, "evt_1")).await;
    let mut last = String::new();
    for domain in ["one.example", "two.example", "three.example"] {
        let body = json!({"domain": domain, "check_types": ["dns"]});
        last = text(&owner.client.post("/sites", body).await.expect(200)["site"]["id"]);
    }
    let status = owner.client.get("/billing/status").await.expect(200);
    assert_eq!(status["plan"], "pro");
    shop.told(&event(owner, "evt_2", "subscription.canceled")).await;
    let listed = owner.client.get("/sites").await;
    assert_eq!(listed.number("x-monthlylimit-limit"), 100, "at once");
    let listed = listed.expect(200);
    let watched: Vec<_> = listed["sites"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|site| (text(&site["domain"]), site["monitoring_enabled"] == true))
        .collect();
    let expected = [("one.example", true), ("two.example", true), ("three.example", false)];
    assert_eq!(watched, expected.map(|(domain, watched)| (domain.to_owned(), watched)));
    assert_eq!(listed["plan"], "free");
    let mails = shop.subjects(owner, 2).await;
    assert_eq!(mails, [BOUGHT, CANCELLED]);

    let before = shop.world.count("dns", &last).await;
    shop.told(&event(owner, "evt_3", "subscription.active")).await;
    let listed = owner.client.get("/sites").await.expect(200);
    let sites = listed["sites"].as_array().expect("a list");
    assert!(sites.iter().all(|site| site["monitoring_enabled"] == true), "{listed}");
    // And not only when it is due again: that is in an hour.
    until("another check of the third site", async || {
        (shop.world.count("dns", &last).await > before).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_domain_shows_the_page_while_its_plan_is_paid_for() {
    let shop = Shop::open().await;
    let account = shop.world.account("team").await;
    let domain = "status.shop.example";
    let body = json!({"status_page_enabled": true, "status_page_title": "Shop",
        "status_page_custom_domain": domain});
    account.client.patch("/settings/notifications", body).await.expect(200);
    let root = Client::new(&format!("http://{}", shop.world.service.api), None);
    let look = async || {
        let answer = root.finish(root.request(Method::GET, "/").header("host", domain)).await;
        answer.status
    };
    assert_eq!(look().await, 200);
    shop.told(&event(&account, "evt_1", "subscription.canceled")).await;
    assert_eq!(look().await, 404);
    let team = json!({"product": {"id": "prod_team"}});
    shop.told(&with(purchase(&account, "evt_2"), team)).await;
    assert_eq!(look().await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_about_whom_it_was_carried_along_for_else_about_its_customer() {
    let shop = Shop::open().await;
    let (account, other) = (shop.world.account("free").await, shop.world.account("free").await);
    let nobody = json!({"metadata": {"planId": "pro"}});
    // Neither id is known: an address leads to nobody.
    shop.told(&with(purchase(&account, "evt_1"), nobody.clone())).await;
    let stranger = json!({"metadata": {"userId": "00000000-0000-4000-8000-000000000000"}});
    shop.told(&with(purchase(&account, "evt_2"), stranger.clone())).await;
    let unread = json!({"metadata": {"userId": "me"}, "customer": null});
    shop.told(&with(purchase(&account, "evt_3"), unread)).await;
    assert_eq!(shop.plan(&account).await, "free");

    shop.told(&purchase(&account, "evt_4")).await;
    assert_eq!(shop.plan(&account).await, "pro");
    let ended = event(&account, "evt_5", "subscription.canceled");
    shop.told(&with(ended, json!({"metadata": null}))).await;
    assert_eq!(shop.plan(&account).await, "free");
    let active = event(&account, "evt_6", "subscription.active");
    shop.told(&with(active, stranger)).await;
    assert_eq!(shop.plan(&account).await, "pro");
    // What was sent before anybody knew the customer can be sent again.
    shop.told(&with(purchase(&account, "evt_1"), nobody)).await;
    let mails = shop.subjects(&account, 4).await;
    assert_eq!(mails, [BOUGHT, BOUGHT, CANCELLED, ACTIVE]);

    // The account that is named counts more than the customer's.
    let gift = json!({"customer": {"id": format!("cus_{}", account.id)}});
    shop.told(&with(purchase(&other, "evt_7"), gift)).await;
    assert_eq!(shop.plan(&other).await, "pro");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_product_that_nobody_has_named_is_refused_and_can_be_sent_again() {
    let shop = Shop::open().await;
    let account = shop.world.account("free").await;
    let bought = with(purchase(&account, "evt_1"), json!({"product": {"id": "prod_new"}}));
    for plan in [json!("pro"), json!("free"), json!("gold"), json!(null)] {
        let carried = json!({"metadata": {"planId": plan, "userId": account.id}});
        let answer = shop.tell(&with(bought.clone(), carried)).await;
        let message = refused(&answer, 400, "an unknown product");
        assert!(message.contains("payments.products"), "{message}");
        assert!(message.contains("prod_new"), "{message}");
    }
    assert_eq!(shop.plan(&account).await, "free");
    let sold = json!({"product": {"id": "prod_pro"}});
    shop.told(&with(bought, sold)).await;
    assert_eq!(shop.plan(&account).await, "pro");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_means_nothing_to_us_is_received_and_does_nothing() {
    let shop = Shop::open().await;
    let account = shop.world.account("free").await;
    shop.told(&event(&account, "evt_1", "subscription.trialing")).await;
    shop.told(&json!({"id": "evt_2", "type": "customer.created", "customer": 7})).await;
    assert_eq!(shop.plan(&account).await, "free");
    // The id of an event that did nothing is not used up.
    shop.told(&purchase(&account, "evt_1")).await;
    assert_eq!(shop.plan(&account).await, "pro");
}

#[tokio::test(flavor = "multi_thread")]
async fn members_are_read_from_the_object_where_the_event_lacks_them() {
    let shop = Shop::open().await;
    let account = shop.world.account("free").await;
    let inside = purchase(&account, "ch_1");
    shop.told(&json!({"id": "evt_1", "eventType": "checkout.completed", "object": inside})).await;
    assert_eq!(shop.plan(&account).await, "pro");
    let inside = json!({"id": "sub_1", "customer": format!("cus_{}", account.id)});
    shop.told(&json!({"id": "evt_2", "eventType": "refund.created", "object": inside})).await;
    assert_eq!(shop.plan(&account).await, "free");
}

const BOUGHT: &str = "Thank you for buying the pro plan of Vedette";
const ACTIVE: &str = "Your pro plan of Vedette is active";
const CANCELLED: &str = "Your Vedette subscription was cancelled";
const PAUSED: &str = "Your Vedette subscription is paused";
const EXPIRED: &str = "Your Vedette subscription has expired";
const REVOKED: &str = "Access to your paid Vedette plan has ended";
