//! The events of this check (decisions: site down).

use vedette_sdk::{EventType, Severity};

/// Nothing useful answers.
pub(crate) const DOWN: EventType = EventType {
    name: "site.down",
    alert_type: "uptime",
    severity: Severity::Critical,
    title: "Site is down",
    self_resolving: true,
    confirmations: 2,
    clears: 2,
};

/// The site answers, too slowly or not every time.
pub(crate) const DEGRADED: EventType = EventType {
    name: "site.degraded",
    alert_type: "uptime",
    severity: Severity::Warning,
    title: "Site is slow or unsteady",
    self_resolving: true,
    confirmations: 2,
    clears: 2,
};

/// Said once when the site is well again; nothing of it lasts.
pub(crate) const UP: EventType = EventType {
    name: "site.up",
    alert_type: "uptime",
    severity: Severity::Info,
    title: "Site is up again",
    self_resolving: true,
    confirmations: 2,
    clears: 0,
};

pub(crate) const ALL: &[EventType] = &[DOWN, DEGRADED, UP];

/// Of down and degraded, which are one alert: it rises in severity when a slow site goes down.
pub(crate) const TROUBLE: &str = "site";
/// Of the recovery, which is told apart from the trouble it ends.
pub(crate) const RECOVERY: &str = "recovery";
