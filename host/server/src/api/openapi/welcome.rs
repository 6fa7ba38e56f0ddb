//! `/auth/welcome`.

use serde_json::json;

use super::{
    account::TAG,
    operation::Operation,
    schema::{boolean, record, said, text},
};

pub(super) fn operations() -> Vec<Operation> {
    let sent = said(
        boolean(),
        "False if the mail was sent before, the account is older, or there is no mail relay.",
    );
    let unwelcome = record(json!({
        "error": text(),
        "message": text(),
        "reason": said(text(), "One word for programs: `too_many_free_accounts`."),
    }));
    vec![
        Operation::get("/auth/welcome", TAG, "mayBegin", "Ask whether somebody may sign up")
            .public()
            .says(
                "Asks, before a sign-up, whether the address of the request may make another \
                 free account.",
            )
            .answers(
                "They may.",
                record(json!({ "allowed": boolean() })),
                json!({ "allowed": true }),
            )
            .refuses(
                403,
                "The address has made too many free accounts. `reason` says so in one word.",
                unwelcome,
                json!({
                    "error": "forbidden",
                    "message": "this address has made as many accounts on the free plan as it may \
                                (3 in 30 days, including deleted ones); use or upgrade an \
                                existing one",
                    "reason": "too_many_free_accounts",
                }),
            ),
        Operation::post("/auth/welcome", TAG, "sendWelcome", "Send the welcome mail")
            .says(
                "The mail is sent once, and only within five minutes after the account was \
                 made.",
            )
            .any_role()
            .answers(
                "Whether this call sent it.",
                record(json!({ "sent": sent })),
                json!({ "sent": true }),
            ),
    ]
}
