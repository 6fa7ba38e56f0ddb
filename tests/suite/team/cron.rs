//! `POST /cron`: who may call it, what it takes, and that it runs what is due beside the scheduler
//! of the service.
//!
//! The service takes by itself what becomes due, so that a test cannot say which of the two runs a
//! check: it calls until a call was first, and holds what the calls told against the records.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use vedette_tests::{Client, Registry, registration};

use crate::{
    refusal::limit_headers,
    world::{World, in_days, text},
};

const SECRET: &str = "tick-tock-3f9c";
const TYPES: [&str; 5] = ["ssl", "dns", "domain", "ct", "uptime"];
/// Long enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// A team edition with a secret for its scheduler, and further lines of configuration.
async fn world(toml: &str) -> World {
    super::world(&format!("[cron]\nsecret = \"{SECRET}\"\n{toml}")).await
}

fn scheduler(world: &World) -> Client {
    world.service.client().with_key(SECRET)
}

/// What calls have told, together.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    checked: u64,
    errors: u64,
    alerts: u64,
}

impl Sums {
    fn add(&mut self, answer: &Value) {
        let number = |name: &str| {
            answer[name].as_u64().unwrap_or_else(|| panic!("{name} is no count: {answer}"))
        };
        self.checked += number("checked");
        self.errors += number("errors");
        self.alerts += number("alerts");
    }
}

/// Calls one time after the other until a call has run something.
async fn call_until_something_ran(client: &Client, body: Value) -> Sums {
    let calls = async {
        let mut sums = Sums::default();
        while sums.checked == 0 {
            sums.add(&client.post("/cron", body.clone()).await.expect(200));
        }
        sums
    };
    tokio::time::timeout(PATIENCE, calls).await.expect("something becomes due every second")
}

/// The records of one type, the newest first.
async fn records(world: &World, site_id: &str, check_type: &str) -> Vec<Value> {
    let path = format!("/checks?site_id={site_id}&check_type={check_type}&limit=200");
    let page = world.owner.client.get(&path).await.expect(200);
    let records = page["checks"].as_array().cloned().expect("a list");
    assert!(records.len() < 200, "more than a page: {}", page["total"]);
    records
}

/// The records that calls brought, of all types.
async fn brought_by_calls(world: &World, site_id: &str) -> Vec<Value> {
    let mut brought = Vec::new();
    for check_type in TYPES {
        brought.extend(records(world, site_id, check_type).await);
    }
    brought.retain(|record| record["source"] == "cron");
    brought
}

fn unknown(records: &[Value]) -> u64 {
    records.iter().filter(|record| record["status"] == "unknown").count() as u64
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_secret_it_is_not_configured() {
    let world = super::world("").await;
    let anybody = world.service.client();
    for client in [&anybody, &anybody.with_key(SECRET), &world.owner.client] {
        let refused = client.post("/cron", json!({})).await;
        limit_headers(&refused, "POST /cron");
        let refused = refused.expect(503);
        assert!(text(&refused["message"]).contains("cron.secret"), "{refused}");
        assert!(refused["error"].is_string(), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schedulers_secret_alone_opens_it() {
    let world = world("").await;
    let anybody = world.service.client();
    let nearly = [&SECRET[1..], &SECRET[..SECRET.len() - 1], "tick-tock-3F9C"];
    let mut strangers = vec![anybody.clone(), world.owner.client.clone()];
    strangers.extend(nearly.map(|key| anybody.with_key(key)));
    for client in strangers {
        // Told before anything is said about the body.
        for body in [json!({}), json!({"type": 7})] {
            let refused = client.post("/cron", body).await;
            assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
            limit_headers(&refused, "POST /cron");
            refused.expect(401);
        }
    }
    scheduler(&world).get("/sites").await.expect(401);

    let one = scheduler(&world).from_address("198.51.100.31");
    let first = one.post("/cron", json!({})).await;
    limit_headers(&first, "POST /cron");
    assert_eq!(
        (first.number("x-ratelimit-limit"), first.number("x-ratelimit-remaining")),
        (60, 59)
    );
    assert_eq!(first.number("x-monthlylimit-limit"), 0, "no account's month");
    let told = first.expect(200);
    let mut names: Vec<_> = told.as_object().expect("an object").keys().collect();
    names.sort();
    assert_eq!(names, ["alerts", "checked", "errors"]);
    let mut sums = Sums::default();
    sums.add(&told);
    assert_eq!(sums, Sums::default(), "there are no sites");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_there_for_post_in_the_team_edition() {
    let world = world("").await;
    let client = scheduler(&world);
    let refused = client.get("/cron").await;
    assert_eq!(refused.header("allow"), Some("POST"));
    refused.expect(405);

    let standard = World::with(|settings| {
        settings.toml = format!("[cron]\nsecret = \"{SECRET}\"\n");
    })
    .await;
    scheduler(&standard).post("/cron", json!({})).await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_type_is_all_or_domain_and_may_be_left_out() {
    let world = world("").await;
    let client = scheduler(&world);
    for wrong in [json!("ssl"), json!(""), json!("ALL"), json!(null), json!(7), json!(["all"])] {
        let refused = client.post("/cron", json!({"type": wrong})).await.expect(400);
        assert!(text(&refused["message"]).contains("type"), "{wrong}: {refused}");
    }
    for malformed in ["{", "[]", "7", " ", "{\"type\":\"all\",\"type\":\"all\"}"] {
        client.send_raw(Method::POST, "/cron", malformed.into()).await.expect(400);
    }
    client.send_raw(Method::POST, "/cron", vec![b' '; (64 << 10) + 1]).await.expect(413);

    for body in [json!({}), json!({"type": "all"}), json!({"type": "domain", "depth": 3})] {
        client.post("/cron", body).await.expect(200);
    }
    client.send(Method::POST, "/cron", None).await.expect(200);
    client.send_raw(Method::POST, "/cron", Vec::new()).await.expect(200);
    // As curl sends `-d ''`.
    let form = client.request(Method::POST, "/cron");
    let form = form.header("content-type", "application/x-www-form-urlencoded").body("");
    client.finish(form).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_due_runs_once_and_calls_count_what_they_ran() {
    let world = world("[intervals]\nssl = \"1s\"\n").await;
    let client = scheduler(&world);
    let mut sites = Vec::new();
    for number in 0..4 {
        let domain = format!("due{number}.example");
        let site = world.site(&domain, 5).await;
        sites.push((domain, site));
    }
    // All have a certificate that ends soon: whoever looks first raises the alert.
    let watching = async {
        let mut ids = Vec::new();
        for (domain, site) in &sites {
            ids.push(world.watch(domain, site).await);
        }
        ids
    };
    let (ids, mut sums) = tokio::join!(watching, call_until_something_ran(&client, json!({})));
    for _ in 0..3 {
        let more = call_until_something_ran(&client, json!({"type": "all"})).await;
        sums.checked += more.checked;
        sums.errors += more.errors;
        sums.alerts += more.alerts;
    }
    world.alerts("ssl", ids.len()).await;

    let (mut brought, mut raised) = (Vec::new(), 0);
    for id in &ids {
        brought.extend(brought_by_calls(&world, id).await);
        let runs = records(&world, id, "ssl").await;
        let first = runs.iter().rev().find(|record| record["status"] != "unknown");
        raised += u64::from(first.is_some_and(|record| record["source"] == "cron"));
        assert!(
            runs.iter()
                .all(|record| ["cron", "scheduler"].map(Value::from).contains(&record["source"])),
            "{runs:?}"
        );
    }
    assert!(brought.iter().all(|record| record["duration_ms"].is_u64()), "{brought:?}");
    let expected =
        Sums { checked: brought.len() as u64, errors: unknown(&brought), alerts: raised };
    assert_eq!(sums, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_for_domain_runs_registrations_alone() {
    let registry = Registry::start(&["example"]).await.expect("loopback has free ports");
    let every_second = "[intervals]\nssl = \"1s\"\ndomain = \"1s\"\nuptime = \"1s\"\n";
    let world = world(&format!("{every_second}{}", registry.toml())).await;
    registry.name_in(&world.lab.dns);
    let object = registration("named.example", "Lab Registrar", in_days(90));
    registry.rdap.register("named.example", &object);
    let site = world.site("named.example", 90).await;
    let body = json!({
        "domain": "named.example", "custom_port": site.port(), "check_types": ["ssl", "domain"],
    });
    let created = world.owner.client.post("/sites", body).await.expect(200);
    let id = text(&created["site"]["id"]);
    world.latest("domain", &id, |_| true).await;

    let sums = call_until_something_ran(&scheduler(&world), json!({"type": "domain"})).await;
    let brought = brought_by_calls(&world, &id).await;
    assert!(brought.iter().all(|record| record["check_type"] == "domain"), "{brought:?}");
    let checked = brought.len() as u64;
    assert_eq!(sums, Sums { checked, errors: unknown(&brought), alerts: 0 });
    // The others go on meanwhile, by the service itself.
    world.latest("ssl", &id, |_| true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_at_the_same_moment_share_what_is_due() {
    let world = world("[intervals]\nssl = \"1s\"\n").await;
    let client = scheduler(&world);
    let site = world.site("shared.example", 90).await;
    let id = world.watch("shared.example", &site).await;
    let several = (0..3).map(|_| call_until_something_ran(&client, json!({})));
    let told = futures::future::join_all(several).await;
    let checked: u64 = told.iter().map(|sums| sums.checked).sum();
    assert_eq!(checked, brought_by_calls(&world, &id).await.len() as u64);
}
