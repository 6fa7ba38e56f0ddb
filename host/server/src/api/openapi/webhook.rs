//! What the service sends by itself: alerts, to the address that an account has set for them. The
//! description of what the plugin `notify-webhook` writes, and of what the host adds to it.

use serde_json::{Value, json};
use vedette_model::Feature;

use super::{
    Subject, distinct,
    sample::{ALERT, DELIVERY, DOMAIN, NOW, SITE},
    schema::{moment, one_of, or_null, record, reference, said, text, uuid},
};

/// Its own: generators of clients write a file for each tag, and this one is of what clients receive.
pub(super) const TAG: &str = "Webhooks";

/// `webhooks`: a Path Item Object for each.
pub(super) fn webhooks(subject: &Subject<'_>) -> Value {
    let described = json!({
        "operationId": "receiveAlerts",
        "summary": "Alerts, posted to your own address",
        "description": format!(
            "Sent to `custom_webhook_url`, which needs {}. {SAYS}",
            subject.plans_with(Feature::CustomWebhook)
        ),
        "tags": [TAG],
        // The receiver asks for no key; the signature proves the sender.
        "security": [],
        "parameters": headers(),
        "requestBody": {
            "required": true,
            "content": {
                "application/json": {
                    "schema": reference("WebhookPayload"),
                    "examples": {
                        "alert": { "summary": "An alert", "value": alert() },
                        "test": { "summary": "A test", "value": test() },
                    },
                },
            },
        },
        "responses": {
            "2XX": { "description": "The delivery is acknowledged, if the answer comes within ten \
                 seconds." },
            "default": {
                "description": "Any other answer, a redirect too, or none in time: the delivery \
                     is sent again after one second, and once more after another three.",
            },
        },
    });
    json!({ "alerts": { "post": described } })
}

pub(super) fn schemas(subject: &Subject<'_>) -> Vec<(String, Value)> {
    let payload = record(json!({
        "source": said(one_of(&["vedette"]), "Who sends it: check it."),
        "timestamp": said(moment(), "When the notification was made."),
        "alerts": {
            "type": "array",
            "items": reference("WebhookAlert"),
            "minItems": 1,
            "maxItems": 100,
            "description": "What happened at one moment, or within two seconds of the previous \
                 delivery.",
        },
    }));
    let installed = subject.checks.iter().flat_map(|check| &check.events);
    let events = installed.map(|event| event.name.as_str());
    let events = distinct(DOCUMENTED.into_iter().chain(events).chain(["alerts.summarised"]));
    let alert = record(json!({
        "domain": said(text(), DOMAIN_SAYS),
        "type": said(text(), &format!(
            "What happened: {}. Later versions may add others. `alerts.summarised` counts alerts \
             when there are too many to list.",
            events.join(", ")
        )),
        "severity": one_of(&["critical", "warning", "info"]),
        "message": said(text(), "For people."),
        "suggestion": said(text(), "What to do about it; empty if there is no suggestion."),
        "id": said(uuid(), "Identifies this entry. It is the same in every attempt."),
        "alert_id": said(
            uuid(),
            "The alert's id in `GET /alerts`. In `alerts.summarised`, an id that is listed \
             nowhere.",
        ),
        "site_id": or_null(said(uuid(), "Null in a test, and if the entry is about several sites.")),
        "status": said(one_of(&["raised", "resolved"]), "`resolved` once the alert is over."),
    }));
    vec![
        (
            "WebhookPayload".to_owned(),
            said(
                payload,
                "The body that is posted to the custom webhook. Later versions may add \
                 fields.",
            ),
        ),
        ("WebhookAlert".to_owned(), said(alert, "One alert in the body of a webhook.")),
    ]
}

/// What the host puts beside the body.
fn headers() -> Value {
    let header = |name: &str, required: bool, schema: Value, example: Value, description: &str| {
        json!({
            "name": name,
            "in": "header",
            "required": required,
            "schema": schema,
            "example": example,
            "description": description,
        })
    };
    let signature = json!({ "type": "string", "pattern": "^v1,[A-Za-z0-9+/]{43}=$" });
    let id = "A header that identifies the delivery. It is the same in every attempt.";
    let signed = "A header, if there is a `webhook_secret`. Equal to `X-Vedette-Delivery`.";
    let at = "A header, if there is a `webhook_secret`. Unix time of the attempt. Refuse \
         deliveries older than a few minutes.";
    let tag = "A header, if there is a `webhook_secret`. `v1,` and the base64 of the HMAC-SHA256 \
         of `webhook-id`, `webhook-timestamp` and the raw body, joined by dots. The key is the \
         decoded base64 after `whsec_`.";
    json!([
        header("X-Vedette-Delivery", true, uuid(), json!(DELIVERY), id),
        header("webhook-id", false, uuid(), json!(DELIVERY), signed),
        header("webhook-timestamp", false, json!({ "type": "integer" }), json!(1_795_187_045), at),
        header("webhook-signature", false, signature, json!(SIGNATURE), tag),
    ])
}

fn alert() -> Value {
    json!({
        "source": "vedette",
        "timestamp": NOW,
        "alerts": [{
            "domain": DOMAIN,
            "type": "ssl.expiring",
            "severity": "critical",
            "message": "shop.example.com: certificate expires in 8 days, on 2026-11-29",
            "suggestion": "Renew the certificate and reload the server before that date.",
            "id": "5d1f3a3e-5d0a-5c0f-9a39-6a6a3a1c7c55",
            "alert_id": ALERT,
            "site_id": SITE,
            "status": "raised",
        }],
    })
}

/// What a test is told by (spec: Delivery 7).
fn test() -> Value {
    let mut test = alert();
    test["alerts"][0]["domain"] = json!("example.com");
    test["alerts"][0]["severity"] = json!("info");
    test["alerts"][0]["message"] = json!(TEST);
    test["alerts"][0]["suggestion"] = json!("Nothing needs to be done.");
    test["alerts"][0]["site_id"] = Value::Null;
    test
}

/// As the contract lists them; checks that are installed may have more.
const DOCUMENTED: [&str; 8] = [
    "ssl.expiring",
    "ssl.expired",
    "ssl.invalid",
    "ssl.renewed",
    "certificate.changed",
    "dns.changed",
    "domain.expiring",
    "domain.expired",
];

const SAYS: &str = "Sent when an alert is raised, becomes more severe, or resolves itself. Alerts \
     that happen together, or soon after the previous delivery, come in one delivery. All \
     attempts of a delivery have the same ids, by which a repeat can be recognised. If all three \
     attempts fail, the alert is still listed, and sent on the other channels. Addresses in \
     private networks are refused. `POST /settings/notifications` sends a test.";
const DOMAIN_SAYS: &str = "For people: the site's domain, or the host that an agent looks at, \
     with `:port` unless that is 443. In `alerts.summarised`, the number of sites, such as `26 \
     sites`. Programs should use `site_id`.";
const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const TEST: &str = "This is a test notification. No certificate is about to expire.";
