//! `/events`: what happens is told as it happens, to whom it belongs, and to those who come back.

use std::time::{Duration, Instant};

use serde_json::json;
use uuid::Uuid;
use vedette_tests::{Answer, Event, Events, Service};

use crate::{
    tenant::result,
    world::{ROUNDS, World, in_some_round, rfc3339, text, until},
};

/// A stream of one key, from where an id says.
pub(super) async fn follow(
    service: &Service,
    key: &str,
    query: &str,
    last_id: Option<&str>,
) -> Result<Events, Box<Answer>> {
    let url = format!("http://{}/v1/events{query}", service.api);
    Events::follow(&url, key, last_id, false).await
}

pub(super) async fn stream(world: &World, query: &str, last_id: Option<&str>) -> Events {
    let opened = follow(&world.service, &world.owner.key, query, last_id).await;
    opened.unwrap_or_else(|answer| panic!("no stream: {} {}", answer.status, answer.text))
}

pub(super) async fn refused(world: &World, query: &str, last_id: Option<&str>) -> Answer {
    match follow(&world.service, &world.owner.key, query, last_id).await {
        Err(answer) => *answer,
        Ok(_) => panic!("{query} {last_id:?} opened a stream"),
    }
}

/// The next events, as many as there are names, which they must have.
async fn expect(events: &mut Events, names: &[&str]) -> Vec<Event> {
    let mut told = Vec::new();
    for name in names {
        let event = events.next().await.unwrap_or_else(|| panic!("it ended before {name}"));
        assert_eq!(event.name, *name, "{event:?}");
        told.push(event);
    }
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_is_told_as_the_other_endpoints_answer_it() {
    let world = World::start().await;
    let client = &world.owner.client;
    let site = world.quiet("told.example").await;
    let mut events = stream(&world, "", None).await;
    let kind = events.headers().get("content-type").and_then(|value| value.to_str().ok());
    assert_eq!(kind, Some("text/event-stream"));
    assert_eq!(
        events.headers().get("x-accel-buffering").map(|value| value.as_bytes()),
        Some(b"no".as_slice())
    );
    assert!(events.headers().contains_key("x-ratelimit-limit"));
    assert!(events.headers().get("content-encoding").is_none());
    assert!(events.retry.is_some());

    let record = world.bring("ssl", &site, result(5)).await;
    let told = expect(&mut events, &["check.finished", "alert.raised"]).await;
    assert_eq!(told[0].data, record);
    let listed = client.get("/alerts").await.expect(200)["alerts"][0].clone();
    assert_eq!(told[1].data, listed);
    assert_eq!(told[1].data["event"], "ssl.expiring");
    assert_eq!(told[1].data["domain"], "told.example");
    assert_ne!(told[0].id, told[1].id);

    let path = format!("/alerts?id={}", text(&listed["id"]));
    for (resolved, name) in [(true, "alert.resolved"), (false, "alert.reopened")] {
        let body = json!({"is_resolved": resolved});
        let alert = client.patch(&path, body).await.expect(200)["alert"].clone();
        assert_eq!(expect(&mut events, &[name]).await[0].data, alert);
    }
    world.bring("ssl", &site, result(60)).await;
    let told = expect(&mut events, &["check.finished", "alert.resolved"]).await;
    assert_eq!(told[1].data["is_resolved"], true);

    let body = json!({"title": "Mail is late", "affected_sites": [site]});
    let opened = client.post("/incidents", body).await.expect(200)["incident"].clone();
    assert_eq!(expect(&mut events, &["incident.created"]).await[0].data, opened);
    let path = format!("/incidents/{}", text(&opened["id"]));
    let changed = client.patch(&path, json!({"status": "identified"})).await.expect(200);
    assert_eq!(expect(&mut events, &["incident.updated"]).await[0].data, changed["incident"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_back_misses_and_repeats_nothing() {
    let mut world = World::start().await;
    let site = world.quiet("back.example").await;
    let mut events = stream(&world, "", None).await;
    let first = world.bring("ssl", &site, result(5)).await;
    let told = expect(&mut events, &["check.finished"]).await;
    assert_eq!(told[0].data["id"], first["id"]);
    // Between two parts of one commit.
    let seen = told[0].id.clone();
    drop(events);
    let second = world.bring("ssl", &site, result(60)).await;
    let names = ["alert.raised", "check.finished", "alert.resolved"];
    let mut events = stream(&world, "?after=0", seen.as_deref()).await;
    let told = expect(&mut events, &names).await;
    assert_eq!(told[1].data["id"], second["id"]);
    drop(events);

    let third = world.bring("ssl", &site, result(59)).await;
    assert_eq!(world.service.stop().await.expect("stops"), Some(0), "a clean exit");
    world.service = world.service.start_again().await.expect("starts again");
    world.owner.client = world.service.client().with_key(&world.owner.key);
    let after = told[1].id.clone().expect("events have ids");
    let mut events = stream(&world, &format!("?after={after}"), None).await;
    let told = expect(&mut events, &["alert.resolved", "check.finished"]).await;
    assert_eq!(told[1].data["id"], third["id"]);
    let fourth = world.bring("ssl", &site, result(58)).await;
    assert_eq!(expect(&mut events, &["check.finished"]).await[0].data["id"], fourth["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_tells_what_was_asked_for_and_nothing_of_others() {
    let world = World::start().await;
    let stranger = world.account("pro").await;
    let (mine, other) = (world.quiet("mine.example").await, world.quiet("other.example").await);
    let body = json!({"domain": "theirs.example", "monitoring_enabled": false});
    let theirs = stranger.client.post("/sites", body).await.expect(200);
    let theirs = text(&theirs["site"]["id"]);
    let mut alerts = stream(&world, "?types=alert,incident", None).await;
    let mut of_one = stream(&world, &format!("?site_id={mine}&types=check"), None).await;
    let opened = follow(&world.service, &stranger.key, "", None).await;
    let mut strangers = opened.unwrap_or_else(|answer| panic!("{}", answer.text));

    world.bring("ssl", &other, result(5)).await;
    let last = world.bring("ssl", &mine, result(60)).await;
    let body = json!({"site_id": theirs, "check_type": "ssl", "result": result(60)});
    stranger.client.post("/checks", body).await.expect(200);
    world.owner.client.post("/incidents", json!({"title": "x"})).await.expect(200);

    expect(&mut alerts, &["alert.raised", "incident.created"]).await;
    assert_eq!(expect(&mut of_one, &["check.finished"]).await[0].data["id"], last["id"]);
    let told = expect(&mut strangers, &["check.finished"]).await;
    assert_eq!(told[0].data["site_id"], json!(theirs));

    let unknown = refused(&world, &format!("?site_id={}", Uuid::new_v4()), None).await;
    let foreign = refused(&world, &format!("?site_id={theirs}"), None).await;
    assert_eq!((foreign.status, foreign.text), (404, unknown.text));
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_parameters_are_named() {
    let world = World::start().await;
    for (query, id, field) in [
        ("?types=", None, "types"),
        ("?types=alerts", None, "types"),
        ("?types=alert&types=check", None, "types"),
        ("?site_id=17", None, "site_id"),
        ("?after=", None, "after"),
        ("?after=x", None, "after"),
        ("?after=-1", None, "after"),
        ("?after=999999", None, "after"),
        ("", Some("x"), "Last-Event-ID"),
        ("", Some("1.2.3"), "Last-Event-ID"),
        ("", Some("999999"), "Last-Event-ID"),
        ("?after=0", Some("99999999999999999999"), "Last-Event-ID"),
    ] {
        let answer = refused(&world, query, id).await;
        assert_eq!(answer.status, 400, "{query} {id:?}: {}", answer.text);
        assert!(text(&answer.json()["message"]).contains(field), "{query} {id:?}: {}", answer.text);
    }
    world.service.client().get("/events").await.expect(401);
    world.owner.client.post("/events", json!({})).await.expect(405);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_its_key() {
    let world = World::start().await;
    let client = &world.owner.client;
    let mut stays = stream(&world, "", None).await;
    for (what, is_deleted) in [("deleted", true), ("expired", false)] {
        in_some_round(&format!("a key that is {what} ends a stream in time"), async |_| {
            ends_before_the_heartbeat(&world, is_deleted).await
        })
        .await;
    }
    client.post("/incidents", json!({"title": "x"})).await.expect(200);
    stays.named("incident.created").await;
}

/// Whether a stream of a key that is deleted, or expires, ended before the service said something on
/// it anyway. A machine can be too busy for that.
async fn ends_before_the_heartbeat(world: &World, is_deleted: bool) -> bool {
    let client = &world.owner.client;
    let made = client.post("/api-keys", json!({"name": "spare"})).await.expect(200);
    let path = format!("/api-keys?id={}", text(&made["id"]));
    let begun = Instant::now();
    let opened = follow(&world.service, &text(&made["key"]), "", None).await;
    let mut events = opened.unwrap_or_else(|answer| panic!("{}", answer.text));
    if is_deleted {
        client.delete(&path).await.expect(200);
    } else {
        let soon = rfc3339(chrono::Utc::now() + chrono::TimeDelta::seconds(3));
        if client.patch(&path, json!({"expiresAt": soon})).await.status == 400 {
            return false; // that was too late to be told
        }
    }
    events.ended().await;
    begun.elapsed() < Duration::from_secs(14)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_stream_is_kept_alive_and_moves_on() {
    let world = World::start().await;
    let url = format!("http://{}/v1/events?types=incident", world.service.api);
    let site = world.quiet("silent.example").await;
    let mut streams = Vec::new();
    for http2 in [false, true] {
        let opened = Events::follow(&url, &world.owner.key, None, http2).await;
        streams.push(opened.unwrap_or_else(|answer| panic!("{}", answer.text)));
    }
    world.bring("ssl", &site, result(60)).await;
    for mut events in streams {
        let (begin, comments) = (events.last_id.clone(), events.comments);
        events.comment(comments + 1).await;
        assert_ne!(events.last_id, begin, "past what was left out");
        let title = format!("after {comments}");
        world.owner.client.post("/incidents", json!({"title": title})).await.expect(200);
        events.named("incident.created").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_are_few_and_end_with_the_service() {
    let mut world = World::start().await;
    let mut streams = Vec::new();
    for _ in 0..10 {
        streams.push(stream(&world, "", None).await);
    }
    let answer = refused(&world, "", None).await;
    assert_eq!(answer.status, 403, "{}", answer.text);
    drop(streams.pop());
    until("a place to be free", async || {
        follow(&world.service, &world.owner.key, "", None).await.ok().map(drop)
    })
    .await;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        assert_eq!(world.service.stop().await.expect("stops"), Some(0), "a clean exit");
        let took = begun.elapsed();
        for mut events in streams.drain(..) {
            events.ended().await;
        }
        // Requests that run may go on for ten.
        if took < Duration::from_secs(8) {
            return;
        }
        world.service = world.service.start_again().await.expect("starts again");
        streams.push(stream(&world, "", None).await);
    }
    panic!("in {ROUNDS} rounds a stream held up the end");
}
