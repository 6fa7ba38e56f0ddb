//! Our own trouble is nobody's alert: a network without DNS, a process that stood still, and more sites
//! that fall at once than fall by themselves.

mod standstill;
mod way_out;

use chrono::TimeDelta;
use futures::future::join_all;
use serde_json::{Value, json};
use vedette_tests::{Client, Pages, Reply, Script};

use crate::{
    refusal::refused,
    world::{World, text, time, until},
};

/// Sites of one account: what is asked of the API stays within the account's window, also where a
/// state is looked at again and again.
const PER_ACCOUNT: usize = 6;

/// Sites behind one web server, which belong to several accounts.
struct Fleet {
    accounts: Vec<Client>,
    sites: Vec<Member>,
}

struct Member {
    client: Client,
    domain: String,
    id: String,
}

impl Fleet {
    /// Registers so many sites; `members` are what their bodies say besides.
    async fn register(world: &World, pages: &Pages, count: usize, members: Value) -> Self {
        let mut fleet = Self { accounts: Vec::new(), sites: Vec::new() };
        for number in 0..count {
            if number % PER_ACCOUNT == 0 {
                fleet.accounts.push(world.account("pro").await.client);
            }
            let client = &fleet.accounts[number / PER_ACCOUNT];
            let domain = format!("shop-{number}.example");
            let site = Member::register(world, client, pages, &domain, &members).await;
            fleet.sites.push(site);
        }
        fleet
    }

    async fn run(&self) {
        join_all(self.sites.iter().map(Member::run)).await;
    }

    /// The latest record of each site.
    async fn latest(&self) -> Vec<Value> {
        join_all(self.sites.iter().map(Member::latest)).await
    }

    /// Open alerts of all accounts.
    async fn alerts(&self) -> Vec<Value> {
        let mut alerts = Vec::new();
        for client in &self.accounts {
            let page = client.get("/alerts?limit=200").await.expect(200);
            alerts.extend(page["alerts"].as_array().cloned().unwrap_or_default());
        }
        alerts.retain(|alert| alert["type"] == "uptime");
        alerts
    }

    /// When records were stored that were held back.
    async fn held_back(&self) -> Vec<chrono::DateTime<chrono::Utc>> {
        let mut held = Vec::new();
        for site in &self.sites {
            let path = format!("/checks?site_id={}&check_type=uptime&limit=50", site.id);
            let page = site.client.get(&path).await.expect(200);
            let records = page["checks"].as_array().cloned().unwrap_or_default();
            let doubted = records.iter().filter(|record| is_doubted(record, "held_back"));
            held.extend(doubted.map(|record| time(&record["checked_at"])));
        }
        held
    }
}

impl Member {
    async fn register(
        world: &World,
        client: &Client,
        pages: &Pages,
        domain: &str,
        members: &Value,
    ) -> Self {
        world.lab.dns.answer(domain, Reply::address(pages.web().ip()));
        // On a busy machine a page may be slow, and is well all the same.
        let config = json!({"uptime": {"scheme": "http", "timeout_ms": 10_000, "degraded_ms": 0}});
        let mut body =
            json!({"domain": domain, "custom_port": pages.port(), "check_config": config});
        for (name, value) in members.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        let created = client.post("/sites", body).await.expect(200);
        let id = text(&created["site"]["id"]);
        Self { client: client.clone(), domain: domain.to_owned(), id }
    }

    async fn run(&self) {
        let body = json!({"domain": self.domain, "site_id": self.id});
        self.client.post("/check-uptime", body).await.expect(200);
    }

    async fn latest(&self) -> Value {
        let path = format!("/checks?site_id={}", self.id);
        self.client.get(&path).await.expect(200)["uptime"].clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_no_dns_server_answers_nobody_is_alerted() {
    let world = World::with(|settings| {
        settings.toml = "[intervals]\nuptime = \"24h\"\ndns = \"24h\"\n".into();
    })
    .await;
    // This one is found by its own address, without DNS.
    let origin = world.site("origin.example", 90).await;
    let members = json!({"custom_port": origin.port(), "origin_ip": "127.0.0.1"});
    let pinned = world.quiet_with("origin.example", members).await;
    world.run("ssl", "origin.example", &pinned).await;
    let named = world.site("named.example", 90).await;

    world.lab.dns.fall_silent();
    let body =
        json!({"domain": "named.example", "custom_port": named.port(), "check_types": ["dns"]});
    let created = world.owner.client.post("/sites", body).await.expect(200);
    let by_name = text(&created["site"]["id"]);
    guard_says(&world, "offline", true).await;
    let body = json!({"domain": "late.example", "check_types": ["ssl"]});
    let created = world.owner.client.post("/sites", body).await.expect(200);
    let late = text(&created["site"]["id"]);
    let wrong = world.lab.certificate("else.example", 90).expect("signed");
    origin.renew(wrong).expect("a valid chain");
    for _ in 0..2 {
        world.run("ssl", "origin.example", &pinned).await;
        let record = world.latest("ssl", &pinned, |_| true).await;
        assert!(is_doubted(&record, "offline"), "{record:#}");
    }
    for check_type in ["uptime", "dns"] {
        world.latest(check_type, &by_name, |record| is_doubted(record, "offline")).await;
    }
    // It could not even begin, and its plugin is not to blame.
    world.latest("ssl", &late, |record| is_doubted(record, "offline")).await;
    let answer = world.owner.client.post("/check-ssl", json!({"domain": "late.example"})).await;
    let told = refused(&answer, 500, "a check of a name that nobody can look up");
    assert!(told.starts_with("this service's DNS servers are not answering"), "{told}");
    world.open_alerts(0).await;
    // Nobody has its name, which is down by itself.
    world.owner.client.delete(&format!("/sites?id={late}")).await.expect(200);

    world.lab.dns.answer_again();
    guard_says(&world, "offline", false).await;
    world.run("ssl", "origin.example", &pinned).await;
    assert_eq!(world.alerts_now("ssl").await.len(), 1, "the finding was real");
    // Its port stays its own: who else listened there might answer.
    named.renew(world.lab.certificate("else.example", 90).expect("signed")).expect("a valid chain");
    for _ in 0..2 {
        world.run("uptime", "named.example", &by_name).await;
    }
    world.alerts("uptime", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_found_on_demand_and_not_believed_is_looked_at_again() {
    let world =
        World::with(|settings| settings.toml = "[confirm]\nrecheck = \"1s\"\n".into()).await;
    let origin = world.site("origin.example", 90).await;
    // Found by its own address, without DNS; its next regular run is hours away.
    let body = json!({"domain": "origin.example", "custom_port": origin.port(),
        "origin_ip": "127.0.0.1", "check_types": ["ssl"]});
    let created = world.owner.client.post("/sites", body).await.expect(200);
    let id = text(&created["site"]["id"]);
    world.latest("ssl", &id, |record| record["status"] == "ok").await;

    world.lab.dns.fall_silent();
    guard_says(&world, "offline", true).await;
    let wrong = world.lab.certificate("else.example", 90).expect("signed");
    origin.renew(wrong).expect("a valid chain");
    world.run("ssl", "origin.example", &id).await;
    world.latest("ssl", &id, |record| is_doubted(record, "offline")).await;

    world.lab.dns.answer_again();
    world.alerts("ssl", 1).await;
    let record = world.latest("ssl", &id, |record| !record["result"].is_null()).await;
    assert_eq!(record["source"], "scheduler");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_sites_that_fall_at_once_are_held_back_and_then_believed() {
    // The hold is two rechecks: long enough to look at all of them twice, also on a busy machine, and
    // over before the failures are a minute old and forgotten.
    let world =
        World::with(|settings| settings.toml = "[confirm]\nrecheck = \"25s\"\n".into()).await;
    let pages = open_pages().await;
    let fleet = Fleet::register(&world, &pages, 24, json!({"monitoring_enabled": false})).await;
    fleet.run().await;
    pages.at("/", Script::reset());
    for _ in 0..2 {
        fleet.run().await;
    }
    for record in fleet.latest().await {
        assert!(is_doubted(&record, "held_back"), "{record:#}");
    }
    assert_eq!(fleet.alerts().await, [] as [Value; 0]);
    guard_says(&world, "held_back", true).await;

    guard_says(&world, "held_back", false).await;
    for _ in 0..2 {
        fleet.run().await;
    }
    let alerts = fleet.alerts().await;
    assert_eq!(alerts.len(), 24);
    assert!(alerts.iter().all(|alert| alert["severity"] == "critical"), "{alerts:?}");
    assert!(fleet.latest().await.iter().all(|record| record["status"] == "down"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scheduler_looks_again_at_what_was_held_back() {
    let world = World::with(|settings| {
        settings.toml =
            "[intervals]\nuptime = \"1s\"\ndns = \"24h\"\n[confirm]\nrecheck = \"6s\"\n".into();
    })
    .await;
    let pages = open_pages().await;
    let fleet = Fleet::register(&world, &pages, 24, json!({"check_types": ["dns"]})).await;
    until("a good run of every site", async || {
        let records = fleet.latest().await;
        records.iter().all(|record| record["status"] == "ok").then_some(())
    })
    .await;
    // Nobody hears anything any more: all of them have failed before the first has failed twice,
    // since each failure takes ten seconds.
    pages.at("/", Script::silence());
    let alerts = until("an alert of every site", async || {
        let alerts = fleet.alerts().await;
        (alerts.len() == fleet.sites.len()).then_some(alerts)
    })
    .await;
    let held = fleet.held_back().await.into_iter().min().expect("some were held back");
    let alerted = alerts.iter().map(|alert| time(&alert["created_at"])).min();
    let waited = alerted.expect("there are alerts") - held;
    // Without a hold they would be alerted at their second failure, ten seconds after the first.
    assert!(waited >= TimeDelta::seconds(11), "the hold is two rechecks: {waited}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_sites_that_fall_at_once_are_alerted_at_once() {
    let world = World::start().await;
    let pages = open_pages().await;
    let fleet = Fleet::register(&world, &pages, 10, json!({"monitoring_enabled": false})).await;
    fleet.run().await;
    pages.at("/", Script::reset());
    fleet.run().await;
    assert!(fleet.latest().await.iter().all(|record| record["status"] == "down"));
    assert_eq!(fleet.alerts().await, [] as [Value; 0], "one failure is nothing");
    fleet.run().await;
    assert_eq!(fleet.alerts().await.len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_site_that_falls_among_many_is_alerted() {
    let world = World::start().await;
    let quiet = json!({"monitoring_enabled": false});
    let (pages, alone) = (open_pages().await, open_pages().await);
    let mut fleet = Fleet::register(&world, &pages, 40, quiet.clone()).await;
    let client = fleet.accounts[0].clone();
    let lone = Member::register(&world, &client, &alone, "lone.example", &quiet).await;
    fleet.sites.push(lone);
    fleet.run().await;
    alone.at("/", Script::reset());
    for _ in 0..2 {
        fleet.run().await;
    }
    let alerts = fleet.alerts().await;
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!(
        (&alerts[0]["domain"], &alerts[0]["severity"]),
        (&json!("lone.example"), &json!("critical"))
    );
}

async fn open_pages() -> Pages {
    let pages = Pages::plain().await.expect("free port");
    pages.at("/", Script::html("open"));
    pages
}

/// Nothing is said of the target, and why.
fn is_doubted(record: &Value, why: &str) -> bool {
    record["status"] == "unknown" && record["error"] == why && record["result"].is_null()
}

/// Waits until the operator's figures say so.
async fn guard_says(world: &World, state: &str, on: bool) {
    let line = format!("vedette_guard{{state=\"{state}\"}} {}", u8::from(on));
    let operator = world.service.operator();
    until(&line, async || {
        let figures = operator.get("/metrics").await;
        figures.text.lines().any(|shown| shown == line).then_some(())
    })
    .await;
}
