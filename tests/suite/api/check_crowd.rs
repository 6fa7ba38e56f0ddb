//! A crowd that asks for the same check at the same moment: one look, and its answer for each.

use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::json;
use tokio::{net::TcpListener, time::timeout};
use vedette_tests::{Client, Reply};

use super::mcp::call;
use crate::world::{World, in_some_round, until};

/// So long the ssl check waits for a handshake.
const LOOK: Duration = Duration::from_secs(8);
/// For a check to begin; where the crowd is refused, none does.
const PATIENCE: Duration = Duration::from_secs(180);

#[tokio::test(flavor = "multi_thread")]
async fn one_look_serves_all_who_ask_the_same_at_once() {
    let world = World::start().await;
    let other = world.account("pro").await.client;
    in_some_round("a crowd comes while the first of it is looking", async |round| {
        serves_all(&world, &other, &format!("popular-{round}.example")).await
    })
    .await;
}

/// Whether the whole crowd came while the first of it was looking: then it has one answer. A machine
/// can be too busy for that.
async fn serves_all(world: &World, other: &Client, domain: &str) -> bool {
    world.lab.dns.answer(domain, Reply::address("127.0.0.1".parse().expect("valid")));
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = silent.local_addr().expect("it is bound").port();
    let one = &world.owner.client;
    let body = json!({"domain": domain, "port": port});
    let operator = world.service.operator();
    let before = shared(&operator).await;
    let begun = Instant::now();
    let crowd = [one, one, one, other, other].map(|client| client.post("/check-ssl", body.clone()));
    let tool = call(other, "check_ssl", body.clone());

    let letting_go = async move {
        let held = timeout(PATIENCE, silent.accept()).await.expect("a check connects in time");
        let held = held.expect("a check connects");
        let all_wait = until("five to wait for the sixth's run", async || {
            let all_wait = shared(&operator).await == before + 5;
            (all_wait || begun.elapsed() >= LOOK).then_some(all_wait)
        })
        .await;
        let another = timeout(Duration::ZERO, silent.accept()).await;
        let in_time = begun.elapsed() < LOOK;
        assert!(another.is_err() || !in_time, "more than one of them connected");
        drop(held);
        all_wait && in_time
    };
    let (crowd, tool, is_one) = tokio::join!(join_all(crowd), tool, letting_go);
    if !is_one {
        return false;
    }
    let answers: Vec<_> = crowd.into_iter().map(|answer| answer.expect(200)).collect();
    assert!(answers[0]["error"].is_string(), "{:#}", answers[0]);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
    assert_eq!(tool["structuredContent"]["error"], answers[0]["error"], "{tool:#}");
    true
}

/// How many runs somebody else had begun, so far.
async fn shared(operator: &Client) -> u64 {
    let figures = operator.get("/metrics").await.text;
    let mut lines = figures.lines();
    let runs = lines.find_map(|line| line.strip_prefix("vedette_runs_shared_total "));
    runs.map_or(0, |runs| runs.parse().expect("a count"))
}
