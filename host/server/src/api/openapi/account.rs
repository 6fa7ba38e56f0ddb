//! `/account`.

use serde_json::{Value, json};

use super::{
    Subject,
    operation::Operation,
    sample::{ACCOUNT, NOW},
    schema::{moment, object, or_null, record, reference, said, success, text, uuid},
};

pub(super) const TAG: &str = "Account";

pub(super) fn operations(subject: &Subject<'_>) -> Vec<Operation> {
    let name = said(
        json!({ "type": ["string", "null"], "maxLength": 200 }),
        "The owner's name. Null or only blanks: no name.",
    );
    vec![
        Operation::get("/account", TAG, "readAccount", "Read the account")
            .says(OWN)
            .answers("The account.", reference("Profile"), example(subject))
            .fails(403, OWNER),
        Operation::patch("/account", TAG, "updateAccount", "Change the name")
            .takes(object(&[], json!({ "full_name": name })), json!({ "full_name": NAME }))
            .answers(
                "The account.",
                record(json!({ "profile": reference("Profile") })),
                json!({ "profile": example(subject) }),
            )
            .fails(403, OWNER),
        Operation::delete("/account", TAG, "deleteAccount", "Delete the account")
            .says(
                "Deletes, for good, all sites with their checks and alerts, incidents, settings, \
                 the status page, keys, the team and agents. Subscriptions are cancelled first. \
                 All keys stop working at once. Signing in again makes a new account.",
            )
            .answers("It is gone.", success(), json!({ "success": true }))
            .fails(403, OWNER),
    ]
}

pub(super) fn schemas(subject: &Subject<'_>) -> Vec<(String, Value)> {
    let profile = record(json!({
        "id": uuid(),
        "email": text(),
        "full_name": or_null(text()),
        "plan": subject.plan(),
        "created_at": moment(),
    }));
    vec![("Profile".to_owned(), said(profile, "An account, as its owner sees it."))]
}

fn example(subject: &Subject<'_>) -> Value {
    json!({
        "id": ACCOUNT,
        "email": "ada@example.com",
        "full_name": NAME,
        "plan": subject.edition.lowest_plan().id,
        "created_at": NOW,
    })
}

const NAME: &str = "Ada Lovelace";
const OWN: &str = "Members of a team see the account they act for: the team's, unless \
     `X-Vedette-Account` names their own.";
const OWNER: &str = "The account is not the caller's own.";
