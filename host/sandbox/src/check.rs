//! What the server hands to a check and gets back.

use std::{fmt, net::IpAddr, sync::Arc, time::Duration};

use serde::Serialize;
use serde_json::Value;
use vedette_model::{
    CheckType, Observation, SiteId, Timestamp, assessment::EventType, domain_name::Target,
};

use crate::{
    egress::Audience,
    hidden::{Hidden, hide},
    registry::Check,
};

/// What an installed check plugin says of itself, as the gate accepted it.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckDescriptor {
    pub check_type: CheckType,
    /// E.g. `vedette.ssl`.
    pub id: String,
    pub version: String,
    pub title: String,
    pub description: String,
    /// JSON Schema 2020-12.
    pub config_schema: Value,
    /// JSON Schema 2020-12.
    pub result_schema: Value,
    /// Fields of the result that a one-line summary of a site shows.
    pub summary_fields: Vec<String>,
    /// Whether a run connects to what it is about; others ask somebody else about it.
    pub reaches_target: bool,
    pub events: Vec<EventType>,
    pub metrics: Vec<MetricDef>,
    /// The manifest's default interval, within the plan's and the operator's bounds.
    pub interval: Option<Duration>,
    pub min_interval: Option<Duration>,
}

/// A number that runs of a plugin report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricDef {
    pub name: String,
    pub unit: String,
    pub help: String,
}

/// What is wrong with a configuration: a JSON Pointer into it and what to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub pointer: String,
    pub message: String,
}

/// One run of a check.
#[derive(Clone, Debug)]
pub struct Job {
    /// For logs.
    pub run_id: String,
    pub target: Target,
    /// The site's own port; none = the protocol's.
    pub port: Option<u16>,
    /// A site's `origin_ip`: replaces name resolution of the target.
    pub connect_to: Option<IpAddr>,
    /// Validated against the plugin's schema and normalised by the plugin before the run.
    pub config: Value,
    /// Fields of the result that nobody will see: the plugin need not find them out.
    pub omit: Vec<String>,
    /// The wall clock when the run starts; the plugin's clock goes on from here.
    pub now: Timestamp,
    pub audience: Audience,
    /// Whose state the plugin sees; none = it belongs to no site.
    pub site: Option<SiteId>,
    /// The target is watched, rather than named by somebody who waits. If the target is blocked,
    /// the plugin finds out and reports it like any failure.
    pub watched: bool,
}

/// One version of a check plugin, which stays what it is when another takes its place.
#[derive(Clone)]
pub struct CheckVersion(Hidden<Arc<Check>>);

impl CheckVersion {
    pub(crate) fn of(check: &Arc<Check>) -> Self {
        Self(hide(Arc::clone(check)))
    }

    pub(crate) fn check(&self) -> &Arc<Check> {
        &self.0
    }

    /// What it says of itself.
    pub fn descriptor(&self) -> &CheckDescriptor {
        &self.check().descriptor
    }
}

impl PartialEq for CheckVersion {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.check(), other.check())
    }
}

impl fmt::Debug for CheckVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CheckDescriptor { id, version, .. } = self.descriptor();
        f.debug_tuple("CheckVersion").field(id).field(version).finish()
    }
}

/// A run that brought an observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// What ran, and what is to judge what it saw.
    pub version: CheckVersion,
    pub observation: Observation,
    /// From taking up the job to the observation, waiting for a slot excluded.
    pub duration: Duration,
    /// The part of `duration` spent inside host calls.
    pub host_time: Duration,
    /// How long our process stood still meanwhile, at the longest; zero where it did not. What seemed
    /// late by then may have been in time.
    pub stood_still: Duration,
    pub cost: Cost,
}

/// What a run used up of its [`Limits`](crate::Limits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Outside of host calls.
    pub cpu: Duration,
    /// Bytes of linear memory, at its largest.
    pub memory: usize,
    /// Host calls that probe or touch state.
    pub calls: u32,
    /// Bytes that probes received.
    pub bytes: u64,
}
