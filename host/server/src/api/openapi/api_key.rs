//! `/api-keys`.

use serde_json::{Value, json};

use super::{
    Subject,
    operation::{Operation, required},
    sample::{KEY, LATER, NOW},
    schema::{list, moment, object, or_null, record, reference, said, success, text, uuid},
};

pub(super) const TAG: &str = "API keys";

pub(super) fn operations(subject: &Subject<'_>) -> Vec<Operation> {
    let id = || required("id", uuid(), "The key.", KEY);
    let created = json!({
        "id": KEY,
        "key": format!("{}Tq3…", subject.edition.key_prefix),
        "prefix": prefix(subject),
        "name": "ci",
    });
    let name = json!({ "type": "string", "minLength": 1, "maxLength": 100 });
    let name = said(name, "One line, not only blanks.");
    let expiry = || or_null(said(moment(), "In the future; null means no expiry."));
    vec![
        Operation::get("/api-keys", TAG, "listApiKeys", "List the keys")
            .says("Lists prefixes only. A key itself is shown once, when it is made or rolled.")
            .answers(
                "The keys.",
                record(json!({ "keys": list(reference("ApiKey")) })),
                json!({ "keys": [example(subject)] }),
            ),
        Operation::post("/api-keys", TAG, "createApiKey", "Make a key")
            .says(
                "Without `expiresAt` the key does not expire. The plan limits the number of \
                 keys.",
            )
            .takes(
                object(&["name"], json!({ "name": name, "expiresAt": expiry() })),
                json!({ "name": "ci", "expiresAt": LATER }),
            )
            .answers("The key, shown only this once.", reference("CreatedApiKey"), created.clone())
            .fails(403, "All keys of the plan are in use."),
        Operation::patch("/api-keys", TAG, "setApiKeyExpiry", "Set, extend or clear an expiry")
            .says("An expired key that gets a later date is valid again at once.")
            .with(id())
            .takes(record(json!({ "expiresAt": expiry() })), json!({ "expiresAt": LATER }))
            .answers("The key.", reference("ApiKey"), example(subject))
            .fails(404, "There is no such key."),
        Operation::delete("/api-keys", TAG, "deleteApiKey", "Delete a key")
            .says("Whoever holds it loses access at once.")
            .with(id())
            .answers("It is gone.", success(), json!({ "success": true }))
            .fails(404, "There is no such key."),
        Operation::post("/api-keys/roll", TAG, "rollApiKey", "Replace a key's secret")
            .says(
                "The key gets a new secret and keeps its id, name and expiry. The old secret \
                 stops working at once.",
            )
            .takes(record(json!({ "id": uuid() })), json!({ "id": KEY }))
            .answers("The key, shown only this once.", reference("CreatedApiKey"), created)
            .fails(404, "There is no such key."),
    ]
}

pub(super) fn schemas() -> Vec<(String, Value)> {
    let key = record(json!({
        "id": uuid(),
        "name": text(),
        "prefix": said(text(), "The first 11 characters, by which the key can be recognised."),
        "key_prefix": said(text(), "Equal to `prefix`."),
        "last_used_at": or_null(moment()),
        "created_at": moment(),
        "expires_at": or_null(said(moment(), "Null: never.")),
    }));
    let created = record(json!({
        "id": uuid(),
        "key": said(text(), "The whole key. Keep it now: it is not shown again."),
        "prefix": text(),
        "name": text(),
    }));
    vec![
        ("ApiKey".to_owned(), said(key, "A key, without its secret.")),
        ("CreatedApiKey".to_owned(), said(created, "A key with its secret.")),
    ]
}

fn example(subject: &Subject<'_>) -> Value {
    json!({
        "id": KEY,
        "name": "ci",
        "prefix": prefix(subject),
        "key_prefix": prefix(subject),
        "last_used_at": NOW,
        "created_at": NOW,
        "expires_at": LATER,
    })
}

fn prefix(subject: &Subject<'_>) -> String {
    format!("{}Tq3mZ8kW", subject.edition.key_prefix)
}
