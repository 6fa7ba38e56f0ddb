//! A check's result for people: aligned, wrapped, coloured where a terminal reads it.
//!
//! Knows JSON and nothing of any check, so every plugin's result is readable.

mod page;

use std::{
    fmt::Write,
    io::{IsTerminal, stdout},
};

use serde_json::Value;
use vedette_model::{Finding, Health, Severity, Timestamp};

use self::page::Page;

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
    /// A sentence that the summary leaves open.
    pub(super) reason: Option<&'a str>,
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
    for text in wrap(report.reason.unwrap_or_default(), style.width.saturating_sub(2)) {
        line(&mut out, &format!("  {}", style.paint(DIM, &text)));
    }
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
                reason: Some("as it should be"),
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
  as it should be

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
                reason: None,
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
