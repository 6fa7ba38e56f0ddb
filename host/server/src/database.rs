//! The database that the configuration names, opened with its key.

use std::sync::Arc;

use anyhow::{Context, ensure};
use rustls::ClientConfig;
use vedette_sandbox::egress;
use vedette_store::{Discarded, Options, Store};

use crate::{Config, config::without_user, seal_key::SealKey, start};

/// Opens it, and makes its key at the first start.
pub(crate) async fn open(config: &Config) -> anyhow::Result<Store> {
    let key = SealKey::of(config)?;
    let opened = Store::open(&config.db, options(config, &key)?).await;
    opened.map_err(|cause| key.explain(cause)).with_context(|| not_opened(config))
}

/// Opens it with a key that need not be its own, without what no key opens any more.
///
/// # Errors
/// When there is none, or a service has it open.
pub(crate) async fn open_discarding(config: &Config) -> anyhow::Result<(Store, Discarded)> {
    // Or a key would be made for it first.
    if let Some(folder) = vedette_store::folder(&config.db) {
        ensure!(folder.is_dir(), "there is no database in {} (db)", folder.display());
    }
    let key = SealKey::of(config)?;
    let opened = Store::open_discarding(&config.db, options(config, &key)?).await;
    opened.with_context(|| not_opened(config))
}

fn options(config: &Config, key: &SealKey) -> anyhow::Result<Options> {
    let mut options = Options::new(key.seal.clone());
    options.tls = tls(config)?;
    Ok(options)
}

fn not_opened(config: &Config) -> String {
    format!("cannot open the database {} (db)", without_password(&config.db))
}

/// How a database server is verified if the operator names roots of their own; otherwise it is
/// verified by the public ones alone.
fn tls(config: &Config) -> anyhow::Result<Option<Arc<ClientConfig>>> {
    if !config.db.starts_with("wss://") || config.ca_file.is_empty() {
        return Ok(None);
    }
    let roots = start::roots(&config.ca_file).context("ca_file")?;
    let trust = egress::Trust::new(&roots).context("ca_file")?;
    Ok(Some(egress::verifying_config(&trust, &[])))
}

fn without_password(url: &str) -> String {
    match url::Url::parse(url) {
        Ok(mut url) if url.password().is_some() => {
            // A URL that has a password takes another one.
            let _ = url.set_password(Some("***"));
            url.into()
        }
        Ok(_) => url.to_owned(),
        Err(_) => without_user(url),
    }
}
