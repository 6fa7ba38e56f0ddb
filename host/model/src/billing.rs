//! Billing: what can be bought, what the payment provider tells of it, and what that does to an
//! account.
//!
//! The provider's events come late, twice and out of order. [`PaymentEvent`] reads one, [`judge`]
//! says what it changes, and the store makes that real once for each event id.
//!
//! *Invariant:* a late event never grants again what a newer one revoked (decisions: team edition), nor
//! does one of the same moment. The end of a subscription revokes nothing of the one that replaced it.

mod checkout;
mod event;
mod judge;

use std::collections::BTreeMap;

pub use self::checkout::{Cycle, NewCheckout};
pub use self::event::{EventKind, PaymentEvent, Told};
pub use self::judge::{Effect, Mail, judge};
use crate::{Edition, Plan, Timestamp};

/// How an account pays, as far as the provider's events have told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Billing {
    /// Who the account is to the provider.
    pub customer_id: Option<String>,
    /// What is to be cancelled with the account; none once it has ended.
    pub subscription_id: Option<String>,
    /// The plan that was paid for last: that of events which name no product.
    pub plan: Option<String>,
    /// The moment of the newest event that changed something. Events without a moment of their own
    /// count in the order in which they arrive.
    pub newest_at: Option<Timestamp>,
    /// Since when the payment is taken back; none again after the next one.
    pub revoked_at: Option<Timestamp>,
    /// Since when nothing is left to cancel: the subscription was canceled, or it has expired. None
    /// again once one goes on or is paused, or may go on: what is told late of another grants nothing,
    /// but that one is charged. A payment that is taken back ends no subscription.
    pub ended_at: Option<Timestamp>,
    /// The one that ended, where that is known.
    pub ended_subscription_id: Option<String>,
    /// The newest moment before its end at which it was known to be the present one, or another one
    /// stopped. Another that is paid for since then took its place, however late that is told.
    pub succeeded_after: Option<Timestamp>,
    /// Grows with every change; 0 = none was ever stored.
    pub version: u64,
}

/// The plans that can be bought, and the provider's products for them.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    pub edition: &'static Edition,
    /// Product ids, each with the plan that it buys.
    pub products: &'a BTreeMap<String, String>,
}

/// The plans of an edition that cost something: all but the lowest.
pub fn paid_plans(edition: &Edition) -> &'static [Plan] {
    edition.plans.get(1..).unwrap_or_default()
}

/// The ids of [`paid_plans`], for the sentence that refuses another.
pub fn plan_names(edition: &Edition) -> String {
    paid_plans(edition).iter().map(|plan| plan.id).collect::<Vec<_>>().join(", ")
}

impl<'a> Offer<'a> {
    /// A plan that can be bought.
    pub fn plan(&self, id: &str) -> Option<&'static Plan> {
        paid_plans(self.edition).iter().find(|plan| plan.id == id)
    }

    /// What the provider sells for a plan: the product whose name fits the cycle, else the first.
    pub fn product(&self, plan: &Plan, cycle: Cycle) -> Option<&'a str> {
        let wanted = plan.id;
        let products = self.products.iter().filter(|(_, buys)| *buys == wanted);
        let ids: Vec<&'a str> = products.map(|(id, _)| id.as_str()).collect();
        let fitting = ids.iter().find(|id| Cycle::of_product(id) == cycle);
        fitting.or(ids.first()).copied()
    }

    fn plan_of_product(&self, product: &str) -> Option<&'static Plan> {
        self.plan(self.products.get(product)?)
    }
}

#[cfg(test)]
mod tests;
