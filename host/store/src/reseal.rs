//! Holds the database and the keys together when it is opened.
//!
//! One row is a known word, sealed by the key that the database belongs to. A process that cannot
//! open it has another key and is refused before anything is written, even the schema. If the word
//! is sealed with a key that is no longer the first, or if not everything is sealed yet, all
//! secrets are sealed anew, batch by batch, and only then does the row say so: cut short, it goes
//! on at the next start. Of two nodes that are given another key in turn, the second writes with
//! the old one after the first has sealed everything: so each start looks for such rows while there
//! are two keys, and if nodes share the database, and refuses to go on without the key of one.
//!
//! If the key is lost for good, [`Store::open_discarding`] goes the same way and discards what no
//! key opens. Everything else stays: sites, history, alerts, who may sign in.
//!
//! *Invariant:* a row is sealed anew as it was read or not at all: its version is compared.

use surrealdb::types::{RecordId, SurrealValue};
use vedette_model::{AccountId, DeliveryId, Site, SiteId};

use crate::delivery::letter_place;
use crate::discard::{Discarded, Fate, Lost};
use crate::error::{Error, Result};
use crate::renewal::{account_place, certificate_place};
use crate::seal::{Place, key_id};
use crate::site::SiteDoc;
use crate::tx::Binds;
use crate::{Store, key};

#[derive(SurrealValue)]
pub(crate) struct SealRow {
    sample: String,
    complete: bool,
}

#[derive(SurrealValue)]
struct OldSettings {
    id: RecordId,
    version: i64,
    doc: String,
}

#[derive(SurrealValue)]
struct OldSite {
    id: RecordId,
    version: i64,
    doc: String,
    sealed: Option<String>,
}

#[derive(SurrealValue)]
struct OldText {
    id: RecordId,
    doc: String,
}

/// Texts that are sealed as a whole, each in the place that its row's id says.
struct Texts {
    table: &'static str,
    column: &'static str,
    place: fn(&RecordId) -> Result<Place>,
    /// Where those are counted that are discarded, with their rows.
    count: fn(&mut Discarded) -> &mut usize,
}

/// Statements that seal one batch of rows anew.
#[derive(Default)]
struct Batch {
    text: String,
    binds: Binds,
    rows: usize,
}

impl Store {
    /// Refuses keys of which none opens the word. A database that was never completely opened has
    /// no word yet, and refuses nobody.
    pub(crate) async fn refuse_another_key(&self) -> Result<()> {
        match self.stored_seal().await? {
            Some(row) => self.opens(&row),
            None => Ok(()),
        }
    }

    pub(crate) async fn settle_seal(&self) -> Result<()> {
        let row = self.seal_row().await?;
        // Another node, with another key, may have made it since.
        self.opens(&row)?;
        let is_settled = row.complete && row.sample.starts_with(&self.inner.seal.prefix());
        if !is_settled || self.inner.seal.has_older_keys() {
            return self.seal_anew(&mut Lost::Refused).await;
        }
        if !self.embedded() {
            self.reseal_kept(&mut Lost::Refused).await?;
        }
        Ok(())
    }

    /// All secrets with the first key, and then the word.
    pub(crate) async fn seal_anew(&self, lost: &mut Lost<'_>) -> Result<()> {
        let rows = self.reseal_kept(lost).await? + self.reseal_texts(&LETTERS, lost).await?;
        let unit = "UPDATE $id SET sample = $sample, complete = true RETURN NONE";
        let binds = Binds::new().with("id", key::seal()).with("sample", self.sample());
        self.write(unit, binds).await?;
        if rows > 0 {
            tracing::info!(rows, "sealed the secrets in {rows} rows with the first key");
        }
        Ok(())
    }

    /// All but letters, which are on their way for a day at most, among many other deliveries.
    async fn reseal_kept(&self, lost: &mut Lost<'_>) -> Result<usize> {
        let rows = self.reseal_settings(lost).await?
            + self.reseal_sites(lost).await?
            + self.reseal_texts(&CERTIFICATES, lost).await?
            + self.reseal_texts(&ACCOUNTS, lost).await?;
        Ok(rows)
    }

    /// The row as it is; the first caller makes it.
    pub(crate) async fn seal_row(&self) -> Result<SealRow> {
        for _ in 0..2 {
            if let Some(row) = self.stored_seal().await? {
                return Ok(row);
            }
            let unit = "CREATE $id SET sample = $sample, complete = false RETURN NONE";
            let binds = Binds::new().with("id", key::seal()).with("sample", self.sample());
            match self.write(unit, binds).await {
                // Another node was faster: look at whose key that is.
                Ok(()) | Err(Error::Duplicate) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Conflict)
    }

    async fn stored_seal(&self) -> Result<Option<SealRow>> {
        self.read("RETURN $id.*", Binds::new().with("id", key::seal())).await
    }

    pub(crate) fn opens(&self, row: &SealRow) -> Result<()> {
        let opened = self.inner.seal.open(&Place::new("seal", &[]), &row.sample);
        opened.map(drop).map_err(|_| Error::WrongKey(key_id(&row.sample).to_owned()))
    }

    fn sample(&self) -> String {
        self.inner.seal.seal(&Place::new("seal", &[]), WORD)
    }

    async fn reseal_settings(&self, lost: &mut Lost<'_>) -> Result<usize> {
        let (mut done, mut passed) = (0, Vec::new());
        loop {
            let rows: Vec<OldSettings> = self.read(OLD_SETTINGS, self.old(&passed)).await?;
            if rows.is_empty() {
                return Ok(done);
            }
            let mut batch = Batch::default();
            for row in rows {
                let account = AccountId(key::uuid_at(&row.id, 0)?);
                let opened = self.open_settings(account, Some(&row.doc));
                let settings = match lost.judge(&self.inner.seal, &row.doc, opened)? {
                    Fate::Kept(settings) => settings,
                    Fate::Discarded(discarded) => discarded.settings_of(account),
                    Fate::PassedOver(cause) => {
                        passed.push(pass_over(row.id, &cause));
                        continue;
                    }
                };
                let doc = self.seal_settings(account, &settings)?;
                batch.add(row.id, row.version, doc, None);
            }
            if batch.rows > 0 {
                done += batch.rows;
                self.write(&batch.text, batch.binds).await?;
            }
        }
    }

    async fn reseal_sites(&self, lost: &mut Lost<'_>) -> Result<usize> {
        let (mut done, mut passed) = (0, Vec::new());
        loop {
            let rows: Vec<OldSite> = self.read(OLD_SITES, self.old(&passed)).await?;
            if rows.is_empty() {
                return Ok(done);
            }
            let mut batch = Batch::default();
            for OldSite { id, version, doc, sealed } in rows {
                let account = AccountId(key::uuid_at(&id, 0)?);
                let row = SiteDoc { doc, sealed };
                let opened = self.open_site(account, &row);
                let sealed = row.sealed.as_deref().unwrap_or_default();
                let site: Site = match lost.judge(&self.inner.seal, sealed, opened)? {
                    Fate::Kept(site) => site,
                    Fate::Discarded(discarded) => {
                        let site = self.open_site(account, &SiteDoc { sealed: None, ..row })?;
                        discarded.sites.push((account, site.domain.to_string()));
                        site
                    }
                    Fate::PassedOver(cause) => {
                        passed.push(pass_over(id, &cause));
                        continue;
                    }
                };
                let SiteDoc { doc, sealed } = self.seal_site(account, &site)?;
                batch.add(id, version, doc, sealed);
            }
            if batch.rows > 0 {
                done += batch.rows;
                self.write(&batch.text, batch.binds).await?;
            }
        }
    }

    async fn reseal_texts(&self, texts: &Texts, lost: &mut Lost<'_>) -> Result<usize> {
        let Texts { table, column, place, count } = texts;
        let old = format!(
            "SELECT id, {column} AS doc FROM {table} WHERE {column} != NONE
                AND string::starts_with({column} ?? '', $current) = false
                AND id NOT IN $passed LIMIT $batch"
        );
        let (mut done, mut passed) = (0, Vec::new());
        loop {
            let rows: Vec<OldText> = self.read(&old, self.old(&passed)).await?;
            if rows.is_empty() {
                return Ok(done);
            }
            for OldText { id, doc } in rows {
                let place = place(&id)?;
                let opened = self.inner.seal.open(&place, &doc);
                let opened = opened.map_err(|reason| Error::corrupt("sealed text", reason));
                let plain = match lost.judge(&self.inner.seal, &doc, opened)? {
                    Fate::Kept(plain) => plain,
                    Fate::Discarded(discarded) => {
                        *count(discarded) += 1;
                        let unit = format!("DELETE $id WHERE {column} = $old RETURN NONE");
                        self.write(&unit, Binds::new().with("id", id).with("old", doc)).await?;
                        continue;
                    }
                    Fate::PassedOver(cause) => {
                        passed.push(pass_over(id, &cause));
                        continue;
                    }
                };
                let unit =
                    format!("UPDATE $id SET {column} = $doc WHERE {column} = $old RETURN NONE");
                let binds = Binds::new()
                    .with("id", id)
                    .with("doc", self.inner.seal.seal(&place, &plain))
                    .with("old", doc);
                self.write(&unit, binds).await?;
                done += 1;
            }
        }
    }

    fn old(&self, passed: &[RecordId]) -> Binds {
        Binds::new()
            .with("current", self.inner.seal.prefix())
            .with("batch", BATCH)
            .with("passed", passed.to_vec())
    }
}

/// What is damaged stays as it is: it is an error for whoever reads it, and for nobody else.
fn pass_over(row: RecordId, cause: &Error) -> RecordId {
    tracing::error!(?row, "the secrets in {row:?} cannot be read, and stay as they are: {cause}");
    row
}

impl Batch {
    fn add(&mut self, id: RecordId, version: i64, doc: String, sealed: Option<String>) {
        let nth = self.rows;
        self.rows += 1;
        let sets_sealed =
            if sealed.is_some() { format!(", sealed = $sealed{nth}") } else { String::new() };
        self.text.push_str(&format!(
            "UPDATE $id{nth} SET doc = $doc{nth}{sets_sealed}
                WHERE version = $version{nth} RETURN NONE;\n"
        ));
        self.binds.bind(format!("id{nth}"), id);
        self.binds.bind(format!("version{nth}"), version);
        self.binds.bind(format!("doc{nth}"), doc);
        if let Some(sealed) = sealed {
            self.binds.bind(format!("sealed{nth}"), sealed);
        }
    }
}

const OLD_SETTINGS: &str = "SELECT id, version, doc FROM settings
    WHERE string::starts_with(doc, $current) = false AND id NOT IN $passed LIMIT $batch";

const OLD_SITES: &str = "SELECT id, version, doc, sealed FROM site
    WHERE (sealed = NONE OR (sealed != '' AND string::starts_with(sealed ?? '', $current) = false))
    AND id NOT IN $passed LIMIT $batch";

const CERTIFICATES: Texts = Texts {
    table: "renewal_certificate",
    column: "doc",
    place: |row| Ok(certificate_place(SiteId(key::uuid_at(row, 0)?))),
    count: |discarded| &mut discarded.certificates,
};

const ACCOUNTS: Texts = Texts {
    table: "acme_account",
    column: "doc",
    place: |row| Ok(account_place(AccountId(key::uuid_at(row, 0)?))),
    count: |discarded| &mut discarded.acme_accounts,
};

const LETTERS: Texts = Texts {
    table: "delivery",
    column: "sealed",
    place: |row| Ok(letter_place(DeliveryId(key::uuid_at(row, 0)?))),
    count: |discarded| &mut discarded.letters,
};

const WORD: &str = "vedette";
/// Rows of one transaction; settings may hold 10 kB of style each.
const BATCH: usize = 100;
