//! What is a request, what is none, and how either is answered.

use reqwest::Method;
use serde_json::{Value, json};

use super::ask;
use crate::{refusal, world::World};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_is_an_error_in_a_200() {
    let world = World::start().await;
    let client = &world.owner.client;
    let cases: &[(&str, i64, Value)] = &[
        ("", -32700, Value::Null),
        ("{", -32700, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, Value::Null),
        ("5", -32600, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, Value::Null),
        ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600, Value::Null),
        ("{\"id\":\"a\",\"method\":\"ping\"}", -32600, json!("a")),
        ("{\"jsonrpc\":\"2.0\",\"id\":3}", -32600, json!(3)),
        ("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"nope\"}", -32601, json!(3)),
        ("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\",\"params\":[]}", -32602, json!(3)),
        ("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\"}", -32602, json!(3)),
    ];
    for (body, code, id) in cases {
        let answer = client.send_raw(Method::POST, "/mcp", body.as_bytes().to_vec()).await;
        let said = answer.expect(200);
        assert_eq!((&said["error"]["code"], &said["id"]), (&json!(code), id), "{body}: {said}");
        assert!(said["error"]["message"].is_string(), "{said}");
        assert_eq!(said.get("result"), None, "{said}");
    }
    let unknown = json!({"name": "no_such_tool", "arguments": {}});
    assert_eq!(ask(client, "tools/call", unknown).await["error"]["code"], -32602);
}

#[tokio::test(flavor = "multi_thread")]
async fn any_accept_any_host_and_any_type_will_do() {
    let world = World::start().await;
    let client = &world.owner.client;
    let body = json!({"jsonrpc": "2.0", "id": "ü", "method": "ping"}).to_string();
    for (name, value) in [
        ("accept", "*/*"),
        ("accept", "text/html"),
        ("accept", "application/json, text/event-stream"),
        ("host", "elsewhere.example"),
        ("content-type", "text/plain"),
        ("mcp-session-id", "mine"),
        ("mcp-protocol-version", "2025-06-18"),
    ] {
        let request = client.request(Method::POST, "/mcp").header(name, value).body(body.clone());
        let answer = client.finish(request).await;
        let kind = answer.header("content-type").unwrap_or_default().to_owned();
        assert!(kind.starts_with("application/json"), "{name}: {value}: {kind}");
        let expected = json!({"jsonrpc": "2.0", "id": "ü", "result": {}});
        assert_eq!(answer.expect(200), expected, "{name}: {value}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn notifications_are_accepted_and_nothing_comes_back() {
    let world = World::start().await;
    let client = &world.owner.client;
    for method in ["notifications/initialized", "notifications/cancelled", "tools/call", "nope"] {
        let answer = client.post("/mcp", json!({"jsonrpc": "2.0", "method": method})).await;
        refusal::limit_headers(&answer, method);
        assert_eq!((answer.status, answer.text.as_str()), (202, ""), "{method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_methods_bodies_too_large_and_no_credential_are_statuses() {
    let world = World::start().await;
    let client = &world.owner.client;
    for path in ["/mcp", "/public/mcp"] {
        for method in [Method::GET, Method::DELETE, Method::PUT] {
            let answer = client.send(method, path, None).await;
            let allowed = answer.header("allow").unwrap_or_default().to_owned();
            assert!(allowed.contains("POST"), "{path}: {allowed}");
            refusal::refused(&answer, 405, path);
        }
        let large = client.send_raw(Method::POST, path, vec![b' '; 1 << 20]).await;
        refusal::refused(&large, 413, path);
    }
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    refusal::refused(&client.anonymous().post("/mcp", ping.clone()).await, 401, "no key");
    refusal::refused(&client.with_key("ct_nonsense").post("/mcp", ping).await, 401, "a bad key");
    let nothing = client.anonymous().send_raw(Method::POST, "/mcp", b"[".to_vec()).await;
    refusal::refused(&nothing, 401, "no key and no JSON");
}
