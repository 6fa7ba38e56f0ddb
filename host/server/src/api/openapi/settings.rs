//! `/settings/notifications`.

use serde_json::{Map, Value, json};
use vedette_model::Feature;

use super::{
    Subject,
    operation::Operation,
    plugin::channel_name,
    schema::{boolean, list, object, or_null, record, reference, said, text},
};

pub(super) const TAG: &str = "Notifications";

pub(super) fn operations(subject: &Subject<'_>) -> Vec<Operation> {
    let path = "/settings/notifications";
    let shown = || json!({ "settings": reference("NotificationSettings") });
    let mut with_plan = shown();
    with_plan["plan"] = subject.plan();
    vec![
        Operation::get(path, TAG, "readNotificationSettings", "Read the settings").answers(
            "The settings, and the account's plan.",
            record(with_plan),
            json!({ "settings": example(), "plan": "pro" }),
        ),
        Operation::patch(path, TAG, "updateNotificationSettings", "Change the settings")
            .says(&format!(
                "Changes the fields in the body, all or none: a value sets, null clears, and \
                 absent fields stay. E-mail needs {}, team chats {}, the custom webhook and the \
                 channels of plugins {}, the styling of the status page {}.",
                subject.plans_with(Feature::Email),
                subject.plans_with(Feature::ChatWebhooks),
                subject.plans_with(Feature::CustomWebhook),
                subject.plans_with(Feature::StatusPageStyle),
            ))
            .takes(
                reference("NotificationSettingsPatch"),
                json!({ "alert_emails": ["ops@example.com"], "status_page_enabled": true }),
            )
            .answers("The settings.", record(shown()), json!({ "settings": example() }))
            .fails(403, "The plan does not include the channel or feature."),
        Operation::post(path, TAG, "testNotifications", "Send a test notification")
            .says(
                "Sends a test to every configured channel at once, also during maintenance. An \
                 account may send 50 mails a day (UTC) in tests and invitations; every recipient \
                 counts. A call that would send more is answered with 429 and sends nothing.",
            )
            .answers(
                "The channels that were tried. `message` names those that failed.",
                record(json!({ "message": text(), "channels": list(text()) })),
                json!({
                    "message": "test notification sent to webhook",
                    "channels": ["webhook"],
                }),
            )
            .fails(503, "Only e-mail is configured, and the operator has no mail relay."),
    ]
}

pub(super) fn schemas(subject: &Subject<'_>) -> Vec<(String, Value)> {
    let mut shown = fields();
    shown["plugin_channels"] = json!({
        "type": "object",
        "additionalProperties": { "type": "object" },
        "description": "The settings of the channels of plugins, by channel. `true` is answered \
             in place of secrets, and of all settings of a plugin that is not installed.",
    });
    shown["webhook_secret_set"] =
        said(boolean(), "Whether deliveries to the custom webhook are signed.");
    shown["status_page_slug"] = or_null(said(
        text(),
        "The name of the status page in its address. It is made when the page is first enabled, \
         and never changes.",
    ));
    shown["status_page_url"] = or_null(said(
        text(),
        "The address of the status page. The page is there also if it has a \
             custom domain.",
    ));
    shown["status_page_domain_verification"] = or_null(said(
        record(json!({ "name": text(), "value": text(), "verified": boolean() })),
        "A TXT record `value` at `name` proves that the custom domain is yours; then no other \
         account can use it. Until somebody has proved it, the domain shows the page of the \
         account that named it first. The record is looked for at most once a minute, and at once \
         when the domain is sent again.",
    ));
    let mut patch = fields();
    patch["plugin_channels"] = plugin_channels(subject);
    patch["webhook_secret"] = or_null(json!({
        "type": "string",
        "pattern": "^(whsec_)?[A-Za-z0-9+/]{32,86}={0,2}$",
        "description": "The base64 of 24 to 64 bytes, with or without the prefix `whsec_` \
             (Standard Webhooks). Can be set but is never shown.",
    }));
    vec![
        (
            "NotificationSettings".to_owned(),
            said(record(shown), "How the account is notified, and how its status page looks."),
        ),
        (
            "NotificationSettingsPatch".to_owned(),
            said(object(&[], patch), "The settings that are to change."),
        ),
    ]
}

fn plugin_channels(subject: &Subject<'_>) -> Value {
    let channels = subject.channels.iter().map(|channel| {
        let name = &channel.channel;
        (name.clone(), or_null(reference(&channel_name(name))))
    });
    let properties: Map<String, Value> = channels.collect();
    json!({
        "type": ["object", "null"],
        "properties": properties,
        "additionalProperties": { "type": "null" },
        "description": "The channels of the operator's plugins. An object replaces all settings \
             of that channel. Null removes the channel, also if its plugin is no longer \
             installed.",
    })
}

/// What is both written and shown.
fn fields() -> Value {
    let hook = |of: &str| or_null(url(2048, &format!("Incoming webhook of {of}.")));
    json!({
        "email": said(boolean(), "Alerts by e-mail."),
        "alert_emails": {
            "type": "array",
            "items": { "type": "string", "maxLength": 254 },
            "maxItems": 5,
            "description": "Recipients, in lower case. Empty: the account's own address.",
        },
        "slack_webhook_url": hook("Slack"),
        "discord_webhook_url": hook("Discord"),
        "teams_webhook": hook("Microsoft Teams"),
        "custom_webhook_url": or_null(url(2048, "Receives every event as JSON.")),
        "status_page_enabled": boolean(),
        "status_page_title": {
            "type": "string", "maxLength": 100, "description": "One line.",
        },
        "status_page_logo_url": or_null(url(500, "An image.")),
        "status_page_accent_color": {
            "type": "string",
            "pattern": "^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$",
        },
        "status_page_favicon_url": or_null(url(500, "An image.")),
        "status_page_custom_domain": or_null(json!({
            "type": "string", "minLength": 1, "maxLength": 253, "description": "A bare host name.",
        })),
        "status_page_hide_powered_by": boolean(),
        "status_page_custom_css": or_null(json!({ "type": "string", "maxLength": 10_000 })),
    })
}

fn url(longest: u32, description: &str) -> Value {
    json!({
        "type": "string",
        "maxLength": longest,
        "pattern": "^[hH][tT][tT][pP][sS]?://",
        "description": description,
    })
}

fn example() -> Value {
    json!({
        "email": false,
        "alert_emails": ["ops@example.com"],
        "slack_webhook_url": null,
        "discord_webhook_url": null,
        "teams_webhook": null,
        "custom_webhook_url": "https://hooks.example.com/vedette",
        "webhook_secret_set": true,
        "plugin_channels": {},
        "status_page_enabled": true,
        "status_page_title": "Example Shop",
        "status_page_logo_url": null,
        "status_page_accent_color": "#2f6feb",
        "status_page_favicon_url": null,
        "status_page_custom_domain": null,
        "status_page_hide_powered_by": false,
        "status_page_custom_css": null,
        "status_page_slug": "example-shop",
        "status_page_url": "https://watch.example.com/status/example-shop",
        "status_page_domain_verification": null,
    })
}
