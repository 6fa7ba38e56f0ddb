//! What one call into a check plugin costs, without a network.
//!
//! ```text
//! cargo run --release -p vedette-sandbox --example plugin_cost -- check.wasm [case.json] [rounds]
//! ```
//!
//! First what every call pays: a fresh store and instance, made and dropped. With a case file
//! (`{"job": {"target"}, "probes": [{"call", "request", "response"}]}`) whole runs follow, with
//! probes answered from it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json};
use vedette_model::{CheckType, Target, Timestamp};
use vedette_sandbox::{
    Grant, Job, MemoryState, Options, Probe, Recording, Sandbox,
    egress::{self, Audience, Egress},
};

#[derive(Deserialize)]
struct Case {
    job: CaseJob,
    probes: Vec<Probe>,
}

#[derive(Deserialize)]
struct CaseJob {
    target: String,
    #[serde(default)]
    config: Option<Value>,
    #[serde(default)]
    at: Option<Timestamp>,
}

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (component, case) = (arguments.first(), arguments.get(1).filter(|path| path.contains('.')));
    let component =
        std::fs::read(component.ok_or("usage: plugin_cost CHECK.wasm [CASE.json] [N]")?)?;
    let rounds = arguments.last().and_then(|last| last.parse().ok()).unwrap_or(10_000);

    let sandbox = sandbox()?;
    let started = Instant::now();
    sandbox.install(&component, Grant::AsAsked)?;
    println!("gate, compilation included: {:?}", started.elapsed());
    let check = sandbox.check_types().into_iter().next().ok_or("this is no check plugin")?;

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    report("instantiate and drop", runtime.block_on(sandbox.instantiate(&check, rounds))?);
    if let Some(case) = case {
        let case: Case = serde_json::from_slice(&std::fs::read(case)?)?;
        let Spent { alone, inside, outside } =
            runtime.block_on(run(&sandbox, &check, &case, rounds))?;
        report("whole run, without answering its probes", alone);
        report("the same, probes answered from the case", inside);
        report("the same, as its caller waits for it", outside);
    }
    Ok(())
}

fn sandbox() -> Result<Sandbox, Failure> {
    Ok(Sandbox::new(Options {
        egress: Egress::new(egress::Options {
            dns_servers: vec!["127.0.0.1:9".parse()?],
            ..egress::Options::default()
        })?,
        cache_dir: None,
        settings: Default::default(),
        state: Arc::new(MemoryState::default()),
    })?)
}

/// What each run took.
#[derive(Default)]
struct Spent {
    /// The plugin and its cage: what answers its probes is the network's part.
    alone: Vec<Duration>,
    inside: Vec<Duration>,
    outside: Vec<Duration>,
}

async fn run(
    sandbox: &Sandbox,
    check: &CheckType,
    case: &Case,
    rounds: usize,
) -> Result<Spent, Failure> {
    let job = Job {
        run_id: "cost".to_owned(),
        target: Target::parse(&case.job.target)?,
        port: None,
        connect_to: None,
        config: case.job.config.clone().unwrap_or_else(|| json!({})),
        omit: vec!["tls_grade".into(), "ocsp_stapling".into()],
        now: case.job.at.unwrap_or_default(),
        audience: Audience::Authenticated,
        site: None,
        watched: false,
    };
    let recording = Arc::new(Recording::new(case.probes.clone()));
    let mut spent = Spent::default();
    for _ in 0..rounds {
        let started = Instant::now();
        let ran = sandbox.replay(check, job.clone(), Arc::clone(&recording)).await?;
        spent.outside.push(started.elapsed());
        spent.inside.push(ran.duration);
        spent.alone.push(ran.duration.saturating_sub(ran.host_time));
    }
    Ok(spent)
}

fn report(what: &str, mut spent: Vec<Duration>) {
    spent.sort();
    let at = |percent: usize| spent[(spent.len() * percent / 100).min(spent.len() - 1)];
    println!("{what}: p50 {:?}, p99 {:?} over {} calls", at(50), at(99), spent.len());
}
