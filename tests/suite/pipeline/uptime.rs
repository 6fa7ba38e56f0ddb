//! `site.down`, `site.degraded`, `site.up`: after two failures in a row, once, and over when the
//! site answers again.

use std::time::Duration;

use serde_json::{Value, json};
use vedette_tests::{Pages, Reply, Script};

use crate::world::{World, text, until};

const NAME: &str = "watched.example";

/// A site that answers and that nobody runs a check for but the test.
async fn by_hand(config: Value) -> (World, Pages, String) {
    let world = World::start().await;
    world.hook().await;
    let pages = world.lab.pages(NAME).await.expect("free port");
    pages.at("/", Script::html("open"));
    let members = json!({"custom_port": pages.port(), "check_config": {"uptime": config}});
    let id = world.quiet_with(NAME, members).await;
    world.run("uptime", NAME, &id).await;
    (world, pages, id)
}

/// A site that answers and that the scheduler looks at every second.
async fn every_second() -> (World, Pages, String) {
    let world = World::with(|settings| {
        settings.toml = "[intervals]\nuptime = \"1s\"\n[confirm]\nrecheck = \"1s\"\n".into();
    })
    .await;
    world.hook().await;
    let pages = world.lab.pages(NAME).await.expect("free port");
    pages.at("/", Script::html("open"));
    let body = json!({"domain": NAME, "custom_port": pages.port(), "check_types": ["ssl"]});
    let created = world.owner.client.post("/sites", body).await.expect(200);
    let id = text(&created["site"]["id"]);
    (world, pages, id)
}

/// Runs the check so often and answers the open alerts after it.
async fn after(world: &World, id: &str, runs: u32) -> Vec<Value> {
    for _ in 0..runs {
        world.run("uptime", NAME, id).await;
    }
    world.alerts_now("uptime").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_goes_down_and_comes_back_is_told_both_times() {
    let (world, pages, id) = every_second().await;
    let first = world.latest("uptime", &id, |_| true).await;
    assert_eq!((&first["source"], &first["status"]), (&json!("scheduler"), &json!("ok")));

    pages.at("/", Script::status(503));
    let alert = world.alerts("uptime", 1).await.remove(0);
    assert_eq!(alert["severity"], "critical");
    let told = world.told_of("site.down", 1).await.remove(0);
    assert_eq!((&told["severity"], &told["domain"]), (&json!("critical"), &json!(NAME)));
    assert_eq!((&told["alert_id"], &told["message"]), (&alert["id"], &alert["message"]));
    assert_eq!((&told["site_id"], &told["status"]), (&json!(id), &json!("raised")));

    pages.at("/", Script::html("open again"));
    let told = world.told_of("site.up", 1).await.remove(0);
    assert_eq!((&told["severity"], &told["domain"]), (&json!("info"), &json!(NAME)));
    world.alerts("uptime", 0).await;
    let resolved = world.owner.client.get("/alerts?resolved=true").await.expect(200);
    let resolved = resolved["alerts"].as_array().cloned().unwrap_or_default();
    assert!(resolved.iter().any(|closed| closed["id"] == alert["id"]), "{resolved:?}");
    assert_eq!(
        world
            .told(|event| event == "site.down")
            .iter()
            .filter(|entry| entry["status"] == "raised")
            .count(),
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_moves_to_a_private_address_is_told_as_down() {
    let (world, _pages, id) = every_second().await;
    world.latest("uptime", &id, |record| record["status"] == "ok").await;

    world.lab.dns.answer(NAME, Reply::address("10.1.2.3".parse().expect("valid")));
    let alert = world.alerts("uptime", 1).await.remove(0);
    assert!(text(&alert["message"]).contains("may not connect to"), "{alert}");
    let record = world.latest("uptime", &id, |record| record["status"] == "down").await;
    assert_eq!(record["error"], "blocked_address");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_whose_name_was_never_found_is_told_as_down_and_as_up_when_it_appears() {
    let world = World::with(|settings| {
        settings.toml = "[intervals]\nuptime = \"1s\"\n[confirm]\nrecheck = \"1s\"\n".into();
    })
    .await;
    world.hook().await;
    // It is served already, and named nowhere.
    let pages = Pages::plain().await.expect("free port");
    pages.at("/", Script::html("open"));
    let body = json!({"domain": NAME, "custom_port": pages.port(), "check_types": ["ssl"],
        "check_config": {"uptime": {"scheme": "http", "degraded_ms": 0}}});
    let created = world.owner.client.post("/sites", body).await.expect(200);
    let id = text(&created["site"]["id"]);

    let alert = world.alerts("uptime", 1).await.remove(0);
    assert_eq!((&alert["site_id"], &alert["severity"]), (&json!(id), &json!("critical")));
    assert!(text(&alert["message"]).contains("does not exist"), "{alert}");
    assert!(text(&alert["suggestion"]).contains("spelled"), "{alert}");
    let told = world.told_of("site.down", 1).await.remove(0);
    assert_eq!(told["alert_id"], alert["id"]);

    world.lab.dns.answer(NAME, Reply::address(pages.web().ip()));
    let told = world.told_of("site.up", 1).await.remove(0);
    assert_eq!(told["site_id"], json!(id));
    world.alerts("uptime", 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_to_a_name_that_does_not_exist_is_told_by_that_name() {
    let world = World::start().await;
    let pages = world.lab.pages(NAME).await.expect("free port");
    pages.at("/", Script::redirect("https://dead.example/"));
    let id = world.quiet_with(NAME, json!({"custom_port": pages.port()})).await;
    let alert = after(&world, &id, 2).await.remove(0);
    let (message, suggestion) = (text(&alert["message"]), text(&alert["suggestion"]));
    assert!(message.contains("redirects to https://dead.example, "), "{message}");
    assert!(suggestion.contains("dead.example"), "{suggestion}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_recheck_follows_at_once_on_a_fresh_connection() {
    // The next regular run is a day away: only the recheck can confirm.
    let world = World::with(|settings| {
        settings.toml = "[intervals]\nuptime = \"24h\"\nssl = \"24h\"\n".into();
    })
    .await;
    let pages = world.lab.pages(NAME).await.expect("free port");
    pages.at("/", Script::status(500));
    let body = json!({"domain": NAME, "custom_port": pages.port(), "check_types": ["domain"]});
    let created = world.owner.client.post("/sites", body).await.expect(200);
    let id = text(&created["site"]["id"]);
    world.alerts("uptime", 1).await;
    assert!(world.count("uptime", &id).await >= 2);
    let asked = pages.asked("/");
    assert!(asked.len() >= 2 && pages.web().connections() >= asked.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_failure_is_nothing_and_two_are_one_alert() {
    let (world, pages, id) = by_hand(json!({})).await;
    for _ in 0..3 {
        pages.at("/", Script::status(500));
        assert_eq!(after(&world, &id, 1).await, [] as [Value; 0], "one failure is nothing");
        pages.at("/", Script::html("open"));
        assert_eq!(after(&world, &id, 2).await, [] as [Value; 0]);
    }
    pages.at("/", Script::status(500));
    let down = after(&world, &id, 2).await;
    assert_eq!(down.len(), 1, "{down:?}");
    assert_eq!(down[0]["severity"], "critical");
    let still = after(&world, &id, 3).await;
    assert_eq!((still.len(), &still[0]["id"]), (1, &down[0]["id"]));
    world.told_of("site.down", 1).await;
    world.all_delivered().await;
    assert_eq!(world.told(|event| event == "site.down").len(), 1, "no repeats");
    assert_eq!(world.told(|event| event == "site.up").len(), 0);

    let record = world.latest("uptime", &id, |_| true).await;
    assert_eq!(record["status"], "down");
    pages.at("/", Script::html("open"));
    after(&world, &id, 3).await;
    world.alerts("uptime", 0).await;
    world.told_of("site.up", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_site_is_a_warning_and_worse_when_it_goes_down() {
    let (world, pages, id) = by_hand(json!({"degraded_ms": 300})).await;
    pages.at("/", Script::html("open").late(Duration::from_millis(500)));
    let slow = after(&world, &id, 2).await;
    assert_eq!(slow.len(), 1, "{slow:?}");
    assert_eq!((&slow[0]["severity"], &slow[0]["type"]), (&json!("warning"), &json!("uptime")));
    assert_eq!(world.latest("uptime", &id, |_| true).await["status"], "degraded");
    world.told_of("site.degraded", 1).await;

    pages.at("/", Script::status(502));
    let down = after(&world, &id, 2).await;
    let critical: Vec<_> = down.iter().filter(|alert| alert["severity"] == "critical").collect();
    assert_eq!((down.len(), critical.len()), (1, 1), "{down:?}");
    assert_eq!(world.told_of("site.down", 1).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_keyword_is_down() {
    let (world, pages, id) = by_hand(json!({"keyword": "open"})).await;
    pages.at("/", Script::html("Our shop is closed for good"));
    let alerts = after(&world, &id, 2).await;
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert!(text(&alerts[0]["message"]).contains("open"), "the word is named: {alerts:?}");
    let record = world.latest("uptime", &id, |_| true).await;
    assert_eq!(record["result"]["keyword_match"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_free_account_is_watched_every_five_minutes_at_most() {
    let world =
        World::with(|settings| settings.toml = "[intervals]\nuptime = \"1s\"\n".into()).await;
    let pages = world.lab.pages(NAME).await.expect("free port");
    pages.at("/", Script::html("open"));
    let (free, paying) = (world.account("free").await, &world.owner);
    for client in [&free.client, &paying.client] {
        let body = json!({"domain": NAME, "custom_port": pages.port(), "check_types": ["ssl"]});
        client.post("/sites", body).await.expect(200);
    }
    let sites = paying.client.get("/sites").await.expect(200);
    let id = text(&sites["sites"][0]["id"]);
    let sites = free.client.get("/sites").await.expect(200);
    let path = format!("/checks?site_id={}&check_type=uptime", text(&sites["sites"][0]["id"]));
    // Ten calls in ten seconds are all that it has.
    let runs = async || {
        let page = free.client.get(&path).await;
        (page.status == 200).then(|| page.json()["total"].as_u64().expect("a count"))
    };
    until("a run of the free account", async || runs().await.filter(|runs| *runs > 0)).await;
    let before = world.count("uptime", &id).await;
    until("four more runs of the paying account", async || {
        (world.count("uptime", &id).await >= before + 4).then_some(())
    })
    .await;
    let runs = until("the runs of the free account", runs).await;
    // The grid of five minutes may happen to have a point in these seconds.
    assert!((1..=2).contains(&runs), "{runs}");
}
