//! Incidents. One row holds an incident with all its updates, so that a page is one walk along an
//! index; totals come from counters, one for each status of an account's incidents.
//!
//! *Invariant:* two changes to an incident at once are both kept: each compares the version that it
//! was made from.
//! *Invariant:* a site that was deleted is in no answer; it leaves the row with the next change.

use std::collections::BTreeSet;

use surrealdb::types::{RecordId, RecordIdKey, SurrealValue};
use vedette_model::event::IncidentChange;
use vedette_model::{AccountId, Incident, IncidentFilter, IncidentId, IncidentStatus, SiteId};

use crate::error::{Error, Result};
use crate::page::Page;
use crate::site::WATCHED;
use crate::tx::Binds;
use crate::{Store, event, key, row, site};

#[derive(SurrealValue)]
struct CountsRow {
    counts: Vec<CountRow>,
    sites: Vec<RecordId>,
}

#[derive(SurrealValue)]
pub(crate) struct CountRow {
    id: RecordId,
    n: i64,
}

#[derive(SurrealValue)]
pub(crate) struct DocRow {
    pub(crate) doc: String,
}

#[derive(SurrealValue)]
struct FoundRow {
    found: Vec<VersionRow>,
    sites: Vec<RecordId>,
}

#[derive(SurrealValue)]
struct VersionRow {
    version: i64,
    doc: String,
}

impl Store {
    /// An account's incidents, newest first, and how many the filter finds.
    pub async fn incidents(
        &self,
        account: AccountId,
        filter: &IncidentFilter,
    ) -> Result<Page<Incident>> {
        let statement = format!("RETURN {{ counts: (SELECT * FROM $counts), sites: {WATCHED} }}");
        let binds = Binds::new()
            .with("counts", key::of_account("incident_count", account))
            .with("sites", key::sites(account))
            .with("targets", key::agent_targets(account));
        let row: CountsRow = self.read(&statement, binds).await?;
        let total = total(&row.counts, filter.status);
        let left = total.saturating_sub(u64::from(filter.offset));
        let limit = u64::from(filter.limit).min(left);
        if limit == 0 {
            return Ok(Page { items: Vec::new(), total });
        }
        let (statement, binds) = page(account, filter, limit);
        let rows: Vec<DocRow> = self.read(&statement, binds).await?;
        let docs: Vec<String> = rows.into_iter().map(|row| row.doc).collect();
        let mut items: Vec<Incident> = row::read_all("incident", &docs)?;
        let sites = site::ids(&row.sites)?;
        for incident in &mut items {
            forget_deleted(incident, &sites);
        }
        Ok(Page { items, total })
    }

    pub async fn incident(
        &self,
        account: AccountId,
        incident: IncidentId,
    ) -> Result<Option<Incident>> {
        Ok(self.versioned_incident(account, incident).await?.map(|(incident, _)| incident))
    }

    /// `IncidentLimit` when the account has as many open ones as it may.
    pub async fn create_incident(&self, incident: &Incident, limit: u32) -> Result<()> {
        self.write_new(incident, limit, "", Binds::new()).await
    }

    /// The last incident that was made from the alerts of the moment.
    pub async fn auto_incident(&self, account: AccountId) -> Result<Option<Incident>> {
        let last: Option<RecordId> = self
            .read("RETURN $auto.incident", Binds::new().with("auto", key::incident_auto(account)))
            .await?;
        let Some(last) = last else { return Ok(None) };
        self.incident(account, IncidentId(key::uuid_at(&last, 1)?)).await
    }

    /// Like [`Store::create_incident`], for one made from the alerts of the moment. `Stale` when
    /// `last` is not the last such incident any more.
    pub async fn create_auto_incident(
        &self,
        incident: &Incident,
        last: Option<IncidentId>,
        limit: u32,
    ) -> Result<()> {
        let account = incident.account_id;
        let last = last.map(|last| key::incident(account, last));
        let binds = Binds::new().with("auto", key::incident_auto(account)).with("last_auto", last);
        self.write_new(incident, limit, AUTO, binds).await
    }

    async fn write_new(
        &self,
        incident: &Incident,
        limit: u32,
        further: &str,
        binds: Binds,
    ) -> Result<()> {
        let account = incident.account_id;
        let _turn = self.turn(account.0).await;
        let unit = format!("{CREATE}{further}{}", event::NOTE);
        let open =
            [IncidentStatus::Investigating, IncidentStatus::Identified, IncidentStatus::Monitoring];
        let open: Vec<RecordId> =
            open.into_iter().map(|status| key::incident_count(account, status)).collect();
        let mut binds = binds
            .with("account", key::account(account))
            .with("account_id", account.0)
            .with("incident", key::incident(account, incident.id))
            .with("status", incident.status.as_str())
            .with("rev", key::rev(incident.created_at))
            .with("doc", row::write("incident", incident)?)
            .with("count", key::incident_count(account, incident.status))
            .with("open_counts", open)
            .with("limit", limit);
        event::of_incident(&mut binds, IncidentChange::Created, account, incident.id)?;
        self.write(&unit, binds).await
    }

    /// Changes an incident and answers it, or what `change` refused with; none when the account
    /// has no such incident. Two changes at once are made one after the other, so `change` may be
    /// called again on a newer incident.
    pub async fn update_incident<E>(
        &self,
        account: AccountId,
        incident: IncidentId,
        change: impl Fn(&mut Incident) -> std::result::Result<(), E>,
    ) -> Result<Option<std::result::Result<Incident, E>>> {
        let _turn = self.turn(account.0).await;
        for _ in 0..ATTEMPTS {
            let Some((before, version)) = self.versioned_incident(account, incident).await? else {
                return Ok(None);
            };
            let mut after = before.clone();
            if let Err(refused) = change(&mut after) {
                return Ok(Some(Err(refused)));
            }
            if after == before {
                return Ok(Some(Ok(after)));
            }
            match self.write_incident(&before, &after, version).await {
                Ok(()) => return Ok(Some(Ok(after))),
                Err(Error::Gone) => return Ok(None),
                Err(Error::Stale) => continue,
                Err(error) => return Err(error),
            }
        }
        Err(Error::Conflict)
    }

    async fn write_incident(&self, before: &Incident, after: &Incident, was: i64) -> Result<()> {
        let account = after.account_id;
        let unit = "LET $stored = $incident.version;
            IF $stored = NONE { THROW 'gone' };
            IF $stored != $was { THROW 'stale' };
            UPDATE $incident SET status = $status, version = $was + 1, doc = $doc RETURN NONE;
            UPDATE $old_count SET n -= 1 RETURN NONE;
            UPSERT $count SET n += 1 RETURN NONE";
        let mut binds = Binds::new()
            .with("incident", key::incident(account, after.id))
            .with("was", was)
            .with("status", after.status.as_str())
            .with("doc", row::write("incident", after)?)
            .with("old_count", key::incident_count(account, before.status))
            .with("count", key::incident_count(account, after.status));
        event::of_incident(&mut binds, IncidentChange::Updated, account, after.id)?;
        self.write(&format!("{unit};{}", event::NOTE), binds).await
    }

    async fn versioned_incident(
        &self,
        account: AccountId,
        incident: IncidentId,
    ) -> Result<Option<(Incident, i64)>> {
        let statement =
            format!("RETURN {{ found: (SELECT version, doc FROM $incident), sites: {WATCHED} }}");
        let binds = Binds::new()
            .with("incident", key::incident(account, incident))
            .with("sites", key::sites(account))
            .with("targets", key::agent_targets(account));
        let row: FoundRow = self.read(&statement, binds).await?;
        let Some(found) = row.found.into_iter().next() else { return Ok(None) };
        let mut incident: Incident = row::read("incident", &found.doc)?;
        forget_deleted(&mut incident, &site::ids(&row.sites)?);
        Ok(Some((incident, found.version)))
    }
}

fn forget_deleted(incident: &mut Incident, existing: &BTreeSet<SiteId>) {
    incident.retain_sites(|site| existing.contains(site));
}

/// A counter's id is [account, status].
pub(crate) fn total(counts: &[CountRow], status: Option<IncidentStatus>) -> u64 {
    let status = status.map(|status| status.as_str().into_value());
    let counted = counts.iter().filter(|count| {
        let RecordIdKey::Array(parts) = &count.id.key else { return false };
        status.as_ref().is_none_or(|wanted| parts.get(1) == Some(wanted))
    });
    counted.map(|count| u64::try_from(count.n).unwrap_or(0)).sum()
}

/// The limit is never more than what is there, so the walk ends with the last incident.
fn page(account: AccountId, filter: &IncidentFilter, limit: u64) -> (String, Binds) {
    let binds =
        Binds::new().with("account", account.0).with("limit", limit).with("start", filter.offset);
    match filter.status {
        Some(status) => (format!("{PAGE}{ORDER}"), binds.with("status", status.as_str())),
        None => (format!("{PAGE_ALL}{ORDER}"), binds),
    }
}

pub(crate) const PAGE: &str =
    "SELECT doc, rev FROM incident WHERE account = $account AND status = $status";
pub(crate) const PAGE_ALL: &str = "SELECT doc, rev FROM incident WHERE account = $account";
pub(crate) const ORDER: &str = " ORDER BY rev LIMIT $limit START $start";

/// The counter is written by everybody who adds one, which makes the limit exact. The account is
/// read for update: in conflict with its deletion.
const CREATE: &str = "IF (SELECT VALUE id FROM ONLY $account FOR UPDATE) = NONE { THROW 'gone' };
UPSERT $count SET n += 1 RETURN NONE;
LET $open = math::sum((SELECT VALUE n FROM $open_counts WHERE n > 0));
IF $open > $limit { THROW 'incident_limit' };
CREATE $incident SET account = $account_id, status = $status, rev = $rev, version = 1,
    doc = $doc RETURN NONE;";

const AUTO: &str = "
LET $was = $auto.incident;
IF $was != $last_auto { THROW 'stale' };
UPSERT $auto SET incident = $incident RETURN NONE;";

const ATTEMPTS: usize = 16;
