//! `/api-keys` (spec: API keys).

use salvo::prelude::*;
use serde_json::json;

use super::{body::Body, caller::State, query::Query, reply::Answer};
use crate::{Caller, service};

#[handler]
pub(super) async fn list(app: State, caller: Caller) -> Answer {
    let keys = service::api_key::list(&app, &caller).await?;
    let keys: Vec<_> = keys.iter().map(|key| key.view()).collect();
    Ok(Json(json!({ "keys": keys })))
}

/// The full key is in this answer and in that of `roll`, and nowhere else.
#[handler]
pub(super) async fn create(app: State, caller: Caller, body: Body) -> Answer {
    let created = service::api_key::create(&app, &caller, &body).await?;
    Ok(Json(json!(created)))
}

#[handler]
pub(super) async fn set_expiry(app: State, caller: Caller, query: Query, body: Body) -> Answer {
    let key = service::api_key::set_expiry(&app, &caller, query.id("id")?, &body).await?;
    Ok(Json(json!(key.view())))
}

#[handler]
pub(super) async fn roll(app: State, caller: Caller, body: Body) -> Answer {
    let created = service::api_key::roll(&app, &caller, &body).await?;
    Ok(Json(json!(created)))
}

#[handler]
pub(super) async fn delete(app: State, caller: Caller, query: Query) -> Answer {
    service::api_key::delete(&app, &caller, query.id("id")?).await?;
    Ok(Json(json!({ "success": true })))
}
