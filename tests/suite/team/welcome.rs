//! `/auth/welcome`: whether somebody may sign up, and the letter that welcomes them.

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use vedette_tests::{Client, Issuer, Mailbox, Signature::Es256};

use crate::{
    refusal::{limit_headers, refused},
    world::{World, text},
};

const PATH: &str = "/auth/welcome";

/// A world with an identity provider, and what else it is told.
async fn world(toml: &str) -> (World, Issuer) {
    let issuer = Issuer::start().await.expect("loopback has free ports");
    (super::world(&format!("{}{toml}", issuer.toml())).await, issuer)
}

/// A session of somebody, from an address.
fn session(world: &World, issuer: &Issuer, sub: &str, address: &str) -> Client {
    world.owner.client.with_key(&issuer.token(Es256, sub)).from_address(address)
}

/// Makes somebody's account; answers its id.
async fn sign_up(world: &World, issuer: &Issuer, sub: &str, address: &str) -> String {
    text(&session(world, issuer, sub, address).get("/account").await.expect(200)["id"])
}

async fn may_begin(world: &World, address: &str) -> bool {
    let answer = world.service.client().from_address(address).get(PATH).await;
    limit_headers(&answer, PATH);
    assert_eq!(answer.number("x-ratelimit-limit"), 10, "the public window");
    if answer.status == 200 {
        assert_eq!(answer.json(), json!({"allowed": true}));
        return true;
    }
    refused(&answer, 403, PATH);
    let body = answer.json();
    assert_eq!((&body["error"], &body["reason"]), (&json!("forbidden"), &json!(REASON)), "{body}");
    assert_eq!(body.get("allowed"), None, "{body}");
    false
}

const REASON: &str = "too_many_free_accounts";

#[tokio::test(flavor = "multi_thread")]
async fn an_address_may_make_three_free_accounts() {
    let (world, issuer) = world("").await;
    let (crowded, quiet) = ("203.0.113.9", "203.0.113.10");
    assert!(may_begin(&world, crowded).await);
    let mut ids = Vec::new();
    for sub in ["anna", "bert", "carl"] {
        assert!(may_begin(&world, crowded).await, "before {sub}");
        ids.push(sign_up(&world, &issuer, sub, crowded).await);
        assert_eq!(sign_up(&world, &issuer, sub, quiet).await, *ids.last().expect("one"));
    }
    assert!(!may_begin(&world, crowded).await);
    assert!(may_begin(&world, quiet).await, "coming again from elsewhere counts for nobody");
    sign_up(&world, &issuer, "dora", crowded).await;
    assert!(!may_begin(&world, crowded).await, "who signs up all the same is not refused");

    // Four were made: those that are upgraded count no more.
    for (nth, may) in [(1, false), (2, true)] {
        let path = format!("/admin/accounts/{}", ids[nth]);
        world.service.operator().patch(&path, json!({"plan": "pro"})).await.expect(200);
        assert_eq!(may_begin(&world, crowded).await, may, "upgraded: {nth}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_that_were_deleted_count_on() {
    let (world, issuer) = world("").await;
    let address = "203.0.113.9";
    for nth in 0..3 {
        assert!(may_begin(&world, address).await, "{nth} were made and deleted");
        sign_up(&world, &issuer, "anna", address).await;
        session(&world, &issuer, "anna", address).delete("/account").await.expect(200);
    }
    assert!(!may_begin(&world, address).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn neighbours_of_one_64_are_one_address() {
    let (world, issuer) = world("[signup]\nmax_free_per_ip = 1\n").await;
    assert!(may_begin(&world, "2001:db8:1:2::1").await);
    sign_up(&world, &issuer, "anna", "2001:db8:1:2::1").await;
    assert!(!may_begin(&world, "2001:db8:1:2:3:4:5:6").await);
    assert!(may_begin(&world, "2001:db8:1:3::1").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_none_is_allowed_nobody_is() {
    let (world, _issuer) = world("[signup]\nmax_free_per_ip = 0\n").await;
    assert!(!may_begin(&world, "203.0.113.9").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn asking_is_public_and_counts_in_the_public_window() {
    let (world, _issuer) = world("").await;
    let crowd = world.service.client().from_address("203.0.113.11");
    for _ in 0..10 {
        crowd.get(PATH).await.expect(200);
    }
    refused(&crowd.get(PATH).await, 429, "the eleventh");
    // A credential is not looked at.
    world.owner.client.with_key("nonsense").get(PATH).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_new_is_welcomed_once() {
    let mailbox = Mailbox::start().await.expect("loopback has free ports");
    let (world, issuer) = world(&mailbox.toml("")).await;
    let anna = session(&world, &issuer, "anna", "203.0.113.9");
    let calls = (0..5).map(|_| anna.send(Method::POST, PATH, None));
    let answers: Vec<Value> =
        join_all(calls).await.into_iter().map(|answer| answer.expect(200)).collect();
    let sent = answers.iter().filter(|answer| **answer == json!({"sent": true})).count();
    assert_eq!(sent, 1, "{answers:?}");
    assert!(answers.iter().all(|answer| answer["sent"].is_boolean()), "{answers:?}");

    let mail = mailbox.wait_for(1).await.expect("it arrives").remove(0);
    assert_eq!(mail.to, ["anna@example.com"]);
    assert_eq!(mail.header("subject"), ["Welcome to Vedette"]);
    let words = mail.part("text/plain").expect("a text");
    assert!(words.contains("Your account is ready."), "{words}");

    assert_eq!(anna.send(Method::POST, PATH, None).await.expect(200), json!({"sent": false}));
    let bert = session(&world, &issuer, "bert", "203.0.113.9");
    assert_eq!(bert.post(PATH, json!({})).await.expect(200), json!({"sent": true}));
    let mails = mailbox.wait_for(2).await.expect("it arrives");
    assert_eq!(mails.len(), 2, "one each");
    assert_eq!(mails[1].to, ["bert@example.com"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_relay_nobody_is_welcomed() {
    let (world, issuer) = world("").await;
    let anna = session(&world, &issuer, "anna", "203.0.113.9");
    for _ in 0..2 {
        assert_eq!(anna.send(Method::POST, PATH, None).await.expect(200), json!({"sent": false}));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_welcomes_like_a_session_and_nobody_does_not() {
    let mailbox = Mailbox::start().await.expect("loopback has free ports");
    let (world, issuer) = world(&mailbox.toml("")).await;
    let anna = session(&world, &issuer, "anna", "203.0.113.9");
    let key = anna.post("/api-keys", json!({"name": "ci"})).await.expect(200);
    refused(&world.service.client().post(PATH, json!({})).await, 401, "nothing");
    refused(&world.owner.client.send(Method::DELETE, PATH, None).await, 405, "DELETE");
    let by_key = anna.with_key(&text(&key["key"]));
    assert_eq!(by_key.post(PATH, json!({})).await.expect(200), json!({"sent": true}));
    assert_eq!(anna.post(PATH, json!({})).await.expect(200), json!({"sent": false}));
}
