mod checkout;
mod ending;
mod judging;
mod reading;

use chrono::DateTime;
use serde_json::{Value, json};

use super::*;
use crate::edition::TEAM;

fn at(seconds: i64) -> Timestamp {
    DateTime::from_timestamp(1_790_000_000 + seconds, 0).expect("within the years")
}

fn products() -> BTreeMap<String, String> {
    [
        ("prod_pro", "pro"),
        ("prod_pro_YEARLY", "pro"),
        ("prod_team_annual", "team"),
        ("prod_team_month", "team"),
    ]
    .map(|(id, plan)| (id.to_owned(), plan.to_owned()))
    .into()
}

fn event(body: Value) -> PaymentEvent {
    match Told::parse(&body, at(1_000)) {
        Ok(Told::Event(event)) => event,
        other => panic!("{body}: {other:?}"),
    }
}

/// An event of a kind that says when it happened.
fn moment(kind: &str, seconds: i64) -> PaymentEvent {
    event(json!({
        "id": "e", "type": kind, "product": {"id": "prod_pro"}, "customer": {"id": "c"},
        "created_at": at(seconds).timestamp_millis(),
    }))
}

/// One that does not.
fn plain(kind: &str) -> PaymentEvent {
    PaymentEvent { created_at: None, ..moment(kind, 0) }
}

/// Of an account whose plan is paid for.
fn judged(state: &Billing, event: &PaymentEvent) -> Option<Effect> {
    judged_on(state, "team", event)
}

fn judged_on(state: &Billing, on: &str, event: &PaymentEvent) -> Option<Effect> {
    let products = products();
    judge(state, on, event, &Offer { edition: &TEAM, products: &products }).expect("it can be told")
}

/// What an account that nothing was known of is after these, one after the other: its plan, where
/// one was set, and what its owner was told.
fn told(events: &[PaymentEvent]) -> (Option<&'static str>, Vec<Mail>) {
    let (mut state, mut plan, mut mails) = (Billing::default(), None, Vec::new());
    for event in events {
        let on = plan.unwrap_or("free");
        let Some(effect) = judged_on(&state, on, event) else { continue };
        state = effect.billing;
        plan = Some(effect.plan.id);
        mails.extend(effect.mail);
    }
    (plan, mails)
}

/// An event about a plan and a subscription.
fn of(kind: &str, plan: &str, subscription: &str) -> PaymentEvent {
    PaymentEvent {
        product_id: None,
        plan_id: Some(plan.to_owned()),
        subscription_id: Some(subscription.to_owned()),
        ..plain(kind)
    }
}
