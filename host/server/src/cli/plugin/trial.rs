//! A check that need not be installed, in a sandbox of the command's own: what `run` and `test`
//! begin with.

use std::collections::BTreeMap;

use anyhow::{Context, anyhow};
use vedette_model::CheckType;
use vedette_sandbox::{Grant, Kind, Manifest, Sandbox, Settings};

use super::outcome::Failure;
use crate::{
    config::{Log, LogFormat},
    plugins::refusal,
};

/// The check that a component is, if one may run it.
pub(super) fn check_type(manifest: &Manifest) -> Result<&CheckType, Failure> {
    let Kind::Check(check_type) = &manifest.kind else {
        return Err(anyhow!(
            "{} is a channel, which has nothing to run; the tests of its project show what it \
             writes",
            manifest.id
        )
        .into());
    };
    match refusal(&manifest.id, &manifest.kind, None) {
        Some(reason) => Err(Failure::plugin(reason)),
        None => Ok(check_type),
    }
}

/// Through the gate, as in a service that grants all that is asked for.
pub(super) async fn install(
    sandbox: Sandbox,
    component: Vec<u8>,
    secrets: BTreeMap<String, String>,
    settings: Settings,
) -> Result<Sandbox, Failure> {
    // Compiling is long work without a pause.
    let installed = tokio::task::spawn_blocking(move || {
        sandbox.install_with(&component, Grant::AsAsked, secrets, settings).map(|()| sandbox)
    });
    Ok(installed.await.context("installing the plugin panicked")??)
}

pub(super) fn log() -> Log {
    Log { filter: LOG.into(), format: LogFormat::Text }
}

/// What the plugin says to its author, of any level; that it was stopped is told by the command.
const LOG: &str = "warn,vedette::plugin=debug,vedette_sandbox::registry=off,hickory_net=error,\
                   hickory_net::dnssec=off";
