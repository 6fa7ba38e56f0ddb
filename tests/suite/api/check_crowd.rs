//! A crowd that asks for the same check at the same moment: one look, and its answer for each.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio::{net::TcpListener, time::timeout};
use vedette_tests::Reply;

use super::mcp::call;
use crate::world::{World, until};

#[tokio::test(flavor = "multi_thread")]
async fn one_look_serves_all_who_ask_the_same_at_once() {
    let world = World::start().await;
    world.lab.dns.answer("popular.example", Reply::address("127.0.0.1".parse().expect("valid")));
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = silent.local_addr().expect("it is bound").port();
    let (one, other) = (&world.owner.client, world.account("pro").await.client);
    let body = json!({"domain": "popular.example", "port": port});
    let crowd =
        [one, one, one, &other, &other].map(|client| client.post("/check-ssl", body.clone()));
    let tool = call(&other, "check_ssl", body.clone());

    let operator = world.service.operator();
    let letting_go = async move {
        let held = silent.accept().await.expect("a check connects");
        until("five to wait for the sixth's run", async || {
            let figures = operator.get("/metrics").await.text;
            figures.lines().any(|line| line == "vedette_runs_shared_total 5").then_some(())
        })
        .await;
        let another = timeout(Duration::ZERO, silent.accept()).await;
        assert!(another.is_err(), "more than one of them connected");
        drop(held);
    };
    let (crowd, tool, ()) = tokio::join!(join_all(crowd), tool, letting_go);
    let answers: Vec<_> = crowd.into_iter().map(|answer| answer.expect(200)).collect();
    assert!(answers[0]["error"].is_string(), "{:#}", answers[0]);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
    assert_eq!(tool["structuredContent"]["error"], answers[0]["error"], "{tool:#}");
}
