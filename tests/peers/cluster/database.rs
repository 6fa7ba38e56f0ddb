//! A SurrealDB server whose files outlive it.

use std::net::SocketAddr;

use anyhow::Context;
use serde_json::Value;
use tempfile::TempDir;
use vedette_tests::{free_port, install_crypto};

use crate::program::{Server, command};

const USER: &str = "root";
const PASSWORD: &str = "p@ss/word";

pub(crate) struct Database {
    /// None after it was killed.
    server: Option<Server>,
    address: SocketAddr,
    folder: TempDir,
}

impl Database {
    pub(crate) async fn start() -> anyhow::Result<Self> {
        let folder = TempDir::with_prefix("vedette-database-")?;
        let mut database = Self { server: None, address: free_port().await?, folder };
        database.start_again().await?;
        Ok(database)
    }

    /// At the same address and on the same files as before.
    pub(crate) async fn start_again(&mut self) -> anyhow::Result<()> {
        let mut surrealdb = command("surrealdb");
        surrealdb.args(["start", "--no-banner", "--bind", &self.address.to_string()]);
        surrealdb.args(["--user", USER, "--pass", PASSWORD]);
        // Operators are told to use rocksdb://, which this server is built without (its Cargo.toml).
        surrealdb.arg(format!("surrealkv://{}", self.folder.path().join("data").display()));
        self.server = Some(Server::start(surrealdb, self.address).await?);
        Ok(())
    }

    /// SIGKILL: a crash.
    pub(crate) async fn kill(&mut self) -> anyhow::Result<()> {
        self.server.take().context("it runs")?.kill().await
    }

    /// What nodes are told; the password is encoded as in any address.
    pub(crate) fn url(&self) -> String {
        format!("ws://{USER}:p%40ss%2Fword@{}", self.address)
    }

    /// What a statement on the nodes' tables answers, as the operator of the database could ask.
    pub(crate) async fn ask(&self, statement: &'static str) -> anyhow::Result<Value> {
        install_crypto();
        let client = reqwest::Client::builder().no_proxy().build()?;
        let request = client
            .post(format!("http://{}/sql", self.address))
            .basic_auth(USER, Some(PASSWORD))
            .header("accept", "application/json")
            .header("surreal-ns", "vedette")
            .header("surreal-db", "main")
            .body(statement);
        let text = request.send().await?.text().await?;
        let told: Value = serde_json::from_str(&text).with_context(|| text.clone())?;
        anyhow::ensure!(told[0]["status"] == "OK", "{statement}: {text}");
        Ok(told[0]["result"].clone())
    }
}
