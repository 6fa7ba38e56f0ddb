//! One alert as the mail shows it, every field of it harmless.

use chrono::DateTime;
use vedette_sdk::{Alert, message::Mark};

use crate::line;

/// What both bodies are written from.
pub(crate) struct Entry {
    pub(crate) mark: Mark,
    pub(crate) domain: String,
    pub(crate) message: String,
    pub(crate) suggestion: Option<String>,
    pub(crate) event: String,
    /// As in `2026-11-20 09:30 UTC`.
    pub(crate) since: String,
    pub(crate) alert_id: String,
}

impl Entry {
    /// Fails only when the host broke the contract: a time beyond the calendar.
    pub(crate) fn of(alert: &Alert, test: bool, room: usize) -> Result<Self, String> {
        let since = DateTime::from_timestamp_millis(alert.created_at)
            .ok_or("the alert's time is out of range")?
            .format("%Y-%m-%d %H:%M UTC")
            .to_string();
        let suggestion = alert.suggestion.as_deref().map(|text| line::clean(text, room));
        // Messages of checks begin with the name, which stands beside them already.
        let named = alert.message.strip_prefix(&*alert.domain);
        let message = named.and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&alert.message);
        Ok(Self {
            mark: Mark::of(alert, test),
            domain: line::name(&alert.domain, LONGEST_DOMAIN),
            message: line::clean(message, room),
            suggestion: suggestion.filter(|text| !text.is_empty()),
            event: line::clean(&alert.event, LONGEST_WORD),
            since,
            alert_id: line::clean(&alert.id, LONGEST_WORD),
        })
    }
}

/// Characters for a message, and for a suggestion, when so many alerts share one mail.
pub(crate) fn room(alerts: usize) -> usize {
    (ROOM / alerts.max(1)).clamp(160, 500)
}

const ROOM: usize = 8_000;
const LONGEST_DOMAIN: usize = 253;
const LONGEST_WORD: usize = 64;
