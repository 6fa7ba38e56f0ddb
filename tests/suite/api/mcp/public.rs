//! `/public/mcp`: three tools, public hosts, the documented fields, one window with the rest.

use serde_json::{Value, json};
use vedette_tests::{Client, Reply};

use crate::world::{World, text};

async fn send(client: &Client, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    client.post("/public/mcp", body).await.expect(200)
}

async fn look(client: &Client, tool: &str, domain: &str) -> Value {
    let params = json!({"name": tool, "arguments": {"domain": domain}});
    send(client, "tools/call", params).await["result"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn three_tools_answer_the_documented_fields_only() {
    let world =
        World::with(|settings| settings.public_egress_allow = vec!["127.0.0.1/32".into()]).await;
    world.lab.dns.answer("open.example", Reply::address("127.0.0.1".parse().expect("valid")));
    let client = &world.service.client();
    let tools = send(client, "tools/list", json!({})).await["result"]["tools"].clone();
    let tools = tools.as_array().expect("a list").clone();
    let mut names: Vec<String> = tools.iter().map(|tool| text(&tool["name"])).collect();
    names.sort();
    assert_eq!(names, ["check_dns", "check_domain", "check_ssl"]);
    for (tool, documented) in [
        (
            "check_ssl",
            &["chain_complete", "days_remaining", "error", "expires_at", "issuer", "san", "valid"]
                [..],
        ),
        ("check_dns", &["dnssec", "error", "failed_types", "records"][..]),
        (
            "check_domain",
            &[
                "data_availability",
                "days_remaining",
                "error",
                "expires_at",
                "name_servers",
                "privacy_protected",
                "registrar",
            ][..],
        ),
    ] {
        let result = look(client, tool, "open.example").await;
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let structured = &result["structuredContent"];
        let fields: Vec<&String> = structured.as_object().expect("an object").keys().collect();
        assert_eq!(fields, documented, "{tool}");
    }
    let found = send(client, "server/discover", json!({})).await["result"].clone();
    assert_eq!(found["cacheScope"], "public");
    let unknown = send(client, "resources/list", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601);
    let private = json!({"name": "list_sites", "arguments": {}});
    assert_eq!(send(client, "tools/call", private).await["error"]["code"], -32602);
}

#[tokio::test(flavor = "multi_thread")]
async fn private_targets_are_refused_however_they_are_spelled() {
    let world = World::start().await;
    let client = &world.service.client();
    world.lab.dns.answer("lab.example", Reply::address("127.0.0.1".parse().expect("valid")));
    for tool in ["check_ssl", "check_dns", "check_domain"] {
        for domain in ["lab.example", "localhost", "127.0.0.1", "2130706433", "a.internal"] {
            let result = look(client, tool, domain).await;
            assert_eq!(result["isError"], true, "{tool} {domain}: {result}");
            assert!(text(&result["content"][0]["text"]).contains("domain"), "{result}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_a_minute_are_shared_with_the_other_public_endpoints() {
    let world = World::start().await;
    let one = world.service.client().from_address("192.0.2.77");
    for _ in 0..5 {
        send(&one, "ping", json!({})).await;
        one.get("/public/check-ssl?domain=localhost").await.expect(400);
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let refused = one.post("/public/mcp", body).await;
    assert_eq!(refused.number("x-ratelimit-limit"), 10);
    let wait = refused.number("retry-after");
    assert_eq!(refused.expect(429)["retry_after"], wait);
}
