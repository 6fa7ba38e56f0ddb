//! What an event does to an account (spec: Variant B inbound events; decisions: team edition).
//!
//! *Invariant:* an event that says when it happened changes nothing after a newer one did; but for
//! those of the subscription that took the place of the one whose end is newer.
//! *Invariant:* of two events of one moment the one that takes a plan away counts more than the one
//! that grants it, whichever comes first; but for the end of a subscription that another replaces.
//! *Invariant:* once a payment was taken back only another one grants a plan again: events of the
//! subscription do so where they say that they are newer.
//! *Invariant:* which subscription is the account's present one, a purchase says; events of another
//! neither grant nor take away.
//! *Invariant:* a change of plan changes a plan that is paid for: after an end it grants none, unless
//! it says that it is newer.
//! *Invariant:* after an end nothing is left to cancel until anything else is told of than the one
//! that ended, even where that grants nothing.

use super::{Billing, EventKind, Offer, PaymentEvent};
use crate::{Invalid, Plan, Timestamp};

/// What becomes of an account.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// What is known of its payments from now on; the version is still the one that it was judged
    /// from.
    pub billing: Billing,
    /// The plan that it is on from now on.
    pub plan: &'static Plan,
    pub mail: Option<Mail>,
}

/// What its owner is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mail {
    Purchased,
    Activated,
    Canceled,
    Paused,
    Expired,
    Revoked,
}

/// Says what an event changes for an account that is on a plan, by the plan's id; nothing where what
/// was told before counts for more.
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
    let change = change(state, on, event, offer)?;
    Ok(change.or_else(|| doubt(state, on, event, offer)))
}

fn change(
    state: &Billing,
    on: &str,
    event: &PaymentEvent,
    offer: &Offer<'_>,
) -> Result<Option<Effect>, Invalid> {
    if is_late(state, event) {
        return Ok(None);
    }
    match event.kind {
        kind if grants(kind) && is_outdone(state, on, event, offer) => Ok(None),
        EventKind::CheckoutCompleted => grant(state, event, offer, Some(Mail::Purchased)),
        EventKind::SubscriptionActive => resume(state, event, offer, Some(Mail::Activated)),
        EventKind::SubscriptionPaid => resume(state, event, offer, None),
        // Providers tell of every end as a change of the subscription as well.
        EventKind::SubscriptionUpdate if has_ended(state, on, event, offer) => Ok(None),
        EventKind::SubscriptionUpdate => resume(state, event, offer, None),
        EventKind::SubscriptionPaused
        | EventKind::SubscriptionCanceled
        | EventKind::SubscriptionExpired
            if is_of_another(state, event) =>
        {
            Ok(pass_over(state, on, event, offer))
        }
        EventKind::SubscriptionPaused => Ok(Some(stop(state, event, offer, Mail::Paused))),
        EventKind::SubscriptionCanceled => Ok(Some(end(state, event, offer, Mail::Canceled))),
        EventKind::SubscriptionExpired => Ok(Some(end(state, event, offer, Mail::Expired))),
        EventKind::RefundCreated | EventKind::DisputeCreated => {
            Ok(Some(revoke(state, event, offer)))
        }
    }
}

fn is_late(state: &Billing, event: &PaymentEvent) -> bool {
    let late = event.created_at.zip(state.newest_at).filter(|(created, newest)| created < newest);
    late.is_some_and(|(created, _)| !is_of_successor(state, event, created))
}

/// Whether it happened to another subscription, between the last word of the one that ended and its
/// end: told in time it would have been the one that replaces it, and that end would have taken
/// nothing away. A payment that is taken back in between is so whichever it was made for.
fn is_of_successor(state: &Billing, event: &PaymentEvent, created: Timestamp) -> bool {
    let Some(ended) = state.ended_subscription_id.as_deref() else { return false };
    let is_of_another = takes_back(event.kind) || names_another(event, Some(ended));
    let is_since = state.succeeded_after.is_some_and(|after| after < created);
    let is_paid = state.revoked_at.is_none_or(|revoked_at| revoked_at < created);
    is_of_another && is_since && is_paid
}

fn takes_back(kind: EventKind) -> bool {
    matches!(kind, EventKind::RefundCreated | EventKind::DisputeCreated)
}

/// Whether a plan was taken away at the very moment at which this one says that it is paid for: many
/// providers tell whole seconds. What is told of another subscription than the one that ended still
/// counts, unless the payment was taken back: it is the one that took its place.
fn is_outdone(state: &Billing, on: &str, event: &PaymentEvent, offer: &Offer<'_>) -> bool {
    let is_of_that_moment = event.created_at.is_some() && event.created_at == state.newest_at;
    let was_taken_away = on == offer.edition.lowest_plan().id;
    let is_taken_back = event.created_at == state.revoked_at;
    let ended = state.subscription_id.as_deref().or(state.ended_subscription_id.as_deref());
    let took_its_place = !is_taken_back && names_another(event, ended);
    is_of_that_moment && was_taken_away && !took_its_place
}

/// Whether what was paid for once is paid for no longer, as far as was told before this event: one
/// that says that it is newer tells of a subscription that goes on.
fn has_ended(state: &Billing, on: &str, event: &PaymentEvent, offer: &Offer<'_>) -> bool {
    let is_newer = event.created_at.zip(state.newest_at).is_some_and(|(at, newest)| at > newest);
    state.plan.is_some() && on == offer.edition.lowest_plan().id && !is_newer
}

/// Whether it tells of another subscription than the account's present one: of one that was replaced
/// since, or of one whose purchase has not come yet.
fn is_of_another(state: &Billing, event: &PaymentEvent) -> bool {
    names_another(event, state.subscription_id.as_deref())
}

fn names_another(event: &PaymentEvent, than: Option<&str>) -> bool {
    event.subscription_id.as_deref().zip(than).is_some_and(|(named, than)| named != than)
}

/// A purchase, or a subscription that goes on: the plan is the one that is paid for. A purchase that
/// names no subscription leaves none known: the one before is not what was bought.
fn grant(
    state: &Billing,
    event: &PaymentEvent,
    offer: &Offer<'_>,
    mail: Option<Mail>,
) -> Result<Option<Effect>, Invalid> {
    let plan = paid_for(state, event, offer)?;
    let known =
        |told: &Option<String>, before: &Option<String>| told.as_ref().or(before.as_ref()).cloned();
    let subscription_id = if event.kind == EventKind::CheckoutCompleted {
        event.subscription_id.clone()
    } else {
        known(&event.subscription_id, &state.subscription_id)
    };
    let billing = Billing {
        customer_id: known(&event.customer_id, &state.customer_id),
        subscription_id,
        plan: Some(plan.id.to_owned()),
        revoked_at: None,
        ended_at: None,
        ended_subscription_id: None,
        // Older than before where the end of the one that it replaces was told first: what happened
        // to it in between still counts.
        newest_at: event.created_at.or(state.newest_at),
        ..state.clone()
    };
    Ok(Some(Effect { billing, plan, mail }))
}

/// A subscription that goes on brings nothing back that was taken back since. Nor does one that was
/// replaced by another: it would bring back its own plan. Where a new one is active before its
/// purchase is told, the purchase that follows grants it.
fn resume(
    state: &Billing,
    event: &PaymentEvent,
    offer: &Offer<'_>,
    mail: Option<Mail>,
) -> Result<Option<Effect>, Invalid> {
    if is_of_another(state, event) {
        return Ok(None);
    }
    let is_older =
        |revoked_at: Timestamp| event.created_at.is_none_or(|created| created <= revoked_at);
    if state.revoked_at.is_some_and(is_older) {
        return Ok(None);
    }
    grant(state, event, offer, mail)
}

/// What is not the present one pays for nothing, and so takes nothing away. But what was bought
/// before it stopped takes no place later on.
fn pass_over(state: &Billing, on: &str, event: &PaymentEvent, offer: &Offer<'_>) -> Option<Effect> {
    let succeeded_after = event.created_at.filter(|at| Some(*at) > state.succeeded_after)?;
    let billing = Billing { succeeded_after: Some(succeeded_after), ..state.clone() };
    Some(Effect { billing, plan: present_plan(on, offer), mail: None })
}

/// The lowest plan, while the subscription is not paid for. What is paused can be cancelled.
fn stop(state: &Billing, event: &PaymentEvent, offer: &Offer<'_>, mail: Mail) -> Effect {
    let billing =
        Billing { ended_at: None, succeeded_after: None, ..seen(state, event.created_at) };
    Effect { billing, plan: offer.edition.lowest_plan(), mail: Some(mail) }
}

/// The same, and there is nothing left to cancel. Told again of the one that ended, as providers do
/// with `canceled` and `expired`, it leaves what is in doubt since.
fn end(state: &Billing, event: &PaymentEvent, offer: &Offer<'_>, mail: Mail) -> Effect {
    let mut effect = stop(state, event, offer, mail);
    if names_the_ended(state, event) {
        effect.billing.ended_at = state.ended_at;
        effect.billing.succeeded_after = state.succeeded_after;
        return effect;
    }
    let known = effect.billing.subscription_id.take();
    // Of one that was not known to be the present one nobody can tell what came after it.
    effect.billing.succeeded_after = known.as_ref().and(state.newest_at.max(state.succeeded_after));
    effect.billing.ended_subscription_id = event.subscription_id.clone().or(known);
    effect.billing.ended_at = Some(moment(event));
    effect
}

/// What would grant a plan and does not, but may be about another subscription than the one that
/// ended: that one is charged all the same, so something is left to cancel.
fn doubt(state: &Billing, on: &str, event: &PaymentEvent, offer: &Offer<'_>) -> Option<Effect> {
    if state.ended_at.is_none() || !grants(event.kind) || names_the_ended(state, event) {
        return None;
    }
    let billing = Billing {
        customer_id: event.customer_id.clone().or_else(|| state.customer_id.clone()),
        ended_at: None,
        ..state.clone()
    };
    Some(Effect { billing, plan: present_plan(on, offer), mail: None })
}

fn grants(kind: EventKind) -> bool {
    match kind {
        EventKind::CheckoutCompleted
        | EventKind::SubscriptionActive
        | EventKind::SubscriptionPaid
        | EventKind::SubscriptionUpdate => true,
        EventKind::SubscriptionCanceled
        | EventKind::SubscriptionPaused
        | EventKind::SubscriptionExpired
        | EventKind::RefundCreated
        | EventKind::DisputeCreated => false,
    }
}

fn names_the_ended(state: &Billing, event: &PaymentEvent) -> bool {
    event.subscription_id.is_some() && event.subscription_id == state.ended_subscription_id
}

/// The plan that the account is on, for what moves it to no other.
fn present_plan(on: &str, offer: &Offer<'_>) -> &'static Plan {
    offer.edition.plan(on).unwrap_or_else(|| offer.edition.lowest_plan())
}

/// The payment is taken back.
fn revoke(state: &Billing, event: &PaymentEvent, offer: &Offer<'_>) -> Effect {
    let at = moment(event);
    let billing = Billing { revoked_at: Some(at), ..seen(state, Some(at)) };
    Effect { billing, plan: offer.edition.lowest_plan(), mail: Some(Mail::Revoked) }
}

/// Without a moment of its own it counts from its arrival on.
fn moment(event: &PaymentEvent) -> Timestamp {
    event.created_at.unwrap_or(event.arrived_at)
}

fn seen(state: &Billing, at: Option<Timestamp>) -> Billing {
    Billing { newest_at: state.newest_at.max(at), ..state.clone() }
}

/// The product's plan. Where none is named, or the operator has told no products, the plan that our
/// checkout gave along: of a product that is not sold here it would be the plan of another purchase.
/// A subscription that names neither is the one that was bought last.
fn paid_for(
    state: &Billing,
    event: &PaymentEvent,
    offer: &Offer<'_>,
) -> Result<&'static Plan, Invalid> {
    let of_product = event.product_id.as_deref().and_then(|id| offer.plan_of_product(id));
    let told = event.product_id.is_none() || offer.products.is_empty();
    let carried = || event.plan_id.as_deref().filter(|_| told).and_then(|id| offer.plan(id));
    let goes_on = event.kind != EventKind::CheckoutCompleted && event.product_id.is_none();
    let bought = || state.plan.as_deref().filter(|_| goes_on).and_then(|id| offer.plan(id));
    of_product.or_else(carried).or_else(bought).ok_or_else(|| {
        let reason = match &event.product_id {
            Some(id) => format!("is not sold here: payments.products lacks {id}"),
            None => "is required: without it payments.products names no plan".to_owned(),
        };
        Invalid::new("product.id", reason)
    })
}
