//! Builds every plugin folder next to this one to a component and lists them for the library.
//!
//! plugin folders → one nested cargo for `wasm32-unknown-unknown` → components with their
//! manifests inside → `built_in.rs`.
//!
//! *Invariant:* the same sources and toolchain give the same bytes, wherever the checkout lies.

mod compile;
mod guest;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result};

use guest::Guest;

fn main() -> ExitCode {
    match bundle() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\n{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn bundle() -> Result<()> {
    let root = workspace()?;
    for input in ["plugins", "sdk/rust", "wit", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", root.join(input).display());
    }
    let guests = guest::find(&root.join("plugins"))?;
    let out = PathBuf::from(env::var_os("OUT_DIR").context("cargo sets OUT_DIR")?);
    let modules = compile::modules(&root, &guests, &target_dir(&out))?;
    for (guest, module) in guests.iter().zip(modules) {
        let component = vedette_component::encode(&module, &guest.manifest)
            .with_context(|| format!("{} does not become a component", guest.package))?;
        write(&out.join(file(guest)), &component)?;
    }
    write(&out.join("built_in.rs"), list(&guests).as_bytes())
}

fn workspace() -> Result<PathBuf> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").context("cargo sets it")?);
    let root = here.ancestors().nth(2).context("the bundle lies two folders deep")?;
    Ok(root.to_owned())
}

/// A folder of its own, since the cargo that waits for this script holds the lock of its own.
fn target_dir(out: &Path) -> PathBuf {
    let tagged = out.ancestors().find(|dir| dir.join("CACHEDIR.TAG").is_file());
    tagged.unwrap_or(out).join("plugins")
}

fn file(guest: &Guest) -> String {
    format!("{}.wasm", guest.id)
}

fn list(guests: &[Guest]) -> String {
    let entries: String = guests
        .iter()
        .map(|guest| {
            let (id, file) = (&guest.id, file(guest));
            format!(
                "    BuiltIn {{ id: {id:?}, component: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\")) }},\n"
            )
        })
        .collect();
    format!(
        "/// The built-in plugins, in the order of their folders.\n\
         pub static BUILT_IN: &[BuiltIn] = &[\n{entries}];\n"
    )
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
