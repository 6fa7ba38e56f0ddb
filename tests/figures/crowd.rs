//! Many accounts that watch one host which hangs: when the last of them is told, beside the first.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use serde_json::json;
use tokio::{net::TcpListener, time::Instant};
use vedette_tests::{Account, Lab, Service};

use super::print_row;

const ACCOUNTS: usize = 500;
const PAUSE: Duration = Duration::from_secs(1);

pub(crate) async fn measure(lab: &Lab) -> anyhow::Result<()> {
    let service = Service::start(lab.settings()).await?;
    let (port, looks) = hanging().await?;
    let mut waiting = Vec::new();
    for number in 0..ACCOUNTS {
        let account = service.account(&format!("{number}@example.com"), "pro").await?;
        waiting.push(account);
    }
    let begun = Instant::now();
    let mut watching = Vec::new();
    for account in waiting {
        let body = json!({
            "domain": "crowd.example", "origin_ip": "127.0.0.1", "custom_port": port,
            "check_types": ["ssl"],
        });
        let created = account.client.post("/sites", body).await.expect(200);
        let site = created["site"]["id"].as_str().context("an id")?.to_owned();
        watching.push((account, site));
    }
    let mut told = Vec::new();
    while !watching.is_empty() {
        tokio::time::sleep(PAUSE).await;
        for (account, site) in std::mem::take(&mut watching) {
            if is_told(&account, &site).await {
                told.push(begun.elapsed());
            } else {
                watching.push((account, site));
            }
        }
    }
    let first = told.first().copied().unwrap_or_default();
    println!("{ACCOUNTS} accounts that watch one host which hangs");
    print_row("  from the first site to a result of each", &mut told);
    let last = told.last().copied().unwrap_or_default();
    let ratio = last.as_secs_f64() / first.as_secs_f64().max(f64::EPSILON);
    println!("  the last beside the first: {ratio:.1} times");
    println!("  connections to the host: {}", looks.load(Ordering::SeqCst));
    Ok(())
}

async fn is_told(account: &Account, site: &str) -> bool {
    let checks = account.client.get(&format!("/checks?site_id={site}")).await.expect(200);
    checks["ssl"].is_object()
}

/// A port that takes connections and says nothing, and how many there were.
async fn hanging() -> anyhow::Result<(u16, Arc<AtomicUsize>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            held.push(stream);
        }
    });
    Ok((port, count))
}
