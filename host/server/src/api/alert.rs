//! `/alerts` (spec: Alerts).

use salvo::prelude::*;
use serde_json::json;
use vedette_model::{AlertFilter, parse};

use super::{body::Body, caller::State, path::PathId, query::Query, reply::Answer};
use crate::{App, Caller, Result, service};

#[handler]
pub(super) async fn list(app: State, caller: Caller, query: Query) -> Answer {
    let filter = filter(&app, &query)?;
    let (limit, offset) = (filter.limit, filter.offset);
    let page = service::alert::list(&app, &caller, &filter).await?;
    let alerts: Vec<_> = page.items.iter().map(|alert| alert.view()).collect();
    Ok(Json(json!({ "alerts": alerts, "total": page.total, "limit": limit, "offset": offset })))
}

#[handler]
pub(super) async fn update(app: State, caller: Caller, query: Query, body: Body) -> Answer {
    let id = query.id("id")?;
    let alert = match parse::Body::of(&body)?.optional("is_resolved", parse::boolean)? {
        Some(resolved) => service::alert::set_resolved(&app, &caller, id, resolved).await?,
        None => service::alert::read(&app, &caller, id).await?,
    };
    Ok(Json(json!({ "alert": alert.view() })))
}

/// The log of an alert: where it was sent, how that went, and what holds it back.
#[handler]
pub(super) async fn deliveries(app: State, caller: Caller, path: PathId) -> Answer {
    let log = service::alert::deliveries(&app, &caller, path.id()).await?;
    let log: Vec<_> = log.iter().map(|delivery| delivery.view()).collect();
    Ok(Json(json!({ "deliveries": log })))
}

fn filter(app: &App, query: &Query) -> Result<AlertFilter> {
    let page = parse::page(query.get("limit")?, query.get("offset")?)?;
    let (alert_type, severity) = (query.get("type")?, query.get("severity")?);
    Ok(service::alert::filter(app, alert_type, severity, query.get("resolved")?, page)?)
}
