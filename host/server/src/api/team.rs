//! `/team` (spec: Variant B additional endpoints).

use salvo::{Extractible, extract::Metadata, prelude::*};
use serde_json::json;
use vedette_model::{Edition, Role, team::parse_member};

use super::{
    body::Body,
    caller::{self, Needs, State},
    payer::Cost,
    reply::Answer,
    routes,
};
use crate::{Caller, Result, service};

pub(super) fn routes(edition: &'static Edition) -> Router {
    Router::new()
        .hoop(caller::Authenticate { edition, cost: Cost::Call })
        .push(shared("team").get(read).head(read).post(invite).delete(remove))
        .push(routes::administered("team/role").patch(change_role))
        .push(shared("team/accept").post(accept))
}

/// What any role may ask for: whether it is done depends on who asks about whom.
fn shared(path: &str) -> Router {
    Router::with_path(path).hoop(Needs { read: Role::Viewer, write: Role::Viewer })
}

#[handler]
async fn read(app: State, caller: Caller) -> Answer {
    let team = service::team::read(&app, &caller).await?;
    let invitations: Vec<_> = team.invitations.iter().map(|open| open.view()).collect();
    Ok(Json(json!({
        "members": team.members,
        "invitations": invitations,
        "plan": team.plan.id,
        "teamMembersLimit": team.plan.team_members,
    })))
}

/// The token is in this answer and in the mail, and nowhere else.
#[handler]
async fn invite(app: State, caller: Administrator, body: Body) -> Answer {
    let invited = service::team::invite(&app, &caller.0, &body).await?;
    let shown = invited.invitation.view().with_token(&invited.token);
    Ok(Json(json!({ "invitation": shown })))
}

#[handler]
async fn change_role(app: State, caller: Administrator, body: Body) -> Answer {
    let member = service::team::change_role(&app, &caller.0, &body).await?;
    Ok(Json(json!({ "member": member })))
}

#[handler]
async fn accept(app: State, caller: Caller, body: Body) -> Answer {
    let accepted = service::team::accept(&app, &caller, &body).await?;
    Ok(Json(json!(accepted)))
}

#[handler]
async fn remove(app: State, caller: Caller, body: Heard) -> Answer {
    let named = body.0.and_then(|body| Ok(parse_member(&body)?));
    service::team::remove(&app, &caller, named).await?;
    Ok(Json(json!({ "success": true })))
}

/// A caller who may change the team, by plan and role: told before anything that the request says is
/// read.
struct Administrator(Caller);

impl<'ex> Extractible<'ex> for Administrator {
    fn metadata() -> &'static Metadata {
        static METADATA: Metadata = Metadata::new("Administrator");
        &METADATA
    }

    async fn extract(req: &'ex mut Request, depot: &'ex mut Depot) -> Result<Self> {
        let caller = Caller::extract(req, depot).await?;
        service::team::administered(&caller)?;
        Ok(Self(caller))
    }
}

/// A body that may be bad: a caller who may not do what it asks for is told that first.
struct Heard(Result<Body>);

impl<'ex> Extractible<'ex> for Heard {
    fn metadata() -> &'static Metadata {
        static METADATA: Metadata = Metadata::new("Heard");
        &METADATA
    }

    async fn extract(req: &'ex mut Request, depot: &'ex mut Depot) -> Result<Self> {
        Ok(Self(Body::extract(req, depot).await))
    }
}
