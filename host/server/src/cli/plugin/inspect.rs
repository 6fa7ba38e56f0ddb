//! `vedette plugin inspect`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Value, json};
use vedette_sandbox::{Grant, Kind, Manifest, Read};

use super::{
    asked,
    outcome::{Done, Failure, Said},
    place::Place,
};
use crate::plugins::{read_component, refusal, sha256};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The component
    file: PathBuf,
    #[command(flatten)]
    pub(super) place: Place,
}

pub(super) fn run(args: &Args) -> Done {
    let bytes = file(&args.file)?;
    let said = describe(&bytes)?;
    match acceptable(&bytes) {
        Ok(_) => Ok(said),
        Err(wrong) => Err(Failure::Refused(said, wrong.context("it would not be installed"))),
    }
}

/// Examines a component as far as possible without running it, with all that it asks for: what the
/// operator grants of that is decided at its approval. An error is the component's fault.
pub(super) fn acceptable(bytes: &[u8]) -> anyhow::Result<Read> {
    let read = vedette_sandbox::examine(bytes, &Grant::AsAsked)?;
    match refusal(&read.manifest.id, &read.manifest.kind, None) {
        Some(reason) => Err(anyhow::Error::msg(reason)),
        None => Ok(read),
    }
}

/// What a component is and asks for, once it passed what the gate asks of it unread.
pub(super) fn describe(bytes: &[u8]) -> Done {
    let read = vedette_sandbox::read(bytes)?;
    let mut json = described(&read, &sha256(bytes));
    json["size"] = bytes.len().into();
    json["manifest"] = read.text.as_str().into();
    let text = format!(
        "{}  size: {} bytes\n  sha256: {}\n{}{}",
        title(&read.manifest),
        bytes.len(),
        sha256(bytes),
        asked::lines("asks for", &asked::of(&read.text)),
        settable(&read.manifest)
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
    if let Some(settings) = settings(manifest) {
        json["settings"] = settings;
    }
    if !manifest.settings.is_empty() {
        json["may_be_set"] = json!(manifest.settings);
    }
    json
}

/// What the operator may set for a check, and as what; nothing where there is no such thing.
pub(super) fn settable(manifest: &Manifest) -> String {
    if manifest.settings.is_empty() {
        return String::new();
    }
    let lines = manifest.settings.iter().map(|(name, schema)| format!("  {name}: {schema}\n"));
    format!("may be set:\n{}", lines.collect::<String>())
}

/// The body that has an account told by a channel, as far as the manifest knows it.
fn settings(manifest: &Manifest) -> Option<Value> {
    let Kind::Notifier(channel) = &manifest.kind else { return None };
    let set = match &manifest.url_field {
        Some(field) => json!({ (field.as_str()): url(manifest) }),
        None => json!({}),
    };
    Some(json!({ "plugin_channels": { (channel.as_str()): set } }))
}

/// A URL that the channel could take.
fn url(manifest: &Manifest) -> String {
    let host = manifest.vendor.hosts.first().map_or("hooks.example.com", String::as_str);
    let host = host.replace('*', "name");
    let path = manifest.vendor.paths.first().map_or("/", String::as_str);
    format!("https://{host}{}…", path.replace('*', "1"))
}

/// What an account does to be told by a channel, as lines; nothing for a check.
pub(super) fn told(manifest: &Manifest) -> String {
    match settings(manifest) {
        Some(body) => format!(
            "An account is told by it once it sets, with PATCH /v1/settings/notifications (in the \
             team edition /api/settings/notifications):\n  {body}\n"
        ),
        None => String::new(),
    }
}

/// `acme.banner 1.0.0, the check banner`, as a line.
pub(super) fn title(manifest: &Manifest) -> String {
    let Manifest { id, version, kind, .. } = manifest;
    match kind {
        Kind::Check(check_type) => format!("{id} {version}, the check {check_type}\n"),
        Kind::Notifier(channel) => format!("{id} {version}, the channel {channel}\n"),
    }
}

#[cfg(test)]
mod tests {
    use vedette_sandbox::Settings;

    use super::*;

    fn manifest(kind: &str, settings: &str) -> Manifest {
        let text = format!(
            "[plugin]\nid = \"acme.pager\"\nversion = \"1.0.0\"\n{kind}\n\
             wit = \"vedette:plugin@1\"\n{settings}"
        );
        Manifest::parse(&text, &Settings::new()).expect("a manifest")
    }

    #[test]
    fn what_may_be_set_is_told() {
        let check = "kind = \"check\"\ncheck-type = \"banner\"";
        assert_eq!(settable(&manifest(check, "")), "");
        let properties = "[settings.properties]\nexpect = { type = \"string\" }\nlimit = true";
        let told = settable(&manifest(check, properties));
        assert_eq!(told, "may be set:\n  expect: {\"type\":\"string\"}\n  limit: true\n");
    }

    #[test]
    fn who_installs_a_channel_reads_how_it_is_set() {
        let notifier = "kind = \"notifier\"\nchannel = \"pager\"";
        for (kind, table, expected) in [
            (notifier, "", Some(json!({ "pager": {} }))),
            (
                notifier,
                "[settings]\nurl-field = \"url\"",
                Some(json!({ "pager": { "url": "https://hooks.example.com/…" } })),
            ),
            (
                notifier,
                "[settings]\nurl-field = \"url\"\nhosts = [\"*.pager.example\"]\n\
                 paths = [\"/v*/hooks/\"]",
                Some(json!({ "pager": { "url": "https://name.pager.example/v1/hooks/…" } })),
            ),
            ("kind = \"check\"\ncheck-type = \"pager\"", "", None),
        ] {
            let manifest = manifest(kind, table);
            let body = settings(&manifest);
            let channels = body.as_ref().map(|body| body["plugin_channels"].clone());
            assert_eq!(channels, expected, "{table}");
            let told = told(&manifest);
            assert_eq!(told.is_empty(), body.is_none());
            assert!(body.is_none_or(|body| told.contains(&body.to_string())), "{told}");
            assert!(told.is_empty() || told.contains("PATCH /v1/settings/"), "{told}");
        }
    }
}
