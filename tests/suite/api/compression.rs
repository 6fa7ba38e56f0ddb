//! Long answers come packed for those who unpack them; requests do not.

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder};
use reqwest::{Method, RequestBuilder, header};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use vedette_tests::gzip;

use crate::world::World;

/// An answer as it came over the wire.
struct Raw {
    coding: Option<String>,
    vary: String,
    tag: String,
    body: Vec<u8>,
}

#[tokio::test(flavor = "multi_thread")]
async fn long_answers_are_packed_as_the_client_likes_it() {
    let world = World::start().await;
    for number in 0..12 {
        world.quiet(&format!("site-{number}.example")).await;
    }
    let plain = ask(&world, "/sites", "identity").await;
    assert_eq!(plain.coding, None);
    assert!(plain.vary.contains("accept-encoding"), "also where nothing is packed");
    for (accepted, coding) in [
        ("gzip", "gzip"),
        ("br", "br"),
        ("gzip, deflate, br, zstd", "br"),
        ("br;q=0.1, gzip;q=0.9", "gzip"),
        ("*", "br"),
    ] {
        let packed = ask(&world, "/sites", accepted).await;
        assert_eq!(packed.coding.as_deref(), Some(coding), "{accepted}");
        assert!(packed.vary.contains("accept-encoding"), "{accepted}");
        assert_eq!(packed.tag, plain.tag, "{accepted}: one content, one tag");
        assert!(packed.body.len() < plain.body.len() / 2, "{accepted}: {}", packed.body.len());
        assert_eq!(unpack(coding, &packed.body).await, plain.body, "{accepted}");
    }
    for accepted in ["", "zstd", "gzip;q=0, br;q=0", "identity, gzip;q=0.5"] {
        let answer = ask(&world, "/sites", accepted).await;
        assert_eq!((answer.coding, &answer.body), (None, &plain.body), "{accepted}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_packed_once_for_many_comes_with_the_id_of_each() {
    let world = World::start().await;
    for number in 0..12 {
        world.quiet(&format!("site-{number}.example")).await;
    }
    let call = json!({"name": "list_sites", "arguments": {}});
    for (method, params) in [("tools/list", json!({})), ("tools/call", call)] {
        let mut results = Vec::new();
        for (id, accepted) in [
            (json!(1), "identity"),
            (json!(2), "gzip"),
            (json!("ü"), "gzip"),
            (json!(-3), "br"),
            (json!("\"\\\""), "br"),
        ] {
            let asked = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
            let request = request(&world, Method::POST, "/mcp", accepted);
            let answer = raw(request.json(&asked)).await;
            let coding = (accepted != "identity").then_some(accepted);
            assert_eq!(answer.coding.as_deref(), coding, "{method}");
            let body = match coding {
                Some(coding) => unpack(coding, &answer.body).await,
                None => answer.body,
            };
            let said: Value = serde_json::from_slice(&body).expect("JSON");
            assert_eq!((&said["jsonrpc"], &said["id"]), (&json!("2.0"), &id), "{method}");
            results.push(said["result"].clone());
        }
        assert!(results[0].is_object(), "{method}: {}", results[0]);
        assert!(results.iter().all(|result| *result == results[0]), "{method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn short_answers_come_as_they_are() {
    let world = World::start().await;
    let answer = ask(&world, "/alerts", "gzip, br").await;
    assert_eq!(answer.coding, None);
    assert!(answer.vary.contains("accept-encoding"));
}

#[tokio::test(flavor = "multi_thread")]
async fn packed_requests_are_refused_with_what_to_do() {
    let world = World::start().await;
    let client = &world.owner.client;
    let packed = gzip(br#"{"domain": "packed.example"}"#).await.expect("packs");
    // Unpacked, this is a thousand times as long.
    let bomb = gzip(&vec![b' '; 4 << 20]).await.expect("packs");
    for (coding, body) in [("gzip", packed), ("GZIP", bomb), ("br, gzip", b"{}".to_vec())] {
        let request = client.request(Method::POST, "/sites");
        let request = request.header(header::CONTENT_ENCODING, coding).body(body);
        let refused = client.finish(request).await.expect(400);
        let message = refused["message"].as_str().unwrap_or_default();
        assert!(message.contains("Content-Encoding"), "{coding}: {message}");
    }
    let request = client.request(Method::POST, "/sites");
    let request = request.header(header::CONTENT_ENCODING, "identity");
    let body = r#"{"domain": "plain.example"}"#;
    client.finish(request.body(body)).await.expect(200);
}

async fn ask(world: &World, path: &str, accepted: &str) -> Raw {
    raw(request(world, Method::GET, path, accepted)).await
}

/// By a client that unpacks nothing.
fn request(world: &World, method: Method, path: &str, accepted: &str) -> RequestBuilder {
    let http = reqwest::Client::builder().no_proxy().no_gzip().no_brotli().build();
    let http = http.expect("a client without a proxy has nothing to fail on");
    let request = http.request(method, format!("http://{}/v1{path}", world.service.api));
    request.bearer_auth(&world.owner.key).header(header::ACCEPT_ENCODING, accepted)
}

async fn raw(request: RequestBuilder) -> Raw {
    let response = request.send().await.expect("the service answers");
    assert_eq!(response.status(), 200);
    let text = |name: header::HeaderName| {
        let values = response.headers().get_all(name).iter();
        let values: Vec<_> = values.filter_map(|value| value.to_str().ok()).collect();
        values.join(", ")
    };
    let (coding, vary) = (text(header::CONTENT_ENCODING), text(header::VARY));
    let tag = text(header::ETAG);
    let body = response.bytes().await.expect("the body arrives").to_vec();
    Raw { coding: (!coding.is_empty()).then_some(coding), vary, tag, body }
}

async fn unpack(coding: &str, packed: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let done = match coding {
        "br" => BrotliDecoder::new(packed).read_to_end(&mut plain).await,
        _ => GzipDecoder::new(packed).read_to_end(&mut plain).await,
    };
    done.expect("it was packed well");
    plain
}
