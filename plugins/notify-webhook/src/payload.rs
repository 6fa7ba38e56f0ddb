//! The body of a webhook (spec: Events, Payload), and what it says beyond the documented fields.

use chrono::{DateTime, SecondsFormat};
use serde::Serialize;
use uuid::Uuid;
use vedette_sdk::{
    Alert, Notification, Severity,
    message::{TEST, severity},
};

/// The documented fields, in the documented order.
#[derive(Serialize)]
pub(crate) struct Payload<'a> {
    source: &'a str,
    /// UTC, RFC 3339.
    timestamp: String,
    alerts: Vec<Entry<'a>>,
}

/// One alert. `id` and what follows it is additive.
#[derive(Serialize)]
struct Entry<'a> {
    domain: &'a str,
    #[serde(rename = "type")]
    event: &'a str,
    severity: &'static str,
    message: String,
    /// A string in every case: a receiver may rely on the type.
    suggestion: &'a str,
    /// Names this entry: the same in every attempt, another one when the alert is over.
    id: Uuid,
    alert_id: &'a str,
    site_id: Option<&'a str>,
    status: Status,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Raised,
    Resolved,
}

impl<'a> Payload<'a> {
    /// Fails only when the host broke the contract: an id that is no UUID, a time beyond the
    /// calendar.
    pub(crate) fn of(notification: &'a Notification) -> Result<Self, String> {
        let id = Uuid::parse_str(&notification.id)
            .map_err(|error| format!("the notification's id is not a uuid: {error}"))?;
        let timestamp = DateTime::from_timestamp_millis(notification.timestamp)
            .ok_or("the notification's timestamp is out of range")?
            .to_rfc3339_opts(SecondsFormat::AutoSi, true);
        let entry = if notification.test { Entry::test } else { Entry::of };
        let alerts = notification.alerts.iter().map(|alert| entry(alert, &id)).collect();
        Ok(Self { source: &notification.source, timestamp, alerts })
    }
}

impl<'a> Entry<'a> {
    fn of(alert: &'a Alert, notification: &Uuid) -> Self {
        let status = if alert.resolved { Status::Resolved } else { Status::Raised };
        let name = format!("{} {}", alert.id, if alert.resolved { "resolved" } else { "raised" });
        // A receiver that knows only the documented fields must not take an end for a new
        // beginning.
        let (message, suggestion) = match status {
            Status::Raised => (alert.message.clone(), alert.suggestion.as_deref()),
            Status::Resolved => (format!("Resolved: {}", alert.message), Some("Nothing to do.")),
        };
        Self {
            domain: &alert.domain,
            event: &alert.event,
            severity: severity(alert.severity),
            message,
            suggestion: suggestion.unwrap_or_default(),
            id: Uuid::new_v5(notification, name.as_bytes()),
            alert_id: &alert.id,
            site_id: alert.site_id.as_deref(),
            status,
        }
    }

    /// An entry of a test looks the same but for what must be so (spec: Delivery 7).
    fn test(alert: &'a Alert, notification: &Uuid) -> Self {
        Self {
            event: "ssl.expiring",
            severity: severity(Severity::Info),
            message: TEST.to_owned(),
            ..Self::of(alert, notification)
        }
    }
}
