//! The bodies of messages: embeds, and a line of text that phones show.

use serde::Serialize;
use vedette_sdk::message::{Entry, fit, headline, parted, units};

/// The documented limits of a message.
const MOST_EMBEDS: usize = 10;
const LONGEST_CONTENT: usize = 2_000;
const LONGEST_TITLE: usize = 256;
/// Of all embeds of a message together.
const ROOM: usize = 6_000;

/// What one alert may take of it: well within the limits of a description (4096) and of a field
/// (1024), and never more than the room of one message.
const LONGEST_DESCRIPTION: usize = 600;
const LONGEST_VALUE: usize = 600;

/// One message.
#[derive(Serialize)]
pub(crate) struct Message {
    content: String,
    embeds: Vec<Embed>,
    allowed_mentions: Mentions,
}

/// Nobody.
#[derive(Serialize)]
struct Mentions {
    parse: [&'static str; 0],
}

#[derive(Serialize)]
struct Embed {
    title: String,
    description: String,
    color: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<Field>,
}

#[derive(Serialize)]
struct Field {
    name: &'static str,
    value: String,
}

/// As many messages as the limits ask for.
pub(crate) fn of(entries: &[Entry]) -> Vec<Message> {
    let embeds: Vec<(&Entry, Embed)> =
        entries.iter().map(|entry| (entry, Embed::of(entry))).collect();
    let groups = parted(embeds, MOST_EMBEDS, ROOM, |(_, embed)| embed.length());
    groups.into_iter().map(Message::of).collect()
}

impl Message {
    fn of(group: Vec<(&Entry, Embed)>) -> Self {
        let headline = headline(group.iter().map(|(entry, _)| *entry));
        Self {
            content: fit(&headline, LONGEST_CONTENT, escape),
            embeds: group.into_iter().map(|(_, embed)| embed).collect(),
            allowed_mentions: Mentions { parse: [] },
        }
    }
}

impl Embed {
    fn of(entry: &Entry) -> Self {
        let suggestion = entry.suggestion.as_ref();
        let field =
            |text: &String| Field { name: "Suggestion", value: fit(text, LONGEST_VALUE, escape) };
        Self {
            title: fit(&entry.title(), LONGEST_TITLE, escape),
            description: fit(&entry.message, LONGEST_DESCRIPTION, escape),
            color: entry.mark.rgb(),
            fields: suggestion.map(field).into_iter().collect(),
        }
    }

    /// What Discord counts.
    fn length(&self) -> usize {
        let fields = self.fields.iter().map(|field| units(field.name) + units(&field.value));
        units(&self.title) + units(&self.description) + fields.sum::<usize>()
    }
}

/// Discord takes a backslash before any punctuation. That of the slash keeps URLs from becoming
/// links. Round brackets stay as they are: alone they mean nothing, and alerts are full of them.
fn escape(c: char, out: &mut String) {
    if MARKUP.contains(c) {
        out.push('\\');
    }
    out.push(c);
}

const MARKUP: &str = "\\*_~`|<>[]#@/";
