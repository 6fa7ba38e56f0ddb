//! The members of a result, each under its name, whatever the check.

use chrono::TimeDelta;
use serde_json::{Map, Value};
use vedette_model::Timestamp;

use super::{BOLD, DIM, Style, clean, line, wrap};

pub(super) struct Page<'a> {
    pub(super) style: Style,
    pub(super) now: Timestamp,
    pub(super) first: &'a [String],
}

impl Page<'_> {
    /// One line per member, the nested ones at the end; members without a value are left out.
    pub(super) fn members(&self, out: &mut String, members: &Map<String, Value>, indent: usize) {
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
