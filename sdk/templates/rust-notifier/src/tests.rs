use serde_json::json;
use vedette_sdk::{
    Alert, Verdict,
    testing::channel::{
        alert, answered, assert_fits, assert_posts_json, assert_pure, body, notification, refusal,
    },
};

use crate::{URL_FIELD, Webhook};

#[test]
fn one_alert_is_one_post_to_an_address_it_does_not_know() {
    assert_posts_json::<Webhook>(URL_FIELD);
}

#[test]
fn alert_says_what_happened_where() {
    let body = body::<Webhook>(notification(vec![alert()]));
    let expected = json!({
        "status": "raised",
        "severity": "critical",
        "domain": "example.com",
        "event": "ssl.expiring",
        "message": "the certificate expires in 5 days",
        "suggestion": "renew the certificate",
    });
    assert_eq!(body["alerts"], json!([expected]));
}

#[test]
fn alert_that_is_over_says_so() {
    let over = Alert {
        resolved: true,
        ..alert()
    };
    assert_eq!(
        body::<Webhook>(notification(vec![over]))["alerts"][0]["status"],
        "resolved"
    );
}

#[test]
fn reply_is_delivered_tried_again_or_refused() {
    assert_eq!(answered::<Webhook>(204, &[], ""), Verdict::Delivered);
    assert_eq!(answered::<Webhook>(503, &[], ""), Verdict::Retry(None));
    assert!(refusal::<Webhook>(404, "").contains("404"));
}

#[test]
fn same_notification_is_the_same_bytes_and_the_largest_fits() {
    assert_pure::<Webhook>();
    assert_fits::<Webhook>();
}
