//! A text as numbers, words and marks, read one after the other.

use std::ops::RangeInclusive;

use super::names;
use crate::whois::words::fold;

pub(super) enum Token {
    Number { value: u64, digits: usize },
    Word(String),
    Mark(char),
    Space,
}

/// Takes tokens from the front; what does not fit is left where it is.
pub(super) struct Reader {
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
}

impl Reader {
    pub(super) fn new(text: &str) -> Reader {
        let mut tokens = Vec::new();
        let mut chars = text.trim().chars().take(LONGEST).peekable();
        while let Some(first) = chars.next() {
            if first.is_ascii_digit() {
                let mut value = digit(first);
                let mut digits = 1;
                while let Some(next) = chars.next_if(char::is_ascii_digit) {
                    value = value.saturating_mul(10).saturating_add(digit(next));
                    digits += 1;
                }
                tokens.push(Token::Number { value, digits });
            } else if first.is_alphabetic() {
                let mut word = String::new();
                fold(first, &mut word);
                while let Some(next) = chars.next_if(|next| next.is_alphabetic() || is_mark(*next))
                {
                    fold(next, &mut word);
                }
                tokens.push(Token::Word(word));
            } else if first.is_whitespace() {
                if !matches!(tokens.last(), Some(Token::Space)) {
                    tokens.push(Token::Space);
                }
            } else {
                tokens.push(Token::Mark(first));
            }
        }
        Reader { tokens, at: 0 }
    }

    pub(super) fn number(&mut self, digits: RangeInclusive<usize>) -> Option<u32> {
        match self.tokens.get(self.at)? {
            Token::Number { value, digits: count } if digits.contains(count) => {
                self.at += 1;
                // A fraction of a second may be longer than a number; its value does not matter.
                Some(u32::try_from(*value).unwrap_or(u32::MAX))
            }
            _ => None,
        }
    }

    pub(super) fn month(&mut self) -> Option<u32> {
        match self.tokens.get(self.at)? {
            Token::Word(word) => {
                let month = names::month(word)?;
                self.at += 1;
                Some(month)
            }
            _ => None,
        }
    }

    pub(super) fn mark_of(&mut self, marks: &str) -> Option<char> {
        match self.tokens.get(self.at)? {
            Token::Mark(mark) if marks.contains(*mark) => {
                self.at += 1;
                Some(*mark)
            }
            _ => None,
        }
    }

    pub(super) fn word_of<'w>(&mut self, words: &[&'w str]) -> Option<&'w str> {
        let Token::Word(word) = self.tokens.get(self.at)? else { return None };
        let found = words.iter().find(|candidate| **candidate == word.as_str())?;
        self.at += 1;
        Some(found)
    }

    pub(super) fn space(&mut self) -> bool {
        let is_space = matches!(self.tokens.get(self.at), Some(Token::Space));
        self.at += usize::from(is_space);
        is_space
    }

    /// What stands between the parts of a date, with the spaces around it.
    pub(super) fn separator(&mut self) -> Option<Separator> {
        let is_spaced = self.space();
        let found = match self.tokens.get(self.at) {
            Some(Token::Mark(mark @ ('-' | '/' | '.' | ','))) => Separator::Mark(*mark),
            Some(Token::Word(word)) if matches!(word.as_str(), "年" | "月" | "년" | "월") => {
                Separator::Ideograph
            }
            _ => return is_spaced.then_some(Separator::Space),
        };
        self.at += 1;
        self.space();
        Some(found)
    }

    /// `de`, `of`: between day, month and year.
    pub(super) fn link(&mut self) {
        if self.word_of(&["of", "de", "del", "d"]).is_some() {
            self.space();
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Mark(char),
    Ideograph,
    Space,
}

fn digit(char: char) -> u64 {
    char.to_digit(10).unwrap_or(0).into()
}

/// Accents that stand on their own belong to the letter before them.
fn is_mark(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}')
}

/// Characters of a text that are looked at: the longest form with a remark.
const LONGEST: usize = 160;
