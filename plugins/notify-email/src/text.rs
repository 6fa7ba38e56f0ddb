//! The plain text, 78 columns wide.

use vedette_sdk::message::Mark;

use crate::entry::Entry;

pub(crate) fn of(entries: &[Entry], source: &str) -> String {
    let mut text = String::new();
    for entry in entries {
        one(&mut text, entry);
        text.push_str(&"-".repeat(WIDTH));
        text.push_str("\n\n");
    }
    wrap(&mut text, &footer(source), "");
    text
}

/// Why this mail came, for both bodies.
pub(crate) fn footer(source: &str) -> String {
    format!(
        "Sent by {source}, because e-mail is on in the notification settings of your account; \
         recipients are changed there."
    )
}

fn one(text: &mut String, entry: &Entry) {
    wrap(text, &format!("{} {}", entry.mark.word().to_uppercase(), entry.domain), "");
    text.push('\n');
    wrap(text, &entry.message, "  ");
    text.push('\n');
    if let Some(suggestion) = entry.suggestion.as_ref().filter(|_| entry.mark != Mark::Resolved) {
        wrap(text, &format!("What to do: {suggestion}"), "  ");
        text.push('\n');
    }
    for (name, value) in [("Event", &entry.event), ("Since", &entry.since)] {
        wrap(text, &format!("{name}: {value}"), "  ");
    }
    if entry.mark != Mark::Test {
        wrap(text, &format!("Alert: {}", entry.alert_id), "  ");
    }
    text.push('\n');
}

/// Appends `words` in lines of at most 78 columns; what is longer than a line is broken.
fn wrap(text: &mut String, words: &str, indent: &str) {
    let width = WIDTH - indent.len();
    let mut line = String::new();
    let mut used = 0;
    for word in words.split_whitespace() {
        let pieces: Vec<char> = word.chars().collect();
        for (index, piece) in pieces.chunks(width).enumerate() {
            let gap = usize::from(index == 0 && used > 0);
            if used + gap + piece.len() > width {
                end(text, &mut line, indent);
                used = 0;
            } else if gap == 1 {
                line.push(' ');
                used += 1;
            }
            line.extend(piece);
            used += piece.len();
        }
    }
    end(text, &mut line, indent);
}

fn end(text: &mut String, line: &mut String, indent: &str) {
    if !line.is_empty() {
        text.push_str(indent);
        text.push_str(line);
        text.push('\n');
        line.clear();
    }
}

const WIDTH: usize = 78;
