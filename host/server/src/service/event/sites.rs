//! Whether an account's sites are still what they were. No event tells of it.

use std::{
    collections::{BTreeMap, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
};

use serde_json::json;
use vedette_model::{Site, SiteId};
use vedette_store::Stamp;

use super::SitesChange;
use crate::{App, Caller, Result, service::site};

/// An account's sites, as far as it takes to see that they changed.
pub(super) struct Sites {
    /// Where the account stood when they were read.
    pub(super) stamp: Stamp,
    /// A digest of each as it is shown.
    digests: BTreeMap<SiteId, u64>,
}

impl Sites {
    pub(super) async fn read(app: &App, caller: &Caller) -> Result<Self> {
        let (stamp, sites) = site::list(app, caller).await?;
        let digests = sites.iter().map(|site| (site.id, digest(site))).collect();
        Ok(Self { stamp, digests })
    }

    pub(super) fn change_to(&self, after: &Self) -> Option<SitesChange> {
        if self.digests == after.digests {
            return None;
        }
        let all_there = self.digests.keys().all(|id| after.digests.contains_key(id));
        Some(if all_there { SitesChange::Changed } else { SitesChange::Removed })
    }
}

fn digest(site: &Site) -> u64 {
    let mut hasher = DefaultHasher::new();
    json!(site.view()).to_string().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn sites_that_are_gone_are_told_apart_from_those_that_changed() {
        let sites = |digests: &[(u128, u64)]| {
            let of = digests.iter().map(|(id, digest)| (SiteId(Uuid::from_u128(*id)), *digest));
            Sites { stamp: Stamp::default(), digests: of.collect() }
        };
        let before = sites(&[(1, 10), (2, 20)]);
        for (after, expected) in [
            (sites(&[(1, 10), (2, 20)]), None),
            (sites(&[(1, 10), (2, 21)]), Some(SitesChange::Changed)),
            (sites(&[(1, 10), (2, 20), (3, 30)]), Some(SitesChange::Changed)),
            (sites(&[(1, 10)]), Some(SitesChange::Removed)),
            (sites(&[(1, 10), (3, 30)]), Some(SitesChange::Removed)),
        ] {
            assert_eq!(before.change_to(&after), expected);
        }
    }
}
