//! `vedette plugin reload`: has a running service read the lock again, after a change by hand or by
//! another node's command. In a container nothing else can: there is no shell and no `kill`.

use anyhow::{Context, anyhow};
use reqwest::Url;
use serde_json::Value;

use super::{
    list::table,
    outcome::{Done, Failure, Said},
};
use crate::cli::operator_port::{self, Admin};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    admin: Admin,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) async fn run(args: &Args) -> Done {
    let json = at(&args.admin.admin).await?;
    let failed = failed(&json);
    let said = Said { text: table(&json), json };
    if failed.is_empty() {
        return Ok(said);
    }
    Err(Failure::Refused(said, anyhow!("the service does not load {}", failed.join(", "))))
}

/// Has the service at this operator's port read the lock, and answers what it has then.
pub(super) async fn at(base: &Url) -> anyhow::Result<Value> {
    let url = base.join("/admin/plugins/reload").context("--admin is not a base address")?;
    // It answers when it has compiled what is new, which is long for a plugin with an engine inside.
    let request = operator_port::client()?.post(url).timeout(operator_port::LONG_PATIENCE);
    operator_port::send(base, request).await
}

/// The plugins of the lock that are not loaded. A file that only waits has no id where it has no
/// manifest, and is nobody's plugin.
fn failed(listing: &Value) -> Vec<String> {
    let plugins = listing["plugins"].as_array().map(Vec::as_slice).unwrap_or_default();
    let failed = plugins.iter().filter(|plugin| plugin["state"] == "failed");
    failed.filter_map(|plugin| plugin["id"].as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_loaded_is_named() {
        let listing = json!({ "plugins": [
            { "id": "acme.banner", "state": "failed" },
            { "id": "acme.other", "state": "running" },
            { "id": null, "state": "failed" },
        ] });
        assert_eq!(failed(&listing), ["acme.banner"]);
        assert!(failed(&json!({})).is_empty());
    }
}
