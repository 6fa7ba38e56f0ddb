//! What became of a site's certificates.

use surrealdb::types::SurrealValue;
use vedette_model::{AccountId, CertChange, SiteId};

use crate::error::Result;
use crate::page::Page;
use crate::tx::Binds;
use crate::{Store, key, row};

#[derive(SurrealValue)]
struct HistoryRow {
    exists: bool,
    changes: Vec<ChangeRow>,
    total: u64,
}

#[derive(SurrealValue)]
struct ChangeRow {
    doc: String,
}

impl Store {
    /// The last 50 changes, newest first, and how many there were (spec: Certificate history
    /// result); none when the account has no such site.
    pub async fn cert_history(
        &self,
        account: AccountId,
        site: SiteId,
    ) -> Result<Option<Page<CertChange>>> {
        let statement = format!(
            "RETURN {{
                exists: record::exists($site),
                changes: ({CHANGES}),
                total: (SELECT count() FROM $history GROUP ALL)[0].count ?? 0
            }}"
        );
        let binds = Binds::new()
            .with("site", key::site(account, site))
            .with("site_id", site.0)
            .with("history", key::of_site("cert_history", site));
        let row: HistoryRow = self.read(&statement, binds).await?;
        if !row.exists {
            return Ok(None);
        }
        let docs: Vec<String> = row.changes.into_iter().map(|change| change.doc).collect();
        Ok(Some(Page { items: row::read_all("certificate change", &docs)?, total: row.total }))
    }
}

pub(crate) const CHANGES: &str = "SELECT doc, rev FROM cert_history
    WHERE site = $site_id ORDER BY rev LIMIT 50";
