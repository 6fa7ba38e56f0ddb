//! Where the standard library of `wasm32-unknown-unknown` comes from. The same decision as in
//! `deploy/toolchain.sh`: the toolchain's own, else one that Debian's compiler builds from its
//! sources.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};

use crate::guest::Guest;

const TARGET: &str = "wasm32-unknown-unknown";

/// Debian's compiler (package `rustc-web`), whose sources of the standard library are in
/// `rust-web-src`.
const DEBIAN: &str = "/usr/bin/rustc";

const MISSING: &str = "there is no standard library for wasm32-unknown-unknown, so the plugins \
    cannot be built; run deploy/toolchain.sh once, then build again";

pub(crate) enum Toolchain {
    /// The compiler that builds the host has the target.
    Installed { rustc: PathBuf },
    /// The standard library is built along, with this linker.
    Sources { rustc: PathBuf, library: PathBuf, linker: PathBuf },
}

impl Toolchain {
    pub(crate) fn find() -> Result<Self> {
        let rustc = PathBuf::from(env::var_os("RUSTC").context("cargo sets RUSTC")?);
        if has_target(&rustc)? {
            return Ok(Self::Installed { rustc });
        }
        let debian = PathBuf::from(DEBIAN);
        if !debian.is_file() || !new_enough(&debian)? {
            bail!(MISSING);
        }
        let library = sysroot(&debian)?.join("lib/rustlib/src/rust/library");
        if !library.join("std/Cargo.toml").is_file() {
            bail!(MISSING);
        }
        let linker = linker(&rustc, &debian)?;
        Ok(Self::Sources { rustc: debian, library, linker })
    }

    /// Builds all plugins in one go and answers their core modules, in the order of `guests`.
    pub(crate) fn build(
        &self,
        root: &Path,
        guests: &[Guest],
        target_dir: &Path,
    ) -> Result<Vec<Vec<u8>>> {
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
        self.apply(root, &mut cargo);
        let status = cargo.status().context("cannot start cargo for the plugins")?;
        ensure!(status.success(), "the plugins do not build ({status}); the reason stands above");
        guests.iter().map(|guest| module(target_dir, profile, guest)).collect()
    }

    fn apply(&self, root: &Path, cargo: &mut Command) {
        let mut flags = vec![remap(root, "/vedette")];
        let home = env::var_os("CARGO_HOME").map(PathBuf::from);
        if let Some(home) = home.or_else(|| Some(env::home_dir()?.join(".cargo"))) {
            flags.push(remap(&home, "/cargo"));
        }
        match self {
            Self::Installed { rustc } => {
                cargo.env("RUSTC", rustc);
            }
            Self::Sources { rustc, library, linker } => {
                flags.push(remap(library, "/rustc/library"));
                cargo
                    .arg("-Zbuild-std=std,panic_abort")
                    .env("RUSTC", rustc)
                    .env("RUSTC_BOOTSTRAP", "1")
                    .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
            }
        }
        cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    }
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

/// Paths in panic messages would otherwise tell where the checkout lay, and change the bytes.
fn remap(from: &Path, to: &str) -> String {
    format!("--remap-path-prefix={}={to}", from.display())
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

fn has_target(rustc: &Path) -> Result<bool> {
    let folder = print(rustc, &["--print", "target-libdir", "--target", TARGET])?;
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(false);
    };
    let is_std = |name: OsString| {
        name.to_str().is_some_and(|name| name.starts_with("libstd-") && name.ends_with(".rlib"))
    };
    Ok(entries.flatten().any(|entry| is_std(entry.file_name())))
}

/// The workspace's `rust-version` is the least that its plugins compile with.
fn new_enough(rustc: &Path) -> Result<bool> {
    let least = env::var("CARGO_PKG_RUST_VERSION").context("the package has a rust-version")?;
    let said = print(rustc, &["--version"])?;
    let version = said.split_whitespace().nth(1).context("rustc says its version")?;
    Ok(numbers(version) >= numbers(&least))
}

fn numbers(version: &str) -> Vec<u32> {
    version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
}

/// The linker for WebAssembly comes with the toolchain that builds the host, or with LLVM.
fn linker(rustc: &Path, debian: &Path) -> Result<PathBuf> {
    let host = env::var("HOST").context("cargo sets HOST")?;
    let mut candidates = Vec::new();
    for rustc in [rustc, debian] {
        candidates.push(sysroot(rustc)?.join("lib/rustlib").join(&host).join("bin/rust-lld"));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    candidates.extend(env::split_paths(&path).map(|folder| folder.join("wasm-ld")));
    candidates
        .into_iter()
        .find(|candidate| candidate.is_file())
        .context("there is neither rust-lld nor wasm-ld to link plugins with; install lld")
}

fn sysroot(rustc: &Path) -> Result<PathBuf> {
    Ok(PathBuf::from(print(rustc, &["--print", "sysroot"])?))
}

fn print(rustc: &Path, args: &[&str]) -> Result<String> {
    let said = Command::new(rustc)
        .args(args)
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .with_context(|| format!("cannot start {}", rustc.display()))?;
    ensure!(said.status.success(), "{} {} failed", rustc.display(), args.join(" "));
    Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
}
