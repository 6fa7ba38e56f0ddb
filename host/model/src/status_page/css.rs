//! The account's own style sheet, made harmless before the status page serves it.
//!
//! The text is parsed as a browser would parse it and written anew from what is known to be
//! harmless: style rules, `@media` and `@supports`, with declarations of known functions. What is
//! not known is left out, the declaration or the rule as a whole, as a browser does with what it
//! does not know. So no spelling brings back what was taken out: escapes were read, blocks and
//! strings are closed.
//!
//! *Invariant:* the sheet asks for nothing: no `url()` by any name, no import, no font.
//! *Invariant:* a `<` stands before a blank or a `=` only: no markup begins with it.
//! *Invariant:* what was cleaned is clean: cleaning it again changes nothing.

mod function;
mod token;

use cssparser::{
    AtRuleParser, CowRcStr, DeclarationParser, ParseError, Parser, ParserState,
    QualifiedRuleParser, RuleBodyItemParser, RuleBodyParser, StyleSheetParser,
    serialize_identifier, serialize_name,
};

use self::token::{Place, written};

/// The harmless part of a style sheet, a rule a line; at most twice as long as the text, and
/// 40 KiB. What would be more is left out, rule by rule from the end.
pub fn clean(text: &str) -> String {
    let most = LONGEST.min(text.len() * 2);
    let mut input = Parser::new(text);
    let mut rules = Rules { in_style: false };
    let mut sheet = String::new();
    for rule in StyleSheetParser::new(&mut input, &mut rules).flatten() {
        if sheet.len() + rule.len() + 1 > most {
            break;
        }
        if !rule.is_empty() {
            sheet.push_str(&rule);
            sheet.push('\n');
        }
    }
    sheet
}

/// Reads rules, and within a style rule its declarations too.
struct Rules {
    in_style: bool,
}

/// Why something is left out is nobody's to know.
type Kept<T> = Result<T, ParseError<()>>;

impl Rules {
    /// The kept content of a block; empty when there is none.
    fn block(mut self, input: &mut Parser<'_>) -> String {
        RuleBodyParser::new(input, &mut self).flatten().collect()
    }
}

impl<'i> QualifiedRuleParser<'i> for Rules {
    type Prelude = String;
    type QualifiedRule = String;
    type Error = ();

    fn parse_prelude(&mut self, input: &mut Parser<'i>) -> Kept<String> {
        let selector = written(input, Place::Selector)?;
        if selector.is_empty() { Err(ParseError::unexpected_token()) } else { Ok(selector) }
    }

    fn parse_block(
        &mut self,
        selector: String,
        _start: &ParserState,
        input: &mut Parser<'i>,
    ) -> Kept<String> {
        let body = Self { in_style: true }.block(input);
        Ok(if body.is_empty() { body } else { format!("{selector}{{{body}}}") })
    }
}

impl<'i> AtRuleParser<'i> for Rules {
    type Prelude = String;
    type AtRule = String;
    type Error = ();

    fn parse_prelude(&mut self, name: CowRcStr<'i>, input: &mut Parser<'i>) -> Kept<String> {
        if name.eq_ignore_ascii_case("media") {
            return Ok(format!("@media {}", written(input, Place::Media)?));
        }
        if name.eq_ignore_ascii_case("supports") {
            return Ok(format!("@supports {}", written(input, Place::Supports)?));
        }
        Err(ParseError::unexpected_token())
    }

    fn parse_block(
        &mut self,
        prelude: String,
        _start: &ParserState,
        input: &mut Parser<'i>,
    ) -> Kept<String> {
        let body = Self { in_style: self.in_style }.block(input);
        Ok(if body.is_empty() { body } else { format!("{prelude}{{{body}}}") })
    }
}

impl<'i> DeclarationParser<'i> for Rules {
    type Declaration = String;
    type Error = ();

    fn parse_value(
        &mut self,
        name: CowRcStr<'i>,
        input: &mut Parser<'i>,
        _start: &ParserState,
    ) -> Kept<String> {
        let refused = || ParseError::unexpected_token();
        if let Some(custom) = name.strip_prefix("--").filter(|custom| !custom.is_empty()) {
            let mut declaration = "--".to_owned();
            // What is written into a text cannot fail.
            let _ = serialize_name(custom, &mut declaration);
            let declaration = token::disarmed(&declaration);
            let value = written(input, Place::Value)?;
            // Nothing at all is a value of such a property.
            let value = if value.is_empty() { " " } else { &value };
            return Ok(format!("{declaration}:{value};"));
        }
        let name = name.to_ascii_lowercase();
        if !is_property(&name) {
            return Err(refused());
        }
        let place = if name == "content" { Place::Content } else { Place::Value };
        let value = written(input, place)?;
        if value.is_empty() {
            return Err(refused());
        }
        let mut declaration = String::new();
        let _ = serialize_identifier(&name, &mut declaration);
        Ok(format!("{declaration}:{value};"))
    }
}

impl RuleBodyItemParser<'_, String, ()> for Rules {
    fn parse_declarations(&self) -> bool {
        self.in_style
    }

    fn parse_qualified(&self) -> bool {
        true
    }
}

/// Whether a name in lower case may be one of a property that styles and does nothing else. Every
/// engine that knew the others is gone; they are left out all the same.
fn is_property(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && !name.starts_with("--")
        && !ACTIVE.contains(&name)
        && !name.starts_with("-o-")
}

const ACTIVE: [&str; 6] =
    ["behavior", "-ms-behavior", "-moz-binding", "-webkit-binding", "-ms-filter", "src"];

const LONGEST: usize = 40 << 10;

#[cfg(test)]
mod tests;
