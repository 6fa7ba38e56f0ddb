//! Which scripts in browsers may use the API: the public endpoints all of them, without
//! credentials; the rest those of configured origins only.

use salvo::{
    http::{HeaderMap, HeaderValue, Method, header},
    prelude::*,
};

use super::{caller, limit};
use crate::App;

/// Answers a preflight, or lets the request through with the headers that its answer needs.
#[handler]
pub(super) async fn rules(
    req: &mut Request,
    depot: &mut Depot,
    res: &mut Response,
    ctrl: &mut FlowCtrl,
) {
    let app = caller::app(depot);
    let is_public = limit::is_public(depot);
    let allowed = allowed(req, &app, is_public);
    // Also for a request that no script sent: its answer may be kept, and a script's be another.
    if !is_public && !app.config.cors.origins.is_empty() {
        res.headers_mut().append(header::VARY, HeaderValue::from_static("origin"));
    }
    if asks_what_is_allowed(req)
        && let Some(origin) = &allowed
    {
        let headers = res.headers_mut();
        permit(headers, origin.clone());
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(HEADERS));
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
        res.status_code(StatusCode::NO_CONTENT);
        ctrl.skip_rest();
        return;
    }
    ctrl.call_next(req, depot, res).await;
    if let Some(origin) = allowed {
        permit(res.headers_mut(), origin);
    }
}

/// Whether a browser asks what a script may ask for, and is told; any other OPTIONS is a request
/// like all.
pub(super) fn is_preflight(req: &Request, app: &App, is_public: bool) -> bool {
    asks_what_is_allowed(req) && allowed(req, app, is_public).is_some()
}

fn asks_what_is_allowed(req: &Request) -> bool {
    req.method() == Method::OPTIONS
        && req.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// What `Access-Control-Allow-Origin` may say to this request.
fn allowed(req: &Request, app: &App, is_public: bool) -> Option<HeaderValue> {
    let origin = req.headers().get(header::ORIGIN)?;
    if is_public {
        return Some(HeaderValue::from_static("*"));
    }
    let known = app.config.cors.origins.iter().any(|known| known.as_bytes() == origin.as_bytes());
    known.then(|| origin.clone())
}

fn permit(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(limit::EXPOSED));
}

const METHODS: &str = "GET, HEAD, POST, PATCH, DELETE";
/// What clients of JSON interfaces send, also where we pass it over.
const HEADERS: &str = "authorization, content-type, if-none-match, last-event-id, x-request-id, \
     idempotency-key, cache-control, x-vedette-account, mcp-protocol-version, mcp-method, \
     mcp-name, mcp-session-id";
/// Ten minutes.
const MAX_AGE: &str = "600";
