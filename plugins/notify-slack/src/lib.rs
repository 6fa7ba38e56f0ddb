//! The built-in Slack channel: an incoming webhook is sent one message, a block for each alert.
//!
//! *Invariant:* the URL never enters this plugin; the host puts it in.
//! *Invariant:* what a stranger wrote is plain text in the message: no markup, no link, no mention.

mod message;

use serde::Serialize;
use vedette_sdk::{ChannelDescriptor, Chat, Receipt, message::Entry};

use message::Message;

/// The channel `slack`.
#[derive(Debug)]
pub struct Slack;

vedette_sdk::export_notifier!(Slack);

/// A message may have 50 blocks; one is the headline.
const MOST: usize = 40;

impl Chat for Slack {
    const URL_FIELD: &'static str = "slack_webhook_url";

    fn describe() -> ChannelDescriptor {
        ChannelDescriptor {
            id: "vedette.notify-slack",
            version: env!("CARGO_PKG_VERSION"),
            title: "Slack",
            description: "Posts alerts to a Slack channel by way of an incoming webhook.",
            secret_fields: &[Self::URL_FIELD],
            batch_max: 40,
        }
    }

    fn messages(entries: &[Entry]) -> Result<Vec<impl Serialize>, String> {
        Ok(entries.chunks(MOST).map(Message::of).collect::<Vec<Message>>())
    }

    fn refused(receipt: &Receipt) -> String {
        let (status, word) = (receipt.status, receipt.body.trim());
        let advice = advice(status, word);
        if is_word(word) {
            format!("{advice} (answered {status}, {word})")
        } else {
            format!("{advice} (answered {status})")
        }
    }
}

/// Slack answers with one word of its own
/// (docs.slack.dev/messaging/sending-messages-using-incoming-webhooks, Handling errors).
fn advice(status: u16, word: &str) -> &'static str {
    match word {
        "channel_is_archived" => {
            "the Slack channel is archived; unarchive it, or save the webhook of another channel"
        }
        "channel_not_found" => "the Slack channel is gone; save the webhook of another channel",
        "action_prohibited" | "posting_to_general_channel_denied" => {
            "the Slack workspace does not let this webhook post; ask its administrator"
        }
        "invalid_payload" | "no_text" | "too_many_attachments" => {
            "Slack does not accept the message; update vedette or its Slack plugin"
        }
        "invalid_token" | "no_active_hooks" | "no_service" | "no_service_id" | "no_team"
        | "team_disabled" | "user_not_found" => UNKNOWN,
        _ if matches!(status, 401 | 403 | 404 | 410) => UNKNOWN,
        _ => "Slack does not accept the message",
    }
}

/// A page of some proxy is not repeated to people.
fn is_word(text: &str) -> bool {
    (1..=40).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

const UNKNOWN: &str =
    "Slack no longer accepts this webhook; make a new incoming webhook and save its URL";

#[cfg(test)]
mod tests;
