//! What happened in an account, in the order in which it is told: `GET /events`.
//!
//! One commit is one [`Event`] with one or more [`Part`]s. Events of an account are numbered
//! without a hole once they are committed, so a reader that has seen number 7 has seen 6; a
//! number that is missing was forgotten, or fell into a time in which nobody read.
//!
//! *Invariant:* a part keeps its place in its event for ever, also when what it was about is gone:
//! a [`Cursor`] means the same after every restart and on every node.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Alert, CheckRecord, Incident, Invalid, SiteId};

/// What one commit made known.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// From 1 on.
    pub number: u64,
    /// At least one.
    pub parts: Vec<Part>,
}

/// One thing of an event: what is told at once.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Check(CheckChange, CheckRecord),
    /// The alert as it was then.
    Alert(AlertEvent),
    /// The incident as it is when it is told.
    Incident(IncidentChange, Incident),
    /// What it was about is no longer there.
    Gone,
}

/// What a run says about its check's status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckChange {
    /// The same as the run before, or nobody kept which.
    #[default]
    Same,
    /// Another, or its first.
    Turned,
}

/// What happened to an alert, and the alert as it is then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlertEvent {
    pub change: AlertChange,
    pub alert: Alert,
}

/// What happened to an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertChange {
    Raised,
    Updated,
    Resolved,
    Reopened,
}

/// What happened to an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IncidentChange {
    Created,
    Updated,
}

/// What can be left out of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Alert,
    Check,
    Incident,
}

/// What `GET /events` asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventFilter {
    /// Empty = all.
    pub kinds: Vec<Kind>,
    /// None = all; an incident is about each of its affected sites.
    pub site: Option<SiteId>,
}

/// How far somebody has read: all events before `number`, and of that one the first `parts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub number: u64,
    pub parts: usize,
}

impl Event {
    /// Where a reader stands after the part at this place.
    pub fn after(&self, place: usize) -> Cursor {
        if place + 1 >= self.parts.len() {
            Cursor::after(self.number)
        } else {
            Cursor { number: self.number, parts: place + 1 }
        }
    }
}

impl Part {
    /// The event's name on the wire; none for what is not told.
    pub fn name(&self) -> Option<&'static str> {
        match self {
            Self::Check(..) => Some("check.finished"),
            Self::Alert(event) => Some(match event.change {
                AlertChange::Raised => "alert.raised",
                AlertChange::Updated => "alert.updated",
                AlertChange::Resolved => "alert.resolved",
                AlertChange::Reopened => "alert.reopened",
            }),
            Self::Incident(change, _) => Some(match change {
                IncidentChange::Created => "incident.created",
                IncidentChange::Updated => "incident.updated",
            }),
            Self::Gone => None,
        }
    }

    fn kind(&self) -> Option<Kind> {
        match self {
            Self::Check(..) => Some(Kind::Check),
            Self::Alert(_) => Some(Kind::Alert),
            Self::Incident(..) => Some(Kind::Incident),
            Self::Gone => None,
        }
    }

    fn is_about(&self, site: SiteId) -> bool {
        match self {
            Self::Check(_, record) => record.site_id == site,
            Self::Alert(event) => event.alert.site_id == site,
            Self::Incident(_, incident) => {
                incident.affected_sites.iter().flatten().any(|affected| *affected == site)
            }
            Self::Gone => false,
        }
    }
}

impl CheckChange {
    pub fn of(turned: bool) -> Self {
        if turned { Self::Turned } else { Self::Same }
    }
}

impl AlertChange {
    /// What became of an alert that was there before.
    pub fn of(was_resolved: bool, is_resolved: bool) -> Self {
        match (was_resolved, is_resolved) {
            (false, true) => Self::Resolved,
            (true, false) => Self::Reopened,
            (true, true) | (false, false) => Self::Updated,
        }
    }
}

impl EventFilter {
    pub fn lets_pass(&self, part: &Part) -> bool {
        let Some(kind) = part.kind() else { return false };
        let wanted = self.kinds.is_empty() || self.kinds.contains(&kind);
        wanted && self.site.is_none_or(|site| part.is_about(site))
    }
}

impl Kind {
    /// A list such as `alert,check`.
    pub fn parse_list(field: &'static str, text: &str) -> Result<Vec<Self>, Invalid> {
        let kinds = text.split(',').map(|word| match word.trim() {
            "alert" => Some(Self::Alert),
            "check" => Some(Self::Check),
            "incident" => Some(Self::Incident),
            _ => None,
        });
        let kinds: Option<Vec<Self>> = kinds.collect();
        kinds.ok_or_else(|| {
            Invalid::new(
                field,
                "must be one or more of alert, check, incident, with commas between",
            )
        })
    }
}

impl Cursor {
    /// All of an event and of those before it has been read.
    pub fn after(number: u64) -> Self {
        Self { number: number.saturating_add(1), parts: 0 }
    }

    /// What [`Cursor`] is written as: the id of an event of a stream.
    pub fn parse(field: &'static str, text: &str) -> Result<Self, Invalid> {
        let read = match text.split_once('.') {
            None => digits(text).map(Self::after),
            Some((number, parts)) => digits(number)
                .zip(digits(parts).and_then(|parts| usize::try_from(parts).ok()))
                .map(|(number, parts)| Self { number: number.max(1), parts }),
        };
        read.ok_or_else(|| Invalid::new(field, "must be the id of an event of this stream, or 0"))
    }
}

/// `7` when all of event 7 was read, `7.2` when two of its parts were.
impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts {
            0 => write!(f, "{}", self.number.saturating_sub(1)),
            parts => write!(f, "{}.{parts}", self.number),
        }
    }
}

/// Digits alone, few enough for every place that such a number goes to.
fn digits(text: &str) -> Option<u64> {
    let plain = (1..=18).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests;
