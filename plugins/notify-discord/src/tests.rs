use serde_json::{Value, json};
use vedette_sdk::{
    Alert, Delivery, NoConfig, Notification, Notify, Receipt, Severity, Verdict, message::units,
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
            "fields": [{"name": "Suggestion", "value": "renew it"}],
        }],
        "allowed_mentions": {"parse": []},
    });
    assert_eq!(bodies(notification(vec![alert()])), [expected]);
}

#[test]
fn request_is_a_post_of_json_to_an_address_it_does_not_know() {
    let requests = rendered(notification(vec![alert()]));
    let [Delivery::Http(request)] = requests.as_slice() else { panic!("{requests:?}") };
    let (method, url) = (request.method.as_str(), request.url.as_str());
    assert_eq!((method, url), ("POST", "ref:discord_webhook_url"));
    assert_eq!(request.headers, [("content-type".to_owned(), "application/json".to_owned())]);
}

#[test]
fn what_is_over_is_told_in_another_word_and_colour() {
    let mut over = alert();
    over.resolved = true;
    let embed = bodies(notification(vec![over]))[0]["embeds"][0].clone();
    assert_eq!(embed["title"], "Resolved: example.com");
    assert_eq!(embed["color"], 0x001a_7f37);
    assert_eq!(embed["fields"], Value::Null);
}

#[test]
fn test_notification_says_that_it_is_one() {
    let mut notification = notification(vec![alert()]);
    notification.test = true;
    let body = bodies(notification).remove(0);
    assert_eq!(body["content"], "Test: example.com");
    let said = body["embeds"][0]["description"].as_str().expect("a description");
    assert!(said.contains("This is a test notification."), "{said}");
}

#[test]
fn batch_is_as_many_messages_as_ten_embeds_ask_for() {
    let bodies = bodies(notification(vec![alert(); 25]));
    let counts: Vec<usize> = bodies.iter().map(|b| b["embeds"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [10, 10, 5]);
    assert_eq!(bodies[2]["content"], "5 alerts: 5 critical");
}

#[test]
fn every_message_of_long_alerts_is_within_every_limit() {
    let mut long = alert();
    long.domain = "*".repeat(253);
    long.message = "漢[".repeat(256);
    long.suggestion = Some("`".repeat(2_048));
    let requests = rendered(notification(vec![long; 40]));
    assert!(requests.len() <= 32, "{}", requests.len());
    let mut bytes = 0;
    let mut embeds = 0;
    for request in &requests {
        let Delivery::Http(request) = request else { panic!("{request:?}") };
        bytes += request.body.len();
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
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
    assert!(bytes < 256 << 10, "{bytes}");
}

#[test]
fn hostile_names_call_nobody_and_are_no_markup() {
    for (text, expected) in [
        ("@everyone <@&1> <@1>", r"\@everyone \<\@&1\> \<\@1\>"),
        ("[pay](https://evil.example)", r"\[pay\]\(https:\/\/evil.example\)"),
        ("**bold** __x__ ~~y~~ ||z||", r"\*\*bold\*\* \_\_x\_\_ \~\~y\~\~ \|\|z\|\|"),
        ("```code``` # head > quote", r"\`\`\`code\`\`\` \# head \> quote"),
        (r"\*", r"\\\*"),
        ("one\r\ntwo\u{202e}\u{0}three", "one two three"),
    ] {
        let mut hostile = alert();
        hostile.message = text.to_owned();
        let body = bodies(notification(vec![hostile])).remove(0);
        assert_eq!(body["embeds"][0]["description"], expected, "{text}");
        assert_eq!(body["allowed_mentions"], json!({"parse": []}));
    }
}

#[test]
fn same_notification_is_the_same_bytes() {
    let notification = || notification(vec![alert(), alert()]);
    assert_eq!(rendered(notification()), rendered(notification()));
}

#[test]
fn reply_of_discord_is_understood() {
    for (status, body, word) in [
        (404, r#"{"message": "Unknown Webhook", "code": 10015}"#, "10015"),
        (401, r#"{"message": "Invalid Webhook Token", "code": 50027}"#, "make a new one"),
        (410, "", "make a new one"),
        (403, "<html>", "permissions"),
        (400, r#"{"code": 220001}"#, "forum"),
        (400, r#"{"code": 50035, "errors": {}}"#, "does not take the message"),
    ] {
        match answered(status, body, &[]) {
            Verdict::Rejected(reason) => {
                assert!(reason.contains(word) && !reason.contains('<'), "{reason}");
                assert!(reason.contains(&status.to_string()), "{reason}");
            }
            other => panic!("{status} {body}: {other:?}"),
        }
    }
    for status in [200, 204] {
        assert_eq!(answered(status, "", &[]), Verdict::Delivered, "{status}");
    }
    for status in [0, 408, 500, 502] {
        assert_eq!(answered(status, "", &[]), Verdict::Retry(None), "{status}");
    }
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
        assert_eq!(answered(429, body, &headers), Verdict::Retry(wait), "{body}");
    }
}

fn answered(status: u16, body: &str, headers: &[(&str, &str)]) -> Verdict {
    let headers = headers.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Discord::interpret(Receipt { status, headers, body: body.to_owned(), error: None })
}

fn bodies(notification: Notification) -> Vec<Value> {
    let body = |request: &Delivery| -> Value {
        let Delivery::Http(request) = request else { panic!("{request:?}") };
        serde_json::from_slice(&request.body).expect("a body of JSON")
    };
    rendered(notification).iter().map(body).collect()
}

fn rendered(notification: Notification) -> Vec<Delivery> {
    Discord::render(notification, NoConfig {}).expect("deliveries")
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
