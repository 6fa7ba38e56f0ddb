//! Plugins that trap, in a service that goes on.

use serde_json::{Value, json};

use super::Operated;
use crate::{
    guest::{Guest, Says},
    world::text,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_broke_too_often_is_shown_as_paused() {
    let operated = Operated::start().await;
    let mut broken = Guest::check("", &[]);
    broken.run(|code| {
        code.unreachable();
    });
    operated.install(&operated.file("broken.wasm", &broken)).await;
    operated.change(&["approve", "acme.test"]).await;
    assert_eq!(operated.shown("acme.test").await["paused_for_seconds"], Value::Null);
    let client = &operated.world.owner.client;
    // Whoever asks names the domain: that alone pauses it for nobody.
    for nth in 0..12 {
        let ran =
            client.post("/check-test", json!({ "domain": format!("any{nth}.example") })).await;
        assert_eq!(ran.status, 500);
    }
    assert_eq!(operated.shown("acme.test").await["paused_for_seconds"], Value::Null);
    for nth in 0..5 {
        let site = json!({ "domain": format!("shop{nth}.example"), "check_types": ["test"] });
        let made = client.post("/sites", site).await.expect(200);
        operated.world.latest("test", &text(&made["site"]["id"]), |_| true).await;
    }
    let shown = operated.shown("acme.test").await;
    let paused = shown["paused_for_seconds"].as_u64();
    assert!(paused.is_some_and(|seconds| (1..=30).contains(&seconds)), "{shown}");
    assert_eq!(operated.shown("vedette.check-ssl").await["paused_for_seconds"], Value::Null);
    let figures = operated.world.service.operator().get("/metrics").await.text;
    for (state, count) in [("paused", 1), ("failed", 0), ("disabled", 0)] {
        let line = format!("vedette_plugins{{state=\"{state}\"}} {count}");
        assert!(figures.lines().any(|shown| shown == line), "{line}: {figures}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn check_that_broke_has_its_answer_long_before_its_next_regular_run() {
    let operated = Operated::with("[confirm]\nrecheck = \"1s\"\n").await;
    let mut broken = Guest::check("", &[]);
    broken.run(|code| {
        code.unreachable();
    });
    operated.install(&operated.file("broken.wasm", &broken)).await;
    operated.change(&["approve", "acme.test"]).await;
    // At hand before the check breaks: its waits grow with all that happens in between.
    let mut mended = Guest::check_saying(&Says { version: "1.0.1", ..Says::default() }, "", &[]);
    mended.manifest = mended.manifest.replace("1.0.0", "1.0.1");
    operated.install(&operated.file("mended.wasm", &mended)).await;
    let site = json!({ "domain": "shop.example", "check_types": ["test"] });
    let made = operated.world.owner.client.post("/sites", site).await.expect(200);
    let id = text(&made["site"]["id"]);
    let first = operated.world.latest("test", &id, |_| true).await;
    assert_eq!((&first["status"], &first["error"]), (&json!("unknown"), &json!("plugin_failed")));
    operated.change(&["approve", "acme.test"]).await;
    operated.world.latest("test", &id, |record| record["status"] == "ok").await;
}
