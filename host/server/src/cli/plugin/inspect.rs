//! `vedette plugin inspect`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Value, json};
use vedette_sandbox::{Kind, Manifest, Read};

use super::{
    asked,
    outcome::{Done, Failure, Said},
    place::Place,
};
use crate::plugins::{read_component, sha256};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The component
    file: PathBuf,
    #[command(flatten)]
    pub(super) place: Place,
}

pub(super) fn run(args: &Args) -> Done {
    describe(&file(&args.file)?)
}

/// What a component is and asks for, once it passed what the gate asks of it unread.
pub(super) fn describe(bytes: &[u8]) -> Done {
    let read = vedette_sandbox::read(bytes)?;
    let mut json = described(&read, &sha256(bytes));
    json["size"] = bytes.len().into();
    json["manifest"] = read.text.as_str().into();
    let text = format!(
        "{}  size: {} bytes\n  sha256: {}\n{}",
        title(&read.manifest),
        bytes.len(),
        sha256(bytes),
        asked::lines("asks for", &asked::of(&read.text))
    );
    Ok(Said { json, text })
}

/// The bytes of a component that the command line names.
pub(super) fn file(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = read_component(path).with_context(|| format!("cannot read {}", path.display()));
    Ok(read?)
}

/// What commands say of a component to programs.
pub(super) fn described(read: &Read, hash: &str) -> Value {
    let manifest = &read.manifest;
    let mut json = json!({
        "id": manifest.id,
        "version": manifest.version,
        "sha256": hash,
        "manifest_sha256": sha256(read.text.as_bytes()),
        "asks": asked::of(&read.text),
    });
    match &manifest.kind {
        Kind::Check(check_type) => {
            json["kind"] = "check".into();
            json["check_type"] = check_type.as_str().into();
        }
        Kind::Notifier(channel) => {
            json["kind"] = "notifier".into();
            json["channel"] = channel.as_str().into();
        }
    }
    json
}

/// `acme.banner 1.0.0, the check banner`, as a line.
pub(super) fn title(manifest: &Manifest) -> String {
    let Manifest { id, version, kind, .. } = manifest;
    match kind {
        Kind::Check(check_type) => format!("{id} {version}, the check {check_type}\n"),
        Kind::Notifier(channel) => format!("{id} {version}, the channel {channel}\n"),
    }
}
