//! `/alerts`: listed, filtered, resolved by hand, reopened.

use serde_json::json;
use uuid::Uuid;

use crate::world::{World, text};

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_is_listed_filtered_resolved_and_reopened() {
    let world = World::start().await;
    let client = &world.owner.client;
    let site = world.site("soon.example", 5).await;
    let id = world.watch("soon.example", &site).await;
    let alert = world.open_alerts(1).await.remove(0);
    let fields: Vec<&String> = alert.as_object().expect("an object").keys().collect();
    for field in
        ["id", "type", "severity", "message", "suggestion", "is_resolved", "site_id", "created_at"]
    {
        assert!(fields.iter().any(|name| *name == field), "{field}: {fields:?}");
    }
    assert_eq!(alert["type"], "ssl");
    assert_eq!(alert["severity"], "critical");
    assert_eq!(alert["is_resolved"], false);
    assert_eq!(alert["site_id"], json!(id));
    assert!(text(&alert["message"]).contains("soon.example"));

    let page = client.get("/alerts?type=ssl&severity=critical&limit=1").await.expect(200);
    assert_eq!(
        (&page["total"], &page["limit"], &page["offset"]),
        (&json!(1), &json!(1), &json!(0))
    );
    assert_eq!(client.get("/alerts?type=dns").await.expect(200)["total"], 0);
    assert_eq!(client.get("/alerts?severity=info").await.expect(200)["total"], 0);
    assert_eq!(client.get("/alerts?resolved=true").await.expect(200)["total"], 0);
    assert_eq!(client.get("/alerts?resolved=all").await.expect(200)["total"], 1);
    assert_eq!(client.get("/alerts?offset=1").await.expect(200)["alerts"], json!([]));

    let path = format!("/alerts?id={}", text(&alert["id"]));
    let resolved =
        client.patch(&path, json!({"is_resolved": true})).await.expect(200)["alert"].clone();
    assert_eq!(resolved["is_resolved"], true);
    world.open_alerts(0).await;
    assert_eq!(client.get("/alerts?resolved=true").await.expect(200)["total"], 1);

    world.check_now("soon.example", &site, &id).await;
    world.open_alerts(0).await;

    let reopened =
        client.patch(&path, json!({"is_resolved": false})).await.expect(200)["alert"].clone();
    assert_eq!(reopened["is_resolved"], false);
    world.open_alerts(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_filters_and_foreign_alerts_are_refused() {
    let world = World::start().await;
    let client = &world.owner.client;
    for query in [
        "type=tls",
        "severity=high",
        "resolved=maybe",
        "limit=0",
        "limit=201",
        "limit=x",
        "offset=-1",
    ] {
        let answer = client.get(&format!("/alerts?{query}")).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
    }
    let site = world.site("mine.example", 3).await;
    world.watch("mine.example", &site).await;
    let alert = world.open_alerts(1).await.remove(0);
    let stranger = world.account("pro").await.client;
    let body = json!({"is_resolved": true});
    let theirs = stranger.patch(&format!("/alerts?id={}", text(&alert["id"])), body.clone()).await;
    let nobodys = stranger.patch(&format!("/alerts?id={}", Uuid::new_v4()), body.clone()).await;
    assert_eq!((theirs.status, theirs.text), (404, nobodys.text));
    assert_eq!(stranger.get("/alerts?resolved=all").await.expect(200)["total"], 0);
    let path = format!("/alerts?id={}", text(&alert["id"]));
    client.patch(&path, json!({"is_resolved": "yes"})).await.expect(400);
    let as_it_was = client.patch(&path, json!({})).await.expect(200);
    assert_eq!(as_it_was["alert"], alert);
    client.patch("/alerts?id=17", body.clone()).await.expect(400);
    client.patch("/alerts", body).await.expect(400);
    world.open_alerts(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_is_not_reopened_beside_the_one_that_followed_it() {
    let world = World::start().await;
    let client = &world.owner.client;
    let site = world.quiet("mine.example").await;
    world.report_days(&site, 3).await;
    let first = world.alerts("domain", 1).await.remove(0);
    world.report_days(&site, 300).await;
    world.alerts("domain", 0).await;
    world.report_days(&site, 3).await;
    let second = world.alerts("domain", 1).await.remove(0);
    assert_ne!(first["id"], second["id"]);

    let path = format!("/alerts?id={}", text(&first["id"]));
    let refused = client.patch(&path, json!({"is_resolved": false})).await.expect(400);
    assert!(text(&refused["message"]).contains("is_resolved"), "{refused}");
    assert_eq!(world.alerts("domain", 1).await.remove(0)["id"], second["id"]);

    let following = format!("/alerts?id={}", text(&second["id"]));
    client.patch(&following, json!({"is_resolved": true})).await.expect(200);
    let reopened = client.patch(&path, json!({"is_resolved": false})).await.expect(200);
    assert_eq!(reopened["alert"]["is_resolved"], false);
}
