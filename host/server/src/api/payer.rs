//! A request held against the limits of the account that pays for it: its window of ten seconds
//! first, its month last, so that a 429 never costs a call (decisions: monthly calls).
//!
//! *Invariant:* what is refused says how long to wait for every limit that is used up, not just for
//! the one that was met first.

use std::time::Duration;

use salvo::Depot;
use vedette_model::{
    Account, Edition, Plan, Timestamp,
    quota::{self, Admitted, Refused},
};
use vedette_store::Stamp;

use super::{
    limit::{Charge, Month, Standing, over},
    trace,
};
use crate::{
    App, Caller, Error, Result,
    limits::{TokenHash, Usage},
    service,
};

/// What a request costs its account, beside its place in the windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    /// One of the month's calls.
    Call,
    /// One of them while there are any: nobody waits for the next month to buy more, or to leave.
    CallIfLeft,
    /// Nothing: how MCP's handshake and listings are counted (decisions: monthly calls).
    Nothing,
}

/// Whose limits a request is held against.
#[derive(Clone, Copy)]
pub(super) struct Payer<'a> {
    pub(super) account: &'a Account,
    pub(super) edition: &'static Edition,
}

impl<'a> From<&'a Caller> for Payer<'a> {
    fn from(caller: &'a Caller) -> Self {
        Self { account: &caller.account, edition: caller.edition }
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
pub(super) struct Counted {
    /// Where the account stood then.
    pub(super) stamp: Stamp,
    /// Its place in the account's window ([`Admitted::at`]); none where there was none.
    pub(super) placed: Option<Timestamp>,
    pub(super) admitted: Result<()>,
}

/// Holds a request against the limits of its account.
pub(super) async fn count<'a>(
    app: &App,
    payer: impl Into<Payer<'a>>,
    token: &str,
    standing: &mut Standing,
    cost: Cost,
) -> Result<Counted> {
    let asked = Asked::new(app, payer.into(), token)?;
    match asked.take_place(app) {
        Ok(place) => asked.admit(app, standing, cost, place).await,
        Err(refused) => Box::pin(asked.refuse(app, standing, cost, refused.retry_after)).await,
    }
}

impl Standing {
    /// A call that was counted in the month, held against another plan than it was counted under.
    /// Its place in the window was given back.
    pub(super) fn under(
        &mut self,
        app: &App,
        caller: &Caller,
        token: &str,
        cost: Cost,
    ) -> Result<()> {
        let asked = Asked::new(app, caller.into(), token)?;
        let used = self.month.used;
        let exhausted = asked.note(app, self, asked.usage(used));
        // The last call that the plan has may be this one.
        let is_over = used > asked.plan.monthly_calls && cost == Cost::Call;
        let exhausted = exhausted.filter(|_| is_over);
        match asked.take_place(app) {
            Ok(_) if exhausted.is_none() => Ok(()),
            Ok(place) => Err(asked.over(self, place.wait(asked.now), exhausted)),
            Err(refused) => Err(asked.over(self, refused.retry_after, exhausted)),
        }
    }
}

/// A request that is being held against its account's limits.
struct Asked<'a> {
    payer: Payer<'a>,
    plan: &'static Plan,
    token: TokenHash,
    now: Timestamp,
}

impl<'a> Asked<'a> {
    fn new(app: &App, payer: Payer<'a>, token: &str) -> Result<Self> {
        let plan = service::plan::of(payer.account)?;
        Ok(Self { payer, plan, token: TokenHash::of(token), now: app.clock.now() })
    }

    /// In the account's window.
    fn take_place(&self, app: &App) -> Result<Admitted, Refused> {
        let window = quota::Limit::of_plan(self.plan);
        app.limits.admit_account(self.payer.account.id, window, self.now)
    }

    /// Counts it in the month, which may be over.
    async fn admit(
        &self,
        app: &App,
        standing: &mut Standing,
        cost: Cost,
        place: Admitted,
    ) -> Result<Counted> {
        let (account, month) = (self.payer.account.id, quota::month(self.now));
        let found = match cost {
            Cost::Call | Cost::CallIfLeft => {
                app.store.count_call(account, &month, self.plan.monthly_calls).await
            }
            Cost::Nothing => Box::pin(app.store.calls_so_far(account, &month)).await,
        };
        let (used, stamp, is_over) = match found {
            Ok(vedette_store::Counted { used, stamp }) => (used, stamp, false),
            Err(vedette_store::Error::Exhausted { used, stamp }) => (used, stamp, true),
            Err(cause) => return Err(cause.into()),
        };
        let exhausted = self.note(app, standing, self.usage(used));
        if !is_over {
            standing.charge = (cost != Cost::Nothing).then_some(Charge { account, at: self.now });
        }
        let admitted = if !is_over || cost == Cost::CallIfLeft {
            Ok(())
        } else {
            // It has kept its place in the window, which may have been the last.
            Err(self.over(standing, place.wait(self.now), exhausted))
        };
        Ok(Counted { stamp, placed: Some(place.at), admitted })
    }

    /// Its window is full: the month is told as it stands, and what it says is the longer wait. A
    /// request that costs no call does not wait for the month. The store is asked each time, since
    /// the plan may have another window by now, by a change on another node.
    async fn refuse(
        &self,
        app: &App,
        standing: &mut Standing,
        cost: Cost,
        window: Duration,
    ) -> Result<Counted> {
        let (account, month) = (self.payer.account.id, quota::month(self.now));
        let so_far = app.store.calls_so_far(account, &month).await?;
        let exhausted = self.note(app, standing, self.usage(so_far.used));
        let exhausted = exhausted.filter(|_| cost == Cost::Call);
        let refused = self.over(standing, window, exhausted);
        Ok(Counted { stamp: so_far.stamp, placed: None, admitted: Err(refused) })
    }

    /// The 429 of a caller that has to wait this long for the window, and for the month if that is
    /// exhausted. It names what takes longest: that is what the caller can do something about.
    fn over(&self, standing: &Standing, window: Duration, exhausted: Option<Timestamp>) -> Error {
        let wait = longest(self.now, window, standing, exhausted);
        match exhausted {
            Some(_) => month_over(self.payer.edition, self.plan, wait),
            None => {
                let qps = self.plan.qps;
                over(wait, &format!("more than {qps} requests of this account in 10 s"))
            }
        }
    }

    /// What was used of the month. Its last call leaves none to a request that its address refuses.
    fn usage(&self, used: u64) -> Usage {
        let exhausted = (used >= self.plan.monthly_calls).then(|| quota::next_month(self.now));
        let limit = self.plan.monthly_calls;
        Usage { month: quota::month(self.now), limit, used, exhausted }
    }

    /// Tells it in the headers and remembers it; answers until when the month is used up, if it is.
    fn note(&self, app: &App, standing: &mut Standing, usage: Usage) -> Option<Timestamp> {
        let (limit, exhausted) = (self.plan.monthly_calls, usage.exhausted);
        standing.month = Month { limit, used: usage.used };
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
        None => "there is no higher plan to upgrade to; wait for the next month".to_owned(),
    };
    Error::Limited {
        retry_after: quota::whole_seconds(wait),
        message: format!(
            "this month's {} calls of the {} plan are used up; {advice}",
            plan.monthly_calls, plan.id
        ),
    }
}
