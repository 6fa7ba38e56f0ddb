//! Brings the schema up to date: the texts of `migrations/` in order, each once.
//!
//! *Invariant:* a migration and the row that says it ran are one transaction, and the row's id is
//! its number: of several nodes that start at once, one runs it and the others see that it did.
//! A text that has shipped never changes.

use surrealdb::types::RecordId;
use uuid::Uuid;

use crate::Store;
use crate::error::{Error, Result};
use crate::tx::Binds;

impl Store {
    pub(crate) async fn migrate(&self) -> Result<()> {
        self.run(MIGRATIONS).await
    }

    /// The last migration that ran here; none where none ever did. `Newer` where it is unknown: what
    /// is in there may look otherwise by now.
    pub(crate) async fn reached(&self) -> Result<Option<i64>> {
        self.write(TABLE, Binds::new()).await?;
        self.refuse_newer(MIGRATIONS.len()).await?;
        let ran: Vec<i64> = self.read("SELECT VALUE number FROM migration", Binds::new()).await?;
        Ok(ran.into_iter().max())
    }

    async fn run(&self, migrations: &[&str]) -> Result<()> {
        self.write(TABLE, Binds::new()).await?;
        let mut reached = None;
        for (number, text) in (1_i64..).zip(migrations) {
            if self.step(number, text).await? {
                reached = Some(number);
            }
        }
        // One line, however many there were: a first start does all of them.
        if let Some(number) = reached {
            tracing::info!(number, "migrated the store to {number}");
        }
        self.refuse_newer(migrations.len()).await
    }

    /// Does a migration; says whether that was still to do.
    async fn step(&self, number: i64, text: &str) -> Result<bool> {
        let id = RecordId::new("migration", number);
        let checksum = checksum(text);
        for _ in 0..2 {
            let ran: Option<String> = self
                .read("SELECT VALUE checksum FROM ONLY $id", Binds::new().with("id", id.clone()))
                .await?;
            match ran {
                Some(ran) if ran == checksum => return Ok(false),
                Some(_) => return Err(Error::Rewritten(number)),
                None => {}
            }
            let unit = format!(
                "CREATE $id SET number = $number, checksum = $checksum RETURN NONE;\n{text}"
            );
            let binds = Binds::new()
                .with("id", id.clone())
                .with("number", number)
                .with("checksum", checksum.as_str());
            match self.write(&unit, binds).await {
                Ok(()) => tracing::debug!(number, "did migration {number}"),
                // Another node was faster: look at what it did.
                Err(Error::Duplicate) => continue,
                Err(error) => return Err(error),
            }
            return Ok(true);
        }
        Err(Error::Conflict)
    }

    async fn refuse_newer(&self, known: usize) -> Result<()> {
        let known = i64::try_from(known).expect("migrations are few");
        let newer: Vec<i64> = self
            .read(
                "SELECT VALUE number FROM migration WHERE number > $known",
                Binds::new().with("known", known),
            )
            .await?;
        match newer.into_iter().max() {
            Some(number) => Err(Error::Newer(number)),
            None => Ok(()),
        }
    }
}

/// SHA-1 by way of a version 5 UUID: it detects an edit, it is no defence.
fn checksum(text: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes()).to_string()
}

/// Where it is kept which of them ran.
const TABLE: &str = "DEFINE TABLE IF NOT EXISTS migration SCHEMAFULL;
    DEFINE FIELD IF NOT EXISTS number ON migration TYPE int;
    DEFINE FIELD IF NOT EXISTS checksum ON migration TYPE string";
/// In the order in which they run, from number 1.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_initial.surql"),
    include_str!("migrations/0002_stamp.surql"),
    include_str!("migrations/0003_incidents.surql"),
    include_str!("migrations/0004_identity.surql"),
    include_str!("migrations/0005_seal.surql"),
    include_str!("migrations/0006_renewal.surql"),
    include_str!("migrations/0007_batches.surql"),
    include_str!("migrations/0008_status_page.surql"),
    include_str!("migrations/0009_status_page_domain.surql"),
    include_str!("migrations/0010_events.surql"),
    include_str!("migrations/0011_moved_sites.surql"),
    include_str!("migrations/0012_event_gate.surql"),
    include_str!("migrations/0013_tally.surql"),
    include_str!("migrations/0014_people.surql"),
    include_str!("migrations/0015_welcome.surql"),
    include_str!("migrations/0016_billing.surql"),
    include_str!("migrations/0017_agents.surql"),
    include_str!("migrations/0018_invited.surql"),
    include_str!("migrations/0019_letters.surql"),
    include_str!("migrations/0020_asked.surql"),
    include_str!("migrations/0021_first_account.surql"),
    include_str!("migrations/0022_claims_in_order.surql"),
    include_str!("migrations/0023_beside.surql"),
    include_str!("migrations/0024_sum.surql"),
    include_str!("migrations/0025_written.surql"),
    include_str!("migrations/0026_written_index.surql"),
    include_str!("migrations/0027_made_by.surql"),
    include_str!("migrations/0028_recheck.surql"),
    include_str!("migrations/0029_retention.surql"),
    include_str!("migrations/0030_retention_index.surql"),
    include_str!("migrations/0031_order.surql"),
    include_str!("migrations/0032_results.surql"),
    include_str!("migrations/0033_told.surql"),
    include_str!("migrations/0034_told_index.surql"),
    include_str!("migrations/0035_ended.surql"),
    include_str!("migrations/0036_let_go.surql"),
    include_str!("migrations/0037_succeeded.surql"),
    include_str!("migrations/0038_named.surql"),
    include_str!("migrations/0039_subscriptions.surql"),
    include_str!("migrations/0040_nodes.surql"),
    include_str!("migrations/0041_signups.surql"),
    include_str!("migrations/0042_payers.surql"),
    include_str!("migrations/0043_acme_accounts.surql"),
    include_str!("migrations/0044_reporting.surql"),
    include_str!("migrations/0045_silence.surql"),
];

#[cfg(test)]
mod tests;
