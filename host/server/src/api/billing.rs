//! `/checkout`, `/billing/status` and `/webhooks/payments` (spec: Variant B additional endpoints).
//!
//! *Invariant:* what is paid is the owner's business alone; of the payment provider nothing is
//! believed but what it signed.

use salvo::{http::HeaderMap, prelude::*};
use serde_json::json;
use vedette_model::Edition;

use super::{
    body::{self, Body},
    caller::{self, State},
    payer::Cost,
    reply::Answer,
    routes::owned,
};
use crate::{
    Caller,
    service::{self, billing::EventKey},
};

pub(super) fn routes(edition: &'static Edition) -> Router {
    let private = Router::new()
        .hoop(caller::Authenticate { edition, cost: Cost::CallIfLeft })
        .push(owned("checkout").post(checkout))
        .push(owned("billing/status").get(status).head(status));
    Router::new()
        .push(private)
        .push(Router::with_path("webhooks/payments").post(Events { edition }))
}

/// Spec: Errors, 413.
type CheckoutBody = Body<{ 10 << 10 }>;

#[handler]
async fn checkout(app: State, caller: Caller, body: CheckoutBody) -> Answer {
    let page = service::billing::checkout(&app, &caller, &body).await?;
    Ok(Json(json!({ "checkoutUrl": page })))
}

#[handler]
async fn status(app: State, caller: Caller) -> Answer {
    let paid = service::billing::status(&app, &caller).await?;
    Ok(Json(json!(paid)))
}

/// `POST /webhooks/payments`, about the accounts of one edition.
struct Events {
    edition: &'static Edition,
}

#[handler]
impl Events {
    async fn handle(&self, app: State, req: &mut Request) -> Answer {
        // Read to its end even if it is not looked at.
        let bytes = body::bytes(req).await;
        let key = EventKey::of(&app)?;
        let bytes = bytes?;
        key.verify(&bytes, signature(req.headers()))?;
        let event = body::object(&bytes)?;
        service::billing::receive(&app, self.edition, &event).await?;
        Ok(Json(json!({ "received": true })))
    }
}

/// None also if there are several: nobody could say which one counts.
fn signature(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(SIGNATURE).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Spec: Authentication, 9.
pub(super) const SIGNATURE: &str = "payments-signature";
