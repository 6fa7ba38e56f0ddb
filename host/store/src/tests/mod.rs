//! The store's contract, claim by claim, on both embedded engines; and on a server, where
//! `VEDETTE_TEST_SERVER` names one (`ws://root:root@127.0.0.1:8000`).

mod agent;
mod alert;
mod api_key;
mod billing;
mod commit;
mod delivery;
mod discard;
mod dropped;
mod event;
mod identity;
mod incident;
mod interrupted;
mod known;
mod lane;
mod maintenance;
mod node;
mod order;
mod page;
mod plan;
mod plugin_state;
mod purge;
mod record;
mod renewal;
mod reopen;
mod retention;
mod schedule;
mod seal;
mod server_time;
mod settings;
mod site;
mod status_page;
mod status_page_domain;
mod team;
mod tenancy;
mod tx;
mod usage;
mod welcome;

use std::future::Future;
use std::time::Duration;

use chrono::{TimeDelta, TimeZone, Utc};
use serde_json::{Value, json};
use uuid::Uuid;
use vedette_model::alert::{Context, reconcile};
use vedette_model::assessment::EventType;
use vedette_model::{
    Account, Alert, ApiKey, Assessment, CheckId, CheckRecord, CheckStatus, CheckType, Decision,
    DomainName, Finding, Health, Role, Severity, Site, Source, Timestamp,
};

use crate::{CheckContext, Commit, Options, Result, Rolled, Seal, Store, Wanted};

/// Runs a test on a fresh store of each kind.
fn on_both<F: Future<Output = ()>>(test: impl Fn(Store) -> F) {
    on_embedded(&test);
    let Ok(server) = std::env::var("VEDETTE_TEST_SERVER") else { return };
    runtime().block_on(async {
        let namespace = format!("test_{}", Uuid::new_v4().simple());
        test(open(&format!("{server}/{namespace}/main")).await).await;
    });
}

/// The same for what a process may only do that has the database to itself.
fn on_embedded<F: Future<Output = ()>>(test: impl Fn(Store) -> F) {
    runtime().block_on(async {
        test(memory().await).await;
        let directory = tempfile::tempdir().unwrap();
        let store = open(&on_disk(directory.path())).await;
        test(store.clone()).await;
        store.close().await.unwrap();
    });
}

/// The engine recurses deeply where it is not optimised.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .thread_stack_size(10 << 20)
        .enable_all()
        .build()
        .unwrap()
}

async fn memory() -> Store {
    open("mem://").await
}

async fn open(url: &str) -> Store {
    Store::open(url, options()).await.unwrap()
}

/// Every store of these tests has the same key, so that each may open what another left.
fn options() -> Options {
    keyed(KEYS[0])
}

/// With the keys of a file that says this.
fn keyed(file: &str) -> Options {
    Options::new(Seal::parse(file).unwrap())
}

fn on_disk(directory: &std::path::Path) -> String {
    format!("surrealkv://{}", directory.display())
}

/// Runs `count` copies of a call at the same time, each with its number.
async fn at_once<F, T>(count: usize, call: impl Fn(usize) -> F) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let tasks: Vec<_> = (0..count).map(|nth| tokio::spawn(call(nth))).collect();
    let mut answers = Vec::with_capacity(count);
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}

fn noon() -> Timestamp {
    Utc.with_ymd_and_hms(2026, 11, 20, 12, 0, 0).unwrap()
}

fn seconds(seconds: i64) -> TimeDelta {
    TimeDelta::seconds(seconds)
}

/// Two keys, each the text of a key file.
const KEYS: [&str; 2] = [
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
    "Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=\n",
];

/// Of a file after a change from the first of these keys to the second.
fn both_keys() -> String {
    format!("{}{}", KEYS[1], KEYS[0])
}

const LEASE: Duration = Duration::from_secs(60);

fn ssl() -> CheckType {
    "ssl".parse().unwrap()
}

fn uptime() -> CheckType {
    "uptime".parse().unwrap()
}

fn account() -> Account {
    Account {
        id: Uuid::new_v4().into(),
        email: "ops@example.com".to_owned(),
        full_name: None,
        edition: "standard".to_owned(),
        plan: "pro".to_owned(),
        created_at: noon(),
    }
}

fn api_key(account: &Account, name: &str) -> ApiKey {
    ApiKey {
        id: Uuid::new_v4().into(),
        account_id: account.id,
        name: name.to_owned(),
        prefix: "ct_abcdefgh".to_owned(),
        hash: format!("{:032x}{:032x}", Uuid::new_v4().as_u128(), Uuid::new_v4().as_u128()),
        created_at: noon(),
        last_used_at: None,
        expires_at: None,
        role: Role::Owner,
        made_by: None,
    }
}

/// What an owner rolls a key to.
fn by_owner<'a>(hash: &'a str, prefix: &'a str) -> Rolled<'a> {
    Rolled { hash, prefix, role: Role::Owner, made_by: None }
}

/// An account that exists, with its first key.
async fn signed_up(store: &Store) -> Account {
    let account = account();
    store.create_account(&account, &api_key(&account, "first")).await.unwrap();
    account
}

fn site(account: &Account, domain: &str) -> Site {
    Site {
        id: Uuid::new_v4().into(),
        account_id: account.id,
        domain: DomainName::parse(domain).unwrap(),
        check_types: vec![ssl()],
        custom_port: None,
        origin_ip: None,
        alert_days: 14,
        monitoring_enabled: true,
        check_config: [(ssl(), json!({"depth": 3}))].into(),
        dns_provider: None,
        dns_provider_config: None,
        deploy_target: None,
        deploy_config: Some(json!({"token": "hunter2"}).into()),
        label: None,
        created_at: noon(),
    }
}

/// As lists and checks read it: without its secrets.
fn bare(site: &Site) -> Site {
    Site { dns_provider_config: None, deploy_config: None, ..site.clone() }
}

/// An account with one site whose ssl check is due at noon.
async fn with_site(store: &Store) -> (Account, Site) {
    let account = signed_up(store).await;
    let site = site(&account, "www.example.com");
    store.create_site(&site, 50, &[(ssl(), noon())]).await.unwrap();
    (account, site)
}

fn record(site: &Site, check_type: &CheckType, at: Timestamp) -> CheckRecord {
    CheckRecord {
        id: CheckId(Uuid::new_v4()),
        site_id: site.id,
        check_type: check_type.clone(),
        checked_at: at,
        status: CheckStatus::Unknown,
        result: json!({"valid": true, "san": ["www.example.com"], "serial": u64::MAX}),
        error: None,
        duration_ms: 120,
        source: Source::Scheduler,
        location: "local".to_owned(),
    }
}

fn events() -> Vec<EventType> {
    let event = |name: &str, alert_type: &str, severity, self_resolving| EventType {
        name: name.to_owned(),
        alert_type: alert_type.to_owned(),
        severity,
        title: name.to_owned(),
        self_resolving,
        confirmations: 1,
        clears: 1,
    };
    vec![
        event("ssl.expiring", "ssl", Severity::Warning, true),
        event("certificate.changed", "cert_change", Severity::Info, false),
    ]
}

fn finding(event: &str, key: &str) -> Finding {
    Finding {
        event: event.to_owned(),
        severity: None,
        dedup_key: key.to_owned(),
        message: format!("{event} of {key}"),
        suggestion: None,
        details: None,
        confirmations: None,
    }
}

/// Findings of a certificate that changed.
fn changed(fingerprint: &str) -> Finding {
    let details = json!({"fingerprint": fingerprint, "change_type": "renewal", "issuer": "CA"});
    Finding { details: Some(details), ..finding("certificate.changed", fingerprint) }
}

impl Store {
    /// Batches of whatever channel.
    async fn lease_deliveries(
        &self,
        node: &str,
        now: Timestamp,
        lease: Duration,
        limit: usize,
    ) -> Result<Vec<vedette_model::Delivery>> {
        let wanted = Wanted { channels: &[], others_first: now, held: &[] };
        self.lease_batches(wanted, node, now, lease, limit).await
    }
}

/// What the model decides of a run, from a context of this store.
fn decide(context: &CheckContext, record: CheckRecord, findings: Vec<Finding>) -> Decision {
    let at = record.checked_at;
    let check_type = record.check_type.clone();
    let context = Context {
        account_id: context.account.id,
        site: &context.site,
        check_type: &check_type,
        events: &events(),
        state: &context.state,
        open: &context.open,
        maintenance: false,
        now: at,
    };
    let health = if findings.is_empty() { Health::Ok } else { Health::Degraded };
    let assessment = Assessment { health, findings, memory: Some("{\"seen\":1}".to_owned()) };
    reconcile(&context, record, Some(assessment), &mut Uuid::new_v4)
}

/// A commit of the node `a` without lease and deliveries.
fn plain<'a>(account: &Account, expected_version: u64, decision: &'a Decision) -> Commit<'a> {
    Commit {
        account_id: account.id,
        node: "a",
        expected_version,
        decision,
        deliveries: &[],
        settle: None,
        next_due: None,
    }
}

/// Reads the context, decides and commits a run.
async fn checked(
    store: &Store,
    account: &Account,
    record: CheckRecord,
    findings: Vec<Finding>,
) -> Result<Decision> {
    let context = store
        .check_context(account.id, record.site_id, &record.check_type)
        .await?
        .ok_or(crate::Error::Gone)?;
    let decision = decide(&context, record, findings);
    store.commit(plain(account, context.state.version, &decision)).await?;
    Ok(decision)
}

/// A run of the ssl check that went well or found things.
async fn ssl_run(
    store: &Store,
    account: &Account,
    site: &Site,
    at: Timestamp,
    findings: Vec<Finding>,
) -> Decision {
    checked(store, account, record(site, &ssl(), at), findings).await.unwrap()
}

fn only<T: std::fmt::Debug>(mut items: Vec<T>) -> T {
    assert_eq!(items.len(), 1, "{items:?}");
    items.remove(0)
}

/// The raised alert of a decision.
fn raised(decision: &Decision) -> Alert {
    only(decision.raised.clone())
}

/// Every table and how many rows it has, those without rows left out.
async fn rows(store: &Store) -> Vec<(String, u64)> {
    use crate::tx::Binds;
    let schema: surrealdb::types::Object = store.read("INFO FOR DB", Binds::new()).await.unwrap();
    let tables = match schema.get("tables") {
        Some(surrealdb::types::Value::Object(tables)) => tables.clone(),
        other => panic!("no tables: {other:?}"),
    };
    let mut rows = Vec::new();
    for (table, _) in tables.iter() {
        let statement = format!("RETURN (SELECT count() FROM {table} GROUP ALL)[0].count ?? 0");
        let count: u64 = store.read(&statement, Binds::new()).await.unwrap();
        if count > 0 {
            rows.push((table.clone(), count));
        }
    }
    rows.sort();
    rows
}

fn result_of(record: &CheckRecord) -> &Value {
    &record.result
}
