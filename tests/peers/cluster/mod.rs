//! Two nodes on one database server, as an operator runs them for want of a single point of
//! failure: what one knows the other knows, work is done once, and nothing is lost with either of
//! them, nor with the server.

mod database;
mod failure;
mod sharing;
mod tls;

use std::{fmt::Debug, io::Write, os::unix::fs::OpenOptionsExt, path::Path, time::Duration};

use anyhow::Context;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    process::Command,
    time::{Instant, sleep},
};
use vedette_tests::{Account, Client, Lab, Service};

use database::Database;

const PROGRAMS: &[(&str, &str)] = &[("surrealdb", "surrealdb (tests/database/build.sh)")];
/// For what is not bound to the end of a lease.
const PATIENCE: Duration = Duration::from_secs(180);

struct Cluster {
    lab: Lab,
    database: Database,
    nodes: [Service; 2],
    /// An account on the plan `pro`; its client asks the first node.
    owner: Account,
    _folder: TempDir,
}

impl Cluster {
    /// Both nodes start at once, on a server that has never been used.
    async fn start(toml: &str) -> anyhow::Result<Self> {
        let lab = Lab::start().await?;
        let database = Database::start().await?;
        let folder = TempDir::with_prefix("vedette-cluster-")?;
        let mut settings = lab.settings();
        settings.db = Some(database.url());
        settings.toml = format!("{toml}\n{}", secrets(folder.path())?);
        let nodes = tokio::try_join!(Service::start(settings.clone()), Service::start(settings))?;
        let owner = nodes.0.account("owner@example.com", "pro").await?;
        Ok(Self { lab, database, nodes: nodes.into(), owner, _folder: folder })
    }

    /// The owner's client at one of the nodes.
    fn at(&self, node: usize) -> Client {
        self.nodes[node].client().with_key(&self.owner.key)
    }

    /// The owner's alerts go to the lab's receiver.
    async fn hook(&self) {
        let body = json!({"custom_webhook_url": self.lab.receiver.url("/hook")});
        self.at(0).patch("/settings/notifications", body).await.expect(200);
    }

    /// Registers a site at the first node; returns its id.
    async fn site(&self, body: Value) -> String {
        let created = self.at(0).post("/sites", body).await.expect(200);
        created["site"]["id"].as_str().expect("an id").to_owned()
    }

    /// How many records of one type a node tells of.
    async fn records(&self, node: usize, site: &str, check_type: &str) -> u64 {
        let path = format!("/checks?site_id={site}&check_type={check_type}");
        self.at(node).get(&path).await.expect(200)["total"].as_u64().expect("a count")
    }

    /// A metric of one node, summed over its labels.
    async fn metric(&self, node: usize, name: &str) -> f64 {
        let told = self.nodes[node].operator().get("/metrics").await.text;
        let is_it =
            |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']));
        let values = told.lines().filter(is_it);
        values.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    }

    /// Stops a node where it is (`STOP`), or lets it go on (`CONT`).
    async fn signal(&self, node: usize, signal: &str) -> anyhow::Result<()> {
        let pid = self.nodes[node].pid().context("it runs")?.to_string();
        let sent = Command::new("kill").args([&format!("-{signal}"), &pid]).status().await?;
        anyhow::ensure!(sent.success(), "kill -{signal} {pid}: {sent}");
        Ok(())
    }

    /// The owner's alerts, resolved ones too, as the second node tells them.
    async fn alerts(&self) -> Vec<Value> {
        let page = self.at(1).get("/alerts?resolved=all&limit=200").await.expect(200);
        page["alerts"].as_array().cloned().expect("a list")
    }
}

/// The lines of the configuration that name a new key in this folder: one for all nodes.
fn secrets(folder: &Path) -> anyhow::Result<String> {
    let key = folder.join("key");
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&key)?;
    // 32 bytes of nothing in base64.
    writeln!(file, "{}=", "A".repeat(43))?;
    Ok(format!("[secrets]\nkey_file = \"{}\"\n", key.display()))
}

/// Looks until there is an answer; fails the test when there is none in time.
async fn until<T: Debug>(what: &str, patience: Duration, look: impl AsyncFn() -> Option<T>) -> T {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(Instant::now() < deadline, "waited {patience:?} for {what}");
        sleep(Duration::from_millis(250)).await; // only the API tells
    }
}
