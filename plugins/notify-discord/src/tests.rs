use serde_json::{Value, json};
use vedette_sdk::{
    Alert, Notification, Verdict,
    message::{plain, units},
    testing::channel::{
        alert, answered, assert_asks_again, assert_clean, assert_fits, assert_posts_json,
        assert_pure, bodies, body, hostile, notification, refusal,
    },
};

use crate::Discord;

#[test]
fn one_alert_is_a_line_and_a_coloured_embed() {
    let expected = json!({
        "content": "Critical: example.com",
        "embeds": [{
            "title": "Critical: example.com",
            "description": "the certificate expires in 5 days",
            "color": 0x00d1_242f,
            "fields": [{"name": "Suggestion", "value": "renew the certificate"}],
        }],
        "allowed_mentions": {"parse": []},
    });
    assert_eq!(body::<Discord>(notification(vec![alert()])), expected);
}

#[test]
fn request_is_a_post_of_json_to_an_address_it_does_not_know() {
    assert_posts_json::<Discord>("discord_webhook_url");
}

#[test]
fn what_is_over_is_told_in_another_word_and_colour() {
    let over = Alert { resolved: true, ..alert() };
    let embed = body::<Discord>(notification(vec![over]))["embeds"][0].clone();
    assert_eq!(embed["title"], "Resolved: example.com");
    assert_eq!(embed["color"], 0x001a_7f37);
    assert_eq!(embed["fields"], Value::Null);
}

#[test]
fn test_notification_says_that_it_is_one() {
    let test = Notification { test: true, ..notification(vec![alert()]) };
    let body = body::<Discord>(test);
    assert_eq!(body["content"], "Test: example.com");
    let said = body["embeds"][0]["description"].as_str().expect("a description");
    assert!(said.contains("This is a test notification."), "{said}");
}

#[test]
fn batch_is_as_many_messages_as_ten_embeds_ask_for() {
    let bodies = bodies::<Discord>(notification(vec![alert(); 25]));
    let counts: Vec<usize> = bodies.iter().map(|b| b["embeds"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [10, 10, 5]);
    assert_eq!(bodies[2]["content"], "5 alerts: 5 critical");
}

#[test]
fn every_message_of_long_alerts_is_within_every_limit() {
    let long = Alert {
        domain: "*".repeat(253),
        message: "漢[".repeat(256),
        suggestion: Some("`".repeat(2_048)),
        ..alert()
    };
    let mut embeds = 0;
    for body in bodies::<Discord>(notification(vec![long; 40])) {
        let content = body["content"].as_str().unwrap();
        assert!(units(content) <= 2_000, "{content}");
        let mut total = 0;
        for embed in body["embeds"].as_array().unwrap() {
            let text = |value: &Value| units(value.as_str().unwrap());
            let [title, description] = [text(&embed["title"]), text(&embed["description"])];
            let value = text(&embed["fields"][0]["value"]);
            assert!(title <= 256 && description <= 4_096 && value <= 1_024, "{embed}");
            total += title + description + value + text(&embed["fields"][0]["name"]);
            embeds += 1;
        }
        assert!(total <= 6_000, "{total}");
    }
    assert_eq!(embeds, 40);
}

#[test]
fn hostile_names_call_nobody_and_are_no_markup() {
    for (text, expected) in [
        ("@everyone <@&1> <@1>", r"\@everyone \<\@&1\> \<\@1\>"),
        ("[pay](https://evil.example)", r"\[pay\](https:\/\/evil.example)"),
        ("**bold** __x__ ~~y~~ ||z||", r"\*\*bold\*\* \_\_x\_\_ \~\~y\~\~ \|\|z\|\|"),
        ("```code``` # head > quote", r"\`\`\`code\`\`\` \# head \> quote"),
        (r"\*", r"\\\*"),
    ] {
        let named = Alert { message: text.to_owned(), ..alert() };
        let body = body::<Discord>(notification(vec![named]));
        assert_eq!(body["embeds"][0]["description"], expected, "{text}");
    }
    for (words, told) in hostile() {
        let body = body::<Discord>(told);
        assert_eq!(body["allowed_mentions"], json!({"parse": []}));
        assert_eq!(shown(&body["embeds"][0]["description"]), plain(words));
        shown(&body["embeds"][0]["title"]);
        shown(&body["content"]);
    }
    assert_clean::<Discord>();
}

#[test]
fn same_notification_is_the_same_bytes() {
    assert_pure::<Discord>();
}

#[test]
fn reply_of_discord_is_understood() {
    for (status, body, word) in [
        (404, r#"{"message": "Unknown Webhook", "code": 10015}"#, "10015"),
        (401, r#"{"message": "Invalid Webhook Token", "code": 50027}"#, "make a new one"),
        (410, "", "make a new one"),
        (403, "<html>", "permissions"),
        (400, r#"{"code": 220001}"#, "forum"),
        (400, r#"{"code": 50035, "errors": {}}"#, "does not accept the message"),
    ] {
        let reason = refusal::<Discord>(status, body);
        assert!(reason.contains(word) && reason.contains(&status.to_string()), "{reason}");
    }
    assert_asks_again::<Discord>();
}

#[test]
fn wait_that_discord_asks_for_is_rounded_up() {
    let reset = vec![("X-RateLimit-Reset-After", "0.3"), ("Retry-After", "300")];
    let cases = [
        (r#"{"retry_after": 0.529, "global": false}"#, vec![], Some(1)),
        (r#"{"retry_after": 2}"#, vec![("retry-after", "3")], Some(2)),
        ("", vec![("retry-after", "3")], Some(3)),
        (r#"{"retry_after": 300}"#, reset, Some(1)),
        (r#"{"retry_after": -1}"#, vec![], None),
        (r#"{"retry_after": 1e99}"#, vec![], Some(u32::MAX)),
        ("<html>", vec![], None),
    ];
    for (body, headers, wait) in cases {
        assert_eq!(answered::<Discord>(429, &headers, body), Verdict::Retry(wait), "{body}");
    }
}

/// What Discord shows of a text; markup that is not escaped fails.
fn shown(text: &Value) -> String {
    let text = text.as_str().expect("a text");
    let mut chars = text.chars();
    let mut shown = String::new();
    while let Some(c) = chars.next() {
        assert!(!"*_~`|<>[]#@/".contains(c), "{text}");
        shown.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    shown
}

#[test]
fn as_many_alerts_as_it_takes_fit_whatever_they_say() {
    assert_fits::<Discord>();
}
