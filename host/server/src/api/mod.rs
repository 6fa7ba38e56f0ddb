//! HTTP: the API on the public listener and the operator's port.
//!
//! Around every request, whatever becomes of it ([`edge`]): request id → the rest of its body →
//! counting and the limit headers → cross-origin rules → packing → tags and 304 → refusal of what is
//! over the limit or names no host → panics caught → the domains of status pages.
//! Then the route table, and for private routes the caller. A handler parses, calls one service
//! and answers.
//!
//! *Invariant:* every answer on the public listener carries the six limit headers, even if no route
//! fits; it is JSON, except for pages, what belongs to them, and streams of events.
//! *Invariant:* an error becomes a status here ([`reply`]) and nowhere else.

#![allow(refining_impl_trait, reason = "an extractor's error is ours, not any writer")]

mod account;
mod agent;
mod alert;
mod api_key;
mod billing;
mod body;
mod caller;
mod check;
mod compression;
mod cors;
mod cron;
mod custom_domain;
mod edge;
mod etag;
mod event;
mod following;
mod host;
mod incident;
mod limit;
mod maintenance;
mod mcp;
mod meter;
mod openapi;
mod operator;
mod own_check;
mod path;
mod payer;
mod public;
mod query;
mod renewal;
mod reply;
mod routes;
mod settings;
mod site;
mod status_page;
mod team;
mod trace;
mod welcome;

use std::sync::Arc;

use salvo::{Service, catch_panic::CatchPanic, catcher::Catcher};

use self::meter::Meter;
use crate::App;

pub(crate) use operator::METRICS;
pub(crate) use reply::NO_SUCH_PATH;

/// What the public listener serves.
pub(crate) fn service(app: Arc<App>) -> Service {
    let router = Arc::new(routes::mounted(&app));
    Service::new(Arc::clone(&router))
        .hoop(edge::Exchange { app: Arc::clone(&app) })
        .hoop(edge::Edge { app: Arc::clone(&app), meter: Meter::default() })
        .hoop(CatchPanic::new())
        .hoop(custom_domain::Dispatch { app, router })
        .catcher(Catcher::new(reply::catch))
}

/// What the operator's port serves.
pub(crate) fn operator(app: Arc<App>) -> Service {
    Service::new(operator::routes())
        .hoop(edge::Exchange { app })
        .hoop(CatchPanic::new())
        .hoop(operator::guard)
        .catcher(Catcher::new(reply::catch))
}
