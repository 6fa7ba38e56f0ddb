//! The built-in e-mail channel: a subject, a text for terminals and the same as HTML.
//!
//! *Invariant:* recipients, every header but the subject, and the relay with what it answers are
//! the host's: nobody asks this plugin to interpret a reply.
//! *Invariant:* what a site or a server wrote stays words: no header, no markup, no link of theirs.

mod entry;
mod html;
mod line;
mod subject;
mod text;

use vedette_sdk::{ChannelDescriptor, Delivery, EmailDelivery, NoConfig, Notification, Notify};

use entry::Entry;

/// The channel `email`.
#[derive(Debug)]
pub struct Email;

vedette_sdk::export_notifier!(Email);

impl Notify for Email {
    type Config = NoConfig;

    fn describe() -> ChannelDescriptor {
        ChannelDescriptor {
            id: "vedette.notify-email",
            version: env!("CARGO_PKG_VERSION"),
            title: "E-mail",
            description: "Mails alerts to the account's recipients.",
            secret_fields: &[],
            batch_max: 40,
        }
    }

    fn render(notification: Notification, _: NoConfig) -> Result<Vec<Delivery>, String> {
        let room = entry::room(notification.alerts.len());
        let entries: Vec<Entry> = notification
            .alerts
            .iter()
            .map(|alert| Entry::of(alert, notification.test, room))
            .collect::<Result<_, _>>()?;
        let subject = subject::of(&entries);
        let source = line::clean(&notification.source, LONGEST_SOURCE);
        Ok(vec![Delivery::Email(EmailDelivery {
            text: text::of(&entries, &source),
            html: Some(html::of(&subject, &entries, &source)),
            subject,
        })])
    }
}

const LONGEST_SOURCE: usize = 40;

#[cfg(test)]
mod tests;
