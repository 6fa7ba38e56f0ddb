//! Callers and lists of sites, kept in memory as long as they are true.
//!
//! Each account carries a stamp that every transaction raises which changes what is kept here. A
//! request learns the present stamp with the write that counts it ([`Store::count_call`]); what
//! was kept under another one is read anew. So a change on one node is seen by the next request
//! on every node, and no node tells another.
//!
//! *Invariant:* memory is bounded, whatever is asked for.

use std::sync::Arc;

use moka::sync::Cache;
use surrealdb::types::SurrealValue;
use vedette_model::{Account, AccountId, ApiKey, Site, Timestamp};

use crate::error::Result;
use crate::tx::Binds;
use crate::{Store, key, row};

/// Where an account stands: another value after every change of its plan, keys or sites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, SurrealValue)]
pub struct Stamp(i64);

/// Who a key belongs to, and where the account stood when that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub key: ApiKey,
    pub account: Account,
    pub stamp: Stamp,
}

/// What this process remembers of its callers.
pub(crate) struct Known {
    /// By the key's hash.
    callers: Cache<String, Arc<Found>>,
    sites: Cache<AccountId, Sites>,
}

type Sites = (Stamp, Arc<[Site]>);

#[derive(SurrealValue)]
struct SitesRow {
    stamp: Option<Stamp>,
    docs: Vec<String>,
}

impl Default for Known {
    fn default() -> Self {
        let weight = |_: &AccountId, (_, sites): &Sites| {
            u32::try_from(sites.len()).unwrap_or(u32::MAX).saturating_add(1)
        };
        Self {
            callers: Cache::new(MOST_CALLERS),
            sites: Cache::builder().max_capacity(MOST_SITES).weigher(weight).build(),
        }
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
}

impl Store {
    /// An account's sites, oldest first, as they are at `stamp` or later, without their secrets.
    /// From memory when they were read at that stamp.
    pub async fn sites_at(&self, account: AccountId, stamp: Stamp) -> Result<Arc<[Site]>> {
        if let Some((at, sites)) = self.inner.known.sites.get(&account)
            && at == stamp
        {
            return Ok(sites);
        }
        let row: SitesRow = self
            .read(
                "RETURN { stamp: (SELECT VALUE stamp FROM ONLY $account),
                    docs: (SELECT VALUE doc FROM $sites) }",
                Binds::new()
                    .with("account", key::account(account))
                    .with("sites", key::sites(account)),
            )
            .await?;
        let mut sites: Vec<Site> = row::read_all("site", &row.docs)?;
        sites.sort_by_key(|site| (site.created_at, site.id));
        let sites: Arc<[Site]> = sites.into();
        if let Some(stamp) = row.stamp {
            self.inner.known.sites.insert(account, (stamp, Arc::clone(&sites)));
        }
        Ok(sites)
    }
}

/// At some 600 bytes each, 10 MB.
const MOST_CALLERS: u64 = 16_384;
/// Over all accounts; at about 1 KB each, 20 MB.
const MOST_SITES: u64 = 20_000;
