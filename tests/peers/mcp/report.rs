//! What a client's report has to say.

use serde_json::{Value, json};

use super::world::NEW_DOMAIN;

/// Spec: MCP.
const PRIVATE: [&str; 11] = [
    "add_site",
    "check_dns",
    "check_domain",
    "check_ssl",
    "get_cert_history",
    "get_site_status",
    "list_alerts",
    "list_sites",
    "remove_site",
    "resolve_alert",
    "update_site",
];
const PUBLIC: [&str; 3] = ["check_dns", "check_domain", "check_ssl"];
const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// All of a script's connections, of which there are so many, and no warnings.
#[track_caller]
pub(crate) fn judge(report: &Value, connections: usize) {
    assert_eq!(report["warnings"], json!([]));
    let seen = report["connections"].as_array().expect("a list");
    assert_eq!(seen.len(), connections);
    for connection in seen {
        judge_one(connection);
    }
}

/// A subscriber that added a site and then resolved the alert was told of both in turn, and found
/// the change where it was told to look.
#[track_caller]
pub(crate) fn subscribed(report: &Value) {
    assert_eq!(report["warnings"], json!([]));
    assert_eq!(report["version"], MODERN);
    let resources = json!(["vedette://sites", "vedette://alerts"]);
    assert_eq!(report["accepted"], resources);
    assert_eq!(report["told"], resources);
    let read = &report["read"];
    let sites = read["vedette://sites"]["sites"].as_array().expect("a list");
    assert!(sites.iter().any(|site| site["domain"] == NEW_DOMAIN), "{read}");
    assert_eq!(read["vedette://alerts"]["total"], 0, "{read}");
}

#[track_caller]
fn judge_one(seen: &Value) {
    let name = seen["connection"].as_str().expect("a name");
    let is_public = seen["public"] == true;
    assert_eq!(seen["server"], "vedette", "{name}");
    // The first TypeScript SDK keeps the version to itself where HTTP does not need it.
    let agreed = if seen["era"] == "legacy" { LEGACY } else { MODERN };
    assert!(seen["version"].is_null() || seen["version"] == agreed, "{name}: {}", seen["version"]);

    let documented: &[&str] = if is_public { &PUBLIC } else { &PRIVATE };
    tools(&seen["tools"], name);
    let names = names(&seen["tools"]);
    if is_public {
        assert_eq!(names, documented, "{name}");
    } else {
        has_all(&names, name);
    }
    let calls = seen["calls"].as_object().expect("an object");
    assert_eq!(calls.keys().collect::<Vec<_>>(), documented, "{name}");
    for (tool, result) in calls {
        let what = format!("{name}: {tool}");
        assert_eq!(result["is_error"], false, "{what}: {result}");
        assert!(result["structured"].is_object(), "{what}: {result}");
        let text = result["text"][0].as_str().expect("a text beside the structure");
        let copy: Value = serde_json::from_str(text).expect("the text is the same JSON");
        assert_eq!(copy, result["structured"], "{what}");
    }
    errors(&seen["errors"], is_public, name);
}

#[track_caller]
fn errors(seen: &Value, is_public: bool, name: &str) {
    assert_eq!(seen["unknown_tool"]["code"], -32602, "{name}: {}", seen["unknown_tool"]);
    let of_tools: &[&str] = if is_public {
        &["bad_value"]
    } else {
        &["bad_value", "missing_argument", "foreign_id", "unknown_id"]
    };
    for what in of_tools {
        let result = &seen[what];
        assert_eq!(result["is_error"], true, "{name}: {what}: {result}");
        let says = result["text"][0].as_str().is_some_and(|text| !text.trim().is_empty());
        assert!(says, "{name}: {what}: {result}");
    }
    assert_eq!(seen["foreign_id"], seen["unknown_id"], "{name}");
}

/// All private tools are listed, and whole.
#[track_caller]
pub(crate) fn documented(listed: &Value, name: &str) {
    tools(listed, name);
    has_all(&names(listed), name);
}

#[track_caller]
fn has_all(names: &[&str], name: &str) {
    let missing: Vec<_> = PRIVATE.iter().filter(|tool| !names.contains(tool)).collect();
    assert!(missing.is_empty(), "{name} lacks {missing:?}: {names:?}");
}

/// Sorted.
#[track_caller]
fn names(tools: &Value) -> Vec<&str> {
    let tools = tools.as_array().expect("a list");
    let mut names: Vec<_> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    names.sort_unstable();
    names
}

/// Every tool says all that a client can show or decide by.
#[track_caller]
fn tools(tools: &Value, name: &str) {
    for tool in tools.as_array().expect("a list") {
        let what = format!("{name}: {}", tool["name"]);
        for text in ["title", "description"] {
            assert!(tool[text].as_str().is_some_and(|text| !text.is_empty()), "{what}: {text}");
        }
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{what}: {schema}");
        }
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{what}: {hint}");
        }
    }
}
