//! The caller of a request: the hoop of the private routes, and what handlers take as arguments.
//!
//! *Invariant:* a handler that takes a [`Caller`] runs only after the credential was accepted, the
//! request was counted in every limit, and the caller's role was held against the route's ([`Needs`]).

use std::{ops::Deref, sync::Arc};

use salvo::{
    Extractible,
    extract::Metadata,
    http::{HeaderMap, Method, header},
    prelude::*,
};
use vedette_model::{Account, AccountId, Area, Edition, Feature, Role, parse};

use super::{
    limit::{ClientAddress, Standing},
    payer::{Cost, Counted, count},
    trace,
};
use crate::{
    App, Caller, Error, Result,
    limits::TokenHash,
    service::{self, credential::Credential},
};

/// Accepts or refuses the credential, then counts the request.
pub(super) struct Authenticate {
    pub(super) edition: &'static Edition,
    /// What a request behind it costs, unless it says so itself.
    pub(super) cost: Cost,
}

#[handler]
impl Authenticate {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let app = app(depot);
        match self.admit(&app, req.headers(), depot, self.cost).await {
            Ok(caller) => {
                depot.insert_typed(Recognised(caller));
            }
            Err(error) => {
                res.render(error);
                ctrl.skip_rest();
            }
        }
    }
}

/// A caller whose role nobody has looked at yet.
struct Recognised(Caller);

/// The least role that a route takes (decisions: roles). A route that forgets it has no caller.
#[derive(Clone, Copy)]
pub(super) struct Needs {
    /// For GET and HEAD.
    pub(super) read: Role,
    /// For all that changes something.
    pub(super) write: Role,
}

#[handler]
impl Needs {
    fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let Ok(Recognised(caller)) = depot.remove_typed::<Recognised>() else { return };
        let is_read = matches!(*req.method(), Method::GET | Method::HEAD);
        match caller.must_be(if is_read { self.read } else { self.write }) {
            Ok(()) => {
                depot.insert_typed(caller);
            }
            Err(error) => {
                res.render(error);
                ctrl.skip_rest();
            }
        }
    }
}

/// A feature that the account's plan must have: told before anything that the request says is read.
#[derive(Clone, Copy)]
pub(super) struct Includes(pub(super) Feature);

#[handler]
impl Includes {
    fn handle(&self, depot: &mut Depot, res: &mut Response, ctrl: &mut FlowCtrl) {
        let Ok(caller) = depot.get_typed::<Caller>() else { return };
        if let Err(error) = service::plan::included(&caller.account, caller.edition, self.0) {
            res.render(error);
            ctrl.skip_rest();
        }
    }
}

impl Authenticate {
    pub(super) async fn admit(
        &self,
        app: &App,
        headers: &HeaderMap,
        depot: &mut Depot,
        cost: Cost,
    ) -> Result<Caller> {
        let mut credential = credential(headers, ClientAddress::of(depot)?)?;
        if self.edition.has(Area::Team) {
            credential.account = named_account(headers)?;
        }
        let token = credential.bearer;
        let standing = depot
            .get_typed_mut::<Standing>()
            .map_err(|_| anyhow::anyhow!("the request was not counted"))?;
        let caller = self.recognise(app, credential).await?;
        trace::note_account(caller.account.id);
        let counted = count(app, &caller, token, standing, cost).await?;
        if counted.stamp == caller.stamp {
            return counted.admitted.map(|()| caller);
        }
        // Hardly a request gets here, and none of the others is to carry what this takes.
        Box::pin(self.admit_anew(app, credential, standing, cost, &caller.account, counted)).await
    }

    /// Its keys, plan or sites were changed since it was remembered, on another node; or it is gone.
    async fn admit_anew(
        &self,
        app: &App,
        credential: Credential<'_>,
        standing: &mut Standing,
        cost: Cost,
        before: &Account,
        counted: Counted,
    ) -> Result<Caller> {
        let token = credential.bearer;
        service::credential::forget(app, token);
        let again = self.recognise(app, credential).await;
        let is_the_same = again.as_ref().is_ok_and(|caller| caller.account.id == before.id);
        if !is_the_same {
            standing.withdraw(app).await;
        }
        let is_refused = counted.admitted.is_err() || !is_the_same;
        let has_another_plan =
            again.as_ref().is_ok_and(|caller| caller.account.plan != before.plan);
        if (is_refused || has_another_plan)
            && let Some(at) = counted.placed
        {
            app.limits.take_back(before.id, at);
        }
        // A caller who joined or left a team meanwhile is bound by the limits of another account.
        let caller = again?;
        if is_refused {
            trace::note_account(caller.account.id);
            count(app, &caller, token, standing, cost).await?.admitted?;
        } else if has_another_plan {
            // It was counted in the month, and is not counted twice.
            standing.under(app, &caller, token, cost)?;
        }
        Ok(caller)
    }

    async fn recognise(&self, app: &App, credential: Credential<'_>) -> Result<Caller> {
        let token = credential.bearer;
        let caller = service::credential::authenticate(app, self.edition, credential)
            .await
            .inspect_err(|_| app.limits.recent.disown(&TokenHash::of(token)))?;
        if caller.edition.id != self.edition.id {
            let (its, ours) = (caller.edition.prefix, self.edition.prefix);
            let said = format!("the credential is for the paths below {its}, not below {ours}");
            return Err(Error::Unauthenticated(said.into()));
        }
        Ok(caller)
    }
}

/// The credential, used for the caller's own account.
fn credential(headers: &HeaderMap, address: ClientAddress) -> Result<Credential<'_>> {
    Ok(Credential { bearer: bearer(headers)?, account: None, address: Some(address.0) })
}

/// For which account the credential is used, where there are teams (`X-Vedette-Account`).
fn named_account(headers: &HeaderMap) -> Result<Option<AccountId>> {
    let mut values = headers.get_all(ACCOUNT).iter();
    let Some(named) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Error::invalid(ACCOUNT, "must be sent once"));
    }
    let named = parse::uuid(ACCOUNT, named.to_str().unwrap_or_default())?;
    Ok(Some(AccountId(named)))
}

/// The credential of `Authorization: Bearer …`; the scheme in any case (RFC 9110, 11.1).
pub(super) fn bearer(headers: &HeaderMap) -> Result<&str> {
    let missing = || Error::Unauthenticated("send Authorization: Bearer and an API key".into());
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().ok_or_else(missing)?;
    if values.next().is_some() {
        return Err(Error::Unauthenticated("send one Authorization header".into()));
    }
    let (scheme, token) =
        value.to_str().ok().and_then(|text| text.split_once(' ')).ok_or_else(missing)?;
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
        return Err(missing());
    }
    Ok(token)
}

/// The application, as every hoop finds it.
pub(super) fn app(depot: &Depot) -> Arc<App> {
    let app = depot.get_typed::<Arc<App>>();
    Arc::clone(app.unwrap_or_else(|_| panic!("the first hoop put the application there")))
}

/// The application as a handler's argument.
pub(super) struct State(Arc<App>);

impl Deref for State {
    type Target = App;

    fn deref(&self) -> &App {
        &self.0
    }
}

impl<'ex> Extractible<'ex> for State {
    fn metadata() -> &'static Metadata {
        static METADATA: Metadata = Metadata::new("State");
        &METADATA
    }

    async fn extract(_req: &'ex mut Request, depot: &'ex mut Depot) -> Result<Self> {
        Ok(Self(app(depot)))
    }
}

impl<'ex> Extractible<'ex> for Caller {
    fn metadata() -> &'static Metadata {
        static METADATA: Metadata = Metadata::new("Caller");
        &METADATA
    }

    async fn extract(_req: &'ex mut Request, depot: &'ex mut Depot) -> Result<Self> {
        let caller = depot.get_typed::<Self>();
        Ok(caller.map_err(|_| anyhow::anyhow!("a private handler on an open route"))?.clone())
    }
}

/// Somebody in a team says with it that their own account is meant.
const ACCOUNT: &str = "X-Vedette-Account";
