//! A tool answers what the REST endpoint of the same service answers.

use serde_json::{Value, json};

use super::done;
use crate::{tenant::Tenant, world::World};

#[tokio::test(flavor = "multi_thread")]
async fn tools_and_endpoints_answer_alike() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let (client, site) = (tenant.client(), &tenant.site);
    let by_site = json!({"site_id": site});
    let pages: [(&str, Value, String, &str); 6] = [
        ("list_alerts", json!({}), "/alerts".to_owned(), "alerts"),
        ("list_alerts", json!({"severity": "info"}), "/alerts?severity=info".to_owned(), "alerts"),
        ("get_cert_history", by_site.clone(), format!("/cert-history?site_id={site}"), "history"),
        (
            "get_check_history",
            json!({"site_id": site, "check_type": "ssl", "from": "2020-01-01"}),
            format!("/checks?site_id={site}&check_type=ssl&from=2020-01-01"),
            "checks",
        ),
        ("list_incidents", json!({}), "/incidents".to_owned(), "incidents"),
        ("list_maintenance_windows", json!({}), "/maintenance-windows".to_owned(), "windows"),
    ];
    client.post("/incidents", json!({"title": "Slow", "severity": "major"})).await.expect(200);
    let window = json!({"starts_at": "2030-01-01T00:00:00Z", "ends_at": "2030-01-02T00:00:00Z"});
    client.post("/maintenance-windows", window).await.expect(200);
    for (tool, arguments, path, name) in pages {
        let rest = client.get(&path).await.expect(200);
        let told = done(client, tool, arguments).await;
        assert_eq!((&told[name], &told["total"]), (&rest[name], &rest["total"]), "{tool}");
    }

    let rest = client.get(&format!("/checks?site_id={site}")).await.expect(200);
    assert_eq!(done(client, "get_site_status", by_site).await["checks"], rest);
    let sites = client.get("/sites").await.expect(200);
    let changed = json!({"site_id": site, "alert_days": 14});
    assert_eq!(done(client, "update_site", changed).await["site"], sites["sites"][0]);

    let arguments = json!({"domain": "nowhere.example"});
    for check in ["ssl", "dns", "domain"] {
        let rest = client.post(&format!("/check-{check}"), arguments.clone()).await.expect(200);
        let told = done(client, &format!("check_{check}"), arguments.clone()).await;
        assert_eq!(told, rest, "{check}");
    }
}
