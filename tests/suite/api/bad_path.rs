//! Paths, methods and heads that lead nowhere: answered in JSON with the six headers as far as
//! they are HTTP, refused by the listener where they are not, and never a way around the key.

use reqwest::Method;
use serde_json::json;

use crate::{
    refusal::{limit_headers, refused},
    wire::Wire,
    world::World,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_is_none_is_404_in_json() {
    let world = World::start().await;
    let long = format!("/v1/{}", "a".repeat(10_000));
    for target in [
        "/",
        "/v1",
        "/v1/",
        "/v2/sites",
        "/V1/sites",
        "/v1/Sites",
        "/v1sites",
        "/v1/sitesx",
        "/v1/sites/x",
        "/v1/sites;x=1",
        "/v1/./sites",
        "/v1/x/../sites",
        "/v1/../admin/accounts",
        "/v1/%2e%2e/admin/accounts",
        "/v1%2fsites",
        "/v1/sites%2f",
        "/v1/sites%00",
        "/v1/sites%",
        "/v1/sites%zz",
        "/v1/%ff%fe",
        "/v1\\sites",
        "/v1/settings",
        "/v1/settings%2fnotifications",
        "/v1/public",
        "/v1/check-",
        "/v1/check-nothing",
        "/api/sites",
        "/admin/accounts",
        "/v1/admin/accounts",
        "/metrics",
        "/healthz",
        "/livez",
        "/index.html",
        &long,
    ] {
        let answer = Wire::new("GET", target).key(&world.owner.key).send(world.service.api).await;
        let answer = answer.expect("an answer");
        refused(&answer, 404, &target[..target.len().min(60)]);
        assert_eq!(answer.json()["error"], "not_found");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_spelling_of_a_path_is_no_way_around_the_key_or_the_window() {
    let world = World::start().await;
    for target in [
        "//v1/sites",
        "/v1//sites",
        "/v1/sites/",
        "/v1/%73ites",
        "/v1/sites?",
        "/v1/sites?key=ct_x#fragment",
        "http://other.example/v1/sites",
        "https://user:password@other.example:99/v1/sites",
    ] {
        let answer = Wire::new("GET", target).send(world.service.api).await.expect("an answer");
        refused(&answer, 401, target);
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{target}");
    }
    for target in ["/v1/public/check-ssl", "//v1//public/check-ssl/", "/v1/%70ublic/check%2dssl"] {
        let target = format!("{target}?domain=localhost");
        let wire = Wire::new("GET", target.clone());
        let answer = wire.send(world.service.api).await.expect("an answer");
        refused(&answer, 400, &target);
        assert_eq!(answer.number("x-ratelimit-limit"), 10, "{target}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_method_is_405_and_told_which_are_right() {
    let world = World::start().await;
    let client = world.service.client();
    for (path, allowed) in METHODS {
        for method in
            ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get"]
        {
            if allowed.contains(&method) {
                continue;
            }
            let method = Method::from_bytes(method.as_bytes()).expect("a method");
            let what = format!("{method} {path}");
            let answer = client.send(method, path, None).await;
            refused(&answer, 405, &what);
            let mut told: Vec<&str> = answer
                .header("allow")
                .expect("an Allow header")
                .split(',')
                .map(str::trim)
                .collect();
            told.sort_unstable();
            assert_eq!(told, *allowed, "{what}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn head_is_get_without_a_body() {
    let world = World::start().await;
    let client = &world.owner.client;
    for (path, status) in [
        ("/sites", 200),
        ("/alerts", 200),
        ("/api-keys", 200),
        ("/settings/notifications", 200),
        ("/checks", 400),
        ("/cert-history?site_id=00000000-0000-0000-0000-000000000000", 404),
        ("/no-such-path", 404),
        ("/check-ssl", 405),
        ("/public/check-ssl?domain=localhost", 400),
    ] {
        let answer = client.send(Method::HEAD, path, None).await;
        assert_eq!((answer.status, answer.text.as_str()), (status, ""), "{path}");
        limit_headers(&answer, path);
    }
    let anonymous = client.anonymous().send(Method::HEAD, "/sites", None).await;
    assert_eq!(anonymous.status, 401);
    limit_headers(&anonymous, "HEAD without a key");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_http_ends_the_connection_and_nothing_else() {
    let world = World::start().await;
    let get = |target: &[u8]| Wire::new("GET", target).key(&world.owner.key);
    let many = (0..5_000).fold(get(b"/v1/sites"), |wire, number| {
        wire.header(&format!("x-{number}"), number.to_string())
    });
    let requests = [
        ("a NUL in the target", get(b"/v1/sites?id=\0")),
        ("a raw blank in the target", get(b"/v1/sites?id=a b")),
        ("a target beyond 65 534 bytes", get(&[b"/".as_slice(), &[b'a'; 70_000]].concat())),
        ("thousands of headers", many),
        ("a header of a mebibyte", get(b"/v1/sites").header("x-large", vec![b'a'; 1 << 20])),
        ("a NUL in a header", get(b"/v1/sites").header("x-nul", b"a\0b")),
        ("a header without a name", get(b"/v1/sites").header("", b"a")),
        (
            "two lengths",
            get(b"/v1/sites").header("content-length", "1").header("content-length", "2"),
        ),
        ("a length that is none", get(b"/v1/sites").header("content-length", "-1")),
        ("no method", Wire::new("", "/v1/sites")),
    ];
    for (what, wire) in requests {
        let answer = wire.send(world.service.api).await;
        let status = answer.map(|answer| answer.status);
        assert!(matches!(status, None | Some(400 | 414 | 431)), "{what}: {status:?}");
    }
    let listed = world.owner.client.get("/sites").await;
    assert_eq!(listed.json()["sites"], json!([]));
    assert_eq!(listed.number("x-monthlylimit-used"), 1, "none of them was a call");
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_in_every_shape_but_the_right_one_are_401() {
    let world = World::start().await;
    let key = &world.owner.key;
    let values: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"Bearer".to_vec(),
        b"Bearer ".to_vec(),
        b"Bearer\t".to_vec(),
        b"Bearer \xff\xfe".to_vec(),
        key.clone().into_bytes(),
        format!("Basic {key}").into_bytes(),
        format!("Bearer{key}").into_bytes(),
        format!("Bearer \"{key}\"").into_bytes(),
        format!("Bearer {key},").into_bytes(),
        format!("Bearer {key} {key}").into_bytes(),
        format!("Bearer {key}x").into_bytes(),
        format!("Bearer {}", &key[..key.len() - 1]).into_bytes(),
        format!("Bearer {}", key.to_lowercase()).into_bytes(),
        format!("Bearer {}", "x".repeat(10_000)).into_bytes(),
        format!("Bearer ct_{}", "\u{fc}".repeat(18)).into_bytes(),
    ];
    for value in values {
        let what = String::from_utf8_lossy(&value[..value.len().min(60)]).into_owned();
        let wire = Wire::new("GET", "/v1/sites").header("authorization", &value);
        refused(&wire.send(world.service.api).await.expect("an answer"), 401, &what);
    }
    let twice = Wire::new("GET", "/v1/sites").key(key).key(key);
    refused(&twice.send(world.service.api).await.expect("an answer"), 401, "the key twice");
    let query = Wire::new("GET", format!("/v1/sites?authorization=Bearer%20{key}&key={key}"));
    refused(&query.send(world.service.api).await.expect("an answer"), 401, "the key in the query");
    let good = Wire::new("GET", "/v1/sites").header("authorization", format!("bearer {key}"));
    assert_eq!(good.send(world.service.api).await.expect("an answer").status, 200);
}

/// Every path and its methods, in alphabetical order.
const METHODS: [(&str, &[&str]); 13] = [
    ("/sites", &["DELETE", "GET", "HEAD", "PATCH", "POST"]),
    ("/check-ssl", &["POST"]),
    ("/check-dns", &["POST"]),
    ("/check-domain", &["POST"]),
    ("/check-ct", &["POST"]),
    ("/check-uptime", &["POST"]),
    ("/checks", &["GET", "HEAD", "POST"]),
    ("/cert-history", &["GET", "HEAD"]),
    ("/alerts", &["GET", "HEAD", "PATCH"]),
    ("/api-keys", &["DELETE", "GET", "HEAD", "PATCH", "POST"]),
    ("/api-keys/roll", &["POST"]),
    ("/settings/notifications", &["GET", "HEAD", "PATCH", "POST"]),
    ("/public/check-ssl", &["GET", "HEAD"]),
];
