//! What the fuzz targets share: seeds, a way to cut an input into parts, and a host that answers
//! from it ([`host`]) and holds what it is told against the contract ([`contract`]).
//!
//! *Invariant:* seeds are made by code; whatever a run finds out stays outside the sources.

use std::{env, fs, path::PathBuf};

pub mod contract;
pub mod host;

/// Writes the seeds into the corpus, which is the first folder on the command line, and the `long`
/// inputs beside it. `long`: how each begins, and what it then says over and over, for `most`
/// bytes. They are too slow to grow from, so the corpus has their first two thousand bytes; run as
/// a whole, each once, they show what takes time that grows faster than an input.
pub fn plant(seeds: impl IntoIterator<Item = Vec<u8>>, long: &[(&str, &str)], most: usize) {
    let Some(corpus) = env::args().skip(1).find(|argument| !argument.starts_with('-')) else {
        return;
    };
    let corpus = PathBuf::from(corpus);
    if !corpus.is_dir() {
        // A file: one input is run again.
        return;
    }
    let beside = corpus.with_extension("long");
    fs::create_dir_all(&beside).unwrap_or_else(|error| panic!("{}: {error}", beside.display()));
    let short = long.iter().map(|(head, text)| over_and_over(head, text, GROWABLE));
    for (number, seed) in seeds.into_iter().chain(short).enumerate() {
        write(corpus.join(format!("seed-{number:03}")), &seed);
    }
    for (number, (head, text)) in long.iter().enumerate() {
        write(beside.join(format!("long-{number:03}")), &over_and_over(head, text, most));
    }
}

fn over_and_over(head: &str, text: &str, bytes: usize) -> Vec<u8> {
    let mut long = head.as_bytes().to_vec();
    long.extend(text.as_bytes().iter().cycle().take(bytes.saturating_sub(head.len())));
    long
}

fn write(path: PathBuf, bytes: &[u8]) {
    fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// What is left of an input.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// The next byte; 0 behind the end.
    pub fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or_default()
    }

    /// Two bytes, the high one first.
    pub fn number(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    /// As many bytes as there are, at most `len`.
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// A part with its length, of two bytes, before it.
    pub fn part(&mut self) -> &'a [u8] {
        let len = self.number();
        self.take(len.into())
    }

    /// Up to the end of the line, as text; the line break is passed over.
    pub fn line(&mut self) -> String {
        let end = self.0.iter().position(|byte| *byte == b'\n');
        let line = self.take(end.unwrap_or(self.0.len()));
        self.byte();
        String::from_utf8_lossy(line).into_owned()
    }

    /// One of the choices.
    pub fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::from(self.byte()) % choices.len()]
    }

    /// Everything else.
    pub fn rest(&mut self) -> &'a [u8] {
        self.take(self.0.len())
    }
}

/// A part as [`Input::part`] reads it.
pub fn part(bytes: &[u8]) -> Vec<u8> {
    let len = u16::try_from(bytes.len()).expect("parts of seeds are short");
    [&len.to_be_bytes(), bytes].concat()
}

/// Of a seed that is to be grown from.
const GROWABLE: usize = 2_000;
