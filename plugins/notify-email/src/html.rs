//! The same as HTML: one column, styles in place, colours that hold on light and on dark.
//!
//! *Invariant:* every word that is not a constant of this file is escaped, and there is neither
//! an image nor a link.

use std::fmt::Write as _;

use vedette_sdk::message::Mark;

use crate::{entry::Entry, text};

pub(crate) fn of(subject: &str, entries: &[Entry], source: &str) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"supported-color-schemes\" content=\"light dark\">\n\
         <meta name=\"format-detection\" content=\"telephone=no, date=no, address=no\">\n\
         <title>{}</title>\n</head>\n<body style=\"{BODY}\">\n\
         <div style=\"{HIDDEN}\">{}</div>\n<div style=\"{COLUMN}\">\n",
        Escaped(subject),
        Escaped(&preheader(entries)),
    );
    for entry in entries {
        one(&mut html, entry);
    }
    let footer = text::footer(source);
    html.push_str(&format!(
        "<p style=\"{SMALL}\">{}</p>\n</div>\n</body>\n</html>\n",
        Escaped(&footer)
    ));
    html
}

/// What a list of mails shows behind the subject.
fn preheader(entries: &[Entry]) -> String {
    match entries {
        [entry] => entry.suggestion.clone().unwrap_or_else(|| entry.message.clone()),
        entries => {
            let first = entries.iter().min_by_key(|entry| entry.mark);
            first.map(|entry| entry.message.clone()).unwrap_or_default()
        }
    }
}

fn one(html: &mut String, entry: &Entry) {
    let word = entry.mark.word().to_uppercase();
    html.push_str(&format!(
        "<div style=\"{CARD}border-left:4px solid {colour}\">\n\
         <p style=\"margin:0 0 8px\"><strong style=\"{BADGE}background-color:{colour}\">{word}</strong> \
         <strong style=\"{BREAK}\">{domain}</strong></p>\n\
         <p style=\"margin:0 0 8px;{BREAK}\">{message}</p>\n",
        colour = colour(entry.mark),
        domain = Escaped(&entry.domain),
        message = Escaped(&entry.message),
    ));
    if let Some(suggestion) = entry.suggestion.as_ref().filter(|_| entry.mark != Mark::Resolved) {
        html.push_str(&format!(
            "<p style=\"margin:0 0 8px;{BREAK}\"><strong>What to do:</strong> {}</p>\n",
            Escaped(suggestion)
        ));
    }
    let facts = format!("{} · since {}", entry.event, entry.since);
    html.push_str(&format!("<p style=\"{SMALL}\">{}", Escaped(&facts)));
    if entry.mark != Mark::Test {
        html.push_str(&format!("<br>alert {}", Escaped(&entry.alert_id)));
    }
    html.push_str("</p>\n</div>\n");
}

/// Each bears white text (4.5:1 and more).
fn colour(mark: Mark) -> &'static str {
    match mark {
        Mark::Critical => "#c62828",
        Mark::Warning => "#8f5a00",
        Mark::Info | Mark::Test => "#0b5cad",
        Mark::Resolved => "#1a7f37",
    }
}

/// Text between tags, or inside a quoted attribute.
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

const BODY: &str = "margin:0;padding:24px 12px;color-scheme:light dark;\
    font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";
const HIDDEN: &str = "display:none;max-height:0;overflow:hidden;opacity:0";
const COLUMN: &str = "max-width:600px;margin:0 auto";
const CARD: &str = "margin:0 0 20px;padding:4px 0 4px 16px;";
const BADGE: &str = "display:inline-block;padding:1px 8px;border-radius:4px;font-size:13px;\
    color:#ffffff;";
const BREAK: &str = "overflow-wrap:anywhere";
const SMALL: &str = "margin:0 0 8px;font-size:13px;opacity:0.75;overflow-wrap:anywhere";
