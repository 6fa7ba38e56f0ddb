//! Both protocols on one endpoint: with a handshake, and without any state.

use reqwest::Method;
use serde_json::{Value, json};

use super::ask;
use crate::world::{World, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_handshake_agrees_on_the_clients_version_or_the_newest() {
    let world = World::start().await;
    let client = &world.owner.client;
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let client_info = json!({"name": "test", "version": "1"});
        let params =
            json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": client_info});
        let result = ask(client, "initialize", params).await["result"].clone();
        assert_eq!(result["protocolVersion"], agreed, "{asked}");
        assert_eq!(result["serverInfo"]["name"], "vedette");
        assert_eq!(result["capabilities"]["tools"], json!({"listChanged": false}));
        assert!(text(&result["instructions"]).contains("list_sites"));
        assert_eq!(result.get("resultType"), None);
    }
    let bare = client.post("/mcp", json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"}));
    assert_eq!(bare.await.expect(200)["result"]["protocolVersion"], "2025-11-25");
}

#[tokio::test(flavor = "multi_thread")]
async fn stateless_requests_say_their_version_and_get_its_form() {
    let world = World::start().await;
    let client = &world.owner.client;
    for params in [json!({}), modern(json!({}))] {
        let found = ask(client, "server/discover", params).await["result"].clone();
        assert_eq!(found["resultType"], "complete", "{found}");
        assert!(found["supportedVersions"].as_array().is_some_and(|all| all.len() == 5));
        assert!(found["ttlMs"].is_u64() && found["cacheScope"] == "private", "{found}");
        assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "vedette");
    }
    let listed = ask(client, "tools/list", modern(json!({}))).await["result"].clone();
    assert_eq!(
        (&listed["resultType"], &listed["cacheScope"]),
        (&json!("complete"), &json!("private"))
    );
    let old = ask(client, "tools/list", json!({})).await["result"].clone();
    assert_eq!(old["tools"], listed["tools"]);
    assert_eq!(old.as_object().map(|members| members.len()), Some(1), "nothing of the newer form");

    let call = json!({"name": "list_sites", "arguments": {}});
    let called = ask(client, "tools/call", modern(call.clone())).await["result"].clone();
    assert_eq!(called["resultType"], "complete");
    assert_eq!(ask(client, "tools/call", call).await["result"].get("resultType"), None);
    assert_eq!(ask(client, "ping", modern(json!({}))).await["error"]["code"], -32601);
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_and_headers_that_do_not_fit_are_told() {
    let world = World::start().await;
    let client = &world.owner.client;
    let mut later = modern(json!({}));
    later["_meta"][VERSION] = json!("2030-01-01");
    let error = ask(client, "tools/list", later).await["error"].clone();
    assert_eq!(error["code"], -32022);
    assert!(error["data"]["supported"].as_array().is_some_and(|all| all.len() == 5), "{error}");
    let mut bare = modern(json!({}));
    bare["_meta"] = json!({VERSION: "2026-07-28"});
    assert_eq!(ask(client, "tools/list", bare).await["error"]["code"], -32602);

    let cases = [
        ("mcp-protocol-version", "2025-06-18", modern(json!({})), -32020),
        ("mcp-method", "tools/call", modern(json!({})), -32020),
        ("mcp-protocol-version", "2030-01-01", json!({}), -32022),
        ("mcp-protocol-version", "2026-07-28", json!({}), -32602),
    ];
    for (header, value, params, code) in cases {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
        let request = client.request(Method::POST, "/mcp").header(header, value).json(&body);
        let said = client.finish(request).await.expect(200);
        assert_eq!(said["error"]["code"], code, "{header}: {value}: {said}");
    }
}

fn modern(mut params: Value) -> Value {
    params["_meta"] =
        json!({VERSION: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    params
}

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
