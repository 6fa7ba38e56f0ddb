//! One nested cargo that compiles all plugins to core modules.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use vedette_component::{TARGET, Toolchain};

use crate::guest::Guest;

const MISSING: &str = "there is no standard library for wasm32-unknown-unknown, so the plugins \
    cannot be built; run deploy/toolchain.sh once, then build again";

/// Builds all plugins in one go and answers their core modules, in the order of `guests`.
pub(crate) fn modules(root: &Path, guests: &[Guest], target_dir: &Path) -> Result<Vec<Vec<u8>>> {
    let rustc = PathBuf::from(env::var_os("RUSTC").context("cargo sets RUSTC")?);
    let toolchain = Toolchain::find(&rustc, root)?.context(MISSING)?;
    let mut cargo = Command::new(env::var_os("CARGO").context("cargo sets CARGO")?);
    let profile = profile();
    cargo
        .current_dir(root)
        .args(["build", "--lib", "--locked", "--profile", profile, "--target", TARGET])
        .arg("--target-dir")
        .arg(target_dir)
        .args(guests.iter().flat_map(|guest| ["--package", guest.package.as_str()]));
    env::vars_os().map(|(name, _)| name).filter(is_of_the_host).for_each(|name| {
        cargo.env_remove(name);
    });
    toolchain.apply(&mut cargo, root, "/vedette");
    let status = cargo.status().context("cannot start cargo for the plugins")?;
    ensure!(status.success(), "the plugins do not build ({status}); the reason stands above");
    guests.iter().map(|guest| module(target_dir, profile, guest)).collect()
}

/// Settings of the build that this script is part of: they are about the host, about this
/// package, or (as with clippy's wrapper) about another tool. What says how to reach a registry
/// stays.
fn is_of_the_host(name: &OsString) -> bool {
    const KEPT: [&str; 6] = [
        "CARGO_HOME",
        "CARGO_HTTP_",
        "CARGO_NET_",
        "CARGO_REGISTRIES_",
        "CARGO_REGISTRY_",
        "CARGO_SOURCE_",
    ];
    const DROPPED: [&str; 6] = ["CARGO", "CLIPPY_", "DEP_", "RUSTC", "RUSTDOC", "RUSTFLAGS"];
    const EXACT: [&str; 5] = ["LD_LIBRARY_PATH", "MAKEFLAGS", "MFLAGS", "OUT_DIR", "TARGET"];
    let Some(name) = name.to_str() else {
        return false;
    };
    let starts = |prefix: &&str| name.starts_with(*prefix);
    EXACT.contains(&name) || (DROPPED.iter().any(starts) && !KEPT.iter().any(starts))
}

/// What an operator installs is optimised as a whole, which takes a while for each plugin.
fn profile() -> &'static str {
    let released = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if released { "plugin" } else { "plugin-dev" }
}

fn module(target_dir: &Path, profile: &str, guest: &Guest) -> Result<Vec<u8>> {
    let file = format!("{}.wasm", guest.package.replace('-', "_"));
    let path = target_dir.join(TARGET).join(profile).join(file);
    fs::read(&path)
        .with_context(|| format!("{} is missing: is {} a cdylib?", path.display(), guest.package))
}
