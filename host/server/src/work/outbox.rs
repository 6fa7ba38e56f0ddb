//! Sends what is queued: gather what waits, send, settle; again after one and three seconds.
//!
//! What a commit queued waits in its lane (`vedette_model::delivery` says how lanes are gathered).
//! A lane that may be gathered is read, decided about, and its notification written by the
//! channel's plugin; then one transaction makes it a batch, bytes and lease included ([`gather`]);
//! then it is sent ([`send`]). So a quiet lane costs two writes, and one before the first attempt;
//! every attempt, also one after a crash, sends the same bytes under the same id. Batches whose
//! attempt is due again are leased.
//!
//! *Invariant:* nobody sends a batch that another is sending: its lease is renewed between the parts
//! of an attempt that takes long, and an attempt that lost it ends ([`lease`]).
//! *Invariant:* delivery is at least once: only a settled attempt counts, and what was leased by
//! a process that died is leased again. What was not made a batch yet is gathered again.

mod gather;
mod lease;
mod send;

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures::future::join_all;
use parking_lot::Mutex;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use vedette_model::{
    Delivery, Timestamp,
    delivery::{Gathering, Plan},
};

use self::lease::Lease;
use super::lanes::{LEASE, Lanes, Placed, Receiver, receiver};
use crate::{App, Result};

/// The loop. After `shutdown` it finishes what is on its way and gives back the rest.
pub(super) async fn run(app: Arc<App>, shutdown: CancellationToken) {
    let counted = app.clock.now();
    let mut outbox = Outbox {
        lanes: Lanes::default(),
        tasks: JoinSet::new(),
        out: HashMap::new(),
        counted,
        app,
    };
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
        outbox.take_back();
    }
    outbox.finish().await;
}

struct Outbox {
    app: Arc<App>,
    lanes: Lanes,
    tasks: JoinSet<Ended>,
    /// What each task is about.
    out: HashMap<Id, Work>,
    /// When what is not finished was counted last.
    counted: Timestamp,
}

struct Work {
    receiver: Receiver,
    held: Held,
}

/// The batch that a task has leased and not settled, as far as it is not sent.
type Held = Arc<Mutex<Option<Delivery>>>;

/// How a task ended.
enum Ended {
    /// With an attempt.
    Tried,
    /// There was nothing to send.
    Done,
    /// Somebody else gathered the lane, or a site of it is gone: look again.
    Refused,
    /// The store could not make it a batch: look again soon, and not only when its window is over.
    Failed,
}

impl Outbox {
    /// Takes up what is due, as far as there is room; answers when to look again.
    async fn take_up(&mut self) -> Timestamp {
        let looked = self.look().await;
        metrics::gauge!("vedette_outbox_held").set(self.lanes.held() as f64);
        looked.unwrap_or_else(|cause| {
            tracing::error!(error = format!("{cause:#?}"), "the outbox cannot be read: {cause}");
            self.app.clock.now() + POLL
        })
    }

    async fn look(&mut self) -> Result<Timestamp> {
        loop {
            self.take_back();
            let now = self.app.clock.now();
            let room = self.lanes.room().min(BATCH);
            if room == 0 {
                // There is nothing to do before an attempt ends.
                return Ok(now + POLL);
            }
            let look = self.app.store.look_at_outbox(now, LOOK).await?;
            let full = look.waiting.len() == LOOK;
            let mut sorted = self.lanes.sort(look.waiting, now);
            sorted.free.truncate(room);
            self.gather(&sorted.free, now).await?;
            let all_leased = !look.batches || self.lease(now).await?;
            let mut left = 0;
            if sorted.stuck_deliveries >= IN_THE_WAY {
                let stuck: Vec<_> = sorted.stuck.into_iter().collect();
                left = self.app.store.postpone_lanes(&stuck, now).await?;
            }
            if all_leased && !full {
                self.count(now).await?;
                let next = [look.next, sorted.next].into_iter().flatten().min();
                return Ok(next.unwrap_or(now + POLL));
            }
            if full && left > 0 {
                // Somebody else is at work on what is in the way.
                return Ok(now + LOOK_AGAIN);
            }
        }
    }

    /// Decides about lanes that are free and has the decisions carried out.
    async fn gather(&mut self, lanes: &[Receiver], now: Timestamp) -> Result<()> {
        for (receiver, versions, plan) in gather::plans(&self.app, lanes, now).await? {
            match plan {
                // What waits there is somebody else's by now, or will be understood soon.
                Plan::Nothing => self.lanes.rest(&receiver, now + LOOK_AGAIN),
                Plan::Rest(until) => self.lanes.rest(&receiver, until),
                Plan::Gather(gathering) => self.begin(receiver, versions, gathering, now),
            }
        }
        Ok(())
    }

    fn begin(
        &mut self,
        receiver: Receiver,
        versions: gather::Versions,
        gathering: Gathering,
        now: Timestamp,
    ) {
        self.lanes.begin(&receiver, now);
        self.lanes.rest(&receiver, gathering.quiet_at);
        let held = Held::default();
        let decided = gather::Decided { receiver: receiver.clone(), versions, gathering };
        let task = gather::carry_out(Arc::clone(&self.app), decided, Arc::clone(&held));
        let id = self.tasks.spawn(task).id();
        self.out.insert(id, Work { receiver, held });
    }

    /// Leases batches whose attempt is due, as far as there is room; whether that was all of them.
    async fn lease(&mut self, now: Timestamp) -> Result<bool> {
        let wanted = self.lanes.room().min(BATCH);
        if wanted == 0 {
            return Ok(true);
        }
        let leased = self.app.store.lease_deliveries(&self.app.node, now, LEASE, wanted).await?;
        let all = leased.len() < wanted;
        let mut too_many = Vec::new();
        for delivery in leased {
            match self.lanes.place(delivery, now) {
                Placed::Start(delivery) => self.start(delivery, now),
                Placed::Waits => {}
                Placed::Full(delivery, wait) => too_many.push((delivery, wait)),
            }
        }
        let app = &self.app;
        let backs = too_many.into_iter();
        join_all(backs.map(|(delivery, wait)| send::give_back(app, delivery, now + wait))).await;
        Ok(all)
    }

    fn start(&mut self, delivery: Delivery, leased: Timestamp) {
        let receiver = receiver(&delivery);
        let held = Arc::new(Mutex::new(Some(delivery.clone())));
        let lease = Lease::since(leased, Arc::clone(&held));
        let app = Arc::clone(&self.app);
        let task = async move {
            send::step(&app, delivery, lease).await;
            Ended::Tried
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
        let Some(Work { receiver, .. }) = self.out.remove(&id) else { return };
        match how {
            Some(Ended::Tried) => self.lanes.tried(&receiver, self.app.clock.now()),
            Some(Ended::Done) => {}
            Some(Ended::Refused) => self.lanes.wake(&receiver),
            Some(Ended::Failed) => self.lanes.rest(&receiver, self.app.clock.now() + POLL),
            None => {
                let (account_id, channel) = &receiver;
                tracing::error!(
                    %account_id, channel,
                    "sending on channel {channel} of {account_id} panicked; it is tried again"
                );
            }
        }
        let next = self.lanes.back(&receiver, self.app.clock.now());
        if let Some((next, leased)) = next {
            self.start(next, leased);
        }
    }

    /// Tells how much is not finished, now and then.
    async fn count(&mut self, now: Timestamp) -> Result<()> {
        if now < self.counted + COUNT {
            return Ok(());
        }
        self.counted = now;
        let depth = self.app.store.outbox_depth().await?;
        metrics::gauge!("vedette_outbox_depth").set(depth as f64);
        Ok(())
    }

    /// Attempts that are on their way get ten seconds, and what is left of them is given back;
    /// nothing new is begun.
    async fn finish(mut self) {
        let now = self.app.clock.now();
        for delivery in self.lanes.drain() {
            send::give_back(&self.app, delivery, now).await;
        }
        let _ = tokio::time::timeout(DRAIN, async {
            while let Some(ended) = self.tasks.join_next_with_id().await {
                let id = ended.map_or_else(|cause| cause.id(), |(id, _)| id);
                self.out.remove(&id);
            }
        })
        .await;
        self.tasks.shutdown().await;
        for (_, Work { held, .. }) in self.out {
            let held = held.lock().take();
            if let Some(delivery) = held {
                send::give_back(&self.app, delivery, now).await;
            }
        }
    }
}

const BATCH: usize = 64;
/// How much of what waits is looked at in one go.
const LOOK: usize = 256;
/// When so much of that is of lanes that are out or rest, it is put aside.
const IN_THE_WAY: usize = 64;
/// What other nodes have queued, and what a lost hint was about, is found this soon.
const POLL: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(100);
const COUNT: Duration = Duration::from_secs(5);
/// A request of an attempt takes ten seconds at most.
const DRAIN: Duration = Duration::from_secs(10);
