//! JSON-RPC at `/mcp` and `/public/mcp`: the envelope, the errors and what every answer carries.

use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;
use vedette_tests::{Answer, Client};

use crate::{
    refusal::{limit_headers, refused},
    tenant::Tenant,
    world::World,
};

const PRIVATE: &str = "/mcp";
const PUBLIC: &str = "/public/mcp";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

const PARSE: i64 = -32700;
const ENVELOPE: i64 = -32600;
const METHOD: i64 = -32601;
const PARAMS: i64 = -32602;

async fn raw(client: &Client, path: &str, body: impl Into<Vec<u8>>) -> Answer {
    client.send_raw(Method::POST, path, body.into()).await
}

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
    for (body, code) in table {
        let what = String::from_utf8_lossy(&body).into_owned();
        let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
        for (client, path) in ends(&world) {
            let answer = answered(&raw(&client, path, body.clone()).await, &what);
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
    for id in [json!(0), json!(-1), json!(9_007_199_254_740_993_i64), json!("a"), json!("1")] {
        for (client, path) in ends(&world) {
            let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
            let answer = answered(&client.post(path, ping).await, "ping");
            assert_eq!((&answer["id"], &answer["result"]), (&id, &json!({})), "{path}");
            let unknown = json!({"jsonrpc": "2.0", "id": id, "method": "no/such/method"});
            let answer = answered(&client.post(path, unknown).await, "an unknown method");
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(METHOD)), "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_params_and_unknown_tools_are_errors_of_the_protocol() {
    let world = World::start().await;
    for (client, path) in ends(&world) {
        for params in [
            json!([]),
            json!("check_dns"),
            json!({}),
            json!({"name": 5, "arguments": {}}),
            json!({"name": "no_such_tool", "arguments": {}}),
            json!({"name": "check_dns", "arguments": []}),
            json!({"name": "check_dns", "arguments": "a.example"}),
        ] {
            let answer = ask(&client, path, "tools/call", params.clone()).await;
            assert_eq!(answer["error"]["code"], PARAMS, "{path}: {params}: {answer}");
        }
        let bare = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call"});
        let answer = answered(&client.post(path, bare).await, "no params");
        assert_eq!(answer["error"]["code"], PARAMS, "{path}: {answer}");
    }
    let hidden = call(&world.service.client(), PUBLIC, "list_sites", json!({})).await;
    assert_eq!(hidden["error"]["code"], PARAMS, "a private tool is unknown in public: {hidden}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_arguments_are_told_to_the_model_and_change_nothing() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let before = tenant.state().await;
    let (site, alert) = (&tenant.site, &tenant.alert);
    for (tool, arguments, field) in [
        ("get_site_status", json!({}), "site_id"),
        ("get_site_status", json!({"site_id": 5}), "site_id"),
        ("get_site_status", json!({"site_id": "five"}), "site_id"),
        ("get_cert_history", json!({"site_id": null}), "site_id"),
        ("add_site", json!({}), "domain"),
        ("add_site", json!({"domain": ["a.example"]}), "domain"),
        ("add_site", json!({"domain": "a b.example"}), "domain"),
        ("add_site", json!({"domain": "a.example", "check_types": "ssl"}), "check_types"),
        ("add_site", json!({"domain": "a.example", "check_types": ["tls"]}), "check_types"),
        ("update_site", json!({"alert_days": 5}), "site_id"),
        ("update_site", json!({"site_id": site, "alert_days": 0}), "alert_days"),
        ("update_site", json!({"site_id": site, "alert_days": "5"}), "alert_days"),
        ("update_site", json!({"site_id": site, "alert_days": 1.5}), "alert_days"),
        ("update_site", json!({"site_id": site, "check_types": ["tls"]}), "check_types"),
        ("update_site", json!({"site_id": site, "monitoring_enabled": 1}), "monitoring_enabled"),
        ("remove_site", json!({}), "site_id"),
        ("resolve_alert", json!({"alert_id": false}), "alert_id"),
        ("resolve_alert", json!({"id": alert}), "alert_id"),
        ("check_ssl", json!({}), "domain"),
        ("check_dns", json!({"domain": 7}), "domain"),
        ("check_domain", json!({"domain": ""}), "domain"),
    ] {
        let what = format!("{tool} {arguments}");
        let answer = call(tenant.client(), PRIVATE, tool, arguments).await;
        let said = tool_error(&answer, &what);
        assert!(said.contains(field), "{what} does not name {field}: {said}");
    }
    assert_eq!(tenant.state().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn further_arguments_are_ignored() {
    let world = World::start().await;
    for params in [
        json!({"name": "list_sites"}),
        json!({"name": "list_sites", "arguments": {}}),
        json!({"name": "list_sites", "arguments": {"verbose": true}, "further": 1}),
    ] {
        let answer = ask(&world.owner.client, PRIVATE, "tools/call", params.clone()).await;
        assert_ne!(answer["result"]["isError"], true, "{params}: {answer}");
        assert_eq!(answer["result"]["structuredContent"]["sites"], json!([]), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_accounts_ids_are_ids_that_nobody_has() {
    let world = World::start().await;
    let owner = Tenant::start(&world).await;
    let stranger = Tenant::start(&world).await;
    let before = owner.state().await;
    for (tool, field, theirs) in [
        ("get_site_status", "site_id", &owner.site),
        ("update_site", "site_id", &owner.site),
        ("remove_site", "site_id", &owner.site),
        ("get_cert_history", "site_id", &owner.site),
        ("resolve_alert", "alert_id", &owner.alert),
    ] {
        let arguments = |id: &str| match tool {
            "update_site" => json!({field: id, "alert_days": 3}),
            _ => json!({field: id}),
        };
        let foreign = call(stranger.client(), PRIVATE, tool, arguments(theirs)).await;
        let nobody = Uuid::new_v4().to_string();
        let unknown = call(stranger.client(), PRIVATE, tool, arguments(&nobody)).await;
        tool_error(&foreign, tool);
        assert_eq!(foreign, unknown, "{tool}");
    }
    assert_eq!(owner.state().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_is_taken_without_a_word() {
    let world = World::start().await;
    for (client, path) in ends(&world) {
        for body in [
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}),
            json!({"jsonrpc": "2.0", "method": "notifications/of/the/future"}),
        ] {
            let answer = client.post(path, body.clone()).await;
            assert_eq!((answer.status, answer.text.as_str()), (202, ""), "{path}: {body}");
            limit_headers(&answer, path);
        }
        for method in [Method::GET, Method::DELETE, Method::PUT] {
            let answer = client.send(method.clone(), path, None).await;
            refused(&answer, 405, &format!("{method} {path}"));
            assert_eq!(answer.header("allow"), Some("POST"), "{method} {path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_size_and_limits_stay_statuses_of_http() {
    let world = World::start().await;
    let ping = || request("ping", json!({}));
    let anonymous = world.service.client();
    refused(&anonymous.post(PRIVATE, ping()).await, 401, "without a key");
    refused(&anonymous.with_key("ct_nonsense").post(PRIVATE, ping()).await, 401, "a wrong key");
    for (client, path) in ends(&world) {
        let large = request("ping", json!({"pad": "a".repeat(64 << 10)}));
        refused(&client.post(path, large).await, 413, path);
    }
    let free = world.account("free").await;
    for number in 1..=10 {
        answered(&free.client.post(PRIVATE, ping()).await, &format!("ping {number}"));
    }
    let limited = free.client.post(PRIVATE, ping()).await;
    refused(&limited, 429, "the eleventh in ten seconds");
    assert_eq!(limited.json()["retry_after"], limited.number("retry-after"));

    let one = anonymous.from_address("192.0.2.77");
    for number in 1..=10 {
        let answer = one.post(PUBLIC, ping()).await;
        answered(&answer, &format!("public ping {number}"));
        assert_eq!(answer.number("x-ratelimit-limit"), 10);
        assert_eq!(answer.number("x-monthlylimit-limit"), 0);
    }
    refused(&one.post(PUBLIC, ping()).await, 429, "the eleventh of an address in a minute");
    // All public endpoints of an address share one window.
    refused(&one.get("/public/check-ssl?domain=localhost").await, 429, "its sibling");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_calls_of_tools_count_for_the_month() {
    let world = World::start().await;
    let client = &world.owner.client;
    let used = async |method: &str, params: Value| {
        let answer = client.post(PRIVATE, request(method, params)).await;
        answered(&answer, method);
        answer.number("x-monthlylimit-used")
    };
    for method in ["initialize", "ping", "tools/list", "server/discover"] {
        assert_eq!(used(method, json!({})).await, 0, "{method}");
    }
    let call = json!({"name": "list_sites", "arguments": {}});
    assert_eq!(used("tools/call", call).await, 1);
    assert_eq!(used("tools/list", json!({})).await, 1);
}

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

#[tokio::test(flavor = "multi_thread")]
async fn the_public_endpoint_refuses_private_targets() {
    let world = World::start().await;
    let private = vedette_tests::Reply::address("127.0.0.1".parse().expect("valid"));
    world.lab.dns.answer("lab.example", private);
    let client = world.service.client();
    for domain in ["localhost", "127.0.0.1", "a.internal", "x.example:8443", "lab.example"] {
        let answer = call(&client, PUBLIC, "check_ssl", json!({"domain": domain})).await;
        tool_error(&answer, domain);
    }
}

/// Both endpoints, each with who may use it.
fn ends(world: &World) -> [(Client, &'static str); 2] {
    [(world.owner.client.clone(), PRIVATE), (world.service.client(), PUBLIC)]
}
