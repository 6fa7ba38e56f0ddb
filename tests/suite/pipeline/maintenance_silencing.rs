//! What maintenance silences is told when it is over, if it still holds; nothing is lost.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use vedette_tests::Received;

use crate::world::{World, in_days, rfc3339, text, time, until};

/// A window for one site, or all, from a minute ago until then; returns its id.
async fn window(world: &World, site_id: Option<&str>, ends: DateTime<Utc>) -> String {
    let starts = rfc3339(Utc::now() - TimeDelta::minutes(1));
    let body = json!({"site_id": site_id, "starts_at": starts, "ends_at": rfc3339(ends)});
    let made = world.owner.client.post("/maintenance-windows", body).await.expect(200);
    text(&made["window"]["id"])
}

async fn delete(world: &World, window: &str) {
    let path = format!("/maintenance-windows?id={window}");
    world.owner.client.delete(&path).await.expect(200);
}

fn about(hook: &Received) -> Vec<(String, String)> {
    let payload = hook.json().expect("JSON");
    let alerts = payload["alerts"].as_array().expect("a list");
    alerts.iter().map(|one| (text(&one["site_id"]), text(&one["status"]))).collect()
}

/// When what it tells was gathered.
fn gathered_at(hook: &Received) -> DateTime<Utc> {
    time(&hook.json().expect("JSON")["timestamp"])
}

fn raised(site: &str) -> (String, String) {
    (site.to_owned(), "raised".to_owned())
}

/// The alert of a site's registration, open or not.
async fn alert_of(world: &World, site: &str) -> String {
    let page = world.owner.client.get("/alerts?resolved=all&limit=200").await.expect(200);
    let alerts = page["alerts"].as_array().expect("a list");
    let alert = alerts.iter().find(|alert| alert["site_id"] == site).expect("it was raised");
    text(&alert["id"])
}

fn is_silenced(log: &[Value]) -> bool {
    log.iter().any(|delivery| delivery["state"] == "silenced")
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_window_what_still_holds_is_told_once_and_nothing_else() {
    let world = World::start().await;
    world.hook().await;
    let before = world.quiet("before.example").await;
    let holds = world.quiet("holds.example").await;
    let passes = world.quiet("passes.example").await;
    world.report_days(&before, 3).await;
    world.lab.receiver.wait_for(1).await.expect("before the window");

    let ends = Utc::now() + TimeDelta::hours(1);
    let long = window(&world, None, ends).await;
    let ends: DateTime<Utc> = rfc3339(ends).parse().expect("a time");
    // What follows on the first notification waits anyway, and is silenced then.
    world.report_days(&before, 2).await;
    world.report_days(&holds, 3).await;
    world.report_days(&passes, 3).await;
    world.report_days(&passes, 300).await;
    let held = alert_of(&world, &holds).await;
    let log = world.log(&held, is_silenced).await;
    assert_eq!(time(&log[0]["due_at"]), ends);
    assert_eq!((&log[0]["finished_at"], &log[0]["batch_id"]), (&Value::Null, &Value::Null));
    assert_eq!(world.lab.receiver.received().len(), 1, "the window is open");

    // Another one goes on for a while, and is over by itself.
    let ends = Utc::now() + TimeDelta::seconds(8);
    window(&world, None, ends).await;
    let ends: DateTime<Utc> = rfc3339(ends).parse().expect("a time");
    delete(&world, &long).await;
    let hooks = world.lab.receiver.wait_for(2).await.expect("after the window");
    assert!(gathered_at(&hooks[1]) >= ends);
    assert_eq!(about(&hooks[1]), [raised(&holds)]);
    world.all_delivered().await;
    assert_eq!(world.told(|event| event == "domain.expiring").len(), 2);
    let log = world.log(&held, |_| true).await;
    assert_eq!(log[0]["state"], "delivered");
    let log = world.log(&alert_of(&world, &passes).await, |_| true).await;
    let states: Vec<_> = log.iter().map(|one| text(&one["state"])).collect();
    assert_eq!(states, ["silenced", "silenced"], "both the beginning and the end");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_looked_at_before_the_end_of_its_window_is_judged_by_it() {
    let mut world = World::start().await;
    world.hook().await;
    let before = world.quiet("before.example").await;
    let holds = world.quiet("holds.example").await;
    let passes = world.quiet("passes.example").await;
    world.report_days(&before, 3).await;
    world.lab.receiver.wait_for(1).await.expect("before the window");

    let ends = Utc::now() + TimeDelta::seconds(20);
    window(&world, None, ends).await;
    // What follows on the first notification waits, and the process ends meanwhile.
    world.report_days(&holds, 3).await;
    world.report_days(&passes, 3).await;
    world.report_days(&passes, 300).await;
    world.service.kill().await.expect("killed");
    tokio::time::sleep((ends - Utc::now()).to_std().unwrap_or_default()).await;
    world.service = world.service.start_again().await.expect("starts again");
    world.owner.client = world.service.client().with_key(&world.owner.key);

    let hooks = world.lab.receiver.wait_for(2).await.expect("after the window");
    assert_eq!(about(&hooks[1]), [raised(&holds)]);
    world.all_delivered().await;
    assert_eq!(world.told(|event| event == "domain.expiring").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn end_of_what_was_told_before_the_window_is_told_after_it() {
    let world = World::start().await;
    world.hook().await;
    let site = world.quiet("mended.example").await;
    world.report_days(&site, 3).await;
    world.lab.receiver.wait_for(1).await.expect("before the window");
    let window = window(&world, Some(&site), Utc::now() + TimeDelta::hours(1)).await;
    world.report_days(&site, 300).await;
    world.log(&alert_of(&world, &site).await, is_silenced).await;
    delete(&world, &window).await;
    let hooks = world.lab.receiver.wait_for(2).await.expect("it is told");
    assert_eq!(about(&hooks[1]), [(site, "resolved".to_owned())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_window_held_back_is_not_told_on_a_channel_that_left_the_plan_meanwhile() {
    let world = World::start().await;
    world.hook().await;
    let site = world.quiet("held.example").await;
    let window = window(&world, Some(&site), Utc::now() + TimeDelta::hours(1)).await;
    world.report_days(&site, 3).await;
    let alert = alert_of(&world, &site).await;
    world.log(&alert, is_silenced).await;
    let account = format!("/admin/accounts/{}", world.owner.id);
    let operator = world.service.operator();
    operator.patch(&account, json!({"plan": "free"})).await.expect(200);
    delete(&world, &window).await;
    // The plan has few calls for looking.
    let failed = "vedette_deliveries_failed_total{channel=\"webhook\"} 1";
    until(failed, async || {
        let figures = operator.get("/metrics").await;
        figures.text.lines().any(|shown| shown == failed).then_some(())
    })
    .await;
    let log = world.log(&alert, |_| true).await;
    assert_eq!(log[0]["state"], "failed", "{log:?}");
    assert!(text(&log[0]["error"]).contains("plan"), "{log:?}");
    assert_eq!(world.lab.receiver.received().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_a_window_releases_what_no_other_window_holds() {
    let world = World::start().await;
    world.hook().await;
    let [one, other] = [world.quiet("one.example").await, world.quiet("other.example").await];
    let of_all = window(&world, None, Utc::now() + TimeDelta::hours(1)).await;
    let of_other = window(&world, Some(&other), Utc::now() + TimeDelta::hours(2)).await;
    for site in [&one, &other] {
        world.report_days(site, 3).await;
        world.log(&alert_of(&world, site).await, is_silenced).await;
    }
    assert_eq!(world.lab.receiver.received().len(), 0);
    world.send_test().await;
    world.lab.receiver.wait_for(1).await.expect("a test ignores maintenance");

    delete(&world, &of_all).await;
    let hooks = world.lab.receiver.wait_for(2).await.expect("it is released");
    assert_eq!(about(&hooks[1]), [raised(&one)]);
    let log = world.log(&alert_of(&world, &other).await, is_silenced).await;
    assert!(time(&log[0]["due_at"]) > Utc::now() + TimeDelta::minutes(90), "{log:?}");
    delete(&world, &of_other).await;
    let hooks = world.lab.receiver.wait_for(3).await.expect("it is released");
    assert_eq!(about(&hooks[2]), [raised(&other)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn flood_is_one_notification_with_a_summary_and_the_log_knows_the_rest() {
    let world = World::start().await;
    world.hook().await;
    let window = window(&world, None, Utc::now() + TimeDelta::hours(1)).await;
    for number in 0..5 {
        let site = world.quiet(&format!("f{number}.example")).await;
        world.bring("ct", &site, certificates(1)).await;
        world.bring("ct", &site, certificates(33)).await;
    }
    let page = world.owner.client.get("/alerts?type=ct&limit=200").await.expect(200);
    assert_eq!(page["total"], 160, "32 of each site");
    let after = world.quiet("after.example").await;
    delete(&world, &window).await;
    let hook = world.lab.receiver.wait_for(1).await.expect("it is released").remove(0);
    world.report_days(&after, 3).await;
    let payload = hook.json().expect("JSON");
    let told = payload["alerts"].as_array().expect("a list");
    assert_eq!(told.len(), 97, "three sites and a summary");
    let summary = told.last().expect("97 of them");
    assert_eq!(summary["type"], "alerts.summarised");
    assert!(text(&summary["message"]).starts_with("64 more alerts on 2 sites; "), "{summary}");
    let listed: Vec<_> = told.iter().map(|one| &one["alert_id"]).collect();
    let alerts = page["alerts"].as_array().expect("a list");
    let left_out = alerts.iter().find(|alert| !listed.contains(&&alert["id"])).expect("64");
    let log = world.log(&text(&left_out["id"]), |log| log[0]["state"] == "summarised").await;
    assert_eq!(log[0]["batch_id"].as_str(), hook.header("x-vedette-delivery"));

    let next = world.lab.receiver.wait_for(2).await.expect("it arrives").remove(1);
    assert_eq!(about(&next), [raised(&after)]);
    let reported = time(&world.alerts("domain", 1).await[0]["created_at"]) - gathered_at(&hook);
    let waited = gathered_at(&next) - gathered_at(&hook);
    // Two seconds after it was reported, where the flood's window is still open for longer then.
    assert!(
        reported > TimeDelta::seconds(5) || waited < TimeDelta::seconds(10),
        "reported after {reported} it waits until the flood's window is over: {waited}"
    );
}

/// A result of the ct check with so many certificates, all but the first unexpected.
fn certificates(count: usize) -> Value {
    let certificate = |number: usize| {
        let issuer = format!("CA {number}");
        json!({
            "issuer": issuer, "issuer_org": issuer, "san": ["f.example"],
            "serial_number": format!("1a{number:02x}"), "not_before": rfc3339(in_days(-2)),
            "not_after": rfc3339(in_days(80)), "logged_at": null, "fingerprint": null,
            "expected": number == 0,
        })
    };
    let certificates: Vec<Value> = (0..count).map(certificate).collect();
    json!({
        "certificates": certificates, "total": count, "new_count": 0, "unexpected_count": 0,
        "source": "agent", "error": null,
    })
}
