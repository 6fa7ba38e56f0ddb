//! `/agent`: keys, what agents report, and what becomes of it.

use std::ops::Range;

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;
use vedette_tests::Client;

use crate::world::{World, in_days, rfc3339, text, until};

/// An owner on the plan `team`.
async fn start() -> World {
    let mut world = super::world("").await;
    world.owner = world.account("team").await;
    world
}

/// An agent with a client that has its key.
struct Agent {
    id: String,
    client: Client,
}

impl Agent {
    async fn make(owner: &Client) -> Self {
        let made = owner.post("/agent/key", json!({})).await.expect(200);
        let client = owner.with_key(&text(&made["agent_key"]));
        Self { id: text(&made["agent_id"]), client }
    }

    /// Brings results; returns how many certificates were counted and how many alerts were raised.
    async fn report(&self, results: Value) -> (u64, u64) {
        let body = json!({"agent_id": self.id, "results": results});
        let answer = self.client.post("/agent/report", body).await.expect(200);
        assert_eq!(answer["status"], "ok");
        let count = |name: &str| answer[name].as_u64().expect("a count");
        (count("certs_processed"), count("alerts_created"))
    }
}

/// A certificate with so many days left, whose fingerprint tells it from others.
fn certificate(days: i64, fingerprint: &str) -> Value {
    json!({
        "subject": "CN=db01,O=Corp", "issuer": "CN=Corp CA,O=Corp", "serial_number": "0a",
        "not_before": rfc3339(in_days(-10)), "not_after": rfc3339(in_days(days)),
        "fingerprint_sha256": fingerprint, "san": ["db01", "10.0.0.5"], "is_valid": true,
        "error": null,
    })
}

fn seen(host: &str, port: u16, certificates: &[Value]) -> Value {
    json!({"host": host, "port": port, "certificates": certificates})
}

async fn certs(world: &World) -> Vec<Value> {
    let listed = world.owner.client.get("/agent/certs").await.expect(200);
    listed["certificates"].as_array().expect("a list").clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_made_heard_of_and_deleted() {
    let world = start().await;
    let owner = &world.owner.client;
    let made = owner.send(Method::POST, "/agent/key", None).await.expect(200);
    let key = text(&made["agent_key"]);
    assert!(key.starts_with("sp_agent_") && key.len() == 45, "{key}");
    assert_eq!(made["agent_name"], "agent-1");
    let second = owner.post("/agent/key", json!({"name": "dc2"})).await.expect(200);
    assert_eq!(second["agent_name"], "dc2");
    let third = owner.post("/agent/key", json!({})).await.expect(200);
    assert_eq!(third["agent_name"], "agent-2");

    let listed = owner.get("/agent/key").await;
    assert!(!listed.text.contains(&key), "the key is shown once");
    let agents = listed.expect(200)["agents"].as_array().cloned().expect("a list");
    assert_eq!(agents.len(), 3);
    assert_eq!(agents[0]["id"], made["agent_id"]);
    assert_eq!(
        (&agents[0]["status"], &agents[0]["last_seen_at"]),
        (&json!("pending"), &Value::Null)
    );

    let agent = owner.with_key(&key);
    let said = json!({
        "agent_name": "dc1", "hostname": "mon01", "version": "0.1.0", "os": "linux",
        "interval_seconds": 60,
    });
    for body in [said, json!({}), json!({"hostname": null})] {
        let registered = agent.post("/agent/register", body).await.expect(200);
        assert_eq!(registered, json!({"agent_id": made["agent_id"], "status": "registered"}));
    }
    let silent = agent.send(Method::POST, "/agent/register", None).await.expect(200);
    assert_eq!(silent["status"], "registered", "it need not say anything of itself");
    let agents = owner.get("/agent/key").await.expect(200)["agents"].clone();
    assert_eq!((&agents[0]["agent_name"], &agents[0]["status"]), (&json!("dc1"), &json!("online")));
    assert_eq!((&agents[0]["hostname"], &agents[0]["os"]), (&json!("mon01"), &json!("linux")));
    assert!(agents[0]["last_seen_at"].is_string());

    let path = format!("/agent/key?id={}", text(&made["agent_id"]));
    let stranger = world.account("team").await.client;
    stranger.delete(&path).await.expect(404);
    assert_eq!(owner.delete(&path).await.expect(200), json!({"success": true}));
    owner.delete(&path).await.expect(404);
    owner.delete("/agent/key?id=17").await.expect(400);
    owner.delete("/agent/key").await.expect(400);
    agent.post("/agent/register", json!({})).await.expect(401);
    assert_eq!(stranger.get("/agent/key").await.expect(200), json!({"agents": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_agents_are_made_however_many_are_asked_for_at_once() {
    let world = start().await;
    let owner = &world.owner.client;
    let answers = join_all((0..14).map(|_| owner.post("/agent/key", json!({})))).await;
    let made = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(made, 10);
    let refused =
        answers.into_iter().find(|answer| answer.status != 200).expect("four were refused");
    let message = text(&refused.expect(403)["message"]);
    assert!(message.contains("10 agents"), "{message}");
    let agents = owner.get("/agent/key").await.expect(200)["agents"].clone();
    let mut names: Vec<String> =
        agents.as_array().expect("a list").iter().map(|agent| text(&agent["agent_name"])).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 10, "{names:?}");
    owner.delete(&format!("/agent/key?id={}", text(&agents[0]["id"]))).await.expect(200);
    owner.post("/agent/key", json!({})).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_of_key_opens_its_own_doors_and_no_other() {
    let world = start().await;
    let owner = &world.owner.client;
    let agent = Agent::make(owner).await;
    for path in ["/sites", "/agent/key", "/agent/certs", "/alerts"] {
        agent.client.get(path).await.expect(401);
    }
    let report = json!({"agent_id": agent.id, "results": []});
    for client in [
        owner.clone(),
        owner.anonymous(),
        owner.with_key("sp_agent_"),
        owner.with_key(&format!("sp_agent_{}", "0".repeat(36))),
    ] {
        for (path, body) in [("/agent/register", json!({})), ("/agent/report", report.clone())] {
            let refused = client.post(path, body).await;
            assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
            refused.expect(401);
        }
    }
    let counted = agent.client.post("/agent/report", report).await;
    assert!(counted.number("x-monthlylimit-used") > 0, "it counts as a call of the account");
    counted.expect(200);
    owner.anonymous().get("/agent/certs").await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_without_agents_is_told_which_plan_has_them() {
    let world = start().await;
    let pro = world.account("pro").await.client;
    let id = Uuid::new_v4();
    for (method, path) in [
        (Method::GET, "/agent/key".to_owned()),
        (Method::POST, "/agent/key".to_owned()),
        (Method::DELETE, format!("/agent/key?id={id}")),
        (Method::GET, "/agent/certs".to_owned()),
    ] {
        let refused = pro.send(method, &path, None).await.expect(403);
        assert!(text(&refused["message"]).contains("the team plan"), "{path}: {refused}");
    }
    let agent = Agent::make(&world.owner.client).await;
    let account = format!("/admin/accounts/{}", world.owner.id);
    world.service.operator().patch(&account, json!({"plan": "free"})).await.expect(200);
    agent.client.post("/agent/register", json!({})).await.expect(403);
    let report = json!({"agent_id": agent.id, "results": []});
    agent.client.post("/agent/report", report).await.expect(403);
}

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

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_agent_takes_its_certificates_and_alerts_along() {
    let world = start().await;
    let owner = &world.owner.client;
    let (stays, goes) = (Agent::make(owner).await, Agent::make(owner).await);
    let same = json!([seen("db01", 443, &[certificate(5, "aa01")])]);
    assert_eq!(stays.report(same.clone()).await, (1, 1));
    assert_eq!(goes.report(same.clone()).await, (1, 1));
    world.open_alerts(2).await;
    owner.delete(&format!("/agent/key?id={}", goes.id)).await.expect(200);
    let body = json!({"agent_id": goes.id, "results": same});
    goes.client.post("/agent/report", body).await.expect(401);
    let left = certs(&world).await;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0]["agent_id"], json!(stays.id));
    let alerts = world.open_alerts(1).await;
    assert_eq!(alerts[0]["site_id"], left[0]["id"]);
    let stranger = world.account("team").await.client;
    assert_eq!(stranger.get("/agent/certs").await.expect(200), json!({"certificates": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tool_lists_what_the_endpoint_lists() {
    let world = start().await;
    let agent = Agent::make(&world.owner.client).await;
    let hosts = ["a", "b", "c"].map(|host| seen(host, 443, &[certificate(60, host)]));
    assert_eq!(agent.report(json!(hosts)).await, (3, 0));
    let call = async |client: &Client, arguments: Value| {
        let params = json!({"name": "list_private_certs", "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        client.post("/mcp", body).await.expect(200)["result"].clone()
    };
    let all = call(&world.owner.client, json!({})).await;
    assert_eq!(all["isError"], false, "{all}");
    assert_eq!(all["structuredContent"]["certificates"], json!(certs(&world).await));
    assert_eq!(all["structuredContent"]["total"], 3);
    let page = call(&world.owner.client, json!({"limit": 1, "offset": 1})).await;
    let page = &page["structuredContent"];
    assert_eq!((&page["certificates"][0]["host"], &page["next_offset"]), (&json!("b"), &json!(2)));
    let bad = call(&world.owner.client, json!({"limit": 0})).await;
    assert_eq!(bad["isError"], true, "{bad}");
    let refused = call(&world.account("pro").await.client, json!({})).await;
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(text(&refused["content"][0]["text"]).contains("the team plan"), "{refused}");

    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let tools = world.owner.client.post("/mcp", body).await.expect(200)["result"]["tools"].clone();
    let named = tools
        .as_array()
        .and_then(|all| all.iter().find(|tool| tool["name"] == "list_private_certs"));
    let schema = &named.expect("it is listed")["outputSchema"];
    let options = jsonschema::options().should_validate_formats(true).offline();
    let validator = options.build(schema).expect("a schema");
    let problems: Vec<String> = validator
        .iter_errors(&all["structuredContent"])
        .map(|problem| problem.to_string())
        .collect();
    assert!(problems.is_empty(), "{problems:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_of_hundreds_of_places_is_one_incident_that_grows() {
    let world = start().await;
    let client = &world.owner.client;
    let agent = Agent::make(client).await;
    let report = async |places: Range<u32>| {
        let count = places.len() as u64;
        let expiring = |nth: u32| [certificate(5, &format!("{nth:04x}"))];
        let seen = places.map(|nth| seen(&format!("h{nth}"), 443, &expiring(nth)));
        assert_eq!(agent.report(seen.collect()).await, (count, count));
    };
    let gather = async || {
        let made = client.post("/incidents", json!({"auto_create": true})).await.expect(200);
        made["incident"].clone()
    };
    report(0..75).await;
    report(75..150).await;
    let first = gather().await;
    assert_eq!(first["title"], "150 critical alerts on 150 sites");

    // More than are read at a time.
    for (places, title) in [
        (150..225, "225 critical alerts on 225 sites"),
        (225..226, "226 critical alerts on 226 sites"),
    ] {
        let new = places.len();
        report(places).await;
        let grown = gather().await;
        assert_eq!((&grown["id"], &grown["title"]), (&first["id"], &json!(title)));
        let told = grown["updates"].as_array().and_then(|updates| updates.last().cloned());
        let told = text(&told.expect("it has updates")["message"]);
        assert!(told.starts_with(&format!("{new} critical alerts on {new} sites:")), "{told}");
    }
    assert_eq!(client.get("/incidents").await.expect(200)["total"], 1);
}
