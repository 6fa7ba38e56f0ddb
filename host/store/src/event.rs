//! What happened in an account, kept for a while for those who read along.
//!
//! A commit leaves an unnumbered row in its own transaction, and only while the account's feed is
//! open: an account whose events nobody reads pays for one look at one row. Rows get their numbers
//! afterwards, from whoever reads or purges first: those that are committed, in one transaction
//! that writes the feed's row. So commits of one account never wait for each other, and yet a
//! number is visible only when all smaller ones are.
//!
//! *Invariant:* whoever has seen a number misses nothing by never asking for a smaller one.
//! *Invariant:* reads are ranges of numbers, so they cost what they answer.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use surrealdb::types::{Object, RecordId, SurrealValue, Value};
use uuid::Uuid;
use vedette_model::event::{AlertChange, AlertEvent, CheckChange, IncidentChange, Part};
use vedette_model::{
    AccountId, Alert, CheckRecord, Decision, Event, Incident, IncidentId, SiteId, Timestamp,
};

use crate::error::{Error, Result};
use crate::tx::Binds;
use crate::{Stamp, Store, key, row, site};

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

/// What a row keeps of an event, beside where its record and its incident are.
#[derive(Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    check: CheckChange,
    alerts: Vec<AlertEvent>,
    incident: Option<IncidentChange>,
}

#[derive(SurrealValue)]
struct NewRow {
    last: Option<u64>,
    rows: Vec<UnnumberedRow>,
}

#[derive(SurrealValue)]
struct UnnumberedRow {
    id: RecordId,
    checked: Option<RecordId>,
    incident: Option<RecordId>,
    doc: String,
}

#[derive(SurrealValue)]
struct PageRow {
    stamp: Option<Stamp>,
    oldest: Option<u64>,
    last: Option<u64>,
    sites: Vec<RecordId>,
    rows: Vec<EventRow>,
}

#[derive(SurrealValue)]
struct EventRow {
    number: u64,
    was_check: bool,
    check_doc: Option<String>,
    incident_doc: Option<String>,
    doc: String,
}

#[derive(SurrealValue)]
struct FeedRow {
    last: u64,
    oldest: u64,
}

#[derive(SurrealValue)]
struct AgeRow {
    number: u64,
    numbered_at: Timestamp,
}

impl Store {
    /// From now on, and until a moment, what happens in the account is kept for its readers. A
    /// feed that was closed leaves out a number: who read it before can tell that it was away.
    pub async fn open_events(&self, account: AccountId, until: Timestamp) -> Result<()> {
        let _turn = self.turn(account.0).await;
        let unit = "IF !record::exists($account) { THROW 'gone' };
            LET $was = (SELECT * FROM ONLY $feed);
            IF $was.is_open = true {
                UPDATE $feed SET open_until = $until RETURN NONE
            } ELSE {
                UPSERT $feed SET is_open = true, open_until = $until,
                    last = ($was.last ?? 0) + 1, oldest = $was.oldest ?? 2 RETURN NONE
            }";
        let binds = Binds::new()
            .with("account", key::account(account))
            .with("feed", key::event_feed(account))
            .with("until", until);
        self.write(unit, binds).await
    }

    /// Numbers what was committed so far and answers the last number; 0 where nobody ever read.
    pub async fn number_events(&self, account: AccountId, now: Timestamp) -> Result<u64> {
        // Readers of this process would else all number the same rows.
        let _turn = self.turn(account.0).await;
        for _ in 0..ATTEMPTS {
            let new: NewRow = self
                .read(
                    "RETURN { last: (SELECT VALUE last FROM ONLY $feed),
                        rows: (SELECT id, checked, incident, doc FROM $new) }",
                    Binds::new()
                        .with("feed", key::event_feed(account))
                        .with("new", key::of_account("event_new", account)),
                )
                .await?;
            let Some(mut last) = new.last else { return Ok(0) };
            let mut outdone = false;
            for rows in new.rows.chunks(AT_ONCE) {
                match self.write_numbers(account, last, rows, now).await {
                    Ok(given) => last = given,
                    Err(Error::Stale) => {
                        outdone = true;
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
            if !outdone {
                return Ok(last);
            }
        }
        Err(Error::Conflict)
    }

    async fn write_numbers(
        &self,
        account: AccountId,
        last: u64,
        rows: &[UnnumberedRow],
        now: Timestamp,
    ) -> Result<u64> {
        let mut numbered = Vec::with_capacity(rows.len());
        let mut number = last;
        for row in rows {
            number += 1;
            let mut content = Object::new();
            content.insert("id", key::event(account, number));
            content.insert("number", number);
            content.insert("numbered_at", now);
            if let Some(checked) = &row.checked {
                content.insert("checked", checked.clone());
            }
            if let Some(incident) = &row.incident {
                content.insert("incident", incident.clone());
            }
            content.insert("doc", row.doc.as_str());
            numbered.push(Value::Object(content));
        }
        let taken: Vec<Value> = rows.iter().map(|row| row.id.clone().into_value()).collect();
        let unit = "LET $was = (SELECT VALUE last FROM ONLY $feed);
            IF $was != $expected { THROW 'stale' };
            UPDATE $feed SET last = $last RETURN NONE;
            INSERT INTO event_log $numbered RETURN NONE;
            DELETE $taken RETURN NONE";
        let binds = Binds::new()
            .with("feed", key::event_feed(account))
            .with("expected", last)
            .with("last", number)
            .with("numbered", Value::Array(numbered.into()))
            .with("taken", Value::Array(taken.into()));
        self.write(unit, binds).await?;
        Ok(number)
    }

    /// Up to `most` numbered events, from a number on, and nothing of sites that were deleted.
    pub async fn events(&self, account: AccountId, from: u64, most: u64) -> Result<EventPage> {
        let row: PageRow = self
            .read(
                PAGE,
                Binds::new()
                    .with("account", key::account(account))
                    .with("feed", key::event_feed(account))
                    .with("sites", key::sites(account))
                    .with("events", key::events(account, from, from.saturating_add(most))),
            )
            .await?;
        let sites = site::ids(&row.sites)?;
        let mut events: Vec<Event> =
            row.rows.into_iter().map(|row| row.into_event(&sites)).collect::<Result<_>>()?;
        events.sort_by_key(|event| event.number);
        Ok(EventPage {
            events,
            oldest: row.oldest.unwrap_or(1),
            last: row.last.unwrap_or(0),
            stamp: row.stamp.unwrap_or_default(),
        })
    }

    /// The accounts whose events are to be numbered, closed or forgotten.
    pub async fn event_feeds(&self) -> Result<Vec<AccountId>> {
        let feeds: Vec<RecordId> = self.read(FEEDS, Binds::new()).await?;
        feeds.iter().map(|id| key::uuid_at(id, 0).map(AccountId)).collect()
    }

    /// Closes the feed if nobody has read it until `now`, and forgets up to `batch` of the oldest
    /// events: those from before a moment, and those beyond the last `most`. False when there is
    /// nothing more to forget.
    pub async fn forget_events(
        &self,
        account: AccountId,
        before: Timestamp,
        most: u64,
        batch: u64,
        now: Timestamp,
    ) -> Result<bool> {
        let feed = key::event_feed(account);
        let close = "UPDATE $feed SET is_open = false
            WHERE is_open = true AND open_until < $now RETURN NONE";
        self.write(close, Binds::new().with("feed", feed.clone()).with("now", now)).await?;
        let binds = Binds::new().with("feed", feed.clone());
        let row: Option<FeedRow> = self.read("SELECT last, oldest FROM ONLY $feed", binds).await?;
        let Some(FeedRow { last, oldest }) = row else { return Ok(false) };
        let end = oldest.saturating_add(batch).min(last.saturating_add(1));
        if end <= oldest {
            return Ok(false);
        }
        let mut ages: Vec<AgeRow> = self
            .read(
                "SELECT number, numbered_at FROM $events",
                Binds::new().with("events", key::events(account, oldest, end)),
            )
            .await?;
        ages.sort_by_key(|row| row.number);
        let beyond = (last + 1).saturating_sub(most);
        let kept = ages.iter().find(|row| row.numbered_at >= before && row.number >= beyond);
        let first = kept.map_or(end, |row| row.number);
        if first <= oldest {
            return Ok(false);
        }
        let unit = "LET $old = (SELECT VALUE id FROM $events);
            UPDATE $feed SET oldest = $first WHERE oldest < $first RETURN NONE;
            DELETE $old RETURN NONE";
        let binds = Binds::new()
            .with("feed", feed)
            .with("events", key::events(account, oldest, first))
            .with("first", first);
        self.write(unit, binds).await?;
        Ok(true)
    }
}

impl EventRow {
    fn into_event(self, sites: &BTreeSet<SiteId>) -> Result<Event> {
        let kept: Kept = row::read("event", &self.doc)?;
        let mut parts = Vec::with_capacity(kept.alerts.len() + 1);
        if self.was_check {
            let record = self.check_doc.map(|doc| row::read::<CheckRecord>("check", &doc));
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

/// What [`NOTE`] needs, for a commit of a check.
pub(crate) fn of_check(binds: &mut Binds, account: AccountId, decision: &Decision) -> Result<()> {
    let Decision { record, turned, raised, updated, resolved, .. } = decision;
    let changes = [
        (AlertChange::Raised, raised),
        (AlertChange::Updated, updated),
        (AlertChange::Resolved, resolved),
    ];
    let alerts = changes.into_iter().flat_map(|(change, alerts)| {
        alerts.iter().map(move |alert| AlertEvent { change, alert: alert.clone() })
    });
    let check = CheckChange::of(*turned);
    let kept = Kept { check, alerts: alerts.collect(), incident: None };
    let check = key::check(record.site_id, &record.check_type, record.checked_at, record.id);
    note(binds, account, &kept, Some(("checked", check)))
}

/// What [`NOTE`] needs, for an alert that its owner has changed.
pub(crate) fn of_alert(binds: &mut Binds, change: AlertChange, alert: &Alert) -> Result<()> {
    let event = AlertEvent { change, alert: alert.clone() };
    let kept = Kept { check: CheckChange::Same, alerts: vec![event], incident: None };
    note(binds, alert.account_id, &kept, None)
}

/// What [`NOTE`] needs, for an incident.
pub(crate) fn of_incident(
    binds: &mut Binds,
    change: IncidentChange,
    account: AccountId,
    incident: IncidentId,
) -> Result<()> {
    let kept = Kept { check: CheckChange::Same, alerts: Vec::new(), incident: Some(change) };
    note(binds, account, &kept, Some(("incident", key::incident(account, incident))))
}

fn note(
    binds: &mut Binds,
    account: AccountId,
    kept: &Kept,
    about: Option<(&str, RecordId)>,
) -> Result<()> {
    let mut content = Object::new();
    if let Some((column, row)) = about {
        content.insert(column, row);
    }
    content.insert("doc", row::write("event", kept)?);
    binds.bind("event_feed", key::event_feed(account));
    // In the order in which this process made them; nobody reads a time from it.
    binds.bind("event_row", key::event_new(account, Uuid::now_v7()));
    binds.bind("event_content", Value::Object(content));
    Ok(())
}

/// Goes into the transaction that makes something happen, after what it throws for.
pub(crate) const NOTE: &str = "
IF (SELECT VALUE is_open FROM ONLY $event_feed) = true {
    CREATE $event_row CONTENT $event_content RETURN NONE
};";

pub(crate) const PAGE: &str = "RETURN {
    stamp: (SELECT VALUE stamp FROM ONLY $account),
    oldest: (SELECT VALUE oldest FROM ONLY $feed),
    last: (SELECT VALUE last FROM ONLY $feed),
    sites: (SELECT VALUE id FROM $sites),
    rows: (SELECT number, checked != NONE AS was_check, checked.doc AS check_doc,
        incident.doc AS incident_doc, doc FROM $events)
}";

const FEEDS: &str = "SELECT VALUE id FROM event_feed WHERE is_open = true OR oldest <= last";

/// Rows of one numbering transaction.
const AT_ONCE: usize = 200;

const ATTEMPTS: usize = 16;
