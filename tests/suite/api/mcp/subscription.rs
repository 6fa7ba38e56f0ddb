//! `subscriptions/listen`: what changes is told, to whom it belongs, for as long as the key holds.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use vedette_tests::{Answer, Events};

use super::ask;
use crate::{
    tenant::result,
    world::{World, in_some_round, text},
};

const SITES: &str = "vedette://sites";
const ALERTS: &str = "vedette://alerts";
const ID: &str = "io.modelcontextprotocol/subscriptionId";

fn request(notifications: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"_meta": meta, "notifications": notifications});
    json!({"jsonrpc": "2.0", "id": "one", "method": "subscriptions/listen", "params": params})
}

async fn open(world: &World, key: &str, notifications: &Value) -> Result<Events, Box<Answer>> {
    let url = format!("http://{}/v1/mcp", world.service.api);
    Events::listen(&url, key, &request(notifications)).await
}

/// A stream after its first message, which says that all of it was accepted.
async fn listen(world: &World, key: &str, uris: &[&str]) -> Events {
    let notifications = json!({"resourceSubscriptions": uris});
    let opened = open(world, key, &notifications).await;
    let mut events = opened.unwrap_or_else(|answer| panic!("{} {}", answer.status, answer.text));
    let first = events.next().await.expect("an acknowledgement").data;
    assert_eq!(
        first,
        json!({
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": {"_meta": {ID: "one"}, "notifications": notifications},
        })
    );
    events
}

/// The resource that the next message tells of.
async fn updated(events: &mut Events) -> String {
    let told = events.next().await.expect("it goes on").data;
    assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    assert_eq!((&told["params"]["_meta"], told.get("id")), (&json!({ID: "one"}), None), "{told}");
    text(&told["params"]["uri"])
}

/// The last message is the request's answer, and the stream ends after it.
async fn ends(events: &mut Events) {
    let last = events.next().await.expect("an answer").data;
    let result = json!({"resultType": "complete", "_meta": {ID: "one"}});
    assert_eq!(last, json!({"jsonrpc": "2.0", "id": "one", "result": result}));
    assert_eq!(events.next().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_is_told_when_it_is_raised_resolved_and_reopened() {
    let world = World::start().await;
    let client = &world.owner.client;
    let site = world.quiet("told.example").await;
    let mut events = listen(&world, &world.owner.key, &[ALERTS]).await;
    let header = |name: &str| events.headers().get(name).and_then(|value| value.to_str().ok());
    assert_eq!(header("content-type"), Some("text/event-stream"));
    assert_eq!(header("x-accel-buffering"), Some("no"));
    assert!(header("x-ratelimit-limit").is_some());

    world.bring("ssl", &site, result(5)).await;
    assert_eq!(updated(&mut events).await, ALERTS);
    let alert = client.get("/alerts").await.expect(200)["alerts"][0].clone();
    let path = format!("/alerts?id={}", text(&alert["id"]));
    for resolved in [true, false] {
        client.patch(&path, json!({"is_resolved": resolved})).await.expect(200);
        assert_eq!(updated(&mut events).await, ALERTS, "{resolved}");
    }
    // Its alerts go with a site.
    client.delete(&format!("/sites?id={site}")).await.expect(200);
    assert_eq!(updated(&mut events).await, ALERTS);
}

#[tokio::test(flavor = "multi_thread")]
async fn sites_are_told_when_they_change_or_a_check_turns() {
    let world = World::start().await;
    let client = &world.owner.client;
    let mut events = listen(&world, &world.owner.key, &[SITES]).await;
    let site = world.quiet("turned.example").await;
    assert_eq!(updated(&mut events).await, SITES, "added");
    let path = format!("/sites?id={site}");
    client.patch(&path, json!({"alert_days": 30})).await.expect(200);
    assert_eq!(updated(&mut events).await, SITES, "changed");
    world.bring("ssl", &site, result(5)).await;
    assert_eq!(updated(&mut events).await, SITES, "checked for the first time");

    // Neither the same status again nor a key is news of the sites.
    let mut both = listen(&world, &world.owner.key, &[SITES, ALERTS]).await;
    world.bring("ssl", &site, result(5)).await;
    client.post("/api-keys", json!({"name": "spare"})).await.expect(200);
    let alert = text(&client.get("/alerts").await.expect(200)["alerts"][0]["id"]);
    let resolved = json!({"is_resolved": true});
    client.patch(&format!("/alerts?id={alert}"), resolved).await.expect(200);
    assert_eq!(updated(&mut both).await, ALERTS);
    client.delete(&path).await.expect(200);
    assert_eq!(updated(&mut events).await, SITES, "removed");
    let mut told = [updated(&mut both).await, updated(&mut both).await];
    told.sort();
    assert_eq!(told, [ALERTS, SITES]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_changes_are_told_together() {
    let mut world = World::start().await;
    let site = world.quiet("busy.example").await;
    let mut events = listen(&world, &world.owner.key, &[ALERTS]).await;
    let begun = Instant::now();
    for days in [5, 60, 5, 60, 5, 60] {
        world.bring("ssl", &site, result(days)).await;
    }
    assert_eq!(updated(&mut events).await, ALERTS);
    assert_eq!(world.service.stop().await.expect("stops"), Some(0), "a clean exit");
    let mut told = 1;
    while let Some(event) = events.next().await {
        told += u64::from(event.data.get("method").is_some());
    }
    let took = begun.elapsed();
    assert!(told <= took.as_secs() + 1, "{told} in {took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_is_told_nothing() {
    let mut world = World::start().await;
    let stranger = world.account("pro").await;
    let site = world.quiet("mine.example").await;
    let mut theirs = listen(&world, &stranger.key, &[ALERTS, SITES]).await;
    let mut mine = listen(&world, &world.owner.key, &[ALERTS]).await;
    world.bring("ssl", &site, result(5)).await;
    assert_eq!(updated(&mut mine).await, ALERTS);
    let body = json!({"domain": "theirs.example", "monitoring_enabled": false});
    stranger.client.post("/sites", body).await.expect(200);
    // What had happened before would have been told before, or at once after it.
    assert_eq!(updated(&mut theirs).await, SITES);
    assert_eq!(world.service.stop().await.expect("stops"), Some(0), "a clean exit");
    ends(&mut theirs).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_listened_to_is_refused() {
    let world = World::start().await;
    let key = &world.owner.key;
    for (notifications, words) in [
        (json!({"resourceSubscriptions": ["vedette://nope"]}), "resources/list"),
        (json!({"resourceSubscriptions": [ALERTS, "file:///etc"]}), "resources/list"),
        (json!({"resourceSubscriptions": ALERTS}), "resourceSubscriptions"),
        (json!({"toolsListChanged": "yes"}), "toolsListChanged"),
        (json!(5), "notifications"),
    ] {
        let Err(answer) = open(&world, key, &notifications).await else {
            panic!("{notifications} opened a stream")
        };
        assert_eq!(answer.status, 200, "{}", answer.text);
        let said = answer.json();
        assert_eq!((&said["id"], &said["error"]["code"]), (&json!("one"), &json!(-32602)));
        assert!(text(&said["error"]["message"]).contains(words), "{said}");
    }
    let client = &world.owner.client;
    let wanted = json!({"resourceSubscriptions": [ALERTS]});
    let plain = client.request(Method::POST, "/mcp").header("accept", "application/json");
    let said = client.finish(plain.json(&request(&wanted))).await.expect(200);
    assert_eq!((&said["id"], &said["error"]["code"]), (&json!("one"), &json!(-32600)));
    assert!(text(&said["error"]["message"]).contains("text/event-stream"), "{said}");

    // The older protocol has no such request, and nobody listens without a key.
    let older = ask(client, "subscriptions/listen", json!({"notifications": wanted})).await;
    assert_eq!(older["error"]["code"], -32601);
    let public = client.anonymous().post("/public/mcp", request(&wanted)).await.expect(200);
    assert_eq!(public["error"]["code"], -32601);
    client.anonymous().post("/mcp", request(&wanted)).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_that_never_change_are_left_out_of_what_is_accepted() {
    let world = World::start().await;
    let asked = json!({"toolsListChanged": true, "resourcesListChanged": true,
        "promptsListChanged": true, "resourceSubscriptions": [SITES]});
    let opened = open(&world, &world.owner.key, &asked).await;
    let mut events = opened.unwrap_or_else(|answer| panic!("{}", answer.text));
    let first = events.next().await.expect("an acknowledgement").data;
    assert_eq!(first["params"]["notifications"], json!({"resourceSubscriptions": [SITES]}));

    let client = &world.owner.client;
    let found = ask(client, "server/discover", json!({})).await["result"].clone();
    let resources = json!({"subscribe": true, "listChanged": false});
    assert_eq!(found["capabilities"]["resources"], resources, "{found}");
    let old = ask(client, "initialize", json!({})).await["result"].clone();
    assert_eq!(old["capabilities"]["resources"], json!({}), "{old}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_its_key_and_with_the_service() {
    let mut world = World::start().await;
    let mut stays = listen(&world, &world.owner.key, &[SITES]).await;
    in_some_round("a key that is deleted ends a stream in time", async |_| {
        ends_before_the_heartbeat(&world).await
    })
    .await;
    world.quiet("stays.example").await;
    assert_eq!(updated(&mut stays).await, SITES);
    assert_eq!(world.service.stop().await.expect("stops"), Some(0), "a clean exit");
    ends(&mut stays).await;
}

/// Whether a stream whose key is deleted ended before the service said something on it anyway. A
/// machine can be too busy for that.
async fn ends_before_the_heartbeat(world: &World) -> bool {
    let client = &world.owner.client;
    let made = client.post("/api-keys", json!({"name": "spare"})).await.expect(200);
    let begun = Instant::now();
    let mut revoked = listen(world, &text(&made["key"]), &[ALERTS]).await;
    client.delete(&format!("/api-keys?id={}", text(&made["id"]))).await.expect(200);
    ends(&mut revoked).await;
    begun.elapsed() < Duration::from_secs(14)
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_of_both_kinds_are_few_and_kept_alive() {
    let world = World::start().await;
    let url = format!("http://{}/v1/events", world.service.api);
    let followed = Events::follow(&url, &world.owner.key, None, false).await;
    let _followed = followed.unwrap_or_else(|answer| panic!("{}", answer.text));
    let mut streams = Vec::new();
    for _ in 0..9 {
        streams.push(listen(&world, &world.owner.key, &[ALERTS]).await);
    }
    let Err(answer) = open(&world, &world.owner.key, &json!({})).await else {
        panic!("an eleventh was opened")
    };
    let said = answer.json();
    assert_eq!((answer.status, &said["error"]["code"]), (200, &json!(-32602)), "{said}");
    assert!(text(&said["error"]["message"]).contains("close one"), "{said}");
    streams.pop().expect("nine").comment(1).await;
}
