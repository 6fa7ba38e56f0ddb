//! Who asks: the hoop of the private routes, and what handlers take as arguments.
//!
//! *Invariant:* a handler that takes a [`Caller`] runs only after the credential was accepted, the
//! request was counted in every limit, and the caller's role was held against the route's ([`Needs`]).

use std::{ops::Deref, sync::Arc, time::Duration};

use salvo::{
    Extractible,
    extract::Metadata,
    http::{HeaderMap, Method, header},
    prelude::*,
};
use vedette_model::{Account, AccountId, Edition, Feature, Plan, Role, Timestamp, parse, quota};
use vedette_store::Stamp;

use super::{
    limit::{Charge, ClientAddress, Month, Standing, over},
    trace,
};
use crate::{
    App, Caller, Error, Result,
    limits::{TokenHash, Usage},
    service::{self, account::Credential},
};

/// Accepts or refuses the credential, then counts the request: the account's window first, the
/// month last, so that a 429 never costs a call (decisions: monthly calls).
pub(super) struct Authenticate {
    pub(super) edition: &'static Edition,
}

/// What a request costs its account, beside its place in the windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    /// One of the month's calls.
    Call,
    /// Nothing: how MCP's handshake and listings are counted (decisions: monthly calls).
    Nothing,
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
        match self.admit(&app, req.headers(), depot, Cost::Call).await {
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
        if let Err(error) = service::account::included(&caller.account, caller.edition, self.0) {
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
        let credential = credential(headers, ClientAddress::of(depot)?)?;
        let token = credential.bearer;
        let standing = depot
            .get_typed_mut::<Standing>()
            .map_err(|_| anyhow::anyhow!("the request was not counted"))?;
        let mut caller = self.recognise(app, credential).await?;
        trace::note_account(caller.account.id);
        let mut counted = count(app, &caller, token, standing, cost).await?;
        if counted.stamp != caller.stamp {
            // Its keys, plan or sites were changed since it was remembered, on another node; or it
            // is gone.
            service::account::forget(app, token);
            let before = Arc::clone(&caller.account);
            let again = self.recognise(app, credential).await;
            let is_the_same = again.as_ref().is_ok_and(|caller| caller.account.id == before.id);
            if !is_the_same {
                standing.withdraw(app).await;
            }
            caller = again?;
            // Who joined or left a team meanwhile is bound by the limits of another account.
            if counted.admitted.is_err() || !is_the_same {
                trace::note_account(caller.account.id);
                counted = count(app, &caller, token, standing, cost).await?;
            } else if caller.account.plan != before.plan {
                // It was counted, and is not counted twice.
                counted.admitted = standing.under(&caller, app.clock.now());
            }
        }
        counted.admitted.map(|()| caller)
    }

    async fn recognise(&self, app: &App, credential: Credential<'_>) -> Result<Caller> {
        let token = credential.bearer;
        let caller = service::account::authenticate(app, self.edition, credential)
            .await
            .inspect_err(|_| app.limits.recent.disown(&TokenHash::of(token)))?;
        if caller.edition.id != self.edition.id {
            return Err(Error::Unauthenticated("the credential is not valid here".into()));
        }
        Ok(caller)
    }
}

impl Standing {
    /// A call that was counted in the month, held against another plan than it was counted under.
    fn under(&mut self, caller: &Caller, now: Timestamp) -> Result<()> {
        let plan = service::account::plan(&caller.account)?;
        let used = self.month.used;
        self.month = Month { limit: plan.monthly_calls, used: used.min(plan.monthly_calls) };
        if used <= plan.monthly_calls {
            return Ok(());
        }
        let wait = longest(now, Duration::ZERO, self, Some(quota::next_month(now)));
        Err(month_over(caller.edition, plan, wait))
    }
}

/// Whose limits a request is held against.
#[derive(Clone, Copy)]
pub(super) struct Payer<'a> {
    pub(super) account: &'a Account,
    pub(super) edition: &'static Edition,
    /// Where the account stood when it was looked up.
    pub(super) stamp: Stamp,
}

impl<'a> From<&'a Caller> for Payer<'a> {
    fn from(caller: &'a Caller) -> Self {
        Self { account: &caller.account, edition: caller.edition, stamp: caller.stamp }
    }
}

/// Counts a request that is made for an account with a credential of another kind, like a call of
/// its own.
pub(super) async fn count_call(
    app: &App,
    payer: Payer<'_>,
    token: &str,
    depot: &mut Depot,
) -> Result<()> {
    trace::note_account(payer.account.id);
    let standing = depot
        .get_typed_mut::<Standing>()
        .map_err(|_| anyhow::anyhow!("the request was not counted"))?;
    count(app, payer, token, standing, Cost::Call).await?.admitted
}

/// A request that was held against the account's two limits.
struct Counted {
    /// Where the account stood then.
    stamp: Stamp,
    /// What is refused says how long to wait for every limit that is used up, not just for the
    /// one that was met first.
    admitted: Result<()>,
}

async fn count<'a>(
    app: &App,
    payer: impl Into<Payer<'a>>,
    token: &str,
    standing: &mut Standing,
    cost: Cost,
) -> Result<Counted> {
    let payer = payer.into();
    let plan = service::account::plan(payer.account)?;
    let account = payer.account.id;
    let asked = Asked { payer, plan, token: TokenHash::of(token), now: app.clock.now() };
    match app.limits.admit_account(account, quota::Limit::of_plan(plan), asked.now) {
        Ok(_) => asked.admit(app, standing, cost).await,
        Err(refused) => asked.refuse(app, standing, cost, refused.retry_after).await,
    }
}

/// A request that is being held against its account's limits.
struct Asked<'a> {
    payer: Payer<'a>,
    plan: &'static Plan,
    token: TokenHash,
    now: Timestamp,
}

impl Asked<'_> {
    /// Counts it in the month, which may be over.
    async fn admit(&self, app: &App, standing: &mut Standing, cost: Cost) -> Result<Counted> {
        let (account, month) = (self.payer.account.id, quota::month(self.now));
        let found = match cost {
            Cost::Call => app.store.count_call(account, &month, self.plan.monthly_calls).await,
            Cost::Nothing => app.store.calls_so_far(account, &month).await,
        };
        let (used, stamp, is_over) = match found {
            Ok(vedette_store::Counted { used, stamp }) => (used, stamp, false),
            Err(vedette_store::Error::Exhausted { used, stamp }) => (used, stamp, true),
            Err(cause) => return Err(cause.into()),
        };
        let exhausted = self.note(app, standing, self.usage(used));
        if !is_over {
            standing.charge = (cost == Cost::Call).then_some(Charge { account, at: self.now });
            return Ok(Counted { stamp, admitted: Ok(()) });
        }
        let wait = longest(self.now, Duration::ZERO, standing, exhausted);
        let refused = month_over(self.payer.edition, self.plan, wait);
        Ok(Counted { stamp, admitted: Err(refused) })
    }

    /// Its window is full: the month is told as it stands, and what it says is the longer wait. A
    /// request that costs no call does not wait for the month.
    async fn refuse(
        &self,
        app: &App,
        standing: &mut Standing,
        cost: Cost,
        window: Duration,
    ) -> Result<Counted> {
        let (account, month) = (self.payer.account.id, quota::month(self.now));
        let (usage, stamp) = match app.limits.recent.used(account, &month, self.now) {
            Some(usage) => (usage, self.payer.stamp),
            None => {
                let so_far = app.store.calls_so_far(account, &month).await?;
                (self.usage(so_far.used), so_far.stamp)
            }
        };
        let exhausted = self.note(app, standing, usage).filter(|_| cost == Cost::Call);
        let wait = longest(self.now, window, standing, exhausted);
        // What takes longest is what there is something to do about.
        let refused = match exhausted {
            Some(_) => month_over(self.payer.edition, self.plan, wait),
            None => {
                let qps = self.plan.qps;
                over(wait, &format!("more than {qps} requests of this account in 10 s"))
            }
        };
        Ok(Counted { stamp, admitted: Err(refused) })
    }

    /// What was used of the month. Its last call leaves none to a request that its address refuses.
    fn usage(&self, used: u64) -> Usage {
        let exhausted = (used >= self.plan.monthly_calls).then(|| quota::next_month(self.now));
        Usage { at: self.now, month: quota::month(self.now), used, exhausted }
    }

    /// Tells it in the headers and remembers it; answers until when the month is used up, if it is.
    fn note(&self, app: &App, standing: &mut Standing, usage: Usage) -> Option<Timestamp> {
        let (limit, exhausted) = (self.plan.monthly_calls, usage.exhausted);
        // After a downgrade more may be used than there is.
        standing.month = Month { limit, used: usage.used.min(limit) };
        let window = quota::Limit::of_plan(self.plan);
        app.limits.recent.note(self.token, self.payer.account.id, window, usage);
        exhausted
    }
}

fn longest(
    now: Timestamp,
    window: Duration,
    standing: &Standing,
    exhausted: Option<Timestamp>,
) -> Duration {
    let month = exhausted.and_then(|until| (until - now).to_std().ok()).unwrap_or_default();
    let address = standing.wait_of_address(now).unwrap_or_default();
    window.max(address).max(month)
}

/// Spec: Errors, rule 2.
fn month_over(edition: &Edition, plan: &Plan, wait: Duration) -> Error {
    let next = edition.plans.iter().find(|other| other.monthly_calls > plan.monthly_calls);
    let advice = match next {
        Some(next) => format!(
            "upgrade to the {} plan for {} calls a month, or wait for the next month",
            next.id, next.monthly_calls
        ),
        None => "there is no higher plan to upgrade to; the next month brings new calls".to_owned(),
    };
    Error::Limited {
        retry_after: quota::whole_seconds(wait),
        message: format!(
            "the {} calls that the {} plan has a month are used up; {advice}",
            plan.monthly_calls, plan.id
        ),
    }
}

/// The credential, and for which account it is used (`X-Vedette-Account`).
fn credential(headers: &HeaderMap, address: ClientAddress) -> Result<Credential<'_>> {
    let (bearer, address) = (bearer(headers)?, Some(address.0));
    let Some(named) = headers.get(ACCOUNT) else {
        return Ok(Credential { bearer, account: None, address });
    };
    let named = parse::uuid(ACCOUNT, named.to_str().unwrap_or_default())?;
    Ok(Credential { bearer, account: Some(AccountId(named)), address })
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

    #[allow(refining_impl_trait)]
    async fn extract(_req: &'ex mut Request, depot: &'ex mut Depot) -> Result<Self> {
        Ok(Self(app(depot)))
    }
}

impl<'ex> Extractible<'ex> for Caller {
    fn metadata() -> &'static Metadata {
        static METADATA: Metadata = Metadata::new("Caller");
        &METADATA
    }

    #[allow(refining_impl_trait)]
    async fn extract(_req: &'ex mut Request, depot: &'ex mut Depot) -> Result<Self> {
        let caller = depot.get_typed::<Self>();
        Ok(caller.map_err(|_| anyhow::anyhow!("a private handler on an open route"))?.clone())
    }
}

/// Somebody in a team says with it that their own account is meant.
const ACCOUNT: &str = "X-Vedette-Account";
