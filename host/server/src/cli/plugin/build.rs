//! `vedette plugin build`: sources and manifest become the one file that is installed.
//!
//! plugin.toml → checked → cargo for `wasm32-unknown-unknown` → module → component with its
//! manifest inside.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Context;
use serde_json::Value;
use toml::Table;
use vedette_component::{TARGET, Toolchain};
use vedette_sandbox::{Manifest, Settings};

use super::{
    inspect,
    outcome::{Done, Failure, Said},
};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The project, with its Cargo.toml and plugin.toml
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// The file to write [default: ID-VERSION.wasm in the project]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// A plugin's sources.
struct Project {
    folder: PathBuf,
    /// The text of `plugin.toml`, which the component carries.
    text: String,
    manifest: Manifest,
}

pub(super) fn run(args: &Args) -> Done {
    let project = Project::read(&args.dir)?;
    let module = project.compile()?;
    let component = vedette_component::encode(&module, &project.text)
        .context(
            "what was built does not become a component; build it against the vedette-sdk of this \
             version",
        )
        .map_err(Failure::Plugin)?;
    let out = args.out.clone().unwrap_or_else(|| args.dir.join(project.file()));
    fs::write(&out, &component).with_context(|| format!("cannot write {}", out.display()))?;
    let Said { mut json, text } = inspect::describe(&component)?;
    json["file"] = out.display().to_string().into();
    Ok(Said { json, text: format!("{}\n{text}", out.display()) })
}

impl Project {
    /// Reads what can be read without building: a mistake in it is told at once.
    fn read(folder: &Path) -> Result<Self, Failure> {
        let folder = fs::canonicalize(folder)
            .with_context(|| format!("there is no folder {}", folder.display()))?;
        let text = fs::read_to_string(folder.join("plugin.toml")).with_context(|| {
            format!(
                "{} has no plugin.toml that can be read; give a plugin's folder with --dir, or \
                 begin one with vedette plugin new",
                folder.display()
            )
        })?;
        let manifest = Manifest::parse(&text, &Settings::new());
        let manifest = manifest.map_err(|wrong| Failure::Plugin(wrong.into()))?;
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-+".contains(c);
        if !manifest.version.chars().all(plain) {
            let wrong = "plugin.toml: plugin.version must be a version such as 1.2.0";
            return Err(Failure::plugin(wrong.to_owned()));
        }
        let cargo = fs::read_to_string(folder.join("Cargo.toml"))
            .with_context(|| format!("{} has no Cargo.toml that can be read", folder.display()))?;
        same_version(&manifest, &cargo).map_err(Failure::Plugin)?;
        Ok(Self { folder, text, manifest })
    }

    /// The core module that cargo makes of the sources.
    fn compile(&self) -> Result<Vec<u8>, Failure> {
        let rustc = PathBuf::from(tool("RUSTC", "rustc"));
        let toolchain = Toolchain::find(&rustc, &self.folder)
            .context("a plugin in Rust is built with rustc and cargo; see https://rustup.rs")?
            .context(MISSING)?;
        let mut cargo = Command::new(tool("CARGO", "cargo"));
        cargo
            .current_dir(&self.folder)
            .args(["build", "--lib", "--release", "--target", TARGET])
            .args(["--config", "profile.release.strip=true"])
            .args(["--message-format", "json-render-diagnostics"])
            .stdin(Stdio::null())
            .stderr(Stdio::inherit());
        toolchain.apply(&mut cargo, &self.folder, &format!("/{}", self.manifest.id));
        let built = cargo.output().context("cannot start cargo")?;
        if !built.status.success() {
            let wrong = "the plugin does not build; the reason stands above";
            return Err(Failure::plugin(wrong.to_owned()));
        }
        let module = module(&built.stdout, &self.folder.join("Cargo.toml"))
            .ok_or_else(|| Failure::plugin(NO_MODULE.to_owned()))?;
        let read = fs::read(&module);
        Ok(read.with_context(|| format!("cannot read {}", module.display()))?)
    }

    fn file(&self) -> String {
        format!("{}-{}.wasm", self.manifest.id, self.manifest.version)
    }
}

/// The plugin says its crate's version of itself, and the host holds it against the manifest's.
fn same_version(manifest: &Manifest, cargo: &str) -> anyhow::Result<()> {
    let cargo: Table = cargo.parse().context("Cargo.toml is not valid")?;
    let package = cargo.get("package").and_then(|package| package.get("version"));
    // One that the crate has from its workspace is not here to be compared.
    if let Some(version) = package.and_then(toml::Value::as_str) {
        anyhow::ensure!(
            version == manifest.version,
            "plugin.toml has version {}, Cargo.toml {version}; give both the same",
            manifest.version
        );
    }
    Ok(())
}

/// The module among what cargo says it made of that crate.
fn module(messages: &[u8], cargo_toml: &Path) -> Option<PathBuf> {
    let lines = messages.split(|byte| *byte == b'\n');
    let artifacts = lines
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact")
        .filter(|message| {
            message["manifest_path"].as_str().is_some_and(|path| Path::new(path) == cargo_toml)
        });
    let files = artifacts.flat_map(|artifact| match &artifact["filenames"] {
        Value::Array(files) => files.clone(),
        _ => Vec::new(),
    });
    files
        .filter_map(|file| file.as_str().map(PathBuf::from))
        .find(|file| file.extension().is_some_and(|extension| extension == "wasm"))
}

/// A program of the toolchain; cargo names the one that it runs with.
fn tool(variable: &str, usual: &str) -> OsString {
    env::var_os(variable).unwrap_or_else(|| usual.into())
}

const NO_MODULE: &str = "cargo built no WebAssembly module; Cargo.toml needs crate-type = \
    [\"cdylib\", \"rlib\"] in [lib]";
const MISSING: &str = "there is no standard library for wasm32-unknown-unknown; install it with \
    'rustup target add wasm32-unknown-unknown', or on Debian as root with 'apt-get install \
    --no-install-recommends rustc-web rust-web-src lld', then build again";

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"
        [plugin]
        id = "acme.banner"
        version = "1.2.0"
        kind = "check"
        check-type = "banner"
        wit = "vedette:plugin@1"
        [capabilities]
        tcp = { to = ["target:*"] }
        random = true
    "#;

    #[test]
    fn versions_must_agree_where_both_are_written() {
        let manifest = Manifest::parse(MANIFEST, &Settings::new()).expect("a manifest");
        assert!(same_version(&manifest, "[package]\nversion = \"1.2.0\"").is_ok());
        assert!(same_version(&manifest, "[package]\nversion.workspace = true").is_ok());
        let refused = same_version(&manifest, "[package]\nversion = \"1.3.0\"");
        let refused = refused.expect_err("they differ").to_string();
        assert_eq!(refused, "plugin.toml has version 1.2.0, Cargo.toml 1.3.0; give both the same");
    }

    #[test]
    fn module_is_that_of_the_plugins_own_crate() {
        let messages = br#"{"reason":"compiler-artifact","manifest_path":"/dep/Cargo.toml","filenames":["/t/dep.wasm"]}
not json
{"reason":"build-finished","success":true}
{"reason":"compiler-artifact","manifest_path":"/p/Cargo.toml","filenames":["/t/libp.rlib","/t/p.wasm"]}
"#;
        let own = Path::new("/p/Cargo.toml");
        assert_eq!(module(messages, own), Some(PathBuf::from("/t/p.wasm")));
        assert_eq!(module(messages, Path::new("/q/Cargo.toml")), None);
    }

    #[test]
    fn folder_that_is_no_plugin_says_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let Err(Failure::Environment(refused)) = Project::read(folder.path()) else {
            panic!("no plugin");
        };
        let refused = refused.to_string();
        assert!(refused.ends_with("begin one with vedette plugin new"), "{refused}");
    }
}
