//! What the payment provider tells: an event, as its webhook carries it (spec: Variant B inbound
//! events).
//!
//! *Invariant:* `id`, `type` and `created_at` are read at the top alone: inside `object` they are
//! those of what the event is about.

use chrono::{DateTime, Datelike};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::parse::{self, Body};
use crate::{AccountId, DeliveryId, Invalid, Timestamp};

/// The events that do something to an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    CheckoutCompleted,
    SubscriptionActive,
    SubscriptionCanceled,
    SubscriptionPaused,
    SubscriptionExpired,
    SubscriptionPaid,
    SubscriptionUpdate,
    RefundCreated,
    DisputeCreated,
}

/// One event, read.
#[derive(Clone, Debug, PartialEq)]
pub struct PaymentEvent {
    /// The provider's: the same however often it is sent.
    pub id: String,
    pub kind: EventKind,
    pub arrived_at: Timestamp,
    /// When it happened, where the provider says so; never after it arrived, so that a clock which
    /// is ahead does not make later events late.
    pub created_at: Option<Timestamp>,
    pub product_id: Option<String>,
    pub customer_id: Option<String>,
    pub subscription_id: Option<String>,
    /// What we gave the checkout to carry along: the plan, and the account that it was for.
    pub plan_id: Option<String>,
    pub user_id: Option<AccountId>,
}

/// What a webhook brought.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    Event(PaymentEvent),
    /// Of a type that does nothing to anybody.
    Other {
        id: String,
        kind: String,
    },
}

impl EventKind {
    const ALL: [Self; 9] = [
        Self::CheckoutCompleted,
        Self::SubscriptionActive,
        Self::SubscriptionCanceled,
        Self::SubscriptionPaused,
        Self::SubscriptionExpired,
        Self::SubscriptionPaid,
        Self::SubscriptionUpdate,
        Self::RefundCreated,
        Self::DisputeCreated,
    ];

    /// As the provider writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CheckoutCompleted => "checkout.completed",
            Self::SubscriptionActive => "subscription.active",
            Self::SubscriptionCanceled => "subscription.canceled",
            Self::SubscriptionPaused => "subscription.paused",
            Self::SubscriptionExpired => "subscription.expired",
            Self::SubscriptionPaid => "subscription.paid",
            Self::SubscriptionUpdate => "subscription.update",
            Self::RefundCreated => "refund.created",
            Self::DisputeCreated => "dispute.created",
        }
    }
}

impl Told {
    /// Reads the body of a webhook that arrives at `now`. Of an event that means nothing to us only
    /// `id` and `type` are looked at.
    pub fn parse(body: &Value, now: Timestamp) -> Result<Self, Invalid> {
        let members = Body::of(body)?;
        let id = members.required("id", name)?;
        let kind = match members.optional("type", name)? {
            Some(kind) => kind,
            None => members.optional("eventType", name)?.ok_or_else(no_type)?,
        };
        let known = EventKind::ALL.into_iter().find(|known| known.as_str() == kind);
        let Some(kind) = known else { return Ok(Self::Other { id, kind }) };
        let about = About::of(body);
        let metadata = about.get("metadata").and_then(Value::as_object);
        let carried = |name: &str| metadata.and_then(|all| all.get(name)).and_then(Value::as_str);
        let user_id = carried("userId").and_then(|id| parse::uuid("metadata.userId", id).ok());
        Ok(Self::Event(PaymentEvent {
            id,
            kind,
            arrived_at: now,
            created_at: created_at(body)?.map(|at| at.min(now)),
            product_id: about.id("product", "product.id")?,
            customer_id: about.id("customer", "customer.id")?,
            subscription_id: about.id("subscription", "subscription.id")?,
            plan_id: carried("planId").map(str::to_owned),
            user_id: user_id.map(AccountId),
        }))
    }
}

impl PaymentEvent {
    /// The id of the mail that tells of it: one, however often the event is sent.
    pub fn letter_id(&self) -> DeliveryId {
        let name = format!("payment event {}", self.id);
        DeliveryId(Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()))
    }
}

/// The members of an event: its own, and where it lacks one that of its `object`.
struct About<'a> {
    event: Option<&'a Map<String, Value>>,
    object: Option<&'a Map<String, Value>>,
}

impl<'a> About<'a> {
    fn of(body: &'a Value) -> Self {
        Self { event: body.as_object(), object: body.get("object").and_then(Value::as_object) }
    }

    /// A member that is null is one that is not there.
    fn get(&self, name: &str) -> Option<&'a Value> {
        let member = |all: &'a Map<String, Value>| all.get(name).filter(|value| !value.is_null());
        self.event.and_then(member).or_else(|| self.object.and_then(member))
    }

    /// The id of what a member names, as an object that has it or as the id itself.
    fn id(&self, member: &'static str, field: &'static str) -> Result<Option<String>, Invalid> {
        let id = match self.get(member) {
            Some(Value::Object(named)) => named.get("id").filter(|id| !id.is_null()),
            Some(id @ Value::String(_)) => Some(id),
            Some(_) => return Err(Invalid::new(member, "must be an object with an id")),
            None => None,
        };
        id.map(|id| name(field, id)).transpose()
    }
}

/// A name as the provider gives them to things: short enough for the id of a row.
fn name(field: &'static str, value: &Value) -> Result<String, Invalid> {
    let name = parse::line(field, value, LONGEST_NAME)?;
    if name.is_empty() {
        return Err(Invalid::new(field, "must not be empty"));
    }
    Ok(name.to_owned())
}

fn no_type() -> Invalid {
    Invalid::new("type", "is required")
}

/// Milliseconds or seconds since 1970, or a date-time. Seconds are told by their size: as
/// milliseconds they would all lie before 1974.
fn created_at(body: &Value) -> Result<Option<Timestamp>, Invalid> {
    let told = |field: &&str| body.get(field).filter(|value| !value.is_null());
    let Some((field, value)) = DATED.iter().find_map(|field| Some((*field, told(field)?))) else {
        return Ok(None);
    };
    let refused = || {
        let reason = "must be milliseconds or seconds since 1970, \
             or a date-time such as 2026-11-20T15:04:05Z";
        Invalid::new(field, reason)
    };
    match value {
        Value::String(text) => parse::timestamp(field, text).map(Some),
        value => {
            let number = value.as_f64().ok_or_else(refused)?;
            let millis = if number.abs() < LEAST_MILLIS { number * 1000.0 } else { number };
            // Beyond 64 bits it is the largest that there is, which is no year.
            DateTime::from_timestamp_millis(millis.round() as i64)
                .filter(|at| (0..=9999).contains(&at.year()))
                .map(Some)
                .ok_or_else(refused)
        }
    }
}

/// How providers call the moment of an event.
const DATED: [&str; 4] = ["created_at", "createdAt", "created", "timestamp"];
const LONGEST_NAME: usize = 255;
/// 1973 in milliseconds, the year 5138 in seconds.
const LEAST_MILLIS: f64 = 1e11;
