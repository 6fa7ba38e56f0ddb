//! What deleted sites leave behind, removed bit by bit.
//!
//! *Invariant:* nothing is added to a site that was deleted: everything that writes to one reads
//! a row that its deletion removed. So what is found once is all there is. What the deletion
//! itself did not see, because it was committed in the same moment, is found here.

use surrealdb::types::{RecordId, SurrealValue, Value};
use vedette_model::{AccountId, SiteId};

use crate::error::Result;
use crate::tx::Binds;
use crate::{Store, key};

#[derive(SurrealValue)]
struct PurgeRow {
    id: RecordId,
}

impl Store {
    /// Removes up to `batch` rows of one site that was deleted; false when nothing is left of
    /// any. Some 500 rows keep a transaction short and small.
    pub async fn purge_next(&self, batch: usize) -> Result<bool> {
        let next: Vec<PurgeRow> = self.read("SELECT id FROM purge LIMIT 1", Binds::new()).await?;
        let Some(purge) = next.into_iter().next() else { return Ok(false) };
        let account = AccountId(key::uuid_at(&purge.id, 0)?);
        let site = SiteId(key::uuid_at(&purge.id, 1)?);
        for leftover in leftovers(account, site) {
            if self.remove(leftover, batch).await? > 0 {
                return Ok(true);
            }
        }
        self.write("DELETE $id RETURN NONE", Binds::new().with("id", purge.id)).await?;
        Ok(true)
    }

    async fn remove(&self, leftover: Leftover, batch: usize) -> Result<u64> {
        let unit = format!(
            "LET $ids = ({});
            DELETE $ids RETURN NONE;
            RETURN array::len($ids)",
            leftover.ids
        );
        self.tx(&unit, Binds::new().with("of", leftover.of).with("batch", batch)).await
    }
}

/// Rows of one table, found by an index or by their ids.
struct Leftover {
    ids: &'static str,
    of: Value,
}

fn leftovers(account: AccountId, site: SiteId) -> Vec<Leftover> {
    let indexed =
        [BY_SITE_CHECKS, BY_SITE_ALERTS, BY_SITE_CERT_HISTORY, BY_SITE_DELIVERIES, BY_SITE_WINDOWS]
            .map(|ids| Leftover { ids, of: site.0.into_value() });
    let keyed = [
        "check_day",
        "check_state",
        "check_memory",
        "plugin_state",
        "plugin_state_size",
        "renewal_log",
    ]
    .map(|table| Leftover { ids: KEYED, of: key::of_site(table, site).into_value() });
    let counts = key::of_account_site("alert_count", account, site).into_value();
    let counts = Leftover { ids: KEYED, of: counts };
    indexed.into_iter().chain(keyed).chain([counts]).collect()
}

pub(crate) const BY_SITE_CHECKS: &str = "SELECT VALUE id FROM check WHERE site = $of LIMIT $batch";
const BY_SITE_ALERTS: &str = "SELECT VALUE id FROM alert WHERE site = $of LIMIT $batch";
const BY_SITE_CERT_HISTORY: &str =
    "SELECT VALUE id FROM cert_history WHERE site = $of LIMIT $batch";
/// A batch that speaks for other sites too is sent, and forgotten like any other.
const BY_SITE_DELIVERIES: &str =
    "SELECT VALUE id FROM delivery WHERE site = $of AND shared = false LIMIT $batch";
pub(crate) const BY_SITE_WINDOWS: &str =
    "SELECT VALUE id FROM maintenance_window WHERE site = $of LIMIT $batch";
const KEYED: &str = "SELECT VALUE id FROM $of LIMIT $batch";
