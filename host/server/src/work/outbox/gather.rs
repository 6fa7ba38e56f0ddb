//! From a lane with something waiting to a batch that is on its way.
//!
//! *Invariant:* nothing is sent before the transaction that made it a batch has its bytes.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use vedette_model::{
    AccountId, AlertId, Delivery, Timestamp,
    delivery::{Gathering, Lane, Plan, asks, plan},
};
use vedette_store::{Claim, Error as StoreError, LaneContext};

use super::{
    Ended, Held, OTHERS_FIRST, can_send,
    lease::Lease,
    send::{self, Tried},
};
use crate::{
    App, Result,
    service::channel::Unwritten,
    work::lanes::{LEASE, Receiver},
};

/// What was decided about a lane.
pub(super) struct Decided {
    pub(super) receiver: Receiver,
    pub(super) versions: Versions,
    pub(super) gathering: Gathering,
}

/// What a decision was made from, as it was when the lane was read.
#[derive(Clone, Copy)]
pub(super) struct Versions {
    lane: i64,
    windows: i64,
}

/// What is to become of lanes.
#[derive(Default)]
pub(super) struct Plans {
    pub(super) made: Vec<(Receiver, Versions, Plan)>,
    /// Lanes of which something cannot be read.
    pub(super) unread: Vec<(Receiver, StoreError)>,
}

/// Reads lanes and decides about each. If something was silenced they are read again, together with
/// the alerts that it is about, so that all that is judged is of one moment.
pub(super) async fn plans(app: &App, lanes: &[Receiver], now: Timestamp) -> Result<Plans> {
    let mut contexts = app.store.lanes(lanes, &[], now).await?;
    let asked: Vec<(AccountId, AlertId)> = contexts
        .iter()
        .flatten()
        .flat_map(|context| {
            let alerts = asks(&context.waiting, &context.windows).into_iter();
            alerts.map(move |alert| (context.account_id, alert))
        })
        .collect();
    if !asked.is_empty() {
        contexts = app.store.lanes(lanes, &asked, now).await?;
    }
    let mut plans = Plans::default();
    for (receiver, context) in lanes.iter().zip(contexts) {
        match context {
            Ok(context) => plans.made.push(decide(app, context, &asked, now)),
            Err(cause) => plans.unread.push((receiver.clone(), cause)),
        }
    }
    Ok(plans)
}

fn decide(
    app: &App,
    context: LaneContext,
    asked: &[(AccountId, AlertId)],
    now: Timestamp,
) -> (Receiver, Versions, Plan) {
    let descriptor = app.sandbox.channel(&context.channel);
    let others_first =
        if can_send(app, &context.channel) { None } else { others_first(&context.waiting, now) };
    // The node that has the plugin writes as many messages as it takes.
    let batch_max = descriptor.map_or(u32::MAX, |channel| channel.batch_max);
    // Another lane of the account may have asked, even if this one has nothing to ask for.
    let asked: Vec<AlertId> = if asks(&context.waiting, &context.windows).is_empty() {
        Vec::new()
    } else {
        let mine = asked.iter().filter(|(account, _)| *account == context.account_id);
        mine.map(|(_, alert)| *alert).collect()
    };
    let receiver = (context.account_id, context.channel);
    let lane = Lane {
        quiet_at: context.quiet_at,
        waiting: &context.waiting,
        held: &context.held,
        windows: &context.windows,
        asked: &asked,
        alerts: &context.alerts,
        batch_max: usize::try_from(batch_max).unwrap_or(usize::MAX),
        behind: &context.behind,
        tried_at: context.tried_at,
    };
    let plan = others_first.map_or_else(|| plan(&lane, now), Plan::Rest);
    let versions = Versions { lane: context.version, windows: context.windows_version };
    (receiver, versions, plan)
}

/// For five seconds the lane is left to nodes that can send on its channel, which this one cannot;
/// answers until when. Then it becomes a batch, which blocks no other lane, and waits for one of
/// them, as long as trouble of our own may last.
fn others_first(waiting: &[Delivery], now: Timestamp) -> Option<Timestamp> {
    let until = waiting.iter().map(|delivery| delivery.created_at).min()? + OTHERS_FIRST;
    (now < until).then_some(until.min(now + OTHERS_FIRST))
}

/// Has the notifications written, makes them batches, and sends the first. The others are due at
/// once, and follow when this one is on its way.
pub(super) async fn carry_out(
    app: Arc<App>,
    decided: Decided,
    held: Held,
    stop: CancellationToken,
) -> Ended {
    let Decided { receiver: (account_id, channel), versions, mut gathering } = decided;
    let first_failed = render(&app, &mut gathering).await;
    // Writing it may have taken a while, and the lease is for sending.
    let now = app.clock.now();
    let claim = Claim {
        node: &app.node,
        account_id,
        channel: &channel,
        expected_version: versions.lane,
        expected_windows: versions.windows,
        gathering: &gathering,
        now,
        lease: LEASE,
    };
    match app.store.claim(claim).await {
        Ok(true) => {}
        Ok(false) => return Ended::Refused,
        // It is ours until its lease ends: nobody else may send it.
        Err(StoreError::Unavailable(_)) if is_claimed(&app, &gathering).await => {}
        Err(cause) => {
            not_gathered(&app, account_id, &channel, &cause);
            return Ended::Failed;
        }
    }
    report(&channel, &gathering);
    // Further batches are due now, and what was silenced when its window is over.
    let deferred = gathering.deferred.iter().map(|(_, until)| *until).min();
    let next = if gathering.batches.len() > 1 { Some(now) } else { deferred };
    let Some(first) = gathering.batches.into_iter().next() else { return Ended::Done(next) };
    let delivery = Delivery { epoch: first.head.epoch + 1, ..first.head };
    *held.lock() = Some(delivery.clone());
    if let Some(cause) = first_failed {
        let again = send::not_written(&app, delivery, &cause).await;
        return Ended::Tried(Tried { took: None, again }, next);
    }
    let lease = Lease::since(now, held, stop);
    Ended::Tried(send::step(&app, delivery, lease).await, next)
}

/// A lane is tried again every second, and most lanes meet the same trouble, such as a full disk.
fn not_gathered(app: &App, account_id: AccountId, channel: &str, cause: &StoreError) {
    let error = format!("{cause:#?}");
    if app.unsent.lock().is_news(&error, Instant::now()) {
        tracing::error!(
            %account_id, channel, error,
            "channel {channel} of {account_id} was not gathered, and perhaps others: {cause}"
        );
    }
}

/// Whether a claim was written whose outcome the database did not report. Asked until the database
/// is there again, for as long as the first batch would be leased.
async fn is_claimed(app: &App, gathering: &Gathering) -> bool {
    let Some(first) = gathering.batches.first() else { return false };
    let until = Instant::now() + LEASE;
    loop {
        match app.store.is_claimed(&app.node, first.head.id, first.head.epoch + 1).await {
            Err(StoreError::Unavailable(_)) if Instant::now() < until => {
                tokio::time::sleep(ASK_AGAIN).await;
            }
            answer => return answer.unwrap_or(false),
        }
    }
}

/// Writes what can be written; answers why the first could not be. The others are tried again when
/// their turn comes.
async fn render(app: &App, gathering: &mut Gathering) -> Option<Unwritten> {
    let mut first_failed = None;
    for (nth, batch) in gathering.batches.iter_mut().enumerate() {
        match send::render(app, &batch.head).await {
            Ok(parts) => batch.head.rendered = Some(parts),
            Err(cause) if nth == 0 => first_failed = Some(cause),
            Err(_) => {}
        }
    }
    first_failed
}

fn report(channel: &str, gathering: &Gathering) {
    let Gathering { batches, deferred, dropped, .. } = gathering;
    let merged = batches.iter().map(|batch| batch.merged.len()).sum();
    let summarised = batches.iter().map(|batch| batch.summarised.len()).sum();
    for (outcome, count) in [
        ("merged", merged),
        ("summarised", summarised),
        ("silenced", deferred.len()),
        ("dropped", dropped.len()),
    ] {
        if count > 0 {
            metrics::counter!(
                "vedette_deliveries_gathered_total",
                "channel" => channel.to_owned(), "outcome" => outcome,
            )
            .increment(count as u64);
        }
    }
}

/// A lost database is looked for every second.
const ASK_AGAIN: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests;
