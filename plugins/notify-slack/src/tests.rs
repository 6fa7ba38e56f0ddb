use serde_json::{Value, json};
use vedette_sdk::{
    Alert, Notification, Verdict,
    message::{plain, units},
    testing::channel::{
        alert, answered, assert_asks_again, assert_clean, assert_fits, assert_posts_json,
        assert_pure, bodies, body, hostile, notification, refusal,
    },
};

use crate::Slack;

#[test]
fn one_alert_is_a_headline_and_a_coloured_block() {
    let body = body::<Slack>(notification(vec![alert()]));
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
                    "text": "Critical: example.com\nthe certificate expires in 5 days\n\
                        renew the certificate",
                    "emoji": false,
                },
            }],
        }],
    });
    assert_eq!(body, expected);
}

#[test]
fn request_is_a_post_of_json_to_an_address_it_does_not_know() {
    assert_posts_json::<Slack>("slack_webhook_url");
}

#[test]
fn what_is_over_is_told_in_another_word_and_colour() {
    let over = Alert { resolved: true, ..alert() };
    let body = body::<Slack>(notification(vec![over]));
    assert_eq!(body["attachments"][0]["color"], "#1a7f37");
    assert!(said(&body).starts_with("Resolved: example.com\n"), "{body}");
    assert!(!said(&body).contains("renew"), "{body}");
}

#[test]
fn test_notification_says_that_it_is_one() {
    let test = Notification { test: true, ..notification(vec![alert()]) };
    let body = body::<Slack>(test);
    assert_eq!(body["blocks"][0]["text"]["text"], "Test: example.com");
    assert!(said(&body).contains("This is a test notification."), "{body}");
    assert!(body["text"].as_str().unwrap().contains("This is a test notification."), "{body}");
}

#[test]
fn batch_is_one_message_within_every_limit() {
    let alerts = (0..40).map(|number| Alert {
        domain: format!("{}.example", "&".repeat(200 + number)),
        message: "<".repeat(1_024),
        suggestion: Some("é>".repeat(600)),
        ..alert()
    });
    let body = body::<Slack>(notification(alerts.collect()));
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
    let long = Alert { domain: "&".repeat(250), ..alert() };
    let body = body::<Slack>(notification(vec![long]));
    let header = body["blocks"][0]["text"]["text"].as_str().unwrap();
    assert!(units(header) <= 150 && header.ends_with("&amp;…"), "{header}");
}

#[test]
fn more_than_a_message_holds_is_several() {
    assert_eq!(bodies::<Slack>(notification(vec![alert(); 41])).len(), 2);
}

#[test]
fn hostile_names_call_nobody_and_are_no_markup() {
    for (text, expected) in [
        ("<!channel> & <@U1>", "&lt;!channel&gt; &amp; &lt;@\u{2060}U1&gt;"),
        ("@here @everyone", "@\u{2060}here @\u{2060}everyone"),
        ("[pay](https://evil.example)", "[pay]\u{2060}(https://evil.example)"),
        ("<https://evil.example|bank>", "&lt;https://evil.example|bank&gt;"),
    ] {
        let named = Alert { message: text.to_owned(), ..alert() };
        let body = body::<Slack>(notification(vec![named]));
        assert_eq!(said(&body).lines().nth(1), Some(expected), "{body}");
        assert!(body["text"].as_str().unwrap().ends_with(expected), "{body}");
    }
    for (words, told) in hostile() {
        let body = body::<Slack>(told);
        assert_eq!(shown(said(&body)).split('\n').nth(1), Some(plain(words).as_str()), "{body}");
        shown(body["text"].as_str().unwrap());
    }
    assert_clean::<Slack>();
}

#[test]
fn same_notification_is_the_same_bytes() {
    assert_pure::<Slack>();
}

#[test]
fn reply_of_slack_is_understood() {
    for (status, body, word) in [
        (403, "invalid_token", "make a new incoming webhook"),
        (404, "no_service", "make a new incoming webhook"),
        (410, "channel_is_archived", "unarchive it"),
        (404, "channel_not_found", "another channel"),
        (403, "action_prohibited", "ask its administrator"),
        (400, "invalid_payload", "does not accept the message"),
        (404, "<html>not here</html>", "make a new incoming webhook"),
    ] {
        let reason = refusal::<Slack>(status, body);
        assert!(reason.contains(word) && reason.contains(&status.to_string()), "{reason}");
    }
    assert_eq!(answered::<Slack>(200, &[], "ok"), Verdict::Delivered);
    assert_eq!(answered::<Slack>(500, &[], "rollup_error"), Verdict::Retry(None));
    assert_asks_again::<Slack>();
}

/// The section of the first alert.
fn said(body: &Value) -> &str {
    body["attachments"][0]["blocks"][0]["text"]["text"].as_str().expect("a section")
}

/// What Slack shows of a text; a tag, a mention or a link of Markdown in it fails.
fn shown(text: &str) -> String {
    let inert = text.replace("@\u{2060}", "").replace("]\u{2060}", "");
    assert!(!inert.contains(['<', '>', '@', ']']), "{text}");
    let words = text.replace('\u{2060}', "").replace("&lt;", "<").replace("&gt;", ">");
    words.replace("&amp;", "&")
}

#[test]
fn as_many_alerts_as_it_takes_fit_whatever_they_say() {
    assert_fits::<Slack>();
}
