//! What goes back: JSON or events, and the one place where an error becomes a status.

use std::convert::Infallible;

use bytes::Bytes;
use futures::{Stream, StreamExt};
use salvo::{
    Scribe,
    http::{HeaderValue, ResBody, header},
    prelude::*,
};
use serde_json::{Value, json};

use super::billing::SIGNATURE;
use crate::{Error, Result};

/// What a handler answers.
pub(super) type Answer = Result<Json<Value>>;

/// An error whose answer also says in one word, for programs, why.
pub(super) struct Because {
    pub(super) error: Error,
    pub(super) reason: &'static str,
}

impl Scribe for Error {
    fn render(self, res: &mut Response) {
        let body = told(&self, res);
        res.render(Json(body));
    }
}

impl Scribe for Because {
    fn render(self, res: &mut Response) {
        let mut body = told(&self.error, res);
        body["reason"] = self.reason.into();
        res.render(Json(body));
    }
}

/// Sets the status and the headers of an error, and answers its body.
fn told(error: &Error, res: &mut Response) -> Value {
    let status = status(error);
    if let Error::Internal(cause) | Error::Offline(cause) = error {
        tracing::error!(error = format!("{cause:#}"), "request failed: {cause:#}");
    }
    let mut body = body(status, error.to_string());
    match error {
        Error::Limited { retry_after, .. } => {
            body["retry_after"] = (*retry_after).into();
            res.headers_mut().insert(header::RETRY_AFTER, (*retry_after).into());
        }
        Error::Unauthenticated(_) => challenge(res, "Bearer"),
        Error::Unsigned(_) => challenge(res, SIGNATURE),
        _ => {}
    }
    res.status_code(status);
    body
}

/// A 401 says which credential it takes (RFC 9110, 15.5.2).
fn challenge(res: &mut Response, scheme: &'static str) {
    let scheme = HeaderValue::from_static(scheme);
    res.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
}

/// Answers with server-sent events, each as soon as it is there.
pub(super) fn stream_events(
    events: impl Stream<Item = String> + Send + 'static,
    res: &mut Response,
) {
    let headers = res.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // Proxies that would gather an answer before they pass it on are asked not to.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    res.status_code(StatusCode::OK);
    res.stream(events.map(|event| Ok::<Bytes, Infallible>(event.into())));
}

/// Answers in JSON where nothing of ours did: unknown paths and methods, caught panics.
#[handler]
pub(super) fn catch(req: &mut Request, res: &mut Response, ctrl: &mut FlowCtrl) {
    let status = res.status_code.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let message = match status {
        StatusCode::NOT_FOUND => NO_SUCH_PATH.to_owned(),
        StatusCode::METHOD_NOT_ALLOWED => {
            format!("{} is not possible here; the Allow header lists what is", req.method())
        }
        StatusCode::INTERNAL_SERVER_ERROR => Error::Internal(anyhow::anyhow!("caught")).to_string(),
        other => other.canonical_reason().unwrap_or("the request was not done").to_lowercase(),
    };
    res.replace_body(ResBody::None);
    res.headers_mut().remove(header::CONTENT_TYPE);
    res.render(Json(body(status, message)));
    ctrl.skip_rest();
}

fn status(error: &Error) -> StatusCode {
    match error {
        Error::Invalid(_) | Error::Malformed(_) => StatusCode::BAD_REQUEST,
        Error::Unauthenticated(_) | Error::Unsigned(_) => StatusCode::UNAUTHORIZED,
        Error::Forbidden { .. } => StatusCode::FORBIDDEN,
        Error::NotFound(_) => StatusCode::NOT_FOUND,
        Error::Limited { .. } => StatusCode::TOO_MANY_REQUESTS,
        Error::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Error::NotConfigured(_) => StatusCode::SERVICE_UNAVAILABLE,
        Error::Internal(_)
        | Error::Offline(_)
        | Error::Paused
        | Error::NoSessionKeys
        | Error::Throttled { .. } => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// `{error, message}` (spec: Error bodies); `error` is one word per status, for programs.
fn body(status: StatusCode, message: String) -> Value {
    let error = match status {
        StatusCode::BAD_REQUEST => "bad_request",
        StatusCode::UNAUTHORIZED => "unauthorized",
        StatusCode::FORBIDDEN => "forbidden",
        StatusCode::NOT_FOUND => "not_found",
        StatusCode::METHOD_NOT_ALLOWED => "method_not_allowed",
        StatusCode::PAYLOAD_TOO_LARGE => "payload_too_large",
        StatusCode::TOO_MANY_REQUESTS => "rate_limited",
        StatusCode::SERVICE_UNAVAILABLE => "unavailable",
        status if status.is_client_error() => "bad_request",
        _ => "server_error",
    };
    json!({ "error": error, "message": message })
}

/// What an unknown path answers.
pub(crate) const NO_SUCH_PATH: &str = "there is no such path";
