//! `/cron`, for a scheduler of the operator's.

use serde_json::json;

use super::{
    operation::Operation,
    schema::{count, object, one_of, record, said},
};

pub(super) const TAG: &str = "Scheduler";

pub(super) fn operations() -> Vec<Operation> {
    let mut scope = said(
        one_of(&["all", "domain"]),
        "All checks, or only those of domain \
         registrations.",
    );
    scope["default"] = json!("all");
    let counts = record(json!({
        "checked": said(count(), "Runs that were made."),
        "errors": said(count(), "Those of them that brought no result."),
        "alerts": said(count(), "Alerts that they raised."),
    }));
    vec![
        Operation::post("/cron", TAG, "runDueChecks", "Run what is due now")
            .credential("scheduler")
            .says(
                "The service runs due checks by itself; use this to trigger them from a scheduler \
                 of your own. Each due check runs once, whether the service or a call takes it \
                 first. A call runs up to 1,000 checks and answers within 50 seconds. Checks that \
                 it has not begun stay due.",
            )
            .may_take(object(&[], json!({ "type": scope })), json!({ "type": "all" }))
            .answers("What was done.", counts, json!({ "checked": 12, "errors": 0, "alerts": 1 }))
            .fails(503, "The operator has set no `cron.secret`."),
    ]
}
