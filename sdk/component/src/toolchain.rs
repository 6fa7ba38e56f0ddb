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

use anyhow::{Context, Result, ensure};

/// What plugins in Rust are compiled for.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// A compiler that plugins can be built with.
#[derive(Clone, Debug)]
pub enum Toolchain {
    /// The compiler has the target.
    Installed { rustc: PathBuf },
    /// The standard library is built along, with this linker.
    Sources { rustc: PathBuf, library: PathBuf, linker: PathBuf },
}

impl Toolchain {
    /// The toolchain for the sources in `folder`, of which `rustc` is the usual compiler. None:
    /// there is no standard library for [`TARGET`].
    pub fn find(rustc: &Path, folder: &Path) -> Result<Option<Self>> {
        if has_target(rustc, folder)? {
            return Ok(Some(Self::Installed { rustc: rustc.to_owned() }));
        }
        let debian = Path::new(DEBIAN);
        if !debian.is_file() || !new_enough(debian, folder)? {
            return Ok(None);
        }
        let library = sysroot(debian, folder)?.join("lib/rustlib/src/rust/library");
        if !library.join("std/Cargo.toml").is_file() {
            return Ok(None);
        }
        let linker = linker(rustc, debian, folder)?;
        Ok(Some(Self::Sources { rustc: debian.to_owned(), library, linker }))
    }

    /// Has `cargo` build with this toolchain, and call the sources below `root` by `name`: where
    /// they lie is in no message of the plugin, and does not change its bytes.
    pub fn apply(&self, cargo: &mut Command, root: &Path, name: &str) {
        let mut flags = vec![remap(root, name)];
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
                    // Not what reads symbols for backtraces: this target has no backtraces.
                    .arg("-Zbuild-std-features=")
                    .env("RUSTC", rustc)
                    .env("RUSTC_BOOTSTRAP", "1")
                    .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
            }
        }
        // A process started by another compiler's cargo has that one's libraries there.
        cargo.env_remove("LD_LIBRARY_PATH");
        cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    }
}

/// Paths in panic messages would otherwise tell where the checkout lay, and change the bytes.
fn remap(from: &Path, to: &str) -> String {
    format!("--remap-path-prefix={}={to}", from.display())
}

fn has_target(rustc: &Path, folder: &Path) -> Result<bool> {
    let library = print(rustc, folder, &["--print", "target-libdir", "--target", TARGET])?;
    let Ok(entries) = fs::read_dir(library) else {
        return Ok(false);
    };
    let is_std = |name: OsString| {
        name.to_str().is_some_and(|name| name.starts_with("libstd-") && name.ends_with(".rlib"))
    };
    Ok(entries.flatten().any(|entry| is_std(entry.file_name())))
}

/// The workspace's `rust-version` is the least that its plugins compile with.
fn new_enough(rustc: &Path, folder: &Path) -> Result<bool> {
    let said = print(rustc, folder, &["--version"])?;
    let version = said.split_whitespace().nth(1).context("rustc says its version")?;
    Ok(numbers(version) >= numbers(env!("CARGO_PKG_RUST_VERSION")))
}

fn numbers(version: &str) -> Vec<u32> {
    version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
}

/// The linker for WebAssembly comes with the toolchain that builds the host, or with LLVM.
fn linker(rustc: &Path, debian: &Path, folder: &Path) -> Result<PathBuf> {
    let said = print(rustc, folder, &["-vV"])?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc says what it runs on")?;
    let mut candidates = Vec::new();
    for rustc in [rustc, debian] {
        let libraries = sysroot(rustc, folder)?.join("lib/rustlib");
        candidates.push(libraries.join(host).join("bin/rust-lld"));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    candidates.extend(env::split_paths(&path).map(|folder| folder.join("wasm-ld")));
    candidates
        .into_iter()
        .find(|candidate| candidate.is_file())
        .context("there is neither rust-lld nor wasm-ld to link plugins with; install lld")
}

fn sysroot(rustc: &Path, folder: &Path) -> Result<PathBuf> {
    Ok(PathBuf::from(print(rustc, folder, &["--print", "sysroot"])?))
}

/// Asked in `folder`, whose `rust-toolchain.toml` may choose the compiler.
fn print(rustc: &Path, folder: &Path, args: &[&str]) -> Result<String> {
    let said = Command::new(rustc)
        .args(args)
        .current_dir(folder)
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .with_context(|| format!("cannot start {}", rustc.display()))?;
    ensure!(said.status.success(), "{} {} failed", rustc.display(), args.join(" "));
    Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

/// Debian's compiler (package `rustc-web`), whose sources of the standard library are in
/// `rust-web-src`.
const DEBIAN: &str = "/usr/bin/rustc";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(numbers("1.100.0") > numbers("1.95"));
        assert!(numbers("1.96.0-nightly") >= numbers("1.95"));
        assert!(numbers("1.94.1") < numbers("1.95"));
    }

    #[test]
    fn sources_have_a_name_in_place_of_their_folder() {
        let mut cargo = Command::new("cargo");
        let toolchain = Toolchain::Installed { rustc: PathBuf::from("rustc") };
        toolchain.apply(&mut cargo, Path::new("/home/somebody/plugin"), "/acme.banner");
        let flags = cargo.get_envs().find(|(name, _)| *name == "CARGO_ENCODED_RUSTFLAGS");
        let flags = flags.and_then(|(_, value)| value?.to_str()).expect("flags");
        let first = "--remap-path-prefix=/home/somebody/plugin=/acme.banner";
        assert_eq!(flags.split('\u{1f}').next(), Some(first));
    }
}
