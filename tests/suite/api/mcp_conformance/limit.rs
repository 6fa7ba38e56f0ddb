//! What stays a status of HTTP, and what is counted.

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{PRIVATE, PUBLIC, answered, ends, request};
use crate::{
    refusal::{limit_headers, refused},
    world::{World, most_since},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_is_taken_without_a_word() {
    let world = World::start().await;
    for (client, path) in ends(&world) {
        for body in [
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}),
            json!({"jsonrpc": "2.0", "method": "notifications/of/the/future"}),
        ] {
            let answer = client.post(path, body.clone()).await;
            assert_eq!((answer.status, answer.text.as_str()), (202, ""), "{path}: {body}");
            limit_headers(&answer, path);
        }
        for method in [Method::GET, Method::DELETE, Method::PUT] {
            let answer = client.send(method.clone(), path, None).await;
            refused(&answer, 405, &format!("{method} {path}"));
            let allowed = answer.header("allow").unwrap_or_default();
            assert!(allowed.contains("POST"), "{method} {path}: {allowed}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_size_and_limits_stay_statuses_of_http() {
    let world = World::start().await;
    let ping = || request("ping", json!({}));
    let anonymous = world.service.client();
    refused(&anonymous.post(PRIVATE, ping()).await, 401, "without a key");
    refused(&anonymous.with_key("ct_nonsense").post(PRIVATE, ping()).await, 401, "a wrong key");
    for (client, path) in ends(&world) {
        let large = request("ping", json!({"pad": "a".repeat(64 << 10)}));
        refused(&client.post(path, large).await, 413, path);
    }
    let free = world.account("free").await;
    // At once, so that ten seconds are mostly long enough.
    let begun = Instant::now();
    let pings = join_all((0..25).map(|_| free.client.post(PRIVATE, ping()))).await;
    let (limited, admitted): (Vec<_>, Vec<_>) =
        pings.into_iter().partition(|answer| answer.status == 429);
    let most = usize::try_from(most_since(begun, 10)).expect("a few");
    assert!((10..=most).contains(&admitted.len()), "{}", admitted.len());
    for ping in &admitted {
        answered(ping, "a ping of the ten");
    }
    let limited = limited.first().expect("the eleventh in ten seconds");
    refused(limited, 429, "the eleventh in ten seconds");
    assert_eq!(limited.json()["retry_after"], limited.number("retry-after"));

    let one = anonymous.from_address("192.0.2.77");
    for number in 1..=10 {
        let answer = one.post(PUBLIC, ping()).await;
        answered(&answer, &format!("public ping {number}"));
        assert_eq!(answer.number("x-ratelimit-limit"), 10);
        assert_eq!(answer.number("x-monthlylimit-limit"), 0);
    }
    refused(&one.post(PUBLIC, ping()).await, 429, "the eleventh of an address in a minute");
    // All public endpoints of an address share one window.
    refused(&one.get("/public/check-ssl?domain=localhost").await, 429, "its sibling");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_calls_of_tools_count_for_the_month() {
    let world = World::start().await;
    let client = &world.owner.client;
    let used = async |method: &str, params: Value| {
        let answer = client.post(PRIVATE, request(method, params)).await;
        answered(&answer, method);
        answer.number("x-monthlylimit-used")
    };
    for method in ["initialize", "ping", "tools/list", "server/discover"] {
        assert_eq!(used(method, json!({})).await, 0, "{method}");
    }
    let call = json!({"name": "list_sites", "arguments": {}});
    assert_eq!(used("tools/call", call).await, 1);
    assert_eq!(used("tools/list", json!({})).await, 1);
}
