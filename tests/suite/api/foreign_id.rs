//! Someone else's ids: wherever an id is taken, the answer is byte for byte the one that an id
//! nobody has gets.

use reqwest::Method;
use uuid::Uuid;
use vedette_tests::{Answer, Client};

use crate::{
    refusal::refused,
    tenant::{Tenant, fill, result},
    world::World,
};

#[tokio::test(flavor = "multi_thread")]
async fn another_accounts_ids_are_answered_like_ids_that_nobody_has() {
    let world = World::start().await;
    let owner = Tenant::start(&world).await;
    let stranger = Tenant::start(&world).await;
    let (before, strangers) = (owner.state().await, stranger.state().await);
    for place in places() {
        let client = stranger.client();
        let theirs = ask(client, &place, &owner.site, &owner.alert, &owner.key).await;
        let [site, alert, key] = [(); 3].map(|()| Uuid::new_v4().to_string());
        let nobodys = ask(client, &place, &site, &alert, &key).await;
        let what = format!("{} {} {}", place.0, place.1, place.2);
        refused(&theirs, 404, &what);
        assert_eq!(told(&theirs), told(&nobodys), "{what}");
    }
    assert_eq!(owner.state().await, before);
    assert_eq!(stranger.state().await, strangers);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_value_does_not_tell_whether_the_id_exists() {
    let world = World::start().await;
    let owner = Tenant::start(&world).await;
    let stranger = Tenant::start(&world).await;
    let before = owner.state().await;
    let (bad, good) = ("{\"days_remaining\": \"soon\"}", result(5).to_string());
    let checks = |result: &str, check_type: &str| {
        format!(r#"{{"site_id": "{{site}}", "check_type": "{check_type}", "result": {result}}}"#)
    };
    let places: Vec<Place> = [
        ("PATCH", "/sites?id={site}", r#"{"alert_days": 0}"#.to_owned()),
        ("PATCH", "/sites?id={site}", r#"{"origin_ip": "10.0.0.1"}"#.to_owned()),
        ("PATCH", "/sites?id={site}", r#"{"check_config": {"uptime": {"path": 7}}}"#.to_owned()),
        ("PATCH", "/sites?id={site}", "[]".to_owned()),
        ("GET", "/checks?site_id={site}&limit=0", String::new()),
        ("GET", "/checks?site_id={site}&check_type=tls", String::new()),
        ("GET", "/checks?site_id={site}&from=2026-02-01&to=2026-01-01", String::new()),
        ("POST", "/checks", checks(bad, "ssl")),
        ("POST", "/checks", checks("7", "ssl")),
        ("POST", "/checks", checks(&good, "nothing")),
        ("POST", "/check-ssl", r#"{"domain": "other.example", "site_id": "{site}"}"#.to_owned()),
        ("POST", "/check-ssl", r#"{"domain": "127.0.0.1", "site_id": "{site}"}"#.to_owned()),
        ("POST", "/check-ssl", blocked("origin_ip", "10.0.0.1")),
        ("PATCH", "/alerts?id={alert}", r#"{"is_resolved": 1}"#.to_owned()),
        ("PATCH", "/alerts?id={alert}", "{}".to_owned()),
        ("PATCH", "/api-keys?id={key}", r#"{"expiresAt": "2001-01-01T00:00:00Z"}"#.to_owned()),
        ("PATCH", "/api-keys?id={key}", "{}".to_owned()),
        // Each id in the place of another kind.
        ("PATCH", "/sites?id={alert}", "{}".to_owned()),
        ("DELETE", "/sites?id={key}", String::new()),
        ("PATCH", "/alerts?id={site}", r#"{"is_resolved": true}"#.to_owned()),
        ("DELETE", "/api-keys?id={site}", String::new()),
        ("GET", "/checks?site_id={alert}", String::new()),
    ]
    .into();
    for place in places {
        let client = stranger.client();
        let theirs = ask(client, &place, &owner.site, &owner.alert, &owner.key).await;
        let [site, alert, key] = [(); 3].map(|()| Uuid::new_v4().to_string());
        let nobodys = ask(client, &place, &site, &alert, &key).await;
        let what = format!("{} {} {}", place.0, place.1, place.2);
        assert!(matches!(theirs.status, 400 | 404), "{what}: {}", theirs.text);
        assert_eq!(told(&theirs), told(&nobodys), "{what}");
    }
    assert_eq!(owner.state().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_is_told_the_same_of_an_id_of_another_kind() {
    let world = World::start().await;
    let owner = Tenant::start(&world).await;
    let before = owner.state().await;
    for place in places() {
        // Every id is there, and none of them is of the kind that is asked for.
        let crossed = ask(owner.client(), &place, &owner.alert, &owner.key, &owner.site).await;
        let what = format!("{} {} {}", place.0, place.1, place.2);
        refused(&crossed, 404, &what);
    }
    assert_eq!(owner.state().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_uuid_is_400_and_named() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let before = tenant.state().await;
    let undashed = tenant.site.replace('-', "");
    let braced = format!("%7B{}%7D", tenant.site);
    let urn = format!("urn:uuid:{}", tenant.site);
    let longer = format!("{}0", tenant.site);
    let listed = format!("{0},{0}", tenant.site);
    for id in ["", "17", "null", "%00", &undashed, &braced, &urn, &longer, &listed, "..%2f..%2f"] {
        for (method, path, field) in [
            (Method::DELETE, "/sites?id=", "id"),
            (Method::DELETE, "/api-keys?id=", "id"),
            (Method::GET, "/checks?site_id=", "site_id"),
            (Method::GET, "/cert-history?site_id=", "site_id"),
        ] {
            let answer = tenant.client().send(method, &format!("{path}{id}"), None).await;
            let message = refused(&answer, 400, &format!("{path}{id}"));
            assert!(message.contains(field), "{path}{id}: {message}");
        }
    }
    for (method, path) in [
        (Method::DELETE, "/sites"),
        (Method::DELETE, "/api-keys"),
        (Method::GET, "/checks"),
        (Method::GET, "/cert-history"),
    ] {
        refused(&tenant.client().send(method, path, None).await, 400, path);
    }
    let twice = format!("/sites?id={0}&id={0}", tenant.site);
    refused(&tenant.client().delete(&twice).await, 400, "an id twice");
    assert_eq!(tenant.state().await, before);
}

/// Method, path and body; `{site}`, `{alert}` and `{key}` stand for ids.
type Place = (&'static str, &'static str, String);

/// Every place where an id is taken, each with a request that would do something.
fn places() -> Vec<Place> {
    let of_site = |domain: &str| format!(r#"{{"domain": "{domain}", "site_id": "{{site}}"}}"#);
    let brought =
        format!(r#"{{"site_id": "{{site}}", "check_type": "ssl", "result": {}}}"#, result(200));
    let mut places = vec![
        ("PATCH", "/sites?id={site}", r#"{"alert_days": 3}"#.to_owned()),
        ("PATCH", "/sites?id={site}", "{}".to_owned()),
        ("DELETE", "/sites?id={site}", String::new()),
        ("GET", "/checks?site_id={site}", String::new()),
        ("GET", "/checks?site_id={site}&check_type=ssl", String::new()),
        ("GET", "/checks?site_id={site}&from=2020-01-01&limit=1&offset=9", String::new()),
        ("GET", "/cert-history?site_id={site}", String::new()),
        ("POST", "/checks", brought),
        ("PATCH", "/alerts?id={alert}", r#"{"is_resolved": true}"#.to_owned()),
        ("PATCH", "/alerts?id={alert}", r#"{"is_resolved": false}"#.to_owned()),
        ("PATCH", "/api-keys?id={key}", r#"{"expiresAt": null}"#.to_owned()),
        ("POST", "/api-keys/roll", r#"{"id": "{key}"}"#.to_owned()),
        ("DELETE", "/api-keys?id={key}", String::new()),
    ];
    for path in ["/check-ssl", "/check-dns", "/check-domain", "/check-ct", "/check-uptime"] {
        places.push(("POST", path, of_site("tenant.example")));
    }
    places
}

fn blocked(field: &str, value: &str) -> String {
    format!(r#"{{"domain": "tenant.example", "site_id": "{{site}}", "{field}": "{value}"}}"#)
}

async fn ask(client: &Client, place: &Place, site: &str, alert: &str, key: &str) -> Answer {
    let (method, path, body) = place;
    let method = Method::from_bytes(method.as_bytes()).expect("a method");
    let path = fill(path, site, alert, key);
    if body.is_empty() {
        return client.send(method, &path, None).await;
    }
    client.send_raw(method, &path, fill(body, site, alert, key).into_bytes()).await
}

/// All of an answer but what differs between any two: when it was given, its request's id, and
/// how much of the limits is left.
fn told(answer: &Answer) -> (u16, Vec<(String, String)>, &str) {
    let mut headers: Vec<(String, String)> = answer
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), format!("{value:?}")))
        .filter(|(name, _)| !DIFFERING.contains(&name.as_str()))
        .collect();
    headers.sort();
    (answer.status, headers, answer.text.as_str())
}

/// What the caller's own requests change.
const DIFFERING: [&str; 6] = [
    "date",
    "x-request-id",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-monthlylimit-used",
    "x-monthlylimit-remaining",
];
