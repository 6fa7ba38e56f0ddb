//! The schemas of what tools take and answer: JSON Schema 2020-12, each on its own.

use serde_json::{Map, Value, json};
use vedette_model::{Edition, IncidentStatus, Severity, incident::IncidentSeverity};
use vedette_sandbox::CheckDescriptor;

use crate::schema::{
    boolean, count, list, moment, object, one_of, or_null, record, said, text, uuid,
};
use crate::service::result_schema;

/// A tool that takes nothing.
pub(super) fn nothing() -> Value {
    json!({ "type": "object", "properties": {} })
}

/// `limit` and `offset` beside other arguments.
pub(super) fn paged(required: &[&str], properties: Value) -> Value {
    let mut paged = paged_whole(required, properties);
    paged["properties"]["limit"]["default"] = json!(50);
    paged["properties"]["limit"]["description"] = json!("How many entries at most.");
    paged
}

/// The same of what is listed as a whole where nothing is said.
pub(super) fn paged_whole(required: &[&str], mut properties: Value) -> Value {
    properties["limit"] = json!({
        "type": "integer", "minimum": 1, "maximum": 200,
        "description": "How many entries at most; left out, all of them.",
    });
    properties["offset"] = json!({
        "type": "integer", "minimum": 0, "maximum": u32::MAX, "default": 0,
        "description": "How many entries to leave out: next_offset of the answer before.",
    });
    object(required, properties)
}

/// A listing, with what says whether it is all of it.
pub(super) fn listing(name: &str, entry: Value, mut others: Value) -> Value {
    others[name] = list(entry);
    others["total"] = said(count(), "How many there are in all.");
    others["truncated"] =
        said(boolean(), "Whether there are more, or one of these was cut to fit.");
    others["next_offset"] = or_null(said(count(), "The offset that shows what comes next."));
    let mut listing = record(others);
    listing["properties"]["hint"] = said(text(), "What to do to see the rest.");
    listing
}

/// An answer that may have been cut to fit.
pub(super) fn whole(mut schema: Value) -> Value {
    schema["properties"]["truncated"] =
        said(boolean(), "There and true where something long was cut to fit.");
    schema["properties"]["hint"] =
        said(text(), "What else there is to know, as where all of it is.");
    schema
}

/// The result of a check, as the edition shows it, or only some fields of it.
pub(super) fn result(check: &CheckDescriptor, edition: &Edition, fields: Option<&[&str]>) -> Value {
    let mut schema = result_schema::shown(check, edition);
    if let Some(fields) = fields {
        schema = result_schema::part(&schema, fields);
    }
    if let Some(schema) = schema.as_object_mut() {
        // The protocol says which dialect this is; a title here only repeats a type's name.
        schema.retain(|keyword, _| !["$schema", "$id", "title"].contains(&keyword.as_str()));
    }
    schema["type"] = json!("object");
    whole(schema)
}

/// What a site may set for the check: the settings, each with its bounds where those stand with it.
/// Clients differ in whether they follow references, which are left out.
pub(super) fn config(check: &CheckDescriptor) -> Value {
    let settings = check.config_schema["properties"].as_object().cloned().unwrap_or_default();
    let plain = settings.into_iter().map(|(name, setting)| {
        let has_reference = setting.to_string().contains("\"$ref\"");
        let described = || match setting.get("description") {
            Some(description) => json!({ "description": description }),
            None => json!({}),
        };
        let setting = if has_reference { described() } else { setting };
        (name, setting)
    });
    json!({ "type": "object", "properties": plain.collect::<Map<_, _>>() })
}

pub(super) fn domain() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 253,
        "description": "A bare host name such as shop.example.com: no scheme, port or path.",
    })
}

pub(super) fn id(description: &str) -> Value {
    said(uuid(), description)
}

pub(super) fn site() -> Value {
    record(json!({
        "id": uuid(),
        "domain": text(),
        "check_types": list(text()),
        "custom_port": or_null(count()),
        "origin_ip": or_null(text()),
        "alert_days": count(),
        "monitoring_enabled": boolean(),
        "check_config": { "type": "object" },
        "created_at": moment(),
    }))
}

/// A site in the overview: the documented status summary.
pub(super) fn summary() -> Value {
    record(json!({
        "id": uuid(),
        "domain": text(),
        "check_types": list(text()),
        "monitoring_enabled": boolean(),
        "created_at": moment(),
        "status": status(),
    }))
}

pub(super) fn status() -> Value {
    let entry = |properties: Value| {
        let entry = record(properties);
        or_null(said(entry, "Null where the check has not run yet."))
    };
    record(json!({
        "ssl": entry(json!({
            "checked_at": moment(),
            "valid": or_null(boolean()),
            "days_remaining": or_null(json!({ "type": "integer" })),
            "issuer": or_null(text()),
            "error": or_null(text()),
        })),
        "dns": entry(json!({
            "checked_at": moment(),
            "records": or_null(list(json!({ "type": "object" }))),
            "dnssec": or_null(json!({ "type": "object" })),
            "error": or_null(text()),
        })),
        "domain": entry(json!({
            "checked_at": moment(),
            "registrar": or_null(text()),
            "days_remaining": or_null(json!({ "type": "integer" })),
            "data_availability": or_null(text()),
            "error": or_null(text()),
        })),
        "uptime": entry(json!({
            "checked_at": moment(),
            "status": or_null(said(text(), "up, degraded or down.")),
            "error": or_null(text()),
        })),
    }))
}

/// A stored run.
pub(super) fn check() -> Value {
    record(json!({
        "id": uuid(),
        "site_id": uuid(),
        "check_type": text(),
        "checked_at": moment(),
        "status": one_of(&["ok", "degraded", "down", "unknown"]),
        "result": or_null(json!({ "type": "object" })),
        "error": or_null(text()),
        "duration_ms": count(),
        "source": text(),
        "location": text(),
    }))
}

pub(super) fn cert_change() -> Value {
    object(
        &["fingerprint", "change_type", "changed_at", "issuer"],
        json!({
            "fingerprint": text(),
            "change_type": one_of(&["renewal", "replacement", "issuer_change", "san_change"]),
            "changed_at": moment(),
            "issuer": text(),
        }),
    )
}

pub(super) fn alert() -> Value {
    record(json!({
        "id": uuid(),
        "type": text(),
        "event": text(),
        "severity": one_of(&Severity::WORDS),
        "message": text(),
        "suggestion": or_null(text()),
        "is_resolved": boolean(),
        "site_id": uuid(),
        "domain": text(),
        "created_at": moment(),
        "updated_at": moment(),
        "resolved_at": or_null(moment()),
    }))
}

pub(super) fn incident() -> Value {
    let update = record(json!({
        "status": one_of(&IncidentStatus::WORDS), "message": text(), "created_at": moment(),
    }));
    record(json!({
        "id": uuid(),
        "title": text(),
        "severity": one_of(&IncidentSeverity::WORDS),
        "affected_sites": or_null(list(uuid())),
        "auto_create": boolean(),
        "status": one_of(&IncidentStatus::WORDS),
        "updates": list(update),
        "created_at": moment(),
        "updated_at": moment(),
        "resolved_at": or_null(moment()),
    }))
}

pub(super) fn window() -> Value {
    record(json!({
        "id": uuid(),
        "site_id": or_null(said(uuid(), "Null: all sites.")),
        "starts_at": moment(),
        "ends_at": moment(),
        "description": or_null(text()),
        "created_at": moment(),
    }))
}

/// A certificate of a host that only an agent can reach.
pub(super) fn private_cert() -> Value {
    record(json!({
        "id": uuid(),
        "host": text(),
        "port": count(),
        "subject": text(),
        "issuer": text(),
        "serial_number": or_null(text()),
        "not_before": or_null(moment()),
        "not_after": moment(),
        "days_remaining": { "type": "integer" },
        "is_valid": boolean(),
        "fingerprint_sha256": or_null(text()),
        "san": list(text()),
        "error": or_null(text()),
        "agent_id": uuid(),
        "last_seen_at": moment(),
    }))
}

pub(super) const ORIGIN_IP: &str =
    "Dialled instead of what the domain resolves to; uptime asks as visitors do.";
