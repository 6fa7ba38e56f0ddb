//! Where a check takes up a place while it runs: at the host that it connects to, and of its account.
//!
//! *Invariant:* who waits for the one keeps nobody from the other meanwhile.

use vedette_model::AccountId;
use vedette_sandbox::TARGET_RUNS;

use super::busy::{Busy, Place, Rank};

/// Who has which places.
pub(super) struct Places {
    hosts: Busy<String>,
    accounts: Busy<AccountId>,
}

/// Where a check wants a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// None where it asks others about it.
    pub(super) host: Option<String>,
    pub(super) account: AccountId,
}

/// The places of one run; dropping them makes room for another.
pub(super) struct Taken {
    pub(super) wanted: Wanted,
    _host: Option<Place<String>>,
    _account: Place<AccountId>,
}

impl Places {
    pub(super) fn new() -> Self {
        Self { hosts: Busy::new(TARGET_RUNS), accounts: Busy::new(RUNS_PER_ACCOUNT) }
    }

    /// What is wanted; none while the host or the account has nothing left.
    pub(super) fn take(&self, wanted: &Wanted) -> Option<Taken> {
        let host = match &wanted.host {
            Some(host) => Some(self.hosts.take(host)?),
            None => None,
        };
        let account = self.accounts.take(&wanted.account)?;
        Some(Taken::new(wanted, host, account))
    }

    /// What is wanted as soon as there is room for it, after those who come first.
    pub(super) async fn wait(&self, wanted: &Wanted, rank: Rank) -> Taken {
        loop {
            let host = match &wanted.host {
                Some(host) => Some(self.hosts.wait(host, rank).await),
                None => None,
            };
            if let Some(account) = self.accounts.take(&wanted.account) {
                return Taken::new(wanted, host, account);
            }
            drop(host);
            let account = self.accounts.wait(&wanted.account, rank).await;
            let Some(host) = &wanted.host else { return Taken::new(wanted, None, account) };
            if let Some(host) = self.hosts.take(host) {
                return Taken::new(wanted, Some(host), account);
            }
        }
    }
}

impl Taken {
    fn new(wanted: &Wanted, host: Option<Place<String>>, account: Place<AccountId>) -> Self {
        Self { wanted: wanted.clone(), _host: host, _account: account }
    }
}

const RUNS_PER_ACCOUNT: u32 = 16;

#[cfg(test)]
mod tests {
    use futures::{FutureExt, poll};
    use uuid::Uuid;
    use vedette_model::Timestamp;

    use super::*;

    fn wanted(host: &str, account: u128) -> Wanted {
        Wanted { host: Some(host.to_owned()), account: AccountId(Uuid::from_u128(account)) }
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
}
