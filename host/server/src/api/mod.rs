//! HTTP: the API on the public listener and the operator's port.
//!
//! Around every request, whatever becomes of it: request id → the rest of its body → counting and
//! the limit headers → cross-origin rules → packing → tags and 304 → panics caught → refusal of
//! what is over the limit → the domains of status pages.
//! Then the route table, and for private routes the caller. A handler parses, calls one service
//! and answers.
//!
//! *Invariant:* every answer on the public listener carries the six limit headers, also where no
//! route fits; it is JSON, but for pages, what belongs to them, and streams of events.
//! *Invariant:* an error becomes a status here ([`reply`]) and nowhere else.

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
mod etag;
mod event;
mod following;
mod incident;
mod limit;
mod maintenance;
mod mcp;
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

use salvo::{
    Service, affix_state,
    catch_panic::CatchPanic,
    catcher::Catcher,
    http::{HeaderValue, header},
    prelude::*,
};

use crate::App;

pub(crate) use operator::METRICS;
pub(crate) use reply::NO_SUCH_PATH;

/// What the public listener serves.
pub(crate) fn service(app: Arc<App>) -> Service {
    let router = Arc::new(routes::mounted(&app));
    Service::new(Arc::clone(&router))
        .hoop(trace::request)
        .hoop(body::finish)
        .hoop(plain_answers)
        .hoop(affix_state::inject(Arc::clone(&app)))
        .hoop(limit::count)
        .hoop(cors::rules)
        .hoop(compression::tell_length)
        .hoop(compression::pack)
        .hoop(etag::revalidate)
        .hoop(CatchPanic::new())
        .hoop(limit::refuse)
        .hoop(custom_domain::Dispatch { router })
        .catcher(Catcher::new(reply::catch))
}

/// What the operator's port serves.
pub(crate) fn operator(app: Arc<App>) -> Service {
    Service::new(operator::routes())
        .hoop(trace::request)
        .hoop(body::finish)
        .hoop(plain_answers)
        .hoop(affix_state::inject(app))
        .hoop(CatchPanic::new())
        .hoop(operator::guard)
        .catcher(Catcher::new(reply::catch))
}

/// Answers are data for one caller: not to be kept on the way, and never to be guessed at. What a
/// tag comes with is told apart further in ([`etag`]).
#[handler]
fn plain_answers(res: &mut Response) {
    let headers = res.headers_mut();
    // All at once: an answer from memory is quicker than a table that grows three times.
    headers.reserve(HEADERS);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

/// As many as an answer mostly has.
const HEADERS: usize = 16;
