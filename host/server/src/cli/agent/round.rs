//! One look at every place: the ssl check, run as `vedette check ssl` runs it.
//!
//! *Invariant:* eight hosts at a time, and of one host one port after the other: no target takes
//! us for an attack, and no run waits in the sandbox for the one before it.

use std::{
    collections::BTreeMap,
    mem,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use futures::future::join_all;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use vedette_model::{CheckType, Target};
use vedette_sandbox::{Job, MemoryState, RunError, Sandbox, egress::Audience};

use super::{entry::Entry, targets::Host};
use crate::{
    Clock, Config,
    cli::counted,
    start::{self, Plugins},
};

/// The sandbox with the one plugin that an agent runs.
pub(super) struct Looker {
    sandbox: Sandbox,
    check_type: CheckType,
    /// Of the last round.
    missing: Mutex<Missing>,
}

/// Where no certificate was seen, and why not.
type Missing = BTreeMap<String, String>;

impl Looker {
    /// # Errors
    /// When the sandbox cannot be set up with this configuration.
    pub(super) async fn start(config: &Config) -> anyhow::Result<Self> {
        let check_type: CheckType = "ssl".parse()?;
        let sandbox = start::sandbox(config, Arc::new(MemoryState::default()))?;
        let sandbox = start::install(sandbox, Plugins::Check(check_type.clone())).await?;
        Ok(Self { sandbox, check_type, missing: Mutex::default() })
    }

    /// What there is at all ports of these hosts. Where the trouble is our own it is in the log
    /// and not in what is answered: it says nothing of the place. Where there is no certificate it
    /// is in both, in the log once as long as it stays the same.
    pub(super) async fn round(&self, hosts: &[Host]) -> Vec<Entry> {
        let started = Instant::now();
        let next = AtomicUsize::new(0);
        let turns = (0..AT_ONCE).map(|_| self.take_turns(hosts, &next));
        let entries: Vec<_> = join_all(turns).await.into_iter().flatten().collect();
        let (places, took) = (entries.len(), started.elapsed());
        let missing = self.tell_missing(&entries);
        let looked_at = counted(places, "place");
        tracing::info!(
            places,
            missing,
            "looked at {looked_at} in {took:.1?}, {missing} showed no certificate"
        );
        entries
    }

    /// Answers how many there are.
    fn tell_missing(&self, entries: &[Entry]) -> usize {
        let now = missing(entries);
        let count = now.len();
        let before = mem::replace(&mut *self.missing.lock(), now.clone());
        for (place, error) in news(now, &before) {
            tracing::warn!(place, error, "{place} showed no certificate: {error}");
        }
        count
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
            Err(RunError::Blocked(_)) => Err(CLOSED.to_owned()),
            Err(cause) => Err(cause.to_string()),
        };
        seen.inspect_err(|cause| {
            tracing::warn!(%host, port, "cannot look at {host} port {port}: {cause}");
        })
        .ok()
    }
}

fn missing(entries: &[Entry]) -> Missing {
    let why = |entry: &Entry| Some((entry.place(), entry.missing()?.to_owned()));
    entries.iter().filter_map(why).collect()
}

/// What was not so before, or for another reason.
fn news(mut now: Missing, before: &Missing) -> Missing {
    now.retain(|place, error| before.get(place) != Some(&*error));
    now
}

/// To an agent all other addresses are open.
const CLOSED: &str =
    "egress.deny closes its address: open it there, or take the place out of the targets";
/// Hosts at a time.
const AT_ONCE: usize = 8;
/// What no report has room for: a device on an internal network is asked only what it must be.
const NOT_REPORTED: [&str; 4] = ["hsts", "mixed_content", "ocsp_stapling", "tls_grade"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_place_without_a_certificate_is_told_once_for_each_reason() {
        let round = |results: &[(&str, Value)]| {
            let seen = |(host, result): &(&str, Value)| {
                let host = Target::parse(host).expect("a name");
                Entry::of(&host, 443, Clock::System.now(), result.clone()).expect("a result")
            };
            missing(&results.iter().map(seen).collect::<Vec<_>>())
        };
        let places = |missing: Missing| missing.into_keys().collect::<Vec<_>>();
        let [a, b, c] = ["a", "b", "c"].map(|name| format!("{name}.example port 443"));
        let failed = |error: &str| json!({ "valid": false, "error": error, "chain": [] });
        let good = json!({ "valid": true, "chain": [{
            "valid_from": "2026-01-01T00:00:00Z", "valid_to": "2036-01-01T00:00:00Z",
        }] });

        let first = round(&[
            ("a.example", failed("connection_refused")),
            ("b.example", failed("connection_refused")),
            ("c.example", good.clone()),
        ]);
        assert_eq!(places(news(first.clone(), &Missing::new())), [a, b.clone()]);
        let second = round(&[
            ("a.example", failed("connection_refused")),
            ("b.example", failed("connection_timeout")),
            ("c.example", failed("dns_not_found")),
        ]);
        assert_eq!(second.len(), 3);
        assert_eq!(places(news(second.clone(), &first)), [b, c]);
        let well = round(&[("a.example", good)]);
        assert!(well.is_empty());
        assert_eq!(places(news(second, &well)).len(), 3, "it was well meanwhile");
    }
}
