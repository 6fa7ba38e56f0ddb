//! The built-in custom webhook channel: notifications as JSON, posted to the account's own URL.
//!
//! *Invariant:* the URL and the signing secret never enter this plugin; the host puts them in.

mod payload;

use vedette_sdk::{
    ChannelDescriptor, Delivery, HttpDelivery, NoConfig, Notification, Notify, Receipt, Verdict,
};

use payload::Payload;

/// The channel `webhook`.
#[derive(Debug)]
pub struct Webhook;

vedette_sdk::export_notifier!(Webhook);

/// The settings field in whose place the host puts the URL.
const URL: &str = "ref:custom_webhook_url";

impl Notify for Webhook {
    type Config = NoConfig;

    fn describe() -> ChannelDescriptor {
        ChannelDescriptor {
            id: "vedette.notify-webhook",
            version: env!("CARGO_PKG_VERSION"),
            title: "Webhook",
            description: "Posts alerts as JSON to a URL of your own.",
            secret_fields: &["custom_webhook_url"],
            batch_max: 100,
        }
    }

    fn render(notification: Notification, _: NoConfig) -> Result<Vec<Delivery>, String> {
        let request = HttpDelivery::post_json(URL, &Payload::of(&notification)?)?;
        Ok(vec![Delivery::Http(request)])
    }

    /// Nothing is ever rejected: a receiver that is being set up answers 404 today and 200 in
    /// three seconds (spec: Delivery 2 and 3).
    fn interpret(receipt: Receipt) -> Verdict {
        match receipt.status {
            200..=299 => Verdict::Delivered,
            _ => Verdict::Retry(None),
        }
    }
}

#[cfg(test)]
mod tests;
