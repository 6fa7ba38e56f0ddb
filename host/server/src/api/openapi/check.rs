//! `/check-<type>`, `/public/check-ssl`, `/checks` and `/cert-history`.

use serde_json::{Map, Value, json};
use vedette_model::Edition;
use vedette_sandbox::CheckDescriptor;

use super::{
    Subject,
    operation::{Operation, page, query, required},
    plugin::{any_result, filled, hoisted, part, pascal, result_name, shown},
    result,
    sample::{DOMAIN, NOW, RECORD, SITE},
    schema::{
        count, domain, list, moment, object, one_of, or_null, record, reference, said, text,
        text_in, uuid,
    },
};
use crate::service::check::PUBLIC;

pub(super) const TAG: &str = "Checks";
pub(super) const HISTORY: &str = "History";

pub(super) fn operations(subject: &Subject<'_>) -> Vec<Operation> {
    let mut operations: Vec<Operation> =
        subject.checks.iter().map(|check| on_demand(subject, check)).collect();
    operations.extend([public(), history(subject), bring(subject), cert_history()]);
    operations
}

fn on_demand(subject: &Subject<'_>, check: &CheckDescriptor) -> Operation {
    let check_type = check.check_type.as_str();
    let description = format!(
        "{} With `site_id` the result is stored for that site; `domain` must be the site's. The \
         site's port, address and check configuration are used unless the body names others. \
         Without `site_id` nothing is stored, and the check runs with its defaults.",
        check.description
    );
    let (path, id) = (format!("/check-{check_type}"), format!("check{}", pascal(check_type)));
    let content = match result::example(check_type, subject.edition) {
        Some(example) => {
            json!({ "schema": reference(&answer_name(check_type)), "example": example })
        }
        None => json!({ "schema": reference(&result_name(check_type)) }),
    };
    Operation::post(&path, TAG, &id, &format!("Check now: {}", check.title))
        .says(&description)
        .takes(reference("OnDemandCheck"), json!({ "domain": DOMAIN }))
        .answers_with("The result, even if it is bad news.", "application/json", content)
        .fails(400, "The domain is invalid or blocked, or a field is outside its bounds.")
        .fails(404, "There is no site with this `site_id`.")
}

fn public() -> Operation {
    Operation::get("/public/check-ssl", TAG, "checkSslPublic", "Check a certificate, no key needed")
        .says(
            "Checks port 443 of a public host. Answers a part of the result of `POST \
             /check-ssl`.",
        )
        .public()
        .with(required("domain", domain(), "The host.", DOMAIN))
        .answers("The result.", reference("PublicSslResult"), result::public_example())
        .fails(400, "The domain is missing, invalid or blocked.")
}

fn history(subject: &Subject<'_>) -> Operation {
    let types = subject.history_types();
    let types: Vec<&str> = types.iter().map(String::as_str).collect();
    let moment = text_in(&["date", "date-time"]);
    let [limit, offset] = page();
    let page = json!({ "checks": [example(subject)], "total": 1, "limit": 50, "offset": 0 });
    let content = json!({
        "schema": { "oneOf": [reference("CheckPage"), reference("LatestChecks")] },
        "examples": {
            "page": { "summary": "With a filter", "value": page },
            "latest": { "summary": "Without", "value": { "ssl": example(subject) } },
        },
    });
    Operation::get("/checks", HISTORY, "listChecks", "List stored results")
        .says(
            "With `check_type`, `from` or `to`: a page of records, newest first. Without any of \
             them: the latest record of each type, as an object keyed by type, without types that \
             never ran. The operator decides how long records are kept; the latest of each type \
             always stays.",
        )
        .with(required("site_id", uuid(), "The site.", SITE))
        .with(query("check_type", one_of(&types), "Only records of this check."))
        .with(query("from", moment.clone(), "From this date (UTC) or date-time on."))
        .with(query(
            "to",
            moment,
            "Until this date-time, or the end of this date (UTC). Must not be before `from`.",
        ))
        .with(limit)
        .with(offset)
        .answers_with("A page, or the latest of each type.", "application/json", content)
        .fails(404, "There is no such site.")
}

fn bring(subject: &Subject<'_>) -> Operation {
    let types: Vec<&str> = subject.installed().collect();
    let results = any_result(subject.installed());
    let result = if results.is_empty() {
        json!({ "type": "object" })
    } else {
        json!({ "type": "object", "anyOf": results })
    };
    let body = record(json!({
        "site_id": uuid(),
        "check_type": one_of(&types),
        "result": said(result, "As `POST /check-<type>` answers it."),
    }));
    let brought = json!({ "valid": true, "issuer": "R11", "days_remaining": 60 });
    Operation::post("/checks", HISTORY, "storeCheck", "Store a result")
        .says(
            "A result that was measured elsewhere. It is judged like one of the service's own. \
             Members that the schema does not require can be left out.",
        )
        .takes(body, json!({ "site_id": SITE, "check_type": "ssl", "result": brought }))
        .answers(
            "The record.",
            record(json!({ "check": reference("CheckRecord") })),
            json!({ "check": example(subject) }),
        )
        .fails(404, "There is no such site.")
}

fn cert_history() -> Operation {
    let change = json!({
        "fingerprint": FINGERPRINT,
        "change_type": "renewal",
        "changed_at": NOW,
        "issuer": "R11",
    });
    let page = json!({ "history": list(reference("CertificateChange")), "total": count() });
    Operation::get("/cert-history", HISTORY, "listCertificateChanges", "List certificate changes")
        .says("The last 50 changes of the site's certificate, newest first.")
        .with(required("site_id", uuid(), "The site.", SITE))
        .answers("The changes.", record(page), json!({ "history": [change], "total": 1 }))
        .fails(404, "There is no such site.")
}

pub(super) fn schemas(subject: &Subject<'_>) -> Vec<(String, Value)> {
    let port = json!({ "type": "integer", "minimum": 1, "maximum": 65535 });
    let on_demand = object(
        &["domain"],
        json!({
            "domain": domain(),
            "port": said(
                port,
                "Default: the site's, else the check's own (443 for `ssl` and `uptime`). Ignored \
                 by checks that do not connect to the domain.",
            ),
            "origin_ip": said(
                text_in(&["ipv4", "ipv6"]),
                "The address to connect to instead of the resolved one. Ignored by `uptime`, \
                 which connects as visitors do, and by checks that do not connect to the domain.",
            ),
            "site_id": said(
                uuid(),
                "Stores the result for this site. `domain` must be the site's; `port` and \
                 `origin_ip` may differ from it.",
            ),
        }),
    );
    let change = record(json!({
        "fingerprint": said(text(), "SHA-256 of the new certificate, lower-case hex."),
        "change_type": one_of(&["renewal", "replacement", "issuer_change", "san_change"]),
        "changed_at": moment(),
        "issuer": text(),
    }));
    let page = record(json!({
        "checks": list(reference("CheckRecord")),
        "total": count(),
        "limit": count(),
        "offset": count(),
    }));
    let mut schemas = vec![
        ("OnDemandCheck".to_owned(), said(on_demand, "What is to be checked.")),
        ("CheckRecord".to_owned(), any_record(subject)),
        (UNINSTALLED.to_owned(), uninstalled(subject)),
        ("CheckPage".to_owned(), said(page, "A page of records, newest first.")),
        ("LatestChecks".to_owned(), latest(subject)),
        ("CertificateChange".to_owned(), said(change, "How a certificate changed.")),
    ];
    let ssl = subject.checks.iter().find(|check| check.check_type.as_str() == "ssl");
    let result = match ssl {
        Some(check) => filled(part(&shown(check, subject.edition), &PUBLIC)),
        None => json!({ "type": "object" }),
    };
    schemas.extend(hoisted("PublicSslResult", result));
    schemas.extend(subject.checks.iter().flat_map(|check| answer(check, subject.edition)));
    schemas.extend(subject.installed().map(|check_type| {
        let description = format!("A stored run of the check `{check_type}`.");
        (record_name(check_type), said(record_of(check_type), &description))
    }));
    schemas
}

/// The components of what a built-in check answers: unlike what is brought, and what an operator's
/// check may leave out, all of it is there.
fn answer(check: &CheckDescriptor, edition: &Edition) -> Vec<(String, Value)> {
    let check_type = check.check_type.as_str();
    match result::example(check_type, edition) {
        Some(_) => hoisted(&answer_name(check_type), filled(shown(check, edition))),
        None => Vec::new(),
    }
}

/// The component that the answer of a built-in check is.
fn answer_name(check_type: &str) -> String {
    format!("{}Answer", pascal(check_type))
}

/// The component that the records of a check are.
fn record_name(check_type: &str) -> String {
    format!("{}CheckRecord", pascal(check_type))
}

/// A record of any check. Each check has a schema of its own: the results have too little in common
/// to be told apart by what is in them.
fn any_record(subject: &Subject<'_>) -> Value {
    let mut records: Vec<Value> =
        subject.installed().map(|check_type| reference(&record_name(check_type))).collect();
    records.push(reference(UNINSTALLED));
    json!({
        "anyOf": records,
        "description": "One stored run. `check_type` decides the schema of `result`.",
    })
}

fn record_of(check_type: &str) -> Value {
    stored(one_of(&[check_type]), or_null(reference(&result_name(check_type))))
}

/// What is left of a plugin that is no longer there to describe it.
fn uninstalled(subject: &Subject<'_>) -> Value {
    let installed: Vec<&str> = subject.installed().collect();
    let check_type = json!({ "type": "string", "not": { "enum": installed } });
    let record = stored(check_type, or_null(json!({ "type": "object" })));
    said(record, "A stored run of a check that is no longer installed.")
}

fn stored(check_type: Value, result: Value) -> Value {
    record(json!({
        "id": uuid(),
        "site_id": uuid(),
        "check_type": said(check_type, "Which check ran."),
        "checked_at": moment(),
        "status": said(
            one_of(&["ok", "degraded", "down", "unknown"]),
            "`unknown`: the check could not be done, and `error` says why. It neither raises nor \
             resolves an alert.",
        ),
        "result": said(
            result,
            "As `POST /check-<type>` answers it; a result that was sent in is kept as it came. \
             Null if there is none.",
        ),
        "error": or_null(said(text(), "One token: the result's own `error`, or why there is no \
             result.")),
        "duration_ms": count(),
        "source": one_of(&["scheduler", "on_demand", "api", "agent", "cron"]),
        "location": said(text(), "Where it was measured from."),
    }))
}

fn latest(subject: &Subject<'_>) -> Value {
    let of = |check_type: &str| (check_type.to_owned(), reference(&record_name(check_type)));
    let properties: Map<String, Value> = subject.installed().map(of).collect();
    json!({
        "type": "object",
        "description": "The latest record of each check that ever ran, by check type.",
        "properties": properties,
        "additionalProperties": reference("CheckRecord"),
    })
}

fn example(subject: &Subject<'_>) -> Value {
    json!({
        "id": RECORD,
        "site_id": SITE,
        "check_type": "ssl",
        "checked_at": NOW,
        "status": "ok",
        "result": result::example("ssl", subject.edition),
        "error": null,
        "duration_ms": 184,
        "source": "scheduler",
        "location": "default",
    })
}

/// The component that the other records are.
const UNINSTALLED: &str = "UninstalledCheckRecord";
const FINGERPRINT: &str = "5f1c3a0e9b7d42c86a10f3e5d4b2c9780e6f1a2b3c4d5e6f708192a3b4c5d6e7";
