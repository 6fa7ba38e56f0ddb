//! The events of this check (spec: Event types).

use vedette_sdk::{EventType, Severity};

pub(crate) const EXPIRING: EventType = EventType {
    name: "domain.expiring",
    alert_type: "domain",
    severity: Severity::Warning,
    title: "Domain registration expires soon",
    self_resolving: true,
    confirmations: 1,
    clears: 1,
};

pub(crate) const EXPIRED: EventType = EventType {
    name: "domain.expired",
    alert_type: "domain",
    severity: Severity::Critical,
    title: "Domain registration has expired",
    self_resolving: true,
    confirmations: 1,
    clears: 1,
};

pub(crate) const ALL: &[EventType] = &[EXPIRING, EXPIRED];
