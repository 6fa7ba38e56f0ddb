//! From an alert to its receiver: how long it takes, beside a receiver that never answers, and how
//! exact the retries are.
//!
//! An alert is raised by a result that is brought; its commit is over when that call answers. Each
//! account reports every three seconds, so that its channel is quiet each time.

use std::{collections::HashMap, time::Duration};

use anyhow::Context;
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::Instant};
use vedette_tests::{Account, Lab, Receiver, Response, Service};

use super::print_row;

/// A hundred alerts a second.
const ACCOUNTS: usize = 300;
const PAUSE: Duration = Duration::from_secs(3);
const ALERTS: usize = 7;

pub(crate) async fn measure(lab: &Lab) -> anyhow::Result<()> {
    let service = Service::start(lab.settings()).await?;
    let rate = ACCOUNTS as f64 / PAUSE.as_secs_f64();
    println!("alerts, {rate:.0} a second over {ACCOUNTS} accounts");
    let mut alone = load(&service, &lab.receiver).await?;
    print_row("  from the commit to a quiet channel's receiver", &mut alone);

    let hanging = Receiver::start().await?;
    hanging.answer_always(Response::Hang);
    let slow = reporter(&service, &hanging, ALERTS).await?;
    let stuck = tokio::spawn(async move { report(&slow, Duration::from_millis(200)).await });
    let mut beside = load(&service, &lab.receiver).await?;
    stuck.await??;
    print_row("  the same beside a receiver that never answers", &mut beside);
    // Each round finds more in the database than the one before.
    let mut again = load(&service, &lab.receiver).await?;
    print_row("  and alone once more", &mut again);
    let alone = (p99(&alone) + p99(&again)).as_secs_f64() / 2.0;
    let ratio = p99(&beside).as_secs_f64() / alone.max(f64::EPSILON);
    println!("  ratio of the p99: {ratio:.2}");
    retries(&service).await
}

/// An account with its sites; each raises one alert.
struct Reporter {
    account: Account,
    sites: Vec<String>,
}

async fn reporter(
    service: &Service,
    receiver: &Receiver,
    sites: usize,
) -> anyhow::Result<Reporter> {
    let email = format!("{}@example.com", uuid::Uuid::new_v4());
    let account = service.account(&email, "pro").await?;
    let hook = json!({"custom_webhook_url": receiver.url("/hook")});
    account.client.patch("/settings/notifications", hook).await.expect(200);
    let mut ids = Vec::new();
    for number in 0..sites {
        let body = json!({"domain": format!("s{number}.example"), "monitoring_enabled": false});
        let created = account.client.post("/sites", body).await.expect(200);
        ids.push(created["site"]["id"].as_str().context("an id")?.to_owned());
    }
    Ok(Reporter { account, sites: ids })
}

/// Raises the alerts; when the commit of each was over.
async fn report(reporter: &Reporter, pause: Duration) -> anyhow::Result<Vec<(String, Instant)>> {
    let mut committed = Vec::new();
    for site in &reporter.sites {
        let next = Instant::now() + pause;
        let body = json!({"site_id": site, "check_type": "domain", "result": {
            "registrar": "Lab", "expires_at": chrono::Utc::now() + chrono::TimeDelta::hours(84),
            "days_remaining": 3, "name_servers": [], "privacy_protected": true, "error": null,
        }});
        reporter.account.client.post("/checks", body).await.expect(200);
        committed.push((site.clone(), Instant::now()));
        tokio::time::sleep_until(next).await;
    }
    Ok(committed)
}

async fn load(service: &Service, receiver: &Receiver) -> anyhow::Result<Vec<Duration>> {
    let before = receiver.received().len();
    let mut reporters = Vec::new();
    for _ in 0..ACCOUNTS {
        reporters.push(reporter(service, receiver, ALERTS).await?);
    }
    let mut tasks = JoinSet::new();
    for (nth, reporter) in (0_u32..).zip(reporters) {
        tasks.spawn(async move {
            // Spread over the pause.
            tokio::time::sleep(PAUSE * nth / u32::try_from(ACCOUNTS)?).await;
            report(&reporter, PAUSE).await
        });
    }
    let mut committed = HashMap::new();
    while let Some(reported) = tasks.join_next().await {
        committed.extend(reported??);
    }
    let (mut took, mut seen) = (Vec::new(), before);
    // A machine that is late makes two alerts one notification.
    while took.len() < committed.len() {
        let received = receiver
            .wait_for(seen + 1)
            .await
            .with_context(|| format!("{} of {} alerts were told", took.len(), committed.len()))?;
        for hook in &received[seen..] {
            let payload: Value = hook.json()?;
            for alert in payload["alerts"].as_array().into_iter().flatten() {
                let site = alert["site_id"].as_str().unwrap_or_default();
                let at = committed.get(site).context("a site of this load")?;
                took.push(hook.at.saturating_duration_since(*at));
            }
        }
        seen = received.len();
    }
    println!("  {} notifications for {} alerts", seen - before, took.len());
    Ok(took)
}

async fn retries(service: &Service) -> anyhow::Result<()> {
    let failing = Receiver::start().await?;
    failing.answer_always(Response::Status(503, Vec::new()));
    let reporter = reporter(service, &failing, 1).await?;
    report(&reporter, Duration::ZERO).await?;
    let tries = failing.wait_for(3).await?;
    let (second, third) = (tries[1].at - tries[0].at, tries[2].at - tries[1].at);
    println!("  retries after {second:.3?} and {third:.3?}");
    Ok(())
}

fn p99(sorted: &[Duration]) -> Duration {
    sorted.get(sorted.len().saturating_sub(1) * 99 / 100).copied().unwrap_or_default()
}
