//! A database server beyond a trusted network: its certificate is of the operator's own authority.

use tempfile::TempDir;
use vedette_tests::{Lab, Service, free_port};

use super::{PROGRAMS, secrets};
use crate::program::{Server, command, installed, turn};

#[tokio::test(flavor = "multi_thread")]
async fn a_node_trusts_the_database_of_an_authority_that_it_is_told_and_no_other() {
    if !installed(PROGRAMS) {
        return;
    }
    let _turn = turn().await;
    let lab = Lab::start().await.expect("the lab starts");
    let folder = TempDir::with_prefix("vedette-cluster-tls-").expect("a folder");
    let files = ["chain.pem", "key.pem"].map(|name| folder.path().join(name));
    let (chain, key) = lab.certificate("localhost", 90).expect("the authority signs").pem();
    for (file, text) in files.iter().zip([chain, key]) {
        std::fs::write(file, text).expect("it is written");
    }
    let address = free_port().await.expect("a free port");
    let mut surrealdb = command("surrealdb");
    surrealdb.args(["start", "--no-banner", "--bind", &address.to_string()]);
    surrealdb.args(["--user", "root", "--pass", "root"]);
    surrealdb.arg("--web-crt").arg(&files[0]).arg("--web-key").arg(&files[1]).arg("memory");
    let _server = Server::start(surrealdb, address).await.expect("the database starts");

    let mut settings = lab.settings();
    settings.db = Some(format!("wss://root:root@localhost:{}", address.port()));
    settings.toml = secrets(folder.path()).expect("a key");
    let node = Service::start(settings.clone()).await.expect("it trusts the lab's authority");
    let owner = node.account("owner@example.com", "pro").await.expect("an account");
    node.client().with_key(&owner.key).get("/sites").await.expect(200);

    settings.roots.clear();
    assert!(Service::start(settings).await.is_err());
}
