//! Tokens, one by one: which are kept where, and how each is written.
//!
//! *Invariant:* what is written reads back as the same tokens, and is then written the same.

use std::fmt::Write;

use cssparser::{CssStringWriter, ParseError, Parser, ToCss, Token, serialize_identifier};

use super::function::{ATTRIBUTE, SELECTOR, is_known};

/// Where tokens stand: each place knows its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Of a property, custom ones too.
    Value,
    /// Of the property `content`.
    Content,
    Selector,
    /// In the brackets of a selector.
    Brackets,
    /// The argument of a selector's function.
    Argument,
    /// One name alone.
    Name,
    Media,
    Supports,
}

/// Writes all that is left of a list of tokens, without blanks at its ends. One token that has no
/// place there, and nothing is kept.
pub(super) fn written(input: &mut Parser<'_>, place: Place) -> Result<String, ParseError<()>> {
    let mut writer = Writer { text: String::new(), gap: Gap::None, after_less: false };
    writer.copy(input, place)?;
    Ok(writer.text)
}

struct Writer {
    text: String,
    /// What stands between the last token and the next.
    gap: Gap,
    after_less: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    /// Keeps two tokens apart without being a blank.
    Comment,
    Blank,
}

impl Writer {
    fn copy(&mut self, input: &mut Parser<'_>, place: Place) -> Result<(), ParseError<()>> {
        let outset = self.text.len();
        self.gap = Gap::None;
        loop {
            let start = input.position();
            let Ok(token) = input.next_including_whitespace_and_comments() else { break };
            let token = token.clone();
            let gap = match &token {
                Token::WhiteSpace(_) => Gap::Blank,
                Token::Comment(_) => Gap::Comment,
                _ => Gap::None,
            };
            if gap != Gap::None {
                self.gap = self.gap.max(gap);
                continue;
            }
            let source = input.slice_from(start);
            let is_second = place == Place::Name && self.text.len() > outset;
            if is_second || !is_at_home(&token, source, place) {
                return Err(ParseError::unexpected_token());
            }
            self.close_gap(&token, outset);
            self.token(&token, source);
            if let Some((close, inside)) = block(&token, place) {
                input.parse_nested_block(|input| self.copy(input, inside))?;
                self.text.push(close);
            }
        }
        if self.after_less {
            self.text.push(' ');
        }
        self.gap = Gap::None;
        self.after_less = false;
        Ok(())
    }

    /// Writes what keeps the next token apart; nothing at the beginning of a list.
    fn close_gap(&mut self, next: &Token<'_>, outset: usize) {
        let apart = self.after_less && !matches!(next, Token::Delim('='));
        if self.text.len() > outset || apart {
            match self.gap {
                Gap::Blank => self.text.push(' '),
                _ if apart => self.text.push(' '),
                Gap::Comment => self.text.push_str("/**/"),
                Gap::None => {}
            }
        }
        self.gap = Gap::None;
        self.after_less = matches!(next, Token::Delim('<'));
    }

    /// Writing into a text cannot fail.
    fn token(&mut self, token: &Token<'_>, source: &str) {
        let text = &mut self.text;
        match token {
            Token::QuotedString(value) => write_string(value, text),
            Token::Function(name) => {
                let _ = serialize_identifier(&name.to_ascii_lowercase(), text);
                text.push('(');
            }
            // As they were: a number that is read and written may lose digits.
            Token::Number { .. } | Token::Percentage { .. } | Token::Dimension { .. } => {
                text.push_str(source);
            }
            Token::Ident(_) | Token::Hash(_) | Token::IDHash(_) => {
                text.push_str(&disarmed(&token.to_css_string()));
            }
            other => {
                let _ = other.to_css(text);
            }
        }
    }
}

/// A string of the same value in which no markup, rule or function begins, whoever reads it.
fn write_string(value: &str, text: &mut String) {
    text.push('"');
    for piece in value.split_inclusive(|c| ESCAPES.iter().any(|(active, _)| *active == c)) {
        let escape = ESCAPES.iter().find(|(active, _)| piece.ends_with(*active));
        let plain = escape.map_or(piece, |(active, _)| piece.trim_end_matches(*active));
        let _ = CssStringWriter::new(text).write_str(plain);
        if let Some((_, escape)) = escape {
            text.push_str(escape);
        }
    }
    text.push('"');
}

/// A written name in which a backslash stands before no such character: by its number instead.
pub(super) fn disarmed(name: &str) -> String {
    ESCAPES.iter().fold(name.to_owned(), |name, (active, escape)| {
        name.replace(&format!("\\{active}"), escape)
    })
}

/// The end of the block that a token opens, and what its content is.
fn block(token: &Token<'_>, place: Place) -> Option<(char, Place)> {
    match token {
        Token::Function(name)
            if place == Place::Supports && name.eq_ignore_ascii_case(SELECTOR) =>
        {
            Some((')', Place::Selector))
        }
        Token::Function(_) if matches!(place, Place::Selector | Place::Argument) => {
            Some((')', Place::Argument))
        }
        Token::Function(name) if name.eq_ignore_ascii_case(ATTRIBUTE) => Some((')', Place::Name)),
        // What is inside a function is no longer the content itself.
        Token::Function(_) if place == Place::Content => Some((')', Place::Value)),
        Token::Function(_) | Token::ParenthesisBlock => Some((')', place)),
        Token::SquareBracketBlock if matches!(place, Place::Selector | Place::Argument) => {
            Some((']', Place::Brackets))
        }
        Token::SquareBracketBlock => Some((']', place)),
        _ => None,
    }
}

fn is_at_home(token: &Token<'_>, source: &str, place: Place) -> bool {
    use Place as P;
    let is_selector = matches!(place, P::Selector | P::Argument);
    let is_value = matches!(place, P::Value | P::Content);
    match token {
        // Before a `>` it would end a comment of markup.
        Token::Ident(name) => &**name != "--",
        Token::Hash(_) | Token::IDHash(_) => is_selector || is_value || place == P::Supports,
        Token::QuotedString(_) => !matches!(place, P::Media | P::Selector | P::Name),
        Token::Delim(delim) => delims(place).contains(*delim),
        // An escape in a unit could make it an exponent.
        Token::Number { .. } | Token::Percentage { .. } | Token::Dimension { .. } => {
            !matches!(place, P::Selector | P::Brackets | P::Name) && !source.contains(['\\', '\0'])
        }
        Token::Colon => is_selector || matches!(place, P::Media | P::Supports),
        Token::Comma => !matches!(place, P::Brackets | P::Name),
        Token::IncludeMatch
        | Token::DashMatch
        | Token::PrefixMatch
        | Token::SuffixMatch
        | Token::SubstringMatch => place == P::Brackets,
        Token::Function(name) => is_known(&name.to_ascii_lowercase(), place),
        Token::ParenthesisBlock => is_value || matches!(place, P::Media | P::Supports),
        Token::SquareBracketBlock => is_value || is_selector,
        _ => false,
    }
}

fn delims(place: Place) -> &'static str {
    match place {
        Place::Value | Place::Content => "+-*/!",
        Place::Selector => ".>+~*&|",
        Place::Argument => ".>+~*&|-",
        Place::Brackets => "=|*",
        Place::Name => "",
        Place::Media => "<>=+-*/",
        Place::Supports => "+-*/!",
    }
}

/// What begins markup, a rule or a function, and how it is written where it is text: with the blank
/// that ends the escape.
const ESCAPES: [(char, &str); 3] = [('<', "\\3c "), ('@', "\\40 "), ('(', "\\28 ")];
