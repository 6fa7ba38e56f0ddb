//! What needs no credential (spec: On-demand checks, `GET /public/check-ssl`).

use salvo::prelude::*;

use super::{caller::State, query::Query, reply::Answer};
use crate::service;

#[handler]
pub(super) async fn check_ssl(app: State, query: Query) -> Answer {
    let result = service::check::run_public(&app, query.required("domain")?).await?;
    Ok(Json(result))
}
