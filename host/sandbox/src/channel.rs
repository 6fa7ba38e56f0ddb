//! What the server hands to a channel and gets back.

use serde_json::Value;
use vedette_model::{DeliveryId, Timestamp, delivery::Notice};

use crate::egress::Vendor;

/// What an installed notifier plugin says of itself, as the gate accepted it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelDescriptor {
    /// E.g. `webhook`.
    pub channel: String,
    /// E.g. `vedette.webhook`.
    pub id: String,
    pub version: String,
    pub title: String,
    pub description: String,
    /// JSON Schema 2020-12.
    pub config_schema: Value,
    /// Settings of which the plugin is given `ref:<field>` in place of the value.
    pub secret_fields: Vec<String>,
    /// Alerts that one notification may carry.
    pub batch_max: u32,
    /// The settings field that holds the channel's URL, from the manifest.
    pub url_field: Option<String>,
    /// What that URL may name, from the manifest.
    pub vendor: Vendor,
}

/// What is to be said, once, on one channel.
#[derive(Clone, Debug)]
pub struct Notification {
    /// The same for every attempt.
    pub id: DeliveryId,
    /// The product's name, which receivers check (spec: Payload).
    pub source: String,
    pub timestamp: Timestamp,
    /// Sent by hand to try the channel.
    pub test: bool,
    pub alerts: Vec<Notice>,
}

/// What came back for one HTTP delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// 0 = no response.
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// Why there is no response, a token such as `timeout`.
    pub error: Option<String>,
}

/// What a receipt means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Delivered,
    /// Try again: none = on the host's own schedule, some = in so many seconds (at most 60).
    Retry(Option<u32>),
    /// Trying again is of no use.
    Rejected(String),
}
