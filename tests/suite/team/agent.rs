//! `/agent`: keys, the doors that they open, and what agents leave.

mod report;

use std::ops::Range;

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;
use vedette_tests::Client;

use crate::world::{World, in_days, rfc3339, text};

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
async fn an_incident_and_a_window_may_be_about_one_place_of_an_agent() {
    let world = start().await;
    world.hook().await;
    let client = &world.owner.client;
    let agent = Agent::make(client).await;
    let report = async |days: i64| {
        let places = [("db01", "aa01"), ("db02", "bb02")]
            .map(|(host, fingerprint)| seen(host, 443, &[certificate(days, fingerprint)]));
        agent.report(json!(places)).await
    };
    assert_eq!(report(60).await, (2, 0));
    let listed = certs(&world).await;
    let silent = listed.iter().find(|entry| entry["host"] == "db01").expect("it is listed");
    let silent = &silent["id"];
    let incident = json!({"title": "db01 moves", "affected_sites": [silent]});
    let opened = client.post("/incidents", incident).await.expect(200);
    assert_eq!(opened["incident"]["affected_sites"], json!([silent]));
    let (starts, ends) = (rfc3339(in_days(-1)), rfc3339(in_days(1)));
    let body = json!({"site_id": silent, "starts_at": starts, "ends_at": ends});
    let stranger = world.account("team").await.client;
    stranger.post("/maintenance-windows", body.clone()).await.expect(404);
    let planned = client.post("/maintenance-windows", body).await.expect(200);
    assert_eq!(&planned["window"]["site_id"], silent);

    assert_eq!(report(5).await, (2, 2));
    let alerts = world.open_alerts(2).await;
    let held = alerts.iter().find(|alert| alert["site_id"] == *silent).expect("it is stored");
    world.log(&text(&held["id"]), |log| log.iter().any(|one| one["state"] == "silenced")).await;
    let told = world.lab.receiver.wait_for(1).await.expect("of the other").remove(0);
    let told = told.json().expect("JSON")["alerts"].clone();
    assert_eq!(told.as_array().map(Vec::len), Some(1), "{told}");
    assert_eq!(told[0]["domain"], "db02");
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
async fn an_outage_of_hundreds_of_places_is_one_incident() {
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
    // More than are read at a time.
    for places in [0..75, 75..150, 150..225] {
        report(places).await;
    }
    let first = gather().await;
    assert_eq!(first["title"], "225 critical alerts on 225 sites");
    assert_eq!(gather().await, first, "it is asked for again");
    assert_eq!(client.get("/incidents").await.expect(200)["total"], 1);

    report(225..226).await;
    let next = gather().await;
    assert_eq!(next["title"], "226 critical alerts on 226 sites");
    assert_ne!(next["id"], first["id"]);
}
