//! `/check-<type>`, `/checks` and `/cert-history` (spec: On-demand checks, Check history).

use salvo::prelude::*;
use serde_json::json;
use vedette_model::{CheckType, Invalid, SiteId, parse};

use super::{body::Body, caller::State, query::Query, reply::Answer};
use crate::{
    App, Caller, Result,
    service::{self, check::CheckQuery},
};

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
    let wanted = check_query(&app, &query)?;
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

fn check_query(app: &App, query: &Query) -> Result<CheckQuery> {
    let check_type = query.get("check_type")?.map(|text| known_type(app, text)).transpose()?;
    let (from, to) = (query.moment("from")?, query.moment("to")?);
    let period = parse::period(from.as_deref(), to.as_deref())?;
    let (limit, offset) = parse::page(query.get("limit")?, query.get("offset")?)?;
    Ok(CheckQuery { check_type, from: period.from, until: period.until, limit, offset })
}

/// The documented types can be asked for whether a plugin for them is installed or not.
fn known_type(app: &App, text: &str) -> Result<CheckType, Invalid> {
    let check_type: CheckType = text.parse()?;
    if DOCUMENTED.contains(&text) || app.sandbox.check(&check_type).is_some() {
        return Ok(check_type);
    }
    Err(Invalid::new(
        "check_type",
        "must be one of ssl, dns, domain, ct, uptime or an installed check",
    ))
}

pub(super) const DOCUMENTED: [&str; 5] = ["ssl", "dns", "domain", "ct", "uptime"];
