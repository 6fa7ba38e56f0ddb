//! One line: comment, key and value, or neither.

use std::net::Ipv6Addr;

use super::label::{Label, Meaning};
use super::words::words;
use crate::date;

/// A line without its indent, bullets and line break.
pub(super) struct Line<'a> {
    /// Columns before the text; a tab fills up to the next eighth.
    pub(super) indent: usize,
    pub(super) body: &'a str,
}

impl<'a> Line<'a> {
    pub(super) fn new(line: &'a str) -> Line<'a> {
        let mut indent = 0;
        for char in line.chars() {
            match char {
                '\t' => indent = (indent / 8 + 1) * 8,
                char if char.is_whitespace() || char == '\u{feff}' => indent += 1,
                _ => break,
            }
        }
        let trimmed = line.trim_matches(|char: char| char.is_whitespace() || char == '\u{feff}');
        let body = trimmed.trim_start_matches(['*', '-', '•', '·', ' ']);
        // Rules such as "-----" and "=====" are blank lines.
        let is_rule = !body.chars().any(char::is_alphanumeric) && !body.starts_with(['%', '#']);
        Line { indent, body: if is_rule { "" } else { body } }
    }

    /// What a comment says.
    pub(super) fn comment(&self) -> Option<&'a str> {
        let body = self.body;
        let is_comment = body.starts_with(['%', '#', ';'])
            || body.starts_with(">>>")
            || body.starts_with("//")
            || body.starts_with("[ ");
        is_comment.then(|| body.trim_start_matches(['%', '#', ';', '>', '/', '[']).trim())
    }

    /// `[Key]`, with or without a value.
    pub(super) fn is_tag(&self) -> bool {
        bracket(self.body).is_some()
    }
}

/// The key and the value of a line that has both, or a key and a colon.
pub(super) fn split(body: &str) -> Option<(&str, &str)> {
    if let Some(pair) = bracket(body) {
        return Some(pair);
    }
    let head = head(body, LONGEST_KEY);
    match colon(head) {
        Colon::At(at, width) => {
            let key = trim_leader(&body[..at]);
            let value = body[at + width..].trim_start_matches([':', '：']);
            return is_key(key).then(|| (key, value.trim()));
        }
        Colon::Address => return None,
        Colon::None => {}
    }
    columns(body, head).or_else(|| sentence(body))
}

/// A header without a colon: `Name servers`, `Holder`.
pub(super) fn known_block(text: &str) -> Option<Meaning> {
    let is_name = text.len() <= 60
        && !text.chars().any(|char| char.is_ascii_digit() || matches!(char, '.' | ',' | '@'));
    if !is_name {
        return None;
    }
    let meaning = Meaning::of(text);
    let is_block = matches!(
        meaning.label,
        Label::Registrar | Label::Registrant | Label::Contact | Label::NameServers
    );
    is_block.then_some(meaning)
}

/// Whether a line begins with a host name.
pub(super) fn is_host(text: &str) -> bool {
    text.split_whitespace().next().is_some_and(|token| host(token).is_some())
}

/// A host name in lower case, without its last dot; addresses are none.
pub(super) fn host(token: &str) -> Option<String> {
    let name = token.trim_end_matches('.');
    let mut labels = name.split('.');
    let is_named = name.len() <= 253
        && name.contains('.')
        && labels.clone().all(|label| {
            (1..=63).contains(&label.len())
                && label.chars().all(|char| char.is_alphanumeric() || matches!(char, '-' | '_'))
        })
        && labels.next_back().is_some_and(|last| last.starts_with(char::is_alphabetic));
    is_named.then(|| name.to_lowercase())
}

/// The first `max` bytes of a text, or fewer where a character would be cut.
pub(super) fn head(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// `[Key] value`, also behind a letter: `a. [Key] value`, `a  [Key] value`.
fn bracket(body: &str) -> Option<(&str, &str)> {
    let lettered = body.strip_prefix(|char: char| char.is_ascii_lowercase()).map_or(body, |rest| {
        let key = rest.strip_prefix('.').unwrap_or(rest).trim_start();
        if key.starts_with('[') { key } else { body }
    });
    let inside = lettered.strip_prefix('[').or_else(|| lettered.strip_prefix('［'))?;
    let (key, value) = head(inside, LONGEST_KEY)
        .find([']', '］'])
        .and_then(|at| Some((&inside[..at], inside[at..].strip_prefix([']', '］'])?)))?;
    let is_tag = !key.starts_with(' ') && is_key(key);
    is_tag.then(|| (key, value.trim().trim_start_matches(':').trim()))
}

enum Colon {
    At(usize, usize),
    /// The colon of `https://`, or one of `2001:db8::1`.
    Address,
    None,
}

/// The colon that parts key and value: none between digits (a time), none of an address.
fn colon(head: &str) -> Colon {
    let mut before = ' ';
    let mut rest = head.char_indices().peekable();
    while let Some((at, char)) = rest.next() {
        if matches!(char, ':' | '：') {
            let after = rest.peek().map_or(' ', |(_, after)| *after);
            if head[at + char.len_utf8()..].starts_with("//") || is_in_address(head, at) {
                return Colon::Address;
            }
            if !(before.is_ascii_digit() && after.is_ascii_digit()) {
                return Colon::At(at, char.len_utf8());
            }
        }
        before = char;
    }
    Colon::None
}

/// Whether the colon at this place is one of an IPv6 address.
fn is_in_address(head: &str, at: usize) -> bool {
    let (before, after) = head.split_at(at);
    let from = before.rfind(char::is_whitespace).map_or(0, |space| space + 1);
    let to = after.find(char::is_whitespace).map_or(head.len(), |space| at + space);
    let token = head.get(from..to).unwrap_or_default();
    token != "::" && token.trim_matches(['(', ')', '[', ']', ',']).parse::<Ipv6Addr>().is_ok()
}

/// `Key .... value`, `Key<tab>value`, `Key = value`, where the key is known.
fn columns<'a>(body: &'a str, head: &str) -> Option<(&'a str, &'a str)> {
    let at =
        ["...", "\t", "  ", " = ", " - "].iter().filter_map(|leader| head.find(leader)).min()?;
    let (key, value) = (&body[..at], &body[at..]);
    let value = value.trim_start_matches(['.', '\t', ' ', '=', '-', '_']);
    if key.contains('.') || value.is_empty() {
        return None;
    }
    let is_known = matches!(
        Meaning::of(key).label,
        Label::Domain
            | Label::Expiry(_)
            | Label::Created
            | Label::Updated
            | Label::Registrar
            | Label::NameServers
            | Label::Status
            | Label::Registrant
            | Label::RegistrantName
            | Label::RegistrantOrganization
            | Label::WhoisServer
    );
    is_known.then(|| (key.trim(), value.trim()))
}

/// `Record expires on 2030-04-02.`: the label ends where the date begins.
fn sentence(body: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    for token in head(body, LONGEST_KEY).split_whitespace().take(SENTENCE_WORDS) {
        let at = from + body.get(from..)?.find(token)?;
        let is_date = token.starts_with(|char: char| char.is_ascii_digit())
            || words(token, 1).first().is_some_and(|word| {
                date::is_weekday(word) || (date::is_month(word) && word.len() > 2)
            });
        if is_date && at > 0 {
            let key = body[..at].trim();
            let is_known = matches!(
                Meaning::of(key).label,
                Label::Expiry(_) | Label::Created | Label::Updated
            );
            return is_known.then(|| (key, body[at..].trim()));
        }
        from = at + token.len();
    }
    None
}

fn trim_leader(key: &str) -> &str {
    key.trim_end_matches(['.', ' ', '\t', '_', '-', '·', '…']).trim()
}

/// A key is short and has letters; what is longer, or holds a sentence, is prose.
fn is_key(key: &str) -> bool {
    key.chars().any(char::is_alphabetic)
        && key.split_whitespace().take(MOST_KEY_WORDS + 1).count() <= MOST_KEY_WORDS
        && !key.contains(". ")
}

/// Bytes in which a key ends.
const LONGEST_KEY: usize = 160;
const MOST_KEY_WORDS: usize = 12;
const SENTENCE_WORDS: usize = 12;
