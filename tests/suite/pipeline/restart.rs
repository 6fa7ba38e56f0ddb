//! Stopping and starting again loses nothing and repeats nothing.

use serde_json::json;
use vedette_tests::Response;

use crate::world::{World, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_keeps_everything_and_repeats_nothing() {
    let mut world =
        World::with(|settings| settings.toml = "[intervals]\nssl = \"2s\"\n".into()).await;
    world.hook().await;
    let site = world.site("kept.example", 5).await;
    let id = world.watch("kept.example", &site).await;
    world.lab.receiver.wait_for(1).await.expect("delivered");
    let before = world.owner.client.get("/sites").await.expect(200);
    let alert = world.open_alerts(1).await.remove(0);

    assert_eq!(world.service.stop().await.expect("stops"), Some(0), "a clean exit");
    world.service = world.service.start_again().await.expect("starts again");
    world.owner.client = world.service.client().with_key(&world.owner.key);

    assert_eq!(world.owner.client.get("/sites").await.expect(200), before);
    assert_eq!(world.open_alerts(1).await.remove(0)["id"], alert["id"]);
    let first = world.latest_ssl(&id, |_| true).await;
    world.latest_ssl(&id, |record| record["id"] != first["id"]).await;
    world.all_delivered().await;
    let received = world.lab.receiver.wait_for(2).await.expect("the test arrives");
    assert_eq!(received.len(), 2, "one alert and the test: nothing was sent twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_that_a_crash_interrupted_is_taken_up_again() {
    let mut world = World::start().await;
    world.lab.receiver.answer_next(Response::Hang);
    world.hook().await;
    let site = world.site("interrupted.example", 5).await;
    world.watch("interrupted.example", &site).await;
    let first = world.lab.receiver.wait_for(1).await.expect("being tried").remove(0);
    world.service.kill().await.expect("killed");
    world.service = world.service.start_again().await.expect("starts again");
    let second = world.lab.receiver.wait_for(2).await.expect("tried again").remove(1);
    assert_eq!(first.header("x-vedette-delivery"), second.header("x-vedette-delivery"));
    assert_eq!(first.body, second.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_stays_revoked_after_a_crash() {
    let mut world = World::start().await;
    let made = world.owner.client.post("/api-keys", json!({"name": "gone"})).await.expect(200);
    let key = text(&made["key"]);
    let keys = world.owner.client.get("/api-keys").await.expect(200)["keys"].clone();
    let gone = keys
        .as_array()
        .and_then(|keys| keys.iter().find(|key| key["name"] == "gone"))
        .expect("listed");
    world.owner.client.delete(&format!("/api-keys?id={}", text(&gone["id"]))).await.expect(200);
    world.service.kill().await.expect("killed");
    let service = world.service.start_again().await.expect("starts again");
    service.client().with_key(&key).get("/sites").await.expect(401);
}
