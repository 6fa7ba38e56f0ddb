//! `/events`.

use serde_json::{Value, json};

use super::{
    operation::{Operation, query},
    sample::SITE,
    schema::{text, uuid},
};

pub(super) const TAG: &str = "Events";

pub(super) fn operations() -> Vec<Operation> {
    let mut last_id = query("Last-Event-ID", id(), "Like `after`, and wins over it.");
    last_id["in"] = json!("header");
    let example = format!(
        "retry: 3000\n\n: heartbeat\nid: 41\n\nevent: check.finished\nid: 42\n\
         data: {{\"site_id\":\"{SITE}\",\"check_type\":\"ssl\",\"status\":\"ok\"}}\n\n"
    );
    vec![
        Operation::get("/events", TAG, "followEvents", "Follow what happens")
            .says(SAYS)
            .with(query(
                "types",
                json!({
                    "type": "string",
                    "pattern": "^(alert|check|incident)(,(alert|check|incident))*$",
                }),
                "Only these kinds, separated by commas: `alert`, `check`, `incident`.",
            ))
            .with(query("site_id", uuid(), "Only what is about this site."))
            .with(query(
                "after",
                id(),
                "Continue after this event. `0`: begin with the oldest \
                 that is kept.",
            ))
            .with(last_id)
            .answers_with(
                "Server-sent events; the stream has no end.",
                "text/event-stream",
                json!({ "schema": text(), "example": example }),
            )
            .fails(403, "The account has ten streams already.")
            .fails(404, "There is no such site."),
    ]
}

fn id() -> Value {
    json!({ "type": "string", "pattern": "^[0-9]{1,18}(\\.[0-9]{1,18})?$" })
}

const SAYS: &str = "Events: `check.finished`, `alert.raised`, `alert.updated`, `alert.resolved`, \
     `alert.reopened`, `incident.created`, `incident.updated`. Their data is the record, alert or \
     incident as the other endpoints answer it. Without an id the stream begins with the next \
     event. With one it continues after that event and neither misses nor repeats any, also on a \
     new connection, after a restart, or on another node. Events are kept from the account's \
     first stream on, for a day, at most the last 10,000. The event `events.lost` says that some \
     are no longer kept. After 15 seconds without an event the stream sends a comment with an id. \
     A stream counts as one call and ends when its credential does.";
