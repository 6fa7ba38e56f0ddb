//! `/mcp` and `/public/mcp`, by plain JSON-RPC, as a client without a library would write it.

mod bounds;
mod envelope;
mod era;
mod limit;
mod public;
mod same;
mod subscription;
mod tenant;
mod tools;

use serde_json::{Value, json};
use vedette_tests::Client;

use crate::world::text;

/// One request; the whole answer.
pub(super) async fn ask(client: &Client, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let answer = client.post("/mcp", body).await.expect(200);
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)), "{answer}");
    answer
}

/// The result of a call, whatever it says.
pub(super) async fn call(client: &Client, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    let answer = ask(client, "tools/call", params).await;
    assert!(answer["result"].is_object(), "{tool}: {answer}");
    answer["result"].clone()
}

/// The structured content of a call that does what it was asked to.
pub(super) async fn done(client: &Client, tool: &str, arguments: Value) -> Value {
    let result = call(client, tool, arguments).await;
    assert_eq!(result["isError"], false, "{tool}: {result}");
    let is_overview = ["list_sites", "list_alerts", "list_private_certs"].contains(&tool);
    let most = if is_overview { 120_000 } else { 25_000 };
    assert!(result.to_string().chars().count() < most, "{tool}");
    let written = text(&result["content"][0]["text"]);
    let written: Value = serde_json::from_str(&written).expect("the text is JSON");
    assert_eq!(written, result["structuredContent"], "{tool}: text and structure differ");
    written
}

/// The sentence of a call that the tool could not do.
pub(super) async fn refused(client: &Client, tool: &str, arguments: Value) -> String {
    let result = call(client, tool, arguments).await;
    assert_eq!(result["isError"], true, "{tool}: {result}");
    assert_eq!(result.get("structuredContent"), None, "{tool}: {result}");
    text(&result["content"][0]["text"])
}
