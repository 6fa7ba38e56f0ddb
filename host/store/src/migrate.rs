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

    async fn run(&self, migrations: &[&str]) -> Result<()> {
        let unit = "DEFINE TABLE IF NOT EXISTS migration SCHEMAFULL;
            DEFINE FIELD IF NOT EXISTS number ON migration TYPE int;
            DEFINE FIELD IF NOT EXISTS checksum ON migration TYPE string";
        self.write(unit, Binds::new()).await?;
        for (number, text) in (1_i64..).zip(migrations) {
            self.step(number, text).await?;
        }
        self.refuse_newer(migrations.len()).await
    }

    async fn step(&self, number: i64, text: &str) -> Result<()> {
        let id = RecordId::new("migration", number);
        let checksum = checksum(text);
        for _ in 0..2 {
            let ran: Option<String> = self
                .read("SELECT VALUE checksum FROM ONLY $id", Binds::new().with("id", id.clone()))
                .await?;
            match ran {
                Some(ran) if ran == checksum => return Ok(()),
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
                Ok(()) => tracing::info!(number, "migrated the store to {number}"),
                // Another node was faster: look at what it did.
                Err(Error::Duplicate) => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
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
];
