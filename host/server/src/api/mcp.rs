//! `/mcp` and `/public/mcp` (spec: MCP): JSON-RPC by POST. What it says is `crate::mcp`'s.
//!
//! *Invariant:* a credential and the limits are judged before anything is done; 401, 413 and 429
//! are statuses, all else is a 200 with JSON, whatever the client accepts.

use std::sync::Arc;

use salvo::{
    http::{HeaderValue, header},
    prelude::*,
};

use super::{
    body,
    caller::{self, Authenticate, Cost},
};
use crate::{
    Result,
    mcp::{Asked, Reply, Server, Told, Who},
};

/// `POST /mcp`. It admits its caller itself: what a request costs stands in its body.
pub(super) struct Private {
    pub(super) door: Authenticate,
    pub(super) server: Arc<Server>,
}

/// `POST /public/mcp`.
pub(super) struct Public {
    pub(super) server: Arc<Server>,
}

#[handler]
impl Private {
    async fn handle(&self, req: &mut Request, depot: &mut Depot, res: &mut Response) {
        match self.answer(req, depot).await {
            Ok(reply) => write(reply, res),
            Err(error) => res.render(error),
        }
    }
}

#[handler]
impl Public {
    async fn handle(&self, req: &mut Request, depot: &mut Depot, res: &mut Response) {
        match self.answer(req, depot).await {
            Ok(reply) => write(reply, res),
            Err(error) => res.render(error),
        }
    }
}

impl Private {
    async fn answer(&self, req: &mut Request, depot: &mut Depot) -> Result<Reply> {
        let app = caller::app(depot);
        caller::bearer(req.headers())?;
        let bytes = body::bytes(req).await;
        let asked = bytes.map(|bytes| Asked::of(body::any(&bytes).ok()));
        let cost = match &asked {
            Ok(asked) if asked.is_call() => Cost::Call,
            Ok(_) | Err(_) => Cost::Nothing,
        };
        let caller = self.door.admit(&app, req.headers(), depot, cost).await?;
        let who = Who::Caller(Box::new(caller));
        Ok(self.server.answer(&app, who, asked?, &told(req)).await)
    }
}

impl Public {
    async fn answer(&self, req: &mut Request, depot: &mut Depot) -> Result<Reply> {
        let app = caller::app(depot);
        let bytes = body::bytes(req).await?;
        let asked = Asked::of(body::any(&bytes).ok());
        Ok(self.server.answer(&app, Who::Anyone, asked, &told(req)).await)
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

fn write(reply: Reply, res: &mut Response) {
    match reply {
        Reply::Accepted => {
            res.status_code(StatusCode::ACCEPTED);
        }
        Reply::Json(bytes) => {
            let json = HeaderValue::from_static("application/json; charset=utf-8");
            res.headers_mut().insert(header::CONTENT_TYPE, json);
            res.status_code(StatusCode::OK);
            res.body(bytes);
        }
    }
}
