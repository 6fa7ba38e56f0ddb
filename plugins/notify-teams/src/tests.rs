use serde_json::{Value, json};
use vedette_sdk::{
    Alert, Notification, Verdict,
    message::{plain, units},
    testing::channel::{
        alert, answered, assert_asks_again, assert_clean, assert_fits, assert_posts_json,
        assert_pure, bodies, body, hostile, notification, refusal, requests,
    },
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
                        line("renew the certificate", "default", true),
                    ],
                }],
            },
        }],
    });
    assert_eq!(body::<Teams>(notification(vec![alert()])), expected);
}

#[test]
fn request_is_a_post_of_json_to_an_address_it_does_not_know() {
    assert_posts_json::<Teams>("teams_webhook");
}

#[test]
fn what_is_over_is_told_in_another_word_and_colour() {
    let over = Alert { resolved: true, ..alert() };
    let body = body::<Teams>(notification(vec![over]));
    let container = &containers(&body)[0];
    assert_eq!(container["style"], "good");
    assert_eq!(said(container, 0), "Resolved: example.com");
    assert_eq!(container["items"].as_array().unwrap().len(), 2);
}

#[test]
fn test_notification_says_that_it_is_one() {
    let test = Notification { test: true, ..notification(vec![alert()]) };
    let body = body::<Teams>(test);
    assert_eq!(body["summary"], "Test: example.com");
    assert!(said(&containers(&body)[0], 1).contains("This is a test notification."), "{body}");
}

#[test]
fn batch_is_one_card_as_long_as_it_can_be_read() {
    let counts = |alerts: usize| -> Vec<usize> {
        let bodies = bodies::<Teams>(notification(vec![alert(); alerts]));
        bodies.iter().map(|body| containers(body).len()).collect()
    };
    assert_eq!(counts(3), [3]);
    assert_eq!(counts(40), [20, 20]);
}

#[test]
fn every_message_of_long_alerts_is_within_every_limit() {
    let long = Alert {
        domain: "\"".repeat(253),
        message: "漢".repeat(341),
        suggestion: Some("\\".repeat(2_048)),
        ..alert()
    };
    let mut told = 0;
    for request in requests::<Teams>(notification(vec![long; 40])) {
        assert!(request.body.len() <= LARGEST, "{}", request.body.len());
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        for container in containers(&body) {
            assert!(units(said(container, 2)) <= 600, "{container}");
            told += 1;
        }
    }
    assert_eq!(told, 40);
}

#[test]
fn hostile_names_stand_in_text_runs_as_they_are() {
    for (words, told) in hostile() {
        let body = body::<Teams>(told);
        assert_eq!(said(&containers(&body)[0], 1), plain(words));
        assert_eq!(body["attachments"][0]["content"]["msteams"], json!({"width": "Full"}));
    }
    assert_clean::<Teams>();
}

#[test]
fn same_notification_is_the_same_bytes() {
    assert_pure::<Teams>();
}

#[test]
fn reply_of_teams_is_understood() {
    let failed = |status: &str| {
        format!(
            "Webhook message delivery failed with error: Microsoft Teams endpoint returned {status}"
        )
    };
    for (status, body) in [(200, "1"), (202, ""), (200, "")] {
        assert_eq!(answered::<Teams>(status, &[], body), Verdict::Delivered, "{status} {body}");
    }
    for told in [
        "HTTP error 429 with ContextId tcid=0,server=x",
        "HTTP error 503 with ContextId tcid=0",
        "nothing",
        "HTTP error 4",
        "HTTP error 漢字",
    ] {
        assert_eq!(answered::<Teams>(200, &[], &failed(told)), Verdict::Retry(None), "{told}");
    }
    for (status, body, word) in [
        (404, String::new(), "make a new workflow"),
        (410, String::new(), "make a new workflow"),
        (401, "<html>".to_owned(), "make a new workflow"),
        (400, String::new(), "does not accept the message"),
        (200, failed("HTTP error 403 with ContextId tcid=0"), "(answered 403)"),
    ] {
        let reason = refusal::<Teams>(status, &body);
        assert!(reason.contains(word), "{reason}");
    }
}

#[test]
fn workflow_that_is_full_silent_or_broken_is_asked_again() {
    assert_asks_again::<Teams>();
}

fn containers(body: &Value) -> &Vec<Value> {
    body["attachments"][0]["content"]["body"].as_array().expect("a card")
}

fn said(container: &Value, line: usize) -> &str {
    container["items"][line]["inlines"][0]["text"].as_str().expect("a line")
}

#[test]
fn as_many_alerts_as_it_takes_fit_whatever_they_say() {
    assert_fits::<Teams>();
}
