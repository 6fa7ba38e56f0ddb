//! How fast the store is on this machine: durable commits, and reads as the history grows.
//!
//! `cargo run --release -p vedette-store --example throughput -- [records] [directory]`
//!
//! What is read with ten thousand records is read again with all of them.

use std::error::Error;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{TimeDelta, TimeZone, Utc};
use serde_json::{Value, json};
use uuid::Uuid;
use vedette_model::alert::{Context, reconcile};
use vedette_model::{
    Account, ApiKey, Assessment, CheckId, CheckRecord, CheckStatus, CheckType, DomainName, Health,
    Role, Site, Source, Timestamp,
};
use vedette_store::{CheckFilter, Commit, Options, Seal, Settle, Store};

/// All of one account.
const SITES: usize = 64;
/// Records that the first reads find.
const FEW: usize = 10_000;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let records: usize = arguments.next().map_or(Ok(20_000), |text| text.parse())?;
    let temporary = tempfile::tempdir()?;
    let directory = arguments.next().map_or(temporary.path().to_owned(), Into::into);
    tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(10 << 20)
        .enable_all()
        .build()?
        .block_on(measure(records, &directory))
}

async fn measure(records: usize, directory: &Path) -> Outcome<()> {
    let url = format!("surrealkv://{}", directory.display());
    let begun = Instant::now();
    let store = Arc::new(Store::open(&url, Options::new(Seal::ephemeral())).await?);
    println!("open                      {:>9.1?}", begun.elapsed());

    let account = sign_up(&store).await?;
    let mut sites = Vec::new();
    for nth in 0..SITES {
        sites.push(create_site(&store, &account, nth).await?);
    }

    let begun = Instant::now();
    let mut times = Vec::new();
    for nth in 0..500 {
        let begun = Instant::now();
        run(&store, &account, &sites[0], base() + TimeDelta::seconds(nth)).await?;
        times.push(begun.elapsed());
    }
    println!(
        "runs, one after another   {:>9.0}/s  {}",
        500.0 / begun.elapsed().as_secs_f64(),
        spread(times)
    );

    let few = FEW.min(records) / sites.len();
    fill(&store, &account, &sites, 0..few).await?;
    read(&store, &account, &sites[0], few).await?;
    let all = records / sites.len();
    if all > few {
        fill(&store, &account, &sites, few..all).await?;
        read(&store, &account, &sites[0], all).await?;
    }
    store.close().await?;
    println!("on disk                   {:>9.1} MB", size(directory)? as f64 / 1e6);
    Ok(())
}

/// Runs of all sites at once, of each as many as the range is long.
async fn fill(
    store: &Arc<Store>,
    account: &Account,
    sites: &[Site],
    runs: Range<usize>,
) -> Outcome<()> {
    let written = runs.len() * sites.len();
    let begun = Instant::now();
    let tasks: Vec<_> = sites
        .iter()
        .cloned()
        .map(|site| {
            let (store, account, runs) = (Arc::clone(store), account.clone(), runs.clone());
            tokio::spawn(async move {
                let mut times = Vec::new();
                for nth in runs {
                    let at = base() + TimeDelta::seconds(1_000 + i64::try_from(nth)? * 60);
                    let begun = Instant::now();
                    run(&store, &account, &site, at).await?;
                    times.push(begun.elapsed());
                }
                Outcome::Ok(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await??);
    }
    let rate = written as f64 / begun.elapsed().as_secs_f64();
    println!("runs, 64 sites at once    {rate:>9.0}/s  {}", spread(times));
    Ok(())
}

/// Reads of a site with so many runs.
async fn read(store: &Store, account: &Account, site: &Site, runs: usize) -> Outcome<()> {
    println!("-- {} records, {runs} of the site", runs * SITES);
    let (site, account) = (site.id, account.id);
    let filter = |limit, offset| CheckFilter {
        check_type: Some(uptime()),
        limit,
        offset,
        ..CheckFilter::default()
    };
    repeat("caller", || async { store.caller("hash").await.map(drop) }).await?;
    repeat("count_call", || async {
        store.count_call(account, "2026-11", 1 << 40).await.map(drop)
    })
    .await?;
    repeat("sites of 64", || async { store.listed_sites(account).await.map(drop) }).await?;
    repeat("check_context", || async {
        store.check_context(account, site, &uptime()).await.map(drop)
    })
    .await?;
    repeat("latest_checks", || async { store.latest_checks(account, site).await.map(drop) })
        .await?;
    for (name, limit, offset) in [
        ("page of 50", 50, 0),
        ("page of 200", 200, 0),
        ("page of 50 at the end", 50, u32::try_from(runs)?),
    ] {
        let filter = &filter(limit, offset);
        repeat(name, || async { store.checks_page(account, site, filter).await.map(drop) }).await?;
    }
    let bounded = CheckFilter {
        from: Some(base() + TimeDelta::hours(1)),
        until: Some(base() + TimeDelta::hours(3)),
        ..filter(50, 0)
    };
    let all = CheckFilter { check_type: None, ..bounded.clone() };
    for (name, filter) in [("page of two hours", &bounded), ("the same of all types", &all)] {
        repeat(name, || async { store.checks_page(account, site, filter).await.map(drop) }).await?;
    }
    Ok(())
}

async fn repeat<F>(name: &str, call: impl Fn() -> F) -> Outcome<()>
where
    F: Future<Output = vedette_store::Result<()>>,
{
    let mut times = Vec::new();
    for _ in 0..300 {
        let begun = Instant::now();
        call().await?;
        times.push(begun.elapsed());
    }
    println!("{name:<26}             {}", spread(times));
    Ok(())
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |part: f64| times[(part * (times.len() - 1) as f64) as usize];
    format!("p50 {:>8.1?}  p99 {:>8.1?}", at(0.5), at(0.99))
}

/// Lease, context, decision, commit: what the pipeline does for each run.
async fn run(store: &Store, account: &Account, site: &Site, at: Timestamp) -> Outcome<()> {
    let context =
        store.check_context(account.id, site.id, &uptime()).await?.ok_or("the site is gone")?;
    let check_type = uptime();
    let model = Context {
        account_id: account.id,
        site,
        check_type: &check_type,
        events: &[],
        state: &context.state,
        open: &context.open,
        maintenance: false,
        now: at,
    };
    let assessment = Assessment { health: Health::Ok, findings: Vec::new(), memory: None };
    let decision = reconcile(&model, record(site, at), Some(assessment), &mut Uuid::new_v4);
    let settle: Option<Settle<'_>> = None;
    store
        .commit(Commit {
            account_id: account.id,
            node: "example",
            expected_version: context.state.version,
            decision: &decision,
            deliveries: &[],
            settle,
            next_due: Some(at),
        })
        .await?;
    Ok(())
}

fn base() -> Timestamp {
    Utc.with_ymd_and_hms(2026, 1, 1, 0, 0, 0).unwrap()
}

fn uptime() -> CheckType {
    CheckType::try_from("uptime".to_owned()).expect("it is a name")
}

fn record(site: &Site, at: Timestamp) -> CheckRecord {
    CheckRecord {
        id: CheckId(Uuid::new_v4()),
        site_id: site.id,
        check_type: uptime(),
        checked_at: at,
        status: CheckStatus::Ok,
        result: answer(&site.domain),
        error: None,
        duration_ms: 82,
        source: Source::Scheduler,
        location: "local".to_owned(),
    }
}

/// What the uptime check tells, with times that are never the same.
fn answer(domain: &DomainName) -> Value {
    let chance = Uuid::new_v4().as_u128();
    let milliseconds = |shift: u32| (chance >> shift & 0xffff) as f64 / 1_000.0;
    let ttfb = milliseconds(0) + milliseconds(16) + milliseconds(32) + milliseconds(48);
    json!({
        "status": "up", "status_code": 200, "response_time_ms": ttfb + milliseconds(80),
        "ttfb_ms": ttfb, "keyword_match": null, "error": null, "url": format!("https://{domain}/"),
        "final_url": format!("https://www.{domain}/"), "redirects": 1, "phases": {
            "dns_ms": milliseconds(0), "connect_ms": milliseconds(16), "tls_ms": milliseconds(32),
            "first_byte_ms": milliseconds(48), "transfer_ms": milliseconds(80)
        }
    })
}

async fn sign_up(store: &Store) -> Outcome<Account> {
    let account = Account {
        id: Uuid::new_v4().into(),
        email: "ops@example.com".to_owned(),
        full_name: None,
        edition: "standard".to_owned(),
        plan: "pro".to_owned(),
        created_at: Utc::now(),
    };
    let key = ApiKey {
        id: Uuid::new_v4().into(),
        account_id: account.id,
        name: "first".to_owned(),
        prefix: "ct_".to_owned(),
        hash: "hash".to_owned(),
        created_at: Utc::now(),
        last_used_at: None,
        expires_at: None,
        role: Role::Owner,
        made_by: None,
    };
    store.create_account(&account, &key).await?;
    Ok(account)
}

async fn create_site(store: &Store, account: &Account, nth: usize) -> Outcome<Site> {
    let site = Site {
        id: Uuid::new_v4().into(),
        account_id: account.id,
        domain: DomainName::parse(&format!("s{nth}.example.com"))
            .map_err(|error| error.to_string())?,
        check_types: vec![uptime()],
        custom_port: None,
        origin_ip: None,
        alert_days: 14,
        monitoring_enabled: true,
        check_config: Default::default(),
        dns_provider: None,
        dns_provider_config: None,
        deploy_target: None,
        deploy_config: None,
        label: None,
        created_at: Utc::now(),
    };
    store.create_site(&site, 1_000, &[(uptime(), Utc::now())]).await?;
    Ok(site)
}

fn size(directory: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { size(&entry.path())? } else { about.len() };
    }
    Ok(bytes)
}
