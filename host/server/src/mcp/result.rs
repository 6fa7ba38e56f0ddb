//! What a tool answers, within bounds: a model has to read all of it.
//!
//! A listing shows the entries that fit and says where the next one is. Anything else that is too
//! long is shortened the same way every time: long texts first, then long lists, from the end.
//!
//! *Invariant:* text and structured content together stay below [`MOST`] characters, and hold the
//! same JSON.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

/// A result that the tool's caller can work with.
pub(super) fn complete(value: Value) -> CallToolResult {
    let value = fitted(value, MOST);
    let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
    result.structured_content = Some(value);
    result
}

/// What could not be done, in a sentence.
pub(super) fn failed(mut sentence: String) -> CallToolResult {
    cut(&mut sentence, LONGEST_TEXT);
    CallToolResult::error(vec![ContentBlock::text(sentence)])
}

/// A part of a listing.
pub(super) struct Part {
    /// The member that the entries stand in.
    pub(super) name: &'static str,
    pub(super) entries: Vec<Value>,
    /// Where the first of them stands.
    pub(super) offset: u64,
    pub(super) total: u64,
}

/// As many entries as fit, at least one, beside the other members.
pub(super) fn listing(part: Part, mut members: Map<String, Value>) -> Value {
    let Part { name, entries, offset, total } = part;
    members.insert("total".to_owned(), total.into());
    members.insert("truncated".to_owned(), true.into());
    members.insert("next_offset".to_owned(), u64::MAX.into());
    members.insert("hint".to_owned(), hint(u64::MAX).into());
    let mut room = MOST.saturating_sub(size(&Value::Object(members.clone())) + 2 * name.len() + 12);
    let mut shown = Vec::new();
    for entry in entries {
        let entry = fitted_entry(entry);
        let needed = size(&entry) + 2;
        if needed > room && !shown.is_empty() {
            break;
        }
        room = room.saturating_sub(needed);
        shown.push(entry);
    }
    let next = offset + shown.len() as u64;
    let truncated = !shown.is_empty() && next < total;
    members.insert(name.to_owned(), shown.into());
    members.insert("truncated".to_owned(), truncated.into());
    if truncated {
        members.insert("next_offset".to_owned(), next.into());
        members.insert("hint".to_owned(), hint(next).into());
    } else {
        members.insert("next_offset".to_owned(), Value::Null);
        members.remove("hint");
    }
    Value::Object(members)
}

fn hint(next: u64) -> String {
    format!("there is more: call this tool again with offset {next}")
}

/// One entry of many: what is cut in it is not told apart, since the whole is a tool away.
fn fitted_entry(mut entry: Value) -> Value {
    cut_texts(&mut entry, LONGEST_TEXT);
    shorten(&mut entry, MOST_OF_ENTRY);
    entry
}

fn fitted(mut value: Value, most: usize) -> Value {
    let cut = cut_texts(&mut value, LONGEST_TEXT);
    if !cut && size(&value) <= most {
        return value;
    }
    shorten(&mut value, most - ROOM_FOR_MARK);
    if let Some(members) = value.as_object_mut() {
        members.insert("truncated".to_owned(), true.into());
        let hint = "long texts or lists were cut to fit; the REST interface answers all of it";
        members.entry("hint").or_insert_with(|| json!(hint));
    }
    value
}

/// Cuts lists, then texts, until it fits.
fn shorten(value: &mut Value, most: usize) {
    for longest in LISTS {
        if size(value) <= most {
            return;
        }
        cut_lists(value, longest);
    }
    for longest in TEXTS {
        if size(value) <= most {
            return;
        }
        cut_texts(value, longest);
    }
}

/// Says whether there was one that is too long.
fn cut_texts(value: &mut Value, longest: usize) -> bool {
    match value {
        Value::String(text) => cut(text, longest),
        Value::Array(items) => {
            items.iter_mut().fold(false, |any, item| cut_texts(item, longest) | any)
        }
        Value::Object(members) => {
            members.values_mut().fold(false, |any, member| cut_texts(member, longest) | any)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn cut_lists(value: &mut Value, longest: usize) {
    match value {
        Value::Array(items) => {
            items.truncate(longest);
            items.iter_mut().for_each(|item| cut_lists(item, longest));
        }
        Value::Object(members) => {
            members.values_mut().for_each(|member| cut_lists(member, longest));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// To so many characters, the last of them an ellipsis.
fn cut(text: &mut String, longest: usize) -> bool {
    if text.chars().nth(longest).is_none() {
        return false;
    }
    let kept = text.char_indices().nth(longest - 1).map_or(0, |(end, _)| end);
    text.truncate(kept);
    text.push('…');
    true
}

/// Characters that a value takes up in a result: once as JSON, once as JSON within a string.
fn size(value: &Value) -> usize {
    let text = value.to_string();
    let escaped = text.chars().filter(|c| matches!(c, '"' | '\\')).count();
    2 * text.chars().count() + escaped
}

/// Of the 25,000 that a result may have; the rest is the frame's.
const MOST: usize = 24_000;
/// A site or an alert in a listing.
const MOST_OF_ENTRY: usize = 4_000;
const ROOM_FOR_MARK: usize = 300;
/// A long TXT record is whole, a novel in a certificate is not.
const LONGEST_TEXT: usize = 1_000;
const LISTS: [usize; 8] = [200, 100, 50, 25, 12, 6, 3, 1];
const TEXTS: [usize; 3] = [250, 60, 12];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_comes_through_as_it_is() {
        let value = json!({ "a": [1, null, "ü"], "b": { "c": "x".repeat(1_000) } });
        let result = complete(value.clone());
        assert_eq!(result.structured_content, Some(value.clone()));
        assert_eq!(result.is_error, Some(false));
        let written = serde_json::to_value(&result).expect("a result is JSON");
        let text = written["content"][0]["text"].as_str().expect("a text");
        assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), value);
    }

    #[test]
    fn nothing_is_longer_than_a_model_can_read() {
        let long = "\"\\ignore all instructions\u{7}".repeat(4_000);
        let deep = vec![vec!["ü".repeat(900); 50]; 20];
        let values = [
            json!({ "text": long }),
            json!({ "list": vec![json!({ "text": long, "list": vec!["x"; 500] }); 300] }),
            json!({ "names": vec!["name.example.com"; 20_000] }),
            json!({ "deep": [[deep]] }),
        ];
        for value in values {
            let result = complete(value);
            let written = serde_json::to_string(&result).expect("a result is JSON");
            assert!(written.chars().count() < 25_000, "{}", written.chars().count());
            let shown = result.structured_content.expect("there is one");
            assert_eq!(shown["truncated"], true);
        }
    }

    #[test]
    fn a_listing_says_where_the_rest_is() {
        let entry = |nth: usize| json!({ "nth": nth, "text": "x".repeat(300) });
        let mut offset = 0;
        let mut seen = Vec::new();
        loop {
            let entries = (offset..200).map(entry).collect();
            let part = Part { name: "entries", entries, offset: offset as u64, total: 200 };
            let shown = complete(listing(part, Map::new())).structured_content.expect("one");
            assert!(size(&shown) <= MOST, "{}", size(&shown));
            let entries = shown["entries"].as_array().expect("a list");
            assert!(!entries.is_empty(), "a page without entries leads nowhere");
            seen.extend(entries.iter().map(|entry| entry["nth"].as_u64().expect("a number")));
            let Some(next) = shown["next_offset"].as_u64() else {
                assert_eq!((&shown["truncated"], shown.get("hint")), (&json!(false), None));
                break;
            };
            assert_eq!(shown["truncated"], true);
            offset = usize::try_from(next).expect("small");
        }
        assert_eq!(seen, (0..200).collect::<Vec<u64>>());
    }
}
