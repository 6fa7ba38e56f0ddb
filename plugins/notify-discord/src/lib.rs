//! The built-in Discord channel: a webhook is sent messages of up to ten embeds, one for each alert.
//!
//! *Invariant:* the URL never enters this plugin; the host puts it in.
//! *Invariant:* no message mentions anybody, and what a stranger wrote is no markup.

mod message;

use serde::{Deserialize, Serialize};
use vedette_sdk::{ChannelDescriptor, Chat, Receipt, Verdict, message::Entry};

/// The channel `discord`.
#[derive(Debug)]
pub struct Discord;

vedette_sdk::export_notifier!(Discord);

impl Chat for Discord {
    const URL_FIELD: &'static str = "discord_webhook_url";

    fn describe() -> ChannelDescriptor {
        ChannelDescriptor {
            id: "vedette.notify-discord",
            version: env!("CARGO_PKG_VERSION"),
            title: "Discord",
            description: "Posts alerts to a Discord channel by way of a webhook.",
            secret_fields: &[Self::URL_FIELD],
            batch_max: 40,
        }
    }

    fn messages(entries: &[Entry]) -> Result<Vec<impl Serialize>, String> {
        Ok(message::of(entries))
    }

    fn refused(receipt: &Receipt) -> String {
        let status = receipt.status;
        let code = reply(receipt).code;
        let advice = match (status, code) {
            (_, UNKNOWN_WEBHOOK | UNKNOWN_CHANNEL | INVALID_TOKEN) | (401 | 404 | 410, _) => {
                "Discord no longer knows this webhook; make a new one in the channel's settings \
                 and save its URL"
            }
            (_, IS_FORUM) => {
                "the Discord channel is a forum; save the webhook of a text channel, or add \
                 ?thread_id= of a thread to the URL"
            }
            (403, _) => {
                "Discord does not let this webhook post; check the channel's permissions, or \
                 make a new webhook and save its URL"
            }
            _ => "Discord does not accept the message; update vedette or its Discord plugin",
        };
        match code {
            0 => format!("{advice} (answered {status})"),
            code => format!("{advice} (answered {status}, code {code})"),
        }
    }

    fn interpret(receipt: Receipt) -> Verdict {
        if receipt.status == 429 {
            return Verdict::Retry(wait(&receipt).or_else(|| receipt.retry_after()));
        }
        receipt.verdict(Self::refused)
    }
}

/// What Discord says in the body of an error
/// (docs.discord.com/developers/topics/opcodes-and-status-codes, JSON).
#[derive(Default, Deserialize)]
#[serde(default)]
struct Reply {
    code: u32,
    retry_after: f64,
}

fn reply(receipt: &Receipt) -> Reply {
    serde_json::from_str(&receipt.body).unwrap_or_default()
}

/// Seconds until Discord takes the next message, rounded up. Addresses without a version answer in
/// the oldest one's way, whose `retry_after` are milliseconds; this header is in seconds always.
fn wait(receipt: &Receipt) -> Option<u32> {
    let header = receipt.header("x-ratelimit-reset-after");
    let seconds = header.and_then(|text| text.trim().parse().ok()).filter(|&s: &f64| s > 0.0);
    let seconds = seconds.or_else(|| Some(reply(receipt).retry_after).filter(|&s| s > 0.0))?;
    // A float that is too large, or no number, becomes the nearest there is.
    Some(seconds.ceil() as u32)
}

const UNKNOWN_CHANNEL: u32 = 10_003;
const UNKNOWN_WEBHOOK: u32 = 10_015;
const INVALID_TOKEN: u32 = 50_027;
const IS_FORUM: u32 = 220_001;

#[cfg(test)]
mod tests;
