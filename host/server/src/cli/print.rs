//! A check's result for people: aligned, wrapped, coloured where a terminal reads it.
//!
//! Knows JSON and nothing of any check, so every plugin's result is readable.

use std::{
    fmt::Write,
    io::{IsTerminal, stdout},
};

use chrono::TimeDelta;
use serde_json::{Map, Value};
use vedette_model::{Finding, Health, Severity, Timestamp};

/// How much the terminal can take.
#[derive(Clone, Copy)]
pub(super) struct Style {
    colour: bool,
    width: usize,
}

/// What is shown.
pub(super) struct Report<'a> {
    pub(super) title: &'a str,
    pub(super) target: &'a str,
    pub(super) summary: &'a str,
    pub(super) health: Health,
    pub(super) result: &'a Value,
    /// Members of the result that come first, most telling ones.
    pub(super) first: &'a [String],
    pub(super) findings: &'a [Shown<'a>],
    pub(super) now: Timestamp,
    pub(super) milliseconds: u128,
}

/// A finding with the severity that applies to it.
pub(super) struct Shown<'a> {
    pub(super) finding: &'a Finding,
    pub(super) severity: Severity,
}

impl Style {
    /// Colours for a terminal that wants them (no `NO_COLOR`, no `TERM=dumb`).
    pub(super) fn of_stdout() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let width = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
        Self {
            colour: stdout().is_terminal() && !refused,
            width: width.unwrap_or(96).clamp(60, 160),
        }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

pub(super) fn report(report: &Report<'_>, style: Style) -> String {
    let mut out = String::new();
    let (mark, code) = match report.health {
        Health::Ok => ("✔", GREEN),
        Health::Degraded => ("▲", YELLOW),
        Health::Down => ("✖", RED),
        Health::Unknown => ("?", YELLOW),
    };
    let (mark, target) = (style.paint(code, mark), style.paint(BOLD, &clean(report.target)));
    line(&mut out, &format!("{mark} {target}  {}", style.paint(DIM, &clean(report.title))));
    line(&mut out, &format!("  {}", clean(report.summary)));
    out.push('\n');
    if let Value::Object(members) = report.result {
        let page = Page { style, now: report.now, first: report.first };
        page.members(&mut out, members, 2);
    }
    if !report.findings.is_empty() {
        out.push('\n');
        for shown in report.findings {
            finding(&mut out, shown, style);
        }
    }
    let took = format!("checked in {} ms", report.milliseconds);
    line(&mut out, &format!("\n  {}", style.paint(DIM, &took)));
    out
}

fn finding(out: &mut String, shown: &Shown<'_>, style: Style) {
    let (word, code) = match shown.severity {
        Severity::Info => ("info", CYAN),
        Severity::Warning => ("warning", YELLOW),
        Severity::Critical => ("critical", RED),
    };
    let word = style.paint(code, &format!("{word:<8}"));
    let event = style.paint(BOLD, &clean(&shown.finding.event));
    line(out, &format!("  {word}  {event}"));
    for text in wrap(&clean(&shown.finding.message), style.width.saturating_sub(12)) {
        line(out, &format!("            {text}"));
    }
    if let Some(suggestion) = &shown.finding.suggestion {
        for (nth, text) in
            wrap(&clean(suggestion), style.width.saturating_sub(14)).into_iter().enumerate()
        {
            let arrow = if nth == 0 { "→" } else { " " };
            line(out, &format!("            {arrow} {}", style.paint(DIM, &text)));
        }
    }
}

struct Page<'a> {
    style: Style,
    now: Timestamp,
    first: &'a [String],
}

impl Page<'_> {
    /// One line per member, the nested ones at the end; members without a value are left out.
    fn members(&self, out: &mut String, members: &Map<String, Value>, indent: usize) {
        let mut shown: Vec<_> = members.iter().filter(|(_, value)| !empty(value)).collect();
        shown.sort_by_key(|(name, value)| {
            let place = self.first.iter().position(|first| first == *name);
            (nested(value), place.unwrap_or(usize::MAX), name.as_str())
        });
        let label = shown.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, value) in shown {
            let name = clean(name).replace('_', " ");
            let start =
                format!("{:indent$}{}", "", self.style.paint(DIM, &format!("{name:<label$}")));
            let column = indent + label + 2;
            match value {
                Value::Object(inner) => {
                    line(out, &start);
                    self.members(out, inner, indent + 2);
                }
                Value::Array(items) if nested(value) => {
                    line(out, &start);
                    self.rows(out, items, indent + 2);
                }
                other => self.wrapped(out, &start, &self.scalar(other), column),
            }
        }
    }

    /// A list of objects: the first text of each is its heading, the rest stands under it.
    fn rows(&self, out: &mut String, items: &[Value], indent: usize) {
        for (nth, item) in items.iter().enumerate() {
            let number = format!("{:>2}", nth + 1);
            let Value::Object(members) = item else {
                line(out, &format!("{:indent$}{number}  {}", "", self.scalar(item)));
                continue;
            };
            let heading = members.iter().find(|(_, value)| value.is_string());
            let title = heading.map_or(String::new(), |(_, value)| self.scalar(value));
            line(out, &format!("{:indent$}{number}  {}", "", self.style.paint(BOLD, &title)));
            let rest: Vec<String> = members
                .iter()
                .filter(|(name, value)| {
                    heading.is_none_or(|(other, _)| other != *name) && !empty(value)
                })
                .map(|(name, value)| {
                    format!("{} {}", clean(name).replace('_', " "), self.scalar(value))
                })
                .collect();
            let column = indent + 4;
            for text in wrap(&rest.join(" · "), self.style.width.saturating_sub(column)) {
                line(out, &format!("{:column$}{}", "", self.style.paint(DIM, &text)));
            }
        }
    }

    fn wrapped(&self, out: &mut String, start: &str, text: &str, column: usize) {
        let mut lines = wrap(text, self.style.width.saturating_sub(column)).into_iter();
        line(out, &format!("{start}  {}", lines.next().unwrap_or_default()));
        for text in lines {
            line(out, &format!("{:column$}{text}", ""));
        }
    }

    fn scalar(&self, value: &Value) -> String {
        match value {
            Value::Null => "–".to_owned(),
            Value::Bool(true) => "yes".to_owned(),
            Value::Bool(false) => "no".to_owned(),
            Value::Number(number) => number.to_string(),
            Value::String(text) => self.moment(text).unwrap_or_else(|| clean(text)),
            Value::Array(items) => {
                items.iter().map(|item| self.scalar(item)).collect::<Vec<_>>().join(", ")
            }
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| format!("{}: {}", clean(name), self.scalar(value)))
                .collect::<Vec<_>>()
                .join(", "),
        }
    }

    /// `2027-01-22 10:00 UTC (in 63 days)`
    fn moment(&self, text: &str) -> Option<String> {
        let at: Timestamp = chrono::DateTime::parse_from_rfc3339(text).ok()?.into();
        let ahead = at - self.now;
        let distance = match ahead.num_days() {
            0 if ahead < TimeDelta::zero() => "less than a day ago".to_owned(),
            0 => "within a day".to_owned(),
            1 => "in 1 day".to_owned(),
            -1 => "1 day ago".to_owned(),
            days if days > 0 => format!("in {days} days"),
            days => format!("{} days ago", -days),
        };
        Some(format!("{} ({distance})", at.format("%Y-%m-%d %H:%M UTC")))
    }
}

fn nested(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => items.iter().any(Value::is_object),
        _ => false,
    }
}

fn empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.values().all(empty),
        Value::String(text) => text.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// What a server says is not trusted with the terminal: control characters become visible.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Breaks at blanks; a word longer than a line stands alone.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(last) if last.chars().count() + 1 + word.chars().count() <= width => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{}", text.trim_end()).expect("a string takes any text");
}

const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const CYAN: &str = "36";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_is_aligned_and_complete() {
        let result = json!({
            "valid": true,
            "expires_at": "2027-01-22T10:00:00Z",
            "san": ["example.com", "www.example.com"],
            "chain": [{ "subject": "CN=example.com", "key_bits": 256 }],
            "hsts": { "enabled": true, "max_age": 300 },
            "error": null,
        });
        let now = "2026-11-20T10:00:00Z".parse().unwrap();
        let finding = Finding {
            event: "ssl.expiring".into(),
            severity: None,
            dedup_key: String::new(),
            message: "expires soon".into(),
            suggestion: Some("renew it".into()),
            details: None,
            confirmations: None,
        };
        let text = report(
            &Report {
                title: "TLS certificate",
                target: "example.com",
                summary: "valid",
                health: Health::Ok,
                result: &result,
                first: &["valid".to_owned(), "expires_at".to_owned()],
                findings: &[Shown { finding: &finding, severity: Severity::Critical }],
                now,
                milliseconds: 12,
            },
            Style { colour: false, width: 80 },
        );
        let expected = "\
✔ example.com  TLS certificate
  valid

  valid       yes
  expires at  2027-01-22 10:00 UTC (in 63 days)
  san         example.com, www.example.com
  chain
     1  CN=example.com
        key bits 256
  hsts
    enabled  yes
    max age  300

  critical  ssl.expiring
            expires soon
            → renew it

  checked in 12 ms
";
        assert_eq!(text, expected);
    }

    #[test]
    fn hostile_text_does_not_reach_the_terminal() {
        let result = json!({ "issuer": "\u{1b}[2J\nowned" });
        let now = "2026-11-20T10:00:00Z".parse().unwrap();
        let shown = report(
            &Report {
                title: "\u{7}",
                target: "\u{1b}]0;x",
                summary: "\r",
                health: Health::Down,
                result: &result,
                first: &[],
                findings: &[],
                now,
                milliseconds: 0,
            },
            Style { colour: false, width: 80 },
        );
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{shown:?}");
        assert!(shown.contains("owned"));
    }
}
