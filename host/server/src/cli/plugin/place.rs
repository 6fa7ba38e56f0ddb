//! Which folder is meant, and which running service is to take up a change.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow, bail};
use reqwest::Url;
use serde_json::Value;
use toml::Table;
use vedette_sandbox::Read;

use super::{outcome::Failure, reload};
use crate::{
    Config,
    cli::{client::shown, environment, operator_port},
    plugins::{Folder, Lock, Locked, misfit},
};

#[derive(clap::Args)]
pub(super) struct Place {
    /// The service's configuration, whose plugins.folder is meant
    #[arg(long, value_name = "FILE", env = "VEDETTE_CONFIG")]
    config: Option<PathBuf>,
    /// The plugin folder itself
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// The operator's port of a running service, which takes up at once what changed, and which
    /// `list` asks; its token, where it has one, comes from VEDETTE_ADMIN_TOKEN
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

    /// What another command is given to mean the same folder; empty where it needs nothing.
    pub(super) fn again(&self) -> String {
        match (&self.folder, &self.config) {
            (Some(folder), _) => format!(" --folder {}", word(folder)),
            (None, Some(file)) => format!(" --config {}", word(file)),
            (None, None) => String::new(),
        }
    }

    /// The plugin of the folder's lock that a command names.
    pub(super) fn find<'a>(
        &self,
        folder: &Folder,
        lock: &'a mut Lock,
        id: &str,
    ) -> anyhow::Result<&'a mut Locked> {
        lock.find_mut(id).ok_or_else(|| {
            anyhow!(
                "no plugin {id} is approved in {}; `vedette plugin list{}` shows what there is",
                folder.path().display(),
                self.again()
            )
        })
    }

    /// Refuses a version that does not take what is set for its plugin: in the lock it would keep the
    /// plugin from being loaded.
    pub(super) fn ensure_fits(&self, locked: &Locked, read: &Read) -> anyhow::Result<()> {
        let Some(reason) = misfit(read, locked.interval, &locked.settings) else { return Ok(()) };
        let (id, version, again) = (&locked.id, &read.manifest.version, self.again());
        bail!(
            "{id} {version} does not take what is set for it: {reason}; take that back first: \
             vedette plugin set {id} --unset KEY{again}"
        )
    }

    /// What the service has; none where none was named.
    pub(super) async fn listing(&self) -> anyhow::Result<Option<Value>> {
        let Some(base) = &self.admin else { return Ok(None) };
        let url = base.join("/admin/plugins").context("--admin is not a base address")?;
        operator_port::send(base, operator_port::client()?.get(url)).await.map(Some)
    }

    /// Has the service read the lock again; answers a sentence on the plugin's state there.
    pub(super) async fn take_up(&self, id: &str, held: Held) -> Result<String, Failure> {
        let Some(listing) = self.reloaded(held).await? else { return Ok(UNTOLD.to_owned()) };
        let Some(plugin) = entry(&listing, id) else {
            return Err(self.elsewhere(&listing, &format!("knows no {id}")));
        };
        if let Some(error) = plugin["error"].as_str() {
            return Err(Failure::plugin(format!("the service does not load {id}: {error}")));
        }
        let state = plugin["state"].as_str().unwrap_or("unknown");
        Ok(format!("The service at {} took it up: {id} is {state}.\n", self.base()))
    }

    /// Has the service read the lock that no longer names the plugin.
    pub(super) async fn take_out(&self, id: &str, held: Held) -> Result<String, Failure> {
        let Some(listing) = self.reloaded(held).await? else { return Ok(UNTOLD.to_owned()) };
        if entry(&listing, id).is_some() {
            return Err(self.elsewhere(&listing, &format!("still has {id}")));
        }
        Ok(format!("The service at {} no longer runs it.\n", self.base()))
    }

    /// What the service has once it has read the lock again; none if no service was named. The
    /// folder is free again meanwhile.
    async fn reloaded(&self, held: Held) -> anyhow::Result<Option<Value>> {
        drop(held);
        let Some(base) = &self.admin else { return Ok(None) };
        let listing = reload::at(base).await;
        // An operator who does not know it would ask for the change a second time.
        listing.map(Some).context("the folder is changed, but the service did not take it up")
    }

    /// The service follows another folder than the one that was changed.
    fn elsewhere(&self, listing: &Value, stands: &str) -> Failure {
        let folder = listing["folder"].as_str().unwrap_or("another folder");
        Failure::Environment(anyhow!(
            "the service at {} {stands}: its plugins are in {folder}, as seen from where it runs; \
             name that folder with --folder, or its configuration with --config",
            self.base()
        ))
    }

    fn base(&self) -> String {
        self.admin.as_ref().map(|admin| shown(admin).into()).unwrap_or_default()
    }
}

/// A path as a shell takes it for one word, whatever is in its name.
pub(super) fn word(path: &Path) -> String {
    let text = path.display().to_string();
    // Only a NUL cannot be quoted, and no path has one.
    shlex::try_quote(&text).map(Into::into).unwrap_or(text)
}

/// What [`Folder::hold`] answers.
type Held = Option<File>;

/// A plugin as the service lists it, unless it only waits there.
fn entry<'a>(listing: &'a Value, id: &str) -> Option<&'a Value> {
    let plugins = listing["plugins"].as_array().map(Vec::as_slice).unwrap_or_default();
    plugins.iter().find(|plugin| plugin["id"] == id && plugin["state"] != "pending")
}

const UNTOLD: &str = "A running service takes it up at `vedette plugin reload` or SIGHUP, or at once where \
    --admin names it.\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_can_be_given_to_a_shell_whatever_the_folder_is_called() {
        for (folder, advice) in [
            ("data/plugins", " --folder data/plugins"),
            ("/srv/our plugins", " --folder '/srv/our plugins'"),
            ("/srv/$(x)", " --folder '/srv/$(x)'"),
        ] {
            let place =
                Place { config: None, folder: Some(folder.into()), admin: None, json: false };
            assert_eq!(place.again(), advice);
        }
    }
}
