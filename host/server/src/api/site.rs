//! `/sites` (spec: Sites).

use salvo::{
    http::{HeaderValue, header},
    prelude::*,
};
use serde_json::json;

use super::{body::Body, caller::State, query::Query, reply::Answer};
use crate::{App, Caller, Result, app::SiteList, document::Document, service};

/// From memory while the account stands where it stood when the list was written.
#[handler]
pub(super) async fn list(
    app: State,
    caller: Caller,
    depot: &mut Depot,
    res: &mut Response,
) -> Result<()> {
    let kept = app.site_lists.get(&caller.account.id);
    let written = match kept.filter(|kept| kept.stamp == caller.stamp) {
        Some(kept) => kept,
        None => write_list(&app, &caller).await?,
    };
    res.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    res.status_code(StatusCode::OK);
    res.body(written.document.plain.clone());
    depot.insert_typed(written.document);
    Ok(())
}

/// What is not of the caller's own moment names a plan of another, and is not kept.
async fn write_list(app: &App, caller: &Caller) -> Result<SiteList> {
    let (stamp, sites) = service::site::list(app, caller).await?;
    let sites: Vec<_> = sites.iter().map(|site| site.view()).collect();
    let account = &caller.account;
    let answer = json!({ "sites": sites, "plan": account.plan, "userId": account.id });
    let written = SiteList { stamp, document: Document::new(answer.to_string()) };
    if stamp == caller.stamp {
        app.site_lists.insert(account.id, written.clone());
    }
    Ok(written)
}

const JSON: &str = "application/json; charset=utf-8";

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
