//! The event of this check (spec: Event types; decisions: Checks, ct).

use vedette_sdk::{EventType, Severity};

/// A certificate that nobody asked for, as far as is known. It waits for its owner: that it was
/// issued is a fact that does not go away.
pub(crate) const UNEXPECTED: EventType = EventType {
    name: "certificate.changed",
    alert_type: "ct",
    severity: Severity::Warning,
    title: "Unexpected certificate issued",
    self_resolving: false,
    confirmations: 1,
    clears: 1,
};

pub(crate) const ALL: &[EventType] = &[UNEXPECTED];
