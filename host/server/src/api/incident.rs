//! `/incidents` (spec: Incidents).

use salvo::prelude::*;
use serde_json::json;
use vedette_model::{IncidentFilter, IncidentStatus, parse};

use super::{body::Body, caller::State, path::PathId, query::Query, reply::Answer};
use crate::{Caller, service};

#[handler]
pub(super) async fn list(app: State, caller: Caller, query: Query) -> Answer {
    let status = query.get("status")?.map(str::parse::<IncidentStatus>).transpose()?;
    let asked = query.get("limit")?;
    let (limit, offset) = parse::page(asked, query.get("offset")?)?;
    let limit = asked.map_or(u32::MAX, |_| limit);
    let filter = IncidentFilter { status, limit, offset };
    let page = service::incident::list(&app, &caller, &filter).await?;
    let incidents: Vec<_> = page.items.iter().map(|incident| incident.view()).collect();
    Ok(Json(json!({ "incidents": incidents, "total": page.total })))
}

#[handler]
pub(super) async fn create(app: State, caller: Caller, body: Body) -> Answer {
    let incident = service::incident::create(&app, &caller, &body).await?;
    Ok(Json(json!({ "incident": incident.view() })))
}

#[handler]
pub(super) async fn read(app: State, caller: Caller, path: PathId) -> Answer {
    let incident = service::incident::read(&app, &caller, path.id()).await?;
    let stream: Vec<_> = incident.records().collect();
    Ok(Json(json!({ "incident": incident.view(), "updates": stream })))
}

#[handler]
pub(super) async fn update(app: State, caller: Caller, path: PathId, body: Body) -> Answer {
    let incident = service::incident::update(&app, &caller, path.id(), &body).await?;
    Ok(Json(json!({ "incident": incident.view() })))
}

#[handler]
pub(super) async fn list_updates(app: State, caller: Caller, path: PathId) -> Answer {
    let incident = service::incident::read(&app, &caller, path.id()).await?;
    let stream: Vec<_> = incident.records().collect();
    Ok(Json(json!({ "updates": stream, "total": stream.len() })))
}

/// The contract shows this answer both ways: with the incident, and with the update.
#[handler]
pub(super) async fn add_update(app: State, caller: Caller, path: PathId, body: Body) -> Answer {
    let incident = service::incident::add_update(&app, &caller, path.id(), &body).await?;
    let added = incident.records().next_back();
    Ok(Json(json!({ "incident": incident.view(), "update": added })))
}
