//! One queue per receiver: its deliveries go out one after the other, and a slow receiver delays
//! nobody but itself.
//!
//! A lane is out while it is gathered or one of its batches is sent, and rests while the window that
//! its last notification opened is open: a resting lane is not even looked at.
//!
//! *Invariant:* each receiver has at most one first attempt out, and few that wait here; the rest
//! wait in the store. Further attempts have their moment and wait for nobody; as no delivery has
//! more than two, few of them are out together.
//! *Invariant:* receivers that were quick last time find room, however many others hang ([`room`]).

mod room;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::Duration,
};

use chrono::TimeDelta;
use vedette_model::{AccountId, Delivery, Timestamp, delivery::FLOOD_WINDOW};

use self::room::{Known, Room, Standing};

/// Where a delivery goes: one channel of one account.
pub(super) type Receiver = (AccountId, String);

/// What this process has leased and not settled.
#[derive(Default)]
pub(super) struct Lanes {
    lanes: HashMap<Receiver, Lane>,
    /// Until when a lane is left alone.
    rests: HashMap<Receiver, Timestamp>,
    known: Known,
    room: Room,
}

/// The lanes in which something waits.
#[derive(Default)]
pub(super) struct Sorted {
    /// They can be gathered now.
    pub(super) free: Vec<Receiver>,
    /// They are out or rest, and are in the way until then.
    pub(super) stuck: HashMap<Receiver, Timestamp>,
    /// When the first of them has rested.
    pub(super) next: Option<Timestamp>,
}

/// A receiver that a delivery is on its way to.
struct Lane {
    /// Since when.
    since: Timestamp,
    /// That of its receiver when the delivery went out.
    standing: Standing,
    /// How many further attempts are out, too.
    beside: usize,
    /// Those that go next, each with the moment at which its lease began.
    waiting: VecDeque<(Delivery, Timestamp)>,
}

/// What becomes of a delivery that was leased.
pub(super) enum Placed {
    /// Its receiver is free, or the delivery was promised for now: send it.
    Start(Delivery),
    Waits,
    /// Its receiver has enough to do: give it back, for so long.
    Full(Delivery, Duration),
}

impl Lanes {
    /// How many more deliveries may be leased.
    pub(super) fn room(&self) -> usize {
        self.room.left()
    }

    pub(super) fn held(&self) -> usize {
        self.room.held()
    }

    /// Says which lanes can be gathered, given those in which something waits, each once or more
    /// often.
    pub(super) fn sort(
        &mut self,
        waiting: impl IntoIterator<Item = Receiver>,
        now: Timestamp,
    ) -> Sorted {
        // A rest that is longer than any was set by a clock that has been corrected since.
        self.rests.retain(|_, until| now < *until && *until <= now + FLOOD_WINDOW);
        self.known.forget(now);
        let mut room = self.room.clone();
        let mut sorted = Sorted::default();
        let mut free = HashSet::new();
        for receiver in waiting {
            let (lane, rest) = (self.lanes.get(&receiver), self.rests.get(&receiver).copied());
            let standing = self.known.standing(&receiver);
            let until = match (lane, rest) {
                (Some(lane), _) => now + lane.taking(now),
                (None, Some(rest)) => sorted.rests(rest),
                (None, None) if free.contains(&receiver) => continue,
                (None, None) if !room.admits(standing, &receiver.1) => {
                    sorted.rests(now + crowded_out(standing))
                }
                (None, None) => {
                    room.take(standing, &receiver.1);
                    free.insert(receiver.clone());
                    sorted.free.push(receiver);
                    continue;
                }
            };
            sorted.stuck.insert(receiver, until);
        }
        sorted
    }

    /// A lane that is free goes out to be gathered.
    pub(super) fn begin(&mut self, receiver: &Receiver, now: Timestamp) {
        let standing = self.known.standing(receiver);
        let lane = Lane { since: now, standing, beside: 0, waiting: VecDeque::new() };
        self.lanes.insert(receiver.clone(), lane);
        self.room.take(standing, &receiver.1);
    }

    pub(super) fn rest(&mut self, receiver: &Receiver, until: Timestamp) {
        self.rests.insert(receiver.clone(), until);
    }

    /// Nothing was sent after all.
    pub(super) fn wake(&mut self, receiver: &Receiver) {
        self.rests.remove(receiver);
    }

    /// Takes in a delivery that was leased just now. What finds its receiver's queue full comes
    /// back when as much time has passed again as the receiver has been taking: soon to a quick
    /// one, later to a slow one.
    pub(super) fn place(&mut self, delivery: Delivery, now: Timestamp) -> Placed {
        let to = receiver(&delivery);
        let standing =
            self.lanes.get(&to).map_or_else(|| self.known.standing(&to), |lane| lane.standing);
        if !self.room.admits(standing, &to.1) {
            return Placed::Full(delivery, crowded_out(standing));
        }
        let Some(lane) = self.lanes.get_mut(&to) else {
            self.begin(&to, now);
            return Placed::Start(delivery);
        };
        if delivery.attempt > 0 {
            lane.beside += 1;
            self.room.take(standing, &to.1);
            return Placed::Start(delivery);
        }
        if lane.waiting.len() == MOST_WAITING {
            return Placed::Full(delivery, lane.taking(now));
        }
        lane.waiting.push_back((delivery, now));
        self.room.take(standing, &to.1);
        Placed::Waits
    }

    /// An attempt has ended. How long its receiver `took` is what it is known by, not how long we
    /// took to write that down.
    pub(super) fn tried(&mut self, receiver: &Receiver, took: Duration, now: Timestamp) {
        self.known.learn(receiver, took, now);
    }

    /// The receiver's delivery is back; answers the one that goes next, and when its lease began.
    /// Those whose lease is about to end are left to the node that leases them next.
    pub(super) fn back(
        &mut self,
        receiver: &Receiver,
        now: Timestamp,
    ) -> Option<(Delivery, Timestamp)> {
        let (lane, channel) = (self.lanes.get_mut(receiver)?, &receiver.1);
        self.room.leave(lane.standing, channel);
        // Whichever is back first: the receiver is free once the last one is back.
        if lane.beside > 0 {
            lane.beside -= 1;
            return None;
        }
        while let Some((delivery, leased)) = lane.waiting.pop_front() {
            if now - leased < BEGIN_WITHIN {
                let standing = self.known.standing(receiver);
                for _ in 0..=lane.waiting.len() {
                    self.room.leave(lane.standing, channel);
                    self.room.take(standing, channel);
                }
                (lane.since, lane.standing) = (now, standing);
                return Some((delivery, leased));
            }
            self.room.leave(lane.standing, channel);
        }
        self.lanes.remove(receiver);
        None
    }

    /// All that waits, taken out.
    pub(super) fn drain(&mut self) -> Vec<Delivery> {
        let mut waiting = Vec::new();
        for ((_, channel), lane) in &mut self.lanes {
            for (delivery, _) in lane.waiting.drain(..) {
                self.room.leave(lane.standing, channel);
                waiting.push(delivery);
            }
        }
        waiting
    }
}

impl Sorted {
    /// Busy or resting lanes, each with the moment it is free, if they fill so much of the look
    /// that they hide the rest and are to be put aside.
    pub(super) fn in_the_way(&self, waiting: &[Receiver]) -> Option<Vec<(Receiver, Timestamp)>> {
        let hiding = waiting.iter().filter(|receiver| self.stuck.contains_key(receiver)).count();
        (hiding >= IN_THE_WAY).then(|| self.stuck.clone().into_iter().collect())
    }

    /// A lane that nobody works on and that is left alone until then.
    fn rests(&mut self, until: Timestamp) -> Timestamp {
        self.next = Some(self.next.map_or(until, |next| next.min(until)));
        until
    }
}

impl Lane {
    /// How long it has been out, within reason.
    fn taking(&self, now: Timestamp) -> Duration {
        (now - self.since).to_std().unwrap_or_default().clamp(SHORTEST_WAIT, LONGEST_WAIT)
    }
}

/// How long deliveries without room wait: attempts of slow receivers take long.
fn crowded_out(standing: Standing) -> Duration {
    match standing {
        Standing::Slow => LONGEST_WAIT,
        Standing::Unknown | Standing::Quick => CROWDED_WAIT,
    }
}

pub(super) fn receiver(delivery: &Delivery) -> Receiver {
    (delivery.account_id, delivery.channel.clone())
}

/// How long a lease lasts, unless it is renewed; an attempt begins early enough for that.
pub(super) const LEASE: Duration = Duration::from_secs(60);
const BEGIN_WITHIN: TimeDelta = TimeDelta::seconds(45);
/// Deliveries of one receiver that wait behind the one that is out.
const MOST_WAITING: usize = 7;
/// So much of one look at what waits.
const IN_THE_WAY: usize = 64;
const SHORTEST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
const CROWDED_WAIT: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests;
