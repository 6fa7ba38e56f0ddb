//! `vedette serve`.

use std::{io::Write, path::PathBuf, sync::Arc};

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};
use toml::{Table, Value};

use super::{environment, flags, signals, start_log, watchdog};
use crate::{
    App, Clock, Config, Running, Stopped,
    config::{set, unknown_variables},
    serve,
};

#[derive(clap::Args)]
pub(super) struct Args {
    /// The configuration; flags and VEDETTE_… variables win over it
    #[arg(long, value_name = "FILE", env = "VEDETTE_CONFIG")]
    config: Option<PathBuf>,
    /// Where the API listens [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Where the operator's port listens [default: 127.0.0.1:8081]
    #[arg(long, value_name = "ADDR")]
    admin_listen: Option<String>,
    /// surrealkv://PATH, mem:// or ws(s)://USER:PASSWORD@HOST [default: surrealkv://data/vedette]
    #[arg(long, value_name = "URL")]
    db: Option<String>,
    /// standard, team or both [default: standard]
    #[arg(long, value_name = "EDITION")]
    edition: Option<String>,
    #[command(flatten)]
    network: flags::Network,
    /// Open a private range for the public endpoints (repeatable)
    #[arg(long, value_name = "CIDR", value_delimiter = ',')]
    public_egress_allow: Vec<String>,
    /// Believe X-Forwarded-For from this range (repeatable)
    #[arg(long, value_name = "CIDR", value_delimiter = ',')]
    trusted_proxy: Vec<String>,
    /// The address that clients use, where it is not the one listened on
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Speak TLS with the chain in this PEM file, which is read again when it changes
    #[arg(long, value_name = "PEM")]
    tls_cert: Option<String>,
    /// The key of --tls-cert
    #[arg(long, value_name = "PEM")]
    tls_key: Option<String>,
    /// Do not create an account on an empty database
    #[arg(long)]
    no_first_account: bool,
}

/// Serves until SIGINT or SIGTERM, then ends what runs; a second signal ends it at once. SIGHUP reads
/// the operator's plugins again.
pub(super) async fn run(args: Args) -> anyhow::Result<()> {
    let config = Config::load(args.config.as_deref(), environment, args.layer())?;
    start_log(&config.log)?;
    warn_of_unknown_variables();
    let shutdown = signals::stop(STOPPING)?;
    signals::outlive_file_limit()?;
    let hangup = signal(SignalKind::hangup()).context("cannot listen for SIGHUP")?;
    let is_file = config.db.starts_with("surrealkv://");
    let running = match serve(config, Clock::System, shutdown).await {
        Err(cause) if cause.is::<Stopped>() => return Ok(()),
        started => started?,
    };
    tokio::spawn(reload_at(hangup, Arc::clone(&running.app)));
    // Where only the log is kept: which version this is, and where it listens.
    tracing::info!(
        version = VERSION, api = %running.api_addr, admin = %running.admin_addr,
        "vedette {VERSION} is up: the API at {}, the operator's port at {}",
        running.api_addr, running.admin_addr
    );
    // Our parent may have closed our output: that is no reason not to serve.
    let _ = announce(&mut std::io::stdout().lock(), &running);
    // After the key of a first account was shown: this can fail.
    if is_file {
        watchdog::start(running.app.store.clone()).context("cannot watch the database")?;
    }
    running.finished().await
}

impl Args {
    fn layer(&self) -> Table {
        let mut table = Table::new();
        flags::text(&mut table, "listen", self.listen.as_ref());
        flags::text(&mut table, "admin_listen", self.admin_listen.as_ref());
        flags::text(&mut table, "db", self.db.as_ref());
        flags::text(&mut table, "edition", self.edition.as_ref());
        flags::text(&mut table, "public_url", self.public_url.as_ref());
        flags::text(&mut table, "tls.cert_file", self.tls_cert.as_ref());
        flags::text(&mut table, "tls.key_file", self.tls_key.as_ref());
        flags::list(&mut table, "egress.public_allow", &self.public_egress_allow);
        flags::list(&mut table, "trusted_proxy", &self.trusted_proxy);
        self.network.layer(&mut table);
        if self.no_first_account {
            set(&mut table, "no_first_account", Value::Boolean(true));
        }
        table
    }
}

/// What somebody set and nobody reads would be missed without a word.
fn warn_of_unknown_variables() {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for told in unknown_variables(names) {
        tracing::warn!("{told}");
    }
}

/// The first account's key, if there is one, then the ready lines: a reader that waits for them has
/// it.
fn announce(out: &mut impl Write, running: &Running) -> std::io::Result<()> {
    if let Some(first) = &running.first_account {
        let base = running.base_url();
        writeln!(
            out,
            "The database is new: here is a first account on the {} plan.",
            first.account.plan
        )?;
        writeln!(out, "Its API key is shown this once:")?;
        writeln!(out)?;
        writeln!(out, "    {}", first.key)?;
        writeln!(out)?;
        writeln!(out, "Try it:")?;
        writeln!(out)?;
        writeln!(out, "    curl -H 'Authorization: Bearer {}' {base}/sites", first.key)?;
        writeln!(out)?;
    }
    writeln!(out, "admin on http://{}", running.admin_addr)?;
    writeln!(out, "listening on {}://{}", running.app.config.tls.scheme(), running.api_addr)?;
    out.flush()
}

/// SIGHUP reads the operator's plugins again. The certificate needs no signal: its files are
/// watched.
async fn reload_at(mut hangup: Signal, app: Arc<App>) {
    while hangup.recv().await.is_some() {
        // What cannot be loaded is in the log.
        if app.plugins.reload(&app.sandbox).await.is_ok() {
            tracing::info!("the plugins were read again");
        }
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");
const STOPPING: &str = "stopping: running work has 10 s to finish; a second signal stops at once";
