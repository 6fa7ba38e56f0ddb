//! `vedette check`: one run of one plugin, without a service and without a database; of a server,
//! or of a chain of certificates in a file.

mod given;

use std::{io::Write, net::IpAddr, path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::{anyhow, bail};
use serde_json::{Map, Value, json};
use toml::Table;
use vedette_model::{
    Assessment, CheckType, Evidence, Health, Severity, Timestamp, domain_name::Target,
};
use vedette_sandbox::{
    CheckDescriptor, Job, MemoryState, Problem, Ran, Recorder, Recording, RunError, Sandbox,
    ValidateError, egress::Audience,
};

pub(super) use given::Given;

use super::{
    COULD_NOT,
    chain::{self, Chain},
    environment, flags,
    print::{self, Report, Shown, Style},
    start_log, token,
};
use crate::{
    Clock, Config,
    config::{Log, LogFormat},
    start::{self, Plugins},
};

#[derive(clap::Args)]
pub(super) struct Args {
    /// What to check: ssl, dns, domain, ct, uptime, or what an approved plugin of your own checks
    #[arg(value_name = "TYPE")]
    check_type: CheckType,
    /// A domain name or an address
    #[arg(required_unless_present = "chain_file")]
    target: Option<String>,
    /// Print the result and the findings as one JSON object
    #[arg(long)]
    json: bool,
    /// Connect to this port instead of the protocol's own
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Connect to this address instead of the ones that the name resolves to; uptime asks as visitors do
    #[arg(long, value_name = "IP")]
    origin_ip: Option<IpAddr>,
    /// The check's own configuration: a TOML file, or TOML such as 'path = "/health"'. Or the
    /// service's file: its resolvers, ranges, roots and sources
    #[arg(long, value_name = "TOML")]
    config: Option<String>,
    #[command(flatten)]
    chain: flags::Chain,
    #[command(flatten)]
    network: flags::Network,
}

/// One run that is wanted.
#[derive(Clone)]
pub(super) struct Wanted<'a> {
    /// The target as it was given, and as it was read.
    pub(super) given: &'a str,
    pub(super) target: Target,
    pub(super) port: Option<u16>,
    pub(super) origin_ip: Option<IpAddr>,
    /// What a site's `check_config` holds for the check.
    pub(super) config: Value,
    pub(super) now: Timestamp,
}

/// What answers the probes of a run.
pub(super) enum Source {
    Network,
    /// The network, and what is asked and answered is written down.
    Recorded(Arc<Recorder>),
    /// An earlier run.
    Recording(Arc<Recording>),
    Chain(Chain),
}

/// What one run saw, and what it means.
pub(super) struct Seen {
    /// As it was given.
    target: String,
    descriptor: Arc<CheckDescriptor>,
    pub(super) ran: Ran,
    pub(super) assessment: Assessment,
    now: Timestamp,
}

/// 0 = ok, 1 = findings, 2 = could not check.
pub(super) async fn run(args: Args) -> ExitCode {
    let seen = match look(&args).await {
        Ok(seen) => seen,
        Err(cause) => {
            if args.json {
                println!("{}", json!({ "error": "not_checked", "message": format!("{cause:#}") }));
            } else {
                eprintln!("vedette: {cause:#}");
            }
            return ExitCode::from(COULD_NOT);
        }
    };
    let text = if args.json { as_json(&seen) } else { for_people(&seen) };
    // A reader that went away (`| head`) is no reason to say anything else.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::from(code(&seen))
}

async fn look(args: &Args) -> anyhow::Result<Seen> {
    let given = args.target();
    let target = Target::parse(given)?;
    let chain = Chain::of(&args.chain, &args.check_type)?;
    let (own, file) = Given::split(args.config.as_deref())?;
    let config = settings(&args.network, file)?;
    start_log(&Log { filter: LOG.into(), format: LogFormat::Text })?;
    let check_type = &args.check_type;
    let (sandbox, descriptor) = installed(&config, check_type).await?;
    let (port, origin_ip) = (args.port, args.origin_ip);
    let at = chain.as_ref().and_then(|chain| chain.at);
    let now = at.unwrap_or_else(|| Clock::System.now());
    let wanted = Wanted { given, target, port, origin_ip, config: own, now };
    once(&sandbox, descriptor, wanted, chain.map_or(Source::Network, Source::Chain)).await
}

/// Runs an installed check, and has it say what that means.
pub(super) async fn once(
    sandbox: &Sandbox,
    descriptor: Arc<CheckDescriptor>,
    wanted: Wanted<'_>,
    source: Source,
) -> anyhow::Result<Seen> {
    let Wanted { given, target, port, origin_ip, config, now } = wanted;
    let check_type = &descriptor.check_type;
    let own = validated(sandbox, check_type, given, &config).await?;
    let omit: &[&str] = if matches!(source, Source::Chain(_)) { &chain::UNKNOWABLE } else { &[] };
    let job = Job {
        run_id: "cli".to_owned(),
        target,
        port,
        connect_to: origin_ip,
        config: own.clone(),
        omit: omit.iter().map(|field| (*field).to_owned()).collect(),
        now,
        audience: Audience::Authenticated,
        site: None,
        watched: false,
    };
    let ran = match source {
        Source::Network => sandbox.run(check_type, job).await,
        Source::Recorded(recorder) => sandbox.record(check_type, job, recorder).await,
        Source::Recording(recording) => sandbox.replay(check_type, job, recording).await,
        Source::Chain(chain) => sandbox.run_on_chain(check_type, job, chain.certificates).await,
    };
    let ran = ran.map_err(told)?;
    let assessment = sandbox.assess(&ran.version, None, evidence(&ran, own, now)).await?;
    Ok(Seen { target: given.to_owned(), descriptor, ran, assessment, now })
}

/// A sandbox with the plugin of one check: one of ours, else the operator's own.
async fn installed(
    config: &Config,
    check_type: &CheckType,
) -> anyhow::Result<(Sandbox, Arc<CheckDescriptor>)> {
    let sandbox = start::sandbox(config, Arc::new(MemoryState::default()))?;
    let sandbox = if start::check_names().contains(&check_type.as_str()) {
        start::install(sandbox, Plugins::Check(check_type.clone())).await?
    } else {
        start::install_own(sandbox, config, check_type.clone()).await?
    };
    let Some(descriptor) = sandbox.check(check_type) else {
        bail!(
            "there is no check {check_type}; there are {}, and those of {} that are approved",
            start::check_names().join(", "),
            config.plugins.folder.display()
        )
    };
    Ok((sandbox, descriptor))
}

/// What a run is judged by that has none before it.
fn evidence(ran: &Ran, config: Value, now: Timestamp) -> Evidence {
    Evidence {
        current: ran.observation.result.clone(),
        current_at: now,
        settled: None,
        siblings: Vec::new(),
        config,
        alert_days: DEFAULT_ALERT_DAYS,
        memory: None,
    }
}

impl Args {
    /// The name or address that was given, in whichever place.
    fn target(&self) -> &str {
        let given = self.target.as_ref().or(self.chain.name.as_ref());
        given.expect("the command line asks for one of them")
    }
}

/// The operator's settings: file and environment as for `serve`, and the flags given here.
pub(super) fn settings(network: &flags::Network, file: Option<PathBuf>) -> anyhow::Result<Config> {
    let mut flags = Table::new();
    network.layer(&mut flags);
    let file = file.or_else(|| environment("VEDETTE_CONFIG").map(PathBuf::from));
    Ok(Config::load(file.as_deref(), environment, flags)?)
}

async fn validated(
    sandbox: &Sandbox,
    check_type: &CheckType,
    target: &str,
    config: &Value,
) -> anyhow::Result<Value> {
    match sandbox.validate(check_type, target, config).await {
        Ok(config) => Ok(config),
        Err(ValidateError::Problems(problems)) => Err(unfit(&problems)),
        Err(cause) => Err(cause.into()),
    }
}

/// Each problem by its place.
fn unfit(problems: &[Problem]) -> anyhow::Error {
    if problems.is_empty() {
        return anyhow!("--config does not fit, and the check does not say why");
    }
    let said: Vec<_> = problems
        .iter()
        .map(|problem| match problem.pointer.as_str() {
            "" => problem.message.clone(),
            pointer => format!("{pointer} {}", problem.message),
        })
        .collect();
    anyhow!("--config does not fit: {}", said.join("; "))
}

/// The person who runs this decides what may be reached, and is told how.
fn told(cause: RunError) -> anyhow::Error {
    match cause {
        RunError::Blocked(reason) => {
            anyhow!("{reason}; here --egress-allow opens one, as in --egress-allow 10.0.0.0/8")
        }
        RunError::InvalidConfig(problems) => unfit(&problems),
        cause => cause.into(),
    }
}

fn code(seen: &Seen) -> u8 {
    if !seen.assessment.findings.is_empty() {
        return FINDINGS;
    }
    let error = seen.ran.observation.result["error"].as_str();
    match seen.assessment.health {
        Health::Ok | Health::Unknown if error.is_some() => COULD_NOT,
        Health::Unknown => COULD_NOT,
        Health::Ok => OK,
        Health::Degraded | Health::Down if error.is_some_and(met_nobody) => COULD_NOT,
        Health::Degraded | Health::Down => FINDINGS,
    }
}

/// Whether a probe did not get as far as what it was to look at. Where that is the finding itself,
/// as for the uptime check, there is one.
fn met_nobody(error: &str) -> bool {
    ["connection_", "dns_"].iter().any(|start| error.starts_with(start))
}

/// The result as the API answers it, and with it what was found.
fn as_json(seen: &Seen) -> String {
    let mut answer = match &seen.ran.observation.result {
        Value::Object(members) => members.clone(),
        other => Map::from_iter([("result".to_owned(), other.clone())]),
    };
    answer.insert("findings".to_owned(), findings(seen));
    format!("{}\n", Value::Object(answer))
}

/// What was found, as a list of objects.
pub(super) fn findings(seen: &Seen) -> Value {
    let findings = shown(seen).into_iter().map(|Shown { finding, severity }| {
        json!({
            "type": finding.event,
            "severity": severity,
            "message": finding.message,
            "suggestion": finding.suggestion,
        })
    });
    findings.collect()
}

pub(super) fn for_people(seen: &Seen) -> String {
    let report = Report {
        title: &seen.descriptor.title,
        target: &seen.target,
        summary: &seen.ran.observation.summary,
        reason: reason(seen),
        health: seen.assessment.health,
        result: &seen.ran.observation.result,
        first: &seen.descriptor.summary_fields,
        findings: &shown(seen),
        now: seen.now,
        milliseconds: seen.ran.duration.as_millis(),
    };
    print::report(&report, Style::of_stdout())
}

/// What the result's `error` means, where no finding says it.
fn reason(seen: &Seen) -> Option<&'static str> {
    let error = seen.ran.observation.result["error"].as_str();
    error.filter(|_| seen.assessment.findings.is_empty()).and_then(token::meaning)
}

fn shown(seen: &Seen) -> Vec<Shown<'_>> {
    let severity = |name: &str| {
        let events = &seen.descriptor.events;
        events
            .iter()
            .find(|event| event.name == name)
            .map_or(Severity::Warning, |event| event.severity)
    };
    let findings = seen.assessment.findings.iter();
    findings
        .map(|finding| Shown {
            finding,
            severity: finding.severity.unwrap_or_else(|| severity(&finding.event)),
        })
        .collect()
}

const OK: u8 = 0;
const FINDINGS: u8 = 1;
/// Spec: Site, `alert_days`.
const DEFAULT_ALERT_DAYS: u16 = 14;
/// What a name server answered is the check's to tell.
const LOG: &str = "warn,hickory_net=error,hickory_net::dnssec=off";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_that_does_not_fit_is_told_with_a_reason() {
        let problem = |pointer: &str, message: &str| Problem {
            pointer: pointer.to_owned(),
            message: message.to_owned(),
        };
        for (problems, expected) in [
            (vec![], "--config does not fit, and the check does not say why"),
            (
                vec![problem("/path", "must start with /"), problem("", "is too long")],
                "--config does not fit: /path must start with /; is too long",
            ),
        ] {
            assert_eq!(told(RunError::InvalidConfig(problems)).to_string(), expected);
        }
    }
}
