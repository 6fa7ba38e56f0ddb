//! What an event does to an account (spec: Variant B inbound events; decisions: team edition).
//!
//! An event has its word about one subscription, or about the account's payment; then the plan is
//! read off. It changes the account where it says how things stand now, or where it changes what is
//! read off.
//!
//! *Invariant:* events of another subscription than the present one neither grant nor take away: one
//! that was replaced is the present one again only where it is paid for once the other is over.
//! *Invariant:* once the payment was taken back only another one grants a plan again: events of the
//! subscription do so where they say that they are newer.
//! *Invariant:* a change of plan changes a plan that is paid for: after an end it grants none, unless
//! it says that it is newer.

use super::{Billing, EventKind, Offer, PaymentEvent};
use crate::{Invalid, Plan};

/// What becomes of an account.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// What is known of its payments from now on; the version is still the one that it was judged
    /// from.
    pub billing: Billing,
    /// The plan that it moves to; none where it stays on the one that it is on.
    pub plan: Option<&'static Plan>,
    pub mail: Option<Mail>,
}

/// What its owner is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mail {
    Purchased(&'static Plan),
    Activated(&'static Plan),
    Canceled,
    Paused,
    Expired,
    Revoked,
}

/// Says what an event changes for an account that is on a plan, by the plan's id; nothing where all
/// stays as it is.
///
/// # Errors
/// For an event that pays for something which nobody can tell: its product is not in
/// `payments.products`, and it carries no plan.
pub fn judge(
    state: &Billing,
    on: &str,
    event: &PaymentEvent,
    offer: &Offer<'_>,
) -> Result<Option<Effect>, Invalid> {
    let mut billing = state.clone();
    let counts = match event.kind {
        EventKind::CheckoutCompleted
        | EventKind::SubscriptionActive
        | EventKind::SubscriptionPaid
        | EventKind::SubscriptionUpdate => billing.pay(event, offer)?,
        EventKind::SubscriptionPaused => billing.stop(event, false),
        EventKind::SubscriptionCanceled | EventKind::SubscriptionExpired => {
            billing.stop(event, true)
        }
        EventKind::RefundCreated | EventKind::DisputeCreated => billing.take_back(event),
    };
    billing.forget_oldest();
    let pays_for = billing.plan(offer);
    // The operator may have set another since: what changes nothing lets that stand.
    let moves = counts || pays_for != state.plan(offer);
    let plan = Some(pays_for).filter(|plan| moves && plan.id != on);
    let mail = mail(event.kind, pays_for).filter(|_| counts);
    let changes = plan.is_some() || mail.is_some() || billing != *state;
    Ok(changes.then_some(Effect { billing, plan, mail }))
}

fn mail(kind: EventKind, plan: &'static Plan) -> Option<Mail> {
    match kind {
        EventKind::CheckoutCompleted => Some(Mail::Purchased(plan)),
        EventKind::SubscriptionActive => Some(Mail::Activated(plan)),
        EventKind::SubscriptionPaid | EventKind::SubscriptionUpdate => None,
        EventKind::SubscriptionCanceled => Some(Mail::Canceled),
        EventKind::SubscriptionPaused => Some(Mail::Paused),
        EventKind::SubscriptionExpired => Some(Mail::Expired),
        EventKind::RefundCreated | EventKind::DisputeCreated => Some(Mail::Revoked),
    }
}

/// What an event says; each answers whether that is how things stand now.
impl Billing {
    fn pay(&mut self, event: &PaymentEvent, offer: &Offer<'_>) -> Result<bool, Invalid> {
        let at = event.created_at;
        let is_purchase = event.kind == EventKind::CheckoutCompleted;
        let bought_last = self.present().and_then(|present| present.plan.clone());
        let told = told_plan(event, offer);
        let revives = self.revives(event.kind);

        let mut place = self.place_of(event);
        let subscription = &mut self.subscriptions[place];
        let is_doubtful = event.subscription_id.is_none() && subscription.stays_over(at, revives);
        // Of one that was bought already it may as well be the purchase of the next.
        let is_its_own = !is_doubtful || subscription.bought_at.is_none();
        if is_its_own {
            subscription.pay(at, revives);
        }
        match told {
            Ok(Some(plan)) => subscription.set_plan(plan.id, at),
            Ok(None) if subscription.plan.is_none() => subscription.plan = bought_last,
            Ok(None) | Err(_) => {}
        }
        if is_purchase && at.is_none() {
            self.revoked_at = None;
        }
        let is_instead = at.is_none() && revives && self.goes_on_instead(place);
        if is_instead || (is_purchase && is_its_own) {
            place = self.buy(place, at);
        }
        let is_present = self.present_place() == Some(place);
        if let Some(customer) = &event.customer_id
            && (is_present || self.customer_id.is_none())
        {
            self.customer_id = Some(customer.clone());
        }
        if is_doubtful {
            self.doubt(place);
            return Ok(false);
        }
        let is_taken_back = self.is_taken_back();
        let subscription = &self.subscriptions[place];
        let newest = if is_purchase { subscription.bought_at } else { subscription.paid_at };
        let is_newest = at.is_none() || at == newest;
        let counts = is_newest && is_present && subscription.goes_on() && !is_taken_back;
        let is_sold = subscription.plan.as_deref().is_some_and(|id| offer.plan(id).is_some());
        if counts && !(told.is_ok() && is_sold) {
            return Err(untold(event));
        }
        // Where none was named, a later event of it may tell what it is of.
        if !is_present && told.is_err() && self.is_foreign(place) {
            self.subscriptions.remove(place);
        }
        Ok(counts)
    }

    fn stop(&mut self, event: &PaymentEvent, is_over: bool) -> bool {
        let at = event.created_at;
        let place = self.place_of(event);
        let subscription = &mut self.subscriptions[place];
        subscription.stop(at, is_over);
        let newest = subscription.stopped.and_then(|stop| stop.at);
        let is_newest = at.is_none() || at == newest;
        is_newest && !subscription.goes_on() && self.present_place() == Some(place)
    }

    /// Without a moment of its own it counts from its arrival on.
    fn take_back(&mut self, event: &PaymentEvent) -> bool {
        let at = Some(event.created_at.unwrap_or(event.arrived_at));
        let is_newest = at >= self.revoked_at;
        self.revoked_at = self.revoked_at.max(at);
        is_newest && self.is_taken_back()
    }

    /// Whether what has stopped goes on with an event that does not say when it happened. Providers
    /// tell of every end as a change of the subscription as well.
    fn revives(&self, kind: EventKind) -> bool {
        let is_update = kind == EventKind::SubscriptionUpdate;
        kind == EventKind::CheckoutCompleted || (!is_update && !self.is_taken_back())
    }
}

/// The plan that an event names: its product's. Where it names none, or the operator has told no
/// products, the plan that our checkout gave along: of a product that is not sold here it would be
/// the plan of another purchase. None where a subscription goes on and names neither.
fn told_plan(event: &PaymentEvent, offer: &Offer<'_>) -> Result<Option<&'static Plan>, Invalid> {
    let product = event.product_id.as_deref();
    let of_product = product.and_then(|id| offer.plan_of_product(id));
    let is_carried = product.is_none() || offer.products.is_empty();
    let carried = || event.plan_id.as_deref().filter(|_| is_carried).and_then(|id| offer.plan(id));
    let told = of_product.or_else(carried);
    let goes_on = event.kind != EventKind::CheckoutCompleted && product.is_none();
    if told.is_some() || goes_on { Ok(told) } else { Err(untold(event)) }
}

fn untold(event: &PaymentEvent) -> Invalid {
    let reason = match &event.product_id {
        Some(id) => format!("is not sold here: payments.products lacks {id}"),
        None => "is required: without it payments.products names no plan".to_owned(),
    };
    Invalid::new("product.id", reason)
}
