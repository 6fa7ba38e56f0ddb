//! Who may tell of payments: whoever signs with the secret, and nobody else.

use serde_json::json;

use super::{Shop, purchase, sign};
use crate::refusal::{limit_headers, refused};

#[tokio::test(flavor = "multi_thread")]
async fn only_the_signature_of_the_very_body_counts() {
    let shop = Shop::open().await;
    let account = shop.world.account("free").await;
    let body = purchase(&account, "evt_1").to_string();
    let good = sign(&body);
    let other = sign(&purchase(&account, "evt_2").to_string());
    let prefixed = format!("sha256={good}");
    let long = format!("{good}00");
    for (what, signatures) in [
        ("none", vec![]),
        ("an empty one", vec![""]),
        ("that of another body", vec![other.as_str()]),
        ("no hex", vec!["signature"]),
        ("half of it", vec![&good[..32]]),
        ("more than it", vec![long.as_str()]),
        ("with a prefix", vec![prefixed.as_str()]),
        ("two", vec![good.as_str(), good.as_str()]),
    ] {
        let answer = shop.send(&body, &signatures).await;
        let message = refused(&answer, 401, what);
        assert!(message.contains("payments-signature"), "{what}: {message}");
        assert_eq!(answer.header("www-authenticate"), Some("payments-signature"), "{what}");
    }
    let changed = body.replace("prod_pro", "prod_team");
    refused(&shop.send(&changed, &[&good]).await, 401, "a body that was changed");
    // An account's own credential is none here.
    let answer = account.client.post("/webhooks/payments", purchase(&account, "evt_1")).await;
    refused(&answer, 401, "with a key");
    assert_eq!(shop.plan(&account).await, "free");

    let answer = shop.send(&body, &[&good.to_uppercase()]).await;
    limit_headers(&answer, "an event");
    assert_eq!(answer.number("x-ratelimit-limit"), 60);
    assert_eq!(answer.number("x-monthlylimit-limit"), 0);
    answer.expect(200);
    assert_eq!(shop.plan(&account).await, "pro");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_signed_and_cannot_be_read_is_400() {
    let shop = Shop::open().await;
    let kind = "refund.created";
    for (body, named) in [
        (String::new(), "body"),
        ("{".to_owned(), "JSON"),
        ("[]".to_owned(), "object"),
        (format!(r#"{{"id":"e","id":"f","type":"{kind}"}}"#), "id"),
        (json!({"type": kind}).to_string(), "id"),
        (json!({"id": 7, "type": kind}).to_string(), "id"),
        (json!({"id": "", "type": kind}).to_string(), "id"),
        (json!({"id": "e"}).to_string(), "type"),
        (json!({"id": "e", "type": ["x"]}).to_string(), "type"),
        (json!({"id": "e", "type": kind, "customer": 7}).to_string(), "customer"),
        (json!({"id": "e", "type": kind, "created_at": "soon"}).to_string(), "created_at"),
    ] {
        let message = refused(&shop.send(&body, &[&sign(&body)]).await, 400, &body);
        assert!(message.contains(named), "{body}: {message}");
    }
    let large = json!({"id": "e", "type": kind, "x": "x".repeat(64 << 10)}).to_string();
    refused(&shop.send(&large, &[&sign(&large)]).await, 413, "more than 64 KiB");
    shop.world.service.client().get("/webhooks/payments").await.expect(405);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_count_in_the_window_of_their_address() {
    let shop = Shop::open().await;
    let client = shop.world.service.client().from_address("198.51.100.7");
    let send = async || client.post("/webhooks/payments", json!({"id": "e"})).await;
    let first = send().await;
    assert_eq!((first.status, first.number("x-ratelimit-remaining")), (401, 59));
    let second = send().await;
    assert_eq!(second.number("x-ratelimit-remaining"), 58);
}
