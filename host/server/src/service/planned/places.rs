//! Where a check takes up a place while it runs: at the host that it connects to, of its account, and
//! among those that were slow the last time.
//!
//! *Invariant:* who waits for one of them keeps nobody from the others meanwhile.
//! *Invariant:* what was slow the last time has half of the turns at most: however many sites hang, the
//! others are looked at.

use vedette_model::AccountId;
use vedette_sandbox::TARGET_RUNS;

use super::{
    MOST_RUNS,
    busy::{Busy, Place, Rank},
};

/// Who has which places.
pub(super) struct Places {
    hosts: Busy<String>,
    accounts: Busy<AccountId>,
    slow: Busy<()>,
}

/// Where a check wants a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// None where it asks others about it.
    pub(super) host: Option<String>,
    pub(super) account: AccountId,
    /// It took long the last time.
    pub(super) is_slow: bool,
}

/// The places of one run; dropping them makes room for another.
pub(super) struct Taken {
    pub(super) wanted: Wanted,
    host: Option<Place<String>>,
    account: Option<Place<AccountId>>,
    slow: Option<Place<()>>,
}

/// Where a check finds no place.
enum Lack<'a> {
    Host(&'a String),
    Account,
    Slow,
}

impl Places {
    pub(super) fn new() -> Self {
        Self {
            hosts: Busy::new(TARGET_RUNS),
            accounts: Busy::new(RUNS_PER_ACCOUNT),
            slow: Busy::new(SLOW_RUNS),
        }
    }

    /// What is wanted; none while there is no room for some of it.
    pub(super) fn take(&self, wanted: &Wanted) -> Option<Taken> {
        let mut taken = Taken::nothing(wanted);
        self.fill(wanted, &mut taken).is_none().then_some(taken)
    }

    /// What is wanted as soon as there is room for it, after those who come first.
    pub(super) async fn wait(&self, wanted: &Wanted, rank: Rank) -> Taken {
        let mut taken = Taken::nothing(wanted);
        while let Some(lack) = self.fill(wanted, &mut taken) {
            taken = Taken::nothing(wanted);
            match lack {
                Lack::Host(host) => taken.host = Some(self.hosts.wait(host, rank).await),
                Lack::Account => {
                    taken.account = Some(self.accounts.wait(&wanted.account, rank).await);
                }
                Lack::Slow => taken.slow = Some(self.slow.wait(&(), rank).await),
            }
        }
        taken
    }

    /// Takes what is wanted besides what is taken, up to where there is no room.
    fn fill<'a>(&self, wanted: &'a Wanted, taken: &mut Taken) -> Option<Lack<'a>> {
        if let Some(host) = &wanted.host
            && taken.host.is_none()
        {
            taken.host = self.hosts.take(host);
            if taken.host.is_none() {
                return Some(Lack::Host(host));
            }
        }
        if taken.account.is_none() {
            taken.account = self.accounts.take(&wanted.account);
            if taken.account.is_none() {
                return Some(Lack::Account);
            }
        }
        if wanted.is_slow && taken.slow.is_none() {
            taken.slow = self.slow.take(&());
            if taken.slow.is_none() {
                return Some(Lack::Slow);
            }
        }
        None
    }
}

impl Taken {
    fn nothing(wanted: &Wanted) -> Self {
        Self { wanted: wanted.clone(), host: None, account: None, slow: None }
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
        Wanted { host: Some(host.to_owned()), account, is_slow: false }
    }

    fn rank() -> Rank {
        Rank { is_first_look: true, planned_for: Timestamp::UNIX_EPOCH }
    }

    #[tokio::test]
    async fn who_waits_for_a_host_holds_no_place_of_his_account_and_the_other_way_round() {
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
