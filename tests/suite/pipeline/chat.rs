//! Slack, Discord and Teams: what arrives there, and what their answers make of a delivery. The
//! lab's receivers stand in for the vendors: addresses that the operator opened.

use std::time::Duration;

use serde_json::{Value, json};
use vedette_tests::{Receiver, Response};

use crate::world::{World, text};

const SETTINGS: &str = "/settings/notifications";

/// A receiver for each of the three.
struct Chats {
    slack: Receiver,
    discord: Receiver,
    teams: Receiver,
}

impl Chats {
    /// The owner's alerts go to all of them.
    async fn of(world: &World) -> Self {
        let started = [Receiver::start().await, Receiver::start().await, Receiver::start().await];
        let [slack, discord, teams] =
            started.map(|receiver| receiver.expect("loopback has free ports"));
        let body = json!({
            "slack_webhook_url": slack.url("/services/T0/B0/hunter2hunter2"),
            "discord_webhook_url": discord.url("/api/webhooks/1/hunter2hunter2"),
            "teams_webhook": teams.url("/workflows/hunter2hunter2"),
        });
        world.owner.client.patch(SETTINGS, body).await.expect(200);
        Self { slack, discord, teams }
    }
}

/// The body of the first request.
async fn first(receiver: &Receiver) -> Value {
    let hook = receiver.wait_for(1).await.expect("it arrives").remove(0);
    assert_eq!(hook.header("content-type"), Some("application/json"));
    assert!(hook.header("x-vedette-delivery").is_some());
    hook.json().expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_reaches_every_chat_in_its_own_form() {
    let world = World::start().await;
    let chats = Chats::of(&world).await;
    let site = world.site("chat.example", 5).await;
    world.watch("chat.example", &site).await;

    let slack = first(&chats.slack).await;
    assert_eq!(slack["blocks"][0]["type"], "header");
    assert!(text(&slack["text"]).starts_with("Critical: chat.example: "), "{slack}");
    let section = text(&slack["attachments"][0]["blocks"][0]["text"]["text"]);
    assert!(section.starts_with("Critical: chat.example\n"), "{slack}");

    let discord = first(&chats.discord).await;
    assert_eq!(discord["content"], "Critical: chat.example");
    assert_eq!(discord["embeds"][0]["title"], "Critical: chat.example");
    assert_eq!(discord["allowed_mentions"], json!({"parse": []}));

    let teams = first(&chats.teams).await;
    assert_eq!(teams["type"], "message");
    assert_eq!(teams["summary"], "Critical: chat.example");
    let card = &teams["attachments"][0];
    assert_eq!(card["contentType"], "application/vnd.microsoft.card.adaptive");
    assert_eq!(card["content"]["body"][0]["style"], "attention");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_that_is_full_is_asked_again_when_it_says() {
    let world = World::start().await;
    let chats = Chats::of(&world).await;
    let wait = vec![("retry-after".to_owned(), "4".to_owned())];
    chats.slack.answer_next(Response::Status(429, wait.clone()));
    chats.discord.answer_next(Response::Status(429, wait));
    let site = world.site("full.example", 5).await;
    world.watch("full.example", &site).await;
    for receiver in [&chats.slack, &chats.discord] {
        let tries = receiver.wait_for(2).await.expect("a second try");
        let pause = tries[1].at - tries[0].at;
        assert!(pause >= Duration::from_secs(4), "{pause:?}");
        assert_eq!(tries[0].body, tries[1].body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_that_fails_twice_is_told_at_the_third_try_and_one_that_is_gone_once() {
    let world = World::start().await;
    let chats = Chats::of(&world).await;
    chats.discord.answer_next(Response::Status(500, Vec::new()));
    chats.discord.answer_next(Response::Status(500, Vec::new()));
    chats.slack.answer_always(Response::Status(410, Vec::new()));
    let site = world.site("twice.example", 5).await;
    world.watch("twice.example", &site).await;
    let tries = chats.discord.wait_for(3).await.expect("three tries");
    assert!(tries[0].body == tries[1].body && tries[1].body == tries[2].body);
    first(&chats.teams).await;
    first(&chats.slack).await;
    // Four seconds have passed: the one that is gone was not asked again.
    assert_eq!(chats.slack.received().len(), 1);
    assert_eq!(world.open_alerts(1).await.len(), 1, "the alert stays visible");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_test_call_tries_every_chat_and_names_the_one_that_failed() {
    let world = World::start().await;
    let chats = Chats::of(&world).await;
    chats.discord.answer_next(Response::Status(404, Vec::new()));
    let said = world.send_test().await;
    assert_eq!(said["channels"], json!(["slack", "discord", "teams"]));
    let message = text(&said["message"]);
    assert!(message.contains("discord: ") && message.contains("make a new one"), "{message}");
    assert!(message.contains("sent to slack, teams; not delivered"), "{message}");
    assert!(!message.contains("hunter2"), "{message}");
    for receiver in [&chats.slack, &chats.discord, &chats.teams] {
        let body = first(receiver).await.to_string();
        assert!(body.contains("This is a test notification."), "{body}");
    }
}
