//! Where files lie that nobody has named a folder for: where systemd says, else among the user's
//! own.

use std::{env, path::PathBuf};

/// Of the native code of plugins; none where there is no user with a home.
pub(crate) fn cache() -> Option<PathBuf> {
    of("CACHE_DIRECTORY")
        .or_else(|| of("XDG_CACHE_HOME").map(|cache| cache.join("vedette")))
        .or_else(|| home().map(|home| home.join(".cache/vedette")))
}

/// Of the reports of an agent that wait; none where there is no user with a home.
pub(crate) fn agent_queue() -> Option<PathBuf> {
    of("STATE_DIRECTORY")
        .or_else(|| of("XDG_STATE_HOME").map(|state| state.join("vedette/agent")))
        .or_else(|| home().map(|home| home.join(".local/state/vedette/agent")))
}

/// Even if our parent passed on a bare environment: without it, each start would compile every
/// plugin again.
fn home() -> Option<PathBuf> {
    of("HOME").or_else(env::home_dir).filter(|home| home.is_absolute())
}

fn of(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}
