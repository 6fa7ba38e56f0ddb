//! Check types, stored check records and what is remembered between two runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AlertId, CheckId, Invalid, Severity, SiteId, Timestamp, assessment::Health, status_page::Tally,
};

/// The name of a check, as its plugin declares it: `[a-z][a-z0-9_]{0,30}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CheckType(String);

/// Where a record came from (decisions: Checks, stored record).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Scheduler,
    OnDemand,
    Api,
    Agent,
    Cron,
}

/// The verdict that a record carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    Ok,
    Degraded,
    Down,
    Unknown,
}

/// One stored run; `result` is exactly the on-demand result, null if there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRecord {
    pub id: CheckId,
    pub site_id: SiteId,
    pub check_type: CheckType,
    pub checked_at: Timestamp,
    pub status: CheckStatus,
    pub result: Value,
    pub error: Option<String>,
    pub duration_ms: u64,
    pub source: Source,
    pub location: String,
}

/// What stands between two runs of one check of one site. Changed only by compare-and-set on
/// `version`, so that two nodes cannot decide from the same past.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckState {
    /// Grows with every commit, when the site moves, and when the check is taken off it.
    pub version: u64,
    pub latest: Option<CheckRecord>,
    /// The last result whose findings were all confirmed or had vanished.
    pub settled: Option<Settled>,
    /// JSON that the plugin asked to be given with the next evidence.
    pub memory: Option<String>,
    /// Findings that the last runs reported, by `alert type, key` (see [`crate::alert::tracking_key`]).
    pub tracked: BTreeMap<String, Tracked>,
    /// Runs in a row that left a finding unconfirmed: what bounds the rechecks.
    #[serde(default)]
    pub unconfirmed_runs: u32,
    /// What the status page draws. Stored beside the rest: it outlives a move to another port or
    /// address.
    #[serde(skip)]
    pub tally: Tally,
}

/// A result that nothing was in doubt about, and when it was seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    pub result: Value,
    pub at: Timestamp,
    /// What that run was judged as; none where it was kept before this was.
    #[serde(default)]
    pub status: Option<CheckStatus>,
}

/// A finding that is being counted, and the alert it became.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tracked {
    /// The event that the last run reported.
    pub event: String,
    /// Equal findings in a row so far.
    pub count: u32,
    /// Runs in a row without it, while its alert waits for more of them before it resolves.
    pub absent: u32,
    /// Set once raised. It stays while the finding lasts, so that an alert which its owner
    /// resolved by hand is not raised again for the same trouble.
    pub raised: Option<Raised>,
}

/// What a finding was last told as.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Raised {
    pub alert: AlertId,
    pub event: String,
    pub severity: Severity,
}

impl CheckState {
    /// Whether the target was well until now, as far as runs told anything: what our own trouble
    /// kept from telling says nothing of it.
    pub fn was_well(&self) -> bool {
        let settled = || self.settled.as_ref().and_then(|settled| settled.status);
        match self.latest.as_ref().map(|latest| latest.status) {
            Some(CheckStatus::Ok) => true,
            Some(CheckStatus::Degraded | CheckStatus::Unknown) => {
                settled() == Some(CheckStatus::Ok)
            }
            Some(CheckStatus::Down) | None => false,
        }
    }
}

impl CheckStatus {
    pub const ALL: [Self; 4] = [Self::Ok, Self::Degraded, Self::Down, Self::Unknown];

    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Degraded => "degraded",
            Self::Down => "down",
            Self::Unknown => "unknown",
        }
    }
}

impl From<Health> for CheckStatus {
    fn from(health: Health) -> Self {
        match health {
            Health::Ok => Self::Ok,
            Health::Degraded => Self::Degraded,
            Health::Down => Self::Down,
            Health::Unknown => Self::Unknown,
        }
    }
}

impl CheckType {
    /// What a site lists that names nothing (spec: Site, `check_types`).
    pub const LISTED: [&'static str; 4] = ["ssl", "dns", "domain", "ct"];
    /// Runs for each site; what it finds is about the service, wherever it is, and about no day to come.
    pub const UPTIME: &'static str = "uptime";
    /// The checks of the contract, installed or not.
    pub const DOCUMENTED: [&'static str; 5] = ["ssl", "dns", "domain", "ct", Self::UPTIME];

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_uptime(&self) -> bool {
        self.0 == Self::UPTIME
    }
}

impl std::fmt::Display for CheckType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<CheckType> for String {
    fn from(check_type: CheckType) -> Self {
        check_type.0
    }
}

impl TryFrom<String> for CheckType {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let mut bytes = text.bytes();
        let starts = bytes.next().is_some_and(|b| b.is_ascii_lowercase());
        let goes_on = bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if starts && goes_on && text.len() <= 31 {
            Ok(Self(text))
        } else {
            Err(Invalid::new("check_type", "must be the name of a check, such as ssl"))
        }
    }
}

impl std::str::FromStr for CheckType {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::try_from(text.to_owned())
    }
}
