//! One attempt of a batch that is leased: written where it is not yet, sent, settled.
//!
//! *Invariant:* what is sent was stored before, so a further attempt repeats the same bytes.
//! *Invariant:* parts that were delivered are sent by no further attempt that knows of them.

use std::time::Duration;

use futures::{StreamExt, stream};
use tokio::time::Instant;
use vedette_model::{
    Delivery, DeliveryId, DeliveryState, NotificationSettings, Timestamp,
    delivery::{LETTER, Outcome, Rendered},
};
use vedette_sandbox::{PluginError, Stop};
use vedette_store::Error as StoreError;

use super::{lease::Lease, patience::until_written};
use crate::{
    App,
    service::channel::{self, Errand, Message, Sending, Unwritten},
};

/// How it went with a batch.
pub(super) struct Tried {
    /// How long its receiver took; none where nothing was asked of it.
    pub(super) took: Option<Duration>,
    pub(super) again: Again,
}

/// What a batch that was leased needs next.
pub(super) async fn step(app: &App, delivery: Delivery, lease: Lease) -> Tried {
    let mut took = None;
    let again = step_on(app, delivery, lease, &mut took).await;
    Tried { took, again }
}

async fn step_on(
    app: &App,
    mut delivery: Delivery,
    mut lease: Lease,
    took: &mut Option<Duration>,
) -> Again {
    if delivery.rendered.is_none() {
        match render(app, &delivery).await {
            Ok(parts) => delivery.rendered = Some(parts),
            Err(cause) => return not_written(app, delivery, &cause).await,
        }
        match lease.renew(app, &delivery).await {
            Ok(true) => {}
            Ok(false) => return lost(&delivery),
            Err(cause) => return report(Err((delivery.id, cause.into()))),
        }
    }
    report(send(app, delivery, lease, took).await)
}

/// If nothing could be written down the lease runs out, and it is tried again.
fn report(settled: Settled) -> Again {
    settled.unwrap_or_else(|(id, cause)| {
        tracing::error!(delivery_id = %id, "delivery {id} was not settled: {cause}");
        None
    })
}

/// When to look again whether a batch can go, because of those that it goes after; none if it can
/// go now. A batch that was already tried waits for no other, nor does one that is about no site.
pub(super) async fn goes_after(app: &App, delivery: &Delivery) -> Option<Timestamp> {
    if delivery.was_tried() || delivery.notices.is_empty() {
        return None;
    }
    let now = app.clock.now();
    let before = app.store.goes_after(delivery.id, now).await.unwrap_or_else(|cause| {
        let id = delivery.id;
        tracing::error!(
            delivery_id = %id, error = format!("{cause:#?}"),
            "delivery {id} waits, since what goes before it cannot be read: {cause}"
        );
        Some(now)
    });
    before.map(|at| at.max(now) + LOOK_AFTER)
}

/// When a further attempt is due, as far as that is up to us.
type Again = Option<Timestamp>;
type Settled = Result<Again, (DeliveryId, crate::Error)>;

/// The notification of a batch, in the channel's words.
pub(super) async fn render(app: &App, delivery: &Delivery) -> Result<Vec<Rendered>, Unwritten> {
    let config = channel::config(app, delivery.account_id, &delivery.channel).await?;
    let message = Message {
        id: delivery.id,
        channel: &delivery.channel,
        notices: &delivery.notices,
        created_at: delivery.gathered_at.unwrap_or(delivery.created_at),
        test: false,
        config: &config,
    };
    channel::render(app, &message).await
}

/// What becomes of a batch that was leased and has nothing to send.
pub(super) async fn not_written(app: &App, delivery: Delivery, cause: &Unwritten) -> Again {
    let (id, channel) = (delivery.id, delivery.channel.as_str());
    let outcome = unwritten(channel, cause);
    let is_unsent = matches!(outcome, Outcome::Unsent(_));
    // What waits for a day is tried many times: it is not logged each time.
    if !(is_unsent && delivery.was_tried()) {
        tracing::error!(
            delivery_id = %id, channel, error = format!("{cause:?}"),
            "channel {channel} could not render {id}: {cause}"
        );
    }
    if is_unsent {
        count_attempt(app, &delivery, &outcome);
    }
    let delivery = delivery.after(outcome, app.clock.now());
    report(settle(app, &delivery).await)
}

/// A plugin whose channel is no longer set, or that has nothing to say, will never write. One that
/// is missing, busy or paused, or whose settings cannot be read, may do so later, and that is no
/// attempt. One that broke gets as many attempts as a receiver.
fn unwritten(channel: &str, cause: &Unwritten) -> Outcome {
    let reason = format!("the message could not be written: {cause}");
    match cause {
        Unwritten::Unset | Unwritten::Nothing => Outcome::Rejected(reason),
        Unwritten::Plugin(PluginError::NotInstalled) => {
            Outcome::Unsent(channel::not_installed(channel))
        }
        Unwritten::Unread(_)
        | Unwritten::Plugin(
            PluginError::Overloaded | PluginError::Broken { why: Stop::Paused, .. },
        ) => Outcome::Unsent(reason),
        Unwritten::Plugin(PluginError::InvalidInput(_) | PluginError::Broken { .. }) => {
            Outcome::Retry { reason, after: None }
        }
    }
}

/// One attempt, by the present settings, if the present plan has the channel. What it `took` is
/// known from the first part on.
async fn send(
    app: &App,
    mut delivery: Delivery,
    mut lease: Lease,
    took: &mut Option<Duration>,
) -> Settled {
    let (settings, in_plan) = match terms(app, &delivery).await {
        Ok(terms) => terms,
        Err(cause) => {
            let outcome = unread(&delivery, &cause);
            count_attempt(app, &delivery, &outcome);
            return settle(app, &delivery.after(outcome, app.clock.now())).await;
        }
    };
    if !in_plan {
        let given_up = delivery.after(Outcome::Rejected(NOT_IN_PLAN.to_owned()), app.clock.now());
        return settle(app, &given_up).await;
    }
    let mut sending = Sending::of(delivery.rendered.take().unwrap_or_default());
    let stop = lease.stop.clone();
    let errand = Errand {
        id: delivery.id,
        account: delivery.account_id,
        channel: &delivery.channel,
        to: delivery.to.as_deref(),
        thread: delivery.thread(),
        created_at: delivery.created_at,
        stop: &stop,
    };
    let outcome = loop {
        if !lease.outlasts_a_part(app.clock.now()) {
            delivery.rendered = Some(sending.left().to_vec());
            let kept = lease.renew(app, &delivery).await;
            if !kept.map_err(|cause| (delivery.id, cause.into()))? {
                return Ok(lost(&delivery));
            }
        }
        let left = |parts: &[Rendered]| lease.left(parts);
        let ended = sending.part(app, &settings, &errand, left).await;
        *took = sending.took();
        if let Some(outcome) = ended {
            break outcome;
        }
    };
    count_attempt(app, &delivery, &outcome);
    delivery.rendered = Some(sending.left().to_vec());
    let delivery = delivery.after(outcome, app.clock.now() - sending.understood_in());
    settle(app, &delivery).await
}

/// The account's present settings, and whether its plan has the channel.
async fn terms(app: &App, delivery: &Delivery) -> Result<(NotificationSettings, bool), StoreError> {
    let settings = app.store.settings(delivery.account_id).await?;
    let in_plan = channel::is_in_plan(app, delivery.account_id, &delivery.channel).await?;
    Ok((settings, in_plan))
}

/// An account that cannot be read now may be readable later: that is no attempt.
fn unread(delivery: &Delivery, cause: &StoreError) -> Outcome {
    let (id, account_id) = (delivery.id, delivery.account_id);
    tracing::error!(
        delivery_id = %id, %account_id, error = format!("{cause:#?}"),
        "delivery {id} waits, since account {account_id} or its settings cannot be read: {cause}"
    );
    Outcome::Unsent(UNREAD.to_owned())
}

/// Counts an attempt in the metrics. If it could not leave, the log says now and then why and what
/// to fix: otherwise the operator would learn of it only after a day.
fn count_attempt(app: &App, delivery: &Delivery, outcome: &Outcome) {
    let (id, channel) = (delivery.id, delivery.channel.as_str());
    let label = match outcome {
        Outcome::Delivered => DELIVERED,
        Outcome::Retry { .. } => RETRY,
        Outcome::Rejected(_) => REJECTED,
        Outcome::Unsent(reason) => {
            let trouble = format!("{channel}: {reason}");
            if app.unsent.lock().is_news(&trouble, Instant::now()) {
                let (remedy, account_id) = (remedy(app, channel), delivery.account_id);
                tracing::warn!(
                    delivery_id = %id, %account_id, channel, reason,
                    "delivery {id} of {account_id} on channel {channel} could not leave, and waits for \
                     a day at most: {reason}; {remedy}"
                );
            }
            UNSENT
        }
        Outcome::Stopped => return,
    };
    attempts(channel, label).increment(1);
}

/// Makes the counters of attempts on a channel begin at 0, however they end.
pub(super) fn begin_counting(channel: &str) {
    for outcome in [DELIVERED, RETRY, REJECTED, UNSENT] {
        attempts(channel, outcome).increment(0);
    }
}

fn attempts(channel: &str, outcome: &'static str) -> metrics::Counter {
    metrics::counter!(
        "vedette_delivery_attempts_total",
        "channel" => channel.to_owned(), "outcome" => outcome,
    )
}

/// What the operator can fix.
fn remedy(app: &App, channel: &str) -> &'static str {
    match channel {
        LETTER => RELAY,
        _ if app.sandbox.channel(channel).is_none() => {
            "see to its plugin (vedette plugin list); where that is gone for good, ask the account to \
             take the channel out of its settings, as all is tried for a day until then"
        }
        "email" => RELAY,
        _ => {
            "see to the network of this machine, to its plugins (vedette plugin list), or to what the \
             log said before"
        }
    }
}

/// Writes down what became of an attempt: otherwise it happens again.
async fn settle(app: &App, delivery: &Delivery) -> Settled {
    let settled = until_written(|| app.store.settle_delivery(delivery)).await;
    if !settled.map_err(|cause| (delivery.id, cause.into()))? {
        return Ok(lost(delivery));
    }
    let (id, channel) = (delivery.id, delivery.channel.as_str());
    match delivery.state {
        // Only what is no batch has one of the last three.
        DeliveryState::Pending
        | DeliveryState::Silenced
        | DeliveryState::Merged
        | DeliveryState::Summarised => return Ok(Some(delivery.due_at)),
        DeliveryState::Delivered => {
            let took = (app.clock.now() - delivery.created_at).to_std().unwrap_or_default();
            metrics::histogram!("vedette_delivery_seconds", "channel" => channel.to_owned())
                .record(took.as_secs_f64());
        }
        DeliveryState::Failed => {
            let reason = delivery.last_error.as_deref().unwrap_or_default();
            metrics::counter!("vedette_deliveries_failed_total", "channel" => channel.to_owned())
                .increment(1);
            tracing::warn!(
                delivery_id = %id, account_id = %delivery.account_id, channel, reason,
                "delivery {id} on channel {channel} failed for good: {reason}"
            );
        }
    }
    Ok(None)
}

fn lost(delivery: &Delivery) -> Again {
    let id = delivery.id;
    tracing::info!(delivery_id = %id, "delivery {id} has another owner, or its site is gone");
    None
}

/// Gives deliveries back as they were, due at `due_at`. Many at a time: a slow disk writes together
/// what comes together.
pub(super) async fn give_all_back(app: &App, deliveries: Vec<Delivery>, due_at: Timestamp) {
    stream::iter(deliveries)
        .for_each_concurrent(AT_ONCE, move |delivery| give_back(app, delivery, due_at))
        .await;
}

/// Gives a delivery back as it was, due at `due_at`.
pub(super) async fn give_back(app: &App, delivery: Delivery, due_at: Timestamp) {
    let delivery = delivery.given_back(due_at, app.clock.now());
    if let Err(cause) = app.store.settle_delivery(&delivery).await {
        let id = delivery.id;
        tracing::warn!(delivery_id = %id, "delivery {id} stays leased until its lease ends: {cause}");
    }
}

const DELIVERED: &str = "delivered";
const RETRY: &str = "retry";
const REJECTED: &str = "rejected";
const UNSENT: &str = "unsent";
const RELAY: &str =
    "see to the mail relay, to [smtp] of one node at least, and to the network of this machine";
const UNREAD: &str = "the account or its settings could not be read";
const NOT_IN_PLAN: &str = "the plan does not include this channel any more";
/// How long after that moment to look whether the attempt has succeeded.
const LOOK_AFTER: Duration = Duration::from_secs(1);
/// How many are given back at a time.
const AT_ONCE: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::sample::{at, delivery};

    fn queued() -> Delivery {
        delivery(1, "webhook", 1)
    }

    fn unrendered(delivery: Delivery, cause: &Unwritten, now: Timestamp) -> Delivery {
        let outcome = unwritten(&delivery.channel, cause);
        delivery.after(outcome, now)
    }

    fn broken(why: Stop) -> Unwritten {
        PluginError::Broken { why, message: "x".to_owned() }.into()
    }

    fn overloaded() -> Unwritten {
        PluginError::Overloaded.into()
    }

    #[test]
    fn plugin_that_cannot_be_asked_now_costs_no_attempt() {
        let unread = Unwritten::Unread(StoreError::Conflict);
        let missing = PluginError::NotInstalled.into();
        for cause in [overloaded(), broken(Stop::Paused), missing, unread] {
            let waits = unrendered(queued(), &cause, at(1));
            assert_eq!((waits.attempt, waits.due_at), (0, at(2)), "{cause}");
            assert_eq!(waits.state, DeliveryState::Pending);
        }
    }

    #[test]
    fn account_that_cannot_be_read_now_costs_no_attempt() {
        let parts = Some(vec![Rendered::Http {
            url: "ref:custom_webhook_url".to_owned(),
            method: "POST".to_owned(),
            headers: Vec::new(),
            body: "{}".to_owned(),
        }]);
        let batch = Delivery { rendered: parts.clone(), ..queued() };
        let outcome = unread(&batch, &StoreError::Conflict);
        let waits = batch.after(outcome, at(1));
        assert_eq!((waits.attempt, waits.due_at), (0, at(2)));
        assert_eq!((waits.state, waits.rendered), (DeliveryState::Pending, parts));
    }

    #[test]
    fn delivery_that_maintenance_held_back_for_days_waits_for_its_plugin_too() {
        let (day, days) = (24 * 3600, 3 * 24 * 3600);
        let held = Delivery { gathered_at: Some(at(days)), due_at: at(days), ..queued() };
        let waits = unrendered(held.clone(), &overloaded(), at(days + 1));
        assert_eq!((waits.attempt, waits.due_at), (0, at(days + 2)));
        let long = Delivery { due_at: at(days + day), ..held };
        let tried = unrendered(long, &overloaded(), at(days + day));
        assert_eq!(tried.attempt, 1, "but not for ever");
    }

    #[test]
    fn plugin_that_breaks_on_a_message_has_three_attempts() {
        let mut delivery = queued();
        for _ in 0..3 {
            assert_eq!(delivery.state, DeliveryState::Pending);
            delivery = unrendered(delivery, &broken(Stop::Trap), at(1));
        }
        assert_eq!(delivery.state, DeliveryState::Failed);
    }

    #[test]
    fn channel_without_settings_or_words_fails_at_once() {
        for cause in [Unwritten::Unset, Unwritten::Nothing] {
            let failed = unrendered(queued(), &cause, at(1));
            assert_eq!(failed.state, DeliveryState::Failed, "{cause}");
        }
    }
}
