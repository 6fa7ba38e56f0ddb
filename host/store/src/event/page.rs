//! Numbered events, as they are read.

use std::collections::BTreeSet;

use surrealdb::types::SurrealValue;
use vedette_model::event::Part;
use vedette_model::{AccountId, Event, Incident, SiteId};

use super::Kept;
use crate::error::Result;
use crate::tx::Binds;
use crate::{Stamp, Store, key, record, row};

/// Some events in their order, and where the account stands.
#[derive(Clone, Debug, PartialEq)]
pub struct EventPage {
    pub events: Vec<Event>,
    /// The first number whose event is still kept.
    pub oldest: u64,
    /// The last number that was given.
    pub last: u64,
    /// Where the account stood when this was read.
    pub stamp: Stamp,
}

#[derive(SurrealValue)]
struct PageRow {
    stamp: Option<Stamp>,
    oldest: Option<u64>,
    last: Option<u64>,
    rows: Vec<EventRow>,
}

#[derive(SurrealValue)]
struct EventRow {
    number: u64,
    was_check: bool,
    check_doc: Option<String>,
    result_doc: Option<String>,
    incident_doc: Option<String>,
    doc: String,
}

impl Store {
    /// Up to `most` numbered events, from a number on, and nothing of sites that were deleted. One
    /// round trip where there are none, as for most looks: an account may watch very many places.
    pub async fn events(&self, account: AccountId, from: u64, most: u64) -> Result<EventPage> {
        let row: PageRow = self
            .read(
                PAGE,
                Binds::new()
                    .with("account", key::account(account))
                    .with("feed", key::event_feed(account))
                    .with("events", key::events(account, from, from.saturating_add(most))),
            )
            .await?;
        let sites =
            if row.rows.is_empty() { BTreeSet::new() } else { self.site_ids(account).await? };
        let mut events: Vec<Event> =
            row.rows.into_iter().map(|row| row.into_event(&sites)).collect::<Result<_>>()?;
        events.sort_by_key(|event| event.number);
        Ok(EventPage {
            events,
            oldest: row.oldest.unwrap_or(1),
            last: row.last.unwrap_or(0),
            stamp: row.stamp.unwrap_or(Stamp::GONE),
        })
    }
}

impl EventRow {
    fn into_event(self, sites: &BTreeSet<SiteId>) -> Result<Event> {
        let kept: Kept = row::read("event", &self.doc)?;
        let mut parts = Vec::with_capacity(kept.alerts.len() + 1);
        if self.was_check {
            let result_doc = self.result_doc.as_deref();
            let record = self.check_doc.map(|doc| record::read(&doc, result_doc));
            let record = record.transpose()?.filter(|record| sites.contains(&record.site_id));
            let told = |record| Part::Check(kept.check, record);
            parts.push(record.map_or(Part::Gone, told));
        }
        for event in kept.alerts {
            let there = sites.contains(&event.alert.site_id);
            parts.push(if there { Part::Alert(event) } else { Part::Gone });
        }
        if let Some(change) = kept.incident {
            let incident = self.incident_doc.map(|doc| row::read::<Incident>("incident", &doc));
            parts.push(match incident.transpose()? {
                Some(mut incident) => {
                    incident.retain_sites(|site| sites.contains(site));
                    Part::Incident(change, incident)
                }
                None => Part::Gone,
            });
        }
        Ok(Event { number: self.number, parts })
    }
}

const PAGE: &str = "RETURN {
    stamp: $account.stamp,
    oldest: $feed.oldest,
    last: $feed.last,
    rows: (SELECT number, checked != NONE AS was_check, checked.doc AS check_doc,
        checked.result_in.doc AS result_doc, incident.doc AS incident_doc, doc FROM $events)
}";
