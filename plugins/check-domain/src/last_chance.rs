//! Registrations that are lost but for a last chance.

use serde::{Deserialize, Serialize};

/// Statuses of a registration that has ended, even before its date (RFC 3915).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LastChance {
    Redemption,
    PendingDelete,
}

impl LastChance {
    /// Registries write `redemptionPeriod`, `redemption period`, `REDEMPTION-PERIOD` …
    pub(crate) fn of(status: &[String]) -> Option<Self> {
        let says = |words: &[&str]| {
            status.iter().any(|status| {
                let letters = status.chars().filter(char::is_ascii_alphabetic).take(MAX_STATUS);
                let letters: String = letters.map(|c| c.to_ascii_lowercase()).collect();
                words.iter().any(|words| letters.starts_with(words))
            })
        };
        // Both are published during redemption; .nl, .be and .eu call it their quarantine.
        if says(&["redemption", "quarantine", "inquarantine"]) {
            return Some(Self::Redemption);
        }
        says(&["pendingdelete"]).then_some(Self::PendingDelete)
    }
}

/// In characters.
const MAX_STATUS: usize = 64;
