//! Every answer names its request, and so does every line that is logged on its way.

use reqwest::Method;
use vedette_tests::{Answer, Client};

use crate::world::{World, until};

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_has_an_id_of_its_own() {
    let world = World::start().await;
    let client = &world.owner.client;
    let answers = [
        client.get("/sites").await,
        client.get("/sites").await,
        client.get("/no-such-path").await,
        client.anonymous().get("/sites").await,
        client.send(Method::PUT, "/sites", None).await,
    ];
    let mut ids: Vec<_> = answers.iter().map(id).collect();
    assert!(ids.iter().all(|id| id.parse::<uuid::Uuid>().is_ok()), "{ids:?}");
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_id_of_the_client_is_taken_over_and_nothing_else() {
    let world = World::start().await;
    let client = &world.owner.client;
    let longest = "x".repeat(64);
    for good in ["Job_17", "0198c8a1-7d2e-7c3f-9a4b-5c6d7e8f9a0b", &longest] {
        assert_eq!(id(&ask(client, "/sites", good).await), good);
    }
    let too_long = "x".repeat(65);
    for bad in ["", "a b", "a=b", "{}", &too_long] {
        let answer = ask(client, "/sites", bad).await;
        assert!(id(&answer).parse::<uuid::Uuid>().is_ok(), "{bad}: {}", id(&answer));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_names_request_and_account_and_leaves_the_query_out() {
    let toml = "[log]\nfilter = \"vedette_server=debug\"\n";
    let world = World::with(|settings| settings.toml = toml.to_owned()).await;
    ask(&world.owner.client, "/sites?token=hush", "Job_17").await;
    let line = until("the request's line", async || {
        let output = world.service.output();
        let mut lines = output.lines();
        lines.find(|line| line.contains("Job_17") && line.contains("answered")).map(str::to_owned)
    })
    .await;
    for part in ["GET", "/v1/sites", "200", &world.owner.id] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!world.service.output().contains("hush"));
    assert!(!world.service.output().contains(&world.owner.key));
}

async fn ask(client: &Client, path: &str, id: &str) -> Answer {
    client.finish(client.request(Method::GET, path).header("x-request-id", id)).await
}

#[track_caller]
fn id(answer: &Answer) -> String {
    answer.header("x-request-id").expect("an id").to_owned()
}
