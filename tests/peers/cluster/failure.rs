//! What is due is done by one node; what a node that dies had begun is finished by the other; and
//! when the database goes away the nodes stay.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::sync::Notify;
use vedette_tests::{Client, Received, Response, Script};

use super::{Cluster, PATIENCE, PROGRAMS, until};
use crate::program::{installed, turn};

const SITES: usize = 6;
/// A check is leased for 90 s and a delivery for 60 s; then somebody has to look.
const END_OF_LEASES: Duration = Duration::from_secs(300);

#[tokio::test(flavor = "multi_thread")]
async fn each_check_is_run_by_one_node_and_each_alert_is_told_once() {
    if !installed(PROGRAMS) {
        return;
    }
    let _turn = turn().await;
    let cluster = Cluster::start("[intervals]\nssl = \"3s\"\nuptime = \"3s\"\n")
        .await
        .expect("the database and two nodes start");
    cluster.hook().await;
    let pages = cluster.lab.pages("watched.example").await.expect("a free port");
    pages.at("/", Script::html("open"));
    let body = json!({
        "domain": "watched.example", "custom_port": pages.port(), "check_types": ["dns"],
    });
    let watched = cluster.site(body).await;
    let mut expiring = Vec::new();
    let mut servers = Vec::new();
    for number in 0..SITES {
        let domain = format!("s{number}.example");
        let certificate = cluster.lab.certificate(&domain, 5).expect("the authority signs");
        let server = cluster.lab.site(&domain, certificate).await.expect("a free port");
        let body = json!({
            "domain": domain, "custom_port": server.port(), "check_types": ["ssl"],
        });
        expiring.push(cluster.site(body).await);
        servers.push(server);
    }

    // Some rounds, in which each node has had its share.
    until("both nodes to run checks", PATIENCE, async || {
        let first = cluster.metric(0, "vedette_run_seconds_count").await;
        let second = cluster.metric(1, "vedette_run_seconds_count").await;
        (first > 0.0 && second > 0.0).then_some(())
    })
    .await;
    for site in &expiring {
        until("five records of a certificate", PATIENCE, async || {
            (cluster.records(1, site, "ssl").await >= 5).then_some(())
        })
        .await;
    }
    until("five records of a page", PATIENCE, async || {
        (cluster.records(1, &watched, "uptime").await >= 5).then_some(())
    })
    .await;

    // The run that goes on while we count has asked and not stored yet.
    let asked = pages.asked("/").len() as u64;
    let stored = cluster.records(1, &watched, "uptime").await;
    assert!(asked <= stored + 1, "{asked} requests for {stored} records");

    let mut alerts = cluster.alerts().await;
    alerts.retain(|alert| alert["type"] == "ssl");
    let sites: BTreeSet<&str> =
        alerts.iter().filter_map(|alert| alert["site_id"].as_str()).collect();
    assert_eq!((alerts.len(), sites.len()), (SITES, SITES), "{alerts:?}");
    let told = until("every alert to be told", PATIENCE, async || {
        let told = told(&cluster.lab.receiver.received());
        (told.len() >= SITES).then_some(told)
    })
    .await;
    let raised: BTreeSet<String> = alerts.iter().map(|alert| text(&alert["id"])).collect();
    let once: BTreeSet<String> = told.iter().cloned().collect();
    assert_eq!((told.len(), once), (SITES, raised), "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_node_had_begun_is_finished_by_the_other() {
    if !installed(PROGRAMS) {
        return;
    }
    let _turn = turn().await;
    let mut cluster = quiet().await;
    // With the second node at a standstill, the first one takes up whatever there is.
    cluster.signal(1, "STOP").await.expect("the second node stops");
    let pages = cluster.lab.pages("watched.example").await.expect("a free port");
    pages.at("/", Script::silence());
    let body = json!({
        "domain": "watched.example", "custom_port": pages.port(), "check_types": ["dns"],
        "check_config": {"uptime": {"timeout_ms": 25_000, "degraded_ms": 0}},
    });
    let watched = cluster.site(body).await;
    let body = json!({"domain": "reported.example", "monitoring_enabled": false});
    let reported = cluster.site(body).await;
    until("the check to begin", PATIENCE, async || (!pages.asked("/").is_empty()).then_some(()))
        .await;
    cluster.lab.receiver.answer_next(Response::Hang);
    let body = json!({"site_id": reported, "check_type": "domain", "result": ending_in(3)});
    cluster.at(0).post("/checks", body).await.expect(200);
    cluster.lab.receiver.wait_for(1).await.expect("the delivery begins");
    cluster.nodes[0].kill().await.expect("killed");
    pages.at("/", Script::html("open"));
    cluster.signal(1, "CONT").await.expect("the second node goes on");

    let received = until("the delivery to arrive again", END_OF_LEASES, async || {
        let received = cluster.lab.receiver.received();
        (received.len() >= 2).then_some(received)
    })
    .await;
    let id = |received: &Received| received.header("x-vedette-delivery").map(str::to_owned);
    assert!(id(&received[0]).is_some());
    for again in &received[1..] {
        assert_eq!((id(again), &again.body), (id(&received[0]), &received[0].body));
    }
    let record = until("the check to be run again", END_OF_LEASES, async || {
        let latest = cluster.at(1).get(&format!("/checks?site_id={watched}")).await.expect(200);
        latest["uptime"].is_object().then(|| latest["uptime"].clone())
    })
    .await;
    assert_eq!((&record["status"], &record["source"]), (&json!("ok"), &json!("scheduler")));
    assert_eq!(cluster.records(1, &watched, "uptime").await, 1);
    assert_eq!(cluster.alerts().await.len(), 1, "of the registration alone");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_node_still_tells_of_a_site_the_other_does_not_overtake() {
    if !installed(PROGRAMS) {
        return;
    }
    let _turn = turn().await;
    let cluster = quiet().await;
    let body = json!({"domain": "reported.example", "monitoring_enabled": false});
    let site = cluster.site(body).await;
    let report = |days| json!({"site_id": site, "check_type": "domain", "result": ending_in(days)});
    // With the second node at a standstill, the first one tells, and nobody answers it.
    cluster.signal(1, "STOP").await.expect("the second node stops");
    cluster.lab.receiver.answer_next(Response::Hang);
    cluster.lab.receiver.answer_next(Response::Status(503, Vec::new()));
    cluster.at(0).post("/checks", report(3)).await.expect(200);
    cluster.lab.receiver.wait_for(1).await.expect("the delivery begins");
    cluster.signal(1, "CONT").await.expect("the second node goes on");
    cluster.at(1).post("/checks", report(300)).await.expect(200);

    let received = until("the end to be told", PATIENCE, async || {
        let received = cluster.lab.receiver.received();
        (received.len() >= 4).then_some(received)
    })
    .await;
    let payloads = received.iter().map(|hook| hook.json().expect("the payload is JSON"));
    let entries = payloads.flat_map(|told| told["alerts"].as_array().cloned().unwrap_or_default());
    let status: Vec<String> = entries.map(|entry| text(&entry["status"])).collect();
    assert_eq!(status, ["raised", "raised", "raised", "resolved"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_delivered_while_the_database_was_away_is_not_sent_again() {
    if !installed(PROGRAMS) {
        return;
    }
    let _turn = turn().await;
    let mut cluster = quiet().await;
    let body = json!({"domain": "reported.example", "monitoring_enabled": false});
    let site = cluster.site(body).await;
    let taken = Arc::new(Notify::new());
    cluster.lab.receiver.answer_next(Response::Held(Arc::clone(&taken)));
    let body = json!({"site_id": site, "check_type": "domain", "result": ending_in(3)});
    cluster.at(0).post("/checks", body).await.expect(200);
    cluster.lab.receiver.wait_for(1).await.expect("the delivery begins");
    cluster.database.kill().await.expect("killed");
    taken.notify_one();
    // As a restart takes on a busy machine, and well within a lease.
    tokio::time::sleep(Duration::from_secs(15)).await;

    cluster.database.start_again().await.expect("it starts on what it had written");
    let log = until("the delivery to end", END_OF_LEASES, async || {
        let page = cluster.at(1).get("/alerts").await;
        let alert = page.json()["alerts"][0]["id"].as_str()?.to_owned();
        let log = cluster.at(1).get(&format!("/alerts/{alert}/deliveries")).await.json();
        let delivery = log["deliveries"][0].clone();
        (delivery["state"] == "delivered").then_some(delivery)
    })
    .await;
    assert_eq!(log["attempts"], json!(1), "{log}");
    assert_eq!(cluster.lab.receiver.received().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_outlive_the_database_and_come_back_by_themselves() {
    if !installed(PROGRAMS) {
        return;
    }
    let _turn = turn().await;
    let mut cluster = Cluster::start("[intervals]\nuptime = \"2s\"\ndns = \"24h\"\n")
        .await
        .expect("the database and two nodes start");
    cluster.hook().await;
    let pages = cluster.lab.pages("watched.example").await.expect("a free port");
    pages.at("/", Script::html("open"));
    let body = json!({
        "domain": "watched.example", "custom_port": pages.port(), "check_types": ["dns"],
    });
    let watched = cluster.site(body).await;
    until("a record", PATIENCE, async || {
        (cluster.records(1, &watched, "uptime").await >= 1).then_some(())
    })
    .await;

    let page = json!({"status_page_enabled": true, "status_page_title": "Shop"});
    cluster.at(0).patch("/settings/notifications", page).await.expect(200);
    let visitors = [0, 1].map(|node| {
        let origin = cluster.at(node).base().trim_end_matches("/v1").to_owned();
        Client::new(&origin, None)
    });

    // Twice: what was set up anew must be good for another time.
    for round in 0..2 {
        let before = cluster.records(1, &watched, "uptime").await;
        let shown = visitors[0].get("/status/shop").await;
        assert_eq!(shown.status, 200, "{}", shown.text);
        cluster.database.kill().await.expect("killed");
        for node in [0, 1] {
            let refused = cluster.at(node).get("/sites").await;
            assert!((500..600).contains(&refused.status), "{} {}", refused.status, refused.text);
            assert!(refused.json()["error"].is_string(), "{}", refused.text);
            let ready = cluster.nodes[node].operator().get("/readyz").await;
            assert_eq!(ready.status, 503, "{}", ready.text);
            assert_eq!(ready.json()["status"], "not ready", "{}", ready.text);
        }
        // What was refused is not done later.
        let body = json!({"domain": format!("lost{round}.example"), "monitoring_enabled": false});
        let refused = cluster.at(0).post("/sites", body).await;
        assert!(refused.status >= 500, "{} {}", refused.status, refused.text);
        // Checks that fall due meanwhile, some times over, and longer than a page is fresh.
        tokio::time::sleep(Duration::from_secs(12)).await;
        let as_before = visitors[0].get("/status/shop").await;
        assert_eq!((as_before.status, as_before.text), (200, shown.text), "as it was last");
        let never_shown = visitors[1].get("/status/other").await;
        assert_eq!(never_shown.status, 500, "{}", never_shown.text);
        assert!(never_shown.text.contains("cannot be shown just now"), "{}", never_shown.text);
        assert_eq!(never_shown.header("access-control-allow-origin"), Some("*"));

        cluster.database.start_again().await.expect("it starts on what it had written");
        for node in [0, 1] {
            until("the node to answer again", PATIENCE, async || {
                let answer = cluster.at(node).get("/sites").await;
                (answer.status == 200).then_some(())
            })
            .await;
            let sites = cluster.at(node).get("/sites").await.expect(200)["sites"].clone();
            assert_eq!(sites.as_array().map(Vec::len), Some(1), "{sites}");
        }
        // A run that was under way holds its lease for a while.
        until("the checks to go on", END_OF_LEASES, async || {
            (cluster.records(0, &watched, "uptime").await > before + 1).then_some(())
        })
        .await;
    }
    assert_eq!(cluster.alerts().await, Vec::<Value>::new());
    assert!(cluster.lab.receiver.received().is_empty());
}

/// The alerts of certificates that were told, as often as they were.
fn told(received: &[Received]) -> Vec<String> {
    let payloads = received.iter().map(|hook| hook.json().expect("the payload is JSON"));
    let entries = payloads.flat_map(|told| told["alerts"].as_array().cloned().unwrap_or_default());
    let expiring = entries.filter(|entry| entry["type"] == "ssl.expiring");
    expiring.map(|entry| text(&entry["alert_id"])).collect()
}

/// A registration that ends in so many days, somebody reports: 3 raise a condition that 300 end.
fn ending_in(days: i64) -> Value {
    let end = chrono::Utc::now() + chrono::TimeDelta::days(days) + chrono::TimeDelta::hours(12);
    json!({
        "registrar": "Lab Registrar",
        "expires_at": end.to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        "days_remaining": days, "name_servers": ["ns1.example"], "privacy_protected": true,
        "error": null,
    })
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// Looks at a site when it is added and then no more, and tells of it by webhook.
async fn quiet() -> Cluster {
    let cluster = Cluster::start("[intervals]\nuptime = \"24h\"\ndns = \"24h\"\n").await;
    let cluster = cluster.expect("the database and two nodes start");
    cluster.hook().await;
    cluster
}
