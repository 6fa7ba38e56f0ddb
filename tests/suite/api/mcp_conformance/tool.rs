//! The tools as they are listed, and what they answer.

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::{Value, json};
use vedette_tests::Client;

use super::{PRIVATE, PUBLIC, ask, call, ends};
use crate::{tenant::Tenant, world::World};

/// Reads only, destroys, may be repeated, reaches outside.
type Hints = [bool; 4];

const READ: Hints = [true, false, true, false];
const LOOK: Hints = [true, false, true, true];
const ADD: Hints = [false, false, false, false];
const CHANGE: Hints = [false, false, true, false];
const REMOVE: Hints = [false, true, true, false];

/// Spec: MCP, private tools with their arguments.
const TOOLS: [(&str, Hints, &[&str]); 11] = [
    ("list_sites", READ, &[]),
    ("get_site_status", READ, &["site_id"]),
    ("add_site", ADD, &["domain", "check_types"]),
    (
        "update_site",
        CHANGE,
        &["site_id", "domain", "check_types", "alert_days", "monitoring_enabled"],
    ),
    ("remove_site", REMOVE, &["site_id"]),
    ("check_ssl", LOOK, &["domain"]),
    ("check_dns", LOOK, &["domain"]),
    ("check_domain", LOOK, &["domain"]),
    ("list_alerts", READ, &[]),
    ("resolve_alert", CHANGE, &["alert_id"]),
    ("get_cert_history", READ, &["site_id"]),
];

async fn listed(client: &Client, path: &str) -> Vec<Value> {
    let answer = ask(client, path, "tools/list", json!({})).await;
    answer["result"]["tools"].as_array().cloned().expect("a list")
}

fn find<'a>(tools: &'a [Value], name: &str) -> &'a Value {
    let found = tools.iter().find(|tool| tool["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not listed"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_documented_tools_are_listed_with_their_arguments_and_hints() {
    let world = World::start().await;
    let tools = listed(&world.owner.client, PRIVATE).await;
    for (name, hints, arguments) in TOOLS {
        let tool = find(&tools, name);
        let properties = tool["inputSchema"]["properties"].as_object();
        for argument in arguments {
            let has = properties.is_some_and(|properties| properties.contains_key(*argument));
            assert!(has, "{name} takes no {argument}: {tool}");
        }
        let said = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]
            .map(|hint| tool["annotations"][hint].clone());
        assert_eq!(said, hints.map(Value::Bool), "{name}");
    }
    let public = listed(&world.service.client(), PUBLIC).await;
    let names: BTreeSet<_> = public.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, BTreeSet::from(["check_dns", "check_domain", "check_ssl"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_schema_is_one_and_every_tool_says_what_it_is() {
    let world = World::start().await;
    for (client, path) in ends(&world) {
        for tool in listed(&client, path).await {
            for text in ["name", "title", "description"] {
                let said = tool[text].as_str().unwrap_or_default();
                assert!(!said.is_empty(), "{path}: no {text}: {tool}");
            }
            for schema in ["inputSchema", "outputSchema"] {
                assert_eq!(tool[schema]["type"], "object", "{path}: {schema}: {tool}");
                assert!(jsonschema::draft202012::meta::is_valid(&tool[schema]), "{tool}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_keep_what_the_output_schemas_promise() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let tools = listed(tenant.client(), PRIVATE).await;
    let site = json!({"site_id": tenant.site});
    let mut seen = json!({});
    for (name, arguments) in [
        ("list_sites", json!({})),
        ("get_site_status", site.clone()),
        ("get_cert_history", site.clone()),
        ("list_alerts", json!({})),
        ("resolve_alert", json!({"alert_id": tenant.alert})),
        ("add_site", json!({"domain": "another.example", "check_types": ["dns"]})),
        ("update_site", json!({"site_id": tenant.site, "alert_days": 30})),
        ("check_dns", json!({"domain": "another.example"})),
        ("remove_site", site),
    ] {
        let answer = call(tenant.client(), PRIVATE, name, arguments).await;
        let result = &answer["result"];
        assert_ne!(result["isError"], true, "{name}: {answer}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        let copy: Value = serde_json::from_str(text).expect("the text is JSON");
        assert_eq!(copy, result["structuredContent"], "{name}");
        let schema = validator(&find(&tools, name)["outputSchema"]);
        if let Err(problem) = schema.validate(&copy) {
            panic!("{name}: {problem}: {copy}");
        }
        seen[name] = copy;
    }
    let listed = &seen["list_sites"];
    assert_eq!(listed["plan"], "pro", "{listed}");
    let summary = &listed["sites"][0];
    for field in ["id", "domain", "check_types", "created_at", "status"] {
        assert!(!summary[field].is_null(), "no {field}: {summary}");
    }
    // Spec: the summary of the latest check of a type.
    let ssl = &summary["status"]["ssl"];
    assert_eq!((&ssl["valid"], &ssl["days_remaining"]), (&json!(true), &json!(5)), "{ssl}");
    for field in ["checked_at", "issuer"] {
        assert!(ssl[field].is_string(), "no {field}: {ssl}");
    }
    assert!(ssl.get("error").is_some_and(Value::is_null), "{ssl}");
    assert_eq!(seen["list_alerts"]["alerts"][0]["id"], tenant.alert, "{seen}");

    let sites = tenant.client().get("/sites").await.expect(200);
    assert_eq!(sites["sites"].as_array().map(Vec::len), Some(1), "one was added, one removed");
    assert_eq!(sites["sites"][0]["domain"], "another.example");
}

fn validator(schema: &Value) -> Validator {
    let options = jsonschema::options().should_validate_formats(true).offline();
    options.build(schema).unwrap_or_else(|problem| panic!("{problem}: {schema}"))
}
