//! What a check plugin says: the observation it made and the assessment of it. The records of
//! the plugin contract, in the model's terms.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Severity, Timestamp};

/// An event that a plugin may raise, as its descriptor lists it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventType {
    /// E.g. `ssl.expiring`.
    pub name: String,
    /// E.g. `ssl`: what `GET /alerts` filters by.
    pub alert_type: String,
    pub severity: Severity,
    pub title: String,
    /// The alert resolves itself once a run no longer reports the finding.
    pub self_resolving: bool,
    /// Equal findings in a row before an alert is raised; 1 = at once.
    pub confirmations: u32,
    /// Runs in a row without the finding before its alert resolves itself; 1 = at once, 0 = see
    /// [`EventType::announces`].
    pub clears: u32,
}

impl EventType {
    /// Whether it tells that something has happened (`ssl.renewed`, `site.up`), and not of a state
    /// that lasts: its alert is resolved from the start.
    pub fn announces(&self) -> bool {
        self.self_resolving && self.clears == 0
    }
}

/// The facts that one run saw. A failed probe is an observation with `error` in the result.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Satisfies the plugin's result schema.
    pub result: Value,
    pub summary: String,
    pub metrics: Vec<(String, f64)>,
    pub next_run_in_s: Option<u32>,
}

/// All that a verdict may rest on.
#[derive(Clone, Debug)]
pub struct Evidence {
    pub current: Value,
    pub current_at: Timestamp,
    /// The last settled result; none = the first run.
    pub settled: Option<(Value, Timestamp)>,
    /// Latest results of the site's other check types.
    pub siblings: Vec<(String, Value)>,
    pub config: Value,
    pub alert_days: u16,
    pub memory: Option<String>,
}

/// How the target stands by one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    Ok,
    Degraded,
    Down,
    Unknown,
}

/// Something that a run found and that may be worth an alert.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The name of one of the plugin's events.
    pub event: String,
    /// Overrides the event's own.
    pub severity: Option<Severity>,
    /// Equal keys across runs are one alert.
    pub dedup_key: String,
    pub message: String,
    pub suggestion: Option<String>,
    /// Kept with the alert; for an alert of type `cert_change` the certificate change.
    pub details: Option<Value>,
    /// More (or fewer) equal findings in a row than the event asks for.
    pub confirmations: Option<u32>,
}

/// What a run means, as its plugin judges it.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    pub health: Health,
    pub findings: Vec<Finding>,
    pub memory: Option<String>,
}
