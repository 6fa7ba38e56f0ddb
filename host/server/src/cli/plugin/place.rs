//! Which folder is meant, and which running service is to take up a change.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use reqwest::Url;
use serde_json::Value;
use toml::Table;

use super::outcome::Failure;
use crate::{
    Config,
    cli::{environment, operator_port},
    plugins::{Folder, Lock, Locked},
};

#[derive(clap::Args)]
pub(super) struct Place {
    /// The service's configuration, whose plugins.folder is meant
    #[arg(long, value_name = "FILE", env = "VEDETTE_CONFIG")]
    config: Option<PathBuf>,
    /// The plugin folder itself
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// The operator's port of a running service, which is to take up the change; a token is read
    /// from VEDETTE_ADMIN_TOKEN
    #[arg(long, value_name = "URL", env = "VEDETTE_ADMIN")]
    admin: Option<Url>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

impl Place {
    pub(super) fn folder(&self) -> anyhow::Result<Folder> {
        if let Some(folder) = &self.folder {
            return Ok(Folder::new(folder));
        }
        let config = Config::load(self.config.as_deref(), environment, Table::new())?;
        Ok(Folder::new(config.plugins.folder))
    }

    /// What the service has; none where none was named.
    pub(super) async fn listing(&self) -> anyhow::Result<Option<Value>> {
        let Some(base) = &self.admin else { return Ok(None) };
        let url = base.join("/admin/plugins").context("--admin is no base address")?;
        operator_port::send(base, operator_port::client()?.get(url)).await.map(Some)
    }

    /// Has the service read the lock anew; a sentence on how the plugin stands there.
    pub(super) async fn take_up(&self, id: &str) -> Result<String, Failure> {
        let Some(base) = &self.admin else { return Ok(UNTOLD.to_owned()) };
        let url = base.join("/admin/plugins/reload").context("--admin is no base address")?;
        let listing = operator_port::send(base, operator_port::client()?.post(url)).await?;
        let plugins = listing["plugins"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_it = |plugin: &&Value| plugin["id"] == id && plugin["state"] != "pending";
        let Some(plugin) = plugins.iter().find(is_it) else {
            return Ok(format!("The service at {base} runs it no more.\n"));
        };
        if let Some(error) = plugin["error"].as_str() {
            return Err(Failure::plugin(format!("the service does not load {id}: {error}")));
        }
        let state = plugin["state"].as_str().unwrap_or("unknown");
        Ok(format!("The service at {base} took it up: {id} is {state}.\n"))
    }
}

/// The plugin of a lock that a command names.
pub(super) fn find<'a>(
    folder: &Folder,
    lock: &'a mut Lock,
    id: &str,
) -> anyhow::Result<&'a mut Locked> {
    lock.find_mut(id).ok_or_else(|| {
        anyhow!(
            "no plugin {id} is approved in {}; `vedette plugin list` shows what there is",
            folder.path().display()
        )
    })
}

const UNTOLD: &str =
    "A running service takes it up at SIGHUP, or at once where --admin names it.\n";
