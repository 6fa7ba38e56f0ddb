//! A check: probe where it runs, judge where the data is.

use std::time::Duration;

use crate::{
    Assessment, CheckError, Config, Cx, Evidence, Facts, Metric, Problem, Severity, net::Endpoint,
};

/// A check plugin. Register it with [`export_check!`](crate::export_check).
///
/// Only [`run`](Check::run) meets the world, and only through [`Cx`]. The other functions are
/// pure: called twice with the same arguments they answer the same bytes, and the host gives
/// them nothing to be impure with. A panic ends the call; where and why stands in the operator's log.
pub trait Check {
    type Config: Config;
    type Facts: Facts;

    /// What the plugin is and which events it may raise. Called at install, when every import
    /// traps. The schemas are added from [`Config`](Check::Config) and [`Facts`](Check::Facts).
    fn describe() -> Descriptor;

    /// Answers the normalised configuration, or what is wrong with it for this target. It already
    /// has the right shape here.
    fn validate(target: &str, config: Self::Config) -> Result<Self::Config, Vec<Problem>> {
        let _ = target;
        Ok(config)
    }

    /// Probes the target. A target that is down is an observation that says so; an error means
    /// that the plugin itself could not check. Never retry inside a run.
    fn run(cx: &Cx, job: Job<Self::Config>) -> Result<Observation<Self::Facts>, CheckError>;

    /// What the evidence means: a fold over time, given what was remembered. It also judges
    /// results that an agent or a client sent in, so it must stand any facts of the right shape.
    fn assess(evidence: Evidence<Self::Config, Self::Facts>) -> Assessment;
}

/// What a check says of itself. `id` and `version` equal the manifest's.
#[derive(Clone, Debug)]
pub struct Descriptor {
    pub id: &'static str,
    pub version: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// Fields of the facts that say most: `vedette check` prints them first.
    pub summary_fields: &'static [&'static str],
    pub events: &'static [EventType],
    pub metrics: &'static [MetricDef],
}

/// An event that the check may raise. Keep each as a constant: findings are made from it, so an
/// unlisted event cannot be misspelt into being.
#[derive(Clone, Debug, PartialEq)]
pub struct EventType {
    /// Starts with the check type: `ssl.expiring`.
    pub name: &'static str,
    /// What `GET /alerts` filters by: `ssl`.
    pub alert_type: &'static str,
    pub severity: Severity,
    pub title: &'static str,
    /// The alert resolves itself once a run no longer reports the finding.
    pub self_resolving: bool,
    /// Equal findings in a row before an alert is raised; 1 = at once.
    pub confirmations: u8,
    /// Runs in a row without the finding before its alert resolves itself; 1 = at once. 0: it tells
    /// that something has happened, and its alert is resolved from the start.
    pub clears: u8,
}

/// A number that runs may report. `vedette plugin run` shows it; a service does not keep it yet.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricDef {
    pub name: &'static str,
    /// E.g. `seconds`, `bytes`.
    pub unit: &'static str,
    pub help: &'static str,
}

/// One run to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Job<C> {
    pub run_id: String,
    /// A canonical host name (A-labels, lower case, no trailing dot) or an IP literal.
    pub target: String,
    /// The site's own port, where it has one.
    pub port: Option<u16>,
    /// An IP literal that replaces name resolution: the site's `origin_ip`.
    pub connect_to: Option<String>,
    pub config: C,
    /// JSON object: what the operator set for this check, for all sites, of what
    /// `[settings.properties]` of `plugin.toml` declares. Read it with [`settings`](Job::settings).
    pub settings: String,
    /// Fields of the facts that nobody will see: they need not be found out and may be null.
    pub omit: Vec<String>,
}

/// What a run saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation<F> {
    pub facts: F,
    /// One line for people.
    pub summary: String,
    /// Finite values only; the host refuses others.
    pub metrics: Vec<Metric>,
    /// A hint: how long until the next run. Not sooner than `min-interval` of the manifest (5 s without
    /// one) and what the plan allows, and not later than a day; where the verdict is not
    /// `Health::Unknown`, not later than the regular one either. While it stays `Health::Down`, each
    /// time after twice as long as the run before is ago.
    pub next_run_in: Option<Duration>,
}

impl<C> Job<C> {
    /// A run of `target` as nobody configured it: the protocol's port, the resolver's address, no
    /// settings, every field wanted.
    pub fn new(target: impl Into<String>, config: C) -> Self {
        Self {
            run_id: "run".to_owned(),
            target: target.into(),
            port: None,
            connect_to: None,
            config,
            settings: "{}".to_owned(),
            omit: Vec::new(),
        }
    }

    /// The operator's settings. An error is `CheckError::InvalidConfig`, which the operator reads.
    pub fn settings<T: serde::de::DeserializeOwned>(&self) -> Result<T, CheckError> {
        serde_json::from_str(&self.settings).map_err(|error| {
            let message = format!("the operator's settings do not fit: {error}");
            CheckError::InvalidConfig(vec![Problem { pointer: String::new(), message }])
        })
    }

    /// Whether `field` of the facts need not be found out.
    pub fn omits(&self, field: &str) -> bool {
        self.omit.iter().any(|omitted| omitted == field)
    }

    /// The target on the site's port, or on `default_port` where the site names none.
    pub fn endpoint(&self, default_port: u16) -> Endpoint {
        Endpoint {
            host: self.target.clone(),
            port: self.port.unwrap_or(default_port),
            connect_to: self.connect_to.clone(),
        }
    }
}

impl<F> Observation<F> {
    pub fn new(facts: F, summary: impl Into<String>) -> Self {
        Self { facts, summary: summary.into(), metrics: Vec::new(), next_run_in: None }
    }

    pub fn metric(mut self, name: &str, value: f64) -> Self {
        self.metrics.push(Metric { name: name.to_owned(), value });
        self
    }
}
