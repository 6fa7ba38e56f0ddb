//! Which scripts in browsers may use the API: the public endpoints all of them, without
//! credentials; the rest those of configured origins only.

use salvo::{
    http::{HeaderValue, Method, header},
    prelude::*,
};

use super::limit;
use crate::App;

/// What the rules say to a request.
pub(super) enum Ruling {
    /// It was a preflight, and is answered.
    Answered,
    /// The request goes on; its answer is for scripts of this origin, if of any.
    Allowed(Option<HeaderValue>),
}

/// Answers a preflight, or lets the request through.
pub(super) fn rule(app: &App, req: &Request, depot: &Depot, res: &mut Response) -> Ruling {
    let is_public = limit::is_public(depot);
    let allowed = allowed(req, app, is_public);
    // Also for a request that no script sent: its answer may be kept, and a script's be another.
    if !is_public && !app.config.cors.origins.is_empty() {
        res.headers_mut().append(header::VARY, HeaderValue::from_static("origin"));
    }
    if asks_what_is_allowed(req)
        && let Some(origin) = &allowed
    {
        permit(res, Some(origin.clone()));
        let headers = res.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(HEADERS));
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
        res.status_code(StatusCode::NO_CONTENT);
        return Ruling::Answered;
    }
    Ruling::Allowed(allowed)
}

/// Lets scripts of the origin read the answer.
pub(super) fn permit(res: &mut Response, origin: Option<HeaderValue>) {
    let Some(origin) = origin else { return };
    let headers = res.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(limit::EXPOSED));
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

const METHODS: &str = "GET, HEAD, POST, PATCH, DELETE";
/// What clients of JSON interfaces send, also where we pass it over.
const HEADERS: &str = "authorization, content-type, if-none-match, last-event-id, x-request-id, \
     idempotency-key, cache-control, x-vedette-account, mcp-protocol-version, mcp-method, \
     mcp-name, mcp-session-id";
/// Ten minutes.
const MAX_AGE: &str = "600";
