//! Grades, staples and `valid`, against `sslscan`, `sslyze`, `testssl.sh` and `openssl s_client`
//! on servers of OpenSSL, nginx and tlslite-ng.

mod judge;
mod pki;
mod row;
mod server;
mod stapling;
mod timing;

use std::{collections::BTreeMap, net::SocketAddr};

use futures::{StreamExt, TryStreamExt, stream};
use serde_json::Value;
use tempfile::TempDir;
use vedette_tests::{Dns, Ran, Reply, Settings, check};

use crate::program::{Server, installed, turn};
use judge::Seen;
use pki::Pki;
use row::{ROWS, Row, Stack};

/// The name that every server is asked for.
const NAME: &str = "shop.example";
/// Programs that run at a time.
const AT_ONCE: usize = 4;
/// How often a server is looked at that was not seen as the table has it: on a busy machine an answer
/// that is late is one that was refused, to us and to the judges.
const ROUNDS: usize = 3;
/// So many configurations have to be graded as the table says.
const GRADED: usize = 20;

/// The network in which [`NAME`] is this machine and the lab's root is trusted.
struct Network {
    pki: Pki,
    _dns: Dns,
    settings: Settings,
    folder: TempDir,
}

impl Network {
    async fn start() -> anyhow::Result<Self> {
        let folder = TempDir::with_prefix("vedette-tls-")?;
        let pki = Pki::new(folder.path()).await?;
        let dns = Dns::start().await?;
        dns.answer(NAME, Reply::address([127, 0, 0, 1].into()));
        let roots = vec![std::fs::read_to_string(pki.root())?];
        let settings = Settings { dns: vec![dns.address()], roots, ..Settings::default() };
        Ok(Self { pki, _dns: dns, settings, folder })
    }

    async fn check(&self, address: SocketAddr) -> anyhow::Result<Ran> {
        check(&self.settings, &["ssl", NAME, "--port", &address.port().to_string(), "--json"]).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn grades_follow_the_table_and_rest_on_facts_that_others_see() {
    let needed = [("openssl", "openssl"), ("nginx", "nginx"), ("sslscan", "sslscan")];
    if !installed(&needed) || !installed(&[("sslyze", "sslyze"), ("faketime", "faketime")]) {
        return;
    }
    let _turn = turn().await;
    let network = &Network::start().await.expect("a network of one name");
    let rows = ROWS.iter().filter(|row| row.stack != Stack::TlsLite || server::has_tlslite());
    let servers: Vec<(&Row, Server)> = stream::iter(rows)
        .map(|row| {
            let network = &network;
            async move { anyhow::Ok((row, server::start(network, row).await?)) }
        })
        .buffered(AT_ONCE)
        .try_collect()
        .await
        .expect("servers start");
    let (mut wrong, mut graded) = (Vec::new(), 0);
    let mut left: Vec<_> = servers.iter().collect();
    for _ in 0..ROUNDS {
        if left.is_empty() {
            break;
        }
        let found = faults(network, &left).await.expect("all of them run");
        let looked_at = left.into_iter().zip(found);
        let (bad, good): (Vec<_>, Vec<_>) = looked_at.partition(|(_, faults)| !faults.is_empty());
        graded += good.len();
        let told =
            bad.iter().map(|((row, _), faults)| format!("{}: {}", row.name, faults.join("; ")));
        wrong = told.collect();
        left = bad.into_iter().map(|(server, _)| server).collect();
    }
    println!("configurations graded as the table says, on facts that others see: {graded}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(graded >= GRADED, "{graded}");
}

/// What is wrong with the grade of each server, and with the facts that it rests on.
async fn faults(
    network: &Network,
    servers: &[&(&Row, Server)],
) -> anyhow::Result<Vec<Vec<String>>> {
    let ours: Vec<Value> = stream::iter(servers)
        .map(|(_, server)| async move { anyhow::Ok(network.check(server.address).await?.json()) })
        .buffered(AT_ONCE)
        .try_collect()
        .await?;
    let scanned: Vec<Option<Seen>> = stream::iter(servers)
        .map(|(row, server)| async move { judge::sslscan(row, server.address).await })
        .buffered(AT_ONCE)
        .try_collect()
        .await?;
    let addresses: Vec<SocketAddr> = servers.iter().map(|(_, server)| server.address).collect();
    let analysed = judge::sslyze(&addresses).await?;

    let mut all = Vec::new();
    for (((row, server), ours), scanned) in servers.iter().zip(&ours).zip(&scanned) {
        let said = &ours["tls_grade"];
        let verdict = judge::s_client(network, row, server.address).await?;
        println!("{:<26} table {:<2} vedette {said} {}", row.name, row.grade, ours["error"]);
        let mut faults = match scanned {
            Some(seen) => row.differences("sslscan", seen),
            None => Vec::new(),
        };
        match analysed.get(&server.address.port()) {
            Some(seen) => faults.extend(row.differences("sslyze", seen)),
            None => faults.push("sslyze did not get through".to_owned()),
        }
        faults.extend(differences(row, ours, scanned.as_ref(), verdict));
        all.push(faults);
    }
    Ok(all)
}

/// How our result differs from the table and from the judges.
fn differences(
    row: &Row,
    ours: &Value,
    scanned: Option<&Seen>,
    verified: Option<bool>,
) -> Vec<String> {
    let leaf = &ours["chain"][0];
    let newest = row.versions.last().map_or(Value::Null, |&version| version.into());
    let mut facts = BTreeMap::from([
        ("tls_grade", (ours["tls_grade"].clone(), Value::from(row.grade))),
        ("protocol_version", (ours["protocol_version"].clone(), newest)),
        ("key_bits", (leaf["key_bits"].clone(), Value::from(row.key.1))),
        ("key_type", (leaf["key_type"].clone(), Value::from(row.key.0))),
    ]);
    if let Some(algorithm) = scanned.and_then(|seen| seen.signature_algorithm.as_ref()) {
        let ours = leaf["signature_algorithm"].clone();
        facts.insert("signature_algorithm", (ours, algorithm.as_str().into()));
    }
    if let Some(verified) = verified {
        facts.insert("valid", (ours["valid"].clone(), verified.into()));
    }
    let differing = facts.into_iter().filter(|(_, (ours, theirs))| ours != theirs);
    differing.map(|(fact, (ours, theirs))| format!("{fact} {ours}, not {theirs}")).collect()
}
