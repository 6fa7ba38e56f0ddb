//! `/events`: the first stream of an account, opened in the middle of things.

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::join;
use vedette_tests::{Account, Service};

use super::events::follow;
use crate::{
    tenant::result,
    world::{World, text},
};

#[tokio::test(flavor = "multi_thread")]
async fn what_a_first_stream_does_not_tell_was_there_when_it_began() {
    let world = World::start().await;
    let accounts = join_all((0..ACCOUNTS).map(|_| world.account("pro"))).await;
    join_all(accounts.iter().map(|account| begin_amid(&world.service, account))).await;
}

/// Opens a stream while results are brought. From its beginning on, each of them can either be
/// read or is told.
async fn begin_amid(service: &Service, account: &Account) {
    let sites = join_all((0..SITES).map(|nth| site(account, nth))).await;
    let brought = join_all(sites.iter().map(|site| bring(account, site)));
    let begun = async {
        let opened = follow(service, &account.key, "", None).await;
        let events = opened.unwrap_or_else(|answer| panic!("{}", answer.text));
        (events, join_all(sites.iter().map(|site| runs(account, site))).await)
    };
    let (records, (mut events, runs)) = join!(brought, begun);

    account.client.post("/incidents", json!({"title": "the end"})).await.expect(200);
    let mut told = Vec::new();
    loop {
        let event = events.next().await.expect("the stream goes on");
        if event.name == "incident.created" {
            break;
        }
        told.push(event.data["id"].clone());
    }
    for (record, runs) in records.iter().zip(runs) {
        assert!(runs == 1 || told.contains(&record["id"]), "neither there nor told: {record}");
    }
}

async fn site(account: &Account, nth: usize) -> String {
    let body = json!({"domain": format!("site-{nth}.example"), "monitoring_enabled": false});
    text(&account.client.post("/sites", body).await.expect(200)["site"]["id"])
}

async fn bring(account: &Account, site: &str) -> Value {
    let body = json!({"site_id": site, "check_type": "ssl", "result": result(60)});
    account.client.post("/checks", body).await.expect(200)["check"].clone()
}

async fn runs(account: &Account, site: &str) -> u64 {
    let path = format!("/checks?site_id={site}&check_type=ssl");
    account.client.get(&path).await.expect(200)["total"].as_u64().expect("a count")
}

/// Each has one first stream, so many are needed to meet a moment.
const ACCOUNTS: usize = 12;
const SITES: usize = 4;
