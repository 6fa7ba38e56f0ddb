//! How much one node does on this machine: `make figures`, or some of the figures by name:
//! `figures alerts mcp`.
//!
//! Absolute times depend on the machine; the floor printed beside each (a bare handshake, a bare
//! process) says how much of it is ours.

mod alerts;
mod crowd;
mod mcp;
mod stub;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use serde_json::json;
use vedette_model::{CheckType, domain_name::Target};
use vedette_sandbox::{Job, MemoryState, Options, Sandbox, egress};
use vedette_tests::{Lab, Service, Settings, Site};

/// As the program has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CHECKS: usize = 200;
const STUBBED: usize = 10_000;
const STARTS: usize = 5;
const IDLE: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let named: Vec<String> = std::env::args().skip(1).collect();
    let asked = |name: &str| named.is_empty() || named.iter().any(|named| named == name);
    let lab = Lab::start().await?;
    if asked("ssl") {
        check_ssl(&lab).await?;
    }
    if asked("plugin") {
        stubbed(&lab).await?;
    }
    if asked("alerts") {
        alerts::measure(&lab).await?;
    }
    if asked("crowd") {
        crowd::measure(&lab).await?;
    }
    if asked("start") {
        start_and_idle(&lab).await?;
    }
    if asked("mcp") {
        mcp::measure(&lab).await?;
    }
    Ok(())
}

/// Wall time of the ssl check against a loopback server, and the plugin's own share of it.
async fn check_ssl(lab: &Lab) -> anyhow::Result<()> {
    let domain = "figures.example";
    let site = lab.site(domain, lab.certificate(domain, 60)?).await?;
    let sandbox = sandbox(lab)?;
    let ssl: CheckType = "ssl".parse()?;
    let (mut whole, mut own, mut floor) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..CHECKS {
        floor.push(handshake(lab, &site, domain).await?);
        let ran = sandbox.run(&ssl, job(domain, &site)?).await?;
        ensure!(ran.observation.result["valid"] == true, "{}", ran.observation.result);
        whole.push(ran.duration);
        own.push(ran.duration.saturating_sub(ran.host_time));
    }
    println!("ssl check against a loopback server, {CHECKS} runs");
    print_row("  in all", &mut whole);
    print_row("  of it the plugin", &mut own);
    print_row("  floor: a bare rustls handshake", &mut floor);
    Ok(())
}

/// The built-in ssl plugin without a network.
async fn stubbed(lab: &Lab) -> anyhow::Result<()> {
    let mut cost = stub::measure(&sandbox(lab)?, STUBBED).await?;
    println!("ssl plugin with stubbed probes, {STUBBED} runs one after the other");
    print_row("  instantiate and drop", &mut cost.instances);
    print_row("  a whole run, without answering its probes", &mut cost.runs);
    print_row("  the same, with reading the answers from JSON", &mut cost.with_answers);
    println!("  all of them: {:.2?}", cost.whole);
    Ok(())
}

fn sandbox(lab: &Lab) -> anyhow::Result<Sandbox> {
    let root = lab.authority.root_der();
    let policy =
        egress::Policy { allow: vec!["127.0.0.0/8".parse()?], ..egress::Policy::default() };
    let egress = egress::Egress::new(egress::Options {
        policy,
        dns_servers: vec![lab.dns.address().into()],
        roots: vec![root],
        ..egress::Options::default()
    })?;
    let sandbox = Sandbox::new(Options {
        egress,
        cache_dir: None,
        settings: Default::default(),
        state: Arc::new(MemoryState::default()),
    })?;
    for plugin in vedette_bundle::BUILT_IN {
        sandbox.install(plugin.component, vedette_sandbox::Grant::AsAsked)?;
    }
    Ok(sandbox)
}

fn job(domain: &str, site: &Site) -> anyhow::Result<Job> {
    Ok(Job {
        run_id: "figures".into(),
        target: Target::parse(domain)?,
        port: Some(site.port()),
        connect_to: None,
        config: json!({}),
        // The standard edition shows no grade.
        omit: vec!["tls_grade".into()],
        now: chrono::Utc::now(),
        audience: egress::Audience::Authenticated,
        site: None,
        watched: false,
    })
}

async fn handshake(lab: &Lab, site: &Site, domain: &str) -> anyhow::Result<Duration> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(lab.authority.root_der())?;
    let config =
        rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let name = rustls::pki_types::ServerName::try_from(domain.to_owned())?;
    let started = Instant::now();
    let stream = tokio::net::TcpStream::connect(site.address()).await?;
    connector.connect(name, stream).await?;
    Ok(started.elapsed())
}

/// From exec to the first 200 with warm caches, and the memory of a service that has nothing to do.
async fn start_and_idle(lab: &Lab) -> anyhow::Result<()> {
    let mut service = Service::start(Settings { first_account: true, ..lab.settings() }).await?;
    let key = service.first_key.clone().context("an empty database gets an account")?;
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        service.stop().await?;
        let started = Instant::now();
        service = service.start_again().await?;
        service.client().with_key(&key).get("/sites").await.expect(200);
        starts.push(started.elapsed());
    }
    println!("serve with warm caches, {STARTS} starts");
    print_row("  exec to the first 200", &mut starts);
    tokio::time::sleep(IDLE).await;
    let pid = service.pid().context("it runs")?;
    println!("  resident after {IDLE:?} of idling: {:.0} MB", resident_mb(pid)?);
    Ok(())
}

fn resident_mb(pid: u32) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).context("a VmRSS line")?;
    let kilobytes: f64 = line.split_whitespace().nth(1).context("a number")?.parse()?;
    Ok(kilobytes / 1024.0)
}

fn print_row(what: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let at = |share: f64| {
        let last = times.len().saturating_sub(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index into a short list"
        )]
        let index = (share * last as f64).round() as usize;
        times.get(index).copied().unwrap_or_default()
    };
    println!("{what}: p50 {:.2?}, p99 {:.2?}", at(0.5), at(0.99));
}
