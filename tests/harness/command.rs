//! `vedette check …`, `vedette agent …`, `vedette plugin …` and `vedette secrets …`, as somebody at a
//! terminal runs them.

use std::{path::Path, process::Stdio, time::Duration};

use anyhow::Context;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use crate::{Settings, program};

/// A debug build on a loaded machine compiles the plugin in this time.
const PATIENCE: Duration = Duration::from_secs(240);

/// The standard library may have to be built too.
const BUILDING: Duration = Duration::from_secs(900);

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Ran {
    /// None: a signal ended it.
    pub code: Option<i32>,
    pub output: String,
    pub errors: String,
}

/// Runs `vedette check` with these arguments, in the network and with the configuration of
/// `settings`.
pub async fn check(settings: &Settings, arguments: &[&str]) -> anyhow::Result<Ran> {
    let folder = TempDir::with_prefix("vedette-check-")?;
    let config = folder.path().join("vedette.toml");
    std::fs::write(&config, &settings.toml)?;
    let mut command = Command::new(program()?);
    command.arg("check").args(arguments).env("VEDETTE_CONFIG", &config);
    for range in &settings.egress_allow {
        command.args(["--egress-allow", range]);
    }
    live_in(&mut command, settings, folder.path())?;
    ran(command, PATIENCE).await
}

/// Runs `vedette agent` with these arguments and this key, in the network of `settings`, until it
/// ends by itself.
pub async fn agent(settings: &Settings, key: &str, arguments: &[&str]) -> anyhow::Result<Ran> {
    let folder = TempDir::with_prefix("vedette-agent-")?;
    ran(agent_command(settings, folder.path(), key, arguments)?, PATIENCE).await
}

/// What [`agent`] runs, for a test that starts and stops it. Its roots are written to `folder`.
pub fn agent_command(
    settings: &Settings,
    folder: &Path,
    key: &str,
    arguments: &[&str],
) -> anyhow::Result<Command> {
    let mut command = Command::new(program()?);
    command
        .arg("agent")
        .args(arguments)
        .env_remove("VEDETTE_CONFIG")
        .env("VEDETTE_AGENT_KEY", key)
        .env("NO_PROXY", "127.0.0.1");
    live_in(&mut command, settings, folder)?;
    Ok(command)
}

/// The names and roots of a lab.
fn live_in(command: &mut Command, settings: &Settings, folder: &Path) -> anyhow::Result<()> {
    for server in &settings.dns {
        command.args(["--dns-server", &server.to_string()]);
    }
    for (number, root) in settings.roots.iter().enumerate() {
        let file = folder.join(format!("root-{number}.pem"));
        std::fs::write(&file, root)?;
        command.arg("--ca-file").arg(file);
    }
    Ok(())
}

/// Runs `vedette plugin` with these arguments. What it builds comes from the packages that this
/// program was built from, and without the network; a later build finds what an earlier one made.
pub async fn plugin(arguments: &[&str]) -> anyhow::Result<Ran> {
    let program = program()?;
    let built = program.ancestors().nth(2).context("the program lies in the target folder")?;
    let mut command = Command::new(&program);
    command
        .arg("plugin")
        .args(arguments)
        .env_remove("VEDETTE_CONFIG")
        .env_remove("VEDETTE_ADMIN")
        .env("CARGO_TARGET_DIR", built.join("plugin-projects"))
        .env("CARGO_NET_OFFLINE", "true");
    ran(command, BUILDING).await
}

/// Runs `vedette plugin` with these arguments on a plugin folder; answers in JSON.
pub async fn plugin_in(folder: &Path, arguments: &[&str]) -> anyhow::Result<Ran> {
    let folder = folder.to_str().context("a path in UTF-8")?;
    plugin(&[arguments, &["--json", "--folder", folder]].concat()).await
}

/// Runs `vedette secrets` with these arguments on a database.
pub async fn secrets(database: &str, arguments: &[&str]) -> anyhow::Result<Ran> {
    let mut command = Command::new(program()?);
    command.arg("secrets").args(arguments).args(["--db", database]).env_remove("VEDETTE_CONFIG");
    ran(command, PATIENCE).await
}

async fn ran(mut command: Command, patience: Duration) -> anyhow::Result<Ran> {
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output();
    let output = tokio::time::timeout(patience, output)
        .await
        .with_context(|| format!("vedette ran longer than {patience:?}"))??;
    Ok(Ran {
        code: output.status.code(),
        output: String::from_utf8(output.stdout)?,
        errors: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

impl Ran {
    /// What `--json` printed.
    #[track_caller]
    pub fn json(&self) -> Value {
        match serde_json::from_str(&self.output) {
            Ok(value) => value,
            Err(reason) => panic!("not JSON ({reason}): {self:?}"),
        }
    }
}
