//! `make run`: Vedette at its main job, on one terminal.
//!
//! Three sites on loopback (a healthy one, one whose certificate ends in five days, one with the
//! certificate of another host), a DNS server that names them, a webhook receiver that prints
//! what it gets, and the real service on an embedded database. Ends with Ctrl-C.

use std::{
    collections::BTreeMap,
    net::{SocketAddr, TcpListener},
    time::Duration,
};

use anyhow::{Context, ensure};
use chrono::Local;
use serde_json::{Value, json};
use tokio::{
    signal::unix::{SignalKind, signal},
    time::Instant,
};
use vedette_tests::{Client, Lab, Leaf, Received, Service, Settings, Site};

const HEALTHY: &str = "healthy.example";
const EXPIRING: &str = "expiring.example";
const WRONG_HOST: &str = "wrong-host.example";

/// Short enough to watch; the default is six hours.
const CONFIG: &str = "[intervals]\nssl = \"20s\"\n";
/// First checks run at once; a loaded machine may take longer.
const FIRST_CHECKS: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_secs(1);
/// Two sites have something wrong with them; what else they are told for follows later.
const FIRST_HOOKS: usize = 2;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let lab = Lab::start().await?;
    let sites = start_sites(&lab).await?;
    say(
        "lab",
        &format!(
            "DNS server on {}, webhook receiver on {}",
            lab.dns.address(),
            lab.receiver.address()
        ),
    );
    for (domain, site) in &sites {
        say("lab", &format!("https://{domain} on {}", site.address()));
    }

    let mut service = Service::start(settings(&lab)).await?;
    tokio::select! {
        shown = show(&service, &lab, &sites) => shown?,
        _ = interrupt.recv() => return stop(&mut service).await,
        _ = terminate.recv() => return stop(&mut service).await,
    }
    tokio::select! {
        _ = interrupt.recv() => (),
        _ = terminate.recv() => (),
        () = print_webhooks(&lab) => (),
    }
    stop(&mut service).await
}

async fn start_sites(lab: &Lab) -> anyhow::Result<BTreeMap<&'static str, Site>> {
    let other = lab.authority.issue(&Leaf::for_names(&["somewhere-else.example"]))?;
    Ok(BTreeMap::from([
        (HEALTHY, lab.site(HEALTHY, lab.certificate(HEALTHY, 90)?).await?),
        (EXPIRING, lab.site(EXPIRING, lab.certificate(EXPIRING, 5)?).await?),
        (WRONG_HOST, lab.site(WRONG_HOST, other).await?),
    ]))
}

fn settings(lab: &Lab) -> Settings {
    Settings {
        listen: listen_address(),
        first_account: true,
        trusted_proxies: Vec::new(),
        toml: CONFIG.into(),
        echo: Some(|line| say("vedette", line)),
        ..lab.settings()
    }
}

/// The customary port where it is free, so that the printed lines look like everyday ones.
fn listen_address() -> SocketAddr {
    let customary = SocketAddr::from(([127, 0, 0, 1], 8080));
    match TcpListener::bind(customary) {
        Ok(_) => customary,
        Err(_) => SocketAddr::from(([127, 0, 0, 1], 0)),
    }
}

/// Registers the sites as a user would, then tells what Vedette found.
async fn show(service: &Service, lab: &Lab, sites: &BTreeMap<&str, Site>) -> anyhow::Result<()> {
    let key = service.first_key.as_deref().context("the first account's key was printed")?;
    let client = service.client().with_key(key);
    let hook = json!({"custom_webhook_url": lab.receiver.url("/hook")});
    client.patch("/settings/notifications", hook).await.expect(200);
    let mut ids = BTreeMap::new();
    for (domain, site) in sites {
        let body = json!({"domain": domain, "custom_port": site.port(), "check_types": ["ssl"]});
        let created = client.post("/sites", body).await.expect(200);
        ids.insert(*domain, text(&created["site"]["id"]));
    }
    for (domain, id) in &ids {
        say("lab", &first_check(&client, domain, id).await?);
    }
    for alert in client.get("/alerts").await.expect(200)["alerts"].as_array().into_iter().flatten()
    {
        say(
            "lab",
            &format!(
                "alert: {} {}: {}",
                text(&alert["severity"]),
                text(&alert["type"]),
                text(&alert["message"])
            ),
        );
    }
    for hook in lab.receiver.wait_for(FIRST_HOOKS).await?.iter().take(FIRST_HOOKS) {
        print_webhook(hook)?;
    }
    print_invitation(service, key, sites, &ids);
    Ok(())
}

async fn first_check(client: &Client, domain: &str, site_id: &str) -> anyhow::Result<String> {
    let deadline = Instant::now() + FIRST_CHECKS;
    loop {
        let latest = client.get(&format!("/checks?site_id={site_id}")).await.expect(200);
        let result = &latest["ssl"]["result"];
        if result.is_object() {
            let verdict = match result["error"].as_str() {
                None => "valid".to_owned(),
                Some(error) => error.to_owned(),
            };
            return Ok(format!(
                "check: {domain}: {verdict}, {} days left",
                result["days_remaining"]
            ));
        }
        ensure!(Instant::now() < deadline, "{domain} was not checked in {FIRST_CHECKS:?}");
        tokio::time::sleep(POLL).await;
    }
}

/// What arrives after the first alerts, for as long as the lab runs.
async fn print_webhooks(lab: &Lab) {
    let mut shown = FIRST_HOOKS;
    loop {
        if lab.receiver.wait_for(shown + 1).await.is_err() {
            continue; // quiet: the usual case
        }
        for hook in lab.receiver.received().iter().skip(shown) {
            if let Err(reason) = print_webhook(hook) {
                say("webhook", &format!("not the documented payload: {reason}"));
            }
            shown += 1;
        }
    }
}

fn print_webhook(hook: &Received) -> anyhow::Result<()> {
    say("webhook", &format!("received on {}:", hook.path));
    for line in serde_json::to_string_pretty(&hook.json()?)?.lines() {
        say("webhook", line);
    }
    Ok(())
}

fn print_invitation(
    service: &Service,
    key: &str,
    sites: &BTreeMap<&str, Site>,
    ids: &BTreeMap<&str, String>,
) {
    let base = format!("http://{}/v1", service.api);
    let auth = format!("-H 'Authorization: Bearer {key}'");
    let id = &ids[EXPIRING];
    let port = sites[HEALTHY].port();
    println!();
    println!("Vedette watches three sites and goes on until Ctrl-C. Try it:");
    println!();
    println!("  curl {auth} {base}/sites");
    println!("  curl {auth} {base}/alerts");
    println!("  curl {auth} '{base}/checks?site_id={id}'");
    println!(
        "  curl {auth} {base}/check-ssl --json '{{\"domain\": \"{HEALTHY}\", \"port\": {port}}}'"
    );
    println!("  curl {auth} -X POST {base}/settings/notifications");
    println!();
}

async fn stop(service: &mut Service) -> anyhow::Result<()> {
    say("lab", "stopping …");
    let code = service.stop().await?;
    ensure!(code == Some(0), "vedette ended with {code:?}");
    say("lab", "vedette stopped cleanly");
    Ok(())
}

fn say(who: &str, line: &str) {
    println!("{} {who:<8}│ {line}", Local::now().format("%H:%M:%S"));
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
