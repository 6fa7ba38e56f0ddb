//! What raises an alert, and what does not.

use serde_json::json;
use vedette_tests::{Leaf, free_port};

use crate::world::{World, text, until};

#[tokio::test(flavor = "multi_thread")]
async fn an_expiring_certificate_is_alerted_and_delivered_once_with_the_documented_payload() {
    let world = World::start().await;
    world.hook().await;
    let site = world.site("expiring.example", 5).await;
    let id = world.watch("expiring.example", &site).await;
    let alert = world.open_alerts(1).await.remove(0);
    let hook = world.lab.receiver.wait_for(1).await.expect("it arrives").remove(0);

    assert_eq!(hook.header("content-type"), Some("application/json"));
    assert!(hook.header("x-vedette-delivery").is_some_and(|id| uuid::Uuid::parse_str(id).is_ok()));
    let payload = hook.json().expect("JSON");
    assert_eq!(payload["source"], "vedette");
    assert!(text(&payload["timestamp"]).ends_with('Z'));
    let alerts = payload["alerts"].as_array().expect("a list");
    assert_eq!(alerts.len(), 1);
    assert_eq!(alerts[0]["domain"], "expiring.example");
    assert_eq!(alerts[0]["type"], "ssl.expiring");
    assert_eq!(alerts[0]["severity"], "critical");
    assert_eq!(alerts[0]["message"], alert["message"]);
    assert!(alerts[0]["suggestion"].is_string());
    assert_eq!(alerts[0]["alert_id"], alert["id"]);
    assert_eq!(alerts[0]["site_id"], json!(id));
    assert_eq!(alerts[0]["status"], "raised");

    for _ in 0..3 {
        world.check_now("expiring.example", &site, &id).await;
    }
    // A second notification would have been committed with those checks, and be in a log.
    world.all_delivered().await;
    let received = world.lab.receiver.wait_for(2).await.expect("the test arrives");
    assert_eq!(received.len(), 2);
    assert!(
        text(&received[1].json().expect("JSON")["alerts"][0]["message"])
            .to_lowercase()
            .contains("test")
    );
    world.open_alerts(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_threshold_holds_at_once() {
    let world = World::start().await;
    let site = world.site("threshold.example", 20).await;
    let id = world.watch("threshold.example", &site).await;
    world.latest_ssl(&id, |record| record["status"] == "ok").await;
    world.open_alerts(0).await;
    for (days, open) in [(30, 1), (10, 0)] {
        let changed = json!({"alert_days": days});
        world.owner.client.patch(&format!("/sites?id={id}"), changed).await.expect(200);
        world.alerts("ssl", open).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn expired_and_invalid_certificates_raise_their_own_events() {
    let world = World::start().await;
    world.hook().await;
    let expired = world.site("expired.example", -2).await;
    world.watch("expired.example", &expired).await;
    let wrong = world.lab.authority.issue(&Leaf::for_names(&["else.example"])).expect("signed");
    let invalid = world.lab.site("invalid.example", wrong).await.expect("free port");
    world.watch("invalid.example", &invalid).await;
    world.alerts("ssl", 2).await;
    // Whether such a site is up is the uptime check's to say, and another alert.
    let events = until("both to arrive", async || {
        let told = world.told(|event| event.starts_with("ssl."));
        (told.len() == 2).then_some(told)
    })
    .await;
    let mut said: Vec<_> =
        events.iter().map(|event| (text(&event["domain"]), text(&event["type"]))).collect();
    said.sort();
    let both = [("expired.example", "ssl.expired"), ("invalid.example", "ssl.invalid")];
    assert_eq!(said, both.map(|(domain, event)| (domain.to_owned(), event.to_owned())));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mended_certificate_resolves_its_alert() {
    let world = World::start().await;
    let wrong = world.lab.authority.issue(&Leaf::for_names(&["else.example"])).expect("signed");
    let site = world.lab.site("mended.example", wrong).await.expect("free port");
    let id = world.watch("mended.example", &site).await;
    world.alerts("ssl", 1).await;
    site.renew(world.lab.certificate("mended.example", 60).expect("signed"))
        .expect("a valid chain");
    world.check_now("mended.example", &site, &id).await;
    let invalid = world.owner.client.get("/alerts?type=ssl&resolved=true").await.expect(200);
    assert_eq!(invalid["total"], 1, "{invalid}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_site_keeps_its_expiry_alert_and_raises_no_other() {
    let world = World::start().await;
    let site = world.site("away.example", 5).await;
    let id = world.watch("away.example", &site).await;
    world.alerts("ssl", 1).await;
    let nobody = free_port().await.expect("a free port");
    let body = json!({"domain": "away.example", "port": nobody.port(), "site_id": id});
    let result = world.owner.client.post("/check-ssl", body).await.expect(200);
    assert_eq!(result["error"], "connection_refused");
    world.alerts("ssl", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_site_takes_its_alerts_along() {
    let world = World::start().await;
    let site = world.site("deleted.example", 5).await;
    let id = world.watch("deleted.example", &site).await;
    world.open_alerts(1).await;
    world.owner.client.delete(&format!("/sites?id={id}")).await.expect(200);
    world.owner.client.get(&format!("/checks?site_id={id}")).await.expect(404);
    until("the alerts to go", async || {
        let all = world.owner.client.get("/alerts?resolved=all").await.expect(200);
        (all["total"] == 0).then_some(())
    })
    .await;
}
