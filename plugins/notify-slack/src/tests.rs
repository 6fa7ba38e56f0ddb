use serde_json::{Value, json};
use vedette_sdk::{
    Alert, Delivery, NoConfig, Notification, Notify, Receipt, Severity, Verdict, message::units,
};

use crate::Slack;

#[test]
fn one_alert_is_a_headline_and_a_coloured_block() {
    let body = body(notification(vec![alert()]));
    let expected = json!({
        "text": "Critical: example.com: the certificate expires in 5 days",
        "blocks": [{
            "type": "header",
            "text": {"type": "plain_text", "text": "Critical: example.com", "emoji": false},
        }],
        "attachments": [{
            "color": "#d1242f",
            "blocks": [{
                "type": "section",
                "text": {
                    "type": "plain_text",
                    "text": "Critical: example.com\nthe certificate expires in 5 days\nrenew it",
                    "emoji": false,
                },
            }],
        }],
    });
    assert_eq!(body, expected);
}

#[test]
fn request_is_a_post_of_json_to_an_address_it_does_not_know() {
    let requests = rendered(notification(vec![alert()]));
    let [Delivery::Http(request)] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((request.method.as_str(), request.url.as_str()), ("POST", "ref:slack_webhook_url"));
    assert_eq!(request.headers, [("content-type".to_owned(), "application/json".to_owned())]);
}

#[test]
fn what_is_over_is_told_in_another_word_and_colour() {
    let mut over = alert();
    over.resolved = true;
    let body = body(notification(vec![over]));
    assert_eq!(body["attachments"][0]["color"], "#1a7f37");
    assert!(said(&body).starts_with("Resolved: example.com\n"), "{body}");
    assert!(!said(&body).contains("renew it"), "{body}");
}

#[test]
fn test_notification_says_that_it_is_one() {
    let mut notification = notification(vec![alert()]);
    notification.test = true;
    let body = body(notification);
    assert_eq!(body["blocks"][0]["text"]["text"], "Test: example.com");
    assert!(said(&body).contains("This is a test notification."), "{body}");
    assert!(body["text"].as_str().unwrap().contains("This is a test notification."), "{body}");
}

#[test]
fn batch_is_one_message_within_every_limit() {
    let alerts = (0..40).map(|number| {
        let mut alert = alert();
        alert.domain = format!("{}.example", "&".repeat(200 + number));
        alert.message = "<".repeat(1_024);
        alert.suggestion = Some("é>".repeat(600));
        alert
    });
    let body = body(notification(alerts.collect()));
    assert!(body["blocks"][0]["text"]["text"].as_str().unwrap().starts_with("40 alerts: 40 crit"));
    let attachments = body["attachments"].as_array().unwrap();
    assert_eq!(attachments.len(), 40);
    for attachment in attachments {
        let text = attachment["blocks"][0]["text"]["text"].as_str().unwrap();
        assert!(units(text) <= 3_000, "{}", units(text));
        let rest = text.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "");
        assert!(!rest.contains('&'), "an escape was cut: {text}");
    }
    assert!(units(body["text"].as_str().unwrap()) <= 4_000);
    assert!(body.to_string().len() < 200 << 10);
}

#[test]
fn long_name_leaves_the_headline_within_its_limit() {
    let mut long = alert();
    long.domain = "&".repeat(250);
    let body = body(notification(vec![long]));
    let header = body["blocks"][0]["text"]["text"].as_str().unwrap();
    assert!(units(header) <= 150 && header.ends_with("&amp;…"), "{header}");
}

#[test]
fn more_than_a_message_holds_is_several() {
    assert_eq!(rendered(notification(vec![alert(); 41])).len(), 2);
}

#[test]
fn hostile_names_call_nobody_and_are_no_markup() {
    for (text, expected) in [
        ("<!channel> & <@U1>", "&lt;!channel&gt; &amp; &lt;@\u{2060}U1&gt;"),
        ("@here @everyone", "@\u{2060}here @\u{2060}everyone"),
        ("[pay](https://evil.example)", "[pay]\u{2060}(https://evil.example)"),
        ("<https://evil.example|bank>", "&lt;https://evil.example|bank&gt;"),
        ("one\r\ntwo\u{202e}\u{0}three", "one two three"),
    ] {
        let mut hostile = alert();
        hostile.message = text.to_owned();
        let body = body(notification(vec![hostile]));
        let said = said(&body);
        assert_eq!(said.lines().nth(1), Some(expected), "{said}");
        assert!(body["text"].as_str().unwrap().ends_with(expected), "{body}");
    }
}

#[test]
fn same_notification_is_the_same_bytes() {
    let notification = || notification(vec![alert(), alert()]);
    assert_eq!(rendered(notification()), rendered(notification()));
}

#[test]
fn reply_of_slack_is_understood() {
    for (status, body, word) in [
        (403, "invalid_token", "make a new incoming webhook"),
        (404, "no_service", "make a new incoming webhook"),
        (410, "channel_is_archived", "unarchive it"),
        (404, "channel_not_found", "another channel"),
        (403, "action_prohibited", "ask its administrator"),
        (400, "invalid_payload", "does not take the message"),
        (404, "<html>not here</html>", "make a new incoming webhook"),
    ] {
        match answered(status, body, &[]) {
            Verdict::Rejected(reason) => {
                assert!(reason.contains(word) && !reason.contains('<'), "{reason}");
                assert!(reason.contains(&status.to_string()), "{reason}");
            }
            other => panic!("{status} {body}: {other:?}"),
        }
    }
    assert_eq!(answered(200, "ok", &[]), Verdict::Delivered);
    assert_eq!(answered(429, "", &[("Retry-After", "30")]), Verdict::Retry(Some(30)));
    for status in [0, 408, 500, 503] {
        assert_eq!(answered(status, "rollup_error", &[]), Verdict::Retry(None), "{status}");
    }
}

fn answered(status: u16, body: &str, headers: &[(&str, &str)]) -> Verdict {
    let headers = headers.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Slack::interpret(Receipt { status, headers, body: body.to_owned(), error: None })
}

/// The section of the first alert.
fn said(body: &Value) -> &str {
    body["attachments"][0]["blocks"][0]["text"]["text"].as_str().expect("a section")
}

fn body(notification: Notification) -> Value {
    let requests = rendered(notification);
    let [Delivery::Http(request)] = requests.as_slice() else { panic!("{requests:?}") };
    serde_json::from_slice(&request.body).expect("a body of JSON")
}

fn rendered(notification: Notification) -> Vec<Delivery> {
    Slack::render(notification, NoConfig {}).expect("deliveries")
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
