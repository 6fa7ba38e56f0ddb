//! The built-in Microsoft Teams channel: a webhook is sent adaptive cards, a coloured container for
//! each alert.
//!
//! *Invariant:* the URL never enters this plugin; the host puts it in.
//! *Invariant:* what a stranger wrote stands in text runs, of which no client makes markup.

mod card;

use serde::Serialize;
use vedette_sdk::{ChannelDescriptor, Chat, Receipt, Verdict, message::Entry};

/// The channel `teams`.
#[derive(Debug)]
pub struct Teams;

vedette_sdk::export_notifier!(Teams);

impl Chat for Teams {
    const URL_FIELD: &'static str = "teams_webhook";

    fn describe() -> ChannelDescriptor {
        ChannelDescriptor {
            id: "vedette.notify-teams",
            version: env!("CARGO_PKG_VERSION"),
            title: "Microsoft Teams",
            description: "Posts alerts to a Teams channel by way of a workflow's webhook.",
            secret_fields: &[Self::URL_FIELD],
            batch_max: 40,
        }
    }

    fn messages(entries: &[Entry]) -> Result<Vec<impl Serialize>, String> {
        card::messages(entries)
    }

    fn refused(receipt: &Receipt) -> String {
        let status = receipt.status;
        let advice = match status {
            400 | 413 => {
                "Teams does not accept the message; make sure that the workflow posts a card"
            }
            _ => {
                "Teams no longer accepts this webhook; make a new workflow that posts to the \
                 channel and save its URL"
            }
        };
        format!("{advice} (answered {status})")
    }

    /// Connectors answer 200 whatever happened, and tell in the text what did.
    fn interpret(mut receipt: Receipt) -> Verdict {
        if let (200..=299, Some(status)) = (receipt.status, told(&receipt.body)) {
            receipt.status = status;
        }
        receipt.verdict(Self::refused)
    }
}

/// The status in `Webhook message delivery failed with error: Microsoft Teams endpoint returned
/// HTTP error 429 with ContextId …`; a failure without one counts as a broken service.
fn told(body: &str) -> Option<u16> {
    const FAILED: &str = "Webhook message delivery failed with error";
    const STATUS: &str = "HTTP error ";
    let error = &body[body.find(FAILED)?..];
    let number = error.split_once(STATUS).map(|(_, rest)| rest);
    let digits = number.and_then(|rest| rest.get(..3)).and_then(|digits| digits.parse().ok());
    Some(digits.filter(|status| (400..600).contains(status)).unwrap_or(500))
}

#[cfg(test)]
mod tests;
