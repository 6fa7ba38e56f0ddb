//! What the service says to those who listen, through the bridge.

use serde_json::{Value, json};

use super::{Bridge, request};
use crate::{
    tenant::result,
    world::{World, text},
};

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_told_beside_other_answers_until_the_key_is_gone() {
    let world = World::start().await;
    let client = &world.owner.client;
    let made = client.post("/api-keys", json!({"name": "bridge"})).await.expect(200);
    let site = world.quiet("bridged.example").await;
    let mut bridge = Bridge::start(&["--url", &super::url(&world)], Some(&text(&made["key"])));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let wanted = json!({"resourceSubscriptions": ["vedette://alerts"]});
    let listen = json!({"_meta": meta, "notifications": wanted});
    let first = bridge.ask(request(1, "subscriptions/listen", listen)).await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
    assert_eq!(first["params"]["notifications"], wanted);

    world.bring("ssl", &site, result(5)).await;
    let told = bridge.read().await;
    assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    assert_eq!(told["params"]["uri"], "vedette://alerts");
    let read = json!({"_meta": meta, "uri": "vedette://alerts"});
    let read = bridge.ask(request(2, "resources/read", read)).await;
    let alerts: Value =
        serde_json::from_str(&text(&read["result"]["contents"][0]["text"])).expect("JSON");
    assert_eq!(alerts["alerts"][0]["domain"], "bridged.example", "{alerts}");

    client.delete(&format!("/api-keys?id={}", text(&made["id"]))).await.expect(200);
    let last = bridge.read().await;
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(1), &json!("complete")));
    let (rest, _, code) = bridge.end().await;
    assert_eq!((rest.len(), code), (0, Some(0)));
}
