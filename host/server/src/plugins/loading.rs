//! From the lock into the sandbox: what was approved is held against what lies in the folder, then
//! goes through the gate that every plugin passes. Blocks: components are compiled here.

use std::collections::BTreeMap;

use anyhow::{Context, bail, ensure};
use vedette_model::CheckType;
use vedette_sandbox::{GateError, Grant, Kind, Sandbox};

use super::{
    changes::{self, Running},
    folder::{Folder, sha256},
    lock::{Lock, Locked, Previous, SecretPlace},
    operators::Known,
    rule, settings,
};

/// Does what the lock wants, as far as it can be done. A version that is refused leaves the one
/// before where it is, or lets an earlier one in where none runs, as at a start.
pub(super) fn apply(sandbox: &Sandbox, folder: &Folder, known: &Known, lock: Lock) -> Known {
    let mut running = known.running.clone();
    let mut failures = BTreeMap::new();
    let changes = changes::between(&known.running, &lock);
    for id in changes.remove {
        sandbox.uninstall(id);
        running.remove(id);
    }
    for locked in changes.install {
        let id = &locked.id;
        match install(sandbox, folder, locked) {
            Ok(kind) => {
                running.insert(id.clone(), Running { locked: locked.clone(), kind });
            }
            Err(cause) => {
                let stays = instead(sandbox, folder, locked, running.remove(id), &cause);
                let told = stays.as_ref().map(|stays| &stays.locked.version);
                let told = told.map_or_else(String::new, |version| format!("; {version} runs on"));
                let reason = format!("{cause:#}");
                tracing::error!(
                    plugin = &**id,
                    version = &*locked.version,
                    "plugin {id} {} is not loaded: {reason}{told}",
                    locked.version
                );
                running.extend(stays.map(|stays| (id.clone(), stays)));
                failures.insert(id.clone(), reason);
            }
        }
    }
    Known { lock, running, failures, lock_error: None }
}

/// What runs where a version is refused: what ran before, unless the lock now takes from it what it
/// runs with; where nothing ran, the latest earlier version that loads, unless what is refused lacks
/// a grant, which an earlier version may still have.
fn instead(
    sandbox: &Sandbox,
    folder: &Folder,
    locked: &Locked,
    before: Option<Running>,
    cause: &anyhow::Error,
) -> Option<Running> {
    match before {
        Some(before) if locked.takes_from(&before.locked) => {
            sandbox.uninstall(&locked.id);
            None
        }
        Some(before) => Some(before),
        None if is_withheld(cause) => None,
        None => {
            let mut kept = locked.previous.iter();
            kept.find_map(|previous| earlier(sandbox, folder, locked, previous))
        }
    }
}

fn is_withheld(cause: &anyhow::Error) -> bool {
    matches!(cause.downcast_ref::<GateError>(), Some(GateError::Withheld { .. }))
}

/// Loads an earlier version as if it had been rolled back to.
fn earlier(
    sandbox: &Sandbox,
    folder: &Folder,
    locked: &Locked,
    previous: &Previous,
) -> Option<Running> {
    let mut locked = locked.clone();
    locked.replace(previous.clone());
    match install(sandbox, folder, &locked) {
        Ok(kind) => Some(Running { locked, kind }),
        Err(cause) => {
            tracing::warn!(
                plugin = &*locked.id,
                version = &*locked.version,
                "plugin {} {} is not loaded either: {cause:#}",
                locked.id,
                locked.version
            );
            None
        }
    }
}

/// Installs the check of this type, if the lock has one that is enabled: for a one-off run. Of several
/// it is the first that can be loaded, as in the service; unlike there, no earlier version stands in.
pub(crate) fn install_check(
    sandbox: &Sandbox,
    folder: &Folder,
    check_type: &CheckType,
) -> anyhow::Result<()> {
    let lock = folder.lock()?;
    let mut failed = Ok(());
    for locked in lock.plugins.iter().filter(|plugin| plugin.enabled) {
        // One that cannot be read may be another check, and is reported where the service loads it.
        let component = folder.component(&locked.sha256).ok();
        let read = component.and_then(|bytes| vedette_sandbox::read(&bytes).ok());
        let kind = read.map(|read| read.manifest.kind);
        if kind.is_some_and(|kind| kind == Kind::Check(check_type.clone())) {
            let loaded = install(sandbox, folder, locked);
            match loaded.with_context(|| format!("cannot load the plugin {}", locked.id)) {
                Ok(_) => return Ok(()),
                Err(cause) => failed = failed.and(Err(cause)),
            }
        }
    }
    failed
}

fn install(sandbox: &Sandbox, folder: &Folder, locked: &Locked) -> anyhow::Result<Kind> {
    let component = folder.component(&locked.sha256)?;
    let read = vedette_sandbox::read(&component)?;
    let (id, manifest) = (&locked.id, &read.manifest);
    ensure!(
        sha256(read.text.as_bytes()) == locked.manifest_sha256
            && manifest.id == *id
            && manifest.version == locked.version,
        "its manifest is that of {} {} and not the one in plugins.lock; approve it again: vedette \
         plugin approve {id}",
        manifest.id,
        manifest.version
    );
    let owner = owner(sandbox, &manifest.kind);
    if let Some(reason) = rule::refusal(id, &manifest.kind, owner.as_deref()) {
        bail!(reason);
    }
    if let Some(reason) = settings::misfit(&read, locked.interval, &locked.settings) {
        bail!("{reason}; change what is set for it with vedette plugin set {id}");
    }
    let granted = locked.capabilities().map_err(anyhow::Error::msg)?;
    let (secrets, own) = (secrets(locked)?, settings::of(&manifest.kind, &locked.settings));
    sandbox.install_with(&component, Grant::Only(Box::new(granted)), secrets, own)?;
    Ok(read.manifest.kind)
}

/// The installed plugin that has this place.
fn owner(sandbox: &Sandbox, kind: &Kind) -> Option<String> {
    match kind {
        Kind::Check(check_type) => sandbox.check(check_type).map(|check| check.id.clone()),
        Kind::Notifier(channel) => sandbox.channel(channel).map(|channel| channel.id.clone()),
    }
}

/// The values of the secrets that it is granted and that the lock has a place for.
fn secrets(locked: &Locked) -> anyhow::Result<BTreeMap<String, String>> {
    let values = locked.places().map(|(name, place)| {
        let value = value(place).with_context(|| format!("the secret {name}"))?;
        // An empty one would be masked everywhere, and means that somebody forgot it.
        ensure!(!value.is_empty(), "the secret {name} is empty; set it or remove it from the lock");
        Ok((name.clone(), value))
    });
    values.collect()
}

fn value(place: &SecretPlace) -> anyhow::Result<String> {
    match place {
        SecretPlace::Env(name) => std::env::var(name)
            .ok()
            .with_context(|| format!("the environment variable {name} is not set; set it")),
        SecretPlace::File(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            Ok(text.trim_end_matches(['\r', '\n']).to_owned())
        }
    }
}
