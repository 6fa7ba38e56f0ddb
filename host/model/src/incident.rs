//! An incident: trouble as its owner tells it, in a stream of updates.
//!
//! *Invariant:* updates are only ever appended, oldest first, and the incident's status is that of
//! the last one; any status may follow any (decisions: incidents).
//! *Invariant:* an incident is bounded in updates and in text. One that is full can still be
//! resolved, and then takes nothing more.

mod change;
mod critical;

use serde::{Deserialize, Serialize};

pub use self::change::{IncidentPatch, NewIncident, NewUpdate};
pub use self::critical::CriticalAlerts;
use crate::{AccountId, AlertId, IncidentId, IncidentUpdateId, Invalid, SiteId, Timestamp};

/// A stored incident with its whole stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    pub id: IncidentId,
    pub account_id: AccountId,
    /// One line of 1–200 characters.
    pub title: String,
    pub severity: IncidentSeverity,
    /// No duplicates; none = it was not said.
    pub affected_sites: Option<Vec<SiteId>>,
    /// Made from the critical alerts of the moment.
    pub auto_create: bool,
    /// The critical alerts that it was made from, where nothing else was asked for.
    #[serde(default)]
    pub alerts: Vec<AlertId>,
    pub status: IncidentStatus,
    /// Oldest first, at least one.
    pub updates: Vec<IncidentUpdate>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Since when it is resolved; none while it is not.
    pub resolved_at: Option<Timestamp>,
}

/// What was said about an incident at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IncidentUpdate {
    pub id: IncidentUpdateId,
    pub status: IncidentStatus,
    pub message: String,
    /// Who wrote it: the member, if a team's member did, else the account itself.
    pub author_id: AccountId,
    pub created_at: Timestamp,
    /// It repeats what alerts say: hosts, addresses and sites that are the account's to know.
    #[serde(default)]
    pub quotes_alerts: bool,
}

/// Where it stands, in the stated order of its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IncidentStatus {
    Investigating,
    Identified,
    Monitoring,
    Resolved,
}

/// How bad it is; not the severity of an alert.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IncidentSeverity {
    #[default]
    Minor,
    Major,
    Critical,
}

/// What `GET /incidents` asks for. `status`: none = all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IncidentFilter {
    pub status: Option<IncidentStatus>,
    pub limit: u32,
    pub offset: u32,
}

/// An incident as the API shows it (spec: Incident), and since when it is resolved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IncidentView<'a> {
    pub id: IncidentId,
    pub title: &'a str,
    pub severity: IncidentSeverity,
    pub affected_sites: Option<&'a [SiteId]>,
    pub auto_create: bool,
    pub status: IncidentStatus,
    pub updates: Vec<UpdateView<'a>>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub resolved_at: Option<Timestamp>,
}

/// An update inside an incident.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UpdateView<'a> {
    pub status: IncidentStatus,
    pub message: &'a str,
    pub created_at: Timestamp,
}

/// An update as its own endpoints show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UpdateRecord<'a> {
    pub id: IncidentUpdateId,
    pub incident_id: IncidentId,
    pub status: IncidentStatus,
    pub message: &'a str,
    pub author_id: AccountId,
    pub created_at: Timestamp,
}

/// The incident takes no more updates, except one that resolves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the incident is full: it takes at most {} updates and {} KiB of messages; \
     resolve it and open another",
    MOST_UPDATES,
    MOST_TEXT >> 10
)]
pub struct Full;

impl Incident {
    /// Adds to the stream and moves to the update's status.
    pub fn append(&mut self, mut update: IncidentUpdate) -> Result<(), Full> {
        let resolved = update.status == IncidentStatus::Resolved;
        let resolves = resolved && self.status != IncidentStatus::Resolved;
        if !resolves && !self.has_room_for(&update.message) {
            return Err(Full);
        }
        // The clocks of two nodes differ; the stream is in order all the same.
        update.created_at = update.created_at.max(self.updated_at);
        self.status = update.status;
        self.updated_at = update.created_at;
        self.resolved_at = resolved.then(|| self.resolved_at.unwrap_or(update.created_at));
        self.updates.push(update);
        Ok(())
    }

    /// Whether it says what another says: they differ in nothing but ids, author and moments. A
    /// request for the other, sent again, has its answer already.
    pub fn says_the_same_as(&self, other: &Self) -> bool {
        fn said(update: &IncidentUpdate) -> (IncidentStatus, &str) {
            (update.status, &update.message)
        }
        self.title == other.title
            && self.severity == other.severity
            && self.affected_sites == other.affected_sites
            && self.auto_create == other.auto_create
            && self.alerts == other.alerts
            && self.status == other.status
            && self.updates.iter().map(said).eq(other.updates.iter().map(said))
    }

    /// Whether its title counts alerts: those of agents and hidden sites too, which are the
    /// account's to know.
    pub fn counts_alerts(&self) -> bool {
        self.auto_create && critical::is_title(&self.title)
    }

    /// Whether one of its updates repeats what alerts say. Those from before that was kept are
    /// known by their words.
    pub fn quotes_alerts(&self, update: &IncidentUpdate) -> bool {
        update.quotes_alerts || (self.auto_create && critical::is_summary(&update.message))
    }

    /// Forgets the sites that no longer exist: what is left of the incident is its history.
    pub fn retain_sites(&mut self, exists: impl Fn(&SiteId) -> bool) {
        if let Some(sites) = &mut self.affected_sites {
            sites.retain(exists);
        }
    }

    pub fn view(&self) -> IncidentView<'_> {
        let updates = self.updates.iter().map(|update| UpdateView {
            status: update.status,
            message: &update.message,
            created_at: update.created_at,
        });
        IncidentView {
            id: self.id,
            title: &self.title,
            severity: self.severity,
            affected_sites: self.affected_sites.as_deref(),
            auto_create: self.auto_create,
            status: self.status,
            updates: updates.collect(),
            created_at: self.created_at,
            updated_at: self.updated_at,
            resolved_at: self.resolved_at,
        }
    }

    /// About how many bytes it takes to show it.
    pub fn size(&self) -> usize {
        let text: usize = self.updates.iter().map(|update| written(&update.message)).sum();
        let sites = self.affected_sites.as_ref().map_or(0, Vec::len);
        FRAME + written(&self.title) + sites * A_SITE + self.updates.len() * AN_UPDATE + text
    }

    /// The stream, oldest first.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = UpdateRecord<'_>> {
        self.updates.iter().map(move |update| UpdateRecord {
            id: update.id,
            incident_id: self.id,
            status: update.status,
            message: &update.message,
            author_id: update.author_id,
            created_at: update.created_at,
        })
    }

    fn has_room_for(&self, message: &str) -> bool {
        let text: usize = self.updates.iter().map(|update| update.message.len()).sum();
        self.updates.len() < MOST_UPDATES && text + message.len() <= MOST_TEXT
    }
}

impl IncidentStatus {
    /// As they are written, in their usual order.
    pub const WORDS: [&'static str; 4] = ["investigating", "identified", "monitoring", "resolved"];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Investigating => "investigating",
            Self::Identified => "identified",
            Self::Monitoring => "monitoring",
            Self::Resolved => "resolved",
        }
    }
}

impl std::str::FromStr for IncidentStatus {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "investigating" => Ok(Self::Investigating),
            "identified" => Ok(Self::Identified),
            "monitoring" => Ok(Self::Monitoring),
            "resolved" => Ok(Self::Resolved),
            _ => Err(Invalid::new(
                "status",
                "must be one of investigating, identified, monitoring, resolved",
            )),
        }
    }
}

impl IncidentSeverity {
    /// As they are written, the least first.
    pub const WORDS: [&'static str; 3] = ["minor", "major", "critical"];
}

impl std::str::FromStr for IncidentSeverity {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "minor" => Ok(Self::Minor),
            "major" => Ok(Self::Major),
            "critical" => Ok(Self::Critical),
            _ => Err(Invalid::new("severity", "must be one of minor, major, critical")),
        }
    }
}

/// Bytes of a text in JSON, where some take up to six times as many.
fn written(text: &str) -> usize {
    let bytes = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | b'\x08' | b'\x0c' => 2,
        ..b' ' => 6,
        _ => 1,
    });
    bytes.sum()
}

/// Bytes of JSON around what is counted, and of what is always as long.
const FRAME: usize = 400;
const A_SITE: usize = 39;
const AN_UPDATE: usize = 100;
const MOST_UPDATES: usize = 500;
/// Bytes. An incident is one row, which is read and written as a whole.
const MOST_TEXT: usize = 256 << 10;

#[cfg(test)]
mod tests;
