//! The body of a message: blocks for Slack, and a text that phones, screen readers and servers
//! that only speak the older format show.

use serde::Serialize;
use vedette_sdk::message::{Entry, fit, headline};

/// The documented limits of Block Kit, in characters; the fallback is cut where Slack recommends.
const LONGEST_HEADER: usize = 150;
const LONGEST_SECTION: usize = 3_000;
const LONGEST_FALLBACK: usize = 4_000;

/// What one alert may take of a message.
const LONGEST_MESSAGE: usize = 600;
const LONGEST_SUGGESTION: usize = 600;

/// What is sent.
#[derive(Serialize)]
pub(crate) struct Message {
    /// Shown where blocks are not.
    text: String,
    blocks: [Block; 1],
    /// Blocks have no colour; an attachment gives its blocks one.
    attachments: Vec<Attachment>,
}

#[derive(Serialize)]
struct Attachment {
    color: String,
    blocks: [Block; 1],
}

#[derive(Serialize)]
struct Block {
    #[serde(rename = "type")]
    kind: &'static str,
    text: Text,
}

/// Plain text: Slack makes neither markup nor links nor mentions of it.
#[derive(Serialize)]
struct Text {
    #[serde(rename = "type")]
    kind: &'static str,
    text: String,
    emoji: bool,
}

impl Message {
    pub(crate) fn of(entries: &[Entry]) -> Self {
        Self {
            text: fallback(entries),
            blocks: [Block::of("header", fit(&headline(entries), LONGEST_HEADER, escape))],
            attachments: entries.iter().map(Attachment::of).collect(),
        }
    }
}

impl Attachment {
    fn of(entry: &Entry) -> Self {
        let mut lines = vec![
            fit(&entry.title(), LONGEST_SECTION / 3, escape),
            fit(&entry.message, LONGEST_MESSAGE, escape),
        ];
        let advice = entry.suggestion.as_ref();
        lines.extend(advice.map(|text| fit(text, LONGEST_SUGGESTION, escape)));
        Self {
            color: format!("#{:06x}", entry.mark.rgb()),
            blocks: [Block::of("section", lines.join("\n"))],
        }
    }
}

impl Block {
    fn of(kind: &'static str, text: String) -> Self {
        Self { kind, text: Text { kind: "plain_text", text, emoji: false } }
    }
}

/// The headline, and a line for each alert as far as they fit.
fn fallback(entries: &[Entry]) -> String {
    if let [entry] = entries {
        return fit(&entry.line(), LONGEST_FALLBACK, escape);
    }
    let share = LONGEST_FALLBACK / (entries.len() + 1);
    let mut lines = vec![fit(&headline(entries), share, escape)];
    lines.extend(entries.iter().map(|entry| fit(&entry.line(), share - 1, escape)));
    lines.join("\n")
}

/// The three characters that Slack asks to escape. A word joiner behind `@` keeps `@here` from
/// calling anybody, and one behind `]` keeps what servers that speak Markdown would make a link.
fn escape(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '@' | ']' => {
            out.push(c);
            out.push('\u{2060}');
        }
        _ => out.push(c),
    }
}
