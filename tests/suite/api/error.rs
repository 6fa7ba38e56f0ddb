//! What is wrong with a request is said in JSON, by every path there is.

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_the_framework_are_json_too() {
    let world = World::start().await;
    let client = &world.owner.client;
    let cases = [
        (client.get("/no-such-path").await, 404),
        (client.get("/../etc/passwd").await, 404),
        (client.send(Method::PUT, "/sites", Some(json!({}))).await, 405),
        (client.send_raw(Method::POST, "/sites", b"{\"domain\": ".to_vec()).await, 400),
        (client.send_raw(Method::POST, "/sites", b"\xff\xfe".to_vec()).await, 400),
        (client.send_raw(Method::POST, "/sites", b"[]".to_vec()).await, 400),
        (client.send_raw(Method::POST, "/sites", b"\"text\"".to_vec()).await, 400),
        (client.send_raw(Method::POST, "/sites", Vec::new()).await, 400),
        (
            client
                .send_raw(Method::POST, "/sites", [b"[".repeat(50_000), b"]".repeat(10)].concat())
                .await,
            400,
        ),
        (
            client
                .send_raw(
                    Method::POST,
                    "/sites",
                    b"{\"domain\":\"a.example\",\"alert_days\":1e400}".to_vec(),
                )
                .await,
            400,
        ),
        (
            client
                .send_raw(Method::POST, "/sites", b"{\"domain\":\"\\ud800.example\"}".to_vec())
                .await,
            400,
        ),
        (client.send_raw(Method::POST, "/sites", vec![b' '; 1 << 20]).await, 413),
        (client.send_raw(Method::POST, "/sites", vec![b' '; (64 << 10) + 1]).await, 413),
    ];
    for (answer, status) in cases {
        assert_eq!(answer.status, status, "{}", answer.text);
        let kind = answer.header("content-type").unwrap_or_default();
        assert!(kind.starts_with("application/json"), "{status}: {kind}");
        let body = answer.json();
        assert!(body["error"].is_string(), "{status}: {body}");
    }
    assert_eq!(client.get("/sites").await.expect(200)["sites"], json!([]), "nothing changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_method_is_told_which_are_allowed() {
    let world = World::start().await;
    let answer = world.owner.client.send(Method::PUT, "/sites", None).await;
    assert_eq!(answer.status, 405);
    let allowed = answer.header("allow").expect("an Allow header").to_owned();
    for method in ["GET", "POST", "PATCH", "DELETE"] {
        assert!(allowed.contains(method), "{allowed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_and_wrong_credentials_are_one_answer() {
    let world = World::start().await;
    let good = &world.owner.key;
    let flipped =
        format!("{}{}", &good[..good.len() - 1], if good.ends_with('A') { 'B' } else { 'A' });
    let client = world.service.client();
    let mut bodies: Vec<Value> = Vec::new();
    for key in ["", "ct_", "sp_something", "Bearer", &flipped, &good.to_uppercase()] {
        for path in ["/sites", "/alerts", "/api-keys", "/settings/notifications"] {
            bodies.push(client.with_key(key).get(path).await.expect(401));
        }
    }
    bodies.push(client.get("/sites").await.expect(401));
    bodies.push(
        client
            .finish(
                client
                    .request(Method::GET, "/sites")
                    .header("authorization", format!("Basic {good}")),
            )
            .await
            .expect(401),
    );
    assert!(bodies.iter().all(|body| body["error"].is_string()));
    world.owner.client.get("/sites").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_are_asked_for_before_anything_else_is_said() {
    let world = World::start().await;
    let anonymous = world.service.client();
    anonymous.post("/sites", json!({"domain": 1})).await.expect(401);
    anonymous.get("/checks?site_id=nope").await.expect(401);
    anonymous.patch("/alerts?id=nope", json!({})).await.expect(401);
}
