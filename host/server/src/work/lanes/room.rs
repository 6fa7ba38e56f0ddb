//! How the room for deliveries on their way at one moment is divided among receivers.
//!
//! A receiver is known by its last attempt: it was quick, or it was slow. About others nothing is
//! known, and a thousand of them may hang at once.
//!
//! *Invariant:* slow receivers have a quarter of the room, and half of it together with unknown
//! ones: quick receivers find room, however many others hang.
//! *Invariant:* one channel has three quarters, since a vendor's receivers hang together, even
//! those that were quick.
//! *Invariant:* memory is bounded; a receiver that was forgotten is unknown again.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use chrono::TimeDelta;
use vedette_model::Timestamp;

use super::Receiver;

/// What is known of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Slow,
    Unknown,
    Quick,
}

/// How receivers did the last time.
#[derive(Default)]
pub(super) struct Known {
    /// When that was.
    slow: HashMap<Receiver, Timestamp>,
    /// The recent ones, and those before them.
    quick: [HashSet<Receiver>; 2],
}

/// What is in use of the room.
#[derive(Clone, Default)]
pub(super) struct Room {
    held: usize,
    /// By receivers who were not quick.
    doubtful: usize,
    slow: usize,
    channels: HashMap<String, usize>,
}

impl Known {
    pub(super) fn standing(&self, receiver: &Receiver) -> Standing {
        if self.slow.contains_key(receiver) {
            Standing::Slow
        } else if self.quick.iter().any(|quick| quick.contains(receiver)) {
            Standing::Quick
        } else {
            Standing::Unknown
        }
    }

    /// An attempt has just ended, which took this long.
    pub(super) fn learn(&mut self, receiver: &Receiver, took: Duration, now: Timestamp) {
        let [of_late, before] = &mut self.quick;
        if took < SLOW {
            self.slow.remove(receiver);
            of_late.insert(receiver.clone());
            if of_late.len() == MOST_KNOWN {
                *before = std::mem::take(of_late);
            }
            return;
        }
        of_late.remove(receiver);
        before.remove(receiver);
        if self.slow.len() < MOST_KNOWN {
            self.slow.insert(receiver.clone(), now);
        }
    }

    /// A receiver that was slow a while ago may be quick by now.
    pub(super) fn forget(&mut self, now: Timestamp) {
        self.slow.retain(|_, at| now - *at < SLOW_FOR);
    }
}

impl Room {
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// How many more find room, whatever their standing.
    pub(super) fn left(&self) -> usize {
        MOST_HELD.saturating_sub(self.held)
    }

    pub(super) fn admits(&self, standing: Standing, channel: &str) -> bool {
        let of_channel = self.channels.get(channel).copied().unwrap_or_default();
        let known_well = match standing {
            Standing::Quick => true,
            Standing::Unknown => self.doubtful < ROOM_OF_DOUBTFUL,
            Standing::Slow => self.doubtful < ROOM_OF_DOUBTFUL && self.slow < ROOM_OF_SLOW,
        };
        known_well && of_channel < ROOM_OF_CHANNEL && self.held < MOST_HELD
    }

    /// A delivery to a receiver of this standing comes in.
    pub(super) fn take(&mut self, standing: Standing, channel: &str) {
        self.held += 1;
        self.doubtful += usize::from(standing != Standing::Quick);
        self.slow += usize::from(standing == Standing::Slow);
        *self.channels.entry(channel.to_owned()).or_default() += 1;
    }

    /// It goes; the standing is that with which it came.
    pub(super) fn leave(&mut self, standing: Standing, channel: &str) {
        self.held -= 1;
        self.doubtful -= usize::from(standing != Standing::Quick);
        self.slow -= usize::from(standing == Standing::Slow);
        if let Some(of_channel) = self.channels.get_mut(channel) {
            *of_channel -= 1;
        }
    }
}

/// Deliveries of all receivers together; as many connections at most.
pub(super) const MOST_HELD: usize = 1024;
/// Of these for one channel.
const ROOM_OF_CHANNEL: usize = MOST_HELD / 4 * 3;
/// Of these for receivers who were not quick the last time.
pub(super) const ROOM_OF_DOUBTFUL: usize = MOST_HELD / 2;
/// Of these for receivers who are known to be slow.
pub(super) const ROOM_OF_SLOW: usize = MOST_HELD / 4;
/// A receiver that takes this long is slow, until it is quick or was not asked for a while.
const SLOW: Duration = Duration::from_secs(5);
const SLOW_FOR: TimeDelta = TimeDelta::minutes(10);
/// Of each kind; some hundred bytes each.
const MOST_KNOWN: usize = 16_384;

#[cfg(test)]
mod tests {
    use uuid::Uuid;
    use vedette_model::AccountId;

    use super::{
        Standing::{Quick, Slow, Unknown},
        *,
    };
    use crate::work::sample::at;

    /// How many of a kind find room.
    fn fill(room: &mut Room, standing: Standing, channel: &str) -> usize {
        let before = room.held();
        while room.admits(standing, channel) {
            room.take(standing, channel);
        }
        room.held() - before
    }

    #[test]
    fn room_is_divided_by_standing_and_channel() {
        for (who, expected) in [
            (vec![(Slow, "a")], vec![256]),
            (vec![(Unknown, "a")], vec![512]),
            (vec![(Quick, "a")], vec![768]),
            (vec![(Quick, "a"), (Quick, "b")], vec![768, 256]),
            // A quick receiver finds room beside those that hang, even on its own channel.
            (vec![(Slow, "a"), (Unknown, "a"), (Quick, "a")], vec![256, 256, 256]),
            (vec![(Unknown, "a"), (Slow, "b"), (Quick, "b")], vec![512, 0, 512]),
            // So do receivers of another channel when quick ones hang.
            (vec![(Quick, "a"), (Unknown, "b")], vec![768, 256]),
            (vec![(Quick, "a"), (Slow, "b"), (Quick, "b")], vec![768, 256, 0]),
        ] {
            let mut room = Room::default();
            let filled: Vec<usize> =
                who.iter().map(|(standing, channel)| fill(&mut room, *standing, channel)).collect();
            assert_eq!(filled, expected, "{who:?}");
            for ((standing, channel), count) in who.iter().zip(filled) {
                (0..count).for_each(|_| room.leave(*standing, channel));
            }
            assert_eq!((room.held(), room.left()), (0, MOST_HELD), "{who:?}");
            assert_eq!((room.doubtful, room.slow), (0, 0), "{who:?}");
        }
    }

    #[test]
    fn receiver_is_known_by_its_last_attempt() {
        let mut known = Known::default();
        let receiver = (AccountId(Uuid::from_u128(1)), "webhook".to_owned());
        assert_eq!(known.standing(&receiver), Unknown);
        for (took, standing) in [(0, Quick), (5, Slow), (4, Quick), (10, Slow)] {
            known.learn(&receiver, Duration::from_secs(took), at(0));
            assert_eq!(known.standing(&receiver), standing, "{took}");
        }
        known.forget(at(599));
        assert_eq!(known.standing(&receiver), Slow);
        known.forget(at(600));
        assert_eq!(known.standing(&receiver), Unknown);
    }

    #[test]
    fn so_many_are_known_and_no_more() {
        let receiver = |nth: usize| (AccountId(Uuid::from_u128(nth as u128)), "webhook".to_owned());
        let mut known = Known::default();
        for nth in 0..3 * MOST_KNOWN {
            known.learn(&receiver(nth), Duration::ZERO, at(0));
        }
        assert!(known.quick.iter().map(HashSet::len).sum::<usize>() <= 2 * MOST_KNOWN);
        let mut lately = 2 * MOST_KNOWN..3 * MOST_KNOWN;
        assert!(lately.all(|nth| known.standing(&receiver(nth)) == Quick));
        assert_eq!(known.standing(&receiver(0)), Unknown);
        for nth in 0..2 * MOST_KNOWN {
            known.learn(&receiver(nth), SLOW, at(0));
        }
        assert_eq!(known.slow.len(), MOST_KNOWN);
    }
}
