//! `/sites` (spec: Sites).

use salvo::prelude::*;
use serde_json::json;

use super::{body::Body, caller::State, query::Query, reply::Answer};
use crate::{Caller, service};

#[handler]
pub(super) async fn list(app: State, caller: Caller) -> Answer {
    let sites = service::site::list(&app, &caller).await?;
    let sites: Vec<_> = sites.iter().map(|site| site.view()).collect();
    let account = &caller.account;
    Ok(Json(json!({ "sites": sites, "plan": account.plan, "userId": account.id })))
}

#[handler]
pub(super) async fn create(app: State, caller: Caller, body: Body) -> Answer {
    let site = service::site::create(&app, &caller, &body).await?;
    Ok(Json(json!({ "site": site.view() })))
}

#[handler]
pub(super) async fn update(app: State, caller: Caller, query: Query, body: Body) -> Answer {
    let site = service::site::update(&app, &caller, query.id("id")?, &body).await?;
    Ok(Json(json!({ "site": site.view() })))
}

#[handler]
pub(super) async fn delete(app: State, caller: Caller, query: Query) -> Answer {
    service::site::delete(&app, &caller, query.id("id")?).await?;
    Ok(Json(json!({ "success": true })))
}
