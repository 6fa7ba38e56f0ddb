//! Somebody new: the letter that an account gets once, and how many free accounts an address made.
//!
//! *Invariant:* an address is never stored, only its mark, and that no longer than it counts. Whose
//! account it made is forgotten with the account.

use std::net::IpAddr;

use surrealdb::types::RecordId;
use vedette_model::{AccountId, Delivery, Timestamp};

use crate::delivery::{QUEUE_LETTERS, letters};
use crate::error::Result;
use crate::tx::Binds;
use crate::{Store, key};

impl Store {
    /// Queues the letter of welcome to an account, once for ever; false when that was done before,
    /// and when there is no such account.
    pub async fn welcome(
        &self,
        account: AccountId,
        letter: &Delivery,
        now: Timestamp,
    ) -> Result<bool> {
        let unit = format!(
            "LET $greeted = (UPDATE $account SET welcomed_at = $now
                WHERE welcomed_at = NONE RETURN AFTER);
            IF !array::is_empty($greeted) {{ {QUEUE_LETTERS} }};
            RETURN array::len($greeted)"
        );
        let binds = Binds::new()
            .with("account", key::account(account))
            .with("letters", letters(std::slice::from_ref(letter), &self.inner.seal)?)
            .with("now", now);
        let greeted: u64 = self.tx(&unit, binds).await?;
        Ok(greeted == 1)
    }

    /// How many accounts an address made by first sessions after a moment that are on the plan
    /// `free`, or were on it when they were deleted.
    pub async fn free_accounts_of(
        &self,
        address: IpAddr,
        free: &str,
        after: Timestamp,
    ) -> Result<usize> {
        let mut count = 0;
        for mark in self.inner.seal.marks(&name(address)) {
            let plans: Vec<Option<String>> = self
                .read(
                    "SELECT VALUE account.plan ?? plan FROM $signups
                        WHERE created_at > $after LIMIT $most",
                    Binds::new()
                        .with("signups", key::signups(&mark))
                        .with("after", after)
                        .with("most", MOST_LOOKED_AT),
                )
                .await?;
            count += plans.iter().flatten().filter(|plan| *plan == free).count();
        }
        Ok(count)
    }

    /// Forgets up to `batch` addresses that made an account before a moment; false when there are
    /// none left.
    pub async fn forget_signups(&self, before: Timestamp, batch: usize) -> Result<bool> {
        let unit = "LET $old = (SELECT id, created_at FROM signup WHERE created_at < $before
                ORDER BY created_at LIMIT $batch);
            DELETE $old.id RETURN NONE;
            RETURN array::len($old)";
        let forgotten: u64 =
            self.tx(unit, Binds::new().with("before", before).with("batch", batch)).await?;
        Ok(forgotten > 0)
    }

    pub(crate) fn signup(&self, address: IpAddr, account: AccountId) -> RecordId {
        key::signup(&self.inner.seal.mark(&name(address)), account)
    }
}

fn name(address: IpAddr) -> String {
    format!("address of a sign-up {address}")
}

/// For the unit that deletes an `$account`: its sign-up stays, or deleting an account would let its
/// owner make the next one as if it were the first; but not whose it was. `$nobody` is a number
/// that stands for nobody. Of one address only as many stay as are looked at: making and deleting
/// fills no disk.
pub(crate) const UNNAME: &str = "
LET $signup = (SELECT id, created_at FROM signup WHERE account = $account)[0];
IF $signup != NONE {
    LET $mark = record::id($signup.id)[0];
    LET $marked = (SELECT VALUE id FROM signup:[$mark]..=[$mark, ..] LIMIT $most_signups);
    DELETE $signup.id RETURN NONE;
    IF array::len($marked) < $most_signups {
        CREATE type::record('signup', [$mark, $nobody]) SET plan = $account.plan,
            created_at = $signup.created_at RETURN NONE
    }
};";

/// Of one address; one that made more is recognised by the first ones.
pub(crate) const MOST_LOOKED_AT: usize = 1_000;
