//! What a tool answers, within bounds: a model has to read all of it.
//!
//! A listing shows all of its entries where shorter lists in them make them fit, and an overview
//! takes more [`Room`] sooner than to leave one out; else those that fit, whole but for long texts,
//! and says where the next one is.
//! Anything else that is too long is shortened the same way every time: long texts first, then long
//! lists, from the end, or from the start where the end is the news; where that is not enough,
//! members are left out ([`surplus`]). What was cut is said by name.
//!
//! *Invariant:* text and structured content together stay within their [`Room`], and hold the same
//! JSON.

mod surplus;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::era::Era;

/// The result of a tool that did what it was asked for. `json` is an [`Answer`]'s.
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

/// What a tool answers.
pub(super) enum Answer {
    /// Made by [`listing`], and so within its [`Room`].
    Listing(Value),
    Whole(Value),
}

impl Answer {
    /// As JSON that fits into a result.
    pub(super) fn json(self) -> String {
        match self {
            Self::Listing(value) => value.to_string(),
            Self::Whole(value) => bounded(value),
        }
    }
}

/// How long a listing may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Below 25,000 characters.
    Usual,
    /// As much, where that is enough for every entry; else up to 120,000, of which a model reads one
    /// half: some 20,000 tokens, and clients take 25,000. For what is asked for as a whole: the sites
    /// of the largest plan, the alerts that are open (spec: MCP).
    Overview,
}

/// A part of a listing.
pub(super) struct Part {
    pub(super) room: Room,
    /// What shows the next part.
    pub(super) tool: &'static str,
    /// The member that the entries stand in.
    pub(super) name: &'static str,
    pub(super) entries: Vec<Value>,
    /// Where the first of them stands.
    pub(super) offset: u64,
    pub(super) total: u64,
}

impl Room {
    /// In characters of text and structured content together; the rest of what it may have is the
    /// frame's.
    fn most(self) -> usize {
        match self {
            Self::Usual => MOST,
            Self::Overview => MOST_OF_ALL,
        }
    }
}

/// The members in which something was cut.
type Names = BTreeSet<String>;

/// As many entries as fit, at least one, beside the other members.
pub(super) fn listing(part: Part, mut members: Map<String, Value>) -> Value {
    let Part { room, tool, name, entries, offset, total } = part;
    members.insert("total".to_owned(), total.into());
    members.insert("truncated".to_owned(), true.into());
    members.insert("next_offset".to_owned(), u64::MAX.into());
    let frame = size(&Value::Object(members.clone())) + 2 * name.len() + 12;
    let within = |most: usize| (most - ROOM_FOR_MARK).saturating_sub(frame);
    let Shown { entries: shown, cut, fewer_show_more } =
        all_shorter(&entries, name, &SUMMED_UP, within(MOST))
            .or_else(|| match room {
                Room::Usual => None,
                Room::Overview => all_shorter(&entries, name, &LISTS, within(room.most())),
            })
            .unwrap_or_else(|| first_whole(entries, name, within(room.most())));
    let next = offset + shown.len() as u64;
    let next = (!shown.is_empty() && next < total).then_some(next);
    members.insert(name.to_owned(), shown.into());
    members.insert("truncated".to_owned(), (next.is_some() || !cut.is_empty()).into());
    members.insert("next_offset".to_owned(), next.into());
    let rest = if fewer_show_more { OF_FEWER } else { OF_ALL };
    let cut = (!cut.is_empty()).then(|| hint_at_cut(&cut, rest));
    let hints: Vec<String> =
        next.map(|next| hint_at_next(tool, next)).into_iter().chain(cut).collect();
    if !hints.is_empty() {
        members.insert("hint".to_owned(), hints.join("; ").into());
    }
    Value::Object(members)
}

/// What a listing shows.
struct Shown {
    entries: Vec<Value>,
    cut: Names,
    /// Whether more of each would have room beside fewer others.
    fewer_show_more: bool,
}

/// All entries, if they fit once their lists are shortened: a caller that asks for a list wants to
/// see every entry rather than every record of some.
fn all_shorter(entries: &[Value], at: &str, lists: &[usize], room: usize) -> Option<Shown> {
    let mut shown = entries.to_vec();
    let mut names = Names::new();
    shown.iter_mut().for_each(|entry| cut_texts(entry, LONGEST_TEXT, at, &mut names));
    for &longest in lists {
        shown.iter_mut().for_each(|entry| cut_lists(entry, longest, at, &mut names));
        if fit(&shown, room) {
            let fewer_show_more = longest != usize::MAX && shown.len() > 1;
            return Some(Shown { entries: shown, cut: names, fewer_show_more });
        }
    }
    None
}

/// Whether there is room for all of them. Those behind the first that has none are not written:
/// there may be megabytes of them.
fn fit(entries: &[Value], room: usize) -> bool {
    let left = entries.iter().try_fold(room, |left, entry| left.checked_sub(size(entry) + 2));
    left.is_some()
}

/// The entries that fit, and what was cut in them. Beside long texts something is cut only in the
/// first: any other can be the first of the next answer.
fn first_whole(entries: Vec<Value>, at: &str, mut room: usize) -> Shown {
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
    Shown { entries: shown, cut: names, fewer_show_more: false }
}

fn hint_at_next(tool: &str, next: u64) -> String {
    format!("there is more: call {tool} with offset {next}")
}

fn hint_at_cut(names: &Names, rest: &str) -> String {
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
    format!("what is long was cut to fit ({named}); {rest}")
}

/// As JSON that fits into a result, whatever it is.
fn bounded(mut value: Value) -> String {
    let mut cut = Names::new();
    cut_texts(&mut value, LONGEST_TEXT, "", &mut cut);
    let json = value.to_string();
    if cut.is_empty() && size_of(&json) <= MOST {
        return json;
    }
    shorten(&mut value, MOST - ROOM_FOR_MARK, "", &mut cut);
    if let Some(members) = value.as_object_mut() {
        members.insert("truncated".to_owned(), true.into());
        members.entry("hint").or_insert_with(|| hint_at_cut(&cut, OF_ALL).into());
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
            for (name, member) in members.iter_mut().filter(|(name, _)| !is_given_back(name)) {
                cut_texts(member, longest, name, names);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn cut_lists(value: &mut Value, longest: usize, at: &str, names: &mut Names) {
    match value {
        Value::Array(items) => {
            let longest = if at == RECORDS { longest.max(MOST_RECORD_TYPES) } else { longest };
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
            for (name, member) in members.iter_mut().filter(|(name, _)| !is_given_back(name)) {
                cut_lists(member, longest, name, names);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether a tool takes the member as a whole: whoever reads a part of it and adds one to it would
/// take the rest off.
fn is_given_back(name: &str) -> bool {
    ["check_types", "affected_sites", "check_config"].contains(&name)
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

const MOST: usize = 24_000;
const MOST_OF_ALL: usize = 119_000;
/// For both hints, and `truncated`.
const ROOM_FOR_MARK: usize = 800;
/// Of the members that a hint names.
const MOST_NAMES: usize = 4;
const LONGEST_NAME: usize = 30;
/// Where the rest of what was cut is.
const OF_ALL: &str = "the REST interface returns all of it";
const OF_FEWER: &str = "a smaller limit shows more of each, the REST interface all of it";
/// The sets of DNS records of a name, one per type: what is many are the values of each.
const RECORDS: &str = "records";
const MOST_RECORD_TYPES: usize = 16;
/// Lists that are written oldest first: a reader of a part of one wants its end.
const HISTORIES: [&str; 1] = ["updates"];
/// A long TXT record is whole, a novel in a certificate is not.
const LONGEST_TEXT: usize = 1_000;
/// What is left of lists in entries that are shown at once.
const SUMMED_UP: [usize; 7] = [usize::MAX, 200, 100, 50, 25, 12, 6];
const LISTS: [usize; 8] = [200, 100, 50, 25, 12, 6, 3, 1];
const TEXTS: [usize; 3] = [250, 60, 12];

#[cfg(test)]
mod tests;
