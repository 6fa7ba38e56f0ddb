//! What deleted sites and accounts leave behind, removed bit by bit.
//!
//! *Invariant:* nothing is added to a deleted site or account: every writer reads, for update, a
//! row that the deletion removed, or changes a row that is removed here before whatever counts it.
//! So what is found once is all there is. Rows that were committed at the same moment as the
//! deletion, which it did not see, are found here.

use surrealdb::types::{RecordId, SurrealValue};
use vedette_model::delivery::LETTER;
use vedette_model::{AccountId, SiteId};

use crate::error::{Error, Result};
use crate::tx::Binds;
use crate::{Store, key, row};

#[derive(SurrealValue)]
struct PurgeRow {
    id: RecordId,
}

#[derive(SurrealValue)]
struct AccountPurgeRow {
    id: RecordId,
    email: String,
}

impl Store {
    /// Removes up to `batch` rows of one site or account that was deleted; false when nothing is
    /// left of any. Some 500 rows keep a transaction short and small. One that cannot be removed is
    /// skipped, and its error is answered when there is nothing else to remove.
    pub async fn purge_next(&self, batch: usize) -> Result<bool> {
        let sites = first_that_goes(|passed| self.purge_site(passed, batch)).await;
        if matches!(sites, Ok(true) | Err(Error::Unavailable(_))) {
            return sites;
        }
        let accounts = first_that_goes(|passed| self.purge_account(passed, batch)).await;
        Ok(accounts? || sites?)
    }

    async fn purge_site(&self, passed: usize, batch: usize) -> Result<bool> {
        let next = "SELECT id FROM purge LIMIT 1 START $passed";
        let next: Vec<PurgeRow> = self.read(next, Binds::new().with("passed", passed)).await?;
        let Some(purge) = next.into_iter().next() else { return Ok(false) };
        let account = AccountId(key::uuid_at(&purge.id, 0)?);
        let site = SiteId(key::uuid_at(&purge.id, 1)?);
        for leftover in of_site(account, site) {
            if self.remove(leftover, batch).await? > 0 {
                return Ok(true);
            }
        }
        // Known by their ids, and begun or ended in the moment of the deletion.
        let renewals = vec![key::renewal_job(site), key::renewal_certificate(site)];
        let binds = Binds::new().with("id", purge.id).with("renewals", renewals);
        self.write("DELETE $renewals RETURN NONE; DELETE $id RETURN NONE", binds).await?;
        Ok(true)
    }

    /// Its sites have purges of their own.
    async fn purge_account(&self, passed: usize, batch: usize) -> Result<bool> {
        let next = "SELECT id, email FROM account_purge LIMIT 1 START $passed";
        let next: Vec<AccountPurgeRow> =
            self.read(next, Binds::new().with("passed", passed)).await?;
        let Some(purge) = next.into_iter().next() else { return Ok(false) };
        let account = AccountId(key::uuid_at(&purge.id, 0)?);
        for leftover in of_account(account, &purge.email)? {
            if self.remove(leftover, batch).await? > 0 {
                return Ok(true);
            }
        }
        let binds =
            Binds::new().with("id", purge.id).with("maintenance", key::maintenance(account));
        self.write("DELETE $maintenance RETURN NONE; DELETE $id RETURN NONE", binds).await?;
        Ok(true)
    }

    async fn remove(&self, leftover: Leftover, batch: usize) -> Result<u64> {
        let unit = format!(
            "LET $ids = ({});
            DELETE $ids RETURN NONE;
            RETURN array::len($ids)",
            leftover.ids
        );
        self.tx(&unit, leftover.binds.with("batch", batch)).await
    }
}

/// Removes the first that can be, after however many that cannot; false when there is none, or the
/// error of the first that cannot.
async fn first_that_goes<F>(purge: impl Fn(usize) -> F) -> Result<bool>
where
    F: Future<Output = Result<bool>>,
{
    let mut failed = Ok(false);
    for passed in 0..MOST_PASSED {
        match purge(passed).await {
            Ok(true) => return Ok(true),
            Ok(false) => break,
            // Of every other the same would be said.
            Err(away @ Error::Unavailable(_)) => return Err(away),
            Err(cause) => failed = failed.and(Err(cause)),
        }
    }
    failed
}

/// Rows of one table, found by an index or by their ids.
struct Leftover {
    ids: &'static str,
    binds: Binds,
}

impl Leftover {
    fn new(ids: &'static str, of: impl SurrealValue) -> Self {
        Self { ids, binds: Binds::new().with("of", of) }
    }

    /// All rows of a range of ids.
    fn keyed(range: RecordId) -> Self {
        Self::new(KEYED, range)
    }

    fn with(self, name: &'static str, value: impl SurrealValue) -> Self {
        Self { binds: self.binds.with(name, value), ..self }
    }
}

fn of_site(account: AccountId, site: SiteId) -> Vec<Leftover> {
    let indexed =
        [BY_SITE_CHECKS, BY_SITE_ALERTS, BY_SITE_CERT_HISTORY, BY_SITE_DELIVERIES, BY_SITE_WINDOWS]
            .map(|ids| Leftover::new(ids, site.0));
    let keyed = [
        "check_day",
        "check_state",
        "check_memory",
        "plugin_state",
        "plugin_state_size",
        "renewal_log",
    ]
    .map(|table| Leftover::keyed(key::of_site(table, site)));
    let counts = Leftover::keyed(key::of_account_site("alert_count", account, site));
    indexed.into_iter().chain(keyed).chain([counts]).collect()
}

/// What letters to this address have in them, as `Delivery` is written.
pub(crate) fn own_letters(email: &str) -> Result<String> {
    Ok(format!("\"to\":{}", row::write("address", &email)?))
}

/// What is counted or gathered comes before its counter and its lane: a writer that still changes
/// the one at this moment writes the other too.
fn of_account(account: AccountId, email: &str) -> Result<Vec<Leftover>> {
    let own = own_letters(email)?;
    let deliveries = [
        Leftover::new(BY_ACCOUNT_DELIVERIES, account.0),
        Leftover::new(BY_ACCOUNT_LETTERS, account.0).with("own", own),
    ]
    .map(|deliveries| deliveries.with("letter", LETTER));
    let keyed = [
        "acme_account",
        "channel_lane",
        "incident",
        "incident_count",
        "event_new",
        "event_log",
        "maintenance_window",
        "usage",
    ]
    .map(|table| Leftover::keyed(key::of_account(table, account)));
    Ok(deliveries.into_iter().chain(keyed).collect())
}

/// More than this is no damage to one of them, but to all.
const MOST_PASSED: usize = 64;

pub(crate) const BY_SITE_CHECKS: &str = "SELECT VALUE id FROM check WHERE site = $of LIMIT $batch";
const BY_SITE_ALERTS: &str = "SELECT VALUE id FROM alert WHERE site = $of LIMIT $batch";
const BY_SITE_CERT_HISTORY: &str =
    "SELECT VALUE id FROM cert_history WHERE site = $of LIMIT $batch";
/// A batch that speaks for other sites too is sent, and forgotten like any other.
const BY_SITE_DELIVERIES: &str =
    "SELECT VALUE id FROM delivery WHERE site = $of AND shared = false LIMIT $batch";
pub(crate) const BY_SITE_WINDOWS: &str =
    "SELECT VALUE id FROM maintenance_window WHERE site = $of LIMIT $batch";
pub(crate) const BY_ACCOUNT_DELIVERIES: &str =
    "SELECT VALUE id FROM delivery WHERE account = $of AND channel != $letter LIMIT $batch";
/// Others get theirs.
pub(crate) const BY_ACCOUNT_LETTERS: &str = "SELECT VALUE id FROM delivery
    WHERE account = $of AND channel = $letter AND string::contains(doc, $own) LIMIT $batch";
const KEYED: &str = "SELECT VALUE id FROM $of LIMIT $batch";
