//! Alerts as customers see and resolve them. They are raised and updated by [`crate::Commit`].
//!
//! Totals come from counters, one for each kind of alert of a site, which go with the site: the
//! alerts of a site that was deleted are gone from every answer before their rows are.

use std::collections::BTreeSet;

use surrealdb::types::{RecordId, RecordIdKey, SurrealValue, Value};
use uuid::Uuid;
use vedette_model::event::AlertChange;
use vedette_model::{AccountId, Alert, AlertFilter, AlertId, Severity, SiteId, Timestamp};

use crate::error::{Error, Result, gone_is_none};
use crate::page::{self, Looked, Page};
use crate::tx::Binds;
use crate::{Store, event, key, row, site};

#[derive(SurrealValue)]
struct CountsRow {
    counts: Vec<CountRow>,
    purged: Vec<RecordId>,
}

#[derive(SurrealValue)]
struct CountRow {
    id: RecordId,
    n: i64,
}

#[derive(SurrealValue)]
struct AlertRow {
    doc: String,
}

#[derive(SurrealValue)]
struct FoundRow {
    found: Option<String>,
    purged: Vec<RecordId>,
}

impl Store {
    /// An account's alerts, newest first, and how many the filter finds.
    pub async fn alerts(&self, account: AccountId, filter: &AlertFilter) -> Result<Page<Alert>> {
        page::whole(|| self.look_at_alerts(account, filter)).await
    }

    async fn look_at_alerts(
        &self,
        account: AccountId,
        filter: &AlertFilter,
    ) -> Result<Looked<Alert>> {
        let (counts, purged) = self.alert_counts(account).await?;
        let total = total(&counts, filter);
        let left = total.saturating_sub(u64::from(filter.offset));
        let limit = u64::from(filter.limit).min(left);
        if limit == 0 {
            return Ok(Looked::none(total));
        }
        let (statement, binds) = listing(account, filter, &purged, limit);
        let rows: Vec<AlertRow> = self.read(&statement, binds).await?;
        let docs: Vec<String> = rows.into_iter().map(|row| row.doc).collect();
        Ok(Looked::new(row::read_all("alert", &docs)?, limit, total))
    }

    /// How many open alerts of a severity there are, and the sites that have them: from the
    /// counters, so that it costs the same however many there are.
    pub async fn open_alerts(
        &self,
        account: AccountId,
        severity: Severity,
    ) -> Result<(u64, Vec<SiteId>)> {
        let (counts, _) = self.alert_counts(account).await?;
        let filter = AlertFilter {
            severity: Some(severity),
            resolved: Some(false),
            ..AlertFilter::default()
        };
        let mut sites = Vec::new();
        for count in counts.iter().filter(|count| count.n > 0 && counts_for(count, &filter)) {
            let site = SiteId(key::uuid_at(&count.id, 1)?);
            if !sites.contains(&site) {
                sites.push(site);
            }
        }
        Ok((total(&counts, &filter), sites))
    }

    /// The counters of an account's sites, and the sites that are being purged: theirs are left out,
    /// since they go last.
    async fn alert_counts(&self, account: AccountId) -> Result<(Vec<CountRow>, BTreeSet<SiteId>)> {
        let row: CountsRow = self
            .read(
                "RETURN { counts: (SELECT * FROM $counts), purged: (SELECT VALUE id FROM $purged) }",
                Binds::new()
                    .with("counts", key::of_account("alert_count", account))
                    .with("purged", key::of_account("purge", account)),
            )
            .await?;
        let purged = site::ids(&row.purged)?;
        let mut counts = Vec::with_capacity(row.counts.len());
        for count in row.counts {
            if !purged.contains(&SiteId(key::uuid_at(&count.id, 1)?)) {
                counts.push(count);
            }
        }
        Ok((counts, purged))
    }

    /// None when the account has no such alert, or its site was deleted.
    pub async fn alert(&self, account: AccountId, alert: AlertId) -> Result<Option<Alert>> {
        let found: FoundRow = self
            .read(
                "RETURN {
                    found: $id.doc,
                    purged: (SELECT VALUE id FROM $purged)
                }",
                Binds::new()
                    .with("id", key::alert(account, alert))
                    .with("purged", key::of_account("purge", account)),
            )
            .await?;
        let purged = site::ids(&found.purged)?;
        let alert: Option<Alert> = found.found.map(|doc| row::read("alert", &doc)).transpose()?;
        Ok(alert.filter(|alert| !purged.contains(&alert.site_id)))
    }

    /// Resolves or reopens an alert by hand and answers it; none when the account has no such
    /// alert. `Duplicate` when an equal alert is open already: it stands for the same trouble.
    pub async fn set_alert_resolved(
        &self,
        account: AccountId,
        alert: AlertId,
        resolved: bool,
        now: Timestamp,
    ) -> Result<Option<Alert>> {
        let _turn = self.turn(account.0).await;
        for _ in 0..ATTEMPTS {
            let Some(before) = self.alert(account, alert).await? else { return Ok(None) };
            let mut after = before.clone();
            after.set_resolved(resolved, now);
            if after == before {
                return Ok(Some(before));
            }
            match gone_is_none(self.write_resolved(&before, &after).await) {
                Ok(written) => return Ok(written.map(|()| after)),
                Err(Error::Stale) => continue,
                Err(error) => return Err(error),
            }
        }
        Err(Error::Conflict)
    }

    /// The state of the check is read for update, so that no run raises the same alert while this
    /// one is reopened. A site that is being purged has no counters to change. What an agent looks
    /// at stands where a site stands, in a table of its own.
    async fn write_resolved(&self, before: &Alert, after: &Alert) -> Result<()> {
        let unit = format!(
            "IF !record::exists($site) AND !record::exists($target) {{ THROW 'gone' }};
            LET $state_read = (SELECT VALUE version FROM ONLY $state FOR UPDATE);
            LET $site_read = (SELECT VALUE version FROM ONLY $site FOR UPDATE);
            LET $target_read = (SELECT VALUE version FROM ONLY $target FOR UPDATE);
            LET $was = $alert.doc;
            IF $was = NONE {{ THROW 'gone' }};
            IF $was != $old_doc {{ THROW 'stale' }};
            IF !$is_resolved AND $key IN ({OPEN_KEYS}) {{ THROW 'duplicate' }};
            UPDATE $alert SET is_resolved = $is_resolved, ended = $ended, doc = $doc RETURN NONE;
            UPDATE $old_count SET n -= 1 RETURN NONE;
            UPSERT $count SET n += 1 RETURN NONE;
            {note}",
            note = event::NOTE
        );
        let mut binds = Binds::new()
            .with("site", key::site(after.account_id, after.site_id))
            .with("target", key::agent_target(after.account_id, after.site_id))
            .with("site_id", after.site_id.0)
            .with("check_type", after.check_type.as_str())
            .with("state", key::check_state(after.site_id, &after.check_type))
            .with("alert", key::alert(after.account_id, after.id))
            .with("old_doc", row::write("alert", before)?)
            .with("is_resolved", after.is_resolved)
            .with("ended", key::ended(after))
            .with("key", key::alert_identity(after))
            .with("doc", row::write("alert", after)?)
            .with("old_count", key::alert_count(before))
            .with("count", key::alert_count(after));
        let change = AlertChange::of(before.is_resolved, after.is_resolved);
        event::of_alerts(&mut binds, after.account_id, change, std::slice::from_ref(after))?;
        self.write(&unit, binds).await
    }
}

fn total(counts: &[CountRow], filter: &AlertFilter) -> u64 {
    let counted = counts.iter().filter(|count| counts_for(count, filter));
    counted.map(|count| u64::try_from(count.n).unwrap_or(0)).sum()
}

/// A counter's id is [account, site, alert type, severity, is_resolved].
fn counts_for(count: &CountRow, filter: &AlertFilter) -> bool {
    let RecordIdKey::Array(parts) = &count.id.key else { return false };
    let fits = |place: usize, wanted: Option<Value>| {
        wanted.is_none_or(|wanted| parts.get(place) == Some(&wanted))
    };
    fits(2, filter.alert_type.as_deref().map(SurrealValue::into_value))
        && fits(3, filter.severity.map(|severity| severity.as_str().into_value()))
        && fits(4, filter.resolved.map(SurrealValue::into_value))
}

/// Only the conditions that were asked for, so that the usual page is a short walk along an index.
/// The limit is never more than what is there, so the walk ends with the last one that is shown. But
/// what is of another type or severity, or goes before the offset, is walked over: for a kind that is
/// rare and old, all that the account has, which is bounded by how long history is kept.
fn listing(
    account: AccountId,
    filter: &AlertFilter,
    purged: &BTreeSet<SiteId>,
    limit: u64,
) -> (String, Binds) {
    let mut statement = match filter.resolved {
        Some(_) => PAGE.to_owned(),
        None => PAGE_ALL.to_owned(),
    };
    let mut binds =
        Binds::new().with("account", account.0).with("limit", limit).with("start", filter.offset);
    if let Some(resolved) = filter.resolved {
        binds.bind("is_resolved", resolved);
    }
    if let Some(alert_type) = &filter.alert_type {
        statement.push_str(" AND alert_type = $alert_type");
        binds.bind("alert_type", alert_type.as_str());
    }
    if let Some(severity) = filter.severity {
        statement.push_str(" AND severity = $severity");
        binds.bind("severity", severity.as_str());
    }
    if !purged.is_empty() {
        statement.push_str(" AND site NOT IN $purged");
        binds.bind("purged", purged.iter().map(|site| site.0).collect::<Vec<Uuid>>());
    }
    statement.push_str(ORDER);
    (statement, binds)
}

pub(crate) const PAGE: &str =
    "SELECT doc, rev FROM alert WHERE account = $account AND is_resolved = $is_resolved";
pub(crate) const PAGE_ALL: &str = "SELECT doc, rev FROM alert WHERE account = $account";
pub(crate) const ORDER: &str = " ORDER BY rev LIMIT $limit START $start";

/// What is open of a check of a site.
pub(crate) const OPEN_KEYS: &str = "SELECT VALUE key FROM alert
    WHERE site = $site_id AND check_type = $check_type AND is_resolved = false";

const ATTEMPTS: usize = 16;
