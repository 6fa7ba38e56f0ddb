//! A quiet channel sends at once; what follows within two seconds goes out together.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures::future::join_all;
use serde_json::{Value, json};
use vedette_tests::{Client, Received, Receiver, Response};

use crate::world::{ROUNDS, World, in_some_round, registration, text, time, until, waited};

const WINDOW: TimeDelta = TimeDelta::seconds(2);

async fn sites<const N: usize>(world: &World, round: usize) -> [String; N] {
    let mut sites = Vec::new();
    for number in 0..N {
        sites.push(world.quiet(&format!("s{number}.round{round}.example")).await);
    }
    sites.try_into().expect("N of them")
}

/// Somebody else's site and what is told of it.
struct Neighbour {
    client: Client,
    site: String,
    receiver: Receiver,
}

impl Neighbour {
    async fn of(world: &World) -> Self {
        let client = world.account("pro").await.client;
        let receiver = Receiver::start().await.expect("free port");
        let hook = json!({"custom_webhook_url": receiver.url("/hook")});
        client.patch("/settings/notifications", hook).await.expect(200);
        let body = json!({"domain": "neighbour.example", "monitoring_enabled": false});
        let created = client.post("/sites", body).await.expect(200);
        Self { client, site: text(&created["site"]["id"]), receiver }
    }

    /// Reports that the registration ends soon; answers the notification of it.
    async fn told(&self) -> Received {
        let body = json!({
            "site_id": self.site, "check_type": "domain", "result": registration(3),
        });
        self.client.post("/checks", body).await.expect(200);
        self.receiver.wait_for(1).await.expect("it arrives").remove(0)
    }
}

fn alerts(hook: &Received) -> Vec<Value> {
    hook.json().expect("JSON")["alerts"].as_array().expect("a list").clone()
}

fn about(hook: &Received) -> Vec<String> {
    let mut sites: Vec<String> = alerts(hook).iter().map(|one| text(&one["site_id"])).collect();
    sites.sort();
    sites
}

/// When what it tells was gathered, by the service's clock.
fn gathered_at(hook: &Received) -> DateTime<Utc> {
    time(&hook.json().expect("JSON")["timestamp"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quiet_channel_sends_at_once() {
    let world = World::start().await;
    in_some_round("an alert is gathered within the window", async |_| {
        let neighbour = Neighbour::of(&world).await;
        let gathered = gathered_at(&neighbour.told().await);
        let page = neighbour.client.get("/alerts").await.expect(200);
        gathered < time(&page["alerts"][0]["created_at"]) + WINDOW
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_follows_within_the_window_goes_out_together_and_the_log_says_so() {
    let world = World::start().await;
    world.hook().await;
    in_some_round("what follows goes out together when the window is over", async |round| {
        is_told_together(&world, round).await
    })
    .await;
}

/// Three follow on a first one. Whether they went out together, and soon after the window, as they do
/// where the machine is quick enough to report them within it.
async fn is_told_together(world: &World, round: usize) -> bool {
    let receiver = &world.lab.receiver;
    let before = receiver.received().len();
    let [first, mut others @ ..]: [String; 4] = sites(world, round).await;
    world.report_days(&first, 3).await;
    let hooks = receiver.wait_for(before + 1).await.expect("the first");
    assert_eq!(about(&hooks[before]), [first]);
    join_all(others.iter().map(|site| world.report_days(site, 3))).await;
    let hooks = until("all of them to be told", async || {
        let hooks = receiver.received().split_off(before);
        (hooks.iter().map(|hook| alerts(hook).len()).sum::<usize>() == 4).then_some(hooks)
    })
    .await;
    for pair in hooks.windows(2) {
        let pause = gathered_at(&pair[1]) - gathered_at(&pair[0]);
        assert!(pause >= WINDOW, "{pause}");
    }
    let [opened, together] = &hooks[..] else { return false };
    others.sort();
    assert_eq!(about(together), others);
    batch_is_logged(world, together).await;
    assert_eq!(receiver.received().len(), before + 2);
    gathered_at(together) - gathered_at(opened) < WINDOW * 2
}

/// The log of each alert of a notification says that it went out with the others.
async fn batch_is_logged(world: &World, hook: &Received) {
    let batch = hook.header("x-vedette-delivery").expect("an id");
    let mut states = Vec::new();
    for alert in alerts(hook) {
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
}

#[tokio::test(flavor = "multi_thread")]
async fn log_of_a_strangers_alert_does_not_exist() {
    let world = World::start().await;
    let [site]: [String; 1] = sites(&world, 0).await;
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
    let mine: [String; ROUNDS] = sites(&world, 0).await;
    in_some_round("somebody is told within the window of another account", async |nth| {
        let neighbour = Neighbour::of(&world).await;
        world.report_days(&mine[nth], 3).await;
        let hooks = world.lab.receiver.wait_for(nth + 1).await.expect("it opens a window");
        gathered_at(&neighbour.told().await) < gathered_at(&hooks[nth]) + WINDOW
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_keep_their_bytes_while_new_alerts_go_out() {
    let world = World::start().await;
    world.hook().await;
    let [first, second]: [String; 2] = sites(&world, 0).await;
    // Each of three tries lasts for ten seconds.
    world.lab.receiver.answer_always(Response::Hang);
    world.report_days(&first, 3).await;
    world.lab.receiver.wait_for(1).await.expect("the first try");
    world.report_days(&second, 3).await;
    let (tries, new) = until("the third try", async || {
        let hooks = world.lab.receiver.received().into_iter();
        let (tries, new): (Vec<_>, Vec<_>) = hooks.partition(|hook| about(hook).contains(&first));
        (tries.len() == 3).then_some((tries, new))
    })
    .await;
    // A failing batch is in nobody's way: what came after it went out before its last try.
    assert_eq!(about(new.first().expect("a new alert before the third try")), [second]);
    assert!(new[0].at < tries[2].at);
    let id = |hook: &Received| hook.header("x-vedette-delivery").map(str::to_owned);
    assert_ne!(id(&new[0]), id(&tries[0]));
    for batch in [&tries, &new] {
        for again in &batch[1..] {
            assert_eq!((id(again), &again.body), (id(&batch[0]), &batch[0].body));
        }
    }
    for (pair, pause) in tries.windows(2).zip([1, 3]) {
        let (between, least) = (pair[1].at - pair[0].at, Duration::from_secs(7 + pause));
        assert!(waited(between, least), "{between:?} between two tries");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn end_of_trouble_goes_after_its_beginning_that_is_tried_again() {
    let world = World::start().await;
    world.hook().await;
    let [site]: [String; 1] = sites(&world, 0).await;
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
async fn end_of_trouble_goes_after_its_beginning_that_a_crash_interrupted() {
    let mut world = World::start().await;
    world.hook().await;
    let [site]: [String; 1] = sites(&world, 0).await;
    for response in [Response::Hang, Response::Status(503, Vec::new())] {
        world.lab.receiver.answer_next(response);
    }
    world.report_days(&site, 3).await;
    world.lab.receiver.wait_for(1).await.expect("the first try");
    world.report_days(&site, 300).await;
    world.service.kill().await.expect("killed");
    world.service = world.service.start_again().await.expect("starts again");
    let hooks = world.lab.receiver.wait_for(4).await.expect("three tries and the end");
    let status: Vec<String> =
        hooks.iter().flat_map(alerts).map(|one| text(&one["status"])).collect();
    assert_eq!(status, ["raised", "raised", "raised", "resolved"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn condition_that_came_and_went_within_a_window_is_told_in_order() {
    let world = World::start().await;
    world.hook().await;
    in_some_round("both are told together", async |round| {
        let [first, second]: [String; 2] = sites(&world, round).await;
        let before = world.lab.receiver.received().len();
        world.report_days(&first, 3).await;
        world.lab.receiver.wait_for(before + 1).await.expect("it opens a window");
        world.report_days(&second, 3).await;
        world.report_days(&second, 300).await;
        let hooks = until("the end to be told", async || {
            let hooks = world.lab.receiver.received().split_off(before + 1);
            (hooks.iter().flat_map(alerts).count() == 2).then_some(hooks)
        })
        .await;
        let status: Vec<_> =
            hooks.iter().flat_map(alerts).map(|one| text(&one["status"])).collect();
        assert_eq!(status, ["raised", "resolved"]);
        hooks.len() == 1
    })
    .await;
}
