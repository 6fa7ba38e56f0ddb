//! Every tool: what it says of itself, and that it does it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use vedette_tests::Client;

use super::{ask, done, refused};
use crate::{
    tenant::{DOMAIN, Tenant},
    world::{World, text},
};

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_is_described_in_full() {
    let world = World::start().await;
    let tools = listed(&world.owner.client).await;
    for name in DOCUMENTED {
        assert!(tools.contains_key(name), "{name}");
    }
    for (name, tool) in &tools {
        assert!(
            !text(&tool["title"]).is_empty() && text(&tool["description"]).len() > 40,
            "{name}"
        );
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name}: {schema}");
            if let Err(problem) = jsonschema::draft202012::meta::validate(&tool[schema]) {
                panic!("{name}: {schema}: {problem}");
            }
        }
        let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
        let [reads, destroys, repeats, outside] =
            hints.map(|hint| tool["annotations"][hint].as_bool().expect("all four are said"));
        let is_check = name.starts_with("check_");
        assert_eq!(outside, is_check || name == "test_notifications", "{name}");
        let removes = ["remove_site", "delete_maintenance_window"].contains(&name.as_str());
        assert_eq!(destroys, removes, "{name}");
        let looks = is_check || name.starts_with("list_") || name.starts_with("get_");
        assert_eq!(reads, looks, "{name}");
        assert!(!looks || repeats, "{name}");
    }
    // What an update leaves out stays: only a new site has defaults.
    let update = tools["update_site"]["inputSchema"].to_string();
    assert!(!update.to_lowercase().contains("left out"), "{update}");
    assert!(text(&tools["add_site"]["description"]).contains("alert_days is 14"));
    assert!(!text(&tools["check_ssl"]["description"]).contains("grade"));
    // Where to connect is only asked of checks that do.
    for (check, connects) in [("ssl", true), ("uptime", true), ("dns", false), ("domain", false)] {
        let takes = &tools[&format!("check_{check}")]["inputSchema"]["properties"];
        for name in ["port", "origin_ip"] {
            assert_eq!(takes.get(name).is_some(), connects, "check_{check}: {name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_answers_what_its_schema_says() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let client = tenant.client();
    let tools = listed(client).await;
    let (site, alert) = (tenant.site.clone(), tenant.alert.clone());
    let mut seen: BTreeMap<&str, Value> = BTreeMap::new();
    let calls = [
        ("list_sites", json!({})),
        ("get_site_status", json!({"site_id": site})),
        ("list_alerts", json!({})),
        ("resolve_alert", json!({"alert_id": alert})),
        ("get_cert_history", json!({"site_id": site})),
        ("get_check_history", json!({"site_id": site, "check_type": "ssl"})),
        ("update_site", json!({"site_id": site, "alert_days": 30})),
        ("add_site", json!({"domain": "added.example", "monitoring_enabled": false})),
        ("check_ssl", json!({"domain": "nowhere.example"})),
        ("check_dns", json!({"domain": "nowhere.example"})),
        ("check_domain", json!({"domain": "nowhere.example"})),
        ("check_uptime", json!({"domain": "nowhere.example"})),
        ("create_incident", json!({"title": "Slow", "affected_sites": [site]})),
        ("list_incidents", json!({})),
        ("create_maintenance_window", json!({"starts_at": FROM, "ends_at": TO})),
        ("list_maintenance_windows", json!({})),
        ("test_notifications", json!({})),
    ];
    for (name, arguments) in calls {
        let structured = done(client, name, arguments).await;
        fits(&tools[name], &structured, name);
        seen.insert(name, structured);
    }
    let incident = text(&seen["create_incident"]["incident"]["id"]);
    let window = text(&seen["create_maintenance_window"]["window"]["id"]);
    let message = json!({"incident_id": incident, "status": "resolved", "message": "Done."});
    let last = [
        ("update_incident", json!({"incident_id": incident, "status": "identified"})),
        ("add_incident_update", message),
        ("delete_maintenance_window", json!({"window_id": window})),
        ("remove_site", json!({"site_id": site})),
    ];
    for (name, arguments) in last {
        let structured = done(client, name, arguments).await;
        fits(&tools[name], &structured, name);
        seen.insert(name, structured);
    }
    let untried: Vec<&String> = tools
        .keys()
        .filter(|name| !seen.contains_key(name.as_str()) && *name != "check_ct")
        .collect();
    assert!(untried.is_empty(), "{untried:?}");

    let listed = &seen["list_sites"];
    assert_eq!((&listed["plan"], &listed["total"]), (&json!("pro"), &json!(1)));
    let entry = &listed["sites"][0];
    assert_eq!((&entry["id"], &entry["domain"]), (&json!(site), &json!(DOMAIN)));
    assert_eq!(entry["status"]["ssl"]["days_remaining"], 5, "{entry}");
    assert_eq!(entry["status"]["ssl"]["issuer"], "Some CA");
    assert_eq!(entry["status"]["dns"], Value::Null);
    assert_eq!(seen["get_site_status"]["checks"]["ssl"]["result"]["valid"], true);
    assert_eq!(seen["resolve_alert"]["alert"]["is_resolved"], true);
    assert_eq!(seen["add_incident_update"]["incident"]["status"], "resolved");
    assert_eq!(seen["remove_site"], json!({"success": true}));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_overview_shows_the_last_run_and_no_older_one() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let client = tenant.client();
    for days in [40, 3, 90] {
        let result = crate::tenant::result(days);
        let body = json!({"site_id": tenant.site, "check_type": "ssl", "result": result});
        client.post("/checks", body).await.expect(200);
        let listed = done(client, "list_sites", json!({})).await;
        assert_eq!(listed["sites"][0]["status"]["ssl"]["days_remaining"], days, "{listed}");
    }
    done(client, "update_site", json!({"site_id": tenant.site, "check_types": ["dns"]})).await;
    let listed = done(client, "list_sites", json!({})).await;
    assert_eq!(listed["sites"][0]["check_types"], json!(["dns"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_moves_to_another_domain_begins_anew() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let client = tenant.client();
    let moved = json!({"site_id": tenant.site, "domain": "Moved.example"});
    let site = done(client, "update_site", moved).await["site"].clone();
    assert_eq!((&site["id"], &site["domain"]), (&json!(tenant.site), &json!("moved.example")));
    let listed = done(client, "list_sites", json!({})).await;
    assert_eq!(listed["sites"][0]["status"]["ssl"], Value::Null, "{listed}");
    let path = format!("/checks?site_id={}&check_type=ssl", tenant.site);
    assert_eq!(client.get(&path).await.expect(200)["total"], 1, "the history stays");
    let private = json!({"site_id": tenant.site, "domain": "localhost"});
    assert!(refused(client, "update_site", private).await.contains("domain"));
    done(client, "add_site", json!({"domain": "there.example", "monitoring_enabled": false})).await;
    let there = json!({"site_id": tenant.site, "domain": "there.example"});
    assert!(refused(client, "update_site", there).await.starts_with("domain is a site already"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_tool_cannot_do_is_a_sentence_that_names_the_argument() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let client = tenant.client();
    let site = &tenant.site;
    let cases = [
        ("get_site_status", json!({}), "site_id is required"),
        ("get_site_status", json!({"site_id": 5}), "site_id must be an id (a UUID)"),
        ("get_site_status", json!({"site_id": "5"}), "site_id must be an id (a UUID)"),
        ("add_site", json!({}), "domain is required"),
        ("add_site", json!({"domain": "http://x.example/"}), "domain"),
        ("add_site", json!({"domain": DOMAIN}), "domain"),
        ("add_site", json!({"domain": "x.example", "check_types": "ssl"}), "check_types"),
        ("add_site", json!({"domain": "x.example", "check_types": ["tls"]}), "check_types"),
        ("update_site", json!({"site_id": site, "alert_days": 0}), "alert_days"),
        ("check_ssl", json!({"domain": ["x.example"]}), "domain must be a string"),
        ("check_ssl", json!({"domain": "169.254.169.254"}), "domain"),
        ("check_dns", json!({"domain": "localhost"}), "domain"),
        ("list_sites", json!({"limit": 0}), "limit"),
        ("list_alerts", json!({"severity": "high"}), "severity"),
        ("get_check_history", json!({"site_id": site, "from": "yesterday"}), "from"),
        ("create_incident", json!({}), "title"),
        ("add_incident_update", json!({"incident_id": site, "status": "resolved"}), "message"),
        ("create_maintenance_window", json!({"starts_at": TO, "ends_at": FROM}), "ends_at"),
        (
            "create_maintenance_window",
            json!({"site": site, "starts_at": FROM, "ends_at": TO}),
            "site is no argument of create_maintenance_window: it takes ",
        ),
        ("update_site", json!({"site_id": site, "plan": "pro"}), "plan is no argument"),
        ("list_alerts", json!({"resolved": "yes"}), "resolved"),
        ("list_alerts", json!({"type": "ssl.expiring"}), "type"),
        ("resolve_alert", json!({"alert_id": site}), "alert not found. list_alerts"),
    ];
    for (tool, arguments, expected) in cases {
        let sentence = refused(client, tool, arguments.clone()).await;
        assert!(sentence.contains(expected), "{tool} {arguments}: {sentence}");
        assert!(sentence.ends_with('.'), "{sentence}");
    }
    let windows = done(client, "list_maintenance_windows", json!({"current": true})).await;
    assert_eq!(windows["total"], 0, "none was made, {windows}");
    let past = json!({"starts_at": "2020-01-01T00:00:00Z", "ends_at": "2020-01-01T02:00:00Z"});
    let made = done(client, "create_maintenance_window", past).await;
    assert!(made["hint"].as_str().is_some_and(|hint| hint.contains("over already")), "{made}");
    let windows = done(client, "list_maintenance_windows", json!({"current": true})).await;
    assert_eq!(windows["total"], 0, "{windows}");
    done(client, "list_alerts", json!({"resolved": "all"})).await;
    done(client, "list_sites", json!({"unknown": [1, 2]})).await;

    let free = world.account("free").await.client;
    for domain in ["one.example", "two.example"] {
        done(&free, "add_site", json!({"domain": domain})).await;
    }
    let sentence = refused(&free, "add_site", json!({"domain": "three.example"})).await;
    assert!(sentence.contains("the starter plan has 10"), "{sentence}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_read_is_what_the_tools_answer() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let client = tenant.client();
    let listed = ask(client, "resources/list", json!({})).await["result"]["resources"].clone();
    let uris: Vec<String> =
        listed.as_array().expect("a list").iter().map(|one| text(&one["uri"])).collect();
    assert_eq!(uris, ["vedette://sites", "vedette://alerts"]);
    for (uri, tool) in [("vedette://sites", "list_sites"), ("vedette://alerts", "list_alerts")] {
        let read = ask(client, "resources/read", json!({"uri": uri})).await["result"].clone();
        let contents = &read["contents"][0];
        assert_eq!(
            (&contents["uri"], &contents["mimeType"]),
            (&json!(uri), &json!("application/json"))
        );
        let value: Value = serde_json::from_str(&text(&contents["text"])).expect("JSON");
        assert_eq!(value, done(client, tool, json!({})).await);
    }
    let templates = ask(client, "resources/templates/list", json!({})).await;
    assert_eq!(templates["result"]["resourceTemplates"], json!([]));
    assert!(
        ask(client, "resources/read", json!({"uri": "file:///etc"})).await["error"].is_object()
    );
}

/// The tools by name.
async fn listed(client: &Client) -> BTreeMap<String, Value> {
    let tools = ask(client, "tools/list", json!({})).await["result"]["tools"].clone();
    let tools = tools.as_array().expect("a list").clone();
    tools.into_iter().map(|tool| (text(&tool["name"]), tool)).collect()
}

#[track_caller]
fn fits(tool: &Value, structured: &Value, name: &str) {
    let options = jsonschema::options().should_validate_formats(true).offline();
    let validator = options.build(&tool["outputSchema"]).expect("a schema");
    let problems: Vec<String> =
        validator.iter_errors(structured).map(|problem| problem.to_string()).collect();
    assert!(problems.is_empty(), "{name}: {structured}\n{problems:#?}");
}

/// Spec: MCP, private tools.
const DOCUMENTED: [&str; 11] = [
    "list_sites",
    "get_site_status",
    "add_site",
    "update_site",
    "remove_site",
    "check_ssl",
    "check_dns",
    "check_domain",
    "list_alerts",
    "resolve_alert",
    "get_cert_history",
];
const FROM: &str = "2030-01-01T00:00:00Z";
const TO: &str = "2030-01-01T02:00:00Z";
