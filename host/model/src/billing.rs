//! Billing: what can be bought, what the payment provider tells of it, and what that does to an
//! account.
//!
//! The provider's events come late, twice and out of order. [`PaymentEvent`] reads one, [`judge`]
//! says what it changes, and the store makes that real once for each event id.
//!
//! Each event is kept with the [`Subscription`] that it is about, and which plan is paid for is read
//! off what is known of all of them: the plan of the one that was bought last, while it goes on.
//!
//! *Invariant:* events that name their subscription and say when they happened have the same
//! outcome in any order, except two purchases at one moment, and two plans given for a subscription
//! at one moment: there the one that arrives last counts. So it does among other events, whose
//! order nobody can tell.

mod checkout;
mod event;
mod judge;
mod place;
mod subscription;

use std::collections::BTreeMap;

pub use self::checkout::{Cycle, NewCheckout};
pub use self::event::{EventKind, PaymentEvent, Told};
pub use self::judge::{Effect, Mail, judge};
pub use self::subscription::{Stop, Subscription};
use crate::{Edition, Plan, Timestamp};

/// How an account pays, as far as the provider's events have told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Billing {
    /// Who the account is to the provider.
    pub customer_id: Option<String>,
    /// First those whose purchase has not been told, then the others in the order in which they were
    /// bought; [`LONGEST`](Self::LONGEST) at most.
    pub subscriptions: Vec<Subscription>,
    /// When the payment was last taken back. What was paid later is not.
    pub revoked_at: Option<Timestamp>,
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
