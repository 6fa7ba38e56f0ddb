//! The channel `{{type}}`: alerts as JSON, posted to the account's URL.
//!
//! Every function is pure: the host puts the URL in, sends, times and retries. Neither the URL nor
//! the network ever comes in here.

use serde::Serialize;
use vedette_sdk::{
    Alert, ChannelDescriptor, Delivery, HttpDelivery, NoConfig, Notification, Notify, Receipt,
    Verdict,
    message::{plain, severity},
};

/// The channel `{{type}}`.
#[derive(Debug)]
pub struct Webhook;

vedette_sdk::export_notifier!(Webhook);

/// `url-field` of plugin.toml.
const URL_FIELD: &str = "url";
/// What the host puts that field's URL in the place of.
const URL: &str = "ref:url";

/// What the receiver is sent.
#[derive(Serialize)]
struct Body<'a> {
    /// The same for every attempt: a receiver drops what it has seen.
    id: &'a str,
    /// Sent by hand to try the channel.
    test: bool,
    alerts: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    status: &'static str,
    severity: &'static str,
    domain: &'a str,
    event: &'a str,
    message: String,
    suggestion: Option<String>,
}

impl Notify for Webhook {
    type Config = NoConfig;

    fn describe() -> ChannelDescriptor {
        ChannelDescriptor {
            id: "{{id}}",
            version: env!("CARGO_PKG_VERSION"),
            title: "{{title}}",
            description: "Posts alerts as JSON.",
            secret_fields: &[URL_FIELD],
            batch_max: 50,
        }
    }

    fn render(notification: Notification, _: NoConfig) -> Result<Vec<Delivery>, String> {
        let alerts = notification.alerts.iter().map(Entry::of).collect();
        let body = Body {
            id: &notification.id,
            test: notification.test,
            alerts,
        };
        Ok(vec![Delivery::Http(HttpDelivery::post_json(URL, &body)?)])
    }

    fn interpret(receipt: Receipt) -> Verdict {
        receipt.verdict(|receipt| {
            format!(
                "the receiver does not take the message (answered {})",
                receipt.status
            )
        })
    }
}

impl<'a> Entry<'a> {
    /// Texts that strangers may have chosen become single lines without control characters.
    fn of(alert: &'a Alert) -> Self {
        Self {
            status: if alert.resolved { "resolved" } else { "raised" },
            severity: severity(alert.severity),
            domain: &alert.domain,
            event: &alert.event,
            message: plain(&alert.message),
            suggestion: alert.suggestion.as_deref().map(plain),
        }
    }
}

#[cfg(test)]
mod tests;
