//! `/maintenance-windows` (spec: Maintenance windows).

use salvo::prelude::*;
use serde_json::json;

use super::{body::Body, caller::State, query::Query, reply::Answer};
use crate::{Caller, service};

#[handler]
pub(super) async fn list(app: State, caller: Caller) -> Answer {
    let windows = service::maintenance::list(&app, &caller).await?;
    let windows: Vec<_> = windows.iter().map(|window| window.view()).collect();
    Ok(Json(json!({ "windows": windows, "total": windows.len() })))
}

#[handler]
pub(super) async fn create(app: State, caller: Caller, body: Body) -> Answer {
    let window = service::maintenance::create(&app, &caller, &body).await?;
    Ok(Json(json!({ "window": window.view() })))
}

#[handler]
pub(super) async fn delete(app: State, caller: Caller, query: Query) -> Answer {
    service::maintenance::delete(&app, &caller, query.id("id")?).await?;
    Ok(Json(json!({ "success": true })))
}
