//! JSON-RPC at `/mcp` and `/public/mcp`: the envelope, the errors and what every answer carries.

mod argument;
mod limit;
mod tool;
mod version;

use reqwest::Method;
use serde_json::{Value, json};
use vedette_tests::{Answer, Client};

use crate::{refusal::limit_headers, world::World};

const PRIVATE: &str = "/mcp";
const PUBLIC: &str = "/public/mcp";

const PARSE: i64 = -32700;
const ENVELOPE: i64 = -32600;
const METHOD: i64 = -32601;
const PARAMS: i64 = -32602;

/// The body of an answer to a request: whatever it says, it is a 200 of JSON-RPC.
#[track_caller]
fn answered(answer: &Answer, what: &str) -> Value {
    assert_eq!(answer.status, 200, "{what}: {}", answer.text);
    limit_headers(answer, what);
    let kind = answer.header("content-type").unwrap_or_default();
    assert!(kind.starts_with("application/json"), "{what}: {kind}");
    let body = answer.json();
    assert_eq!(body["jsonrpc"], "2.0", "{what}: {body}");
    assert!(body.get("id").is_some(), "{what}: {body}");
    assert_ne!(body.get("result").is_some(), body.get("error").is_some(), "{what}: {body}");
    if body.get("error").is_some() {
        assert!(body["error"]["code"].is_i64(), "{what}: {body}");
        let said = body["error"]["message"].as_str().unwrap_or_default();
        assert!(!said.trim().is_empty(), "{what}: {body}");
    }
    body
}

fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

async fn ask(client: &Client, path: &str, method: &str, params: Value) -> Value {
    let answer = client.post(path, request(method, params.clone())).await;
    answered(&answer, &format!("{method} {params}"))
}

async fn call(client: &Client, path: &str, tool: &str, arguments: Value) -> Value {
    ask(client, path, "tools/call", json!({"name": tool, "arguments": arguments})).await
}

/// The sentence of a call that a tool could not do.
#[track_caller]
fn tool_error(answer: &Value, what: &str) -> String {
    assert_eq!(answer["result"]["isError"], true, "{what}: {answer}");
    assert_eq!(answer["result"]["content"][0]["type"], "text", "{what}: {answer}");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(!text.trim().is_empty(), "{what}: {answer}");
    text.to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_is_told_so_inside_a_200() {
    let world = World::start().await;
    let ping = request("ping", json!({}));
    let with = |member: &str, value: Value| {
        let mut changed = ping.clone();
        changed[member] = value;
        changed.to_string().into_bytes()
    };
    let without = |member: &str| {
        let mut changed = ping.clone();
        changed.as_object_mut().expect("an object").remove(member);
        changed.to_string().into_bytes()
    };
    let table = [
        (Vec::new(), PARSE),
        (b"{".to_vec(), PARSE),
        (b"{} {}".to_vec(), PARSE),
        (b"no".to_vec(), PARSE),
        (b"\"\xff\"".to_vec(), PARSE),
        (b"[]".to_vec(), ENVELOPE),
        (json!([ping]).to_string().into_bytes(), ENVELOPE),
        (b"null".to_vec(), ENVELOPE),
        (b"5".to_vec(), ENVELOPE),
        (b"\"ping\"".to_vec(), ENVELOPE),
        (b"{}".to_vec(), ENVELOPE),
        (with("jsonrpc", json!("1.0")), ENVELOPE),
        (with("jsonrpc", json!(2.0)), ENVELOPE),
        (without("jsonrpc"), ENVELOPE),
        (with("id", json!(null)), ENVELOPE),
        (with("id", json!(1.5)), ENVELOPE),
        (with("id", json!(true)), ENVELOPE),
        (with("id", json!([1])), ENVELOPE),
        (with("id", json!({})), ENVELOPE),
        (with("method", json!(null)), ENVELOPE),
        (with("method", json!(7)), ENVELOPE),
        (without("method"), ENVELOPE),
    ];
    let ends = ends(&world);
    for (body, code) in table {
        let what = String::from_utf8_lossy(&body).into_owned();
        let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
        for (client, path) in &ends {
            let answer = client.send_raw(Method::POST, path, body.clone()).await;
            let answer = answered(&answer, &what);
            assert_eq!(answer["error"]["code"], code, "{path}: {what}: {answer}");
            // An id that was understood may be told; one that was not is null.
            let understood = sent["id"].is_i64() || sent["id"].is_string();
            let repeated = understood && answer["id"] == sent["id"];
            assert!(answer["id"].is_null() || repeated, "{path}: {what}: {answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_comes_back_as_it_was_sent() {
    let world = World::start().await;
    let ends = ends(&world);
    for id in [json!(0), json!(-1), json!(9_007_199_254_740_993_i64), json!("a"), json!("1")] {
        for (client, path) in &ends {
            let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
            let answer = answered(&client.post(path, ping).await, "ping");
            assert_eq!((&answer["id"], &answer["result"]), (&id, &json!({})), "{path}");
            let unknown = json!({"jsonrpc": "2.0", "id": id, "method": "no/such/method"});
            let answer = answered(&client.post(path, unknown).await, "an unknown method");
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(METHOD)), "{path}");
        }
    }
}

/// Both endpoints, each with who may use it.
fn ends(world: &World) -> [(Client, &'static str); 2] {
    [(world.owner.client.clone(), PRIVATE), (world.service.client(), PUBLIC)]
}
