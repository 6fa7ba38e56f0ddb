//! Plugins as the operator's port and `vedette plugin list` show them.

use serde::Serialize;
use serde_json::Value;
use vedette_sandbox::{Kind, Sandbox};

use super::{
    folder::{Folder, Pending},
    lock::{Lock, Locked},
    operators::Known,
    rule::is_ours,
    settings,
};
use crate::config::span_text;

/// One plugin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct View {
    /// None where a file cannot be read.
    pub(crate) id: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) check_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) channel: Option<String>,
    pub(crate) built_in: bool,
    pub(crate) state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sha256: Option<String>,
    /// How often its check runs, where that is set, as in `plugins.lock`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) interval: Option<String>,
    /// What is set for its check; none where nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) settings: Option<Value>,
    /// What runs meanwhile, where `version` could not be loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) running_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// It broke too often, and is tried again after this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) paused_for_seconds: Option<u64>,
}

/// How a plugin stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Running,
    /// Approved and not disabled; whether it runs is known to the service.
    Enabled,
    Disabled,
    /// Waits for approval.
    Pending,
    /// Approved, and cannot be loaded as it was.
    Failed,
}

/// All that a service has: built-in plugins, those of the lock, those that wait.
pub(crate) fn installed(sandbox: &Sandbox, folder: &Folder, known: &Known) -> Vec<View> {
    let mut views = built_in(sandbox);
    views.extend(known.lock.plugins.iter().map(|locked| of_service(folder, known, locked)));
    for view in &mut views {
        let pause = view.id.as_deref().and_then(|id| sandbox.paused(id));
        view.paused_for_seconds = pause.map(|pause| pause.as_secs().max(1));
    }
    // Why files that wait cannot be listed is why the lock cannot be read, which is told.
    views.extend(folder.pending(&known.lock).iter().flatten().map(of_pending));
    views
}

/// What the lock wants, as far as it can be seen without a service.
pub(crate) fn locked(folder: &Folder, lock: &Lock) -> Vec<View> {
    let views = lock.plugins.iter().map(|locked| {
        let (kind, error) = kind_of(folder, locked);
        let state = match (&error, locked.enabled) {
            (_, false) => State::Disabled,
            (Some(_), true) => State::Failed,
            (None, true) => State::Enabled,
        };
        View { error, ..of_locked(locked, kind.as_ref(), state) }
    });
    views.collect()
}

/// What waits for approval.
pub(crate) fn waiting(pending: &[Pending]) -> Vec<View> {
    pending.iter().map(of_pending).collect()
}

pub(super) fn built_in(sandbox: &Sandbox) -> Vec<View> {
    let checks = sandbox.check_types();
    let checks = checks.iter().filter_map(|check_type| sandbox.check(check_type));
    let checks = checks.map(|check| {
        let kind = Kind::Check(check.check_type.clone());
        of_kind(Some(&check.id), Some(&check.version), Some(&kind), State::Running)
    });
    let channels = sandbox.channels();
    let channels = channels.iter().filter_map(|channel| sandbox.channel(channel));
    let channels = channels.map(|channel| {
        let kind = Kind::Notifier(channel.channel.clone());
        of_kind(Some(&channel.id), Some(&channel.version), Some(&kind), State::Running)
    });
    checks.chain(channels).filter(|view| view.built_in).collect()
}

fn of_service(folder: &Folder, known: &Known, locked: &Locked) -> View {
    let running = known.running.get(&locked.id);
    let error = known.failures.get(&locked.id).cloned();
    let kind = match running {
        Some(running) => Some(running.kind.clone()),
        None => kind_of(folder, locked).0,
    };
    let state = state_of(known, locked);
    let before = running.filter(|_| error.is_some());
    let running_version = before.map(|running| running.locked.version.clone());
    View { error, running_version, ..of_locked(locked, kind.as_ref(), state) }
}

/// How a plugin of the lock stands in a service.
pub(super) fn state_of(known: &Known, locked: &Locked) -> State {
    if !locked.enabled {
        State::Disabled
    } else if known.failures.contains_key(&locked.id) {
        State::Failed
    } else if known.running.contains_key(&locked.id) {
        State::Running
    } else {
        // Between two reloads there is no other case.
        State::Enabled
    }
}

fn of_locked(locked: &Locked, kind: Option<&Kind>, state: State) -> View {
    let sha256 = Some(locked.sha256.clone());
    let interval = locked.interval.map(span_text);
    let set = Some(&locked.settings).filter(|set| !set.is_empty());
    let settings = set.map(settings::as_json);
    let view = of_kind(Some(&locked.id), Some(&locked.version), kind, state);
    View { sha256, interval, settings, ..view }
}

fn of_pending(pending: &Pending) -> View {
    let sha256 = Some(pending.sha256.clone());
    match &pending.read {
        Ok(read) => {
            let manifest = &read.manifest;
            let (id, version) = (Some(&manifest.id), Some(&manifest.version));
            View { sha256, ..of_kind(id, version, Some(&manifest.kind), State::Pending) }
        }
        Err(reason) => {
            let error = Some(reason.clone());
            View { sha256, error, ..of_kind(None, None, None, State::Failed) }
        }
    }
}

fn of_kind(
    id: Option<&String>,
    version: Option<&String>,
    kind: Option<&Kind>,
    state: State,
) -> View {
    let (kind, check_type, channel) = match kind {
        None => (None, None, None),
        Some(Kind::Check(check_type)) => (Some("check"), Some(check_type.to_string()), None),
        Some(Kind::Notifier(channel)) => (Some("notifier"), None, Some(channel.clone())),
    };
    View {
        id: id.cloned(),
        version: version.cloned(),
        kind,
        check_type,
        channel,
        built_in: id.is_some_and(|id| is_ours(id)),
        state,
        sha256: None,
        interval: None,
        settings: None,
        running_version: None,
        error: None,
        paused_for_seconds: None,
    }
}

/// By its file, and why that cannot be told.
fn kind_of(folder: &Folder, locked: &Locked) -> (Option<Kind>, Option<String>) {
    let component = match folder.component(&locked.sha256) {
        Ok(component) => component,
        Err(cause) => return (None, Some(format!("{cause:#}"))),
    };
    match vedette_sandbox::read(&component) {
        Ok(read) => (Some(read.manifest.kind), None),
        Err(wrong) => (None, Some(wrong.to_string())),
    }
}
