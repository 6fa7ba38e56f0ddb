//! Billing: what is known of how an account pays, and the events of the payment provider that were
//! taken.
//!
//! *Invariant:* an event is taken once, however often and on however many nodes it arrives: its id
//! is a row's, written with all that the event changes, and kept for ever.
//! *Invariant:* what an event changes was judged from the row that it changes: the version is
//! compared.

use surrealdb::types::{RecordId, SurrealValue};
use vedette_model::billing::{Billing, Effect, Mail, PaymentEvent, Stop, Subscription};
use vedette_model::{AccountId, Delivery, Timestamp};

use crate::error::Result;
use crate::team::TELL_TEAM;
use crate::tx::Binds;
use crate::{Store, delivery, key};

/// What a payment event is judged from.
#[derive(Clone, Debug, PartialEq)]
pub struct BillingContext {
    pub billing: Billing,
    /// The plan that the account is on; none where there is no such account.
    pub plan: Option<String>,
    /// The event was taken before.
    pub is_taken: bool,
}

#[derive(SurrealValue)]
struct BillingRow {
    version: u64,
    customer: Option<RecordId>,
    subscriptions: Vec<SubscriptionRow>,
    revoked_at: Option<Timestamp>,
}

#[derive(SurrealValue)]
struct SubscriptionRow {
    id: Option<String>,
    customer_id: Option<String>,
    plan: Option<String>,
    planned_at: Option<Timestamp>,
    bought_at: Option<Timestamp>,
    paid_at: Option<Timestamp>,
    stopped: Option<StopRow>,
}

#[derive(SurrealValue)]
struct StopRow {
    at: Option<Timestamp>,
    is_over: bool,
}

#[derive(SurrealValue)]
struct ContextRow {
    billing: Option<BillingRow>,
    plan: Option<String>,
    is_taken: bool,
}

impl Store {
    /// Nothing but defaults where no event was ever taken for the account.
    pub async fn billing(&self, account: AccountId) -> Result<Billing> {
        let row: Option<BillingRow> =
            self.read("RETURN $id.*", Binds::new().with("id", key::billing(account))).await?;
        read(row)
    }

    /// The account whose purchase was the last one of a customer of the payment provider.
    pub async fn account_of_customer(&self, customer: &str) -> Result<Option<AccountId>> {
        let binds = Binds::new().with("customer", key::billing_customer(customer));
        let account: Option<RecordId> = self.read("RETURN $customer.account", binds).await?;
        account.map(|account| key::uuid_at(&account, 0).map(AccountId)).transpose()
    }

    /// The account that a subscription of the payment provider is known to belong to.
    pub async fn account_of_subscription(&self, subscription: &str) -> Result<Option<AccountId>> {
        let binds = Binds::new().with("subscription", subscription);
        let found: Vec<RecordId> = self.read(BY_SUBSCRIPTION, binds).await?;
        found.first().map(|billing| key::uuid_at(billing, 0).map(AccountId)).transpose()
    }

    /// How an account pays, which plan it is on, and whether this event was taken before.
    pub async fn billing_context(&self, account: AccountId, event: &str) -> Result<BillingContext> {
        let statement = "RETURN {
                billing: $id.*, plan: $account.plan, is_taken: record::exists($taken)
            }";
        let binds = Binds::new()
            .with("id", key::billing(account))
            .with("account", key::account(account))
            .with("taken", key::payment_event(event));
        let row: ContextRow = self.read(statement, binds).await?;
        let (plan, is_taken) = (row.plan, row.is_taken);
        Ok(BillingContext { billing: read(row.billing)?, plan, is_taken })
    }

    /// Takes an event with all that it does: what is known of the account's payments, the plan that it
    /// moves to, and the letters about it. Without an effect only the event is noted; where the account
    /// stays on its plan, its row is left as it is.
    ///
    /// `expected` is the version that was judged from; `Stale` when it has moved on: read again,
    /// judge again. `Duplicate` when the event was taken before, `Gone` when there is no such
    /// account.
    pub async fn take_payment_event(
        &self,
        account: AccountId,
        event: &PaymentEvent,
        expected: u64,
        effect: Option<&Effect>,
        letters: &[Delivery],
    ) -> Result<()> {
        let _turn = self.turn(account.0).await;
        let binds = Binds::new()
            .with("account", key::account(account))
            .with("billing", key::billing(account))
            .with("taken", key::payment_event(&event.id))
            .with("expected", expected)
            .with("kind", event.kind.as_str())
            .with("arrived_at", event.arrived_at)
            .with("changed", effect.is_some());
        let Some(Effect { billing, plan, mail }) = effect else {
            return self.write(TAKE, binds).await;
        };
        // A purchase that comes late and grants nothing takes no customer from another account.
        let bought = matches!(mail, Some(Mail::Purchased(_))) && event.customer_id.is_some();
        let subscriptions: Vec<_> = billing.subscriptions.iter().map(SubscriptionRow::of).collect();
        let mut binds = binds
            .with("customer", billing.customer_id.as_deref().map(key::billing_customer))
            .with("bought", bought)
            .with("subscriptions", subscriptions)
            .with("revoked_at", billing.revoked_at)
            .with("letters", delivery::letters(letters, &self.inner.seal)?);
        let Some(plan) = plan else {
            return self.write(&format!("{TAKE}{CHANGE}{}", delivery::QUEUE_LETTERS), binds).await;
        };
        binds.bind("plan", plan.id);
        let unit = format!("{TAKE}{CHANGE}{MOVE}{TELL_TEAM}\n{}", delivery::QUEUE_LETTERS);
        self.write(&unit, binds).await?;
        self.inner.known.forget_account(account);
        Ok(())
    }
}

fn read(row: Option<BillingRow>) -> Result<Billing> {
    let Some(row) = row else { return Ok(Billing::default()) };
    Ok(Billing {
        customer_id: row.customer.map(|customer| key::text_at(&customer, 0)).transpose()?,
        subscriptions: row.subscriptions.into_iter().map(SubscriptionRow::read).collect(),
        revoked_at: row.revoked_at,
        version: row.version,
    })
}

impl SubscriptionRow {
    fn of(known: &Subscription) -> Self {
        let stopped = known.stopped.map(|Stop { at, is_over }| StopRow { at, is_over });
        Self {
            id: known.id.clone(),
            customer_id: known.customer_id.clone(),
            plan: known.plan.clone(),
            planned_at: known.planned_at,
            bought_at: known.bought_at,
            paid_at: known.paid_at,
            stopped,
        }
    }

    fn read(self) -> Subscription {
        let stopped = self.stopped.map(|StopRow { at, is_over }| Stop { at, is_over });
        Subscription {
            id: self.id,
            customer_id: self.customer_id,
            plan: self.plan,
            planned_at: self.planned_at,
            bought_at: self.bought_at,
            paid_at: self.paid_at,
            stopped,
        }
    }
}

pub(crate) const BY_SUBSCRIPTION: &str =
    "SELECT VALUE id FROM billing WHERE subscriptions.*.id CONTAINS $subscription LIMIT 1";

/// The account is read for update: in conflict with its deletion.
const TAKE: &str = "IF record::exists($taken) { THROW 'duplicate' };
LET $found = (SELECT VALUE id FROM ONLY $account FOR UPDATE);
IF $found = NONE { THROW 'gone' };
LET $was = $billing.version ?? 0;
IF $was != $expected { THROW 'stale' };
CREATE $taken SET kind = $kind, arrived_at = $arrived_at, changed = $changed RETURN NONE;";

/// A customer belongs to the account that bought last, whatever we hear of another account that it
/// pays for; and an account has one customer: the previous one no longer leads anywhere.
const CHANGE: &str = "
LET $left = $billing.customer;
IF $left != NONE AND $left != $customer { DELETE $left WHERE account = $account RETURN NONE };
IF $customer != NONE AND ($bought OR $customer.account = NONE) {
    UPSERT $customer SET account = $account RETURN NONE
};
UPSERT $billing SET version = $expected + 1, customer = $customer,
    subscriptions = $subscriptions, revoked_at = $revoked_at RETURN NONE;
";

/// If the plan stays, nobody need be told, and what an operator set meanwhile stands.
const MOVE: &str = "UPDATE $account SET plan = $plan, stamp += 1 RETURN NONE;
";

/// Part of the unit that deletes an account, with its record id as `$account`: how it paid is
/// forgotten, and its customer leads nowhere. The events that were taken stay.
pub(crate) const FORGET: &str = "LET $paid_by = type::record('billing', $account);
LET $paying_customer = $paid_by.customer;
IF $paying_customer != NONE { DELETE $paying_customer WHERE account = $account RETURN NONE };
DELETE $paid_by RETURN NONE;
";
