//! Versions with a handshake, and the one without.

use reqwest::Method;
use serde_json::json;

use super::{answered, ask, ends, request};
use crate::world::World;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

#[tokio::test(flavor = "multi_thread")]
async fn initialize_agrees_on_a_version_and_never_fails() {
    let world = World::start().await;
    let newest = "2025-11-25";
    let known = ["2024-11-05", "2025-03-26", "2025-06-18", newest];
    let named = known.map(|version| (json!({"protocolVersion": version}), version));
    let others = [json!({}), json!({"protocolVersion": "1999-01-01"})];
    let others = others.map(|params| (params, newest));
    for (client, path) in ends(&world) {
        for (params, version) in named.iter().chain(&others) {
            let answer = ask(&client, path, "initialize", params.clone()).await;
            let result = &answer["result"];
            assert_eq!(result["protocolVersion"], *version, "{path}: {params}: {answer}");
            assert_eq!(result["serverInfo"]["name"], "vedette", "{path}: {answer}");
            assert!(result["capabilities"]["tools"].is_object(), "{path}: {answer}");
            assert!(result.get("resultType").is_none(), "{path}: {answer}");
        }
        let bare = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"});
        let answer = answered(&client.post(path, bare).await, "initialize without params");
        assert_eq!(answer["result"]["protocolVersion"], newest, "{path}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_names_its_version_is_served_without_a_session() {
    let world = World::start().await;
    let meta = |version: &str| json!({"_meta": {VERSION: version, "io.modelcontextprotocol/clientCapabilities": {}}});
    for ((client, path), scope) in ends(&world).into_iter().zip(["private", "public"]) {
        for params in [json!({}), meta("2026-07-28")] {
            let found = ask(&client, path, "server/discover", params).await;
            let result = &found["result"];
            assert_eq!(result["resultType"], "complete", "{path}: {found}");
            let versions = result["supportedVersions"].as_array().expect("a list");
            assert!(versions.contains(&json!("2026-07-28")), "{path}: {found}");
            assert!(result["ttlMs"].is_u64() && result["cacheScope"].is_string(), "{found}");
        }
        let listed = ask(&client, path, "tools/list", meta("2026-07-28")).await;
        assert_eq!(listed["result"]["resultType"], "complete", "{path}: {listed}");
        assert_eq!(listed["result"]["cacheScope"], scope, "{path}: {listed}");
        assert!(listed["result"]["ttlMs"].is_u64(), "{path}: {listed}");
        let legacy = ask(&client, path, "tools/list", json!({})).await;
        for field in ["resultType", "cacheScope", "ttlMs"] {
            assert!(legacy["result"].get(field).is_none(), "{path}: {field} is of another era");
        }
        let future = ask(&client, path, "tools/list", meta("2099-01-01")).await;
        assert_eq!(future["error"]["code"], -32022, "{path}: {future}");
        let supported = future["error"]["data"]["supported"].as_array().expect("a list");
        assert!(supported.contains(&json!("2026-07-28")), "{path}: {future}");

        let mismatch = client
            .request(Method::POST, path)
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .json(&request("tools/list", meta("2026-07-28")));
        let answer = answered(&client.finish(mismatch).await, "a header that differs");
        assert_eq!(answer["error"]["code"], -32020, "{path}: {answer}");
    }
}
