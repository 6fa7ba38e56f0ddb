//! How an answer is laid out: entries of a label and its values, in blocks and paragraphs.
//!
//! The grammars in use are read by one set of rules: `key: value` with any leader of dots, tabs
//! or stars; `[Key] value`; `key` and value in columns, where the key is known; a sentence such as
//! `Record expires on 2030-04-02.`; headers, with or without a colon, over deeper lines or over
//! the lines up to the next blank one; objects of attributes (RPSL), parted by blank lines.
//!
//! *Invariant:* comments, rules and legal text become no entries.
//! *Invariant:* one pass; at most [`MOST_LINES`] lines and [`MOST_ENTRIES`] entries.

use super::label::{Label, Meaning};
use super::split::{Line, is_host, known_block, split};

/// A label, what it says, and where it stands.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) meaning: Meaning,
    pub(super) key: &'a str,
    /// The text beside the key, and the lines below that belong to it. None is empty.
    pub(super) values: Vec<&'a str>,
    pub(super) indent: usize,
    /// Lines above it.
    pub(super) line: usize,
    /// The block it stands in: the index of the entry that heads it.
    pub(super) block: Option<usize>,
    /// Entries without a blank line between them have one number.
    pub(super) paragraph: usize,
    /// It heads a block: nothing stood beside its key.
    pub(super) is_header: bool,
}

impl Entry<'_> {
    pub(super) fn label(&self) -> Label {
        self.meaning.label
    }
}

/// The entries of an answer, in its order.
pub(super) fn lay_out(text: &str) -> Vec<Entry<'_>> {
    let mut lines = text.split(line_end(text)).take(MOST_LINES).map(Line::new).peekable();
    let mut layout = Layout::default();
    while let Some(line) = lines.next() {
        if layout.entries.len() >= MOST_ENTRIES {
            break;
        }
        let is_next_deeper = lines.peek().is_some_and(|next| next.indent > line.indent);
        layout.add(&line, is_next_deeper);
        layout.line += 1;
    }
    layout.entries
}

/// The text before a line, and from there on.
pub(super) fn parted(text: &str, line: usize) -> (&str, &str) {
    let length: usize = text.split_inclusive(line_end(text)).take(line).map(str::len).sum();
    text.split_at(length)
}

/// A lone carriage return ends a line only where nothing else does.
fn line_end(text: &str) -> char {
    if text.contains('\n') { '\n' } else { '\r' }
}

#[derive(Default)]
struct Layout<'a> {
    entries: Vec<Entry<'a>>,
    /// The blocks that are open, outermost first.
    open: Vec<Block>,
    /// Lines so far.
    line: usize,
    /// Blank lines and comments since the last line.
    blanks: usize,
    paragraph: usize,
}

struct Block {
    entry: usize,
    indent: usize,
    /// Entries at the indent of the header belong to it: no blank line came since its first.
    is_flush: bool,
    /// No blank line came since the header.
    is_unbroken: bool,
    has_body: bool,
}

impl<'a> Layout<'a> {
    fn add(&mut self, line: &Line<'a>, is_next_deeper: bool) {
        if line.body.is_empty() {
            self.pass_blank();
            return;
        }
        if let Some(comment) = line.comment() {
            self.pass_blank();
            // Objects under a heading that is a comment: "% Registrar:".
            if let Some(key) = comment.trim().strip_suffix(':')
                && let Some(meaning) = known_block(key.trim())
            {
                self.push(meaning, key.trim(), None, 0, true);
            }
            return;
        }
        match split(line.body) {
            Some((key, value)) => {
                let meaning = Meaning::of(key);
                // "[Registrar]" heads what follows, and ends what came before.
                let is_tag = line.is_tag();
                if is_tag {
                    self.open.clear();
                }
                let heads =
                    value.is_empty() && (is_next_deeper || is_tag || can_head(meaning.label));
                self.push(meaning, key, Some(value), line.indent, heads);
            }
            None => match known_block(line.body) {
                Some(meaning) if !self.continues(line) => {
                    self.push(meaning, line.body, None, line.indent, true);
                }
                _ => self.attach(line),
            },
        }
        self.blanks = 0;
    }

    fn pass_blank(&mut self) {
        if self.blanks == 0 {
            self.paragraph += 1;
        }
        self.blanks += 1;
        for block in &mut self.open {
            block.is_flush &= !block.has_body;
            block.is_unbroken = false;
        }
    }

    fn push(
        &mut self,
        meaning: Meaning,
        key: &'a str,
        value: Option<&'a str>,
        indent: usize,
        is_header: bool,
    ) {
        while let Some(block) = self.open.last() {
            let is_inside = indent > block.indent;
            let is_flush = indent == block.indent && block.is_flush && is_attribute(meaning.label);
            if is_inside || (is_flush && !is_header) {
                break;
            }
            self.open.pop();
        }
        if let Some(block) = self.open.last_mut() {
            block.has_body = true;
        }
        let index = self.entries.len();
        self.entries.push(Entry {
            meaning,
            key,
            values: value.filter(|value| !value.is_empty()).into_iter().collect(),
            indent,
            line: self.line,
            block: self.open.last().map(|block| block.entry),
            paragraph: self.paragraph,
            is_header,
        });
        if is_header {
            // Deeper nesting than anybody writes is not followed.
            if self.open.len() >= DEEPEST {
                self.open.pop();
            }
            self.open.push(Block {
                entry: index,
                indent,
                is_flush: true,
                is_unbroken: true,
                has_body: false,
            });
        }
    }

    /// Whether a line without a key is more of the value above it, by its indent.
    fn continues(&self, line: &Line<'_>) -> bool {
        self.blanks == 0 && self.entries.last().is_some_and(|last| line.indent > last.indent)
    }

    /// Gives a line without a key to the entry that it continues. Prose finds none.
    fn attach(&mut self, line: &Line<'a>) {
        let Some(last) = self.entries.len().checked_sub(1) else { return };
        let candidates = self.open.iter().rev().map(|block| (block.entry, block.is_unbroken));
        let home = std::iter::once((last, false))
            .chain(candidates)
            .find(|(index, is_unbroken)| {
                self.entries.get(*index).is_some_and(|entry| self.takes(entry, line, *is_unbroken))
            })
            .map(|(index, _)| index);
        let Some(entry) = home.and_then(|index| self.entries.get_mut(index)) else { return };
        if entry.values.len() < MOST_VALUES {
            entry.values.push(line.body);
        }
        for block in self.open.iter_mut().filter(|block| Some(block.entry) == home) {
            block.has_body = true;
        }
    }

    /// Whether a line belongs to an entry above it; `is_unbroken` where no blank line came since.
    fn takes(&self, entry: &Entry<'_>, line: &Line<'_>, is_unbroken: bool) -> bool {
        let is_deeper = line.indent > entry.indent;
        let is_servers =
            entry.is_header && entry.label() == Label::NameServers && is_host(line.body);
        match self.blanks {
            0 if is_deeper => true,
            // Lines right under a header, at its own indent.
            0 => line.indent == entry.indent && (is_unbroken || is_servers),
            // A block may begin after a blank line; a list of servers may have one inside.
            1 => is_servers || (entry.is_header && is_deeper && entry.values.is_empty()),
            _ => false,
        }
    }
}

/// Labels that head a block when nothing stands beside them.
fn can_head(label: Label) -> bool {
    matches!(
        label,
        Label::Domain
            | Label::Expiry(_)
            | Label::Created
            | Label::Updated
            | Label::Registrar
            | Label::NameServers
            | Label::Status
            | Label::Flags
            | Label::Registrant
            | Label::Contact
    )
}

/// Labels that say something about the block they stand in, and so may stand in one at the
/// header's own indent. The others begin something new there.
fn is_attribute(label: Label) -> bool {
    matches!(
        label,
        Label::Name
            | Label::Organization
            | Label::Email
            | Label::Person
            | Label::Handle
            | Label::HostName
            | Label::State
            | Label::Other
    )
}

/// Lines that are looked at; no registry's answer has as many.
const MOST_LINES: usize = 8_192;
const MOST_ENTRIES: usize = 4_096;
/// Lines that belong to one entry.
const MOST_VALUES: usize = 64;
const DEEPEST: usize = 8;
