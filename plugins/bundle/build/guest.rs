//! Which plugins there are: every folder with a `plugin.toml` and a `Cargo.toml` of its name.

use std::{fs, path::Path};

use anyhow::{Context, Result, ensure};
use toml::Table;

pub(crate) struct Guest {
    /// The package, named like its folder.
    pub(crate) package: String,
    /// The manifest's `plugin.id`.
    pub(crate) id: String,
    /// The text of `plugin.toml`.
    pub(crate) manifest: String,
}

/// In the order of their names, so that builds do not depend on the file system.
pub(crate) fn find(folder: &Path) -> Result<Vec<Guest>> {
    let entries = fs::read_dir(folder)
        .with_context(|| format!("cannot list {}", folder.display()))?
        .collect::<Result<Vec<_>, _>>()?;
    let mut guests = Vec::new();
    for path in entries.into_iter().map(|entry| entry.path()) {
        if path.join("plugin.toml").is_file() && path.join("Cargo.toml").is_file() {
            guests.push(read(&path)?);
        }
    }
    guests.sort_by(|a, b| a.package.cmp(&b.package));
    ensure!(!guests.is_empty(), "{} holds no plugin", folder.display());
    Ok(guests)
}

fn read(folder: &Path) -> Result<Guest> {
    let path = folder.join("plugin.toml");
    let manifest =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let table: Table =
        manifest.parse().with_context(|| format!("{} is not valid", path.display()))?;
    let id = table
        .get("plugin")
        .and_then(|plugin| plugin.get("id"))
        .and_then(|id| id.as_str())
        .with_context(|| format!("{} lacks plugin.id", path.display()))?
        .to_owned();
    let package = folder.file_name().and_then(|name| name.to_str());
    let package = package.context("plugin folders have plain names")?.to_owned();
    Ok(Guest { package, id, manifest })
}
