//! Words that strangers put into names, certificates and answers so that others read something
//! other than what was written.

use serde_json::Value;

use super::{alert, json, notification, rendered};
use crate::{Alert, Delivery, Notification, Notify};

/// Each is meant for some receiver: the writer does not know where it will be read.
pub const HOSTILE: [&str; 22] = [
    // Markup.
    "<script>alert(1)</script>",
    "</title></head><img src=x onerror=alert(1)>",
    "\"><a href=\"https://evil.example/\">",
    "'><style>*{display:none}</style>",
    "&lt;b&gt;",
    "**bold** __x__ ~~y~~ ||z||",
    "```code``` # head > quote",
    r"\*",
    // Links.
    "https://evil.example/",
    "[pay](https://evil.example) **b**",
    "<https://evil.example|bank>",
    // Mentions.
    "<!channel> & <@U1>",
    "@here @everyone <@&1> <@1>",
    "<at>everyone</at>",
    // Lines of a mail and of the dialogue that carries it.
    "x\r\nBcc: victim@example.com\r\n\r\n<h1>",
    "x\u{2028}Bcc: victim@example.com\u{2029}",
    "=?utf-8?b?PHNjcmlwdD4=?= =?utf-8?q?=0d=0aBcc:?=",
    "\r\n.\r\nMAIL FROM:<x>",
    // What is not seen, turns the direction of reading, or acts on a terminal.
    "one\r\ntwo\u{202e}\u{0}three",
    "\u{202e}moc.elpmaxe\u{202c}\u{200b}\u{2066}",
    "\0\u{1b}[2J\u{7f}\u{85}",
    "",
];

/// Each of the [`HOSTILE`] words, and a notification with them wherever strangers write; once of
/// one alert, once of two.
pub fn hostile() -> Vec<(&'static str, Notification)> {
    let told = |words: &'static str| {
        let bad = Alert {
            id: words.to_owned(),
            event: words.to_owned(),
            domain: words.to_owned(),
            message: words.to_owned(),
            suggestion: Some(words.to_owned()),
            ..alert()
        };
        [vec![bad.clone()], vec![bad.clone(), bad]].map(|alerts| (words, notification(alerts)))
    };
    HOSTILE.into_iter().flat_map(told).collect()
}

/// Claims of a channel that people read: nothing in its texts rearranges them, or acts on a
/// terminal, whatever a notification says.
pub fn assert_clean<N: Notify>() {
    for (words, told) in hostile() {
        for text in rendered::<N>(told).iter().flat_map(texts) {
            assert!(!text.contains(rearranges), "{words:?}: {text:?}");
        }
    }
}

/// All that a receiver could show.
fn texts(delivery: &Delivery) -> Vec<String> {
    match delivery {
        Delivery::Http(request) => {
            let mut found = Vec::new();
            gather(&json(request), &mut found);
            found
        }
        Delivery::Email(mail) => {
            let parts = [Some(&mail.subject), Some(&mail.text), mail.html.as_ref()];
            parts.into_iter().flatten().cloned().collect()
        }
    }
}

fn gather(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| gather(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| gather(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Joiners are no part of it: scripts and emoji need them, and chats are kept from reading markup
/// by them.
fn rearranges(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(
            c,
            '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}
