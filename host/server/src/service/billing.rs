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
    billing::{Billing, NewCheckout, Offer},
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
    let success_url = match &app.config.payments.success_url {
        Some(url) => url.to_string(),
        None => format!("{}{}/docs", app.origin, caller.edition.prefix),
    };
    let order = Order {
        product,
        plan: plan.id,
        cycle: wanted.cycle,
        email: wanted.email.as_deref().unwrap_or(&account.email),
        account: account.id,
        success_url: &success_url,
    };
    let page = provider.checkout(&order).await;
    Ok(page.with_context(|| format!("no checkout of the {} plan", plan.id))?)
}

/// What was cancelled for an account that is to be deleted.
#[derive(Debug, Default)]
pub(crate) struct Cancelled {
    /// The version of its billing that this was decided from.
    pub(crate) version: u64,
    /// By their ids; none = all that its customer had.
    subscriptions: Vec<Option<String>>,
}

/// Cancels each subscription of an account that is not known to be over, once, before the account
/// is deleted. Does nothing, and needs no provider, if the account never paid or every subscription
/// is over, or if its billing is unchanged since the last cancel (`done`).
///
/// # Errors
/// `NotConfigured` without a provider for a subscription that is to be cancelled, `Internal` if the
/// provider does not cancel it: then the account must stay, or its owner would go on being charged.
pub(crate) async fn cancel(app: &App, account: AccountId, done: &mut Cancelled) -> Result<()> {
    let billing = app.store.billing(account).await?;
    if done.version == billing.version {
        return Ok(());
    }
    for subscription in billing.charged() {
        let was_cancelled = done.subscriptions.contains(&subscription.id);
        let payer = subscription.customer_id.as_ref().or(billing.customer_id.as_ref());
        let ended = Ended {
            customer: payer.map(String::as_str),
            subscription: subscription.id.as_deref(),
            is_replaced: billing.is_replaced(subscription),
        };
        let is_left = match ended.subscription {
            Some(_) => !was_cancelled,
            None => may_pay(app, account, &billing, was_cancelled).await?,
        };
        if is_left && end(app, account, &ended).await? {
            done.subscriptions.push(subscription.id.clone());
        }
    }
    done.version = billing.version;
    Ok(())
}

/// Has the provider end a subscription, or all that a customer has. Answers whether a provider was
/// asked: without one configured none can be, which is an error only for a known subscription.
async fn end(app: &App, account: AccountId, ended: &Ended<'_>) -> Result<bool> {
    let provider = match Provider::of(app) {
        Ok(provider) => provider,
        Err(missing) if ended.subscription.is_some() => return Err(missing),
        Err(missing) => {
            tracing::warn!(
                account_id = %account,
                "nothing was cancelled for account {account}: {missing}"
            );
            return Ok(false);
        }
    };
    let cancelled = provider.cancel(ended).await;
    cancelled
        .with_context(|| format!("the subscription of account {account} was not cancelled"))?;
    Ok(true)
}

/// Whether the customer may still be charged for a subscription we do not know by id: not without a
/// customer. Unless it is what pays for the account's plan, not when all was just cancelled either
/// (what we heard since is about that), and not when the customer pays for another account, which
/// would lose what it pays for.
async fn may_pay(
    app: &App,
    account: AccountId,
    billing: &Billing,
    was_cancelled: bool,
) -> Result<bool> {
    let Some(customer) = &billing.customer_id else { return Ok(false) };
    let Some(account) = app.store.account(account).await? else { return Ok(false) };
    let is_present = billing.present().is_some_and(|present| present.id.is_none());
    if is_present && account.plan != plan::edition_of(&account)?.lowest_plan().id {
        return Ok(true);
    }
    Ok(!was_cancelled && app.store.account_of_customer(customer).await? == Some(account.id))
}

/// What the operator sells of an edition.
fn offer<'a>(app: &'a App, edition: &'static Edition) -> Offer<'a> {
    Offer { edition, products: &app.config.payments.products }
}
