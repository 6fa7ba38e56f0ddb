use serde_json::{Value, json};
use vedette_sdk::{
    Alert, NoConfig, Notification, Notify, Severity, Verdict,
    testing::channel::{
        alert, answered, assert_fits, assert_posts_json, assert_pure, body, notification,
    },
};

use crate::Webhook;

#[test]
fn body_is_the_documented_payload() {
    let body = body::<Webhook>(notification(vec![alert()]));
    let id = &body["alerts"][0]["id"];
    let expected = json!({
        "source": "vedette",
        "timestamp": "2026-11-20T09:30:00Z",
        "alerts": [{
            "domain": "example.com",
            "type": "ssl.expiring",
            "severity": "critical",
            "message": "the certificate expires in 5 days",
            "suggestion": "renew the certificate",
            "id": id,
            "alert_id": "0199b1a4-7c1e-7d30-8f3e-2f6d0c0c9f11",
            "site_id": "0199b1a4-0000-7d30-8f3e-2f6d0c0c9f11",
            "status": "raised",
        }],
    });
    assert_eq!(body, expected);
    assert!(uuid::Uuid::parse_str(id.as_str().expect("a string")).is_ok());
}

#[test]
fn request_is_a_post_of_json_to_an_address_it_does_not_know() {
    assert_posts_json::<Webhook>("custom_webhook_url");
}

#[test]
fn missing_suggestion_is_an_empty_string() {
    let bare = Alert { suggestion: None, ..alert() };
    assert_eq!(body::<Webhook>(notification(vec![bare]))["alerts"][0]["suggestion"], "");
}

#[test]
fn all_alerts_of_a_notification_are_in_one_body_in_their_order() {
    let event = "certificate.changed".to_owned();
    let second = Alert { event, severity: Severity::Warning, ..alert() };
    let body = body::<Webhook>(notification(vec![alert(), second]));
    let types: Vec<&Value> =
        body["alerts"].as_array().unwrap().iter().map(|a| &a["type"]).collect();
    assert_eq!(types, ["ssl.expiring", "certificate.changed"]);
    assert_eq!(body["alerts"][1]["severity"], "warning");
}

#[test]
fn entry_is_named_once_and_anew_when_the_alert_is_over() {
    let told = |alert: Alert| body::<Webhook>(notification(vec![alert]));
    let raised = told(alert());
    let resolved = told(Alert { resolved: true, ..alert() });
    assert_eq!(raised, told(alert()));
    assert_eq!(resolved["alerts"][0]["status"], "resolved");
    let said = format!("Resolved: {}", raised["alerts"][0]["message"].as_str().unwrap());
    assert_eq!(resolved["alerts"][0]["message"], said);
    assert_eq!(resolved["alerts"][0]["suggestion"], "Nothing to do.");
    assert_ne!(raised["alerts"][0]["id"], resolved["alerts"][0]["id"]);
    assert_eq!(raised["alerts"][0]["alert_id"], resolved["alerts"][0]["alert_id"]);
}

#[test]
fn test_notification_says_that_it_is_one() {
    let any = Alert { event: "dns.changed".to_owned(), site_id: None, ..alert() };
    let body = body::<Webhook>(Notification { test: true, ..notification(vec![any]) });
    let alert = &body["alerts"][0];
    assert_eq!(alert["severity"], "info");
    assert_eq!(alert["type"], "ssl.expiring");
    assert!(alert["message"].as_str().unwrap().contains("test"));
    assert_eq!(alert["site_id"], Value::Null);
    assert_eq!(alert["status"], "raised");
}

#[test]
fn milliseconds_are_kept() {
    let mut later = notification(vec![alert()]);
    later.timestamp += 7;
    assert_eq!(body::<Webhook>(later)["timestamp"], "2026-11-20T09:30:00.007Z");
}

#[test]
fn same_notification_is_the_same_bytes() {
    assert_pure::<Webhook>();
}

#[test]
fn broken_ids_and_times_are_errors_rather_than_traps() {
    let nameless = Notification { id: "7".to_owned(), ..notification(vec![alert()]) };
    let timeless = Notification { timestamp: i64::MAX, ..notification(vec![alert()]) };
    for broken in [nameless, timeless] {
        assert!(Webhook::render(broken, NoConfig {}).is_err());
    }
}

#[test]
fn only_2xx_acknowledges_and_nothing_is_final() {
    for status in [200, 202, 204, 299] {
        assert_eq!(interpreted(status), Verdict::Delivered, "{status}");
    }
    for status in [0, 100, 199, 300, 302, 400, 401, 404, 410, 429, 500, 503] {
        assert_eq!(interpreted(status), Verdict::Retry(None), "{status}");
    }
}

fn interpreted(status: u16) -> Verdict {
    answered::<Webhook>(status, &[("retry-after", "30")], "")
}

#[test]
fn as_many_alerts_as_it_takes_fit_whatever_they_say() {
    assert_fits::<Webhook>();
}
