//! What a status page costs: written anew, from memory, and for a crowd.
//!
//! ```text
//! cargo run --release -p vedette-server --example status_page -- [SITES] [DATABASE]
//! ```
//!
//! One account with that many sites (100, whatever its plan allows), each with a run on every one of
//! the last 90 days. Then the page is asked for after a change, again without one, and by many at
//! once.

mod instance;

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use chrono::TimeDelta;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use vedette_model::{
    Assessment, CheckRecord, CheckStatus, CheckType, Health, NewSite, Site, Source, Timestamp,
    alert::{Context, reconcile},
};
use vedette_server::{App, Clock, Config, service};
use vedette_store::Commit;

const DAYS: i64 = 90;
const CROWD: usize = 200;
const ROUNDS: u32 = 20;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let sites: usize = arguments.next().map_or(Ok(100), |text| text.parse())?;
    let database = arguments.next().unwrap_or_else(|| "mem://".to_owned());
    instance::run(measure(sites, database))
}

async fn measure(sites: usize, database: String) -> anyhow::Result<()> {
    let shutdown = CancellationToken::new();
    let config = Config {
        // Nobody: what the scheduler does meanwhile asks no one outside.
        dns_server: vec!["127.0.0.1:9".parse().ok().context("an address")?],
        ..instance::config(database)
    };
    let running = vedette_server::serve(config, Clock::System, shutdown.clone()).await?;
    let app = &running.app;
    let (caller, _) = instance::account(app, "owner@example.com").await?;
    for number in 0..sites {
        let body = json!({ "domain": format!("service-{number}.example.com") });
        let new = NewSite::parse(&body, &app.sandbox.check_types())?;
        let site = new.into_site(Uuid::new_v4().into(), caller.account.id, app.clock.now());
        app.store.create_site(&site, u32::MAX, &[]).await?;
        fill(app, &site).await?;
    }
    let enable = json!({ "status_page_enabled": true, "status_page_title": "Acme" });
    service::settings::update(app, &caller, &enable).await?;

    let mut anew = Duration::ZERO;
    let mut kept = Duration::ZERO;
    let mut bytes = 0;
    for _ in 0..ROUNDS {
        // A change forgets the page.
        service::settings::update(app, &caller, &enable).await?;
        let started = Instant::now();
        bytes = ask(running.api_addr).await?;
        anew += started.elapsed();
        let started = Instant::now();
        ask(running.api_addr).await?;
        kept += started.elapsed();
    }
    println!("{sites} sites, {bytes} bytes with headers, packed");
    println!("written anew  {:>9.2?}", anew / ROUNDS);
    println!("from memory   {:>9.2?}", kept / ROUNDS);
    service::settings::update(app, &caller, &enable).await?;
    let started = Instant::now();
    let address = running.api_addr;
    let crowd: Vec<_> = (0..CROWD).map(|_| tokio::spawn(ask(address))).collect();
    for visitor in crowd {
        visitor.await??;
    }
    println!("{CROWD} at once, the first after a change  {:>9.2?}", started.elapsed());
    shutdown.cancel();
    running.finished().await
}

/// A run on each of the last days; on some it was slow.
async fn fill(app: &App, site: &Site) -> anyhow::Result<()> {
    let check_type: CheckType = "uptime".parse()?;
    let now = app.clock.now();
    for day in (0..DAYS).rev() {
        let at = now - TimeDelta::days(day);
        let context = app.store.check_context(site.account_id, site.id, &check_type).await?;
        let context = context.context("the site is there")?;
        let health = if day % 20 == 7 { Health::Degraded } else { Health::Ok };
        let model = Context {
            account_id: site.account_id,
            site,
            check_type: &check_type,
            events: &[],
            state: &context.state,
            open: &context.open,
            maintenance: false,
            now: at,
        };
        let assessment = Assessment { health, findings: Vec::new(), memory: None };
        let record = record(site, &check_type, at);
        let decision = reconcile(&model, record, Some(assessment), &mut Uuid::new_v4);
        let commit = Commit {
            account_id: site.account_id,
            node: "example",
            expected_version: context.state.version,
            decision: &decision,
            deliveries: &[],
            settle: None,
            next_due: None,
        };
        match app.store.commit(commit).await {
            // The scheduler was faster with a run of its own.
            Ok(()) | Err(vedette_store::Error::Stale) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
    Ok(())
}

fn record(site: &Site, check_type: &CheckType, at: Timestamp) -> CheckRecord {
    CheckRecord {
        id: Uuid::new_v4().into(),
        site_id: site.id,
        check_type: check_type.clone(),
        checked_at: at,
        status: CheckStatus::Ok,
        result: json!({ "status": "up", "response_time_ms": 120 }),
        error: None,
        duration_ms: 120,
        source: Source::Api,
        location: "local".to_owned(),
    }
}

/// One visit, packed, on a connection of its own; the bytes of the answer.
async fn ask(address: SocketAddr) -> anyhow::Result<usize> {
    let mut stream = TcpStream::connect(address).await?;
    let request = "GET /status/acme HTTP/1.1\r\nhost: x\r\naccept-encoding: br\r\n\
                   connection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    ensure!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    Ok(answer.len())
}
