//! A quiet channel sends at once; what follows within two seconds goes out together.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use vedette_tests::{Received, Receiver, Response};

use crate::world::{World, registration, text};

const WINDOW: Duration = Duration::from_secs(2);
/// What a busy machine may add to a timer.
const SLACK: Duration = Duration::from_millis(800);

async fn sites<const N: usize>(world: &World) -> [String; N] {
    let mut sites = Vec::new();
    for number in 0..N {
        sites.push(world.quiet(&format!("s{number}.example")).await);
    }
    sites.try_into().expect("N of them")
}

fn alerts(hook: &Received) -> Vec<Value> {
    hook.json().expect("JSON")["alerts"].as_array().expect("a list").clone()
}

fn about(hook: &Received) -> Vec<String> {
    let mut sites: Vec<String> = alerts(hook).iter().map(|one| text(&one["site_id"])).collect();
    sites.sort();
    sites
}

#[tokio::test(flavor = "multi_thread")]
async fn what_follows_within_the_window_goes_out_together_and_the_log_says_so() {
    let world = World::start().await;
    world.hook().await;
    let [first, mut others @ ..]: [String; 4] = sites(&world).await;
    let reported = Instant::now();
    world.report_days(&first, 3).await;
    let hooks = world.lab.receiver.wait_for(1).await.expect("at once");
    assert!(hooks[0].at - reported < WINDOW, "{:?}", hooks[0].at - reported);
    assert_eq!(about(&hooks[0]), [first]);
    for site in &others {
        world.report_days(site, 3).await;
    }
    let hooks = world.lab.receiver.wait_for(2).await.expect("after the window");
    others.sort();
    assert_eq!(about(&hooks[1]), others);
    let pause = hooks[1].at - hooks[0].at;
    assert!(pause + SLACK >= WINDOW && pause < WINDOW + SLACK, "{pause:?}");

    let batch = hooks[1].header("x-vedette-delivery").expect("an id");
    let mut states = Vec::new();
    for alert in alerts(&hooks[1]) {
        let alert_id = text(&alert["alert_id"]);
        let log = world.log(&alert_id, |log| !log[0]["finished_at"].is_null()).await;
        assert_eq!(log.len(), 1, "{log:?}");
        assert_eq!((&log[0]["batch_id"], &log[0]["attempts"]), (&json!(batch), &json!(1)));
        assert_eq!((&log[0]["channel"], &log[0]["error"]), (&json!("webhook"), &Value::Null));
        assert!(log[0]["due_at"].is_null() && log[0]["created_at"].is_string(), "{log:?}");
        states.push(text(&log[0]["state"]));
    }
    states.sort();
    assert_eq!(states, ["delivered", "merged", "merged"]);
    assert_eq!(world.lab.receiver.received().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_of_a_strangers_alert_does_not_exist() {
    let world = World::start().await;
    let [site]: [String; 1] = sites(&world).await;
    world.report_days(&site, 3).await;
    let alert = text(&world.alerts("domain", 1).await[0]["id"]);
    assert_eq!(world.log(&alert, |_| true).await, [] as [Value; 0], "no channel, no delivery");
    let stranger = world.account("pro").await.client;
    let theirs = stranger.get(&format!("/alerts/{alert}/deliveries")).await;
    let unknown = uuid::Uuid::new_v4();
    let nobodys = stranger.get(&format!("/alerts/{unknown}/deliveries")).await;
    assert_eq!((theirs.status, theirs.text), (404, nobodys.text));
    stranger.get("/alerts/17/deliveries").await.expect(400);
    world.service.client().get(&format!("/alerts/{alert}/deliveries")).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_accounts_do_not_wait_for_a_window() {
    let world = World::start().await;
    world.hook().await;
    let [site]: [String; 1] = sites(&world).await;
    let other = world.account("pro").await.client;
    let quick = Receiver::start().await.expect("free port");
    let hook = json!({"custom_webhook_url": quick.url("/hook")});
    other.patch("/settings/notifications", hook).await.expect(200);
    let body = json!({"domain": "other.example", "monitoring_enabled": false});
    let created = other.post("/sites", body).await.expect(200);
    world.report_days(&site, 3).await;
    world.lab.receiver.wait_for(1).await.expect("at once");

    let reported = Instant::now();
    let body = json!({
        "site_id": created["site"]["id"], "check_type": "domain", "result": registration(3),
    });
    other.post("/checks", body).await.expect(200);
    let hooks = quick.wait_for(1).await.expect("at once");
    assert!(hooks[0].at - reported < WINDOW, "{:?}", hooks[0].at - reported);
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_keep_their_bytes_while_new_alerts_go_out() {
    let world = World::start().await;
    world.hook().await;
    let [first, second]: [String; 2] = sites(&world).await;
    for _ in 0..2 {
        world.lab.receiver.answer_next(Response::Status(503, Vec::new()));
    }
    world.report_days(&first, 3).await;
    world.lab.receiver.wait_for(1).await.expect("the first try");
    world.report_days(&second, 3).await;
    let hooks = world.lab.receiver.wait_for(4).await.expect("three tries and a new alert");
    let (tries, new): (Vec<_>, Vec<_>) =
        hooks.into_iter().partition(|hook| about(hook).contains(&first));
    assert_eq!((tries.len(), new.len()), (3, 1));
    assert_eq!(about(&new[0]), [second]);
    let id = |hook: &Received| hook.header("x-vedette-delivery").map(str::to_owned);
    assert_ne!(id(&new[0]), id(&tries[0]));
    for again in &tries[1..] {
        assert_eq!((id(again), &again.body), (id(&tries[0]), &tries[0].body));
    }
    for (pair, expected) in tries.windows(2).zip([1, 3]) {
        let (pause, expected) = (pair[1].at - pair[0].at, Duration::from_secs(expected));
        assert!(pause >= expected && pause < expected + SLACK, "{pause:?} instead of {expected:?}");
    }
    assert!(new[0].at < tries[2].at, "a failing batch is in nobody's way");
}

#[tokio::test(flavor = "multi_thread")]
async fn end_of_trouble_goes_after_its_beginning_that_is_tried_again() {
    let world = World::start().await;
    world.hook().await;
    let [site]: [String; 1] = sites(&world).await;
    for _ in 0..2 {
        world.lab.receiver.answer_next(Response::Status(503, Vec::new()));
    }
    world.report_days(&site, 3).await;
    world.lab.receiver.wait_for(1).await.expect("the first try");
    world.report_days(&site, 300).await;
    let hooks = world.lab.receiver.wait_for(4).await.expect("three tries and the end");
    let status: Vec<String> =
        hooks.iter().flat_map(alerts).map(|one| text(&one["status"])).collect();
    assert_eq!(status, ["raised", "raised", "raised", "resolved"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn condition_that_came_and_went_within_a_window_is_told_in_order() {
    let world = World::start().await;
    world.hook().await;
    let [first, second]: [String; 2] = sites(&world).await;
    world.report_days(&first, 3).await;
    world.lab.receiver.wait_for(1).await.expect("at once");
    world.report_days(&second, 3).await;
    world.report_days(&second, 300).await;
    let hooks = world.lab.receiver.wait_for(2).await.expect("after the window");
    let status: Vec<String> = alerts(&hooks[1]).iter().map(|one| text(&one["status"])).collect();
    assert_eq!(status, ["raised", "resolved"]);
}
