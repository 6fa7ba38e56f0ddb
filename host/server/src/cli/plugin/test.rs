//! `vedette plugin test`: runs that were recorded, had again by a component through the gate and
//! within the limits of a service, without a network.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, anyhow};
use serde_json::{Value, json};
use vedette_model::CheckType;
use vedette_sandbox::{MemoryState, Sandbox, Settings};

use super::{
    case::{self, Case},
    inspect,
    outcome::{Done, Failure, Said},
    trial,
};
use crate::{
    cli::{
        check::{self, Source},
        counted, environment, start_log,
    },
    config::Config,
    start,
};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The component, of a check
    file: PathBuf,
    /// Case files, as `plugin run --record` writes them; without any, those of the folder tests
    #[arg(value_name = "CASE")]
    cases: Vec<PathBuf>,
    /// The service's file, for the plugin's settings
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// How one case ended.
struct Verdict {
    file: PathBuf,
    /// None of them: it passed.
    differences: Vec<String>,
    /// Recorded calls that were not made.
    unused: Vec<String>,
}

pub(super) async fn run(args: &Args) -> Done {
    let cases = cases(&args.cases)?;
    let component = inspect::file(&args.file)?;
    let manifest = vedette_sandbox::read(&component)?.manifest;
    let check_type = trial::check_type(&manifest)?;
    let config = Config::load(args.config.as_deref(), environment, toml::Table::new());
    let config = config.map_err(anyhow::Error::new)?;
    start_log(&trial::log())?;
    let secrets = manifest.asked.secrets.iter();
    let secrets: BTreeMap<_, _> =
        secrets.map(|name| (name.clone(), case::placeholder(name))).collect();
    let mut sandbox = start::sandbox(&config, Arc::new(MemoryState::default()))?;
    let mut installed: Option<Settings> = None;
    let mut verdicts = Vec::with_capacity(cases.len());
    for (file, case) in cases {
        let settings = case.settings(check_type);
        if installed.as_ref() != Some(&settings) {
            let (component, secrets) = (component.clone(), secrets.clone());
            sandbox = trial::install(sandbox, component, secrets, settings.clone()).await?;
            installed = Some(settings);
        }
        verdicts.push(judge(&sandbox, check_type, file, &case).await?);
    }
    ended(&verdicts)
}

/// All are read before one is run.
fn cases(given: &[PathBuf]) -> anyhow::Result<Vec<(PathBuf, Case)>> {
    let files = if given.is_empty() { found(Path::new(FOLDER))? } else { given.to_vec() };
    files.into_iter().map(|file| Case::read(&file).map(|case| (file, case))).collect()
}

fn found(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let files = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<_> =
        files.filter(|file| file.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    (!files.is_empty()).then_some(files).with_context(|| {
        format!(
            "there is no case in {}; record one with vedette plugin run … --record {}",
            folder.display(),
            folder.join("NAME.toml").display()
        )
    })
}

async fn judge(
    sandbox: &Sandbox,
    check_type: &CheckType,
    file: PathBuf,
    case: &Case,
) -> anyhow::Result<Verdict> {
    let descriptor = sandbox.check(check_type).context("the plugin did not install its check")?;
    let recording = case.recording();
    let wanted = case.wanted().with_context(|| file.display().to_string())?;
    let source = Source::Recording(Arc::clone(&recording));
    let differences = match check::once(sandbox, descriptor, wanted, source).await {
        Ok(seen) => case.differences(&seen),
        Err(cause) => vec![format!("{cause:#}")],
    };
    let unused = recording.unused().into_iter();
    let unused = unused.map(|probe| format!("{} {}", probe.call, probe.request)).collect();
    Ok(Verdict { file, differences, unused })
}

fn ended(verdicts: &[Verdict]) -> Done {
    let said = Said {
        json: json!({ "cases": verdicts.iter().map(as_json).collect::<Vec<_>>() }),
        text: verdicts.iter().map(for_people).collect(),
    };
    let failed = verdicts.iter().filter(|verdict| !verdict.differences.is_empty()).count();
    match failed {
        0 => Ok(said),
        _ => {
            let cases = counted(verdicts.len(), "case");
            Err(Failure::Refused(said, anyhow!("{failed} of {cases} failed")))
        }
    }
}

fn as_json(verdict: &Verdict) -> Value {
    json!({
        "file": verdict.file,
        "passed": verdict.differences.is_empty(),
        "differences": verdict.differences,
        "unused": verdict.unused,
    })
}

fn for_people(verdict: &Verdict) -> String {
    let word = if verdict.differences.is_empty() { "ok    " } else { "failed" };
    let mut text = format!("{word}  {}\n", verdict.file.display());
    for difference in &verdict.differences {
        text += &format!("        {difference}\n");
    }
    for call in &verdict.unused {
        text += &format!("        recorded, but not asked for: {call}\n");
    }
    text
}

/// Beside the project's manifest.
const FOLDER: &str = "tests";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cases_of_a_project_are_found_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let nothing = found(folder.path()).expect_err("none").to_string();
        assert!(nothing.contains("record one with vedette plugin run"), "{nothing}");
        for name in ["b.toml", "a.toml", "lib.rs"] {
            std::fs::write(folder.path().join(name), "").expect("written");
        }
        let files = found(folder.path()).expect("two");
        assert_eq!(files, [folder.path().join("a.toml"), folder.path().join("b.toml")]);
        assert!(found(&folder.path().join("absent")).is_err());
    }
}
