//! Billing: upgrades through the payment provider's checkout, and what it tells of them.
//!
//! A checkout only begins at the provider; the plan changes when the provider's event says that it
//! was paid ([`receive`]).
//!
//! *Invariant:* no answer of the provider changes an account, only an event that it signed.
//! *Invariant:* the provider is reached with the operator's key alone, and no log shows it.

mod event;
mod provider;

use anyhow::Context;
use serde::Serialize;
use serde_json::Value;
use vedette_model::{
    AccountId, Edition,
    billing::{NewCheckout, Offer},
};

use self::provider::{Ended, Order, Payments, Provider};
use super::plan;
use crate::{App, Caller, Error, Result};

pub use event::{EventKey, receive};

/// What `GET /billing/status` answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    pub plan: String,
    /// Who the account is to the payment provider; none before its first purchase.
    #[serde(rename = "customerId")]
    pub customer_id: Option<String>,
}

/// Which plan the caller's account is on, and as whom it pays.
pub async fn status(app: &App, caller: &Caller) -> Result<Status> {
    let billing = app.store.billing(caller.account.id).await?;
    Ok(Status { plan: caller.account.plan.clone(), customer_id: billing.customer_id })
}

/// Begins an upgrade at the payment provider; answers the address at which it is paid.
///
/// # Errors
/// `Invalid` for a plan that cannot be bought or is no upgrade, `NotConfigured` without a provider
/// or a product for the plan, `Internal` where the provider does not do its part.
pub async fn checkout(app: &App, caller: &Caller, body: &Value) -> Result<String> {
    let account = &caller.account;
    let wanted = NewCheckout::parse(body, caller.edition)?;
    wanted.upgrades(caller.edition, &account.plan)?;
    let provider = Provider::of(app)?;
    let plan = wanted.plan;
    let product = offer(app, caller.edition).product(plan, wanted.cycle).ok_or_else(|| {
        Error::NotConfigured(format!(
            "no product for the {} plan is configured; the operator names one in payments.products",
            plan.id
        ))
    })?;
    let order = Order {
        product,
        plan: plan.id,
        cycle: wanted.cycle,
        email: wanted.email.as_deref().unwrap_or(&account.email),
        account: account.id,
        success_url: &app.origin,
    };
    let page = provider.checkout(&order).await;
    Ok(page.with_context(|| format!("no checkout of the {} plan", plan.id))?)
}

/// What was cancelled for an account that is to be deleted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cancelled {
    /// The version of its billing that this was decided from.
    pub(crate) version: u64,
    /// All that its customer had, not one subscription alone.
    is_all: bool,
}

/// Ends what an account pays for, before the account is deleted. One that never paid has nothing to
/// end; nor has one whose subscription has ended, which takes no provider, nor one whose billing still
/// has the version at which that was `done`.
///
/// # Errors
/// `NotConfigured` without a provider for a subscription that is to be cancelled, `Internal` where
/// the provider does not do it: then the account must stay, or it would be paid for on.
pub(crate) async fn cancel(
    app: &App,
    account: AccountId,
    done: Option<Cancelled>,
) -> Result<Cancelled> {
    let billing = app.store.billing(account).await?;
    let is_all = done.is_some_and(|done| done.is_all);
    let as_before = Cancelled { version: billing.version, is_all };
    if done.is_some_and(|done| done.version == billing.version) || billing.ended_at.is_some() {
        return Ok(as_before);
    }
    let ended = Ended {
        customer: billing.customer_id.as_deref(),
        subscription: billing.subscription_id.as_deref(),
    };
    let is_known = ended.subscription.is_some();
    if !is_known && !may_pay(app, account, ended.customer, is_all).await? {
        return Ok(as_before);
    }
    let provider = match Provider::of(app) {
        Ok(provider) => provider,
        Err(missing) if is_known => return Err(missing),
        Err(missing) => {
            tracing::warn!(
                account_id = %account,
                "nothing was cancelled for account {account}: {missing}"
            );
            return Ok(as_before);
        }
    };
    let cancelled = provider.cancel(&ended).await;
    cancelled
        .with_context(|| format!("the subscription of account {account} was not cancelled"))?;
    Ok(Cancelled { is_all: is_all || !is_known, ..as_before })
}

/// Whether something may be paid for an account whose subscription nobody has told. Nothing is
/// without a customer. Nor for an account on the lowest plan, where all was cancelled a moment ago
/// and that is what was told since, or where the customer has bought for another account, which
/// would lose what it pays for.
async fn may_pay(
    app: &App,
    account: AccountId,
    customer: Option<&str>,
    was_cancelled: bool,
) -> Result<bool> {
    let Some(customer) = customer else { return Ok(false) };
    let Some(account) = app.store.account(account).await? else { return Ok(false) };
    if account.plan != plan::edition_of(&account)?.lowest_plan().id {
        return Ok(true);
    }
    Ok(!was_cancelled && app.store.account_of_customer(customer).await? == Some(account.id))
}

/// What the operator sells of an edition.
fn offer<'a>(app: &'a App, edition: &'static Edition) -> Offer<'a> {
    Offer { edition, products: &app.config.payments.products }
}
