//! `/auth/welcome` (spec: Variant B additional endpoints): before and after somebody signs up.

use salvo::prelude::*;
use serde_json::json;
use vedette_model::{Edition, Role};

use super::{
    caller::{Authenticate, Needs, State},
    limit::ClientAddress,
    payer::Cost,
    reply::{Answer, Because},
};
use crate::{
    Caller, Error, Result,
    service::{self, welcome::Unwelcome},
};

pub(super) fn routes(edition: &'static Edition) -> Router {
    let judge = Judge { edition };
    // About the caller and not the team they are in: any role will do.
    let greeting = Router::new()
        .hoop(Authenticate { edition, cost: Cost::Call })
        .hoop(Needs { read: Role::Viewer, write: Role::Viewer })
        .post(greet);
    Router::with_path("auth/welcome").get(judge).head(judge).push(greeting)
}

/// Whether somebody new may begin. It needs no credential: they have none yet.
#[derive(Clone, Copy)]
struct Judge {
    edition: &'static Edition,
}

#[handler]
impl Judge {
    async fn handle(&self, app: State, address: ClientAddress, res: &mut Response) -> Result<()> {
        match service::welcome::judge(&app, self.edition, address.0).await? {
            None => res.render(Json(json!({ "allowed": true }))),
            Some(Unwelcome { reason, message }) => {
                res.render(Because { error: Error::forbidden(message), reason });
            }
        }
        Ok(())
    }
}

#[handler]
async fn greet(app: State, caller: Caller) -> Answer {
    let sent = service::welcome::send(&app, &caller).await?;
    Ok(Json(json!({ "sent": sent })))
}
