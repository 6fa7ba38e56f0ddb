//! `/renewal` (spec: Deprecated renewal feature).

use salvo::{
    http::{HeaderValue, header},
    prelude::*,
};
use serde_json::json;

use super::{body::Body, caller::State, query::Query, reply::Answer};
use crate::{Caller, service};

/// Says on every answer that the feature is on its way out (RFC 9745).
#[handler]
pub(super) fn deprecated(res: &mut Response) {
    res.headers_mut().insert("deprecation", HeaderValue::from_static(SINCE));
}

#[handler]
pub(super) async fn start(app: State, caller: Caller, body: Body) -> Answer {
    let begun = service::renewal::begin(&app, &caller, &body).await?;
    Ok(Json(json!(begun)))
}

#[handler]
pub(super) async fn log(app: State, caller: Caller, query: Query) -> Answer {
    let entries = service::renewal::log(&app, &caller, query.id("site_id")?).await?;
    Ok(Json(json!({ "logs": entries })))
}

/// The one answer that shows a private key: to the site's owner, who has no other copy.
#[handler]
pub(super) async fn certificate(
    app: State,
    caller: Caller,
    query: Query,
    res: &mut Response,
) -> Answer {
    let rule = HeaderValue::from_static("private, no-store");
    res.headers_mut().insert(header::CACHE_CONTROL, rule);
    let renewed = service::renewal::certificate(&app, &caller, query.id("site_id")?).await?;
    Ok(Json(json!({
        "certificate": renewed.certificate,
        "private_key": renewed.private_key.expose(),
        "expires_at": renewed.expires_at,
    })))
}

/// 2026-01-01T00:00:00Z: before the first version.
const SINCE: &str = "@1767225600";
