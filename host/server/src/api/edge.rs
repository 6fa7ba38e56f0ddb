//! What stands around every request, whatever becomes of it.
//!
//! These are two hoops and not one for each concern: each hoop is a future of its own on the heap,
//! which is polled through at every wait of what is inside. A concern that stands on both sides of
//! the request is a pair of functions instead, and the order of all of them can be read here.

use std::sync::Arc;

use salvo::{
    http::{HeaderValue, header},
    prelude::*,
};
use tracing::Instrument;

use super::{body, compression, cors, etag, host, limit, meter::Meter, trace};
use crate::App;

/// Around the requests of both listeners: a name, and an end to what the client still sends.
pub(super) struct Exchange {
    pub(super) app: Arc<App>,
}

/// Around public requests: limits, CORS, compression and ETags.
pub(super) struct Edge {
    pub(super) app: Arc<App>,
    pub(super) meter: Meter,
}

#[handler]
impl Exchange {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let named = trace::name(req, res);
        let inside = async {
            plain_answers(res);
            depot.insert_typed(Arc::clone(&self.app));
            ctrl.call_next(req, depot, res).await;
            body::finish(req, res).await;
        };
        inside.instrument(named.span().clone()).await;
        named.note(res);
    }
}

#[handler]
impl Edge {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let begun = limit::count(&self.app, req, depot).await;
        match cors::rule(&self.app, req, depot, res) {
            cors::Ruling::Answered => {
                ctrl.skip_rest();
            }
            cors::Ruling::Allowed(origin) => {
                match limit::refusal(depot).or_else(|| host::refusal(req)) {
                    Some(refusal) => {
                        res.render(refusal);
                        ctrl.skip_rest();
                    }
                    None => {
                        ctrl.call_next(req, depot, res).await;
                    }
                }
                etag::revalidate(req, depot, res);
                compression::pack(req, depot, res).await;
                compression::tell_length(req, res);
                cors::permit(res, origin);
            }
        }
        begun.tell(&self.app, depot, res).await;
        self.meter.note(req, res, begun.at.elapsed());
    }
}

/// Answers are data for one caller: not to be kept on the way, and never to be guessed at. What a
/// tag comes with is told apart further in ([`etag`]).
fn plain_answers(res: &mut Response) {
    let headers = res.headers_mut();
    // All at once: an answer from memory is quicker than a table that grows three times.
    headers.reserve(HEADERS);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

/// As many as an answer mostly has.
const HEADERS: usize = 16;
