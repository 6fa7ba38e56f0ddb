//! Reads that have not changed cost a header, not a body.

use reqwest::{Method, header};
use serde_json::json;
use vedette_tests::{Answer, Client};

use crate::{refusal::LIMIT_HEADERS, world::World};

#[tokio::test(flavor = "multi_thread")]
async fn what_the_client_has_already_is_not_sent_again() {
    let world = World::start().await;
    let client = &world.owner.client;
    let first = client.get("/sites").await;
    let tag = tag(&first);
    assert!(tag.starts_with("W/\"") && tag.ends_with('"'), "{tag}");
    assert_eq!(first.header("cache-control"), Some("private, no-cache"));

    let known = ask(client, "/sites", &format!("\"other\", {tag}")).await;
    assert_eq!((known.status, known.text.as_str()), (304, ""));
    assert_eq!(known.header("etag"), Some(tag.as_str()));
    assert_eq!(known.header("cache-control"), Some("private, no-cache"));
    assert_eq!(known.header("content-type"), None);
    assert!(known.header("vary").is_some_and(|vary| vary.contains("accept-encoding")));
    assert!(known.header("x-request-id").is_some());
    for name in LIMIT_HEADERS {
        known.number(name);
    }
    let used = |answer: &Answer| answer.number("x-monthlylimit-used");
    assert_eq!(used(&known), used(&first) + 1, "it counts like any request");
    assert_eq!(ask(client, "/sites", "*").await.status, 304);

    world.quiet("changed.example").await;
    let changed = ask(client, "/sites", &tag).await;
    assert_eq!(changed.status, 200);
    assert_ne!(changed.header("etag"), Some(tag.as_str()));
    assert_eq!(changed.json()["sites"][0]["domain"], "changed.example");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tag_opens_nothing() {
    let world = World::start().await;
    let client = &world.owner.client;
    let tag = tag(&client.get("/sites").await);
    let stranger = world.account("free").await;
    assert_eq!(ask(&stranger.client, "/sites", &tag).await.status, 200, "another content");
    assert_eq!(ask(&client.anonymous(), "/sites", &tag).await.status, 401);
    assert_eq!(ask(&client.anonymous(), "/sites", "*").await.status, 401);
    assert_eq!(ask(client, "/checks?site_id=nope", "*").await.status, 400);
    for nonsense in ["", "W/", "\"", "W/\"abc", tag.trim_start_matches("W/\"")] {
        assert_eq!(ask(client, "/sites", nonsense).await.status, 200, "{nonsense}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_reads_that_worked_are_tagged_and_a_secret_is_never_kept() {
    let world = World::start().await;
    let client = &world.owner.client;
    let answers = [
        client.post("/api-keys", json!({"name": "once"})).await,
        client.post("/sites", json!({"domain": "new.example"})).await,
        client.get("/no-such-path").await,
        client.get("/checks").await,
        client.anonymous().get("/sites").await,
    ];
    for answer in answers {
        let status = answer.status;
        assert_eq!(answer.header("etag"), None, "{status}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_has_the_headers_of_its_get_and_no_body() {
    let world = World::start().await;
    for number in 0..12 {
        world.quiet(&format!("head-{number}.example")).await;
    }
    let http = reqwest::Client::builder().no_proxy().no_gzip().no_brotli().build();
    let http = http.expect("a client without a proxy has nothing to fail on");
    let url = format!("http://{}/v1/sites", world.service.api);
    for coding in ["identity", "gzip", "br"] {
        let ask = |method: Method| {
            let request = http.request(method, &url).bearer_auth(&world.owner.key);
            request.header(header::ACCEPT_ENCODING, coding).send()
        };
        let get = ask(Method::GET).await.expect("the service answers");
        let head = ask(Method::HEAD).await.expect("the service answers");
        assert_eq!(head.status(), 200);
        for name in [
            header::ETAG,
            header::CONTENT_TYPE,
            header::CONTENT_LENGTH,
            header::CONTENT_ENCODING,
            header::CACHE_CONTROL,
            header::VARY,
        ] {
            assert_eq!(head.headers().get(&name), get.headers().get(&name), "{coding}: {name}");
        }
        assert!(head.headers().contains_key(header::CONTENT_LENGTH), "{coding}");
        assert_eq!(head.bytes().await.expect("an end").len(), 0);
    }
}

async fn ask(client: &Client, path: &str, known: &str) -> Answer {
    let request = client.request(Method::GET, path).header(header::IF_NONE_MATCH, known);
    client.finish(request).await
}

#[track_caller]
fn tag(answer: &Answer) -> String {
    answer.header("etag").expect("a tag").to_owned()
}
