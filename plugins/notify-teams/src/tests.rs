use serde_json::{Value, json};
use vedette_sdk::{
    Alert, Delivery, NoConfig, Notification, Notify, Receipt, Severity, Verdict, message::units,
};

use crate::Teams;

/// What Teams takes.
const LARGEST: usize = 28_000;

#[test]
fn one_alert_is_a_card_with_a_coloured_container() {
    let line = |text: &str, weight: &str, is_subtle: bool| {
        json!({
            "type": "RichTextBlock",
            "inlines": [
                {"type": "TextRun", "text": text, "weight": weight, "isSubtle": is_subtle},
            ],
        })
    };
    let expected = json!({
        "type": "message",
        "summary": "Critical: example.com",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "contentUrl": null,
            "content": {
                "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                "type": "AdaptiveCard",
                "version": "1.4",
                "fallbackText": "Critical: example.com",
                "msteams": {"width": "Full"},
                "body": [{
                    "type": "Container",
                    "style": "attention",
                    "separator": true,
                    "items": [
                        line("Critical: example.com", "bolder", false),
                        line("the certificate expires in 5 days", "default", false),
                        line("renew it", "default", true),
                    ],
                }],
            },
        }],
    });
    assert_eq!(bodies(notification(vec![alert()])), [expected]);
}

#[test]
fn request_is_a_post_of_json_to_an_address_it_does_not_know() {
    let requests = rendered(notification(vec![alert()]));
    let [Delivery::Http(request)] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((request.method.as_str(), request.url.as_str()), ("POST", "ref:teams_webhook"));
    assert_eq!(request.headers, [("content-type".to_owned(), "application/json".to_owned())]);
}

#[test]
fn what_is_over_is_told_in_another_word_and_colour() {
    let mut over = alert();
    over.resolved = true;
    let body = bodies(notification(vec![over])).remove(0);
    let container = &containers(&body)[0];
    assert_eq!(container["style"], "good");
    assert_eq!(said(container, 0), "Resolved: example.com");
    assert_eq!(container["items"].as_array().unwrap().len(), 2);
}

#[test]
fn test_notification_says_that_it_is_one() {
    let mut notification = notification(vec![alert()]);
    notification.test = true;
    let body = bodies(notification).remove(0);
    assert_eq!(body["summary"], "Test: example.com");
    assert!(said(&containers(&body)[0], 1).contains("This is a test notification."), "{body}");
}

#[test]
fn batch_is_one_card_as_long_as_it_can_be_read() {
    let counts = |alerts: usize| -> Vec<usize> {
        let bodies = bodies(notification(vec![alert(); alerts]));
        bodies.iter().map(|body| containers(body).len()).collect()
    };
    assert_eq!(counts(3), [3]);
    assert_eq!(counts(40), [20, 20]);
}

#[test]
fn every_message_of_long_alerts_is_within_every_limit() {
    let mut long = alert();
    long.domain = "\"".repeat(253);
    long.message = "漢".repeat(341);
    long.suggestion = Some("\\".repeat(2_048));
    let requests = rendered(notification(vec![long; 40]));
    assert!(requests.len() <= 32, "{}", requests.len());
    let (mut bytes, mut told) = (0, 0);
    for request in &requests {
        let Delivery::Http(request) = request else { panic!("{request:?}") };
        assert!(request.body.len() <= LARGEST, "{}", request.body.len());
        bytes += request.body.len();
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        for container in containers(&body) {
            assert!(units(said(container, 2)) <= 600, "{container}");
            told += 1;
        }
    }
    assert_eq!(told, 40);
    assert!(bytes < 256 << 10, "{bytes}");
}

#[test]
fn hostile_names_stand_in_text_runs_as_they_are() {
    for (text, expected) in [
        ("[pay](https://evil.example) **b**", "[pay](https://evil.example) **b**"),
        ("<at>everyone</at>", "<at>everyone</at>"),
        ("one\r\ntwo\u{202e}\u{0}three", "one two three"),
    ] {
        let mut hostile = alert();
        hostile.message = text.to_owned();
        let body = bodies(notification(vec![hostile])).remove(0);
        assert_eq!(said(&containers(&body)[0], 1), expected);
        assert_eq!(body["attachments"][0]["content"]["msteams"], json!({"width": "Full"}));
    }
}

#[test]
fn same_notification_is_the_same_bytes() {
    let notification = || notification(vec![alert(), alert()]);
    assert_eq!(rendered(notification()), rendered(notification()));
}

#[test]
fn reply_of_teams_is_understood() {
    let failed = |status: &str| {
        format!(
            "Webhook message delivery failed with error: Microsoft Teams endpoint returned {status}"
        )
    };
    for (status, body) in [(200, "1"), (202, ""), (200, "")] {
        assert_eq!(answered(status, body), Verdict::Delivered, "{status} {body}");
    }
    for (status, body) in [
        (200, failed("HTTP error 429 with ContextId tcid=0,server=x")),
        (200, failed("HTTP error 503 with ContextId tcid=0")),
        (200, failed("nothing")),
        (200, failed("HTTP error 4")),
        (200, failed("HTTP error 漢字")),
        (0, String::new()),
        (408, String::new()),
        (502, String::new()),
        (429, String::new()),
    ] {
        assert_eq!(answered(status, &body), Verdict::Retry(None), "{status} {body}");
    }
    for (status, body, word) in [
        (404, String::new(), "make a new workflow"),
        (410, String::new(), "make a new workflow"),
        (401, "<html>".to_owned(), "make a new workflow"),
        (400, String::new(), "does not take the message"),
        (200, failed("HTTP error 403 with ContextId tcid=0"), "(answered 403)"),
    ] {
        match answered(status, &body) {
            Verdict::Rejected(reason) => assert!(reason.contains(word), "{reason}"),
            other => panic!("{status} {body}: {other:?}"),
        }
    }
}

#[test]
fn workflow_that_names_a_time_is_heard() {
    let headers = vec![("Retry-After".to_owned(), "20".to_owned())];
    let receipt = Receipt { status: 429, headers, body: String::new(), error: None };
    assert_eq!(Teams::interpret(receipt), Verdict::Retry(Some(20)));
}

fn answered(status: u16, body: &str) -> Verdict {
    Teams::interpret(Receipt { status, headers: Vec::new(), body: body.to_owned(), error: None })
}

fn containers(body: &Value) -> &Vec<Value> {
    body["attachments"][0]["content"]["body"].as_array().expect("a card")
}

fn said(container: &Value, line: usize) -> &str {
    container["items"][line]["inlines"][0]["text"].as_str().expect("a line")
}

fn bodies(notification: Notification) -> Vec<Value> {
    let body = |request: &Delivery| -> Value {
        let Delivery::Http(request) = request else { panic!("{request:?}") };
        serde_json::from_slice(&request.body).expect("a body of JSON")
    };
    rendered(notification).iter().map(body).collect()
}

fn rendered(notification: Notification) -> Vec<Delivery> {
    Teams::render(notification, NoConfig {}).expect("deliveries")
}

fn notification(alerts: Vec<Alert>) -> Notification {
    Notification {
        id: "b3e0c4c8-5a0e-5b0b-8f7e-0f3c1d9f2a10".to_owned(),
        source: "vedette".to_owned(),
        timestamp: 1_795_167_000_000,
        test: false,
        alerts,
    }
}

fn alert() -> Alert {
    Alert {
        id: "0199b1a4-7c1e-7d30-8f3e-2f6d0c0c9f11".to_owned(),
        site_id: None,
        event: "ssl.expiring".to_owned(),
        alert_type: "ssl".to_owned(),
        severity: Severity::Critical,
        domain: "example.com".to_owned(),
        message: "the certificate expires in 5 days".to_owned(),
        suggestion: Some("renew it".to_owned()),
        resolved: false,
        created_at: 1_795_167_000_000,
        url: None,
    }
}
