//! What counts for the month, and what counts for the moment alone.

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::time::Instant;
use vedette_tests::{Answer, Client};

use crate::{
    refusal::refused,
    world::{World, most_since},
};

async fn send(client: &Client, method: &str, params: Value) -> Answer {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    client.post("/mcp", body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn only_calls_and_reads_are_calls_of_the_month() {
    let world = World::start().await;
    let client = &world.owner.client;
    let call = json!({"name": "list_sites", "arguments": {}});
    let unknown = json!({"name": "nope"});
    let read = json!({"uri": "vedette://sites"});
    let listen = json!({"notifications": {}});
    for (method, params, used) in [
        ("initialize", json!({}), 0),
        ("ping", json!({}), 0),
        ("tools/list", json!({}), 0),
        ("server/discover", json!({}), 0),
        ("resources/list", json!({}), 0),
        ("nope", json!({}), 0),
        ("tools/call", call, 1),
        ("tools/list", json!({}), 1),
        ("tools/call", unknown, 2),
        ("resources/read", read, 3),
        ("subscriptions/listen", listen, 4),
    ] {
        let answer = send(client, method, params).await;
        assert_eq!(answer.status, 200, "{method}: {}", answer.text);
        assert_eq!(answer.number("x-monthlylimit-used"), used, "{method}");
        assert_eq!(answer.number("x-monthlylimit-limit"), 10_000, "{method}");
    }
    assert_eq!(client.get("/alerts").await.number("x-monthlylimit-used"), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_counts_for_the_moment() {
    let world = World::start().await;
    let free = world.account("free").await;
    let begun = Instant::now();
    let asked = join_all((0..25).map(|_| send(&free.client, "ping", json!({})))).await;
    let admitted: u64 = asked.iter().map(|answer| u64::from(answer.status == 200)).sum();
    assert!((10..=most_since(begun, 10)).contains(&admitted), "{admitted}");
    let over = asked.iter().find(|answer| answer.status == 429).expect("fifteen were refused");
    refused(over, 429, "a ping too many");
    assert_eq!(over.json()["retry_after"], over.number("retry-after"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_was_deleted_asks_nothing_more() {
    let world = World::start().await;
    let client = &world.owner.client;
    let made = client.post("/api-keys", json!({"name": "spare"})).await.expect(200);
    let spare = client.with_key(made["key"].as_str().expect("a key"));
    send(&spare, "ping", json!({})).await.expect(200);
    let keys = client.get("/api-keys").await.expect(200)["keys"].clone();
    let mut keys = keys.as_array().into_iter().flatten();
    let id = keys.find(|key| key["name"] == "spare").expect("listed")["id"].clone();
    let path = format!("/api-keys?id={}", id.as_str().expect("an id"));
    client.delete(&path).await.expect(200);
    send(&spare, "ping", json!({})).await.expect(401);
}
