//! What a guest answered, held against the contract before anything uses it.
//!
//! *Invariant:* text that leaves the sandbox is of bounded size, JSON of bounded depth, numbers
//! are finite, and nothing carries control characters. A message for people is one line that reads
//! as it is written.

use serde_json::Value;
use vedette_model::text::misleads;

/// What is wrong with an answer, for the operator's log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Forbidden(pub(crate) String);

/// Sizes in bytes, counts in items.
pub(crate) const RESULT: usize = 256 << 10;
pub(crate) const MEMORY: usize = 64 << 10;
pub(crate) const SCHEMA: usize = 64 << 10;
pub(crate) const CONFIG: usize = 64 << 10;
pub(crate) const MESSAGE: usize = 1 << 10;
pub(crate) const SUGGESTION: usize = 2 << 10;
pub(crate) const DETAILS: usize = 16 << 10;
pub(crate) const KEY: usize = 256;
pub(crate) const TITLE: usize = 256;
pub(crate) const FINDINGS: usize = 32;
pub(crate) const METRICS: usize = 32;
pub(crate) const PROBLEMS: usize = 32;
pub(crate) const EVENTS: usize = 64;
pub(crate) const FIELDS: usize = 64;
pub(crate) const DELIVERIES: usize = 32;
pub(crate) const DELIVERED: usize = 1 << 20;
const DEPTH: usize = 32;

/// Parses JSON of at most `limit` bytes and 32 levels, control characters in its strings removed
/// (tab and line feed stay).
pub(crate) fn json(what: &str, text: &str, limit: usize) -> Result<Value, Forbidden> {
    let mut value = json_as_it_is(what, text, limit)?;
    strip(&mut value);
    Ok(value)
}

/// The same with its strings as they are.
pub(crate) fn json_as_it_is(what: &str, text: &str, limit: usize) -> Result<Value, Forbidden> {
    at_most(what, text.len(), limit)?;
    let value: Value = serde_json::from_str(text)
        .map_err(|error| Forbidden(format!("{what} is not JSON: {error}")))?;
    if !shallow(&value, DEPTH) {
        return Err(Forbidden(format!("{what} is nested deeper than {DEPTH} levels")));
    }
    Ok(value)
}

/// Text for people of at most `limit` bytes; control characters become blanks, since a line
/// break in a message is a line break in a mail header or a log. So does what turns the direction
/// of the text after it: names in a certificate are a stranger's.
pub(crate) fn text(what: &str, text: String, limit: usize) -> Result<String, Forbidden> {
    at_most(what, text.len(), limit)?;
    if text.contains(misleads) {
        return Ok(text.replace(misleads, " "));
    }
    Ok(text)
}

/// Text of several lines: a mail's body, a request's.
pub(crate) fn lines(what: &str, text: String, limit: usize) -> Result<String, Forbidden> {
    at_most(what, text.len(), limit)?;
    Ok(without_controls(text))
}

/// A list of at most `limit` items.
pub(crate) fn at_most(what: &str, length: usize, limit: usize) -> Result<(), Forbidden> {
    if length <= limit {
        return Ok(());
    }
    Err(Forbidden(format!("{what} is larger than allowed ({length}, at most {limit})")))
}

pub(crate) fn finite(what: &str, number: f64) -> Result<f64, Forbidden> {
    if number.is_finite() {
        return Ok(number);
    }
    Err(Forbidden(format!("{what} is not a finite number")))
}

/// Cuts `text` to at most `limit` bytes at a character boundary.
pub(crate) fn cut(mut text: String, limit: usize) -> String {
    text.truncate(text.floor_char_boundary(limit));
    text
}

/// A plugin's own reason as one line: it goes into answers and logs.
pub(crate) fn reason(said: String) -> String {
    cut(said, MESSAGE).replace(misleads, " ")
}

fn shallow(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| shallow(item, levels - 1)),
        Value::Object(fields) => {
            levels > 0 && fields.values().all(|item| shallow(item, levels - 1))
        }
        _ => true,
    }
}

fn strip(value: &mut Value) {
    match value {
        Value::String(text) => *text = without_controls(std::mem::take(text)),
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::Object(fields) => fields.values_mut().for_each(strip),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a text has control characters besides those that end lines and those between columns.
pub(crate) fn is_unprintable(text: &str) -> bool {
    text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}

fn without_controls(mut text: String) -> String {
    let unwanted = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains(unwanted) {
        text.retain(|c| !unwanted(c));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_is_bounded_at_32_levels() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(json("result", &nested(32), RESULT).is_ok());
        assert!(json("result", &nested(33), RESULT).is_err());
        assert!(json("result", &nested(100_000), RESULT).is_err());
    }

    #[test]
    fn size_is_checked_before_parsing() {
        let large = format!("\"{}\"", "x".repeat(RESULT));
        let error = json("result", &large, RESULT).expect_err("too large");
        assert_eq!(error.0, "result is larger than allowed (262146, at most 262144)");
    }

    #[test]
    fn control_characters_are_removed() {
        let value = json("result", r#"{"a":["x\u0000\u001by\n"]}"#, RESULT).expect("JSON");
        assert_eq!(value["a"][0], "xy\n");
        let said = text("message", "one\r\nBcc: two".into(), MESSAGE).expect("short");
        assert_eq!(said, "one  Bcc: two");
        let turned = "by \u{202e}gpj.exe\u{202c}\u{2028}two".to_owned();
        assert_eq!(text("message", turned, MESSAGE).expect("short"), "by  gpj.exe  two");
    }

    #[test]
    fn what_json_cannot_say_is_refused() {
        for text in ["NaN", "1e400", "[1,]", "\"\\ud800\"", ""] {
            assert!(json("result", text, RESULT).is_err(), "{text}");
        }
        assert!(finite("metric", f64::NAN).is_err());
        assert!(finite("metric", f64::INFINITY).is_err());
    }

    #[test]
    fn a_reason_is_one_line() {
        let said = reason(format!("down\n\u{1b}[2J{}", "x".repeat(2 * MESSAGE)));
        assert_eq!(said.len(), MESSAGE);
        assert!(said.starts_with("down  [2Jx"), "{said}");
    }

    #[test]
    fn cutting_keeps_characters_whole() {
        assert_eq!(cut("aüb".into(), 2), "a");
        assert_eq!(cut("aüb".into(), 3), "aü");
    }
}
