//! The event of this check (spec: Event types).

use vedette_sdk::{EventType, Severity};

/// Waits for its owner: a change is a fact that does not go away.
pub(crate) const CHANGED: EventType = EventType {
    name: "dns.changed",
    alert_type: "dns",
    severity: Severity::Warning,
    title: "DNS records changed",
    self_resolving: false,
    confirmations: 2,
    clears: 1,
};

pub(crate) const ALL: &[EventType] = &[CHANGED];
