//! Agents: programs inside networks that the service cannot reach. Each looks at hosts there and
//! reports the certificates that it finds.
//!
//! Key (`POST /agent/key`) → [`Registration`] → [`Report`] of [`Look`]s, told apart by what is known
//! of their places so that each is of one leaf → an SSL result for each [`Place`], which goes the way
//! of all results. A place takes the role of a site but is not one: no list of sites shows it, no
//! limit counts it, and no schedule runs for it.
//!
//! *Invariant:* an agent's key is never taken for an API key, nor the other way round: the one is
//! six characters longer, and the other has no `_` after its prefix.
//! *Invariant:* the key itself is never part of an [`Agent`]: only its SHA-256 is stored.

mod apart;
mod certificate;
mod known;
mod look;
mod place;
mod report;
mod sighting;

use chrono::TimeDelta;
use serde::Serialize;
use serde_json::Value;

pub use self::certificate::Certificate;
pub use self::look::{Look, Verdict};
pub use self::place::{Place, check_type, judged_as};
pub use self::report::Report;
pub use self::sighting::{Sighting, SightingView, latest, listed, unnamed};
use crate::parse::{self, Body};
use crate::{AccountId, AgentId, Edition, Invalid, Timestamp};

/// An agent as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Agent {
    pub id: AgentId,
    pub account_id: AccountId,
    /// One line of 1–100 characters.
    pub name: String,
    pub created_at: Timestamp,
    /// When it registered or reported last; none before the first contact.
    pub last_seen_at: Option<Timestamp>,
    /// How long it means to wait between two reports.
    pub interval_seconds: u32,
    /// What it said about the machine that it runs on, and about itself.
    pub hostname: Option<String>,
    pub version: Option<String>,
    pub os: Option<String>,
}

/// An agent that is being made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAgent {
    pub id: AgentId,
    pub account_id: AccountId,
    /// The one that was chosen, or as many as the account may have agents: then the first that
    /// none of them has is its name.
    pub names: Vec<String>,
    pub created_at: Timestamp,
}

/// Whether an agent does its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentStatus {
    /// It has a key and was never heard of.
    Pending,
    Online,
    /// Three reports are missing (decisions: agents).
    Offline,
}

/// An agent as listings show it (spec: `GET /agent/key`), and how it stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentView<'a> {
    pub id: AgentId,
    pub agent_name: &'a str,
    pub last_seen_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub status: AgentStatus,
    pub hostname: Option<&'a str>,
    pub version: Option<&'a str>,
    pub os: Option<&'a str>,
}

/// What an agent says of itself (decisions: agents). What it leaves out, or says as null, stays
/// as it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Registration {
    pub name: Option<String>,
    pub hostname: Option<String>,
    pub version: Option<String>,
    pub os: Option<String>,
    pub interval_seconds: Option<u32>,
}

/// What every key of an agent starts with, e.g. `sp_agent_`.
pub fn key_prefix(edition: &Edition) -> String {
    format!("{}agent_", edition.key_prefix)
}

impl NewAgent {
    /// The body of `POST /agent/key`: a `name` (one line of 1–100 characters), or none, which is
    /// `agent-1`, `agent-2`, …; `most` is how many agents the account may have.
    pub fn parse(
        body: &Value,
        id: AgentId,
        account_id: AccountId,
        most: u32,
        now: Timestamp,
    ) -> Result<Self, Invalid> {
        let chosen = Body::of(body)?.optional("name", name)?;
        let names = match chosen {
            Some(name) => vec![name],
            None => (1..=most).map(|number| format!("agent-{number}")).collect(),
        };
        Ok(Self { id, account_id, names, created_at: now })
    }
}

impl Agent {
    pub fn status(&self, now: Timestamp) -> AgentStatus {
        let Some(last_seen_at) = self.last_seen_at else { return AgentStatus::Pending };
        let patience = TimeDelta::seconds(i64::from(self.interval_seconds)) * MISSED;
        if now - last_seen_at > patience { AgentStatus::Offline } else { AgentStatus::Online }
    }

    pub fn view(&self, now: Timestamp) -> AgentView<'_> {
        AgentView {
            id: self.id,
            agent_name: &self.name,
            last_seen_at: self.last_seen_at,
            created_at: self.created_at,
            status: self.status(now),
            hostname: self.hostname.as_deref(),
            version: self.version.as_deref(),
            os: self.os.as_deref(),
        }
    }
}

impl Registration {
    /// The body of `POST /agent/register`: `agent_name` (1–100 characters), `hostname`, `version`,
    /// `os` (up to 200 each) and `interval_seconds` (60–86400), each of them optional.
    pub fn parse(body: &Value) -> Result<Self, Invalid> {
        let body = Body::of(body)?;
        Ok(Self {
            name: said(&body, "agent_name", name)?,
            hostname: said(&body, "hostname", fact)?,
            version: said(&body, "version", fact)?,
            os: said(&body, "os", fact)?,
            interval_seconds: said(&body, "interval_seconds", interval)?,
        })
    }
}

/// A member that a program may leave out or write as null: both say nothing.
fn said<'a, T>(
    body: &Body<'a>,
    field: &'static str,
    read: impl FnOnce(&'static str, &'a Value) -> Result<T, Invalid>,
) -> Result<Option<T>, Invalid> {
    let mut said = None;
    body.patch(field, read)?.apply_option(&mut said);
    Ok(said)
}

fn name(field: &'static str, value: &Value) -> Result<String, Invalid> {
    let name = parse::line(field, value, LONGEST_NAME)?.trim();
    if name.is_empty() {
        return Err(Invalid::new(field, "must not be empty"));
    }
    Ok(name.to_owned())
}

fn fact(field: &'static str, value: &Value) -> Result<String, Invalid> {
    parse::line(field, value, LONGEST_FACT).map(str::to_owned)
}

fn interval(field: &'static str, value: &Value) -> Result<u32, Invalid> {
    let seconds = value.as_u64().and_then(|seconds| u32::try_from(seconds).ok());
    seconds.filter(|seconds| (SHORTEST..=LONGEST).contains(seconds)).ok_or_else(|| {
        let reason = format!("must be a whole number between {SHORTEST} and {LONGEST}");
        Invalid::new(field, reason)
    })
}

/// Reports that may be missing.
const MISSED: i32 = 3;
/// Seconds between two reports, until an agent says something else.
pub const DEFAULT_INTERVAL: u32 = 3_600;
/// How many places an agent may look at, and how many it may have left behind: a row each.
pub const MOST_PLACES: usize = 1_000;
/// How long no report has named a place that is removed. Longer than reports may be missing, but
/// shorter than news of a certificate can wait.
pub const LET_GO_AFTER: TimeDelta = TimeDelta::days(7);
/// Reports that are no farther apart follow one another: as many are missing as may be, of an agent
/// with the longest interval.
pub const LONGEST_GAP: TimeDelta = TimeDelta::days(3);
const SHORTEST: u32 = 60;
const LONGEST: u32 = 86_400;
const LONGEST_NAME: usize = 100;
const LONGEST_FACT: usize = 200;

#[cfg(test)]
mod tests;
