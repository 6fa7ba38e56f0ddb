//! Which entries are about the name that was asked for.
//!
//! Answers hold several objects: contacts, sets of servers, hosts with the name inside theirs,
//! now and then other domains. What they say about dates and registrars is theirs.

use super::label::Label;
use super::layout::Entry;
use super::split::host;
use crate::name::a_labels;

/// The entries of an answer and what they are about.
pub(super) struct Objects<'e, 'a> {
    name: &'e str,
    pub(super) entries: &'e [Entry<'a>],
    /// Per entry: it stands in the object of the domain, not in that of another.
    of_domain: Vec<bool>,
    /// Per paragraph: it is an object about a person, a company, servers or keys.
    is_other: Vec<bool>,
    /// Per paragraph: the header that begins it.
    headings: Vec<Option<Label>>,
    pub(super) naming: Naming,
}

/// What the answer calls its domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// The name that was asked for.
    Asked,
    /// Another name, and only that.
    Other,
    Nothing,
}

impl<'e, 'a> Objects<'e, 'a> {
    pub(super) fn new(entries: &'e [Entry<'a>], name: &'e str) -> Objects<'e, 'a> {
        let names: Vec<Option<bool>> = entries.iter().map(|entry| names(entry, name)).collect();
        let is_asked = names.contains(&Some(true));
        let naming = match (is_asked, names.contains(&Some(false))) {
            (true, _) => Naming::Asked,
            (false, true) => Naming::Other,
            (false, false) => Naming::Nothing,
        };
        let mut is_current = true;
        let of_domain = entries
            .iter()
            .zip(&names)
            .map(|(entry, names)| {
                if is_asked {
                    is_current = names.unwrap_or(is_current && entry.label() != Label::Host);
                }
                is_current
            })
            .collect();
        let (is_other, headings) = paragraphs(entries, &names);
        Objects { name, entries, of_domain, is_other, headings, naming }
    }

    /// The line with which the record begins: its name, or who keeps it.
    pub(super) fn begins(&self) -> Option<usize> {
        let begins =
            |label: Label| matches!(label, Label::Domain | Label::Registrar | Label::NameServers);
        self.all().find(|(_, entry)| begins(entry.label())).map(|(_, entry)| entry.line)
    }

    /// Whether this is the name that was asked for.
    pub(super) fn is_asked(&self, host: &str) -> bool {
        a_labels(host) == self.name
    }

    /// Entries about the domain, its server sets included.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, &'e Entry<'a>)> {
        self.entries
            .iter()
            .enumerate()
            .filter(|(index, _)| self.of_domain.get(*index).copied().unwrap_or(false))
    }

    /// Entries about the domain itself.
    pub(super) fn own(&self) -> impl Iterator<Item = (usize, &'e Entry<'a>)> {
        self.all()
            .filter(|(_, entry)| !self.is_other.get(entry.paragraph).copied().unwrap_or(false))
    }

    /// The block that an entry stands in, innermost first.
    pub(super) fn blocks(&self, entry: &Entry<'a>) -> impl Iterator<Item = &'e Entry<'a>> {
        let find = |index: Option<usize>| index.and_then(|index| self.entries.get(index));
        // A header comes before its block, so this ends.
        std::iter::successors(find(entry.block), move |block| find(block.block))
    }

    /// Whether an entry is about a contact or server: it stands in such a block. After a blank line
    /// an indented one may be the domain's own again.
    pub(super) fn is_of_contact(&self, entry: &Entry<'a>) -> bool {
        self.blocks(entry)
            .any(|block| block.paragraph == entry.paragraph && is_contact(block.label()))
    }

    /// The label of the header over the paragraph of an entry, if it has one.
    pub(super) fn heading(&self, entry: &Entry<'a>) -> Option<Label> {
        self.headings.get(entry.paragraph).copied().flatten()
    }

    /// What an entry is about: the label of its block, else of the header over its paragraph.
    pub(super) fn subject(&self, entry: &Entry<'a>) -> Option<Label> {
        let block = self.blocks(entry).next().map(Entry::label);
        block.or_else(|| self.heading(entry))
    }
}

pub(super) fn is_contact(label: Label) -> bool {
    matches!(label, Label::Registrar | Label::Registrant | Label::Contact | Label::NameServers)
}

/// Whether an entry names this domain (`true`) or another (`false`).
fn names(entry: &Entry<'_>, name: &str) -> Option<bool> {
    if entry.label() != Label::Domain {
        return None;
    }
    let value = entry.values.first()?;
    // The zone above it, as the root or a parent registry answers.
    let is_above = |value: &str| {
        let value = value.trim_end_matches('.').to_ascii_lowercase();
        name.strip_suffix(&value).is_some_and(|child| child.ends_with('.'))
    };
    if is_above(value) {
        return Some(false);
    }
    let mut hosts = value
        .split(|char: char| char.is_whitespace() || matches!(char, '(' | ')' | '[' | ']' | ','))
        .take(MOST_TOKENS)
        .filter_map(host)
        .peekable();
    hosts.peek()?;
    Some(name.is_empty() || hosts.any(|host| a_labels(&host) == name))
}

/// Per paragraph, whether it is the object of somebody else (it begins with the handle of a
/// person or the name of a set, and does not name the domain), and the header that begins it.
fn paragraphs(entries: &[Entry<'_>], names: &[Option<bool>]) -> (Vec<bool>, Vec<Option<Label>>) {
    let count = entries.last().map_or(0, |entry| entry.paragraph + 1);
    let mut is_other = vec![false; count];
    let mut headings = vec![None; count];
    let mut begun = None;
    for (entry, names) in entries.iter().zip(names) {
        let paragraph = entry.paragraph;
        if begun != Some(paragraph) {
            begun = Some(paragraph);
            is_other[paragraph] = entry.block.is_none()
                && !entry.values.is_empty()
                && (matches!(entry.label(), Label::Handle | Label::Set | Label::Person)
                    || entry.meaning.is_foreign);
            headings[paragraph] = entry.is_header.then(|| entry.label());
        }
        if *names == Some(true) {
            is_other[paragraph] = false;
        }
    }
    (is_other, headings)
}

const MOST_TOKENS: usize = 8;
