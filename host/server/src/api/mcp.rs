//! `/mcp` and `/public/mcp` (spec: MCP): JSON-RPC by POST. What it says is `crate::mcp`'s.
//!
//! *Invariant:* a credential and the limits are judged before anything is done; 401, 413 and 429
//! are statuses, all else is a 200 with JSON, whatever the client accepts; or, for a client that
//! listens, a 200 with server-sent events.

use std::sync::Arc;

use bytes::Bytes;
use futures::stream;
use salvo::{
    http::{HeaderMap, HeaderValue, header},
    prelude::*,
};

use super::{
    body,
    caller::{self, Authenticate},
    following::Following,
    payer::Cost,
    reply::stream_events,
};
use crate::{
    Result,
    mcp::{Asked, Listener, Reply, Said, Server, Subscription, Told, Who},
};

/// `POST /mcp`. It admits its caller itself: what a request costs stands in its body.
pub(super) struct Private {
    pub(super) door: Authenticate,
    pub(super) server: Arc<Following<Server>>,
}

/// `POST /public/mcp`.
pub(super) struct Public {
    pub(super) server: Arc<Following<Server>>,
}

#[handler]
impl Private {
    async fn handle(&self, req: &mut Request, depot: &mut Depot, res: &mut Response) {
        match self.answer(req, depot).await {
            Ok(reply) => write(reply, depot, res),
            Err(error) => res.render(error),
        }
    }
}

#[handler]
impl Public {
    async fn handle(&self, req: &mut Request, depot: &mut Depot, res: &mut Response) {
        match self.answer(req, depot).await {
            Ok(reply) => write(reply, depot, res),
            Err(error) => res.render(error),
        }
    }
}

impl Private {
    async fn answer(&self, req: &mut Request, depot: &mut Depot) -> Result<Reply> {
        let app = caller::app(depot);
        let bearer = caller::bearer(req.headers())?.to_owned();
        let bytes = body::bytes(req).await;
        let asked = bytes.map(|bytes| Asked::of(body::any(&bytes).ok()));
        let cost = match &asked {
            Ok(asked) if asked.is_call() => Cost::Call,
            Ok(_) | Err(_) => Cost::Nothing,
        };
        let caller = self.door.admit(&app, req.headers(), depot, cost).await?;
        let told = told(req);
        let server = self.server.current(&app.sandbox);
        match asked? {
            Asked::Request(request) if request.listens() => {
                let takes_stream = takes_stream(req.headers());
                let listener = Listener { caller: &caller, bearer: &bearer, takes_stream };
                server.subscribe(&app, listener, request, &told).await
            }
            asked => {
                let who = Who::Caller(Box::new(caller));
                Ok(server.answer(&app, who, asked, &told).await)
            }
        }
    }
}

impl Public {
    async fn answer(&self, req: &mut Request, depot: &mut Depot) -> Result<Reply> {
        let app = caller::app(depot);
        let bytes = body::bytes(req).await?;
        let asked = Asked::of(body::any(&bytes).ok());
        let server = self.server.current(&app.sandbox);
        Ok(server.answer(&app, Who::Anyone, asked, &told(req)).await)
    }
}

fn told(req: &Request) -> Told<'_> {
    let header = |name: &str| req.headers().get(name).and_then(|value| value.to_str().ok());
    Told {
        version: header("mcp-protocol-version"),
        method: header("mcp-method"),
        name: header("mcp-name"),
    }
}

/// Whether `Accept` allows the answer to be a stream. A client that sends none accepts anything.
fn takes_stream(headers: &HeaderMap) -> bool {
    let mut accepts = headers.get_all(header::ACCEPT).iter().peekable();
    if accepts.peek().is_none() {
        return true;
    }
    let mut ranges =
        accepts.filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(','));
    ranges.any(names_stream)
}

fn names_stream(range: &str) -> bool {
    let mut parts = range.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
    let is_never = |(name, weight): (&str, &str)| {
        name.eq_ignore_ascii_case("q") && weight.parse::<f32>() == Ok(0.0)
    };
    ["text/event-stream", "text/*", "*/*"].contains(&kind.as_str())
        && !parts.filter_map(|part| part.split_once('=')).any(is_never)
}

fn write(reply: Reply, depot: &mut Depot, res: &mut Response) {
    match reply {
        Reply::Accepted => {
            res.status_code(StatusCode::ACCEPTED);
        }
        Reply::Json(bytes) => write_json(bytes, res),
        Reply::Completed(answer) => {
            write_json(answer.plain(), res);
            // For a client that takes it packed.
            depot.insert_typed(answer);
        }
        Reply::Stream(subscription) => stream_to(subscription, res),
    }
}

fn write_json(bytes: Bytes, res: &mut Response) {
    let json = HeaderValue::from_static("application/json; charset=utf-8");
    res.headers_mut().insert(header::CONTENT_TYPE, json);
    res.status_code(StatusCode::OK);
    res.body(bytes);
}

fn stream_to(subscription: Box<Subscription>, res: &mut Response) {
    let events = stream::unfold(subscription, |mut subscription| async move {
        let event = frame(&subscription.next().await?);
        Some((event, subscription))
    });
    stream_events(events, res);
}

/// JSON stands on one line, so no message can end its event.
fn frame(said: &Said) -> String {
    match said {
        Said::Message(message) => format!("data: {message}\n\n"),
        Said::Heartbeat => ": heartbeat\n\n".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_for_who_takes_one() {
        for (accept, takes) in [
            (vec![], true),
            (vec!["*/*"], true),
            (vec!["application/json, text/event-stream"], true),
            (vec!["application/json", "Text/Event-Stream;q=0.5"], true),
            (vec!["text/*"], true),
            (vec!["application/json"], false),
            (vec!["text/event-stream; q=0"], false),
            (vec!["text/html, application/*"], false),
            (vec![""], false),
        ] {
            let mut headers = HeaderMap::new();
            for &value in &accept {
                headers.append(header::ACCEPT, HeaderValue::from_static(value));
            }
            assert_eq!(takes_stream(&headers), takes, "{accept:?}");
        }
    }
}
