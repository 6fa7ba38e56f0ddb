//! Callers, kept in memory as long as they are true, and the stamp that tells whether they are.
//!
//! Each account carries a stamp that every transaction raises which changes its plan, its keys, its
//! sites or its team. A request learns the present stamp with the write that counts it
//! ([`Store::count_call`]); what was kept under another one, here or by whoever shows it, is read
//! anew. So a change on one node is seen by the next request on every node, and no node tells
//! another.
//!
//! *Invariant:* memory is bounded, whatever is asked for.

use std::sync::Arc;

use moka::sync::Cache;
use surrealdb::types::SurrealValue;
use vedette_model::{Account, AccountId, ApiKey, Role, Site, Timestamp};

use crate::error::Result;
use crate::tx::Binds;
use crate::{Store, key, row};

/// Where an account stands: another value after every change of its plan, keys, sites, name or
/// address, of its team, and of the keys and plans of those in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, SurrealValue)]
pub struct Stamp(i64);

impl Stamp {
    /// The stamp of an account that is gone. No account ever had it, so a caller that is remembered
    /// is looked up again.
    pub(crate) const GONE: Self = Self(-1);
}

/// Who a key belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub key: ApiKey,
    pub person: Person,
}

/// Somebody with an account, and where it stood when that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Person {
    pub account: Arc<Account>,
    pub stamp: Stamp,
    /// Whose team they are in.
    pub team: Option<Team>,
}

/// A team as one of its members finds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Team {
    /// The owner's.
    pub account: Arc<Account>,
    /// The stamp of the owner's account. It is raised by every change of who is in the team, in
    /// which role and with which keys, and of the plan of either.
    pub stamp: Stamp,
    pub role: Role,
}

/// What this process remembers of its callers.
pub(crate) struct Known {
    /// By the key's hash.
    callers: Cache<String, Arc<Found>>,
}

#[derive(SurrealValue)]
struct SitesRow {
    stamp: Option<Stamp>,
    docs: Vec<String>,
}

impl Default for Known {
    fn default() -> Self {
        Self { callers: Cache::new(MOST_CALLERS) }
    }
}

impl Known {
    pub(crate) fn caller(&self, hash: &str) -> Option<Arc<Found>> {
        self.callers.get(hash)
    }

    pub(crate) fn keep_caller(&self, found: Arc<Found>) {
        self.callers.insert(found.key.hash.clone(), found);
    }

    pub(crate) fn note_use(&self, hash: &str, now: Timestamp) {
        if let Some(found) = self.callers.get(hash) {
            let mut found = Found::clone(&found);
            found.key.last_used_at = Some(now);
            self.callers.insert(hash.to_owned(), Arc::new(found));
        }
    }

    pub(crate) fn forget_caller(&self, hash: &str) {
        self.callers.invalidate(hash);
    }

    /// Callers that act for an account are read anew: so the first of many calls right after a
    /// change on this node already follows it, and not only those after one was counted.
    pub(crate) fn forget_account(&self, account: AccountId) {
        let acts = |person: &Person| {
            let team = person.team.as_ref().map(|team| team.account.id);
            person.account.id == account || team == Some(account)
        };
        for (hash, found) in &self.callers {
            if acts(&found.person) {
                self.callers.invalidate(&*hash);
            }
        }
    }
}

impl Store {
    /// An account's sites, oldest first, without their secrets, and where the account stood when
    /// they were read.
    pub async fn listed_sites(&self, account: AccountId) -> Result<(Stamp, Vec<Site>)> {
        let row: SitesRow = self
            .read(
                "RETURN { stamp: $account.stamp,
                    docs: (SELECT VALUE doc FROM $sites) }",
                Binds::new()
                    .with("account", key::account(account))
                    .with("sites", key::sites(account)),
            )
            .await?;
        let mut sites: Vec<Site> = row::read_all("site", &row.docs)?;
        sites.sort_by_key(|site| (site.created_at, site.id));
        Ok((row.stamp.unwrap_or(Stamp::GONE), sites))
    }
}

/// At some 600 bytes each, 10 MB.
const MOST_CALLERS: u64 = 16_384;
