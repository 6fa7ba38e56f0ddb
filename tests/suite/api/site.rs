//! `/sites`.

use serde_json::{Value, json};
use uuid::Uuid;

use super::events::stream;
use crate::world::{World, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_site_is_created_listed_changed_and_deleted() {
    let world = World::start().await;
    let client = &world.owner.client;

    let body = json!({"domain": "Shop.Example.COM.", "check_types": ["ssl"], "alert_days": 30});
    let site = client.post("/sites", body).await.expect(200)["site"].clone();
    assert_eq!(site["domain"], "shop.example.com");
    assert_eq!(site["check_types"], json!(["ssl"]));
    assert_eq!(site["alert_days"], 30);
    assert_eq!(site["custom_port"], Value::Null);
    assert_eq!(site["origin_ip"], Value::Null);
    assert_eq!(site["monitoring_enabled"], true);
    assert!(text(&site["created_at"]).ends_with('Z'));

    let list = client.get("/sites").await.expect(200);
    assert_eq!(list["plan"], "pro");
    assert_eq!(list["userId"], json!(world.owner.id));
    assert_eq!(list["sites"], json!([site]));

    let path = format!("/sites?id={}", text(&site["id"]));
    let patch = json!({"custom_port": 8443, "origin_ip": "10.0.0.1", "alert_days": 7});
    let refused = client.patch(&path, patch).await;
    assert_eq!(refused.status, 400, "nobody opened that range: {}", refused.text);
    let patch = json!({"custom_port": 8443, "origin_ip": "127.0.0.1", "alert_days": 7});
    let changed = client.patch(&path, patch).await.expect(200)["site"].clone();
    assert_eq!(changed["custom_port"], 8443);
    assert_eq!(changed["origin_ip"], "127.0.0.1");
    assert_eq!(changed["alert_days"], 7);
    assert_eq!(changed["check_types"], json!(["ssl"]), "what is absent stays");

    let cleared = json!({"custom_port": null, "origin_ip": null});
    let cleared = client.patch(&path, cleared).await.expect(200)["site"].clone();
    assert_eq!(cleared["custom_port"], Value::Null);
    assert_eq!(cleared["origin_ip"], Value::Null);
    assert_eq!(client.patch(&path, json!({})).await.expect(200)["site"], cleared);

    assert_eq!(client.delete(&path).await.expect(200), json!({"success": true}));
    client.delete(&path).await.expect(404);
    assert_eq!(client.get("/sites").await.expect(200)["sites"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_is_taken_off_leaves_no_condition_open_and_tells_it_anew_once_put_back() {
    let world = World::start().await;
    let client = &world.owner.client;
    world.hook().await;
    let site = world.site("soon.example", 5).await;
    let id = world.watch("soon.example", &site).await;
    let path = format!("/sites?id={id}");
    let first = world.alerts("ssl", 1).await.remove(0);
    let mut events = stream(&world, "?types=alert", None).await;

    // A pause is none of that.
    client.patch(&path, json!({"monitoring_enabled": false})).await.expect(200);
    assert_eq!(world.alerts_now("ssl").await, std::slice::from_ref(&first));
    let off = json!({"monitoring_enabled": true, "check_types": ["dns"]});
    client.patch(&path, off).await.expect(200);
    assert_eq!(world.alerts_now("ssl").await, [] as [Value; 0]);
    let resolved = events.named("alert.resolved").await.data;
    assert_eq!((&resolved["id"], &resolved["is_resolved"]), (&first["id"], &json!(true)));
    let listed = client.get("/alerts?type=ssl&resolved=true").await.expect(200);
    assert_eq!((&listed["total"], &listed["alerts"][0]), (&json!(1), &resolved));
    let none = client.post("/incidents", json!({"auto_create": true})).await.expect(200);
    assert_eq!(none["incident"]["affected_sites"], json!([]));

    client.patch(&path, json!({"check_types": ["ssl"]})).await.expect(200);
    let second = world.alerts("ssl", 1).await.remove(0);
    assert_ne!(second["id"], first["id"]);
    world.all_delivered().await;
    let told = world.told(|event| event == "ssl.expiring");
    for alert in [&first, &second] {
        let told = told.iter().filter(|entry| entry["alert_id"] == alert["id"]);
        let told: Vec<&Value> = told.map(|entry| &entry["status"]).collect();
        assert_eq!(told, ["raised"], "its beginning alone");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn defaults_are_the_documented_ones() {
    let world = World::start().await;
    let body =
        json!({"domain": "example.org", "unknown": {"field": 1}, "id": "mine", "userId": "me"});
    let site = world.owner.client.post("/sites", body).await.expect(200)["site"].clone();
    assert_eq!(site["check_types"], json!(["ssl", "dns", "domain", "ct"]));
    assert_eq!(site["alert_days"], 14);
    assert!(Uuid::parse_str(&text(&site["id"])).is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_fields_are_named_and_change_nothing() {
    let world = World::start().await;
    let client = &world.owner.client;
    let cases = [
        (json!({}), "domain"),
        (json!({"domain": 7}), "domain"),
        (json!({"domain": ""}), "domain"),
        (json!({"domain": "no spaces.example"}), "domain"),
        (json!({"domain": "127.0.0.1"}), "domain"),
        (json!({"domain": "2130706433"}), "domain"),
        (json!({"domain": "[::1]"}), "domain"),
        (json!({"domain": "single"}), "domain"),
        (json!({"domain": "https://example.com"}), "domain"),
        (json!({"domain": "example.com:443"}), "domain"),
        (json!({"domain": "a.com", "custom_port": 0}), "custom_port"),
        (json!({"domain": "a.com", "custom_port": 70000}), "custom_port"),
        (json!({"domain": "a.com", "custom_port": "443"}), "custom_port"),
        (json!({"domain": "a.com", "custom_port": 443.5}), "custom_port"),
        (json!({"domain": "a.com", "alert_days": 0}), "alert_days"),
        (json!({"domain": "a.com", "alert_days": 366}), "alert_days"),
        (json!({"domain": "a.com", "alert_days": -1}), "alert_days"),
        (json!({"domain": "a.com", "check_types": "ssl"}), "check_types"),
        (json!({"domain": "a.com", "check_types": ["tls"]}), "check_types"),
        (json!({"domain": "a.com", "origin_ip": "localhost"}), "origin_ip"),
        (json!({"domain": "a.com", "origin_ip": "0x7f.1"}), "origin_ip"),
        (json!({"domain": "a.com", "origin_ip": "169.254.169.254"}), "origin_ip"),
        (json!({"domain": "a.com", "origin_ip": "10.0.0.1"}), "origin_ip"),
        (json!({"domain": "a.com", "check_config": {"ssl": {"no-such": 1}}}), "check_config"),
    ];
    for (body, field) in cases {
        let answer = client.post("/sites", body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        let answer = answer.json();
        let said = format!("{} {}", answer["error"], answer["message"]);
        assert!(said.contains(field), "{body}: names no {field}: {said}");
    }
    assert_eq!(client.get("/sites").await.expect(200)["sites"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_target_twice_is_refused() {
    let world = World::start().await;
    let client = &world.owner.client;
    client.post("/sites", json!({"domain": "example.com"})).await.expect(200);
    client.post("/sites", json!({"domain": "EXAMPLE.com."})).await.expect(400);
    client.post("/sites", json!({"domain": "example.com", "custom_port": 443})).await.expect(400);
    client.post("/sites", json!({"domain": "example.com", "custom_port": 8443})).await.expect(200);
    let dialled = json!({"domain": "example.com", "origin_ip": "127.0.0.1"});
    let dialled = client.post("/sites", dialled).await.expect(200)["site"]["id"].clone();
    let path = format!("/sites?id={}", dialled.as_str().expect("an id"));
    for (patch, field) in [
        (json!({"origin_ip": null}), "origin_ip"),
        (json!({"origin_ip": null, "custom_port": 8443}), "custom_port"),
    ] {
        let refused = client.patch(&path, patch).await.expect(400);
        let message = refused["message"].as_str().expect("a sentence");
        assert!(message.starts_with(field), "{message}");
    }
    let stranger = world.account("pro").await;
    stranger.client.post("/sites", json!({"domain": "example.com"})).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plan_limits_the_number_of_sites_exactly() {
    let world = World::start().await;
    let free = world.account("free").await;
    let create = |number: u32| {
        let client = free.client.clone();
        async move {
            client.post("/sites", json!({"domain": format!("s{number}.example")})).await.status
        }
    };
    let mut statuses = futures::future::join_all((0..6).map(create)).await;
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 403, 403, 403, 403]);
    let refused = free.client.post("/sites", json!({"domain": "more.example"})).await.expect(403);
    assert!(refused["message"].as_str().is_some_and(|said| said.contains("starter")), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_and_unknown_ids_get_the_same_answer() {
    let world = World::start().await;
    let created =
        world.owner.client.post("/sites", json!({"domain": "example.com"})).await.expect(200);
    let (mine, unknown) = (text(&created["site"]["id"]), Uuid::new_v4().to_string());
    let stranger = world.account("pro").await.client;
    for id in [&mine, &unknown] {
        stranger.patch(&format!("/sites?id={id}"), json!({"alert_days": 3})).await.expect(404);
    }
    let theirs = stranger.delete(&format!("/sites?id={mine}")).await;
    let nobodys = stranger.delete(&format!("/sites?id={unknown}")).await;
    assert_eq!((theirs.status, &theirs.text), (nobodys.status, &nobodys.text));
    assert_eq!(theirs.status, 404);
    stranger.delete("/sites?id=17").await.expect(400);
    stranger.delete("/sites").await.expect(400);
    let kept = world.owner.client.get("/sites").await.expect(200);
    assert_eq!(kept["sites"][0]["alert_days"], 14);
}

#[tokio::test(flavor = "multi_thread")]
async fn provider_secrets_are_taken_and_never_shown() {
    let world = World::start().await;
    let body = json!({
        "domain": "example.com", "dns_provider": "cloudflare",
        "dns_provider_config": {"token": "s3cr3t-provider"}, "deploy_config": {"key": "s3cr3t-deploy"},
    });
    let created = world.owner.client.post("/sites", body).await;
    assert_eq!(created.status, 200, "{}", created.text);
    let listed = world.owner.client.get("/sites").await;
    assert!(!created.text.contains("s3cr3t") && !listed.text.contains("s3cr3t"));
}
