//! `/alerts` (spec: Alerts).

use salvo::prelude::*;
use serde_json::{Value, json};
use vedette_model::{Alert, AlertFilter, Invalid, Severity, parse};

use super::{body::Body, caller::State, path::PathId, query::Query, reply::Answer};
use crate::{App, Caller, Result, service};

#[handler]
pub(super) async fn list(app: State, caller: Caller, query: Query) -> Answer {
    let filter = filter(&app, &query)?;
    let (limit, offset) = (filter.limit, filter.offset);
    let page = service::alert::list(&app, &caller, &filter).await?;
    let alerts: Vec<_> = page.items.iter().map(view).collect();
    Ok(Json(json!({ "alerts": alerts, "total": page.total, "limit": limit, "offset": offset })))
}

#[handler]
pub(super) async fn resolve(app: State, caller: Caller, query: Query, body: Body) -> Answer {
    let id = query.id("id")?;
    let resolved = parse::Body::of(&body)?.required("is_resolved", parse::boolean)?;
    let alert = service::alert::set_resolved(&app, &caller, id, resolved).await?;
    Ok(Json(json!({ "alert": view(&alert) })))
}

/// The log of an alert: whom it was told to, how that went, and what holds it back.
#[handler]
pub(super) async fn deliveries(app: State, caller: Caller, path: PathId) -> Answer {
    let deliveries = service::alert::deliveries(&app, &caller, path.id()).await?;
    let deliveries: Vec<_> = deliveries.iter().map(|delivery| delivery.view()).collect();
    Ok(Json(json!({ "deliveries": deliveries })))
}

/// The documented fields (spec: Alert), and with them the domain, the event and the times.
pub(super) fn view(alert: &Alert) -> Value {
    json!({
        "id": alert.id,
        "type": alert.alert_type,
        "event": alert.event,
        "severity": alert.severity,
        "message": alert.message,
        "suggestion": alert.suggestion,
        "is_resolved": alert.is_resolved,
        "site_id": alert.site_id,
        "domain": alert.domain,
        "created_at": alert.created_at,
        "updated_at": alert.updated_at,
        "resolved_at": alert.resolved_at,
    })
}

fn filter(app: &App, query: &Query) -> Result<AlertFilter> {
    let (limit, offset) = parse::page(query.get("limit")?, query.get("offset")?)?;
    Ok(AlertFilter {
        alert_type: query.get("type")?.map(|text| alert_type(app, text)).transpose()?,
        severity: query.get("severity")?.map(severity).transpose()?,
        resolved: resolved(query.get("resolved")?)?,
        limit,
        offset,
    })
}

/// The documented types, and those that installed checks raise.
fn alert_type(app: &App, text: &str) -> Result<String, Invalid> {
    let raised = || {
        let checks = app.sandbox.check_types();
        let mut checks = checks.iter().filter_map(|check_type| app.sandbox.check(check_type));
        checks.any(|check| check.events.iter().any(|event| event.alert_type == text))
    };
    if DOCUMENTED.contains(&text) || raised() {
        return Ok(text.to_owned());
    }
    Err(Invalid::new("type", "must be one of ssl, dns, domain, ct, cert_change, uptime"))
}

fn severity(text: &str) -> Result<Severity, Invalid> {
    match text {
        "info" => Ok(Severity::Info),
        "warning" => Ok(Severity::Warning),
        "critical" => Ok(Severity::Critical),
        _ => Err(Invalid::new("severity", "must be one of info, warning, critical")),
    }
}

/// Absent means unresolved only; `false` says the same.
fn resolved(text: Option<&str>) -> Result<Option<bool>, Invalid> {
    match text {
        None | Some("false") => Ok(Some(false)),
        Some("true") => Ok(Some(true)),
        Some("all") => Ok(None),
        Some(_) => Err(Invalid::new("resolved", "must be true, false or all")),
    }
}

pub(super) const DOCUMENTED: [&str; 6] = ["ssl", "dns", "domain", "ct", "cert_change", "uptime"];
