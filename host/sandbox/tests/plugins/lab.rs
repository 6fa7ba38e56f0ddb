//! A sandbox to try guests in, and what a test asks of one.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use vedette_model::{CheckType, Evidence, domain_name::Target};
use vedette_sandbox::{
    GateError, Grant, Job, MemoryState, Options, Probe, Ran, Recording, RunError, Sandbox,
    egress::{self, Audience, Egress, Policy},
};

use crate::guest::Guest;

/// A sandbox whose runs may reach loopback.
pub(crate) fn sandbox() -> Sandbox {
    with(Policy { allow: vec!["127.0.0.0/8".parse().expect("a range")], ..Policy::default() })
}

/// Nobody answers where it asks: the guests of these tests know addresses, not names.
pub(crate) fn egress(policy: Policy) -> Egress {
    let dns_servers = vec!["127.0.0.1:9".parse().expect("an address")];
    Egress::new(egress::Options { policy, dns_servers, ..egress::Options::default() })
        .expect("an egress layer")
}

pub(crate) fn with(policy: Policy) -> Sandbox {
    let options = Options {
        egress: egress(policy),
        cache_dir: None,
        settings: Default::default(),
        state: Arc::new(MemoryState::default()),
    };
    Sandbox::new(options).expect("a sandbox")
}

/// A sandbox with this check installed.
pub(crate) fn holding(guest: &Guest) -> Sandbox {
    let sandbox = sandbox();
    sandbox.install(&guest.build(), Grant::AsAsked).expect("the guest passes the gate");
    sandbox
}

/// What the gate says of a component, as the operator reads it.
pub(crate) fn refusal(component: &[u8]) -> String {
    let refused: Result<(), GateError> = sandbox().install(component, Grant::AsAsked);
    refused.expect_err("refused").to_string()
}

pub(crate) fn test() -> CheckType {
    "test".parse().expect("a check type")
}

pub(crate) fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a time")
}

pub(crate) fn job(target: &str) -> Job {
    Job {
        run_id: "run".to_owned(),
        target: Target::parse(target).expect("a target"),
        port: None,
        connect_to: None,
        config: json!({}),
        omit: Vec::new(),
        now: now(),
        audience: Audience::Authenticated,
        site: None,
        watched: false,
    }
}

/// Runs the check against nothing: whatever it probes is recorded as given.
pub(crate) async fn replay(sandbox: &Sandbox, probes: Vec<Probe>) -> Result<Ran, RunError> {
    replay_about(sandbox, "example.com", probes).await
}

pub(crate) async fn replay_about(
    sandbox: &Sandbox,
    target: &str,
    probes: Vec<Probe>,
) -> Result<Ran, RunError> {
    let recording = Arc::new(Recording::new(probes));
    sandbox.replay(&test(), job(target), recording).await
}

pub(crate) fn evidence(current: Value) -> Evidence {
    Evidence {
        current,
        current_at: now(),
        settled: None,
        siblings: Vec::new(),
        config: json!({}),
        alert_days: 14,
        memory: None,
    }
}
