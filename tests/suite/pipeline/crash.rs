//! `kill -9` at random moments under load: every acknowledged write is there afterwards, every
//! alert arrives at least once.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::sync::Notify;
use vedette_tests::{Client, Site};

use crate::world::{World, text, until};

/// Twenty rounds are the figure (`VEDETTE_CRASH_ROUNDS=20`); a few keep the suite short.
const ROUNDS: u32 = 4;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost() {
    let rounds = std::env::var("VEDETTE_CRASH_ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(ROUNDS);
    let mut world =
        World::with(|settings| settings.toml = "[intervals]\nssl = \"1s\"\n".into()).await;
    let site = world.site("load.example", 5).await;
    let mut acknowledged = BTreeSet::new();
    let mut accounts = Vec::new();
    for round in 0..rounds {
        // A plan has fifty sites: every round has an account of its own.
        let account = world.account("pro").await;
        let hook =
            json!({"custom_webhook_url": world.lab.receiver.url(&format!("/{}", account.id))});
        account.client.patch("/settings/notifications", hook).await.expect(200);
        let begun = Arc::new(Notify::new());
        let client = account.client.clone();
        let writer = tokio::spawn(write(client, round, site.port(), Arc::clone(&begun)));
        name_sites(&world, round, &site);
        begun.notified().await;
        tokio::time::sleep(moment(round)).await;
        world.service.kill().await.expect("killed");
        let written = writer.await.expect("the writer ends when nobody answers");
        assert!(!written.is_empty(), "round {round} wrote nothing");
        acknowledged.extend(written);
        world.service = world.service.start_again().await.expect("starts after a crash");
        accounts.push(account.key);
    }
    let kept = all_sites(&world, &accounts).await;
    let lost: Vec<_> = acknowledged.difference(&kept).collect();
    assert!(lost.is_empty(), "lost after {rounds} crashes: {lost:?}");
    every_alert_arrives(&world, &accounts).await;
}

/// Creates sites until the service is gone; returns what was acknowledged. Tells when that begins.
async fn write(client: Client, round: u32, port: u16, begun: Arc<Notify>) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0..50 {
        let domain = domain(round, number);
        let body = json!({"domain": domain, "custom_port": port, "check_types": ["ssl"]});
        let request = client.request(reqwest::Method::POST, "/sites").json(&body);
        match request.send().await {
            Ok(response) if response.status().is_success() => {
                acknowledged.push(domain);
                begun.notify_one();
            }
            Ok(response) => panic!("{domain} was answered {}", response.status()),
            Err(_) => break,
        }
    }
    // Also where nothing ever was.
    begun.notify_one();
    acknowledged
}

fn name_sites(world: &World, round: u32, site: &Site) {
    for number in 0..50 {
        world
            .lab
            .dns
            .answer(&domain(round, number), vedette_tests::Reply::address(site.address().ip()));
    }
}

fn domain(round: u32, number: u32) -> String {
    format!("s{number}.r{round}.load.example")
}

/// Spread over the first second of what was acknowledged, another in every round.
fn moment(round: u32) -> Duration {
    Duration::from_millis(u64::from(round * 7919 % 900) + 50)
}

async fn all_sites(world: &World, keys: &[String]) -> BTreeSet<String> {
    let mut domains = BTreeSet::new();
    for key in keys {
        let listed = world.service.client().with_key(key).get("/sites").await.expect(200);
        domains.extend(
            listed["sites"].as_array().into_iter().flatten().map(|site| text(&site["domain"])),
        );
    }
    domains
}

/// The certificate is the wrong one for all of them: each site has an alert, and each alert must
/// reach the receiver.
async fn every_alert_arrives(world: &World, keys: &[String]) {
    for key in keys {
        let client = world.service.client().with_key(key);
        let sites = client.get("/sites").await.expect(200)["sites"].as_array().map_or(0, Vec::len);
        until("every alert to arrive", async || {
            let page = client.get("/alerts?type=ssl&limit=200").await.expect(200);
            let raised: BTreeSet<_> = ids(&page["alerts"], "id").collect();
            let received = world.lab.receiver.received();
            let payloads = received.iter().filter_map(|hook| hook.json().ok());
            let delivered: BTreeSet<_> = payloads
                .flat_map(|payload| ids(&payload["alerts"], "alert_id").collect::<Vec<_>>())
                .collect();
            let per_site: BTreeSet<_> = ids(&page["alerts"], "site_id").collect();
            (per_site.len() == sites && raised.is_subset(&delivered)).then_some(())
        })
        .await;
    }
}

fn ids<'a>(alerts: &'a Value, field: &'a str) -> impl Iterator<Item = String> + 'a {
    alerts.as_array().into_iter().flatten().map(move |alert| text(&alert[field]))
}

/// The figure is `VEDETTE_CRASH_EVERY_MS=5000 VEDETTE_CRASH_ROUNDS=50 VEDETTE_CRASH_ALERTS=200`.
const EVERY_MS: u64 = 700;
const ALERTS: u64 = 40;
/// Of each account: as many as its calls of a minute allow.
const SITES: u64 = 20;

#[tokio::test(flavor = "multi_thread")]
async fn no_alert_is_lost_or_told_under_two_ids_while_the_service_dies_again_and_again() {
    let rounds = number("VEDETTE_CRASH_ROUNDS", u64::from(ROUNDS));
    let every = Duration::from_millis(number("VEDETTE_CRASH_EVERY_MS", EVERY_MS));
    let alerts = number("VEDETTE_CRASH_ALERTS", ALERTS);
    let mut world = World::start().await;
    let mut raised = BTreeSet::new();
    for _ in 0..rounds {
        let begun = Arc::new(Notify::new());
        let mut reporters = tokio::task::JoinSet::new();
        for _ in 0..alerts.div_ceil(SITES) {
            let account = world.account("pro").await;
            let url = world.lab.receiver.url(&format!("/{}", account.id));
            let hook = json!({"custom_webhook_url": url});
            account.client.patch("/settings/notifications", hook).await.expect(200);
            let mut sites = Vec::new();
            for number in 0..SITES {
                let domain = format!("a{number}.example");
                let body = json!({"domain": domain, "monitoring_enabled": false});
                let created = account.client.post("/sites", body).await.expect(200);
                sites.push(text(&created["site"]["id"]));
            }
            reporters.spawn(report(account.client, sites, Arc::clone(&begun)));
        }
        begun.notified().await;
        tokio::time::sleep(every).await;
        world.service.kill().await.expect("killed");
        while let Some(reported) = reporters.join_next().await {
            raised.extend(reported.expect("a reporter ends when nobody answers"));
        }
        world.service = world.service.start_again().await.expect("starts after a crash");
    }
    assert!(!raised.is_empty(), "the load raised something");
    let told = until("every alert to arrive", async || {
        let told = told(&world);
        let sites: BTreeSet<String> = told.iter().map(|(site, _)| site.clone()).collect();
        raised.is_subset(&sites).then_some(told)
    })
    .await;
    let once: BTreeSet<_> = told.iter().collect();
    println!("{} alerts, lost 0, told again {}", raised.len(), told.len() - once.len());
    let sites: BTreeSet<_> = once.iter().map(|(site, _)| site).collect();
    assert_eq!(once.len(), sites.len(), "an alert has one delivery, however often it is sent");
}

/// Raises one alert of each site until the service is gone; the sites whose alert was
/// acknowledged. Tells when that begins.
async fn report(client: Client, sites: Vec<String>, begun: Arc<Notify>) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for site in sites {
        let body = json!({
            "site_id": site, "check_type": "domain", "result": crate::world::registration(3),
        });
        let request = client.request(reqwest::Method::POST, "/checks").json(&body);
        match request.send().await {
            Ok(response) if response.status().is_success() => {
                acknowledged.push(site);
                begun.notify_one();
            }
            Ok(_) => (),
            Err(_) => break,
        }
    }
    // Also where nothing ever was.
    begun.notify_one();
    acknowledged
}

/// The site of each alert that arrived, and the id of the delivery that it came with.
fn told(world: &World) -> Vec<(String, String)> {
    let mut told = Vec::new();
    for hook in world.lab.receiver.received() {
        let id = hook.header("x-vedette-delivery").unwrap_or_default().to_owned();
        let Ok(payload) = hook.json() else { continue };
        told.extend(ids(&payload["alerts"], "site_id").map(|site| (site, id.clone())));
    }
    told
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
