//! `vedette plugin run`: one run of a check that need not be installed, with what its manifest asks
//! for, and what the run cost.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, anyhow, bail};
use serde_json::{Map, Value, json};
use toml::Table;
use vedette_model::domain_name::Target;
use vedette_sandbox::{
    CheckDescriptor, Cost, Limits, Manifest, MemoryState, PluginError, Recorder, RunError, Sandbox,
    ValidateError,
};

use super::{
    case::{self, Case},
    inspect,
    outcome::{Done, Failure, Said},
    set, trial,
};
use crate::{
    Clock,
    cli::{
        check::{self, Given, Seen, Source, Wanted},
        environment, flags, start_log,
    },
    plugins::{self, misfit, settings_of},
    start,
};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The component, of a check
    file: PathBuf,
    /// What to check: a domain name or an address
    #[arg(long, value_name = "TARGET")]
    target: String,
    /// The check's own configuration: a TOML file, or TOML such as 'path = "/health"'. Or the
    /// service's file: its resolvers, ranges, roots and settings
    #[arg(long, value_name = "TOML")]
    config: Option<String>,
    /// The site's own port
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Connect to this address instead of the ones that the name resolves to
    #[arg(long, value_name = "IP")]
    origin_ip: Option<IpAddr>,
    /// A secret that it asks for, from a variable of the environment (repeatable)
    #[arg(long, value_name = "NAME=VARIABLE")]
    secret: Vec<String>,
    /// What an operator would set for it, as for `plugin set` (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Write what the probes were answered to a new file: a case for `plugin test`
    #[arg(long, value_name = "CASE")]
    record: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    network: flags::Network,
}

pub(super) async fn run(args: &Args) -> Done {
    let target = Target::parse(&args.target).map_err(anyhow::Error::new)?;
    args.record.as_deref().map(case::ensure_vacant).transpose()?;
    let (own, file) = Given::split(args.config.as_deref())?;
    let config = check::settings(&args.network, file)?;
    let secrets = secrets(&args.secret)?;
    let component = inspect::file(&args.file)?;
    let read = vedette_sandbox::read(&component)?;
    let manifest = &read.manifest;
    let check_type = trial::check_type(manifest)?;
    ensure_asked(manifest, &secrets)?;
    let set = set::assigned(manifest, &args.set)?;
    if let Some(reason) = misfit(&read, None, &set) {
        return Err(anyhow!("--set: {reason}").into());
    }
    let settings = settings_of(&manifest.kind, &set);
    start_log(&trial::log())?;
    let sandbox = start::sandbox(&config, Arc::new(MemoryState::default()))?;
    let sandbox = trial::install(sandbox, component, secrets.clone(), settings).await?;
    let placed = sandbox.check(check_type).zip(sandbox.limits(check_type));
    let (descriptor, limits) = placed.context("the plugin did not install its check")?;
    let (given, port, origin_ip) = (args.target.as_str(), args.port, args.origin_ip);
    let now = Clock::System.now();
    let wanted = Wanted { given, target, port, origin_ip, config: own, now };
    let seen = match &args.record {
        None => check::once(&sandbox, descriptor, wanted, Source::Network).await,
        Some(file) => record(&sandbox, descriptor, wanted, file, &secrets, &set).await,
    };
    let seen = seen.map_err(at_fault)?;
    Ok(Said { json: as_json(manifest, &seen, &limits), text: for_people(&seen, &limits) })
}

/// Runs it live and writes the case down. What the case expects is what a run of it sees, so that
/// it holds from the first on: times that the live run measured are not in it.
async fn record(
    sandbox: &Sandbox,
    descriptor: Arc<CheckDescriptor>,
    wanted: Wanted<'_>,
    file: &Path,
    secrets: &BTreeMap<String, String>,
    set: &Table,
) -> anyhow::Result<Seen> {
    let recorder = Arc::<Recorder>::default();
    let source = Source::Recorded(Arc::clone(&recorder));
    let seen = check::once(sandbox, Arc::clone(&descriptor), wanted.clone(), source).await?;
    let mut case = Case::of(&wanted, plugins::as_json(set), recorder.take());
    let again = check::once(sandbox, descriptor, wanted, Source::Recording(case.recording())).await;
    case.expect(&again.context("what was recorded does not give the same run again")?);
    case.write(file, secrets)?;
    Ok(seen)
}

/// The values of the secrets that the command line names; never on the command line themselves.
fn secrets(given: &[String]) -> anyhow::Result<BTreeMap<String, String>> {
    let values = given.iter().map(|given| {
        let (name, variable) = given.split_once('=').context("--secret must be NAME=VARIABLE")?;
        let value = environment(variable).filter(|value| !value.is_empty());
        let value = value.with_context(|| {
            format!("--secret {name} names an environment variable that is not set; set it")
        })?;
        Ok((name.to_owned(), value))
    });
    values.collect()
}

/// Refuses a secret that the plugin does not ask for, and so would never be given.
fn ensure_asked(manifest: &Manifest, secrets: &BTreeMap<String, String>) -> anyhow::Result<()> {
    let asked: Vec<&str> = manifest.asked.secrets.iter().map(String::as_str).collect();
    match secrets.keys().find(|name| !asked.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) if asked.is_empty() => {
            bail!("--secret names {name}, and the plugin asks for no secrets")
        }
        Some(name) => bail!("--secret names {name}; the plugin asks for {}", asked.join(", ")),
    }
}

/// A plugin that broke is at fault itself; a target that may not be reached is not its doing.
fn at_fault(cause: anyhow::Error) -> Failure {
    let broke = |error: &PluginError| {
        matches!(error, PluginError::Broken { .. } | PluginError::InvalidInput(_))
    };
    let ran = cause.downcast_ref::<RunError>();
    let assessed = cause.downcast_ref::<PluginError>();
    let validated = cause.downcast_ref::<ValidateError>();
    let is_plugins = ran.is_some_and(|error| matches!(error, RunError::Broken { .. }))
        || assessed.is_some_and(broke)
        || validated.is_some_and(
            |error| matches!(error, ValidateError::Unavailable(error) if broke(error)),
        );
    if is_plugins { Failure::Plugin(cause) } else { Failure::Environment(cause) }
}

fn as_json(manifest: &Manifest, seen: &Seen, limits: &Limits) -> Value {
    let observation = &seen.ran.observation;
    let metrics =
        observation.metrics.iter().map(|(name, value)| (name.clone(), Value::from(*value)));
    let costs = costs(&seen.ran.cost, seen.ran.duration.as_millis(), limits).map(|cost| {
        let Used { name, unit, used, limit } = cost;
        (name.to_owned(), json!({ "used": used, "limit": limit, "unit": unit }))
    });
    json!({
        "id": manifest.id,
        "version": manifest.version,
        "health": seen.assessment.health,
        "summary": observation.summary,
        "result": observation.result,
        "metrics": metrics.collect::<Map<String, Value>>(),
        "findings": check::findings(seen),
        "costs": costs.into_iter().collect::<Map<String, Value>>(),
    })
}

fn for_people(seen: &Seen, limits: &Limits) -> String {
    let mut text = check::for_people(seen);
    for (name, value) in &seen.ran.observation.metrics {
        text += &format!("  metric {name} = {value}\n");
    }
    for Used { name, unit, used, limit } in
        costs(&seen.ran.cost, seen.ran.duration.as_millis(), limits)
    {
        text += &format!("  {name:<8}  {used} of {limit} {unit}\n");
    }
    text
}

/// One line of what a run cost; the limit is the manifest's, or what it has without asking.
#[derive(Debug, PartialEq)]
struct Used {
    name: &'static str,
    unit: &'static str,
    used: u64,
    limit: u64,
}

/// In the words and the order of the manifest's `limits`.
fn costs(cost: &Cost, wall: u128, limits: &Limits) -> [Used; 5] {
    let whole = |number: u128| u64::try_from(number).unwrap_or(u64::MAX);
    let kib = |bytes: u64| bytes.div_ceil(1 << 10);
    let used = |name, unit, used, limit| Used { name, unit, used, limit };
    [
        used("memory", "KiB", kib(cost.memory as u64), kib(limits.memory as u64)),
        used("cpu", "ms", whole(cost.cpu.as_millis()), whole(limits.cpu.as_millis())),
        used("wall", "ms", whole(wall), whole(limits.wall.as_millis())),
        used("calls", "calls", cost.calls.into(), limits.calls.into()),
        used("bytes", "KiB", kib(cost.bytes), kib(limits.bytes)),
    ]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use vedette_sandbox::{Settings, Stop};

    use super::*;

    #[test]
    fn costs_are_told_beside_their_limits() {
        let cost = Cost { cpu: Duration::from_millis(3), memory: 70_000, calls: 2, bytes: 1 };
        let limits = Limits {
            memory: 16 << 20,
            cpu: Duration::from_millis(50),
            pure_cpu: Duration::from_millis(100),
            wall: Duration::from_secs(10),
            calls: 64,
            bytes: 4 << 20,
        };
        let told = costs(&cost, 120, &limits);
        let told = told.map(|Used { name, used, limit, .. }| (name, used, limit));
        let expected = [
            ("memory", 69, 16_384),
            ("cpu", 3, 50),
            ("wall", 120, 10_000),
            ("calls", 2, 64),
            ("bytes", 1, 4_096),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_plugin_is_at_fault_for_what_it_broke_alone() {
        let broken = || PluginError::Broken { why: Stop::Trap, message: String::new() };
        let ran = RunError::Broken { why: Stop::Cpu, message: String::new() };
        for (cause, is_plugins) in [
            (anyhow::Error::new(ran), true),
            (anyhow::Error::new(broken()), true),
            (anyhow::Error::new(ValidateError::Unavailable(broken())), true),
            (anyhow::Error::new(RunError::Blocked("private".to_owned())), false),
            (anyhow::Error::new(RunError::Overloaded), false),
            (anyhow!("--config does not fit"), false),
        ] {
            let said = cause.to_string();
            assert_eq!(matches!(at_fault(cause), Failure::Plugin(_)), is_plugins, "{said}");
        }
    }

    #[test]
    fn a_secret_that_is_not_asked_for_is_refused() {
        let given = BTreeMap::from([("token".to_owned(), "x".to_owned())]);
        for (asked, expected) in [
            ("[\"token\", \"other\"]", None),
            (
                "[\"tokn\", \"other\"]",
                Some("--secret names token; the plugin asks for other, tokn"),
            ),
            ("[]", Some("--secret names token, and the plugin asks for no secrets")),
        ] {
            let text = format!(
                "[plugin]\nid = \"acme.banner\"\nversion = \"1\"\nkind = \"check\"\n\
                 check-type = \"banner\"\nwit = \"vedette:plugin@1\"\n\
                 [capabilities]\nsecrets = {asked}\n"
            );
            let manifest = Manifest::parse(&text, &Settings::new()).expect("a manifest");
            assert!(ensure_asked(&manifest, &BTreeMap::new()).is_ok());
            let said = ensure_asked(&manifest, &given).err().map(|wrong| wrong.to_string());
            assert_eq!(said.as_deref(), expected, "{asked}");
        }
    }

    #[test]
    fn secrets_come_from_the_environment() {
        let path = std::env::var("PATH").expect("there is one");
        let read = secrets(&["token=PATH".to_owned()]).expect("set");
        assert_eq!(read.get("token"), Some(&path));
        for wrong in ["token", "token=VEDETTE_NOT_SET_ANYWHERE", "token="] {
            assert!(secrets(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }
}
