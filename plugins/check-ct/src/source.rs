//! Where certificates are looked up: several kinds of sources behind one function.
//!
//! The operator's sources are asked in order until one answers. Each has a *position*, a text of
//! its own that says up to where it was read for this site, and a *health*, kept for all sites: a
//! source that says that it is asked too often rests; one that fails again and again does, as long as
//! there is another to ask.
//!
//! *Invariant:* a source that fails costs nothing but time: what is known stays, and the next one
//! is asked.

use std::{collections::BTreeMap, time::Duration};

use vedette_sdk::{CheckError, Cx, log::Level};

use crate::{
    certificate::Certificate,
    config::{Kind, Source},
    key::LogKey,
};
use health::Health;

mod certspotter;
mod crtsh;
mod examination;
mod health;
mod request;
mod tiles;

/// What a source told.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Answer {
    pub(crate) certificates: Vec<Certificate>,
    /// Others, of a question that was not answered for this site before: as old as its first look, they
    /// are no news.
    pub(crate) taken_in: Vec<Certificate>,
    /// All that the source knows of the domain, each once; otherwise what came after the position.
    pub(crate) is_whole: bool,
    /// There is more that this run did not get to.
    pub(crate) has_more: bool,
    /// Where to go on; none keeps the position as it is.
    pub(crate) position: Option<String>,
}

/// An answer and whose it is.
#[derive(Debug)]
pub(crate) struct Told<'a> {
    pub(crate) source: &'a Source,
    /// Nothing of this source was read before.
    pub(crate) from_start: bool,
    pub(crate) answer: Answer,
}

/// Why a source did not answer.
#[derive(Clone, Debug, PartialEq)]
enum Failure {
    /// It is away, or its answer cannot be used. A text for the log.
    Unavailable(String),
    /// It answers, but this domain has too much of it.
    TooMuch(String),
    /// It is asked too often; how long it wants to be left alone, if it says so.
    Throttled(Option<Duration>),
    Timeout,
    /// The host's own trouble, which says nothing of the source.
    Ours(String),
}

impl Failure {
    /// As results say it.
    fn token(&self) -> &'static str {
        match self {
            Self::Unavailable(_) | Self::TooMuch(_) | Self::Ours(_) => UNAVAILABLE,
            Self::Throttled(_) => RATE_LIMITED,
            Self::Timeout => TIMEOUT,
        }
    }

    fn reason(&self) -> &str {
        match self {
            Self::Unavailable(reason) | Self::TooMuch(reason) | Self::Ours(reason) => reason,
            Self::Throttled(_) => "it is asked too often",
            Self::Timeout => "it did not answer in time",
        }
    }
}

/// Asks the sources in order for certificates of the domain. `positions` by [`Source::mark`].
/// The inner error is the token of the first source that was asked, or of the first at all where all
/// of them rest; the outer one our own trouble.
pub(crate) fn ask<'a>(
    cx: &Cx,
    sources: &'a [Source],
    domain: &str,
    positions: &BTreeMap<String, String>,
) -> Result<Result<Told<'a>, &'static str>, CheckError> {
    let search = Search { cx, domain, positions, now: cx.now() };
    let (mut failed, mut rests, mut anyway) = (None, None, None);
    for (index, source) in sources.iter().enumerate() {
        let health = Health::load(cx, source);
        if let Some(token) = health.rests(search.now) {
            rests.get_or_insert(token);
            if token != RATE_LIMITED {
                anyway.get_or_insert((source, health));
            }
            continue;
        }
        if failed.is_some() && cx.remaining() < WORTH_IT {
            break;
        }
        let is_last = index + 1 == sources.len();
        match search.ask(source, health, if is_last { RESERVE } else { FOR_OTHERS })? {
            Ok(told) => return Ok(Ok(told)),
            Err(token) => failed = failed.or(Some(token)),
        }
    }
    match (failed, anyway) {
        // A rest after failures is for the next source's sake: without one it helps nobody, and the
        // source may be well again.
        (None, Some((source, health))) => search.ask(source, health, RESERVE),
        _ => Ok(Err(failed.or(rests).unwrap_or(UNAVAILABLE))),
    }
}

/// What the sources are asked for.
struct Search<'a> {
    cx: &'a Cx,
    domain: &'a str,
    positions: &'a BTreeMap<String, String>,
    now: i64,
}

impl Search<'_> {
    /// Asks one source, and remembers how it did.
    fn ask<'s>(
        &self,
        source: &'s Source,
        mut health: Health,
        reserve: Duration,
    ) -> Result<Result<Told<'s>, &'static str>, CheckError> {
        let &Search { cx, domain, positions, now } = self;
        let position = positions.get(&source.mark()).map(String::as_str);
        let asked = Asked {
            cx,
            base: &source.url,
            key: source.key.as_ref(),
            domain,
            position,
            reserve,
            now,
        };
        let told = match source.kind {
            Kind::Crtsh => crtsh::read(&asked),
            Kind::Certspotter => certspotter::read(&asked),
            Kind::Static => tiles::read(&asked),
        };
        match told {
            Ok(answer) => {
                health.answered(cx);
                Ok(Ok(Told { source, from_start: position.is_none(), answer }))
            }
            Err(Failure::Ours(reason)) => Err(CheckError::Failed(reason)),
            Err(failure) => {
                log(cx, source, &failure);
                health.failed(cx, &failure, now);
                Ok(Err(failure.token()))
            }
        }
    }
}

/// One question to one source.
struct Asked<'a> {
    cx: &'a Cx,
    /// Of the source, without a slash at its end.
    base: &'a str,
    /// Of the log, if the operator gave one.
    key: Option<&'a LogKey>,
    domain: &'a str,
    position: Option<&'a str>,
    /// Time to leave for what comes after.
    reserve: Duration,
    now: i64,
}

fn log(cx: &Cx, source: &Source, failure: &Failure) {
    let fields = [("kind", source.kind.as_str()), ("url", source.url.as_str())];
    let message = format!("certificate transparency source failed: {}", failure.reason());
    cx.log(Level::Warn, &message, &fields);
}

pub(crate) const UNAVAILABLE: &str = "ct_source_unavailable";
pub(crate) const RATE_LIMITED: &str = "rate_limited";
pub(crate) const TIMEOUT: &str = "timeout";

/// What a run needs after the last source: CAA lookups and state.
const RESERVE: Duration = Duration::from_millis(2_500);
/// The same, and one more source.
const FOR_OTHERS: Duration = Duration::from_millis(9_000);
/// Less is not enough to ask another source.
const WORTH_IT: Duration = Duration::from_secs(4);

#[cfg(test)]
mod tests;
