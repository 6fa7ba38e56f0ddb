//! `/alerts`.

use serde_json::{Value, json};

use super::{
    Subject,
    operation::{Operation, page, query, required},
    sample::{ALERT, DOMAIN, NOW, SITE},
    schema::{boolean, count, list, moment, one_of, or_null, record, reference, said, text, uuid},
};

pub(super) const TAG: &str = "Alerts";

pub(super) fn operations(subject: &Subject<'_>) -> Vec<Operation> {
    let types = subject.alert_types();
    let types: Vec<&str> = types.iter().map(String::as_str).collect();
    let [limit, offset] = page();
    let listing = record(json!({
        "alerts": list(reference("Alert")),
        "total": count(),
        "limit": count(),
        "offset": count(),
    }));
    let listed = json!({ "alerts": [example(false)], "total": 1, "limit": 50, "offset": 0 });
    vec![
        Operation::get("/alerts", TAG, "listAlerts", "List the alerts")
            .says("Newest first; without `resolved` only those that are unresolved.")
            .with(query("type", one_of(&types), "Only alerts of this type."))
            .with(query("severity", one_of(&SEVERITIES), "Only alerts of this severity."))
            .with(query(
                "resolved",
                one_of(&["true", "false", "all"]),
                "`true`: resolved only. `all`: both. `false` or absent: unresolved only.",
            ))
            .with(limit)
            .with(offset)
            .answers("A page of alerts.", listing, listed),
        Operation::patch("/alerts", TAG, "resolveAlert", "Resolve or reopen an alert")
            .with(required("id", uuid(), "The alert.", ALERT))
            .takes(
                record(json!({ "is_resolved": said(boolean(), "false reopens.") })),
                json!({ "is_resolved": true }),
            )
            .answers(
                "The alert.",
                record(json!({ "alert": reference("Alert") })),
                json!({ "alert": example(true) }),
            )
            .fails(404, "There is no such alert."),
    ]
}

pub(super) fn schemas(subject: &Subject<'_>) -> Vec<(String, Value)> {
    let types = subject.alert_types().join(", ");
    let alert = record(json!({
        "id": uuid(),
        "type": said(text(), &format!("One of {types}.")),
        "event": said(text(), "What happened, e.g. `ssl.expiring`."),
        "severity": one_of(&SEVERITIES),
        "message": text(),
        "suggestion": or_null(said(text(), "What to do about it.")),
        "is_resolved": boolean(),
        "site_id": uuid(),
        "domain": said(text(), "The site's domain."),
        "created_at": moment(),
        "updated_at": moment(),
        "resolved_at": or_null(moment()),
    }));
    let description = "An issue that a check found. Conditions (expiring, down) resolve \
                       themselves; changes wait for their owner.";
    vec![("Alert".to_owned(), said(alert, description))]
}

fn example(resolved: bool) -> Value {
    json!({
        "id": ALERT,
        "type": "ssl",
        "event": "ssl.expiring",
        "severity": "critical",
        "message": "The certificate of shop.example.com expires in 8 days.",
        "suggestion": "Renew the certificate.",
        "is_resolved": resolved,
        "site_id": SITE,
        "domain": DOMAIN,
        "created_at": NOW,
        "updated_at": NOW,
        "resolved_at": if resolved { json!(NOW) } else { Value::Null },
    })
}

const SEVERITIES: [&str; 3] = ["info", "warning", "critical"];
