//! What agents report, and what becomes of it.

use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Agent, certificate, certs, seen, start};
use crate::world::{rfc3339, text, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_private_certificate_is_alerted_once_and_resolves_when_it_is_renewed() {
    let world = start().await;
    world.hook().await;
    let agent = Agent::make(&world.owner.client).await;
    let expiring = json!([seen("DB01", 8443, &[certificate(5, "aa01")])]);
    assert_eq!(agent.report(expiring.clone()).await, (1, 1));

    let listed = certs(&world).await;
    assert_eq!(listed.len(), 1);
    let entry = &listed[0];
    for (field, value) in [
        ("host", json!("db01")),
        ("port", json!(8443)),
        ("subject", json!("CN=db01,O=Corp")),
        ("issuer", json!("CN=Corp CA,O=Corp")),
        ("serial_number", json!("0a")),
        ("days_remaining", json!(5)),
        ("is_valid", json!(true)),
        ("fingerprint_sha256", json!("aa01")),
        ("san", json!(["db01", "10.0.0.5"])),
        ("error", Value::Null),
        ("agent_id", json!(agent.id)),
    ] {
        assert_eq!(entry[field], value, "{field}");
    }
    let alert = world.open_alerts(1).await.remove(0);
    assert_eq!((&alert["type"], &alert["severity"]), (&json!("ssl"), &json!("critical")));
    assert_eq!(alert["site_id"], entry["id"]);
    assert!(text(&alert["message"]).starts_with("db01:8443: "), "{alert}");
    let hook = world.lab.receiver.wait_for(1).await.expect("it arrives").remove(0);
    let told = hook.json().expect("JSON")["alerts"].clone();
    assert_eq!(told.as_array().map(Vec::len), Some(1));
    for (field, value) in [
        ("domain", json!("db01:8443")),
        ("type", json!("ssl.expiring")),
        ("severity", json!("critical")),
        ("message", alert["message"].clone()),
        ("alert_id", alert["id"].clone()),
        ("site_id", entry["id"].clone()),
        ("status", json!("raised")),
    ] {
        assert_eq!(told[0][field], value, "{field}");
    }

    assert_eq!(agent.report(expiring).await, (1, 0));
    world.all_delivered().await;
    let told = world.told(|event| event.starts_with("ssl."));
    assert_eq!(told.len(), 2, "the alert, and the test call: {told:?}");

    // It is news, and another certificate.
    let renewed = json!([seen("db01", 8443, &[certificate(90, "bb02")])]);
    assert_eq!(agent.report(renewed).await, (1, 2));
    let resolved = world.owner.client.get("/alerts?type=ssl&resolved=true").await.expect(200);
    assert_eq!((&resolved["total"], &resolved["alerts"][1]["id"]), (&json!(2), &alert["id"]));
    world.open_alerts(1).await;
    assert_eq!(world.told_of("ssl.renewed", 1).await[0]["domain"], "db01:8443");
    assert_eq!(certs(&world).await[0]["days_remaining"], 90);
    assert_eq!(world.owner.client.get("/sites").await.expect(200)["sites"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_expired_or_invalid_raises_its_own_event_and_is_resolved_by_hand() {
    let world = start().await;
    world.hook().await;
    let agent = Agent::make(&world.owner.client).await;
    let mut wrong = certificate(60, "cc03");
    wrong["is_valid"] = json!(false);
    wrong["error"] = json!("hostname_mismatch");
    let mut expired = certificate(-2, "dd04");
    expired["is_valid"] = Value::Null;
    let results = json!([
        seen("10.0.0.5", 443, &[wrong]),
        seen("old.internal", 443, &[expired]),
        {"host": "off", "port": 443, "certificates": [], "error": "connection_refused"},
    ]);
    assert_eq!(agent.report(results).await, (2, 2));
    let both = until("both to arrive", async || {
        let told = world.told(|event| event.starts_with("ssl."));
        (told.len() == 2).then_some(told)
    })
    .await;
    let mut said: Vec<_> =
        both.iter().map(|told| (text(&told["domain"]), text(&told["type"]))).collect();
    said.sort();
    let expected = [("10.0.0.5", "ssl.invalid"), ("old.internal", "ssl.expired")];
    assert_eq!(said, expected.map(|(domain, event)| (domain.to_owned(), event.to_owned())));
    let listed = certs(&world).await;
    let hosts: Vec<&Value> = listed.iter().map(|entry| &entry["host"]).collect();
    assert_eq!(hosts, ["old.internal", "10.0.0.5"], "what expires first is in front");
    assert_eq!(listed[0]["error"], "certificate_expired");
    assert_eq!(listed[1]["error"], "hostname_mismatch");
    for alert in world.open_alerts(2).await {
        let path = format!("/alerts?id={}", text(&alert["id"]));
        world.owner.client.patch(&path, json!({"is_resolved": true})).await.expect(200);
    }
    world.open_alerts(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_certificate_of_a_place_is_listed_and_alerted() {
    let world = start().await;
    let agent = Agent::make(&world.owner.client).await;
    let named = |subject: &str, days, fingerprint: &str| {
        let mut one = certificate(days, fingerprint);
        one["subject"] = json!(subject);
        one
    };
    let mut issuer = named("CN=Corp CA,O=Corp", 900, "ca");
    issuer["san"] = json!([]);
    let (web, mail) = (named("CN=web", 60, "aa01"), named("CN=mail", 5, "aa02"));
    let place = seen("db01", 8443, &[web.clone(), issuer.clone(), mail]);
    assert_eq!(agent.report(json!([place])).await, (3, 1), "the second is about to expire");
    let listed = certs(&world).await;
    let subjects: Vec<String> = listed.iter().map(|one| text(&one["subject"])).collect();
    assert_eq!(subjects, ["CN=mail", "CN=web"]);
    assert_ne!(listed[0]["id"], listed[1]["id"]);
    let alert = &world.open_alerts(1).await[0];
    assert_eq!(alert["site_id"], listed[0]["id"]);
    assert!(text(&alert["message"]).contains("CN=mail"), "{alert}");

    // The same in two results, the second renewed.
    let renewed = named("CN=mail", 90, "aa03");
    let places = [seen("db01", 8443, &[web, issuer]), seen("db01", 8443, &[renewed])];
    agent.report(json!(places)).await;
    let listed = certs(&world).await;
    let days: Vec<_> = listed.iter().map(|one| one["days_remaining"].as_i64()).collect();
    assert_eq!((listed.len(), days), (2, vec![Some(60), Some(90)]));
}

/// A certificate of its own name, with so many days left.
fn named(name: &str, days: i64) -> Value {
    let mut certificate = certificate(days, &format!("{name}{days}"));
    certificate["subject"] = json!(format!("CN={name}"));
    certificate["san"] = json!([name]);
    certificate
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_of_a_place_may_be_told_in_any_order() {
    let world = start().await;
    let agent = Agent::make(&world.owner.client).await;
    let (web, mail) = (named("web", 60), named("mail", 90));
    let stands = async || {
        let of = |one: &Value| (one["id"].clone(), one["subject"].clone());
        certs(&world).await.iter().map(of).collect::<Vec<_>>()
    };
    let both = [web.clone(), mail.clone()];
    assert_eq!(agent.report(json!([seen("db01", 443, &both)])).await, (2, 0));
    let before = stands().await;
    let subjects: Vec<String> = before.iter().map(|(_, subject)| text(subject)).collect();
    assert_eq!(subjects, ["CN=web", "CN=mail"]);

    let swapped = [mail.clone(), web.clone()];
    assert_eq!(agent.report(json!([seen("db01", 443, &swapped)])).await, (2, 0));
    assert_eq!(stands().await, before);
    let apart = swapped.map(|one| seen("db01", 443, &[one]));
    assert_eq!(agent.report(json!(apart)).await, (2, 0));
    assert_eq!(stands().await, before);

    // A renewal is one wherever it stands: the news, and another certificate.
    let renewed = [mail, named("web", 150)];
    assert_eq!(agent.report(json!([seen("db01", 443, &renewed)])).await, (2, 2));
    let after = stands().await;
    assert_eq!(after, [before[1].clone(), before[0].clone()], "in the order of their expiry");

    // The one that is left stays where it was, and the other comes back to where it stood.
    assert_eq!(agent.report(json!([seen("db01", 443, &renewed[..1])])).await, (1, 0));
    assert_eq!(stands().await, after[..1]);
    assert_eq!(agent.report(json!([seen("db01", 443, &renewed)])).await, (2, 0));
    assert_eq!(stands().await, after);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_shows_one_certificate_or_both_by_turns_is_alerted_once() {
    let world = start().await;
    let agent = Agent::make(&world.owner.client).await;
    let both = [named("web", 60), named("mail", 3)];
    assert_eq!(agent.report(json!([seen("db01", 443, &both)])).await, (2, 1));
    let alert = world.open_alerts(1).await.remove(0);
    for _ in 0..2 {
        assert_eq!(agent.report(json!([seen("db01", 443, &both[1..])])).await, (1, 0));
        let left = certs(&world).await;
        assert_eq!((left.len(), &left[0]["id"]), (1, &alert["site_id"]));
        assert_eq!(agent.report(json!([seen("db01", 443, &both)])).await, (2, 0));
        assert_eq!(certs(&world).await.len(), 2);
    }
    assert_eq!(world.open_alerts(1).await[0]["id"], alert["id"]);
    let resolved = world.owner.client.get("/alerts?resolved=true").await.expect(200);
    assert_eq!(resolved["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_is_served_no_more_is_gone_and_its_alert_ends() {
    let world = start().await;
    world.hook().await;
    let agent = Agent::make(&world.owner.client).await;
    let both = [named("web", 60), named("mail", 3)];
    assert_eq!(agent.report(json!([seen("db01", 443, &both)])).await, (2, 1));
    let alert = world.open_alerts(1).await.remove(0);
    world.told_of("ssl.expiring", 1).await;

    // Whoever saw nothing does not know.
    let refused = json!({
        "host": "db01", "port": 443, "certificates": [], "error": "connection_refused",
    });
    let first = seen("db01", 443, &both[..1]);
    let unread = seen("db01", 443, &[both[0].clone(), json!({"error": "malformed"})]);
    for (results, processed) in [
        (json!([refused]), 0),
        (json!([refused, first]), 1),
        (json!([first, refused]), 1),
        (json!([unread]), 1),
    ] {
        assert_eq!(agent.report(results.clone()).await, (processed, 0), "{results}");
        assert_eq!(certs(&world).await.len(), 2, "{results}");
        world.open_alerts(1).await;
    }

    let web = json!([seen("db01", 443, &both[..1])]);
    assert_eq!(agent.report(web.clone()).await, (1, 0));
    world.open_alerts(0).await;
    let left = certs(&world).await;
    assert_eq!((left.len(), &left[0]["subject"]), (1, &json!("CN=web")));
    let told = world.told_of("ssl.expiring", 2).await;
    assert_eq!((&told[1]["alert_id"], &told[1]["status"]), (&alert["id"], &json!("resolved")));
    let resolved = world.owner.client.get("/alerts?resolved=true").await.expect(200);
    assert_eq!((&resolved["total"], &resolved["alerts"][0]["id"]), (&json!(1), &alert["id"]));

    assert_eq!(agent.report(web).await, (1, 0));
    assert_eq!(agent.report(json!([seen("db01", 443, &both)])).await, (2, 1), "it is back");
    let again = world.open_alerts(1).await.remove(0);
    assert_eq!(again["site_id"], alert["site_id"]);
    assert_eq!(certs(&world).await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_without_a_certificate_costs_no_report() {
    let world = start().await;
    let agent = Agent::make(&world.owner.client).await;
    let malformed = json!({
        "subject": null, "issuer": null, "serial_number": null, "not_before": null,
        "not_after": null, "fingerprint_sha256": null, "san": [], "is_valid": false,
        "error": "x509: malformed certificate",
    });
    let refused = json!({"error": "connection_refused"});
    let good = named("web", 60);
    let before = seen("db01", 443, std::slice::from_ref(&good));
    assert_eq!(agent.report(json!([before])).await, (1, 0));
    let results = json!([
        seen("db01", 443, &[malformed]),
        seen("db02", 443, &[refused]),
        seen("db03", 443, &[good]),
    ]);
    assert_eq!(agent.report(results).await, (1, 0));
    let listed = certs(&world).await;
    let told: Vec<_> = listed.iter().map(|one| json!([one["host"], one["error"]])).collect();
    let expected = [json!(["db01", "x509: malformed certificate"]), json!(["db03", null])];
    assert_eq!(told, expected, "what never showed one is not listed");
    assert_eq!(listed[0]["is_valid"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_is_seen_where_no_fingerprint_is_told() {
    let world = start().await;
    let agent = Agent::make(&world.owner.client).await;
    let told = |days: i64, serial_number: &str| {
        let mut certificate = certificate(days, "");
        certificate["fingerprint_sha256"] = Value::Null;
        certificate["serial_number"] = json!(serial_number);
        json!([seen("db01", 443, &[certificate])])
    };
    let first = told(60, "01");
    for _ in 0..2 {
        assert_eq!(agent.report(first.clone()).await, (1, 0));
    }
    assert_eq!(agent.report(told(90, "02")).await, (1, 2), "the news, and another certificate");
    assert_eq!(certs(&world).await[0]["fingerprint_sha256"], Value::Null);
    let change = world.open_alerts(1).await.remove(0);
    assert!(text(&change["message"]).contains("certificate was renewed"), "{change}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_comes_late_changes_nothing() {
    let world = start().await;
    let agent = Agent::make(&world.owner.client).await;
    let at = |hours: i64, days: i64| {
        let mut result = seen("db01", 443, &[certificate(days, "aa01")]);
        result["checked_at"] = json!(rfc3339(chrono::Utc::now() - chrono::TimeDelta::hours(hours)));
        json!([result])
    };
    assert_eq!(agent.report(at(5, 60)).await, (1, 0));
    let before = certs(&world).await;
    assert_eq!(agent.report(at(6, 3)).await, (1, 0));
    assert_eq!(certs(&world).await, before);
    assert_eq!(agent.report(at(4, 3)).await, (1, 1));
    // An agent whose clock is ahead does not make later reports late.
    assert_eq!(agent.report(at(-100, 3)).await, (1, 0));
    assert_eq!(agent.report(json!([seen("db01", 443, &[certificate(60, "aa01")])])).await, (1, 0));
    world.open_alerts(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_that_does_not_fit_is_refused_as_a_whole() {
    let world = start().await;
    let owner = &world.owner.client;
    let agent = Agent::make(owner).await;
    let other = Agent::make(owner).await;
    let good = seen("good", 443, &[certificate(5, "aa01")]);
    let with = |name: &str, value: Value| {
        let mut bad = certificate(5, "aa01");
        bad[name] = value;
        json!([good, seen("bad", 443, &[certificate(5, "aa01"), bad])])
    };
    for (results, field) in [
        (json!({}), "results"),
        (json!([good, 5]), "results[1]"),
        (json!([good, {"port": 443, "certificates": []}]), "results[1].host"),
        (json!([good, {"host": "a b", "port": 443, "certificates": []}]), "results[1].host"),
        (json!([good, {"host": "a", "certificates": []}]), "results[1].port"),
        (json!([good, {"host": "a", "port": 0, "certificates": []}]), "results[1].port"),
        (json!([good, {"host": "a", "port": 443}]), "results[1].certificates"),
        (with("subject", json!(5)), "results[1].certificates[1].subject"),
        (with("not_after", Value::Null), "results[1].certificates[1].not_after"),
        (with("not_after", json!("soon")), "results[1].certificates[1].not_after"),
        (with("is_valid", json!("yes")), "results[1].certificates[1].is_valid"),
    ] {
        let body = json!({"agent_id": agent.id, "results": results});
        let refused = agent.client.post("/agent/report", body).await.expect(400);
        let message = text(&refused["message"]);
        assert!(message.starts_with(&format!("{field} ")), "{field}: {message}");
    }
    for body in [json!({"results": []}), json!({"agent_id": "17", "results": []})] {
        agent.client.post("/agent/report", body).await.expect(400);
    }
    agent.client.send_raw(Method::POST, "/agent/report", b"{".to_vec()).await.expect(400);
    agent.client.send_raw(Method::POST, "/agent/report", vec![b' '; 70_000]).await.expect(413);
    for id in [other.id.clone(), Uuid::new_v4().to_string()] {
        let body = json!({"agent_id": id, "results": [good]});
        agent.client.post("/agent/report", body).await.expect(404);
    }
    agent.client.post("/agent/register", json!({"interval_seconds": 59})).await.expect(400);
    owner.post("/agent/key", json!({"name": ""})).await.expect(400);
    assert!(certs(&world).await.is_empty(), "nothing was taken in");
    world.open_alerts(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_known_is_judged_where_there_is_no_room_for_what_is_new() {
    const OFF: &str = "connection_refused";
    let world = start().await;
    let agent = Agent::make(&world.owner.client).await;
    let off = |host: &str| json!({"host": host, "port": 443, "certificates": [], "error": OFF});
    let known = ["db01", "db02"].map(|host| seen(host, 443, &[certificate(60, host)]));
    assert_eq!(agent.report(json!(known)).await, (2, 0));
    let others: Vec<Value> = (2..1_000).map(|nth| off(&format!("h{nth}"))).collect();
    for some in others.chunks(100) {
        assert_eq!(agent.report(json!(some)).await, (0, 0));
    }

    let results = [
        seen("new", 443, &[certificate(5, "new")]),
        seen("db01", 443, &[certificate(5, "db01")]),
        off("db02"),
    ];
    let body = json!({"agent_id": agent.id, "results": results});
    for _ in 0..2 {
        let refused = agent.client.post("/agent/report", body.clone()).await.expect(403);
        let message = text(&refused["message"]);
        assert!(message.contains("1000 places") && message.contains("another agent"), "{message}");
    }
    let alert = world.open_alerts(1).await.remove(0);
    assert!(text(&alert["message"]).starts_with("db01: "), "{alert}");
    let listed = certs(&world).await;
    let told: Vec<_> =
        listed.iter().map(|one| (&one["host"], &one["days_remaining"], &one["error"])).collect();
    let expected =
        [(&json!("db01"), &json!(5), &Value::Null), (&json!("db02"), &json!(60), &json!(OFF))];
    assert_eq!(told, expected);
}
