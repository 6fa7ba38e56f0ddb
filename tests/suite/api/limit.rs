//! The limits: exact in every trailing window, told in six headers on every answer.

use futures::future::join_all;
use reqwest::Method;
use serde_json::json;
use tokio::time::Instant;
use vedette_tests::Answer;

use crate::{
    refusal::limit_headers,
    world::{ROUNDS, World, most_since},
};

#[tokio::test(flavor = "multi_thread")]
async fn all_six_headers_are_integers_on_every_answer() {
    let world = World::start().await;
    let client = &world.owner.client;
    let answers = [
        client.get("/sites").await,
        client.get("/no-such-path").await,
        client.send(Method::PUT, "/sites", None).await,
        client.send_raw(Method::POST, "/sites", b"{".to_vec()).await,
        client.send_raw(Method::POST, "/sites", vec![b' '; 1 << 20]).await,
        client.delete("/sites?id=nope").await,
        client.with_key("ct_nonsense").get("/sites").await,
        client.anonymous().get("/sites").await,
        client.anonymous().get("/public/check-ssl?domain=localhost").await,
    ];
    for answer in answers {
        limit_headers(&answer, &answer.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_authenticated_requests_of_an_address_in_a_minute() {
    let world = World::start().await;
    let one = world.owner.client.from_address("198.51.100.9");
    let answers = join_all((0..70).map(|_| one.get("/alerts"))).await;
    let admitted = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(admitted, 60);
    let refused = answers.iter().find(|answer| answer.status == 429).expect("ten were refused");
    assert_eq!(refused.number("x-ratelimit-limit"), 60);
    assert_eq!(refused.number("x-ratelimit-remaining"), 0);
    assert_eq!(refused.json()["retry_after"], refused.number("retry-after"));
    // A sibling in the same /64 shares the window, another network has its own.
    let six = world.owner.client.from_address("2001:db8:1:2::1");
    join_all((0..60).map(|_| six.get("/alerts"))).await;
    let sibling = world.owner.client.from_address("2001:db8:1:2:ffff::9").get("/alerts").await;
    // The account's window may be full as well: one of its own would have 59 left.
    assert_eq!((sibling.status, sibling.number("x-ratelimit-remaining")), (429, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn options_counts_where_it_is_no_preflight() {
    let world = World::start().await;
    let client = world.owner.client.from_address("198.51.100.10");
    let asked = client.send(Method::OPTIONS, "/sites", None).await;
    assert_eq!((asked.status, asked.number("x-ratelimit-remaining")), (405, 59));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_admits_its_queries_in_ten_seconds_and_no_more() {
    let world = World::start().await;
    let free = world.account("free").await;
    let begun = Instant::now();
    let answers = join_all((0..25).map(|_| free.client.get("/alerts"))).await;
    let admitted = admitted(&answers);
    assert!((10..=most_since(begun, 10)).contains(&admitted), "{admitted}");
    let refused = answers.iter().find(|answer| answer.status == 429).expect("fifteen were refused");
    assert!((1..=10).contains(&refused.number("retry-after")));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_monthly_quota_counts_admitted_calls_only_and_survives_a_restart() {
    let world = World::start().await;
    let free = world.account("free").await;
    let first = free.client.get("/alerts").await;
    assert_eq!(first.number("x-monthlylimit-limit"), 100);
    assert_eq!(first.number("x-monthlylimit-used"), 1);
    let refused = free.client.post("/sites", json!({"domain": ""})).await;
    assert_eq!(refused.number("x-monthlylimit-used"), 2, "a 400 is a call");
    let answers = join_all((0..30).map(|_| free.client.get("/alerts"))).await;
    assert!(answers.iter().any(|answer| answer.status == 429), "all of them were admitted");
    let so_far = 2 + i64::try_from(admitted(&answers)).expect("a few");

    let mut service = world.service;
    service.stop().await.expect("stops");
    let service = service.start_again().await.expect("starts again");
    let client = service.client().with_key(&free.key);
    let used = client.get("/alerts").await.number("x-monthlylimit-used");
    assert_eq!(used, so_far + 1, "429s are no calls");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_key_of_an_account_tells_what_the_others_used() {
    let world = World::start().await;
    let starter = world.account("starter").await;
    let made = starter.client.post("/api-keys", json!({"name": "other"})).await.expect(200);
    let other = starter.client.with_key(made["key"].as_str().expect("shown once"));
    other.get("/alerts").await.expect(200);
    let (mut used, mut refused) = (2, None);
    // Fifty in ten seconds are admitted: once is enough, but where the machine is busy.
    for _ in 0..ROUNDS {
        let answers = join_all((0..50).map(|_| starter.client.get("/alerts"))).await;
        used += i64::try_from(admitted(&answers)).expect("a few");
        let answer = other.get("/alerts").await;
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
        used += 1;
    }
    let refused = refused.expect("more than fifty in ten seconds");
    assert_eq!(refused.number("x-monthlylimit-used"), used);
    assert_eq!(refused.number("x-monthlylimit-remaining"), 2_000 - used);
}

/// The window is full under either plan, and the month of the new one is used up.
#[tokio::test(flavor = "multi_thread")]
async fn who_is_moved_to_a_plan_without_calls_left_is_told_so_at_once() {
    let world = World::start().await;
    let account = world.account("pro").await;
    let from = |number: u8| account.client.from_address(&format!("198.51.100.{number}"));
    let clients = [from(21), from(22)];
    join_all((0..100).map(|nth| clients[nth % 2].get("/alerts"))).await;
    downgrade(&world, &account.id).await;
    let refused = from(23).get("/alerts").await;
    assert_eq!(refused.status, 429, "{}", refused.text);
    assert!(refused.text.contains("this month's 100 calls of the free plan"), "{}", refused.text);
    assert_eq!(refused.number("x-monthlylimit-limit"), 100);
    assert_eq!(refused.number("x-monthlylimit-remaining"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_address_is_told_the_plan_that_its_account_has_now() {
    let world = World::start().await;
    let account = world.account("pro").await;
    let [full, other] =
        ["198.51.100.31", "198.51.100.32"].map(|it| account.client.from_address(it));
    join_all((0..60).map(|_| full.get("/alerts"))).await;
    downgrade(&world, &account.id).await;
    let counted = other.get("/alerts").await;
    assert_eq!(counted.number("x-monthlylimit-limit"), 100, "{}", counted.text);
    let refused = full.get("/alerts").await;
    assert_eq!(refused.status, 429, "{}", refused.text);
    assert_eq!(refused.number("x-monthlylimit-limit"), 100);
    assert_eq!(
        refused.number("x-monthlylimit-used"),
        counted.number("x-monthlylimit-used"),
        "what is refused costs nothing"
    );
}

fn admitted(answers: &[Answer]) -> u64 {
    answers.iter().map(|answer| u64::from(answer.status == 200)).sum()
}

async fn downgrade(world: &World, account: &str) {
    let path = format!("/admin/accounts/{account}");
    world.service.operator().patch(&path, json!({"plan": "free"})).await.expect(200);
}
