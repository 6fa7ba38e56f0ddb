//! One queue per receiver: its deliveries go out one after the other, and whoever is slow delays
//! nobody but himself.
//!
//! A lane is out while it is gathered or one of its batches is sent, and rests while the window that
//! its last notification opened is open: what rests is not even looked at.
//!
//! *Invariant:* of each receiver one delivery is out at most, and few wait here; the rest wait in
//! the store.
//! *Invariant:* receivers who were quick the last time find room, however many others hang ([`room`]).

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
    /// How much waits in those.
    pub(super) stuck_deliveries: usize,
    /// When the first of them has rested.
    pub(super) next: Option<Timestamp>,
}

/// A receiver that a delivery is on its way to.
struct Lane {
    /// Since when.
    since: Timestamp,
    /// That of its receiver when the delivery went out.
    standing: Standing,
    /// Those that go next, each with the moment at which its lease began.
    waiting: VecDeque<(Delivery, Timestamp)>,
}

/// What becomes of a delivery that was leased.
pub(super) enum Placed {
    /// Its receiver is free: send it.
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

    /// Says which lanes can be gathered, given the lane of each delivery that waits.
    pub(super) fn sort(&mut self, waiting: Vec<Receiver>, now: Timestamp) -> Sorted {
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
            sorted.stuck_deliveries += 1;
            sorted.stuck.insert(receiver, until);
        }
        sorted
    }

    /// A lane that is free goes out to be gathered.
    pub(super) fn begin(&mut self, receiver: &Receiver, now: Timestamp) {
        let standing = self.known.standing(receiver);
        self.lanes
            .insert(receiver.clone(), Lane { since: now, standing, waiting: VecDeque::new() });
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
        if lane.waiting.len() == MOST_WAITING {
            return Placed::Full(delivery, lane.taking(now));
        }
        lane.waiting.push_back((delivery, now));
        self.room.take(standing, &to.1);
        Placed::Waits
    }

    /// An attempt has ended: its receiver is known by it.
    pub(super) fn tried(&mut self, receiver: &Receiver, now: Timestamp) {
        if let Some(lane) = self.lanes.get(receiver) {
            self.known.learn(receiver, now - lane.since, now);
        }
    }

    /// The receiver's delivery is back; answers the one that goes next, and when its lease began.
    /// Those whose lease is about to end are left to whoever leases them again.
    pub(super) fn back(
        &mut self,
        receiver: &Receiver,
        now: Timestamp,
    ) -> Option<(Delivery, Timestamp)> {
        let (lane, channel) = (self.lanes.get_mut(receiver)?, &receiver.1);
        self.room.leave(lane.standing, channel);
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
    /// A lane that is nobody's and is left alone until then.
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

/// How long those wait for whom there is no room: attempts of the slow take long.
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
const SHORTEST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
const CROWDED_WAIT: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use uuid::Uuid;
    use vedette_model::{DeliveryId, DeliveryState};

    use super::{
        room::{MOST_HELD, ROOM_OF_DOUBTFUL, ROOM_OF_SLOW},
        *,
    };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_790_000_000 + seconds, 0).expect("within the years")
    }

    fn delivery(account: u128, channel: &str, id: u128) -> Delivery {
        Delivery {
            id: DeliveryId(Uuid::from_u128(id)),
            account_id: AccountId(Uuid::from_u128(account)),
            channel: channel.to_owned(),
            notices: Vec::new(),
            own: Vec::new(),
            batch_id: None,
            created_at: at(0),
            gathered_at: None,
            due_at: at(0),
            attempt: 0,
            epoch: 1,
            state: DeliveryState::Pending,
            rendered: None,
            last_error: None,
            finished_at: None,
        }
    }

    fn starts(lanes: &mut Lanes, delivery: Delivery) -> bool {
        matches!(lanes.place(delivery, at(0)), Placed::Start(_))
    }

    #[test]
    fn slow_receiver_delays_nobody_else() {
        let mut lanes = Lanes::default();
        assert!(starts(&mut lanes, delivery(1, "webhook", 1)));
        assert!(!starts(&mut lanes, delivery(1, "webhook", 2)));
        assert!(starts(&mut lanes, delivery(1, "slack", 3)));
        assert!(starts(&mut lanes, delivery(2, "webhook", 4)));
    }

    #[test]
    fn deliveries_of_a_receiver_go_out_in_their_order() {
        let mut lanes = Lanes::default();
        for id in 1..=3 {
            lanes.place(delivery(1, "webhook", id), at(0));
        }
        let slow = receiver(&delivery(1, "webhook", 1));
        let mut next = || lanes.back(&slow, at(1)).map(|(delivery, _)| delivery.id.0.as_u128());
        assert_eq!([next(), next(), next()], [Some(2), Some(3), None]);
        assert_eq!((lanes.held(), lanes.lanes.len()), (0, 0));
    }

    #[test]
    fn full_queue_comes_back_as_soon_as_its_receiver_is_quick() {
        let mut lanes = Lanes::default();
        for id in 0..=MOST_WAITING as u128 {
            let placed = lanes.place(delivery(1, "webhook", id), at(0));
            assert!(!matches!(placed, Placed::Full(..)), "{id}");
        }
        assert_eq!(lanes.room(), MOST_HELD - MOST_WAITING - 1);
        let mut wait = |seconds| match lanes.place(delivery(1, "webhook", 99), at(seconds)) {
            Placed::Full(_, wait) => wait,
            Placed::Start(_) | Placed::Waits => panic!("the queue is full"),
        };
        assert_eq!(
            [wait(0), wait(2), wait(9)],
            [SHORTEST_WAIT, Duration::from_secs(2), LONGEST_WAIT]
        );
    }

    #[test]
    fn delivery_whose_lease_is_ending_is_not_begun() {
        let mut lanes = Lanes::default();
        lanes.place(delivery(1, "webhook", 1), at(0));
        lanes.place(delivery(1, "webhook", 2), at(0));
        lanes.place(delivery(1, "webhook", 3), at(10));
        let slow = receiver(&delivery(1, "webhook", 1));
        let next = lanes.back(&slow, at(45));
        let next = next.map(|(delivery, leased)| (delivery.id.0.as_u128(), leased));
        assert_eq!(next, Some((3, at(10))));
        assert_eq!(lanes.held(), 1);
    }

    #[test]
    fn lane_that_is_out_or_rests_is_not_gathered() {
        let mut lanes = Lanes::default();
        let lane = |account| receiver(&delivery(account, "webhook", 1));
        let waiting = || vec![lane(1), lane(2), lane(1), lane(3)];
        assert_eq!(lanes.sort(waiting(), at(0)).free, [lane(1), lane(2), lane(3)]);
        lanes.begin(&lane(1), at(0));
        lanes.rest(&lane(1), at(2));
        lanes.rest(&lane(3), at(5));
        let sorted = lanes.sort(waiting(), at(1));
        assert_eq!((sorted.free, sorted.stuck_deliveries), (vec![lane(2)], 3));
        assert_eq!(sorted.stuck[&lane(1)], at(2), "as long again as it has been out");
        assert_eq!((sorted.stuck[&lane(3)], sorted.next), (at(5), Some(at(5))));

        assert!(lanes.back(&lane(1), at(1)).is_none());
        assert_eq!(lanes.sort(waiting(), at(1)).next, Some(at(2)), "it rests still");
        assert_eq!(lanes.sort(waiting(), at(2)).free, [lane(1), lane(2)]);
        lanes.wake(&lane(3));
        assert_eq!(lanes.sort(waiting(), at(2)).free, [lane(1), lane(2), lane(3)]);
        assert_eq!(lanes.held(), 0);
    }

    /// An attempt goes out to each of them, and ends.
    fn tries(lanes: &mut Lanes, receivers: &[Receiver], began: Timestamp, ended: Timestamp) {
        receivers.iter().for_each(|receiver| lanes.begin(receiver, began));
        for receiver in receivers {
            lanes.tried(receiver, ended);
            assert!(lanes.back(receiver, ended).is_none());
        }
    }

    fn webhooks(accounts: Range<usize>) -> Vec<Receiver> {
        accounts.map(|account| receiver(&delivery(account as u128, "webhook", 1))).collect()
    }

    #[test]
    fn receivers_that_were_quick_find_room_however_many_others_hang() {
        let mut lanes = Lanes::default();
        let (hang, quick) = (webhooks(0..2 * MOST_HELD), webhooks(9000..9100));
        tries(&mut lanes, &quick, at(0), at(1));
        let all = || [hang.clone(), quick.clone()].concat();
        let sorted = lanes.sort(all(), at(1));
        let (first, rest) = sorted.free.split_at(ROOM_OF_DOUBTFUL);
        assert_eq!((first, rest), (&hang[..ROOM_OF_DOUBTFUL], &quick[..]));
        assert_eq!(sorted.next, Some(at(3)));

        first.iter().for_each(|receiver| lanes.begin(receiver, at(1)));
        assert_eq!(lanes.sort(all(), at(1)).free, quick, "also when they are on their way");
        let left_out = lanes.place(delivery(ROOM_OF_DOUBTFUL as u128, "webhook", 1), at(1));
        assert!(matches!(left_out, Placed::Full(_, wait) if wait == CROWDED_WAIT));
        assert!(starts(&mut lanes, delivery(9000, "webhook", 1)));
    }

    #[test]
    fn slow_receivers_leave_room_to_those_of_whom_nothing_is_known() {
        let mut lanes = Lanes::default();
        let (slow, new) = (webhooks(0..MOST_HELD), webhooks(9000..9001));
        tries(&mut lanes, &slow, at(0), at(10));
        let sorted = lanes.sort([slow.clone(), new.clone()].concat(), at(10));
        assert_eq!(sorted.free, [&slow[..ROOM_OF_SLOW], &new[..]].concat());
        // Who was quick is slow no longer.
        tries(&mut lanes, &sorted.free, at(10), at(11));
        let sorted = lanes.sort(slow.clone(), at(11));
        assert_eq!(sorted.free.len(), 2 * ROOM_OF_SLOW);
        assert_eq!(lanes.held(), 0);
    }

    #[test]
    fn lane_that_had_nothing_to_send_says_nothing_of_its_receiver() {
        let mut lanes = Lanes::default();
        let slow = webhooks(1..2);
        tries(&mut lanes, &slow, at(0), at(10));
        lanes.begin(&slow[0], at(20));
        assert!(lanes.back(&slow[0], at(20)).is_none());
        assert_eq!(lanes.known.standing(&slow[0]), Standing::Slow);
    }

    #[test]
    fn rest_from_before_the_clock_was_set_back_is_over() {
        let mut lanes = Lanes::default();
        let lane = receiver(&delivery(1, "webhook", 1));
        lanes.rest(&lane, at(3602));
        assert_eq!(lanes.sort(vec![lane.clone()], at(0)).free, [lane]);
    }

    #[test]
    fn batch_waits_while_its_lane_is_gathered() {
        let mut lanes = Lanes::default();
        lanes.begin(&receiver(&delivery(1, "webhook", 1)), at(0));
        assert!(!starts(&mut lanes, delivery(1, "webhook", 2)));
        let next = lanes.back(&receiver(&delivery(1, "webhook", 1)), at(1));
        assert_eq!(next.map(|(delivery, _)| delivery.id.0.as_u128()), Some(2));
    }

    #[test]
    fn draining_leaves_those_that_are_out() {
        let mut lanes = Lanes::default();
        lanes.place(delivery(1, "webhook", 1), at(0));
        lanes.place(delivery(1, "webhook", 2), at(0));
        lanes.place(delivery(2, "webhook", 3), at(0));
        assert_eq!(lanes.drain().len(), 1);
        assert_eq!(lanes.held(), 2);
    }
}
