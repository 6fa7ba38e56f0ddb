//! Limits how many on-demand checks one account runs at once; others are not affected. Planned
//! checks have room of their own in the sandbox.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use vedette_model::AccountId;

use crate::{Error, Result};

/// How many on-demand checks each account is running.
#[derive(Default)]
pub(crate) struct Places {
    accounts: Mutex<HashMap<AccountId, Arc<Semaphore>>>,
}

/// The right to have one check run; dropping it makes room for another.
#[derive(Debug)]
pub(super) struct Place {
    _permit: OwnedSemaphorePermit,
}

impl Places {
    /// Waits for one of the account's places; the call that has waited longest gets the next.
    ///
    /// # Errors
    /// `Limited` when none comes free for so long.
    pub(super) async fn take(&self, account: AccountId, patience: Duration) -> Result<Place> {
        let permit = timeout(patience, self.of(account).acquire_owned()).await;
        let permit = permit.map_err(|_| Error::Limited {
            retry_after: RETRY_AFTER,
            message: format!(
                "{RUNS_PER_ACCOUNT} checks on demand of this account are running; try again in \
                 {RETRY_AFTER} s"
            ),
        })?;
        Ok(Place { _permit: permit.expect("these semaphores are never closed") })
    }

    fn of(&self, account: AccountId) -> Arc<Semaphore> {
        let mut accounts = self.accounts.lock();
        if accounts.len() >= ACCOUNTS {
            // A call that has a place or waits for one holds a clone.
            accounts.retain(|_, places| Arc::strong_count(places) > 1);
        }
        let places = accounts.entry(account);
        Arc::clone(places.or_insert_with(|| Arc::new(Semaphore::new(RUNS_PER_ACCOUNT))))
    }
}

/// A third of the runs of one plugin that the sandbox has room for beside those that are planned.
const RUNS_PER_ACCOUNT: usize = 16;
/// No check takes longer once it runs, so within this time the place of an earlier one comes free.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
const RETRY_AFTER: u64 = 5;
/// Accounts without a check going on are forgotten once there are this many.
const ACCOUNTS: usize = 4096;

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn who_has_all_places_waits_for_one_of_them_and_nobody_else_does() {
        let (places, many) = (Places::default(), AccountId(Uuid::from_u128(1)));
        let mut taken = Vec::new();
        for _ in 0..RUNS_PER_ACCOUNT {
            taken.push(places.take(many, Duration::ZERO).await.expect("a place"));
        }
        let refused = places.take(many, Duration::ZERO).await.expect_err("all are taken");
        assert!(matches!(refused, Error::Limited { retry_after: RETRY_AFTER, .. }), "{refused}");
        let other = AccountId(Uuid::from_u128(2));
        places.take(other, Duration::ZERO).await.expect("a place of its own");

        let mut waits = Box::pin(places.take(many, PATIENCE));
        assert!(futures::poll!(&mut waits).is_pending());
        taken.pop();
        waits.await.expect("the place that came free");
    }
}
