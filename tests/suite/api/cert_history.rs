//! `/cert-history`: changes of the served certificate, and only real ones.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::{World, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_is_recorded_and_announced_once() {
    let world = World::start().await;
    world.hook().await;
    let site = world.site("renew.example", 5).await;
    let id = world.watch("renew.example", &site).await;
    world.open_alerts(1).await;
    let history = format!("/cert-history?site_id={id}");
    let none = world.owner.client.get(&history).await.expect(200);
    assert_eq!(none, json!({"history": [], "total": 0}), "the first certificate is the baseline");

    site.renew(world.lab.certificate("renew.example", 90).expect("signed")).expect("a valid chain");
    let result = world.check_now("renew.example", &site, &id).await;
    world.check_now("renew.example", &site, &id).await;

    let changed = world.owner.client.get(&history).await.expect(200);
    assert_eq!(changed["total"], 1, "{changed}");
    let change = &changed["history"][0];
    assert_eq!(change["change_type"], "renewal");
    assert_eq!(change["fingerprint"], result["chain"][0]["fingerprint"]);
    assert_eq!(change["issuer"], "Lab Root Intermediate");
    assert!(text(&change["changed_at"]).ends_with('Z'));

    let open = world.owner.client.get("/alerts").await.expect(200);
    let types: Vec<_> = open["alerts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|alert| text(&alert["type"]))
        .collect();
    assert!(types.contains(&"cert_change".to_owned()), "a change waits for its owner: {types:?}");
    let expiring = world
        .owner
        .client
        .get("/alerts?type=ssl&severity=critical&resolved=true")
        .await
        .expect(200);
    assert_eq!(expiring["total"], 1, "the expiring alert resolved itself");

    let hooks = world.lab.receiver.wait_for(2).await.expect("both arrive");
    let news = hooks[1].json().expect("JSON");
    let events: Vec<_> = news["alerts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|alert| text(&alert["type"]))
        .collect();
    assert_eq!(events.len(), 2, "{news:#}");
    assert!(
        events.contains(&"ssl.renewed".to_owned())
            && events.contains(&"certificate.changed".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_moves_to_another_port_has_another_baseline() {
    let world = World::start().await;
    let here = world.site("two.example", 60).await;
    let there = world.site("two.example", 90).await;
    let id = world.watch("two.example", &here).await;
    world.latest_ssl(&id, |record| record["result"]["days_remaining"] == 60).await;
    let path = format!("/sites?id={id}");
    let move_to = async |port: u16, alert_days: u16| {
        let patch = json!({"custom_port": port, "alert_days": alert_days});
        world.owner.client.patch(&path, patch).await.expect(200);
    };
    move_to(there.port(), 14).await;
    world.latest_ssl(&id, |record| record["result"]["days_remaining"] == 90).await;

    // Where nobody is, the certificate of before expires no sooner.
    let nobody = vedette_tests::free_port().await.expect("a free port");
    move_to(nobody.port(), 300).await;
    let refused = |record: &Value| record["result"]["error"] == "connection_refused";
    world.latest_ssl(&id, refused).await;
    move_to(here.port(), 14).await;
    world.latest_ssl(&id, |record| record["result"]["days_remaining"] == 60).await;

    let history = world.owner.client.get(&format!("/cert-history?site_id={id}")).await.expect(200);
    assert_eq!(history, json!({"history": [], "total": 0}));
    let raised = world.owner.client.get("/alerts?resolved=all&limit=200").await.expect(200);
    let of_ssl = |alert: &&Value| alert["type"] == "ssl" || alert["type"] == "cert_change";
    let raised: Vec<_> =
        raised["alerts"].as_array().expect("a list").iter().filter(of_ssl).collect();
    assert!(raised.is_empty(), "{raised:?}");
    assert!(world.count("ssl", &id).await >= 4, "the records of every place stay");
}

/// One after the other within a moment, as somebody reports them who has been collecting.
#[tokio::test(flavor = "multi_thread")]
async fn changes_of_one_second_are_listed_newest_first() {
    let world = World::start().await;
    let id = world.quiet("quick.example").await;
    let served = |nth: usize| {
        let days = 30 + nth;
        json!({
            "valid": true, "issuer": "Some CA", "days_remaining": days, "san": ["quick.example"],
            "chain": [{"fingerprint": format!("{nth:064x}"), "issuer": "CN=Some CA"}],
        })
    };
    world.bring("ssl", &id, served(0)).await;
    let mut changes = Vec::new();
    for nth in 1..=8 {
        let record = world.bring("ssl", &id, served(nth)).await;
        changes.insert(0, (json!(format!("{nth:064x}")), record["checked_at"].clone()));
    }
    let history = world.owner.client.get(&format!("/cert-history?site_id={id}")).await.expect(200);
    let listed = history["history"].as_array().expect("a list").iter();
    let listed: Vec<_> = listed
        .map(|change| (change["fingerprint"].clone(), change["changed_at"].clone()))
        .collect();
    assert_eq!(listed, changes);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_ones_own_history_is_shown() {
    let world = World::start().await;
    let created = world
        .owner
        .client
        .post("/sites", json!({"domain": "h.example", "check_types": ["domain"]}))
        .await
        .expect(200);
    let id = text(&created["site"]["id"]);
    let stranger = world.account("pro").await.client;
    let theirs = stranger.get(&format!("/cert-history?site_id={id}")).await;
    let nobodys = stranger.get(&format!("/cert-history?site_id={}", Uuid::new_v4())).await;
    assert_eq!((theirs.status, theirs.text), (404, nobodys.text));
    stranger.get("/cert-history?site_id=x").await.expect(400);
    stranger.get("/cert-history").await.expect(400);
}
