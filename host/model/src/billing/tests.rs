mod checkout;
mod ending;
mod judging;
mod order;
mod reading;

use chrono::DateTime;
use serde_json::{Value, json};

use super::*;
use crate::Invalid;
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

/// What became of an account.
#[derive(Clone, Debug)]
struct Left {
    plan: &'static str,
    billing: Billing,
    mails: Vec<Mail>,
}

impl Left {
    /// Of one on the lowest plan that nothing was known of.
    fn new() -> Self {
        Self { plan: "free", billing: Billing::default(), mails: Vec::new() }
    }

    fn tell(&mut self, event: &PaymentEvent) -> Result<(), Invalid> {
        let products = products();
        let offer = Offer { edition: &TEAM, products: &products };
        if let Some(effect) = judge(&self.billing, self.plan, event, &offer)? {
            self.billing = effect.billing;
            self.plan = effect.plan.map_or(self.plan, |plan| plan.id);
            self.mails.extend(effect.mail);
        }
        Ok(())
    }

    fn is_charged(&self) -> bool {
        self.billing.charged().next().is_some()
    }

    fn present(&self) -> Option<&str> {
        self.billing.present()?.id.as_deref()
    }
}

/// What these leave, one after the other.
fn after(events: &[PaymentEvent]) -> Left {
    let mut left = Left::new();
    for event in events {
        left.tell(event).expect("it can be told");
    }
    left
}

fn sold(id: &str) -> &'static Plan {
    TEAM.plan(id).expect("a plan of the edition")
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

fn dated(seconds: i64, event: PaymentEvent) -> PaymentEvent {
    PaymentEvent { created_at: Some(at(seconds)), ..event }
}

/// An event that names no subscription.
fn silent(event: PaymentEvent) -> PaymentEvent {
    PaymentEvent { subscription_id: None, ..event }
}

/// All orders of some events.
fn orders(events: &[PaymentEvent]) -> Vec<Vec<PaymentEvent>> {
    if events.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (nth, first) in events.iter().enumerate() {
        let rest = [&events[..nth], &events[nth + 1..]].concat();
        all.extend(orders(&rest).into_iter().map(|rest| [vec![first.clone()], rest].concat()));
    }
    all
}

const GRANTING: [&str; 4] =
    ["checkout.completed", "subscription.active", "subscription.paid", "subscription.update"];
