//! What may be said about an incident when it is opened, changed or continued.

use serde_json::Value;

use super::{CriticalAlerts, Full, Incident, IncidentSeverity, IncidentStatus, IncidentUpdate};
use crate::parse::{self, Body};
use crate::{AccountId, IncidentId, IncidentUpdateId, Invalid, Patch, SiteId, Timestamp};

/// The body of `POST /incidents`.
#[derive(Clone, Debug, PartialEq)]
pub struct NewIncident {
    /// Always there unless `auto_create` makes one.
    title: Option<String>,
    severity: IncidentSeverity,
    affected_sites: Option<Vec<SiteId>>,
    auto_create: bool,
    /// Nothing is said but `auto_create`.
    plain: bool,
}

/// The body of `PATCH /incidents/{id}`: only what is to change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IncidentPatch {
    pub status: Option<IncidentStatus>,
    pub affected_sites: Patch<Vec<SiteId>>,
}

/// The body of `POST /incidents/{id}/updates`.
#[derive(Clone, Debug, PartialEq)]
pub struct NewUpdate {
    status: IncidentStatus,
    message: String,
}

impl NewIncident {
    pub fn parse(body: &Value) -> Result<Self, Invalid> {
        let body = Body::of(body)?;
        let auto_create = body.optional("auto_create", parse::boolean)?.unwrap_or(false);
        let title = if auto_create {
            body.optional("title", title)?
        } else {
            Some(body.required("title", title)?)
        };
        let mut affected_sites = None;
        body.patch("affected_sites", sites)?.apply_option(&mut affected_sites);
        let severity = body.optional("severity", severity)?;
        let plain = title.is_none() && severity.is_none() && affected_sites.is_none();
        Ok(Self {
            title,
            severity: severity.unwrap_or_default(),
            affected_sites,
            auto_create,
            plain: auto_create && plain,
        })
    }

    /// Whether it is made from the critical alerts of the moment.
    pub fn auto_create(&self) -> bool {
        self.auto_create
    }

    /// The sites that the body names.
    pub fn named_sites(&self) -> &[SiteId] {
        self.affected_sites.as_deref().unwrap_or_default()
    }

    /// The incident with its first update, `investigating`, which its author wrote. `critical`
    /// counts for `auto_create` alone.
    pub fn into_incident(
        self,
        id: IncidentId,
        first_update: IncidentUpdateId,
        account_id: AccountId,
        author_id: AccountId,
        critical: &CriticalAlerts,
        now: Timestamp,
    ) -> Incident {
        let status = IncidentStatus::Investigating;
        let (affected_sites, message) = if self.auto_create {
            // All that are named, and of the others as many as there is room for.
            let named = self.named_sites();
            let mut room = MOST_SITES.saturating_sub(named.len());
            let fits = |site: &&SiteId| {
                let is_named = named.contains(site);
                let fits = is_named || room > 0;
                room -= usize::from(fits && !is_named);
                fits
            };
            let found: Vec<SiteId> = critical.sites.iter().filter(fits).copied().collect();
            (Some(union(&found, named)), critical.summary())
        } else {
            (self.affected_sites, OPENED.to_owned())
        };
        let first = IncidentUpdate {
            id: first_update,
            status,
            message,
            author_id,
            created_at: now,
            quotes_alerts: self.auto_create && critical.total > 0,
        };
        Incident {
            id,
            account_id,
            title: self.title.unwrap_or_else(|| critical.title()),
            severity: self.severity,
            affected_sites,
            auto_create: self.auto_create,
            alerts: if self.plain { critical.alerts.clone() } else { Vec::new() },
            status,
            updates: vec![first],
            created_at: now,
            updated_at: now,
            resolved_at: None,
        }
    }
}

impl IncidentPatch {
    pub fn parse(body: &Value) -> Result<Self, Invalid> {
        let body = Body::of(body)?;
        Ok(Self {
            status: body.optional("status", status)?,
            affected_sites: body.patch("affected_sites", sites)?,
        })
    }

    /// All of it or nothing. A status appends an update, also the one that it has already.
    pub fn apply(
        &self,
        incident: &mut Incident,
        update: IncidentUpdateId,
        author_id: AccountId,
        now: Timestamp,
    ) -> Result<(), Full> {
        if let Some(status) = self.status {
            let verb = if status == incident.status { "is still" } else { "changed to" };
            let message = format!("Status {verb} {}", status.as_str());
            incident.append(IncidentUpdate {
                id: update,
                status,
                message,
                author_id,
                created_at: now,
                quotes_alerts: false,
            })?;
        }
        let mut sites = incident.affected_sites.clone();
        self.affected_sites.clone().apply_option(&mut sites);
        if sites != incident.affected_sites {
            incident.affected_sites = sites;
            incident.updated_at = incident.updated_at.max(now);
        }
        Ok(())
    }
}

impl NewUpdate {
    pub fn parse(body: &Value) -> Result<Self, Invalid> {
        let body = Body::of(body)?;
        Ok(Self {
            status: body.required("status", status)?,
            message: body.required("message", message)?,
        })
    }

    pub fn into_update(
        self,
        id: IncidentUpdateId,
        author_id: AccountId,
        now: Timestamp,
    ) -> IncidentUpdate {
        IncidentUpdate {
            id,
            status: self.status,
            message: self.message,
            author_id,
            created_at: now,
            quotes_alerts: false,
        }
    }
}

fn title(field: &'static str, value: &Value) -> Result<String, Invalid> {
    let title = parse::line(field, value, LONGEST_TITLE)?.trim();
    if title.is_empty() {
        return Err(Invalid::new(field, "must not be empty"));
    }
    Ok(title.to_owned())
}

/// Any text of several lines, as it was written.
fn message(field: &'static str, value: &Value) -> Result<String, Invalid> {
    let message = parse::text_within(field, value, LONGEST_MESSAGE)?;
    if message.trim().is_empty() {
        return Err(Invalid::new(field, "must not be empty"));
    }
    Ok(message.to_owned())
}

fn status(field: &'static str, value: &Value) -> Result<IncidentStatus, Invalid> {
    parse::text(field, value)?.parse()
}

fn severity(field: &'static str, value: &Value) -> Result<IncidentSeverity, Invalid> {
    parse::text(field, value)?.parse()
}

/// A list of site ids, each kept once. Whose they are is not known here.
fn sites(field: &'static str, value: &Value) -> Result<Vec<SiteId>, Invalid> {
    let entries = parse::list(field, value)?;
    if entries.len() > MOST_SITES {
        return Err(Invalid::new(field, format!("must have at most {MOST_SITES} entries")));
    }
    let read = |entry: &Value| entry.as_str().and_then(|text| parse::uuid(field, text).ok());
    let ids: Option<Vec<SiteId>> = entries.iter().map(|entry| read(entry).map(SiteId)).collect();
    let ids = ids.ok_or_else(|| Invalid::new(field, "must list the ids of sites, each a UUID"))?;
    Ok(union(&ids, &[]))
}

/// Both lists in their order, each site once.
fn union(first: &[SiteId], second: &[SiteId]) -> Vec<SiteId> {
    let mut sites = Vec::with_capacity(first.len() + second.len());
    for site in first.iter().chain(second) {
        if !sites.contains(site) {
            sites.push(*site);
        }
    }
    sites
}

const LONGEST_TITLE: usize = 200;
const LONGEST_MESSAGE: usize = 10_000;
const MOST_SITES: usize = 200;
const OPENED: &str = "We are investigating this incident.";
