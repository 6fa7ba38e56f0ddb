//! Bodies that are no JSON object, or more than one reading of them: refused by every endpoint
//! that takes one, before anything is looked at.

use reqwest::Method;
use serde_json::json;

use crate::{
    refusal::{limit_headers, refused},
    tenant::Tenant,
    wire::Wire,
    world::World,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_no_json_object_is_refused_everywhere_and_changes_nothing() {
    let world = World::start().await;
    let bodies = malformed();
    // Fewer requests of one account than its window has.
    for endpoints in TAKERS.chunks(2) {
        let tenant = Tenant::start(&world).await;
        let before = tenant.state().await;
        for (method, path) in endpoints {
            let method = Method::from_bytes(method.as_bytes()).expect("a method");
            let path = tenant.fill(path);
            for (what, body) in &bodies {
                let answer = tenant.client().send_raw(method.clone(), &path, body.clone()).await;
                refused(&answer, 400, &format!("{method} {path}: {what}"));
            }
        }
        assert_eq!(tenant.state().await, before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_is_there_twice_is_named() {
    let world = World::start().await;
    let client = &world.owner.client;
    for body in [
        r#"{"domain": "a.example", "domain": "b.example"}"#,
        r#"{"domain": "a.example", "doma\u0069n": "b.example"}"#,
        r#"{"unknown": {"domain": 1, "domain": 1}}"#,
    ] {
        let answer = client.send_raw(Method::POST, "/sites", body.into()).await;
        assert!(refused(&answer, 400, body).contains("domain"), "{body}: {}", answer.text);
    }
    assert_eq!(client.get("/sites").await.expect(200)["sites"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_beyond_what_a_field_can_hold_are_refused_by_its_name() {
    let world = World::start().await;
    let client = &world.owner.client;
    for number in [
        "-0",
        "-0.0",
        "0.0",
        "1.5",
        "1e5",
        "18446744073709551616",
        "-9223372036854775809",
        "340282366920938463463374607431768211456",
        "1e308",
        "65536",
    ] {
        for field in ["custom_port", "alert_days"] {
            let body = format!(r#"{{"domain": "a.example", "{field}": {number}}}"#);
            let answer = client.send_raw(Method::POST, "/sites", body.clone().into_bytes()).await;
            assert!(refused(&answer, 400, &body).contains(field), "{body}: {}", answer.text);
        }
    }
    assert_eq!(client.get("/sites").await.expect(200)["sites"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_number_is_one_in_each_spelling_of_json() {
    let world = World::start().await;
    let client = &world.owner.client;
    for (number, port) in [("443", 443), ("8443.0", 8443), ("1e2", 100), ("0.8e2", 80)] {
        let body = format!(r#"{{"domain": "p{port}.example", "custom_port": {number}}}"#);
        let answer = client.send_raw(Method::POST, "/sites", body.into_bytes()).await;
        assert_eq!(answer.expect(200)["site"]["custom_port"], json!(port), "{number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_taken_by_its_type_or_without_one_and_nothing_else_is() {
    let world = World::start().await;
    let send = async |kind: Option<&str>| {
        let wire = Wire::new("PATCH", "/v1/settings/notifications").key(&world.owner.key);
        let wire = match kind {
            Some(kind) => wire.header("content-type", kind),
            None => wire,
        };
        wire.body(b"{}").send(world.service.api).await.expect("an answer")
    };
    for kind in [
        None,
        Some("application/json"),
        Some("application/json; charset=utf-8"),
        Some("application/json ; charset=utf-8"),
        Some("application/json\t;charset=\"utf-8\""),
        Some("Application/JSON"),
        Some("application/vnd.api+json"),
    ] {
        let answer = send(kind).await;
        assert_eq!(answer.status, 200, "{kind:?}: {}", answer.text);
    }
    for kind in [
        "",
        "json",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/octet-stream",
    ] {
        let answer = send(Some(kind)).await;
        let message = refused(&answer, 400, kind);
        assert!(message.contains("application/json"), "{kind}: {message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_kibibytes_are_taken_and_one_byte_more_is_not() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let before = tenant.state().await;
    let send = async |body: &[u8], chunk: Option<usize>| {
        let wire = Wire::new("PATCH", "/v1/settings/notifications").key(&tenant.account.key);
        let wire = wire.header("content-type", "application/json");
        let wire = match chunk {
            Some(size) => wire.chunked(body, size),
            None => wire.body(body),
        };
        wire.send(world.service.api).await.expect("an answer")
    };
    for chunk in [None, Some(65_536), Some(8_192), Some(1_000)] {
        let fits = send(&padded(LARGEST), chunk).await;
        assert_eq!(fits.status, 200, "{chunk:?}: {}", fits.text);
        limit_headers(&fits, "a body that fits");
        for size in [LARGEST + 1, LARGEST + 4_096, 3 * LARGEST] {
            let answer = send(&padded(size), chunk).await;
            let message = refused(&answer, 413, &format!("{size} bytes in chunks of {chunk:?}"));
            assert!(message.contains("body"), "{message}");
            assert_eq!(answer.json()["error"], "payload_too_large");
        }
    }
    assert_eq!(tenant.state().await, before);
}

/// A JSON object of this many bytes that changes nothing.
fn padded(size: usize) -> Vec<u8> {
    let frame = br#"{"unknown":""}"#.len();
    format!(r#"{{"unknown":"{}"}}"#, "x".repeat(size - frame)).into_bytes()
}

/// What each is, and its bytes.
fn malformed() -> Vec<(&'static str, Vec<u8>)> {
    let deep = |open: &str, close: &str| {
        format!(r#"{{"x":{}{}}}"#, open.repeat(10_000), close.repeat(10_000)).into_bytes()
    };
    let texts: [(&str, &[u8]); 35] = [
        ("nothing", b""),
        ("blanks", b" \r\n\t"),
        ("null", b"null"),
        ("a boolean", b"true"),
        ("a number", b"7"),
        ("a string", b"\"domain\""),
        ("an empty list", b"[]"),
        ("a list of objects", b"[{}]"),
        ("a byte order mark", b"\xef\xbb\xbf{}"),
        ("UTF-16", b"{\0}\0"),
        ("bad UTF-8", b"{\"domain\":\"\xff.example\"}"),
        ("overlong UTF-8", b"{\"domain\":\"\xc0\xaf\"}"),
        ("a surrogate in UTF-8", b"{\"domain\":\"\xed\xa0\x80\"}"),
        ("half a surrogate pair", b"{\"domain\":\"\\ud800.example\"}"),
        ("a cut object", b"{\"domain\":"),
        ("an open object", b"{"),
        ("two objects", b"{}{}"),
        ("a word behind it", b"{} true"),
        ("a comma behind it", b"{},"),
        ("a NUL behind it", b"{}\0"),
        ("a trailing comma", b"{\"x\":1,}"),
        ("a comment", b"{/* x */}"),
        ("single quotes", b"{'x':1}"),
        ("a bare name", b"{x:1}"),
        ("NaN", b"{\"x\":NaN}"),
        ("Infinity", b"{\"x\":-Infinity}"),
        ("a number too large", b"{\"x\":1e400}"),
        ("a leading zero", b"{\"x\":01}"),
        ("a plus sign", b"{\"x\":+1}"),
        ("hexadecimal", b"{\"x\":0x10}"),
        ("a raw line break", b"{\"x\":\"a\nb\"}"),
        ("a raw NUL", b"{\"x\":\"\0\"}"),
        ("an unknown escape", b"{\"x\":\"\\x41\"}"),
        ("a member twice", b"{\"x\":1,\"x\":1}"),
        ("a member twice, deeper", b"{\"x\":[{\"y\":1,\"y\":2}]}"),
    ];
    let mut bodies: Vec<_> = texts.iter().map(|(what, text)| (*what, text.to_vec())).collect();
    bodies.push(("lists 10 000 deep", deep("[", "]")));
    bodies.push(("lists 10 000 deep, never closed", "[".repeat(10_000).into_bytes()));
    let objects = format!("{}1{}", r#"{"x":"#.repeat(10_000), "}".repeat(10_000));
    bodies.push(("objects 10 000 deep", objects.into_bytes()));
    bodies
}

/// Every endpoint that takes a body.
const TAKERS: [(&str, &str); 13] = [
    ("POST", "/sites"),
    ("PATCH", "/sites?id={site}"),
    ("POST", "/check-ssl"),
    ("POST", "/check-dns"),
    ("POST", "/check-domain"),
    ("POST", "/check-ct"),
    ("POST", "/check-uptime"),
    ("POST", "/checks"),
    ("PATCH", "/alerts?id={alert}"),
    ("POST", "/api-keys"),
    ("PATCH", "/api-keys?id={key}"),
    ("POST", "/api-keys/roll"),
    ("PATCH", "/settings/notifications"),
];

/// Decisions: unknown body fields.
const LARGEST: usize = 64 << 10;
