use serde_json::{Value, json};
use vedette_sdk::{
    Alert, Delivery, HttpDelivery, NoConfig, Notification, Notify, Receipt, Severity, Verdict,
};

use crate::Webhook;

#[test]
fn body_is_the_documented_payload() {
    let request = rendered(notification());
    let body: Value = serde_json::from_slice(&request.body).expect("a body of JSON");
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
    let request = rendered(notification());
    assert_eq!(request.method, "POST");
    assert_eq!(request.url, "ref:custom_webhook_url");
    assert_eq!(request.headers, [("content-type".to_owned(), "application/json".to_owned())]);
}

#[test]
fn missing_suggestion_is_an_empty_string() {
    let mut notification = notification();
    notification.alerts[0].suggestion = None;
    assert_eq!(body(notification)["alerts"][0]["suggestion"], "");
}

#[test]
fn all_alerts_of_a_notification_are_in_one_body_in_their_order() {
    let mut notification = notification();
    let mut second = notification.alerts[0].clone();
    second.event = "certificate.changed".to_owned();
    second.severity = Severity::Warning;
    notification.alerts.push(second);
    let body = body(notification);
    let types: Vec<&Value> =
        body["alerts"].as_array().unwrap().iter().map(|a| &a["type"]).collect();
    assert_eq!(types, ["ssl.expiring", "certificate.changed"]);
    assert_eq!(body["alerts"][1]["severity"], "warning");
}

#[test]
fn entry_is_named_once_and_anew_when_the_alert_is_over() {
    let raised = body(notification());
    let mut over = notification();
    over.alerts[0].resolved = true;
    let resolved = body(over);
    assert_eq!(raised, body(notification()));
    assert_eq!(resolved["alerts"][0]["status"], "resolved");
    assert_ne!(raised["alerts"][0]["id"], resolved["alerts"][0]["id"]);
    assert_eq!(raised["alerts"][0]["alert_id"], resolved["alerts"][0]["alert_id"]);
}

#[test]
fn test_notification_says_that_it_is_one() {
    let mut notification = notification();
    notification.test = true;
    notification.alerts[0].event = "dns.changed".to_owned();
    notification.alerts[0].site_id = None;
    let body = body(notification);
    let alert = &body["alerts"][0];
    assert_eq!(alert["severity"], "info");
    assert_eq!(alert["type"], "ssl.expiring");
    assert!(alert["message"].as_str().unwrap().contains("test"));
    assert_eq!(alert["site_id"], Value::Null);
    assert_eq!(alert["status"], "raised");
}

#[test]
fn milliseconds_are_kept() {
    let mut notification = notification();
    notification.timestamp += 7;
    assert_eq!(body(notification)["timestamp"], "2026-11-20T09:30:00.007Z");
}

#[test]
fn broken_ids_and_times_are_errors_rather_than_traps() {
    let mut nameless = notification();
    nameless.id = "7".to_owned();
    let mut timeless = notification();
    timeless.timestamp = i64::MAX;
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
    let headers = vec![("retry-after".to_owned(), "30".to_owned())];
    Webhook::interpret(Receipt { status, headers, body: String::new(), error: None })
}

fn body(notification: Notification) -> Value {
    serde_json::from_slice(&rendered(notification).body).expect("a body of JSON")
}

fn rendered(notification: Notification) -> HttpDelivery {
    let mut deliveries = Webhook::render(notification, NoConfig {}).expect("deliveries");
    match (deliveries.pop(), deliveries.is_empty()) {
        (Some(Delivery::Http(request)), true) => request,
        other => panic!("expected one request, got {other:?}"),
    }
}

fn notification() -> Notification {
    Notification {
        id: "b3e0c4c8-5a0e-5b0b-8f7e-0f3c1d9f2a10".to_owned(),
        source: "vedette".to_owned(),
        timestamp: 1_795_167_000_000,
        test: false,
        alerts: vec![Alert {
            id: "0199b1a4-7c1e-7d30-8f3e-2f6d0c0c9f11".to_owned(),
            site_id: Some("0199b1a4-0000-7d30-8f3e-2f6d0c0c9f11".to_owned()),
            event: "ssl.expiring".to_owned(),
            alert_type: "ssl".to_owned(),
            severity: Severity::Critical,
            domain: "example.com".to_owned(),
            message: "the certificate expires in 5 days".to_owned(),
            suggestion: Some("renew the certificate".to_owned()),
            resolved: false,
            created_at: 1_795_167_000_000,
            url: None,
        }],
    }
}
