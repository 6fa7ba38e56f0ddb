//! `/settings/notifications` (spec: Notification settings).

use salvo::prelude::*;
use serde_json::json;

use super::{body::Body, caller::State, reply::Answer};
use crate::{Caller, service};

#[handler]
pub(super) async fn read(app: State, caller: Caller) -> Answer {
    let settings = service::settings::read(&app, &caller).await?;
    Ok(Json(json!({ "settings": settings.view(), "plan": caller.account.plan })))
}

#[handler]
pub(super) async fn update(app: State, caller: Caller, body: Body) -> Answer {
    let settings = service::settings::update(&app, &caller, &body).await?;
    Ok(Json(json!({ "settings": settings.view() })))
}

/// Sends a test to every configured channel.
#[handler]
pub(super) async fn test(app: State, caller: Caller) -> Answer {
    let tested = service::settings::test(&app, &caller).await?;
    Ok(Json(json!(tested)))
}
