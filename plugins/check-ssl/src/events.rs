//! The events of this check (spec: Event types).

use vedette_sdk::{EventType, Severity};

pub(crate) const EXPIRING: EventType = EventType {
    name: "ssl.expiring",
    alert_type: "ssl",
    severity: Severity::Critical,
    title: "Certificate expires soon",
    self_resolving: true,
    confirmations: 1,
    clears: 1,
};

pub(crate) const EXPIRED: EventType = EventType {
    name: "ssl.expired",
    alert_type: "ssl",
    severity: Severity::Critical,
    title: "Certificate has expired",
    self_resolving: true,
    confirmations: 1,
    clears: 1,
};

pub(crate) const INVALID: EventType = EventType {
    name: "ssl.invalid",
    alert_type: "ssl",
    severity: Severity::Critical,
    title: "Certificate is invalid",
    self_resolving: true,
    confirmations: 1,
    clears: 1,
};

/// Said once; nothing of it lasts.
pub(crate) const RENEWED: EventType = EventType {
    name: "ssl.renewed",
    alert_type: "ssl",
    severity: Severity::Info,
    title: "Certificate renewed",
    self_resolving: true,
    confirmations: 1,
    clears: 0,
};

/// Waits for its owner: a change is a fact that does not go away.
pub(crate) const CHANGED: EventType = EventType {
    name: "certificate.changed",
    alert_type: "cert_change",
    severity: Severity::Warning,
    title: "Certificate changed",
    self_resolving: false,
    confirmations: 1,
    clears: 1,
};

pub(crate) const ALL: &[EventType] = &[EXPIRING, EXPIRED, INVALID, RENEWED, CHANGED];
