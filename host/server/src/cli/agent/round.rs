//! One look at every place: the ssl check, run as `vedette check ssl` runs it.
//!
//! *Invariant:* eight hosts at a time, and of one host one port after the other: no target takes
//! us for an attack, and no run waits in the sandbox for the one before it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use futures::future::join_all;
use serde_json::{Map, Value};
use vedette_model::{CheckType, Target};
use vedette_sandbox::{Job, MemoryState, Sandbox, egress::Audience};

use super::{entry::Entry, targets::Host};
use crate::{
    Clock, Config,
    start::{self, Plugins},
};

/// The sandbox with the one plugin that an agent runs.
pub(super) struct Looker {
    sandbox: Sandbox,
    check_type: CheckType,
}

impl Looker {
    /// # Errors
    /// When the sandbox cannot be set up with this configuration.
    pub(super) async fn start(config: &Config) -> anyhow::Result<Self> {
        let check_type: CheckType = "ssl".parse()?;
        let sandbox = start::sandbox(config, Arc::new(MemoryState::default()))?;
        let sandbox = start::install(sandbox, Plugins::Check(check_type.clone())).await?;
        Ok(Self { sandbox, check_type })
    }

    /// What there is at all ports of these hosts. Where the trouble is our own it is in the log
    /// and not in what is answered: it says nothing of the place.
    pub(super) async fn round(&self, hosts: &[Host]) -> Vec<Entry> {
        let started = Instant::now();
        let next = AtomicUsize::new(0);
        let turns = (0..AT_ONCE).map(|_| self.take_turns(hosts, &next));
        let entries: Vec<_> = join_all(turns).await.into_iter().flatten().collect();
        let (places, took) = (entries.len(), started.elapsed());
        tracing::info!(places, "looked at {places} places in {took:.1?}");
        entries
    }

    async fn take_turns(&self, hosts: &[Host], next: &AtomicUsize) -> Vec<Entry> {
        let mut entries = Vec::new();
        while let Some(host) = hosts.get(next.fetch_add(1, Ordering::Relaxed)) {
            for port in &host.ports {
                entries.extend(self.look(&host.name, *port).await);
            }
        }
        entries
    }

    async fn look(&self, host: &Target, port: u16) -> Option<Entry> {
        let now = Clock::System.now();
        let job = Job {
            run_id: "agent".to_owned(),
            target: host.clone(),
            port: Some(port),
            connect_to: None,
            config: Value::Object(Map::new()),
            omit: NOT_REPORTED.map(str::to_owned).into(),
            now,
            audience: Audience::Authenticated,
            site: None,
            watched: false,
        };
        let seen = match self.sandbox.run(&self.check_type, job).await {
            Ok(ran) => Entry::of(host, port, now, ran.observation.result)
                .map_err(|cause| format!("the check answered something unexpected: {cause}")),
            Err(cause) => Err(cause.to_string()),
        };
        seen.inspect_err(|cause| {
            tracing::warn!(%host, port, "cannot look at {host} port {port}: {cause}");
        })
        .ok()
    }
}

/// Hosts at a time.
const AT_ONCE: usize = 8;
/// What no report has room for: a device on an internal network is asked only what it must be.
const NOT_REPORTED: [&str; 4] = ["hsts", "mixed_content", "ocsp_stapling", "tls_grade"];
