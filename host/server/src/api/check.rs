//! `/check-<type>`, `/checks` and `/cert-history` (spec: On-demand checks, Check history).

use salvo::prelude::*;
use serde_json::json;
use vedette_model::{CheckType, SiteId, parse};

use super::{body::Body, caller::State, query::Query, reply::Answer};
use crate::{Caller, service};

/// `POST /check-<type>` of one installed check.
pub(super) struct OnDemand(pub(super) CheckType);

#[handler]
impl OnDemand {
    async fn handle(&self, app: State, caller: Caller, body: Body) -> Answer {
        let result = service::check::run_on_demand(&app, &caller, &self.0, &body).await?;
        Ok(Json(result))
    }
}

/// Two answers in one: a page when any filter is given, else the latest of each type.
#[handler]
pub(super) async fn history(app: State, caller: Caller, query: Query) -> Answer {
    let site: SiteId = query.id("site_id")?;
    let page = parse::page(query.get("limit")?, query.get("offset")?);
    let (from, to) = (query.moment("from")?, query.moment("to")?);
    let check_type = query.get("check_type")?;
    let wanted = service::check::query(check_type, from.as_deref(), to.as_deref(), page)?;
    let filtered = wanted.check_type.is_some() || wanted.from.is_some() || wanted.until.is_some();
    if !filtered {
        let latest = service::check::latest(&app, &caller, site).await?;
        return Ok(Json(json!(latest)));
    }
    let (limit, offset) = (wanted.limit, wanted.offset);
    let page = service::check::page(&app, &caller, site, wanted).await?;
    Ok(Json(json!({ "checks": page.items, "total": page.total, "limit": limit, "offset": offset })))
}

#[handler]
pub(super) async fn record(app: State, caller: Caller, body: Body) -> Answer {
    let check = service::check::record(&app, &caller, &body).await?;
    Ok(Json(json!({ "check": check })))
}

#[handler]
pub(super) async fn cert_history(app: State, caller: Caller, query: Query) -> Answer {
    let page = service::check::cert_history(&app, &caller, query.id("site_id")?).await?;
    let changes: Vec<_> = page.items.iter().map(|change| change.view()).collect();
    Ok(Json(json!({ "history": changes, "total": page.total })))
}
