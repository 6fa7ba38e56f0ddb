//! What is wrong with a call: an error of the protocol, or one that the model can repair.

use serde_json::json;
use uuid::Uuid;
use vedette_tests::Reply;

use super::{PARAMS, PRIVATE, PUBLIC, answered, ask, call, ends, tool_error};
use crate::{tenant::Tenant, world::World};

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
async fn the_public_endpoint_refuses_private_targets() {
    let world = World::start().await;
    let private = Reply::address("127.0.0.1".parse().expect("valid"));
    world.lab.dns.answer("lab.example", private);
    let client = world.service.client();
    for domain in ["localhost", "127.0.0.1", "a.internal", "x.example:8443", "lab.example"] {
        let answer = call(&client, PUBLIC, "check_ssl", json!({"domain": domain})).await;
        tool_error(&answer, domain);
    }
}
