//! Someone else's ids: every tool that takes one answers as for an id that nobody has.

use serde_json::{Value, json};
use uuid::Uuid;

use super::call;
use crate::{
    tenant::Tenant,
    world::{World, text},
};

#[tokio::test(flavor = "multi_thread")]
async fn another_accounts_ids_are_answered_like_ids_that_nobody_has() {
    let world = World::start().await;
    let owner = Tenant::start(&world).await;
    let stranger = Tenant::start(&world).await;
    let incident = owner.client().post("/incidents", json!({"title": "x"})).await.expect(200);
    let window = json!({"starts_at": "2030-01-01T00:00:00Z", "ends_at": "2030-01-02T00:00:00Z"});
    let window = owner.client().post("/maintenance-windows", window).await.expect(200);
    let incident = text(&incident["incident"]["id"]);
    let window = text(&window["window"]["id"]);
    let before = owner.state().await;
    let places: [(&str, &str, &str, Value); 12] = [
        ("get_site_status", "site_id", &owner.site, json!({})),
        ("update_site", "site_id", &owner.site, json!({"alert_days": 3})),
        ("update_site", "site_id", &owner.site, json!({"domain": "taken.example"})),
        ("remove_site", "site_id", &owner.site, json!({})),
        ("get_cert_history", "site_id", &owner.site, json!({})),
        ("get_check_history", "site_id", &owner.site, json!({})),
        ("resolve_alert", "alert_id", &owner.alert, json!({})),
        ("update_incident", "incident_id", &incident, json!({"status": "resolved"})),
        (
            "add_incident_update",
            "incident_id",
            &incident,
            json!({"status": "resolved", "message": "x"}),
        ),
        ("delete_maintenance_window", "window_id", &window, json!({})),
        (
            "create_maintenance_window",
            "site_id",
            &owner.site,
            json!({"starts_at": "2030-01-01T00:00:00Z", "ends_at": "2030-01-02T00:00:00Z"}),
        ),
        ("create_incident", "affected_sites", &owner.site, json!({"title": "x"})),
    ];
    for (tool, name, theirs, others) in places {
        let nobodys = Uuid::new_v4().to_string();
        let [theirs, nobodys] = [theirs, nobodys.as_str()].map(|id| {
            let mut arguments = others.clone();
            arguments[name] = if name == "affected_sites" { json!([id]) } else { json!(id) };
            arguments
        });
        let theirs = call(stranger.client(), tool, theirs).await;
        let nobodys = call(stranger.client(), tool, nobodys).await;
        assert_eq!(theirs["isError"], true, "{tool}: {theirs}");
        assert_eq!(theirs.to_string(), nobodys.to_string(), "{tool}");
    }
    assert_eq!(owner.state().await, before);
    let read = owner.client().get(&format!("/incidents/{incident}")).await.expect(200);
    assert_eq!(read["incident"]["status"], "investigating");
}
