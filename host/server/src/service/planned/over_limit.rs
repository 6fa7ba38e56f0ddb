//! The sites that an account keeps beyond the limit of its plan, as after a downgrade: they stay, and
//! are not monitored.

use std::{collections::HashSet, sync::Arc, time::Duration};

use moka::future::Cache;
use vedette_model::{AccountId, Plan, Site, SiteId};
use vedette_store::Stamp;

use crate::{App, Error, Result};

/// By account and where it stood: any change of its plan or its sites has them looked up anew.
pub(super) struct OverLimit(Cache<(AccountId, Stamp), Arc<HashSet<SiteId>>>);

impl OverLimit {
    pub(super) fn new() -> Self {
        Self(Cache::builder().max_capacity(MOST_ACCOUNTS).time_to_live(KEEP).build())
    }

    /// Whether the site is monitored in effect: switched on, and within the plan's limit.
    pub(super) async fn is_watched(
        &self,
        app: &App,
        stamp: Stamp,
        plan: &'static Plan,
        site: &Site,
    ) -> Result<bool> {
        if !site.monitoring_enabled {
            return Ok(false);
        }
        let over = self.0.try_get_with((site.account_id, stamp), async {
            let sites = app.store.listed_sites(site.account_id).await?.1;
            let over = sites.iter().skip(plan.sites as usize).map(|site| site.id);
            Ok::<_, vedette_store::Error>(Arc::new(over.collect::<HashSet<_>>()))
        });
        let over = over.await.map_err(|cause| Error::Internal(anyhow::anyhow!(cause)))?;
        Ok(!over.contains(&site.id))
    }
}

const MOST_ACCOUNTS: u64 = 10_000;
const KEEP: Duration = Duration::from_secs(60);
