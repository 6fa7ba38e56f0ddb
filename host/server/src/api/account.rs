//! `/account` (spec: Variant B additional endpoints): for the owner alone.

use salvo::prelude::*;
use serde_json::json;
use vedette_model::Edition;

use super::{
    body::Body,
    caller::{self, State},
    payer::Cost,
    reply::Answer,
    routes::owned,
};
use crate::{Caller, service};

pub(super) fn routes(edition: &'static Edition) -> Router {
    let account = owned("account").get(read).head(read).patch(update).delete(delete);
    Router::new().hoop(caller::Authenticate { edition, cost: Cost::CallIfLeft }).push(account)
}

#[handler]
async fn read(caller: Caller) -> Answer {
    Ok(Json(json!(caller.account.profile())))
}

#[handler]
async fn update(app: State, caller: Caller, body: Body) -> Answer {
    let account = service::profile::update(&app, &caller, &body).await?;
    Ok(Json(json!({ "profile": account.profile() })))
}

#[handler]
async fn delete(caller: Caller, depot: &mut Depot) -> Answer {
    service::profile::delete(caller::app(depot), caller.account.id).await?;
    Ok(Json(json!({ "success": true })))
}
