//! `/api-keys`: shown once, counted by the plan, revoked at once.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::{World, soon, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_made_used_rolled_and_deleted() {
    let world = World::start().await;
    let client = &world.owner.client;
    let made = client.post("/api-keys", json!({"name": "ci"})).await.expect(200);
    let key = text(&made["key"]);
    assert!(key.starts_with("ct_") && key.len() == 39, "{key}");
    assert_eq!(made["prefix"], json!(&key[..11]));
    assert_eq!(made["name"], "ci");
    client.with_key(&key).get("/sites").await.expect(200);

    let listed = client.get("/api-keys").await;
    assert!(!listed.text.contains(&key), "the secret is shown once");
    let keys = listed.expect(200)["keys"].as_array().cloned().expect("a list");
    assert_eq!(keys.len(), 2, "the key of the account's creation counts too");
    let ci = keys.iter().find(|item| item["name"] == "ci").expect("listed");
    assert_eq!((&ci["prefix"], &ci["key_prefix"]), (&json!(&key[..11]), &json!(&key[..11])));
    assert_eq!(ci["expires_at"], Value::Null);
    let id = text(&ci["id"]);

    let rolled = client.post("/api-keys/roll", json!({"id": id})).await.expect(200);
    let second = text(&rolled["key"]);
    client.with_key(&key).get("/sites").await.expect(401);
    client.with_key(&second).get("/sites").await.expect(200);
    assert_eq!(rolled["name"], "ci");

    assert_eq!(
        client.delete(&format!("/api-keys?id={id}")).await.expect(200),
        json!({"success": true})
    );
    client.with_key(&second).get("/sites").await.expect(401);
    client.delete(&format!("/api-keys?id={id}")).await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_key_is_rejected_until_extended() {
    let world = World::start().await;
    let client = &world.owner.client;
    let later = chrono::Utc::now() + chrono::Duration::hours(1);
    let made =
        client.post("/api-keys", json!({"name": "short", "expiresAt": later})).await.expect(200);
    let short = client.with_key(&text(&made["key"]));
    short.get("/sites").await.expect(200);
    let path = format!("/api-keys?id={}", text(&made["id"]));
    client.patch(&path, json!({"expiresAt": soon()})).await.expect(200);
    crate::world::until("the key to expire", async || {
        (short.get("/sites").await.status == 401).then_some(())
    })
    .await;

    client.patch(&path, json!({"expiresAt": later})).await.expect(200);
    short.get("/sites").await.expect(200);
    client.patch(&path, json!({"expiresAt": null})).await.expect(200);
    short.get("/sites").await.expect(200);
    client.patch(&path, json!({})).await.expect(400);
    client.patch(&path, json!({"expiresAt": "2001-01-01T00:00:00Z"})).await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plan_limits_the_number_of_keys() {
    let world = World::start().await;
    let free = world.account("free").await;
    let refused = free.client.post("/api-keys", json!({"name": "second"})).await.expect(403);
    assert!(text(&refused["message"]).contains("starter"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_bodies_and_foreign_keys_are_refused() {
    let world = World::start().await;
    let client = &world.owner.client;
    for body in [
        json!({}),
        json!({"name": 5}),
        json!({"name": ""}),
        json!({"name": "x", "expiresAt": "tomorrow"}),
        json!({"name": "x", "expiresAt": "2001-01-01T00:00:00Z"}),
    ] {
        client.post("/api-keys", body).await.expect(400);
    }
    let keys = client.get("/api-keys").await.expect(200)["keys"].clone();
    let id = text(&keys[0]["id"]);
    let stranger = world.account("pro").await.client;
    stranger.delete(&format!("/api-keys?id={id}")).await.expect(404);
    stranger.post("/api-keys/roll", json!({"id": id})).await.expect(404);
    stranger.patch(&format!("/api-keys?id={id}"), json!({"expiresAt": null})).await.expect(404);
    client.post("/api-keys/roll", json!({"id": Uuid::new_v4()})).await.expect(404);
    client.post("/api-keys/roll", json!({"id": "17"})).await.expect(400);
    client.delete("/api-keys?id=17").await.expect(400);
    client.get("/sites").await.expect(200);
}
