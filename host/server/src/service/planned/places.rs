//! The places that a check takes up while it runs: at the host that it connects to, of its account,
//! in the rooms that the sandbox has for its plugin, and among the checks that were slow last time.
//!
//! *Invariant:* a check that waits for one of them holds none of the others meanwhile.
//! *Invariant:* checks that were slow last time have at most half of the turns: however many sites
//! hang, the others are looked at.

use vedette_model::AccountId;
use vedette_sandbox::{PlannedRoom, TARGET_RUNS};

use super::{
    MOST_RUNS,
    busy::{Busy, Place, Rank},
};

/// Which places are taken.
pub(super) struct Places(Busy<Spot>);

/// Where a check wants a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// None where it asks others about it.
    pub(super) host: Option<String>,
    pub(super) account: AccountId,
    pub(super) rooms: Vec<PlannedRoom>,
    /// It took long the last time.
    pub(super) is_slow: bool,
}

/// The places of one run; dropping them makes room for another.
pub(super) struct Taken {
    host: Option<String>,
    rooms: Vec<PlannedRoom>,
    _places: Vec<Place<Spot>>,
}

/// What only so many have a place at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Spot {
    Host(String),
    Account(AccountId),
    Room(PlannedRoom),
    Slow,
}

impl Places {
    pub(super) fn new() -> Self {
        Self(Busy::new(Spot::limit))
    }

    /// The places wanted; none while there is no room for one of them.
    pub(super) fn take(&self, wanted: &Wanted) -> Option<Taken> {
        self.fill(wanted, None).ok()
    }

    /// The places wanted, as soon as there is room, after the checks that come first.
    pub(super) async fn wait(&self, wanted: &Wanted, rank: Rank) -> Taken {
        let mut handed = None;
        loop {
            match self.fill(wanted, handed) {
                Ok(taken) => return taken,
                Err(lack) => handed = Some(self.0.wait(&lack, rank).await),
            }
        }
    }

    /// Takes the other places wanted besides the one that was `handed`; if there is no room for one
    /// of them, says where, and keeps none.
    fn fill(&self, wanted: &Wanted, handed: Option<Place<Spot>>) -> Result<Taken, Spot> {
        let mut places = Vec::from_iter(handed);
        for spot in wanted.spots() {
            if places.iter().any(|place| *place.key() == spot) {
                continue;
            }
            places.push(self.0.take(&spot).ok_or(spot)?);
        }
        let Wanted { host, rooms, .. } = wanted;
        Ok(Taken { host: host.clone(), rooms: rooms.clone(), _places: places })
    }
}

impl Wanted {
    fn spots(&self) -> impl Iterator<Item = Spot> {
        let host = self.host.iter().cloned().map(Spot::Host);
        let rooms = self.rooms.iter().cloned().map(Spot::Room);
        let slow = self.is_slow.then_some(Spot::Slow);
        host.chain([Spot::Account(self.account)]).chain(rooms).chain(slow)
    }
}

impl Taken {
    /// Whether they are still the places wanted: a site may have moved, or its plugin given way to
    /// another version.
    pub(super) fn are_of(&self, wanted: &Wanted) -> bool {
        self.host == wanted.host && self.rooms == wanted.rooms
    }
}

impl Spot {
    fn limit(&self) -> u32 {
        match self {
            Self::Host(_) => TARGET_RUNS,
            Self::Account(_) => RUNS_PER_ACCOUNT,
            Self::Room(room) => room.runs,
            Self::Slow => SLOW_RUNS,
        }
    }
}

const RUNS_PER_ACCOUNT: u32 = 16;
const SLOW_RUNS: u32 = MOST_RUNS as u32 / 2;

#[cfg(test)]
mod tests {
    use futures::{FutureExt, poll};
    use uuid::Uuid;
    use vedette_model::Timestamp;

    use super::*;

    fn wanted(host: &str, account: u128) -> Wanted {
        let account = AccountId(Uuid::from_u128(account));
        Wanted { host: Some(host.to_owned()), account, rooms: Vec::new(), is_slow: false }
    }

    fn rank() -> Rank {
        Rank { is_first_look: true, planned_for: Timestamp::UNIX_EPOCH }
    }

    #[tokio::test]
    async fn run_that_waits_for_its_host_holds_no_place_of_its_account_and_the_other_way_round() {
        let places = Places::new();
        let slow = wanted("slow.example", 1);
        let mut runs: Vec<_> = (0..TARGET_RUNS).map(|_| places.take(&slow)).collect();
        let mut waits = Box::pin(places.wait(&slow, rank()));
        assert!(poll!(&mut waits).is_pending());
        let others = RUNS_PER_ACCOUNT - TARGET_RUNS;
        let others: Vec<_> =
            (0..others).map(|nth| places.take(&wanted(&format!("{nth}.example"), 1))).collect();
        assert!(others.iter().all(Option::is_some), "all places of the account are free");

        // Now it is the account that has none left; the host's place is for others.
        runs.pop();
        let fast = wanted("fast.example", 1);
        let mut full = Box::pin(places.wait(&fast, rank()));
        drop(runs);
        let more: Vec<_> = (0..TARGET_RUNS)
            .map(|nth| places.take(&wanted(&format!("more{nth}.example"), 1)))
            .collect();
        assert!(poll!(&mut waits).is_pending());
        assert!(poll!(&mut full).is_pending());
        let strangers: Vec<_> =
            (0..TARGET_RUNS).map(|_| places.take(&wanted("fast.example", 2))).collect();
        assert!(strangers.iter().all(Option::is_some), "nobody keeps them from the host");
        drop((more, others));
        assert!(waits.now_or_never().is_some(), "it goes on with the first that came free");
    }

    #[test]
    fn places_are_of_no_use_to_a_site_that_moved_or_a_plugin_that_has_other_room() {
        let places = Places::new();
        let before = wanted("before.example", 1);
        let taken = places.take(&before).expect("nobody has it");
        let rooms = vec![PlannedRoom { of: "another".into(), runs: 1 }];
        assert!(taken.are_of(&Wanted { is_slow: true, ..before.clone() }));
        assert!(!taken.are_of(&wanted("after.example", 1)));
        assert!(!taken.are_of(&Wanted { rooms, ..before }));
    }

    #[tokio::test]
    async fn run_that_waits_for_room_of_its_plugin_holds_none_of_the_engines() {
        let places = Places::new();
        let room = |of: &str, runs| PlannedRoom { of: of.into(), runs };
        let nth = |nth: u32, plugin: &str| {
            let rooms = vec![room(plugin, 8), room("all heavy plugins", 11)];
            Wanted { rooms, ..wanted(&format!("{nth}.example"), nth.into()) }
        };
        let mut runs: Vec<_> = (0..8).map(|number| places.take(&nth(number, "a"))).collect();
        assert!(runs.iter().all(Option::is_some));
        let ninth = nth(8, "a");
        let mut waits = Box::pin(places.wait(&ninth, rank()));
        assert!(poll!(&mut waits).is_pending());
        let others: Vec<_> = (8..11).map(|number| places.take(&nth(number, "b"))).collect();
        assert!(others.iter().all(Option::is_some), "its host and the engine are free");

        // Now it is the engine that has no room; the plugin's is for others.
        assert!(places.take(&nth(11, "b")).is_none());
        assert!(places.take(&wanted("light.example", 12)).is_some());
        runs.pop();
        assert!(waits.now_or_never().is_some());
    }

    #[test]
    fn what_was_slow_has_half_of_the_turns_and_the_others_find_room() {
        let places = Places::new();
        let nth = |nth: u32, is_slow| {
            let host = format!("{nth}.example");
            places.take(&Wanted { is_slow, ..wanted(&host, nth.into()) })
        };
        let hanging: Vec<_> = (0..SLOW_RUNS).map(|number| nth(number, true)).collect();
        assert!(hanging.iter().all(Option::is_some));
        assert!(nth(SLOW_RUNS, true).is_none());
        assert!(nth(SLOW_RUNS, false).is_some());
        drop(hanging);
        assert!(nth(SLOW_RUNS, true).is_some());
    }
}
