//! `/agent` (spec: Variant B additional endpoints): for callers who keep agents, and for the agents
//! themselves.
//!
//! *Invariant:* a handler that takes an [`Agent`] runs only after the agent's key was accepted, the
//! request was counted as a call of its account, and the account's plan was found to have agents.

use salvo::{Extractible, extract::Metadata, http::HeaderMap, prelude::*};
use serde_json::json;
use vedette_model::{Edition, Feature};

use super::{
    body::{Body, OptionalBody},
    caller::{self, Includes, State},
    payer::{Cost, Payer, count_call},
    query::Query,
    reply::Answer,
    routes,
};
use crate::{Agent, App, Caller, Error, Result, limits::TokenHash, service};

pub(super) fn routes(edition: &'static Edition) -> Router {
    let callers = Router::new()
        .hoop(caller::Authenticate { edition, cost: Cost::Call })
        .push(
            routes::administered("agent/key")
                .hoop(WITH_AGENTS)
                .get(list)
                .head(list)
                .post(create)
                .delete(delete),
        )
        .push(routes::edited("agent/certs").hoop(WITH_AGENTS).get(certs).head(certs));
    let agents = Router::new()
        .hoop(Recognise { edition })
        .push(Router::with_path("agent/register").post(register))
        .push(Router::with_path("agent/report").post(report));
    Router::new().push(callers).push(agents)
}

#[handler]
async fn list(app: State, caller: Caller) -> Answer {
    let agents = service::agent::list(&app, &caller).await?;
    Ok(Json(json!({ "agents": agents })))
}

/// The key is in this answer and nowhere else.
#[handler]
async fn create(app: State, caller: Caller, body: OptionalBody) -> Answer {
    let created = service::agent::create(&app, &caller, &body).await?;
    Ok(Json(json!(created)))
}

#[handler]
async fn delete(app: State, caller: Caller, query: Query) -> Answer {
    service::agent::delete(&app, &caller, query.id("id")?).await?;
    Ok(Json(json!({ "success": true })))
}

#[handler]
async fn certs(app: State, caller: Caller) -> Answer {
    let certificates = service::agent::certs(&app, &caller).await?;
    Ok(Json(json!({ "certificates": certificates })))
}

#[handler]
async fn register(app: State, agent: Agent, body: OptionalBody) -> Answer {
    let registered = service::agent::register(&app, &agent, &body).await?;
    Ok(Json(json!(registered)))
}

#[handler]
async fn report(app: State, agent: Agent, body: Body) -> Answer {
    let reported = service::agent::report(&app, &agent, &body).await?;
    Ok(Json(json!(reported)))
}

/// Accepts or refuses an agent's key, then counts the request like one of its account.
struct Recognise {
    edition: &'static Edition,
}

#[handler]
impl Recognise {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let app = caller::app(depot);
        match self.admit(&app, req.headers(), depot).await {
            Ok(agent) => {
                depot.insert_typed(agent);
            }
            Err(error) => {
                res.render(error);
                ctrl.skip_rest();
            }
        }
    }
}

impl Recognise {
    async fn admit(&self, app: &App, headers: &HeaderMap, depot: &mut Depot) -> Result<Agent> {
        let key = caller::bearer(headers).map_err(|_| Error::Unauthenticated(MISSING.into()))?;
        let agent = service::agent::authenticate(app, self.edition, key)
            .await
            .inspect_err(|_| app.limits.recent.disown(&TokenHash::of(key)))?;
        let payer = Payer { account: &agent.account, edition: agent.edition };
        count_call(app, payer, key, depot).await?;
        service::plan::included(&agent.account, agent.edition, Feature::Agents)?;
        Ok(agent)
    }
}

impl<'ex> Extractible<'ex> for Agent {
    fn metadata() -> &'static Metadata {
        static METADATA: Metadata = Metadata::new("Agent");
        &METADATA
    }

    async fn extract(_req: &'ex mut Request, depot: &'ex mut Depot) -> Result<Self> {
        let agent = depot.get_typed::<Self>();
        Ok(agent.map_err(|_| anyhow::anyhow!("an agent's handler on an open route"))?.clone())
    }
}

const WITH_AGENTS: Includes = Includes(Feature::Agents);
const MISSING: &str = "send Authorization: Bearer and the agent's key";
