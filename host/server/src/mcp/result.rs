//! What a tool answers, within bounds: a model has to read all of it.
//!
//! A listing shows the entries that fit, whole but for long texts, and says where the next one is.
//! Anything else that is too long is shortened the same way every time: long texts first, then long
//! lists, from the end, or from the start where the end is the news; where that is not enough,
//! members are left out ([`surplus`]). What was cut is said by name.
//!
//! *Invariant:* text and structured content together stay below [`MOST`] characters, and hold the
//! same JSON.

mod surplus;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

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

/// The members in which something was cut.
type Names = BTreeSet<String>;

/// As many entries as fit, at least one, beside the other members.
pub(super) fn listing(part: Part, mut members: Map<String, Value>) -> Value {
    let Part { name, entries, offset, total } = part;
    members.insert("total".to_owned(), total.into());
    members.insert("truncated".to_owned(), true.into());
    members.insert("next_offset".to_owned(), u64::MAX.into());
    let frame = size(&Value::Object(members.clone())) + 2 * name.len() + 12;
    let (shown, cut) = fitted(entries, name, (MOST - ROOM_FOR_MARK).saturating_sub(frame));
    let next = offset + shown.len() as u64;
    let next = (!shown.is_empty() && next < total).then_some(next);
    members.insert(name.to_owned(), shown.into());
    members.insert("truncated".to_owned(), (next.is_some() || !cut.is_empty()).into());
    members.insert("next_offset".to_owned(), next.into());
    let cut = (!cut.is_empty()).then(|| hint_at_cut(&cut));
    let hints: Vec<String> = next.map(hint_at_next).into_iter().chain(cut).collect();
    if !hints.is_empty() {
        members.insert("hint".to_owned(), hints.join("; ").into());
    }
    Value::Object(members)
}

/// The entries that fit, and what was cut in them. Beside long texts something is cut only in the
/// first: any other can be the first of the next answer.
fn fitted(entries: Vec<Value>, at: &str, mut room: usize) -> (Vec<Value>, Names) {
    let mut shown = Vec::new();
    let mut names = Names::new();
    for mut entry in entries {
        let mut here = Names::new();
        cut_texts(&mut entry, LONGEST_TEXT, at, &mut here);
        let mut needed = size(&entry) + 2;
        if needed > room {
            if !shown.is_empty() {
                break;
            }
            needed = shorten(&mut entry, room.saturating_sub(2), at, &mut here) + 2;
        }
        room = room.saturating_sub(needed);
        names.append(&mut here);
        shown.push(entry);
    }
    (shown, names)
}

fn hint_at_next(next: u64) -> String {
    format!("there is more: call this tool again with offset {next}")
}

fn hint_at_cut(names: &Names) -> String {
    let mut named: Vec<String> = names.iter().take(MOST_NAMES).cloned().collect();
    for name in &mut named {
        // Each would be written as six characters, twice.
        name.retain(|c| !c.is_control());
        cut(name, LONGEST_NAME);
    }
    if names.len() > MOST_NAMES {
        named.push("others".to_owned());
    }
    let named = named.join(", ");
    format!("what is long was cut to fit ({named}); the REST interface answers all of it")
}

/// As JSON that fits into a result.
pub(super) fn bounded(mut value: Value) -> String {
    let mut cut = Names::new();
    cut_texts(&mut value, LONGEST_TEXT, "", &mut cut);
    let json = value.to_string();
    if cut.is_empty() && size_of(&json) <= MOST {
        return json;
    }
    shorten(&mut value, MOST - ROOM_FOR_MARK, "", &mut cut);
    if let Some(members) = value.as_object_mut() {
        members.insert("truncated".to_owned(), true.into());
        members.entry("hint").or_insert_with(|| hint_at_cut(&cut).into());
    }
    value.to_string()
}

/// Cuts lists, then texts, then objects, until it fits; answers the size that it has then. `at` is
/// the member that the value stands in, itself or in a list.
fn shorten(value: &mut Value, most: usize, at: &str, names: &mut Names) -> usize {
    let mut left = size(value);
    for longest in LISTS {
        if left <= most {
            return left;
        }
        cut_lists(value, longest, at, names);
        left = size(value);
    }
    for longest in TEXTS {
        if left <= most {
            return left;
        }
        cut_texts(value, longest, at, names);
        left = size(value);
    }
    if left > most {
        surplus::leave_out(value, most, at, names);
        left = size(value);
    }
    left
}

fn cut_texts(value: &mut Value, longest: usize, at: &str, names: &mut Names) {
    match value {
        Value::String(text) => names.extend(cut(text, longest).then(|| at.to_owned())),
        Value::Array(items) => {
            items.iter_mut().for_each(|item| cut_texts(item, longest, at, names));
        }
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                cut_texts(member, longest, name, names);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn cut_lists(value: &mut Value, longest: usize, at: &str, names: &mut Names) {
    match value {
        Value::Array(items) => {
            let surplus = items.len().saturating_sub(longest);
            if surplus > 0 {
                names.insert(at.to_owned());
                let kept_from = if HISTORIES.contains(&at) { surplus } else { 0 };
                items.drain(..kept_from);
                items.truncate(longest);
            }
            items.iter_mut().for_each(|item| cut_lists(item, longest, at, names));
        }
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                cut_lists(member, longest, name, names);
            }
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
/// For both hints, and `truncated`.
const ROOM_FOR_MARK: usize = 800;
/// Of the members that a hint names.
const MOST_NAMES: usize = 4;
const LONGEST_NAME: usize = 30;
/// Lists that are written oldest first: who reads a part of one wants its end.
const HISTORIES: [&str; 1] = ["updates"];
/// A long TXT record is whole, a novel in a certificate is not.
const LONGEST_TEXT: usize = 1_000;
const LISTS: [usize; 8] = [200, 100, 50, 25, 12, 6, 3, 1];
const TEXTS: [usize; 3] = [250, 60, 12];

#[cfg(test)]
mod tests {
    use rmcp::model::{CallToolResult, ContentBlock};
    use serde_json::json;

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
            json!({ "members": members("record", 5_000), "check_type": "records" }),
            members(&"\u{7}".repeat(40), 500),
            members(&"x".repeat(30_000), 1),
        ];
        for value in values {
            let json = bounded(value);
            let written = complete(&json, Era::Modern);
            assert!(written.chars().count() < 25_000, "{}", written.chars().count());
            assert_eq!(parsed(&json)["truncated"], true);
        }
    }

    fn members(name: &str, count: usize) -> Value {
        (0..count).map(|nth| (format!("{name}{nth}"), json!(nth))).collect()
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

    fn incident(updates: usize, length: usize) -> Value {
        let update = |nth: usize| json!({ "nth": nth, "message": "x".repeat(length) });
        json!({ "title": "Slow", "updates": (0..updates).map(update).collect::<Vec<Value>>() })
    }

    fn listed(entries: Vec<Value>) -> Value {
        let total = entries.len() as u64;
        let part = Part { name: "entries", entries, offset: 0, total };
        let listed = listing(part, Map::new());
        let shown = parsed(&bounded(listed.clone()));
        assert_eq!(shown, listed, "what is listed fits as it is");
        shown
    }

    #[test]
    fn an_entry_is_whole_while_it_fits_on_its_own() {
        let names: Vec<String> = (0..250).map(|nth| format!("n{nth}.example.com")).collect();
        for entry in [incident(9, 300), incident(20, 500), json!({ "san": names })] {
            let alone = listed(vec![entry.clone()]);
            assert_eq!(alone["entries"], json!([entry]));
            assert_eq!((&alone["truncated"], alone.get("hint")), (&json!(false), None));
            // What finds no room behind others comes first in the next answer.
            let among = listed(vec![entry.clone(); 12]);
            let shown = among["entries"].as_array().expect("a list");
            assert!(!shown.is_empty() && shown.len() < 12, "{}", shown.len());
            assert!(shown.iter().all(|shown| *shown == entry));
            assert_eq!(
                (&among["truncated"], &among["next_offset"]),
                (&json!(true), &json!(shown.len()))
            );
        }
    }

    #[test]
    fn what_is_cut_in_an_entry_is_said_by_name() {
        let long_list = json!({ "id": 1, "result": { "san": vec!["name.example.com"; 2_000] } });
        let long_text = json!({ "id": 2, "message": "x".repeat(2_000) });
        for (entry, name) in [(long_list, "san"), (long_text, "message")] {
            let alone = listed(vec![entry.clone()]);
            assert_eq!((&alone["truncated"], &alone["next_offset"]), (&json!(true), &Value::Null));
            let hint = alone["hint"].as_str().expect("a hint");
            assert!(hint.contains(&format!("({name})")) && hint.contains("REST"), "{hint}");
            let first = listed(vec![entry; 30]);
            let hint = first["hint"].as_str().expect("a hint");
            let next = first["next_offset"].as_u64().expect("a number");
            assert!(hint.contains(&format!("offset {next}")), "{hint}");
            assert!(hint.contains(&format!("({name})")), "{hint}");
        }
    }

    #[test]
    fn what_is_cut_outside_of_listings_is_said_by_name() {
        let mut members = Map::new();
        for nth in 0..9 {
            members.insert(format!("{nth}{}", "n".repeat(40)), "x".repeat(2_000).into());
        }
        let cut = parsed(&bounded(Value::Object(members)));
        let hint = cut["hint"].as_str().expect("a hint");
        assert!(hint.contains("(0nnn") && hint.contains("…, others)"), "{hint}");
    }

    #[test]
    fn of_a_history_the_end_is_kept() {
        let last = |updates: &Value| updates.as_array().and_then(|all| all.last().cloned());
        let long = incident(100, 900);
        let told = parsed(&bounded(json!({ "incident": long })));
        let listed = listed(vec![long.clone()]);
        for (answer, incident) in [(&told, &told["incident"]), (&listed, &listed["entries"][0])] {
            assert!(answer["hint"].as_str().is_some_and(|hint| hint.contains("(updates)")));
            assert_eq!(last(&incident["updates"]), last(&long["updates"]));
            assert!(incident["updates"].as_array().is_some_and(|kept| kept.len() > 1));
        }
    }
}
