//! Three tries at +0, +1 and +3 seconds; a stable id; one slow receiver delays nobody else.

use std::time::Duration;

use serde_json::json;
use vedette_tests::{Receiver, Reply, Response, ResponseCode};

use crate::world::{World, registration, text, waited};

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_receiver_is_tried_three_times_with_the_same_bytes() {
    let world = World::start().await;
    world.hook().await;
    world.lab.receiver.answer_always(Response::Status(503, Vec::new()));
    let site = world.site("retry.example", 5).await;
    world.watch("retry.example", &site).await;
    let tries = world.lab.receiver.wait_for(3).await.expect("three tries");
    let ids: Vec<_> = tries.iter().map(|hook| hook.header("x-vedette-delivery")).collect();
    assert!(ids[0].is_some() && ids[0] == ids[1] && ids[1] == ids[2], "{ids:?}");
    assert!(tries[0].body == tries[1].body && tries[1].body == tries[2].body);
    for (pause, expected) in [(tries[1].at - tries[0].at, 1), (tries[2].at - tries[1].at, 3)] {
        let expected = Duration::from_secs(expected);
        assert!(waited(pause, expected), "{pause:?} instead of {expected:?}");
    }
    assert_eq!(world.open_alerts(1).await.len(), 1, "the alert stays visible");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_try_that_succeeds_is_the_last() {
    let world = World::start().await;
    world.hook().await;
    world.lab.receiver.answer_next(Response::Status(500, Vec::new()));
    let site = world.site("second.example", 5).await;
    let id = world.watch("second.example", &site).await;
    world.lab.receiver.wait_for(2).await.expect("two tries");
    world.check_now("second.example", &site, &id).await;
    world.send_test().await;
    let received = world.lab.receiver.wait_for(3).await.expect("the test arrives");
    assert_eq!(received.len(), 3);
    assert_ne!(received[1].body, received[2].body, "the third is the test");
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_of_a_receiver_are_not_followed() {
    let world = World::start().await;
    let elsewhere = Receiver::start().await.expect("free port");
    let location = vec![("location".to_owned(), elsewhere.url("/"))];
    world.lab.receiver.answer_always(Response::Status(307, location));
    world.hook().await;
    let site = world.site("redirect.example", 5).await;
    world.watch("redirect.example", &site).await;
    world.lab.receiver.wait_for(3).await.expect("a redirect is a failed try");
    assert_eq!(elsewhere.received().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_never_answers_delays_nobody_else() {
    let world = World::start().await;
    let other = world.account("starter").await.client;
    let quick = Receiver::start().await.expect("free port");
    let hook = json!({"custom_webhook_url": quick.url("/hook")});
    other.patch("/settings/notifications", hook).await.expect(200);
    let body = json!({"domain": "quick.example", "monitoring_enabled": false});
    let created = other.post("/sites", body).await.expect(200);

    let slow = &world.lab.receiver;
    slow.answer_always(Response::Hang);
    world.hook().await;
    let site = world.site("slow.example", 5).await;
    world.watch("slow.example", &site).await;
    // Whoever waits for the slow one waits until its try is over, whichever of the three it is.
    let mut is_quick = false;
    for (nth, days) in [3, 300, 3].into_iter().enumerate() {
        if is_quick {
            break;
        }
        let slow = slow.wait_for(nth + 1).await.expect("the slow one is being tried");
        let body = json!({
            "site_id": created["site"]["id"], "check_type": "domain", "result": registration(days),
        });
        other.post("/checks", body).await.expect(200);
        let quick = quick.wait_for(nth + 1).await.expect("it arrives");
        is_quick = quick[nth].at < slow[nth].at + Duration::from_secs(8);
    }
    assert!(is_quick, "it never arrives while the slow one is being tried");
    // Ten seconds of silence, which begin before the request is here, then a pause of one.
    let tries = slow.wait_for(2).await.expect("a timeout is a failed try");
    let pause = tries[1].at - tries[0].at;
    assert!(waited(pause, Duration::from_secs(7)), "{pause:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_moved_inside_is_not_dialled() {
    // Allowed when it was saved; the name means a blocked address when the alert is sent.
    let world = World::start().await;
    let loopback = "127.0.0.1".parse().expect("valid");
    world.lab.dns.answer("hook.example", Reply::address(loopback));
    let url = format!("http://hook.example:{}/hook", world.lab.receiver.address().port());
    world
        .owner
        .client
        .patch("/settings/notifications", json!({"custom_webhook_url": url}))
        .await
        .expect(200);
    let inside = "10.0.0.1".parse().expect("valid");
    world.lab.dns.answer("hook.example", Reply::address(inside));
    let test = world.send_test().await;
    assert!(test["message"].as_str().is_some_and(|said| said.contains("webhook")), "{test}");
    assert_eq!(world.lab.receiver.received().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn while_no_name_is_found_a_delivery_waits_and_no_attempt_is_counted() {
    // As a recursor without its way out says at once; silence would be waited for.
    waits_for_a_way_out(Reply::Failure(ResponseCode::ServFail)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_our_way_out_is_lost_a_receiver_of_a_known_name_waits_and_no_attempt_is_counted() {
    // Nobody listens there.
    let elsewhere = "127.0.0.2".parse().expect("valid");
    waits_for_a_way_out(Reply::address(elsewhere)).await;
}

/// `kept`: what DNS servers say of the receiver's name once they reach nobody.
async fn waits_for_a_way_out(kept: Reply) {
    let world = World::start().await;
    let dns = &world.lab.dns;
    let loopback = Reply::address("127.0.0.1".parse().expect("valid"));
    dns.answer("hook.example", loopback.clone());
    let url = format!("http://hook.example:{}/hook", world.lab.receiver.address().port());
    let settings = json!({"custom_webhook_url": url});
    world.owner.client.patch("/settings/notifications", settings).await.expect(200);
    let site = world.quiet("shop.example").await;

    world.knows_a_way_out().await;
    dns.lose_its_way_out();
    dns.answer("hook.example", kept);
    world.report_days(&site, 3).await;
    let alert = text(&world.alerts("domain", 1).await[0]["id"]);
    let log = world.log(&alert, |log| log[0]["error"].is_string()).await;
    assert_eq!((&log[0]["state"], &log[0]["attempts"]), (&json!("pending"), &json!(0)), "{log:?}");

    dns.answer("hook.example", loopback);
    dns.answer_again();
    world.lab.receiver.wait_for(1).await.expect("what waited arrives");
    let log = world.log(&alert, |log| log[0]["state"] == "delivered").await;
    assert_eq!(log[0]["attempts"], json!(1));
}
