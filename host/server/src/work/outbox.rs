//! Sends what is queued: gather what waits, send, settle; again after one and three seconds.
//!
//! What a commit queued waits in its lane (`vedette_model::delivery` says how lanes are gathered).
//! The commit names the lane, so that nobody has to look for it. The store is also looked at every
//! second, when something is known to be due, and when there was more than one look takes up: that
//! finds what other nodes queued, and what a lost hint was about.
//! A lane that may be gathered is read, decided about, and its notification written by the
//! channel's plugin; then one transaction makes it a batch, bytes and lease included ([`gather`]);
//! then it is sent ([`send`]). So a quiet lane costs two writes, and one before the first attempt;
//! every attempt, also one after a crash, sends the same bytes under the same id. Batches whose
//! attempt is due again are leased.
//!
//! *Invariant:* nobody sends a batch that another is sending: its lease is renewed between the parts
//! of an attempt that takes long, and an attempt that lost it ends ([`lease`]).
//! *Invariant:* what is about a site goes after any unfinished batch about that site, whichever
//! node sends it; the store knows (its `order.rs`).
//! *Invariant:* delivery is at least once: only a settled attempt counts, and what was leased by
//! a process that died is leased again. What was not made a batch yet is gathered again. When the
//! database is back after an outage, no node sends again what it has sent itself ([`patience`]): a
//! delivery that one of its tasks still holds is not leased to another.

mod gather;
mod lease;
mod look;
mod patience;
mod send;

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    task::{Id, JoinError, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use vedette_model::{
    Delivery, Timestamp,
    delivery::{Gathering, LETTER, WINDOW},
};

use self::{lease::Lease, send::Tried};
use super::{
    lanes::{Lanes, Receiver, receiver},
    shown::Shown,
};
use crate::{App, service::channel::EMAIL, trouble::Trouble};

/// The loop. After `shutdown` it finishes what is on its way and gives back the rest.
pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let mut outbox = Outbox::new(app, shutdown.clone());
    while !shutdown.is_cancelled() {
        let next = outbox.take_up().await;
        let app = Arc::clone(&outbox.app);
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = app.wake.outbox.told() => {}
            () = app.clock.sleep_until(next) => {}
            () = tokio::time::sleep_until(outbox.looked + POLL) => {}
            Some(ended) = outbox.tasks.join_next_with_id() => outbox.ended(ended),
        }
        outbox.take_back();
    }
    outbox.finish().await;
}

/// Makes the counters of attempts and failures of every installed channel, and of letters, begin at
/// 0: otherwise Prometheus would not see the first one as growth, and nobody would be alerted.
pub(super) fn begin_counting(app: &App) {
    for channel in all_channels(app) {
        send::begin_counting(&channel);
        metrics::counter!("vedette_deliveries_failed_total", "channel" => channel).increment(0);
    }
}

/// Channels on which this process can send.
fn channels(app: &App) -> Vec<String> {
    let mut channels = all_channels(app);
    channels.retain(|channel| can_send(app, channel));
    channels
}

fn all_channels(app: &App) -> Vec<String> {
    let mut channels = app.sandbox.channels();
    channels.push(LETTER.to_owned());
    channels
}

/// Whether this process has what it takes: the plugin, and for mail a relay, where another node may
/// have one. A service that has none tells so at once.
fn can_send(app: &App, channel: &str) -> bool {
    let is_mail = [EMAIL, LETTER].contains(&channel);
    let has_plugin = channel == LETTER || app.sandbox.channel(channel).is_some();
    has_plugin && (!is_mail || app.relay.is_some() || app.store.embedded())
}

struct Outbox {
    app: Arc<App>,
    lanes: Lanes,
    tasks: JoinSet<Ended>,
    /// What each task is about.
    out: HashMap<Id, Work>,
    /// When the store was last looked at, by a clock that nobody sets.
    looked: Instant,
    shown: Shown,
    /// When the store has to be looked at again, if that is known.
    due: Option<Timestamp>,
    /// When the first lane that something waits in has rested.
    rested: Option<Timestamp>,
    /// When what is not finished was last counted, by a clock that nobody sets.
    counted: Option<Instant>,
    unread: Trouble,
    /// Once cancelled, nothing more is begun.
    stop: CancellationToken,
}

struct Work {
    receiver: Receiver,
    held: Held,
}

/// The batch that a task has leased but not settled, as far as it is not sent.
type Held = Arc<Mutex<Option<Delivery>>>;

/// How a task ended, and when there is more to do, if that is known.
enum Ended {
    /// With a batch; and when there is more to do.
    Tried(Tried, Option<Timestamp>),
    /// There was nothing to send.
    Done(Option<Timestamp>),
    /// Another task gathered the lane, or a site of it is gone: look again.
    Refused,
    /// The store could not make it a batch: look again soon, and not only when its window is over.
    Failed,
}

impl Outbox {
    fn new(app: Arc<App>, stop: CancellationToken) -> Self {
        let now = app.clock.now();
        Self {
            lanes: Lanes::default(),
            tasks: JoinSet::new(),
            out: HashMap::new(),
            looked: Instant::now(),
            shown: Shown::new(now),
            // What waits from before the start.
            due: Some(now),
            rested: None,
            counted: None,
            unread: Trouble::default(),
            stop,
            app,
        }
    }

    fn begin(
        &mut self,
        receiver: Receiver,
        versions: gather::Versions,
        gathering: Gathering,
        now: Timestamp,
    ) {
        self.lanes.begin(&receiver, now);
        // What follows on a flood need not be part of it, and is looked at.
        self.lanes.rest(&receiver, gathering.quiet_at.min(now + WINDOW));
        let held = Held::default();
        let decided = gather::Decided { receiver: receiver.clone(), versions, gathering };
        let (app, stop) = (Arc::clone(&self.app), self.stop.clone());
        let task = gather::carry_out(app, decided, Arc::clone(&held), stop);
        let id = self.tasks.spawn(task).id();
        self.out.insert(id, Work { receiver, held });
    }

    fn start(&mut self, delivery: Delivery, leased: Timestamp) {
        let receiver = receiver(&delivery);
        let held = Arc::new(Mutex::new(Some(delivery.clone())));
        let lease = Lease::since(leased, Arc::clone(&held), self.stop.clone());
        let app = Arc::clone(&self.app);
        let task = async move {
            if let Some(at) = send::goes_after(&app, &delivery).await {
                send::give_back(&app, delivery, at).await;
                return Ended::Done(Some(at));
            }
            Ended::Tried(send::step(&app, delivery, lease).await, None)
        };
        let id = self.tasks.spawn(task).id();
        self.out.insert(id, Work { receiver, held });
    }

    /// What has ended makes room.
    fn take_back(&mut self) {
        while let Some(ended) = self.tasks.try_join_next_with_id() {
            self.ended(ended);
        }
    }

    fn ended(&mut self, ended: std::result::Result<(Id, Ended), JoinError>) {
        let (id, how) = match ended {
            Ok((id, how)) => (id, Some(how)),
            Err(cause) => (cause.id(), None),
        };
        let Some(Work { receiver, held }) = self.out.remove(&id) else { return };
        let now = self.app.clock.now();
        match how {
            Some(Ended::Tried(Tried { took, again }, next)) => {
                if let Some(took) = took {
                    self.lanes.tried(&receiver, took, now);
                }
                self.settled(&receiver, &held, again);
                self.know(earliest([again, next]));
            }
            Some(Ended::Done(next)) => self.know(next),
            Some(Ended::Refused) => self.look_again(&receiver),
            Some(Ended::Failed) => self.rest(receiver.clone(), now + POLL),
            None => {
                let (account_id, channel) = &receiver;
                tracing::error!(
                    %account_id, channel,
                    "sending on channel {channel} of {account_id} panicked; it is tried again"
                );
            }
        }
        let next = self.lanes.back(&receiver, now);
        if let Some((next, leased)) = next {
            self.start(next, leased);
        }
    }

    /// What waited for a batch to be tried again goes as soon as that is through. What waits for
    /// another node's batch is looked at every two seconds, or when that batch is tried again.
    fn settled(&mut self, receiver: &Receiver, held: &Held, again: Option<Timestamp>) {
        let was_tried = held.lock().as_ref().is_some_and(Delivery::was_tried);
        if was_tried && again.is_none() {
            self.look_again(receiver);
        }
    }

    fn look_again(&mut self, receiver: &Receiver) {
        self.lanes.wake(receiver);
        self.app.wake.outbox.keep([receiver.clone()]);
    }

    /// Attempts that are on their way end after their current part or mail, which has ten seconds,
    /// and the rest of them is given back; so is what waits, meanwhile.
    async fn finish(mut self) {
        let now = self.app.clock.now();
        let app = Arc::clone(&self.app);
        let waiting = self.lanes.drain();
        let ended = async {
            while let Some(ended) = self.tasks.join_next_with_id().await {
                let id = ended.map_or_else(|cause| cause.id(), |(id, _)| id);
                self.out.remove(&id);
            }
        };
        let ended = tokio::time::timeout(DRAIN, ended);
        let ((), _) = tokio::join!(send::give_all_back(&app, waiting, now), ended);
        self.tasks.shutdown().await;
        let left = self.out.into_values().filter_map(|work| work.held.lock().take());
        send::give_all_back(&app, left.collect(), now).await;
    }
}

fn earliest<const N: usize>(moments: [Option<Timestamp>; N]) -> Option<Timestamp> {
    moments.into_iter().flatten().min()
}

/// How long what is due on a channel whose plugin is not here is left to nodes that have it, which
/// look every second. Well within the time that a lane may rest.
const OTHERS_FIRST: Duration = Duration::from_secs(5);
/// What other nodes have queued, and what a lost hint was about, is found this soon.
const POLL: Duration = Duration::from_secs(1);
/// A request or a mail that is under way takes ten seconds at most, and writing that down one more.
/// Giving back the rest has another second before the process ends.
const DRAIN: Duration = Duration::from_secs(11);
