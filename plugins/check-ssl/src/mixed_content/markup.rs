//! HTML as a stream of the few things that the scan looks at.

use html5gum::{
    Span, State, StringReader, Tokenizer,
    emitters::callback::{Callback, CallbackEmitter, CallbackEvent},
    naive_next_state,
};

/// A piece of a document. Text appears only inside `<style>`; comments, script text and what
/// browsers with scripting never show (`<noscript>`) do not appear at all.
#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    Start(Tag),
    /// The name.
    End(String),
    Style(String),
    /// The document takes more work than a page is worth; said once, and what follows means nothing.
    TooMuch,
}

/// A start tag, its names in lower case and its values with entities decoded.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tag {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
    self_closing: bool,
}

/// The pieces of a document, in order.
pub(super) struct Markup<'a> {
    tokenizer: Tokenizer<StringReader<'a>, CallbackEmitter<Collector, Piece>>,
    xhtml: bool,
}

impl<'a> Markup<'a> {
    /// In XHTML `<script/>` and the like are closed at once.
    pub(super) fn new(text: &'a str, xhtml: bool) -> Self {
        let emitter = CallbackEmitter::new(Collector::default());
        Self { tokenizer: Tokenizer::new_with_emitter(text, emitter), xhtml }
    }
}

impl Iterator for Markup<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let Ok(piece) = self.tokenizer.next()?;
        if let Piece::Start(tag) = &piece
            && !(self.xhtml && tag.self_closing)
            && let Some(state) = content_state(&tag.name)
        {
            self.tokenizer.set_state(state);
        }
        Some(piece)
    }
}

impl Tag {
    /// The first attribute of that name; `""` where it has no value.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        attributes.find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// How the content of an element is to be read, where it is no markup.
fn content_state(name: &str) -> Option<State> {
    if name == "noframes" { Some(State::RawText) } else { naive_next_state(name.as_bytes()) }
}

/// Attributes that a rule of the scan reads; the others are not kept.
const READ: &[&str] = &[
    "action",
    "content",
    "data",
    "formaction",
    "href",
    "http-equiv",
    "poster",
    "rel",
    "src",
    "srcset",
    "style",
    "type",
];

/// Tags, attributes, comments and mistakes of one document. It keeps a hostile page within half the
/// CPU time of a run, since others may slow the machine down: the text between costs next to nothing.
/// Large pages that people write have a tenth of it.
const MAX_EVENTS: u32 = 100_000;

/// What a `style` attribute counts beside itself: each is a sheet of its own.
const STYLE_EVENTS: u32 = 4;

/// Bytes of a sheet, or of a list of images, that count like one event: they are read on their own.
const READ_BYTES: usize = 8;

/// Longer values are cut, in bytes: they would be held twice.
const MAX_VALUE: usize = 64 << 10;

/// Puts the tokenizer's events together.
#[derive(Debug, Default)]
struct Collector {
    tag: Tag,
    /// Inside a start tag: end tags may carry attributes too, which mean nothing.
    open: bool,
    /// The attribute being read is kept.
    kept: bool,
    in_style: bool,
    events: u32,
    /// The tokenizer reads on for as long as nothing changes, and would keep whatever it is given.
    said_too_much: bool,
}

impl Callback<Piece, ()> for Collector {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Piece> {
        self.events = self.events.saturating_add(self.weight(&event));
        if self.events > MAX_EVENTS {
            let said = std::mem::replace(&mut self.said_too_much, true);
            return (!said).then_some(Piece::TooMuch);
        }
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = Tag { name: text(name), ..Tag::default() };
                self.open = true;
                None
            }
            CallbackEvent::AttributeName { name } => {
                self.start_attribute(name);
                None
            }
            CallbackEvent::AttributeValue { value } => {
                if let Some((_, kept)) = self.tag.attributes.last_mut().filter(|_| self.kept) {
                    *kept = text(&value[..value.len().min(MAX_VALUE)]);
                }
                None
            }
            CallbackEvent::CloseStartTag { self_closing } => {
                self.open = false;
                self.tag.self_closing = self_closing;
                self.in_style = self.tag.name == "style";
                Some(Piece::Start(std::mem::take(&mut self.tag)))
            }
            CallbackEvent::EndTag { name } => {
                self.in_style = false;
                Some(Piece::End(text(name)))
            }
            CallbackEvent::String { value } => self.in_style.then(|| Piece::Style(text(value))),
            CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => None,
        }
    }
}

impl Collector {
    /// How much work an event makes: a value that is a sheet or a list is read to its end.
    fn weight(&self, event: &CallbackEvent<'_>) -> u32 {
        let is_read = |(name, _): &(String, String)| matches!(name.as_str(), "style" | "srcset");
        let read = match event {
            CallbackEvent::String { value } if self.in_style => value.len(),
            CallbackEvent::AttributeValue { value }
                if self.kept && self.tag.attributes.last().is_some_and(is_read) =>
            {
                value.len().min(MAX_VALUE)
            }
            _ => 0,
        };
        u32::try_from(read / READ_BYTES).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Of two attributes with one name the first counts.
    fn start_attribute(&mut self, name: &[u8]) {
        let read = READ.iter().find(|read| read.as_bytes() == name);
        let new = read.filter(|read| self.open && self.tag.attribute(read).is_none());
        self.kept = new.is_some();
        if new.is_some_and(|name| *name == "style") {
            self.events = self.events.saturating_add(STYLE_EVENTS);
        }
        self.tag.attributes.extend(new.map(|name| ((*name).to_owned(), String::new())));
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(html: &str, xhtml: bool) -> Vec<String> {
        let shown = |piece| match piece {
            Piece::Start(tag) => {
                let attributes: Vec<String> =
                    tag.attributes.iter().map(|(key, value)| format!(" {key}={value}")).collect();
                format!("<{}{}>", tag.name, attributes.concat())
            }
            Piece::End(name) => format!("</{name}>"),
            Piece::Style(css) => css,
            Piece::TooMuch => "too much".to_owned(),
        };
        Markup::new(html, xhtml).map(shown).collect()
    }

    #[test]
    fn tags_are_lower_case_and_values_decoded() {
        assert_eq!(
            pieces("a<IMG SRC='x?a=1&amp;b=2' ALT=x src=y TYPE>b</Img SRC=z>", false),
            ["<img src=x?a=1&b=2 type=>", "</img>"],
        );
    }

    #[test]
    fn text_is_seen_in_styles_alone() {
        let html = "<title><img src=1></title><script>'<img src=2>'</script><style>p{}</style>\
            <textarea><img src=3></textarea><noscript><img src=4></noscript><!-- <img src=5> -->\
            <noframes><img src=6></noframes><iframe><img src=7></iframe>";
        let seen = pieces(html, false).concat();
        assert!(!seen.contains("<img"), "{seen}");
        assert!(seen.contains("<style>p{}</style>"), "{seen}");
    }

    #[test]
    fn too_much_is_said_once() {
        for mistake in ["\0", "\u{1}"] {
            let page = mistake.repeat(MAX_EVENTS as usize + 1_000);
            assert_eq!(pieces(&page, false), ["too much"], "{mistake:?}");
        }
    }

    #[test]
    fn self_closing_script_ends_at_once_in_xhtml_alone() {
        let page = "<script src='a'/><img src='b'/>";
        assert_eq!(pieces(page, true), ["<script src=a>", "<img src=b>"]);
        assert_eq!(pieces(page, false), ["<script src=a>"]);
    }
}
