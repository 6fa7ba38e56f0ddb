//! The built-in Microsoft Teams channel: a webhook is sent adaptive cards, a coloured container for
//! each alert.
//!
//! *Invariant:* the URL never enters this plugin; the host puts it in.
//! *Invariant:* what a stranger wrote stands in text runs, of which no client makes markup.

mod card;

use vedette_sdk::{
    ChannelDescriptor, Delivery, HttpDelivery, NoConfig, Notification, Notify, Receipt, Verdict,
    message::entries,
};

/// The channel `teams`.
#[derive(Debug)]
pub struct Teams;

vedette_sdk::export_notifier!(Teams);

/// The settings field in whose place the host puts the URL.
const URL: &str = "ref:teams_webhook";

impl Notify for Teams {
    type Config = NoConfig;

    fn describe() -> ChannelDescriptor {
        ChannelDescriptor {
            id: "vedette.notify-teams",
            version: env!("CARGO_PKG_VERSION"),
            title: "Microsoft Teams",
            description: "Posts alerts to a Teams channel by way of a workflow's webhook.",
            secret_fields: &["teams_webhook"],
            batch_max: 40,
        }
    }

    fn render(notification: Notification, _: NoConfig) -> Result<Vec<Delivery>, String> {
        let messages = card::messages(&entries(&notification))?;
        let posted = messages.iter().map(|message| HttpDelivery::post_json(URL, message));
        posted.map(|request| request.map(Delivery::Http)).collect()
    }

    /// Connectors answer 200 whatever happened, and tell in the text what did.
    fn interpret(mut receipt: Receipt) -> Verdict {
        if let (200..=299, Some(status)) = (receipt.status, told(&receipt.body)) {
            receipt.status = status;
        }
        receipt.verdict(refused)
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

fn refused(receipt: &Receipt) -> String {
    let status = receipt.status;
    let advice = match status {
        400 | 413 => "Teams does not take the message; see that the workflow posts a card",
        _ => {
            "Teams no longer takes this webhook; make a new workflow that posts to the channel \
             and save its URL"
        }
    };
    format!("{advice} (answered {status})")
}

#[cfg(test)]
mod tests;
