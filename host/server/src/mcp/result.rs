//! What a tool answers, within bounds: a model has to read all of it.
//!
//! A listing shows the entries that fit and says where the next one is. Anything else that is too
//! long is shortened the same way every time: long texts first, then long lists, from the end.
//!
//! *Invariant:* text and structured content together stay below [`MOST`] characters, and hold the
//! same JSON.

use serde_json::{Map, Value, json};

use super::era::Era;

/// The result of a tool that did what it was asked for. `json` is [`bounded`].
pub(super) fn complete(json: &str, era: Era) -> String {
    let (form, text) = (form(era), quoted(json));
    let content = format!(r#"[{{"type":"text","text":{text}}}]"#);
    format!(r#"{{{form}"content":{content},"structuredContent":{json},"isError":false}}"#)
}

/// What could not be done, in a sentence.
pub(super) fn failed(mut sentence: String, era: Era) -> String {
    cut(&mut sentence, LONGEST_TEXT);
    let (form, text) = (form(era), quoted(&sentence));
    format!(r#"{{{form}"content":[{{"type":"text","text":{text}}}],"isError":true}}"#)
}

/// What the newer protocol says of every result, and the older ones do not know.
fn form(era: Era) -> &'static str {
    match era {
        Era::Legacy => "",
        Era::Modern => r#""resultType":"complete","#,
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
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
        let (entry, size) = fitted_entry(entry);
        let needed = size + 2;
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

/// One entry of many, and its size: what is cut in it is not told apart, since the whole is a tool
/// away.
fn fitted_entry(mut entry: Value) -> (Value, usize) {
    cut_texts(&mut entry, LONGEST_TEXT);
    let size = shorten(&mut entry, MOST_OF_ENTRY);
    (entry, size)
}

/// As JSON that fits into a result.
pub(super) fn bounded(mut value: Value) -> String {
    let cut = cut_texts(&mut value, LONGEST_TEXT);
    let json = value.to_string();
    if !cut && size_of(&json) <= MOST {
        return json;
    }
    shorten(&mut value, MOST - ROOM_FOR_MARK);
    if let Some(members) = value.as_object_mut() {
        members.insert("truncated".to_owned(), true.into());
        let hint = "long texts or lists were cut to fit; the REST interface answers all of it";
        members.entry("hint").or_insert_with(|| json!(hint));
    }
    value.to_string()
}

/// Cuts lists, then texts, until it fits; answers the size that it has then.
fn shorten(value: &mut Value, most: usize) -> usize {
    let mut left = size(value);
    for longest in LISTS {
        if left <= most {
            return left;
        }
        cut_lists(value, longest);
        left = size(value);
    }
    for longest in TEXTS {
        if left <= most {
            return left;
        }
        cut_texts(value, longest);
        left = size(value);
    }
    left
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

fn size(value: &Value) -> usize {
    size_of(&value.to_string())
}

/// Characters that it takes up in a result: once as JSON, once as JSON within a string.
fn size_of(json: &str) -> usize {
    let escaped = json.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    2 * json.chars().count() + escaped
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
    use rmcp::model::{CallToolResult, ContentBlock};

    use super::*;

    fn parsed(json: &str) -> Value {
        serde_json::from_str(json).expect("JSON")
    }

    #[test]
    fn results_are_written_as_the_library_of_the_protocol_writes_them() {
        let value = json!({ "a": [1, null, "ü\u{7}\"\\"], "b": {} });
        let json = bounded(value.clone());
        let mut done = CallToolResult::success(vec![ContentBlock::text(json.clone())]);
        done.structured_content = Some(value);
        let mut not_done = CallToolResult::error(vec![ContentBlock::text("no \"such\" site")]);
        let written = |result: &CallToolResult| serde_json::to_string(result).expect("JSON");
        let sentence = || "no \"such\" site".to_owned();
        assert_eq!(complete(&json, Era::Modern), written(&done));
        assert_eq!(failed(sentence(), Era::Modern), written(&not_done));
        // As it does for clients of the older versions.
        (done.result_type, not_done.result_type) = (None, None);
        assert_eq!(complete(&json, Era::Legacy), written(&done));
        assert_eq!(failed(sentence(), Era::Legacy), written(&not_done));
    }

    #[test]
    fn what_fits_comes_through_as_it_is() {
        let value = json!({ "a": [1, null, "ü"], "b": { "c": "x".repeat(1_000) } });
        assert_eq!(parsed(&bounded(value.clone())), value);
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
            let json = bounded(value);
            let written = complete(&json, Era::Modern);
            assert!(written.chars().count() < 25_000, "{}", written.chars().count());
            assert_eq!(parsed(&json)["truncated"], true);
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
            let shown = parsed(&bounded(listing(part, Map::new())));
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
