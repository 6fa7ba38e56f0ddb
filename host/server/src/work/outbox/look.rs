//! What there is to do: in the lanes that were named, and by the store now and then.

use std::{collections::HashSet, time::Duration};

use futures::future::join_all;
use tokio::time::Instant;
use vedette_model::{DeliveryId, Timestamp, delivery::Plan};
use vedette_store::{Error as StoreError, Wanted};

use super::{
    OTHERS_FIRST, Outbox, POLL, channels, earliest,
    gather::{self, Plans},
    send,
};
use crate::{
    Result,
    wake::Told,
    work::{
        lanes::{LEASE, Placed, Receiver, Sorted},
        shown::{Shown, Step},
    },
};

impl Outbox {
    /// Takes up as much of what is due as there is room for; answers when there is more to do.
    pub(super) async fn take_up(&mut self) -> Timestamp {
        let next = self.look().await;
        metrics::gauge!("vedette_outbox_held").set(self.lanes.held() as f64);
        next.unwrap_or_else(|cause| {
            let error = format!("{cause:#?}");
            if self.unread.is_news(&error, Instant::now()) {
                tracing::error!(error, "the outbox cannot be read: {cause}");
            }
            (self.looked, self.due) = (Instant::now(), None);
            self.app.clock.now() + POLL
        })
    }

    async fn look(&mut self) -> Result<Timestamp> {
        loop {
            self.take_back();
            let now = self.app.clock.now();
            self.keep_what_is_out(now).await?;
            let room = self.lanes.room().min(BATCH);
            if room == 0 {
                // There is nothing to do before an attempt ends.
                self.looked = Instant::now();
                return Ok(now + POLL);
            }
            let Told { lanes, elsewhere } = self.app.wake.outbox.take();
            let known = self.due.is_none_or(|due| now < due) && self.looked.elapsed() < POLL;
            let all = if known && !elsewhere {
                let sorted = self.lanes.sort(lanes, now);
                self.take(sorted, room, now).await?
            } else {
                self.look_everywhere(lanes, room, now).await?
            };
            if all {
                return Ok(earliest([self.due, self.rested]).unwrap_or(now + POLL));
            }
        }
    }

    /// A clock that leaps forward, as after the machine slept, ends the leases of attempts that go
    /// on: they are renewed, or we would lease and send these batches a second time.
    async fn keep_what_is_out(&mut self, now: Timestamp) -> Result<()> {
        if self.shown.step(now) == Step::Leapt {
            let held = self.out.values().filter_map(|work| {
                work.held.lock().as_ref().map(|delivery| (delivery.id, delivery.epoch))
            });
            let held: Vec<(DeliveryId, u64)> = held.collect();
            self.app.store.keep_leases(&held, now + LEASE).await?;
        }
        self.shown = Shown::new(now);
        Ok(())
    }

    /// Takes up what the store says is due, and these lanes; whether those were all lanes that are
    /// free. Where the store has more it is looked at again.
    async fn look_everywhere(
        &mut self,
        told: HashSet<Receiver>,
        room: usize,
        now: Timestamp,
    ) -> Result<bool> {
        let look = self.app.store.look_at_outbox(now, LOOK).await?;
        (self.looked, self.due) = (Instant::now(), look.next);
        let sorted = self.lanes.sort(look.waiting.iter().cloned().chain(told), now);
        let in_the_way = sorted.in_the_way(&look.waiting);
        let all_taken = self.take(sorted, room, now).await?;
        if look.batches {
            while self.lease(now).await? {}
            if self.lanes.room() == 0 {
                // Each one that ends makes room for another.
                self.know(Some(now + LOOK_AGAIN));
            }
        }
        if let Some(lanes) = in_the_way {
            self.app.store.postpone_lanes(&lanes, now).await?;
        }
        if look.waiting.len() == LOOK {
            // A lane that somebody is gathering, here or elsewhere, stays in the way until that is
            // done.
            self.know(Some(now + LOOK_AGAIN));
        }
        self.count().await?;
        Ok(all_taken)
    }

    /// Gathers free lanes, as far as there is room, and remembers the others; answers whether those
    /// were all that are free.
    async fn take(&mut self, mut sorted: Sorted, room: usize, now: Timestamp) -> Result<bool> {
        let crowded = sorted.free.split_off(sorted.free.len().min(room));
        let all = crowded.is_empty();
        self.app.wake.outbox.keep(crowded.into_iter().chain(sorted.stuck.into_keys()));
        self.rested = sorted.next;
        self.gather(&sorted.free, now).await?;
        Ok(all)
    }

    /// The store has to be looked at by then.
    pub(super) fn know(&mut self, due: Option<Timestamp>) {
        self.due = earliest([self.due, due]);
    }

    /// Leaves a lane alone for a while, with what waits there.
    pub(super) fn rest(&mut self, receiver: Receiver, until: Timestamp) {
        self.lanes.rest(&receiver, until);
        self.rested = earliest([self.rested, Some(until)]);
        self.app.wake.outbox.keep([receiver]);
    }

    /// Decides about lanes that are free and has the decisions carried out.
    async fn gather(&mut self, lanes: &[Receiver], now: Timestamp) -> Result<()> {
        let Plans { made, unread } = gather::plans(&self.app, lanes, now).await?;
        for (receiver, versions, plan) in made {
            match plan {
                // What waits there is somebody else's by now, or can be read soon.
                Plan::Nothing => {
                    self.lanes.rest(&receiver, now + LOOK_AGAIN);
                    self.know(Some(now + LOOK_AGAIN));
                }
                Plan::Rest(until) => self.rest(receiver, until),
                Plan::Gather(gathering) => self.begin(receiver, versions, gathering, now),
            }
        }
        self.put_aside(unread, now).await
    }

    /// What is due in a lane of which something cannot be read waits for a while, blocking nobody.
    async fn put_aside(
        &mut self,
        unread: Vec<(Receiver, StoreError)>,
        now: Timestamp,
    ) -> Result<()> {
        let mut aside = Vec::with_capacity(unread.len());
        for (receiver, cause) in unread {
            let (account_id, channel) = &receiver;
            let error = format!("{account_id} {channel}: {cause:#?}");
            if self.unread.is_news(&error, Instant::now()) {
                tracing::error!(
                    %account_id, channel, error,
                    "the notifications of channel {channel} of {account_id} wait: {cause}; run the \
                     version that wrote them, or put the database back from a backup"
                );
            }
            // If somebody else is working on it, it stays due.
            self.lanes.rest(&receiver, now + POLL);
            aside.push((receiver, now + UNREAD));
        }
        self.app.store.postpone_lanes(&aside, now).await?;
        Ok(())
    }

    /// Leases batches whose attempt is due, as far as there is room; answers whether there may be
    /// more that find room. Those that this process cannot send wait for a node that can, each time
    /// they are due.
    async fn lease(&mut self, now: Timestamp) -> Result<bool> {
        let wanted = self.lanes.room().min(BATCH);
        if wanted == 0 {
            return Ok(false);
        }
        let (channels, held) = (channels(&self.app), self.held());
        let due = Wanted { channels: &channels, others_first: now - OTHERS_FIRST, held: &held };
        let (store, node) = (&self.app.store, &self.app.node);
        let leased = store.lease_batches(due, node, now, LEASE, wanted).await?;
        let count = leased.len();
        let mut too_many = Vec::new();
        for delivery in leased {
            match self.lanes.place(delivery, now) {
                Placed::Start(delivery) => self.start(delivery, now),
                Placed::Waits => {}
                Placed::Full(delivery, wait) => too_many.push((delivery, wait)),
            }
        }
        // If none of these found room, the next would not either.
        let more = count == wanted && too_many.len() < count;
        let app = &self.app;
        let backs = too_many.into_iter();
        join_all(backs.map(|(delivery, wait)| send::give_back(app, delivery, now + wait))).await;
        Ok(more)
    }

    /// Batches that our tasks hold. Their leases may have ended while the database was away: a task
    /// whose receiver has answered waits to write that down.
    fn held(&self) -> Vec<DeliveryId> {
        let held = self.out.values().map(|work| work.held.lock());
        held.filter_map(|batch| batch.as_ref().map(|batch| batch.id)).collect()
    }

    /// Now and then tells the metrics how much is neither finished nor held back.
    async fn count(&mut self) -> Result<()> {
        if self.counted.is_some_and(|at| at.elapsed() < COUNT) {
            return Ok(());
        }
        self.counted = Some(Instant::now());
        let depth = self.app.store.outbox_depth(self.app.clock.now()).await?;
        metrics::gauge!("vedette_outbox_depth").set(depth as f64);
        Ok(())
    }
}

const BATCH: usize = 64;
/// How much of what waits is looked at in one go.
const LOOK: usize = 256;
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// How long a lane that cannot be read waits.
const UNREAD: Duration = Duration::from_secs(30);
const COUNT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests;
