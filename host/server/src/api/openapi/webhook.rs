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
        // Whoever receives it asks for no key; what proves the sender is the signature.
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
            "2XX": { "description": "Acknowledged, where it comes within ten seconds." },
            "default": {
                "description": "Anything else, a redirect too, and no answer in time: sent again \
                                one second later, and once more three seconds after that.",
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
            "description": "What happened at one moment, or in the two seconds after the delivery \
                            before.",
        },
    }));
    let installed = subject.checks.iter().flat_map(|check| &check.events);
    let events = installed.map(|event| event.name.as_str());
    let events = distinct(DOCUMENTED.into_iter().chain(events).chain(["alerts.summarised"]));
    let alert = record(json!({
        "domain": said(text(), DOMAIN_SAYS),
        "type": said(text(), &format!(
            "What happened: {}. There may be more. `alerts.summarised` counts alerts that are too \
             many to be told one by one.",
            events.join(", ")
        )),
        "severity": one_of(&["critical", "warning", "info"]),
        "message": said(text(), "For people."),
        "suggestion": said(text(), "What to do about it; empty where nothing is suggested."),
        "id": said(uuid(), "Names this entry: the same in every attempt to deliver it."),
        "alert_id": said(
            uuid(),
            "The alert, as `GET /alerts` lists it; of `alerts.summarised` an id that is listed nowhere.",
        ),
        "site_id": or_null(said(uuid(), "Null in a test, and where it is about no one site.")),
        "status": said(one_of(&["raised", "resolved"]), "`resolved` once the alert is over."),
    }));
    vec![
        (
            "WebhookPayload".to_owned(),
            said(payload, "What is posted to the custom webhook. Fields may be added."),
        ),
        ("WebhookAlert".to_owned(), said(alert, "One of the alerts that a webhook tells of.")),
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
    let id = "A header. Names the delivery: the same in every attempt.";
    let signed = "A header, with a `webhook_secret`. Equal to `X-Vedette-Delivery`.";
    let at = "A header, with a `webhook_secret`. Unix time of the attempt: refuse what is older \
              than some minutes.";
    let tag = "A header, with a `webhook_secret`. `v1,` and the base64 of the HMAC-SHA256 of \
               `webhook-id`, `webhook-timestamp` and the body as it came, with a dot between \
               them. The key is what the base64 behind `whsec_` stands for.";
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

const SAYS: &str = "When an alert is raised, when it becomes more severe, and when it is over by \
     itself; what happens together, or soon after the last time, comes together. The attempts of \
     one delivery carry the same ids, so that what came twice can be told. After the last of \
     three attempts the alert is still listed, and told on the other channels. Addresses inside \
     private networks are refused. `POST /settings/notifications` sends a test.";
const DOMAIN_SAYS: &str = "For people: the site's domain, or the host that an agent looks at, with \
     `:port` where that is not 443. Of `alerts.summarised` how many sites it is about, such as \
     `26 sites`, which is no name. For programs there is `site_id`.";
const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const TEST: &str = "This is a test notification. No certificate is about to expire.";
