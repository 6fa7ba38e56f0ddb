//! Results that are brought: each check type takes the same path as its own runs, into history
//! and alerts. And no check waits for a host that it does not connect to.

use std::net::Ipv4Addr;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use vedette_tests::Reply;

use crate::world::{World, in_days, in_some_round, rfc3339, text};

/// Results with nothing but the documented fields: for each type a good one and a bad one, how
/// often the bad one has to be seen, and what it raises.
fn results() -> [(&'static str, Value, Value, u32, &'static str); 4] {
    let dns = |mail: &str| {
        json!({
            "records": [
                {"type": "A", "values": ["192.0.2.1"]},
                {"type": "MX", "values": [format!("10 {mail}")]},
            ],
            "dnssec": {"enabled": false, "valid": null},
            "error": null,
        })
    };
    let domain = |days: i64| {
        json!({
            "registrar": "Lab Registrar", "expires_at": rfc3339(in_days(days)),
            "days_remaining": days, "name_servers": ["ns1.example"], "privacy_protected": true,
            "error": null,
        })
    };
    let ct = |issuers: &[&str]| {
        let certificates: Vec<_> = issuers
            .iter()
            .enumerate()
            .map(|(number, issuer)| certificate(number, issuer))
            .collect();
        json!({
            "certificates": certificates, "total": issuers.len(), "new_count": 0,
            "unexpected_count": 0, "source": "agent", "error": null,
        })
    };
    let uptime = |status: &str, code: u16| {
        json!({
            "status": status, "status_code": code, "response_time_ms": 120.25, "ttfb_ms": 80.5,
            "keyword_match": null, "error": null,
        })
    };
    [
        ("dns", dns("mx1.example"), dns("mx2.example"), 2, "dns.changed"),
        ("domain", domain(300), domain(3), 1, "domain.expiring"),
        ("ct", ct(&["Lab CA"]), ct(&["Lab CA", "Other CA"]), 1, "certificate.changed"),
        ("uptime", uptime("up", 200), uptime("down", 500), 2, "site.down"),
    ]
}

fn certificate(number: usize, issuer: &str) -> Value {
    json!({
        "issuer": issuer, "issuer_org": issuer, "san": ["brought.example"],
        "serial_number": format!("1a0{number}"), "not_before": rfc3339(in_days(-2)),
        "not_after": rfc3339(in_days(80)), "logged_at": null, "fingerprint": null,
        "expected": number == 0,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn brought_results_raise_what_runs_would_raise() {
    let world = World::start().await;
    world.hook().await;
    let id = world.quiet("brought.example").await;
    for (check_type, good, bad, times, event) in results() {
        let record = world.bring(check_type, &id, good.clone()).await;
        assert_eq!(record["check_type"], check_type);
        assert_eq!(
            (&record["source"], &record["status"]),
            (&json!("api"), &json!("ok")),
            "{record:#}"
        );
        assert_eq!(record["result"], good, "kept as it was brought");
        // Some programs write an error where there is none.
        let mut empty = good.clone();
        empty["error"] = json!("");
        let record = world.bring(check_type, &id, empty).await;
        assert_eq!(
            (&record["status"], &record["error"]),
            (&json!("ok"), &Value::Null),
            "{record:#}"
        );
        let alert_type = event_alert(event);
        let before = world.alerts_now(alert_type).await;
        assert_eq!(before, [] as [Value; 0], "{check_type}: a good result raises nothing");
        for _ in 0..times {
            world.bring(check_type, &id, bad.clone()).await;
        }
        let alerts = world.alerts_now(alert_type).await;
        assert_eq!(alerts.len(), 1, "{check_type}: {alerts:?}");
        let told = world.told_of(event, 1).await;
        assert_eq!(told[0]["alert_id"], alerts[0]["id"], "{check_type}");
    }
    let latest = world.owner.client.get(&format!("/checks?site_id={id}")).await.expect(200);
    let types: Vec<_> = latest.as_object().expect("an object").keys().cloned().collect();
    assert_eq!(types, ["ct", "dns", "domain", "uptime"], "only what was checked");
    for (check_type, ..) in results() {
        assert!(world.count(check_type, &id).await >= 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn host_that_does_not_answer_holds_up_no_check_that_asks_others() {
    let world = World::start().await;
    in_some_round("the dns check comes before those that wait for the host", async |round| {
        is_first_beside_a_silent_host(&world, &format!("silent{round}.example")).await
    })
    .await;
}

/// Whether the dns check is done while two others wait for the host.
async fn is_first_beside_a_silent_host(world: &World, domain: &str) -> bool {
    // It accepts connections and never says a word: what connects to it waits for seconds.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = silent.local_addr().expect("it is bound").port();
    world.lab.dns.answer(domain, Reply::address(Ipv4Addr::LOCALHOST.into()));
    let both = ["ssl", "uptime"];
    let body = json!({"domain": domain, "custom_port": port, "check_types": both});
    let created = world.owner.client.post("/sites", body).await.expect(200);
    let id = text(&created["site"]["id"]);
    let _both = (silent.accept().await, silent.accept().await);

    let body = json!({"check_types": ["ssl", "uptime", "dns"]});
    world.owner.client.patch(&format!("/sites?id={id}"), body).await.expect(200);
    world.latest("dns", &id, |_| true).await;
    let latest = world.owner.client.get(&format!("/checks?site_id={id}")).await.expect(200);
    let types: Vec<_> = latest.as_object().expect("an object").keys().collect();
    types == ["dns"]
}

#[tokio::test(flavor = "multi_thread")]
async fn results_that_are_brought_at_once_are_all_kept_and_raise_one_alert() {
    let world = World::start().await;
    world.hook().await;
    let id = world.quiet("brought.example").await;
    let result = json!({"valid": true, "days_remaining": 5, "error": null});
    join_all((0..24).map(|_| world.bring("ssl", &id, result.clone()))).await;
    assert_eq!(world.count("ssl", &id).await, 24);
    assert_eq!(world.alerts_now("ssl").await.len(), 1);
    world.told_of("ssl.expiring", 1).await;
    world.all_delivered().await;
    // A test call is of that event too, and of no site.
    let told = world.told(|event| event == "ssl.expiring");
    assert_eq!(told.iter().filter(|entry| entry["site_id"] == id.as_str()).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn brought_result_is_judged_as_one_of_its_site() {
    let world = World::start().await;
    let id = world.quiet("brought.example").await;
    for address in ["192.0.2.1", "198.51.100.7", "198.51.100.7", "198.51.100.7"] {
        let records = json!([
            {"type": "CNAME", "values": ["edge.cdn.example"]},
            {"type": "A", "values": [address]},
        ]);
        world.bring("dns", &id, json!({"records": records, "dnssec": null, "error": null})).await;
    }
    let alerts = world.alerts_now("dns").await;
    assert_eq!(alerts, [] as [Value; 0], "the addresses are those of another's name");
}

#[tokio::test(flavor = "multi_thread")]
async fn results_of_the_wrong_shape_are_refused() {
    let world = World::start().await;
    let id = world.quiet("shapes.example").await;
    let cases = [
        ("dns", json!({"records": {"A": ["192.0.2.1"]}})),
        ("dns", json!({"records": [{"type": "A", "values": "192.0.2.1"}]})),
        ("dns", json!({"records": [], "error": 7})),
        ("domain", json!({"days_remaining": "soon"})),
        ("domain", json!({"name_servers": "ns1.example"})),
        ("ct", json!({"certificates": {}})),
        ("ct", json!({"certificates": [], "total": "many"})),
        ("uptime", json!({"status": "sideways"})),
        ("uptime", json!({"status": "up", "response_time_ms": "fast"})),
        ("uptime", json!({})),
    ];
    for (check_type, result) in cases {
        let body = json!({"site_id": id, "check_type": check_type, "result": result});
        let answer = world.owner.client.post("/checks", body).await;
        assert_eq!(answer.status, 400, "{check_type} {result}: {}", answer.text);
        assert!(answer.text.contains("result"), "{check_type} {result}: {}", answer.text);
    }
    assert_eq!(
        world.owner.client.get(&format!("/checks?site_id={id}")).await.expect(200),
        json!({})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_monitored_site_is_checked_in_every_way_it_lists_and_for_uptime() {
    let world = World::start().await;
    let site = world.site("all.example", 90).await;
    let body = json!({"domain": "all.example", "custom_port": site.port()});
    let created = world.owner.client.post("/sites", body).await.expect(200);
    let id = text(&created["site"]["id"]);
    for check_type in ["ssl", "dns", "domain", "ct", "uptime"] {
        let record = world.latest(check_type, &id, |_| true).await;
        assert_eq!(
            (&record["source"], &record["check_type"]),
            (&json!("scheduler"), &json!(check_type))
        );
        for field in
            ["id", "site_id", "checked_at", "status", "result", "error", "duration_ms", "location"]
        {
            assert!(record.get(field).is_some(), "{check_type}: no {field}: {record}");
        }
        let page = format!("/checks?site_id={id}&check_type={check_type}");
        let page = world.owner.client.get(&page).await.expect(200);
        assert!(page["total"].as_u64().is_some_and(|total| total >= 1), "{page}");
    }
    let latest = world.owner.client.get(&format!("/checks?site_id={id}")).await.expect(200);
    for check_type in ["ssl", "dns", "uptime"] {
        assert_eq!(latest[check_type]["status"], "ok", "{latest:#}");
    }
    for check_type in ["domain", "ct"] {
        assert_ne!(latest[check_type]["status"], "down", "no source is there: {latest:#}");
    }
    world.open_alerts(0).await;
}

fn event_alert(event: &str) -> &'static str {
    match event {
        "dns.changed" => "dns",
        "domain.expiring" => "domain",
        "certificate.changed" => "ct",
        _ => "uptime",
    }
}
