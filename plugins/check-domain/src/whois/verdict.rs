//! Answers without a record: not registered, withheld, or not answered at all.
//!
//! Legal texts are full of the same words. So a phrase counts where a sentence begins with it,
//! and sentences are put together from their lines first: a line inside a paragraph may begin
//! with "not found" or "blacklisted" and mean nothing.
//!
//! *Invariant:* at most [`MOST_LINES`] lines and [`MOST_SENTENCES`] sentences are looked at.

use super::phrases::{
    CONDITIONS, COUNTED, DOMAIN, DOMAIN_NAME, HAPPENED, NOT_FOUND, NOT_FOUND_ALONE, OPENERS,
    OTHERS, REFUSED, REFUSED_ALONE, REFUSED_ANYWHERE, RESERVED, RESERVED_ALONE, RULES, SUBJECTS,
    UNKNOWN,
};
use super::words::words;

/// What the sentences of an answer say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// The server refuses, in a sentence that begins with it.
    pub(super) is_refused: bool,
    /// The server refuses, in whatever words.
    pub(super) is_throttled: bool,
    pub(super) is_reserved: bool,
    pub(super) is_not_found: bool,
}

impl Verdict {
    pub(super) fn of(text: &str, name: &str) -> Verdict {
        let name = words(name, 16);
        let mut verdict = Verdict::default();
        for sentence in sentences(text, Break::Capital) {
            let words = words(&sentence, MOST_WORDS);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            verdict.is_refused |= is_refused(&words);
            let said = without_subject(&words, &name);
            verdict.is_reserved |= begins(said, RESERVED) || is_one(said, RESERVED_ALONE);
            verdict.is_not_found |= begins(said, NOT_FOUND)
                || is_one(said, NOT_FOUND_ALONE)
                || is_unknown(&words, &name);
        }
        verdict.is_throttled = verdict.is_refused
            || sentences(text, Break::Mark).iter().any(|sentence| {
                let words = words(sentence, MOST_WORDS);
                has_refused(&words.iter().map(String::as_str).collect::<Vec<&str>>(), &name)
            });
        verdict
    }
}

/// What begins a sentence in the middle of a paragraph.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Break {
    /// A line that begins with a capital.
    Capital,
    /// Only the mark at the end of the sentence before.
    Mark,
}

/// Whether a sentence begins with a refusal.
pub(super) fn refuses(text: &str) -> bool {
    says(text, is_refused)
}

/// The same below a record, where terms of use say what happens to somebody who asks too much.
pub(super) fn has_refused_below(text: &str) -> bool {
    says(text, |words| {
        let at = words.iter().position(|word| HAPPENED.contains(word)).unwrap_or(words.len());
        is_refused(words) && ![CONDITIONS, RULES].iter().any(|list| is_under(words, at, 1, list))
    })
}

fn says(text: &str, is_said: fn(&[&str]) -> bool) -> bool {
    sentences(text, Break::Capital).iter().any(|sentence| {
        let words = words(sentence, MOST_WORDS);
        is_said(&words.iter().map(String::as_str).collect::<Vec<&str>>())
    })
}

/// Whether a status says that nobody holds the name.
pub(super) fn is_free(status: &str) -> bool {
    let words: Vec<&str> = status.split(' ').skip_while(|word| is_number(word)).collect();
    begins(&words, NOT_FOUND) || is_one(&words, NOT_FOUND_ALONE)
}

/// Whether a status says that nobody can have the name.
pub(super) fn is_withheld(status: &str) -> bool {
    let words: Vec<&str> = status.split(' ').skip_while(|word| is_number(word)).collect();
    begins(&words, RESERVED) || is_one(&words, RESERVED_ALONE)
}

/// The sentences of an answer, put together from its lines. Each is cut to a length in which
/// everything that matters has been said.
fn sentences(text: &str, breaks: Break) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut current = String::new();
    let mut before = Piece::default();
    let end = if text.contains('\n') { '\n' } else { '\r' };
    for line in text.split(end).take(MOST_LINES) {
        let piece = Piece::of(line);
        if !piece.continues(&before, breaks) {
            keep(&mut found, &mut current);
        }
        let mut rest = piece.body;
        while let Some(at) = rest.find(ENDS_SENTENCE) {
            if found.len() >= MOST_SENTENCES {
                return found;
            }
            let (sentence, after) = rest.split_at(at + 1);
            append(&mut current, sentence);
            // A dot inside a name or a number ends nothing.
            if !after.starts_with(|char: char| !char.is_whitespace() && char != '"') {
                keep(&mut found, &mut current);
            }
            rest = after;
        }
        if found.len() >= MOST_SENTENCES {
            return found;
        }
        append(&mut current, rest);
        append(&mut current, " ");
        before = piece;
    }
    keep(&mut found, &mut current);
    found
}

/// A line without its marks.
#[derive(Default)]
struct Piece<'a> {
    body: &'a str,
    is_comment: bool,
    is_banner: bool,
}

impl<'a> Piece<'a> {
    fn of(line: &'a str) -> Piece<'a> {
        let line = line.trim_matches(|char: char| char.is_whitespace() || char == '\u{feff}');
        Piece {
            body: line.trim_matches(['%', '#', ';', '*', '>', '<', '-', '=', '|', ' ', '\t', '"']),
            is_comment: line.starts_with(['%', '#', ';']),
            is_banner: line.starts_with(">>>"),
        }
    }

    /// Whether this line goes on with the sentence of the line before: only a long line was broken
    /// by a margin.
    fn continues(&self, before: &Piece<'_>, breaks: Break) -> bool {
        let is_broken = before.body.len() >= SHORTEST_BROKEN
            && !before.body.ends_with(['.', '!', '?', ':'])
            && before.is_comment == self.is_comment;
        let is_new = self.body.is_empty()
            || self.is_banner
            || (breaks == Break::Capital && !self.body.starts_with(char::is_lowercase));
        is_broken && !is_new
    }
}

fn append(sentence: &mut String, part: &str) {
    let room = LONGEST.saturating_sub(sentence.len());
    sentence.push_str(super::split::head(part, room));
}

fn keep(found: &mut Vec<String>, sentence: &mut String) {
    if sentence.chars().any(char::is_alphanumeric) {
        found.push(std::mem::take(sentence));
    } else {
        sentence.clear();
    }
}

fn is_refused(words: &[&str]) -> bool {
    let words = without_openers(words);
    let begun = REFUSED.iter().find_map(|phrase| length_of(words, phrase));
    begun.is_some_and(|length| !is_conditional(words, 0, length)) || is_one(words, REFUSED_ALONE)
}

fn has_refused(words: &[&str], name: &[String]) -> bool {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let verb = |list: &[&str]| {
        words
            .iter()
            .position(|word| list.contains(word))
            .filter(|at| !is_conditional(words, *at, 1))
    };
    let is_over = verb(&["exceeded", "exhausted", "surpassed"]).is_some() && has(COUNTED);
    let is_full =
        verb(&["reached", "passed"]).is_some() && has(&["limit", "limits", "quota", "maximum"]);
    is_over
        || is_full
        || (withheld(words, name)..words.len()).any(|at| {
            let found = REFUSED_ANYWHERE.iter().find_map(|phrase| length_of(&words[at..], phrase));
            found.is_some_and(|length| !is_conditional(words, at, length))
        })
}

/// How many of the words say that the domain, and not the client, is blocked: only if the sentence
/// begins so, otherwise none.
fn withheld(words: &[&str], name: &[String]) -> usize {
    let (subject, said) = subject(without_openers(words), name);
    let phrase = RESERVED.iter().find_map(|phrase| length_of(said, phrase));
    let length = phrase.or_else(|| is_one(said, RESERVED_ALONE).then_some(said.len()));
    match length.filter(|_| subject.is_domain_name && !subject.is_other) {
        Some(length) => words.len() - said.len() + length,
        None => 0,
    }
}

/// "Domain unknown", "Unknown domain: example.com": about anything else it says nothing of the
/// name.
fn is_unknown(words: &[&str], name: &[String]) -> bool {
    let (before, said) = subject(without_openers(words), name);
    let Some((&UNKNOWN, behind)) = said.split_first() else { return false };
    let (behind, rest) = subject(behind, name);
    let is_domain = before.is_domain || behind.is_domain;
    rest.is_empty() && is_domain && !before.is_other && !behind.is_other
}

/// Terms of use speak of what may happen, an answer of what has happened: whether the words
/// before, or the two behind, make a rule of what stands at this place.
fn is_conditional(words: &[&str], at: usize, length: usize) -> bool {
    is_under(words, at, length, CONDITIONS)
}

/// The same of a list of phrases.
fn is_under(words: &[&str], at: usize, length: usize, rules: &[&str]) -> bool {
    let is_rule = |from: usize| words.get(from..).is_some_and(|rest| begins(rest, rules));
    let end = at + length;
    // "Limit exceeded: you may try again" is no rule.
    let most = if words.get(end) == Some(&"you") { 1 } else { 2 };
    (0..at).any(is_rule) || (end..end + most).any(is_rule)
}

/// The number of words of a phrase that these words begin with.
fn length_of(words: &[&str], phrase: &str) -> Option<usize> {
    let mut rest = words.iter();
    let mut length = 0;
    for part in phrase.split(' ') {
        if rest.next() != Some(&part) {
            return None;
        }
        length += 1;
    }
    Some(length)
}

fn without_openers<'w>(words: &'w [&'w str]) -> &'w [&'w str] {
    let start = words.iter().position(|word| !is_number(word) && !OPENERS.contains(word));
    start.and_then(|start| words.get(start..)).unwrap_or_default()
}

/// What a sentence is about.
#[derive(Clone, Copy, Debug, Default)]
struct Subject {
    /// The domain, called so or by its name.
    is_domain: bool,
    /// The same, or "the name".
    is_domain_name: bool,
    is_other: bool,
}

/// What is said of the name: the sentence without what it is about.
fn without_subject<'w>(words: &'w [&'w str], name: &[String]) -> &'w [&'w str] {
    subject(words, name).1
}

/// What the sentence is about, and what it says of that.
fn subject<'w>(words: &'w [&'w str], name: &[String]) -> (Subject, &'w [&'w str]) {
    let mut subject = Subject::default();
    let mut rest = words;
    while let Some(first) = rest.first() {
        let is_name = !name.is_empty()
            && rest.len() >= name.len()
            && rest.iter().zip(name).all(|(word, part)| word == part);
        if is_name {
            subject.is_domain = true;
            rest = rest.get(name.len()..).unwrap_or_default();
        } else if is_number(first) || SUBJECTS.contains(first) || OPENERS.contains(first) {
            subject.is_domain |= DOMAIN.contains(first);
            subject.is_domain_name |= DOMAIN_NAME.contains(first);
            subject.is_other |= OTHERS.contains(first);
            rest = rest.get(1..).unwrap_or_default();
        } else {
            break;
        }
    }
    subject.is_domain_name |= subject.is_domain;
    (subject, rest)
}

fn begins(words: &[&str], phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| length_of(words, phrase).is_some())
}

fn is_one(words: &[&str], phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| phrase.split(' ').eq(words.iter().copied()))
}

fn is_number(word: &str) -> bool {
    word.chars().all(|char| char.is_ascii_digit())
}

const ENDS_SENTENCE: [char; 3] = ['.', '!', '?'];
/// Lines shorter than this were ended by their writer, not by a margin.
const SHORTEST_BROKEN: usize = 48;
const MOST_LINES: usize = 8_192;
const MOST_SENTENCES: usize = 2_048;
const LONGEST: usize = 512;
const MOST_WORDS: usize = 60;
