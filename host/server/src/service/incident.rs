//! Incidents: opened by hand or from the critical alerts of the moment, and told update by update.

use std::collections::BTreeSet;

use serde_json::Value;
use vedette_model::{
    AlertFilter, Incident, IncidentFilter, IncidentId, Severity, SiteId,
    incident::{CriticalAlerts, Full, IncidentPatch, NewIncident, NewUpdate},
};
use vedette_store::{Error as StoreError, Page};

use super::{random, status_page};
use crate::{App, Caller, Error, Resource, Result};

/// The caller's incidents that pass the filter, newest first, as far as one answer holds them.
pub async fn list(app: &App, caller: &Caller, filter: &IncidentFilter) -> Result<Page<Incident>> {
    let mut part = filter.clone();
    let mut held = Held::with_room(MOST_SHOWN);
    loop {
        part.limit = held.worth_reading().min(filter.limit - held.items.len() as u32);
        let Page { items, total } = app.store.incidents(caller.account.id, &part).await?;
        let is_last = items.len() < part.limit as usize;
        let fits = items.into_iter().all(|incident| held.take(incident));
        if is_last || !fits || held.items.len() == filter.limit as usize {
            return Ok(Page { items: held.items, total });
        }
        part.offset = part.offset.saturating_add(part.limit);
    }
}

/// Incidents that are answered together.
struct Held {
    items: Vec<Incident>,
    known: BTreeSet<IncidentId>,
    /// Their bytes, and how many there may be.
    size: usize,
    room: usize,
}

impl Held {
    fn with_room(room: usize) -> Self {
        Self { items: Vec::new(), known: BTreeSet::new(), size: 0, room }
    }

    /// How many to read at once: as many as find room where they are as large as those so far.
    fn worth_reading(&self) -> u32 {
        let mean = self.size.checked_div(self.items.len());
        let fit = mean.and_then(|mean| self.room.saturating_sub(self.size).checked_div(mean));
        let fit = fit.map_or(FEWEST_READ, |fit| u32::try_from(fit).unwrap_or(MOST_READ));
        fit.clamp(FEWEST_READ, MOST_READ)
    }

    /// False where it does not fit; the first one always does.
    fn take(&mut self, incident: Incident) -> bool {
        let size = incident.size();
        if self.size + size > self.room && !self.items.is_empty() {
            return false;
        }
        // One that was opened meanwhile has moved the others along, and the last is read again.
        if self.known.insert(incident.id) {
            self.size += size;
            self.items.push(incident);
        }
        true
    }
}

/// An incident with its whole stream.
///
/// # Errors
/// `NotFound` when there is no such incident, or it is someone else's.
pub async fn read(app: &App, caller: &Caller, id: IncidentId) -> Result<Incident> {
    app.store.incident(caller.account.id, id).await?.ok_or(UNKNOWN)
}

/// Opens an incident with its first update. If nothing but the critical alerts of the moment is
/// asked for, and the last incident made that way says the same, that one is answered instead.
///
/// # Errors
/// `Invalid` for a bad field, `NotFound` for an affected site that is not the caller's,
/// `Forbidden` when the account has as many open incidents as it may.
pub async fn create(app: &App, caller: &Caller, body: &Value) -> Result<Incident> {
    let new = NewIncident::parse(body)?;
    own_sites(app, caller, new.named_sites()).await?;
    let critical = if new.auto_create() {
        critical_alerts(app, caller).await?
    } else {
        CriticalAlerts::default()
    };
    let (account, author) = (caller.account.id, caller.author());
    let now = app.clock.now();
    let (id, update) = (random::id(), random::id());
    let incident = new.into_incident(id, update, account, author, &critical, now);
    // Without an alert there is nothing that would make it the same as another.
    let incident = if incident.alerts.is_empty() {
        app.store.create_incident(&incident, MOST_OPEN).await.map_err(limit)?;
        incident
    } else {
        create_once(app, incident).await?
    };
    app.streams.announce(account);
    status_page::forget(app, account);
    Ok(incident)
}

/// A request that is repeated, or made by several callers at once, opens no second incident.
async fn create_once(app: &App, new: Incident) -> Result<Incident> {
    for _ in 0..TRIES {
        let last = match app.store.auto_incident(new.account_id).await? {
            Some(last) if last.says_the_same_as(&new) => return Ok(last),
            last => last.map(|last| last.id),
        };
        match app.store.create_auto_incident(&new, last, MOST_OPEN).await {
            Ok(()) => return Ok(new),
            // Somebody asked for the same at the same time, and was faster.
            Err(StoreError::Stale) => {}
            Err(cause) => return Err(limit(cause)),
        }
    }
    Err(StoreError::Conflict.into())
}

/// Changes what the body names; a status is told as an update of its own.
///
/// # Errors
/// `NotFound` for an incident or a site that is not the caller's, `Invalid` for a bad field,
/// `Forbidden` when the incident is full.
pub async fn update(app: &App, caller: &Caller, id: IncidentId, body: &Value) -> Result<Incident> {
    let patch = IncidentPatch::parse(body)?;
    if let Some(sites) = patch.affected_sites.value() {
        // If both are missing, the one in the path is reported.
        read(app, caller, id).await?;
        own_sites(app, caller, sites).await?;
    }
    let (account, author) = (caller.account.id, caller.author());
    let (update, now) = (random::id(), app.clock.now());
    let change = |incident: &mut Incident| patch.apply(incident, update, author, now);
    let changed = app.store.update_incident(account, id, change).await?;
    app.streams.announce(account);
    status_page::forget(app, account);
    changed.ok_or(UNKNOWN)?.map_err(full)
}

/// Appends an update, which is the last one of the answer; `resolved` resolves the incident.
///
/// # Errors
/// `NotFound` for an incident that is not the caller's, `Invalid` for a bad field, `Forbidden`
/// when the incident is full.
pub async fn add_update(
    app: &App,
    caller: &Caller,
    id: IncidentId,
    body: &Value,
) -> Result<Incident> {
    let (account, author) = (caller.account.id, caller.author());
    let new = NewUpdate::parse(body)?.into_update(random::id(), author, app.clock.now());
    let append = |incident: &mut Incident| incident.append(new.clone());
    let changed = app.store.update_incident(account, id, append).await?;
    app.streams.announce(account);
    status_page::forget(app, account);
    changed.ok_or(UNKNOWN)?.map_err(full)
}

/// Refuses sites that the caller does not have (decisions: ids in bodies).
async fn own_sites(app: &App, caller: &Caller, sites: &[SiteId]) -> Result<()> {
    if sites.is_empty() {
        return Ok(());
    }
    let own = app.store.site_ids(caller.account.id).await?;
    let owned = sites.iter().all(|site| own.contains(site));
    if owned { Ok(()) } else { Err(Error::NotFound(Resource::Site)) }
}

async fn critical_alerts(app: &App, caller: &Caller) -> Result<CriticalAlerts> {
    let account = caller.account.id;
    let severity = Severity::Critical;
    let (total, sites) = app.store.open_alerts(account, severity).await?;
    let newest = AlertFilter {
        severity: Some(severity),
        resolved: Some(false),
        limit: MOST_REMEMBERED,
        ..AlertFilter::default()
    };
    let page = app.store.alerts(account, &newest).await?;
    let alerts = page.items.iter().map(|alert| alert.id).collect();
    let messages = page.items.into_iter().take(MOST_TOLD).map(|alert| alert.message).collect();
    Ok(CriticalAlerts { total, sites, messages, alerts })
}

fn full(full: Full) -> Error {
    Error::forbidden(full.to_string())
}

fn limit(cause: StoreError) -> Error {
    match cause {
        StoreError::IncidentLimit => Error::forbidden(format!(
            "an account has at most {MOST_OPEN} open incidents; resolve those that are over"
        )),
        other => other.into(),
    }
}

const UNKNOWN: Error = Error::NotFound(Resource::Incident);
/// Alerts that the first update lists; of the others it gives the number.
const MOST_TOLD: usize = 50;
/// Alerts that an incident remembers it was made from.
const MOST_REMEMBERED: u32 = 200;
/// Incidents that are read at a time. Each may have a quarter of a megabyte, and those that no
/// longer fit into the answer were read in vain.
const FEWEST_READ: u32 = 25;
/// The same if they are small; those that follow may be large all the same.
const MOST_READ: u32 = 100;
/// Bytes of incidents in an answer.
const MOST_SHOWN: usize = 4 << 20;
const MOST_OPEN: u32 = 1_000;
/// To lose a race this often, as many others have to ask for the same within milliseconds.
const TRIES: usize = 8;

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};
    use serde_json::json;
    use uuid::Uuid;
    use vedette_model::{AccountId, edition::STANDARD};

    use super::*;
    use crate::{Clock, instance};

    fn incident(nth: u128) -> Incident {
        incident_of(Uuid::nil().into(), nth)
    }

    /// Opened after those of lower numbers.
    fn incident_of(account: AccountId, nth: u128) -> Incident {
        let new = NewIncident::parse(&json!({ "title": "Mail is late" })).expect("a good body");
        let now = DateTime::UNIX_EPOCH + TimeDelta::seconds(nth as i64);
        let (id, update) = (Uuid::from_u128(nth).into(), Uuid::nil().into());
        new.into_incident(id, update, account, account, &CriticalAlerts::default(), now)
    }

    /// As many messages as it takes.
    fn filled(mut incident: Incident) -> Incident {
        let body = json!({ "status": "monitoring", "message": "x".repeat(10_000) });
        let new = NewUpdate::parse(&body).expect("a good body");
        let (author, now) = (incident.account_id, incident.created_at);
        let update = new.into_update(Uuid::nil().into(), author, now);
        while incident.append(update.clone()).is_ok() {}
        incident
    }

    async fn listed(app: &App, caller: &Caller, limit: u32, offset: u32) -> Vec<Incident> {
        let filter = IncidentFilter { limit, offset, ..IncidentFilter::default() };
        let page = list(app, caller, &filter).await.expect("the store answers");
        assert_eq!(page.total, 46);
        page.items
    }

    #[test]
    fn as_many_are_answered_as_are_asked_for_and_fit() {
        instance::with_idle_app(instance::config(), Clock::System, |app| async move {
            let caller = instance::owner(&app, &STANDARD).await;
            let mut all = Vec::new();
            for nth in 1..=46 {
                let small = incident_of(caller.account.id, nth);
                let incident = if nth <= 20 { filled(small) } else { small };
                app.store.create_incident(&incident, MOST_OPEN).await.expect("it is written");
                all.insert(0, incident);
            }
            for limit in [1, 25, 26] {
                let expected = &all[..limit as usize];
                assert_eq!(listed(&app, &caller, limit, 0).await, expected, "{limit}");
            }
            let most = MOST_SHOWN / all[45].size();
            assert!((1..20).contains(&most), "{most}");
            for limit in [20, 200, u32::MAX] {
                assert_eq!(listed(&app, &caller, limit, 26).await, all[26..26 + most], "{limit}");
            }
            let rest = 26 + most as u32;
            assert_eq!(listed(&app, &caller, u32::MAX, rest).await, all[26 + most..]);
        });
    }

    #[test]
    fn an_answer_holds_what_fits_and_nothing_twice() {
        let room = 2 * incident(1).size();
        let mut held = Held::with_room(room);
        let taken = [1, 1, 2, 3].map(|nth| held.take(incident(nth)));
        assert_eq!(taken, [true, true, true, false]);
        assert_eq!(held.items, [incident(1), incident(2)]);
        let mut small = Held::with_room(0);
        assert_eq!([1, 2].map(|nth| small.take(incident(nth))), [true, false]);
    }

    #[test]
    fn more_are_read_at_once_where_those_so_far_are_small() {
        let next = |first: &Incident, room: usize| {
            let mut held = Held::with_room(room);
            assert_eq!(held.worth_reading(), 25, "nothing is known of them");
            assert!(held.take(first.clone()));
            held.worth_reading()
        };
        let (small, large) = (incident(1), filled(incident(1)));
        assert_eq!(next(&small, MOST_SHOWN), 100);
        assert_eq!(next(&small, 51 * small.size()), 50);
        assert_eq!(next(&small, 3 * small.size()), 25);
        assert_eq!(next(&large, MOST_SHOWN), 25);
        assert_eq!(next(&large, 0), 25);
    }
}
