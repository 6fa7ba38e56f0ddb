//! `/alerts`.

use serde_json::{Value, json};
use vedette_model::Severity;

use super::{
    Subject,
    operation::{Operation, page, path_id, query, required},
    sample::{ALERT, DELIVERY, DOMAIN, NOW, SITE},
    schema::{
        boolean, count, list, moment, object, one_of, or_null, record, reference, said, text, uuid,
    },
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
            .says(
                "Newest first. Without `resolved`, only unresolved alerts. The operator decides \
                 how long resolved alerts are kept.",
            )
            .with(query("type", one_of(&types), "Only alerts of this type."))
            .with(query("severity", one_of(&Severity::WORDS), "Only alerts of this severity."))
            .with(query(
                "resolved",
                one_of(&["true", "false", "all"]),
                "`true`: only resolved. `all`: both. `false` or absent: only unresolved.",
            ))
            .with(limit)
            .with(offset)
            .answers("A page of alerts.", listing, listed),
        Operation::patch("/alerts", TAG, "resolveAlert", "Resolve or reopen an alert")
            .says(
                "For alerts about changes, which stay until somebody resolves them. Alerts about \
                 conditions (expiring, down) resolve themselves when the condition ends.",
            )
            .with(required("id", uuid(), "The alert.", ALERT))
            .takes(
                object(
                    &[],
                    json!({
                        "is_resolved": said(boolean(), "`false` reopens; absent changes nothing."),
                    }),
                ),
                json!({ "is_resolved": true }),
            )
            .answers(
                "The alert.",
                record(json!({ "alert": reference("Alert") })),
                json!({ "alert": example(true) }),
            )
            .fails(404, "There is no such alert."),
        deliveries(),
    ]
}

fn deliveries() -> Operation {
    let told = json!({
        "id": DELIVERY,
        "channel": "webhook",
        "state": "delivered",
        "attempts": 1,
        "created_at": NOW,
        "due_at": null,
        "finished_at": NOW,
        "error": null,
        "batch_id": DELIVERY,
    });
    Operation::get("/alerts/{id}/deliveries", TAG, "listDeliveries", "List an alert's deliveries")
        .says(
            "The latest 200, oldest first. Finished ones are kept for 30 days. `silenced`: held \
             back by maintenance until `due_at`, or finished because nothing was left to say. \
             `merged`: sent together with others in the batch `batch_id`. `summarised`: only \
             counted in that batch. Both show the state of that batch.",
        )
        .with(path_id("The alert.", ALERT))
        .answers(
            "The deliveries.",
            record(json!({ "deliveries": list(reference("Delivery")) })),
            json!({ "deliveries": [told] }),
        )
        .fails(404, "There is no such alert.")
}

fn delivery() -> Value {
    record(json!({
        "id": uuid(),
        "channel": said(text(), "E.g. `webhook`."),
        "state": one_of(&DELIVERY_STATES),
        "attempts": count(),
        "created_at": moment(),
        "due_at": or_null(said(moment(), "When the next attempt is made; null when it is \
             finished.")),
        "finished_at": or_null(moment()),
        "error": or_null(said(text(), "Why the last attempt failed.")),
        "batch_id": or_null(said(
            uuid(),
            "The receiver's `X-Vedette-Delivery`; null until it is sent.",
        )),
    }))
}

pub(super) fn schemas(subject: &Subject<'_>) -> Vec<(String, Value)> {
    let types = subject.alert_types().join(", ");
    let alert = record(json!({
        "id": uuid(),
        "type": said(text(), &format!("One of {types}.")),
        "event": said(text(), "What happened, e.g. `ssl.expiring`."),
        "severity": one_of(&Severity::WORDS),
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
         themselves; changes stay until somebody resolves them.";
    let log = "A notification of one check on one channel, and what became of it.";
    vec![
        ("Alert".to_owned(), said(alert, description)),
        ("Delivery".to_owned(), said(delivery(), log)),
    ]
}

fn example(resolved: bool) -> Value {
    json!({
        "id": ALERT,
        "type": "ssl",
        "event": "ssl.expiring",
        "severity": "critical",
        "message": "shop.example.com: certificate expires in 8 days, on 2026-11-29",
        "suggestion": "Renew the certificate.",
        "is_resolved": resolved,
        "site_id": SITE,
        "domain": DOMAIN,
        "created_at": NOW,
        "updated_at": NOW,
        "resolved_at": if resolved { json!(NOW) } else { Value::Null },
    })
}

const DELIVERY_STATES: [&str; 6] =
    ["pending", "delivered", "failed", "silenced", "merged", "summarised"];
