//! The bodies of messages: a card each, as large as Teams takes it.
//!
//! Text runs are plain: unlike text blocks, no client reads Markdown in them
//! (adaptivecards.io/explorer/TextRun).

use serde::Serialize;
use vedette_sdk::message::{Entry, Mark, fit, headline, parted, verbatim};

/// Bytes of all containers of a message. Teams takes 28 KB; the rest is for what stands around
/// them.
const ROOM: usize = 24 << 10;
/// Containers of a card that somebody still reads.
const MOST: usize = 20;

/// What one alert may take of it.
const LONGEST_TITLE: usize = 300;
const LONGEST_TEXT: usize = 600;

/// What is sent.
#[derive(Serialize)]
pub(crate) struct Message {
    #[serde(rename = "type")]
    kind: &'static str,
    /// Shown in notifications and where cards are not.
    summary: String,
    attachments: [Attachment; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Attachment {
    content_type: &'static str,
    content_url: Option<&'static str>,
    content: Card,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Card {
    #[serde(rename = "$schema")]
    schema: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    version: &'static str,
    fallback_text: String,
    msteams: Client,
    body: Vec<Container>,
}

/// For Teams alone.
#[derive(Serialize)]
struct Client {
    width: &'static str,
}

#[derive(Serialize)]
struct Container {
    #[serde(rename = "type")]
    kind: &'static str,
    style: &'static str,
    separator: bool,
    items: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    #[serde(rename = "type")]
    kind: &'static str,
    inlines: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    #[serde(rename = "type")]
    kind: &'static str,
    text: String,
    weight: &'static str,
    is_subtle: bool,
}

/// An alert, and the bytes that its container takes.
type Weighed<'a> = (usize, &'a Entry, Container);

/// As many messages as the limits ask for.
pub(crate) fn messages(entries: &[Entry]) -> Result<Vec<Message>, String> {
    let containers = entries.iter().map(weighed).collect::<Result<Vec<Weighed<'_>>, String>>()?;
    let groups = parted(containers, MOST, ROOM, |(bytes, ..)| *bytes);
    Ok(groups.into_iter().map(Message::of).collect())
}

fn weighed(entry: &Entry) -> Result<Weighed<'_>, String> {
    let container = Container::of(entry);
    let bytes = serde_json::to_vec(&container).map_err(|error| error.to_string())?.len();
    Ok((bytes, entry, container))
}

impl Message {
    fn of(group: Vec<Weighed<'_>>) -> Self {
        let headline = headline(group.iter().map(|(_, entry, _)| *entry));
        let headline = fit(&headline, LONGEST_TITLE, verbatim);
        let card = Card {
            schema: "http://adaptivecards.io/schemas/adaptive-card.json",
            kind: "AdaptiveCard",
            version: "1.4",
            fallback_text: headline.clone(),
            msteams: Client { width: "Full" },
            body: group.into_iter().map(|(_, _, container)| container).collect(),
        };
        let attachment = Attachment {
            content_type: "application/vnd.microsoft.card.adaptive",
            content_url: None,
            content: card,
        };
        Self { kind: "message", summary: headline, attachments: [attachment] }
    }
}

impl Container {
    fn of(entry: &Entry) -> Self {
        let mut items = vec![
            Line::of(&entry.title(), LONGEST_TITLE, "bolder", false),
            Line::of(&entry.message, LONGEST_TEXT, "default", false),
        ];
        let advice = entry.suggestion.as_ref();
        items.extend(advice.map(|text| Line::of(text, LONGEST_TEXT, "default", true)));
        Self { kind: "Container", style: style(entry.mark), separator: true, items }
    }
}

impl Line {
    fn of(text: &str, max: usize, weight: &'static str, is_subtle: bool) -> Self {
        let text = fit(text, max, verbatim);
        Self { kind: "RichTextBlock", inlines: [Run { kind: "TextRun", text, weight, is_subtle }] }
    }
}

/// Cards have colours by meaning: the client's theme picks what can be read on it.
fn style(mark: Mark) -> &'static str {
    match mark {
        Mark::Critical => "attention",
        Mark::Warning => "warning",
        Mark::Info => "accent",
        Mark::Resolved => "good",
        Mark::Test => "emphasis",
    }
}
