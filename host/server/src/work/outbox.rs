//! Sends what is queued: lease, render once, send, settle; again after one and three seconds.
//!
//! A delivery comes by twice at least: first its messages are written and kept with it, then it is
//! sent. So every attempt, also one after a crash, sends the same bytes under the same id.
//!
//! *Invariant:* delivery is at least once: only a settled attempt counts, and what was leased by
//! a process that died is leased again.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use vedette_model::{Delivery, DeliveryState, Timestamp, delivery::Outcome};
use vedette_sandbox::{PluginError, Stop};

use super::lanes::{LEASE, Lanes, Placed, receiver};
use crate::{
    App, Result,
    service::channel::{self, Errand, Message},
};

/// The loop. After `shutdown` it finishes what is on its way and gives back the rest.
pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let mut outbox =
        Outbox { lanes: Lanes::default(), tasks: JoinSet::new(), out: HashMap::new(), app };
    while !shutdown.is_cancelled() {
        let next = outbox.take_up().await;
        let app = Arc::clone(&outbox.app);
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = app.wake.outbox.notified() => {}
            () = app.clock.sleep_until(next) => {}
            () = tokio::time::sleep(POLL) => {}
            Some(ended) = outbox.tasks.join_next_with_id() => outbox.ended(ended),
        }
        while let Some(ended) = outbox.tasks.try_join_next_with_id() {
            outbox.ended(ended);
        }
    }
    outbox.finish().await;
}

struct Outbox {
    app: Arc<App>,
    lanes: Lanes,
    tasks: JoinSet<()>,
    /// What each task is about.
    out: HashMap<Id, Delivery>,
}

impl Outbox {
    /// Leases what is due, as far as there is room; answers when to look again.
    async fn take_up(&mut self) -> Timestamp {
        let looked = self.lease().await;
        metrics::gauge!("vedette_outbox_held").set(self.lanes.held() as f64);
        let next = match looked {
            Ok(()) if self.lanes.room() == 0 => Ok(None),
            Ok(()) => self.app.store.next_delivery_due().await.map_err(Into::into),
            Err(cause) => Err(cause),
        };
        let now = self.app.clock.now();
        match next {
            // Without room there is nothing to do before an attempt ends.
            Ok(next) => next.unwrap_or(now + POLL),
            Err(cause) => {
                tracing::error!(
                    error = format!("{cause:#?}"),
                    "the outbox cannot be read: {cause}"
                );
                now + POLL
            }
        }
    }

    async fn lease(&mut self) -> Result<()> {
        loop {
            let wanted = self.lanes.room().min(BATCH);
            if wanted == 0 {
                return Ok(());
            }
            let now = self.app.clock.now();
            let leased =
                self.app.store.lease_deliveries(&self.app.node, now, LEASE, wanted).await?;
            let all = leased.len() < wanted;
            let mut too_many = Vec::new();
            for delivery in leased {
                match self.lanes.place(delivery, now) {
                    Placed::Start(delivery) => self.start(delivery),
                    Placed::Waits => {}
                    Placed::Full(delivery, wait) => too_many.push((delivery, wait)),
                }
            }
            for (delivery, wait) in too_many {
                give_back(&self.app, delivery, now + wait).await;
            }
            if all {
                return Ok(());
            }
        }
    }

    fn start(&mut self, delivery: Delivery) {
        let task = step(Arc::clone(&self.app), delivery.clone());
        let id = self.tasks.spawn(task).id();
        self.out.insert(id, delivery);
    }

    fn ended(&mut self, ended: std::result::Result<(Id, ()), JoinError>) {
        let id = match &ended {
            Ok((id, ())) => *id,
            Err(cause) => cause.id(),
        };
        let Some(delivery) = self.out.remove(&id) else { return };
        if ended.is_err() {
            let id = delivery.id;
            tracing::error!(delivery_id = %id, "sending delivery {id} panicked; it is tried again");
        }
        let next = self.lanes.back(&receiver(&delivery), self.app.clock.now());
        if let Some(next) = next {
            self.start(next);
        }
    }

    /// Attempts that are on their way get their ten seconds; nothing new is begun.
    async fn finish(mut self) {
        let now = self.app.clock.now();
        for delivery in self.lanes.drain() {
            give_back(&self.app, delivery, now).await;
        }
        let _ = tokio::time::timeout(DRAIN, async {
            while let Some(ended) = self.tasks.join_next_with_id().await {
                let id = ended.map_or_else(|cause| cause.id(), |(id, ())| id);
                self.out.remove(&id);
            }
        })
        .await;
        self.tasks.shutdown().await;
        for (_, delivery) in self.out {
            give_back(&self.app, delivery, now).await;
        }
    }
}

/// What a delivery that was leased needs next.
async fn step(app: Arc<App>, delivery: Delivery) {
    let settled = match delivery.rendered {
        None => render(&app, delivery).await,
        Some(_) => send(&app, delivery).await,
    };
    if let Err((id, cause)) = settled {
        // The lease runs out, and somebody tries again.
        tracing::error!(delivery_id = %id, "delivery {id} was not settled: {cause}");
    }
}

type Settled = std::result::Result<(), (vedette_model::DeliveryId, crate::Error)>;

/// Writes the messages and keeps them with the delivery, which stays due.
async fn render(app: &App, delivery: Delivery) -> Settled {
    let message = Message {
        id: delivery.id,
        channel: &delivery.channel,
        notices: &delivery.notices,
        created_at: delivery.created_at,
        test: false,
    };
    let rendered = channel::render(app, &message).await;
    let now = app.clock.now();
    let delivery = match rendered {
        Ok(parts) => Delivery { rendered: Some(parts), ..delivery },
        Err(cause) => unrendered(delivery, &cause, now),
    };
    settle(app, &delivery).await
}

/// A plugin that is not there will not write; one that is busy or paused may in a while, and that
/// is no attempt; one that broke gets the attempts that a receiver gets.
fn unrendered(delivery: Delivery, cause: &PluginError, now: Timestamp) -> Delivery {
    let (id, channel) = (delivery.id, &delivery.channel);
    tracing::error!(
        delivery_id = %id, channel, %cause, "channel {channel} could not render {id}: {cause}"
    );
    let reason = format!("the message could not be written: {cause}");
    let waits =
        matches!(cause, PluginError::Overloaded | PluginError::Broken { why: Stop::Paused, .. });
    if waits && now - delivery.created_at < GIVE_UP {
        return Delivery { due_at: now + OWN_TROUBLE, last_error: Some(reason), ..delivery };
    }
    match cause {
        PluginError::NotInstalled => delivery.after(Outcome::Rejected(reason), now),
        PluginError::Overloaded | PluginError::InvalidInput(_) | PluginError::Broken { .. } => {
            delivery.after(Outcome::Retry { reason, after: None }, now)
        }
    }
}

/// One attempt, at whatever the settings say by now.
async fn send(app: &App, mut delivery: Delivery) -> Settled {
    let settings = app.store.settings(delivery.account_id).await;
    let settings = settings.map_err(|cause| (delivery.id, cause.into()))?;
    let mut parts = delivery.rendered.take().unwrap_or_default();
    let errand = Errand {
        id: delivery.id,
        account: delivery.account_id,
        channel: &delivery.channel,
        created_at: delivery.created_at,
    };
    let outcome = channel::attempt(app, &settings, &errand, &mut parts).await;
    let label = match &outcome {
        Outcome::Delivered => "delivered",
        Outcome::Retry { .. } => "retry",
        Outcome::Rejected(_) => "rejected",
    };
    metrics::counter!(
        "vedette_delivery_attempts_total",
        "channel" => delivery.channel.clone(), "outcome" => label,
    )
    .increment(1);
    delivery.rendered = Some(parts);
    let delivery = delivery.after(outcome, app.clock.now());
    settle(app, &delivery).await
}

/// Writes what became of an attempt. Tried a few times: what is not written down happens again.
async fn settle(app: &App, delivery: &Delivery) -> Settled {
    let mut tries = 0;
    let settled = loop {
        match app.store.settle_delivery(delivery).await {
            Ok(settled) => break settled,
            Err(cause) if tries == SETTLE_TRIES => return Err((delivery.id, cause.into())),
            Err(_) => tries += 1,
        }
        tokio::time::sleep(SETTLE_WAIT).await;
    };
    let (id, channel) = (delivery.id, delivery.channel.as_str());
    if !settled {
        tracing::info!(delivery_id = %id, "delivery {id} has another owner, or its site is gone");
        return Ok(());
    }
    match delivery.state {
        DeliveryState::Pending => {}
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
    Ok(())
}

/// Gives a delivery back as it was, due at `due_at`.
async fn give_back(app: &App, delivery: Delivery, due_at: Timestamp) {
    let delivery = Delivery { due_at, ..delivery };
    if let Err(cause) = app.store.settle_delivery(&delivery).await {
        let id = delivery.id;
        tracing::warn!(delivery_id = %id, "delivery {id} stays leased until its lease ends: {cause}");
    }
}

const BATCH: usize = 64;
/// What other nodes have queued, and what a lost hint was about, is found this soon.
const POLL: Duration = Duration::from_secs(1);
/// For a plugin that cannot be asked now.
const OWN_TROUBLE: Duration = Duration::from_secs(30);
const GIVE_UP: chrono::TimeDelta = chrono::TimeDelta::hours(24);
const SETTLE_TRIES: u32 = 5;
const SETTLE_WAIT: Duration = Duration::from_millis(500);
/// An attempt takes ten seconds at most.
const DRAIN: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use uuid::Uuid;
    use vedette_model::{AccountId, DeliveryId};

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_790_000_000 + seconds, 0).expect("within the years")
    }

    fn queued() -> Delivery {
        Delivery {
            id: DeliveryId(Uuid::from_u128(1)),
            account_id: AccountId(Uuid::from_u128(1)),
            channel: "webhook".to_owned(),
            notices: Vec::new(),
            created_at: at(0),
            due_at: at(0),
            attempt: 0,
            epoch: 1,
            state: DeliveryState::Pending,
            rendered: None,
            last_error: None,
            finished_at: None,
        }
    }

    fn broken(why: Stop) -> PluginError {
        PluginError::Broken { why, message: "x".to_owned() }
    }

    #[test]
    fn plugin_that_cannot_be_asked_now_costs_no_attempt() {
        for cause in [PluginError::Overloaded, broken(Stop::Paused)] {
            let waits = unrendered(queued(), &cause, at(1));
            assert_eq!((waits.attempt, waits.due_at), (0, at(31)), "{cause}");
            assert_eq!(waits.state, DeliveryState::Pending);
        }
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
    fn channel_without_a_plugin_fails_at_once() {
        let failed = unrendered(queued(), &PluginError::NotInstalled, at(1));
        assert_eq!(failed.state, DeliveryState::Failed);
    }
}
