//! Brings the parts up in their order and takes them down in the opposite one.
//!
//! certificate → listeners → key file → store → sandbox and plugins → leases of the process before →
//! first account → work loops → servers. The ports are bound early: what they turn out to be is what
//! no check may connect to.
//!
//! *Invariant:* nothing fails once the first account is made, or its key would be shown to nobody.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context;
use parking_lot::Mutex;
use rustls::pki_types::{CertificateDer, pem::PemObject};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use vedette_model::{CheckType, Edition, guard::Guard};
use vedette_sandbox::{
    Sandbox, StateStore,
    egress::{self, Egress, smtp::Relay},
};
use vedette_store::Store;

use crate::{
    App, Clock, Config, api,
    app::SiteList,
    database, default_folder,
    limits::Limits,
    listen::{self, Listening},
    oidc::Oidc,
    plugin_state::PluginState,
    plugins::{self, Folder, Operators},
    pulse::Pulse,
    server_clock::ServerClock,
    service::{
        self,
        account::CreatedAccount,
        check::Places,
        cron::Cron,
        overview::Overview,
        planned::Planned,
        status_page::{StatusPages, domain::Domains},
    },
    streams::Streams,
    tls::Identity,
    wake::Wake,
    work,
};

/// A service that is up.
pub struct Running {
    /// Where the API listens, with the port it got.
    pub api_addr: SocketAddr,
    pub admin_addr: SocketAddr,
    pub app: Arc<App>,
    /// Made because the database was empty; its key is known only here.
    pub first_account: Option<CreatedAccount>,
    end: JoinHandle<anyhow::Result<()>>,
}

/// The service was told to stop before it was up.
#[derive(Debug, thiserror::Error)]
#[error("told to stop before it was up")]
pub struct Stopped;

/// Starts everything and comes back once requests are answered. Cancelling `shutdown` ends it:
/// no new connections, ten seconds for what runs, then the work loops, then the store. Cancelled
/// before its plugins are there, it does not come up first.
///
/// # Errors
/// When an address cannot be bound, the database not be opened, or a built-in plugin not be
/// installed; [`Stopped`] when `shutdown` came before then.
pub async fn serve(
    config: Config,
    clock: Clock,
    shutdown: CancellationToken,
) -> anyhow::Result<Running> {
    std::sync::LazyLock::force(&api::METRICS);
    config.admin.ensure_guards(config.admin_listen)?;
    let identity = Identity::load(&config.tls).await?;
    let api = listen::bind(config.listen, "listen")?;
    let admin = listen::bind(config.admin_listen, "admin_listen")?;
    let out = WaysOut::of(&config, vec![api.local_addr()?, admin.local_addr()?])?;
    let store = shutdown.run_until_cancelled(database::open(&config)).await.ok_or(Stopped)??;
    let started =
        with_store(config, clock, shutdown, store.clone(), identity, out, [api, admin]).await;
    if started.is_err() {
        // The error says why; an engine that is dropped open would say more, and of nothing else.
        let _ = store.close().await;
    }
    started
}

/// What leads outside. It is made before the database is opened: a newer version changes that for good,
/// and must not do so where it then does not start, for a file or an address that cannot be read.
pub(crate) struct WaysOut {
    egress: Egress,
    relay: Option<Relay>,
}

impl WaysOut {
    /// No check may connect to `own_listeners`.
    pub(crate) fn of(config: &Config, own_listeners: Vec<SocketAddr>) -> anyhow::Result<Self> {
        let egress = egress(config, own_listeners)?;
        let relay = relay(config, &egress)?;
        Ok(Self { egress, relay })
    }
}

/// What of [`serve`] comes after the store.
async fn with_store(
    config: Config,
    clock: Clock,
    shutdown: CancellationToken,
    store: Store,
    identity: Option<Identity>,
    out: WaysOut,
    [api, admin]: [TcpListener; 2],
) -> anyhow::Result<Running> {
    let (api_addr, admin_addr) = (api.local_addr()?, admin.local_addr()?);
    let tasks = TaskTracker::new();
    let assembling = assemble(config, clock, &shutdown, store, out, api_addr, &tasks);
    // Compiling the plugins can take longer than a supervisor waits for us to stop.
    let app = shutdown.run_until_cancelled(assembling).await.ok_or(Stopped)??;
    let acceptors = [listen::acceptor(api)?, listen::acceptor(admin)?];
    work::take_over(&app).await?;
    // From here on it comes up first: the key of an account that is made is shown then or never, and
    // loops that were begun are waited for before the store is closed.
    let first_account = first_account(&app).await?;

    work::start(&app, &tasks, &shutdown);
    tasks.spawn(housekeeping(Arc::clone(&app), shutdown.clone()));
    let public = api::service(Arc::clone(&app));
    let operator = api::operator(Arc::clone(&app));
    let [api, admin] = acceptors;
    let listeners = [
        listen::serve(api, identity.as_ref(), public, &tasks, &shutdown),
        listen::serve(admin, None, operator, &tasks, &shutdown),
    ];
    if let Some(identity) = identity {
        tasks.spawn(identity.follow(shutdown.clone()));
    }
    tasks.close();
    let end = tokio::spawn(end(Arc::clone(&app), listeners, tasks, shutdown));
    Ok(Running { api_addr, admin_addr, app, first_account, end })
}

/// The application with its plugins; nothing runs yet.
pub(crate) async fn assemble(
    config: Config,
    clock: Clock,
    shutdown: &CancellationToken,
    store: Store,
    WaysOut { egress, relay }: WaysOut,
    api_addr: SocketAddr,
    tasks: &TaskTracker,
) -> anyhow::Result<Arc<App>> {
    let state = Arc::new(PluginState::new(store.clone(), clock.clone()));
    let sandbox = sandbox_over(egress, &config, state)?;
    let sandbox = install(sandbox, Plugins::All).await?;
    let plugins = Operators::new(Folder::new(&config.plugins.folder));
    // What cannot be loaded is in the log, and is no reason not to watch with the others.
    let _ = plugins.reload(&sandbox).await;
    let cached = sandbox.clone();
    // Nobody waits for it.
    tokio::task::spawn_blocking(move || cached.prune_native_code());
    Ok(Arc::new(App {
        limits: Limits::new(&clock),
        relay,
        oidc: Oidc::new(&config.oidc, sandbox.egress().clone(), clock.clone()),
        node: format!("{}-{}", std::process::id(), uuid::Uuid::now_v7()),
        wake: Wake::default(),
        unsent: Mutex::default(),
        tasks: tasks.clone(),
        streams: Streams::new(shutdown.clone()),
        origin: origin(&config, api_addr),
        status_pages: StatusPages::default(),
        site_lists: SiteList::memory(),
        domains: Domains::default(),
        overviews: Overview::memory(),
        server_clock: ServerClock::default(),
        pulse: Pulse::new(clock.now()),
        planned: Planned::new(),
        places: Places::default(),
        cron: Cron::new(shutdown.clone()),
        guard: Mutex::new(Guard::new(config.confirm.recheck * JUMP_CHECKS, config.guard.late)),
        config,
        store,
        sandbox,
        plugins,
        clock,
    }))
}

impl Running {
    /// Waits until everything has ended, which takes a cancelled `shutdown`.
    pub async fn finished(self) -> anyhow::Result<()> {
        self.end.await.context("the shutdown panicked")?
    }

    /// The address that clients use, with the first edition's prefix.
    pub fn base_url(&self) -> String {
        format!("{}{}", self.app.origin, first_edition(&self.app.config).prefix)
    }
}

/// As the operator says, else where the API listens; of all addresses at once, a warning says that
/// nobody can follow it.
fn origin(config: &Config, api_addr: SocketAddr) -> String {
    if let Some(url) = &config.public_url {
        return url.as_str().trim_end_matches('/').to_owned();
    }
    let origin = format!("{}://{api_addr}", config.tls.scheme());
    if api_addr.ip().is_unspecified() {
        tracing::warn!(
            "invitations, status pages, feeds and checkouts will lead to {origin}, which is nowhere: \
             set public_url to the address that clients use"
        );
    }
    origin
}

/// Which built-in plugins are wanted.
pub(crate) enum Plugins {
    All,
    /// One check, for a one-off run.
    Check(CheckType),
}

/// The egress layer as the configuration wants it.
fn egress(config: &Config, own_listeners: Vec<SocketAddr>) -> anyhow::Result<Egress> {
    let policy = egress::Policy {
        allow: config.egress.allow.clone(),
        deny: config.egress.deny.clone(),
        public_allow: config.egress.public_allow.clone(),
        own_listeners,
    };
    let options = egress::Options {
        policy,
        dns_servers: config.dns_server.clone(),
        dnssec_anchor: config.dnssec_anchor.clone(),
        roots: roots(&config.ca_file).context("ca_file")?,
        most_read: None,
    };
    Egress::new(options).context("cannot start the sandbox")
}

/// The sandbox of a command as the configuration wants it, without plugins and listeners.
pub(crate) fn sandbox(config: &Config, state: Arc<dyn StateStore>) -> anyhow::Result<Sandbox> {
    sandbox_over(egress(config, Vec::new())?, config, state)
}

fn sandbox_over(
    egress: Egress,
    config: &Config,
    state: Arc<dyn StateStore>,
) -> anyhow::Result<Sandbox> {
    let options = vedette_sandbox::Options {
        egress,
        cache_dir: config.cache_dir.clone().or_else(default_folder::cache),
        settings: config.plugins.settings(),
        state,
    };
    Sandbox::new(options).context("cannot start the sandbox")
}

/// None where no relay is configured.
fn relay(config: &Config, egress: &Egress) -> anyhow::Result<Option<Relay>> {
    let Some(url) = &config.smtp.url else { return Ok(None) };
    let from = config.smtp.from.as_deref();
    let from = from.context("smtp.url needs smtp.from, the address that mail comes from")?;
    Ok(Some(Relay::new(egress.clone(), url.expose(), from)?))
}

/// Installs built-in plugins, through the same door as anybody's.
pub(crate) async fn install(sandbox: Sandbox, wanted: Plugins) -> anyhow::Result<Sandbox> {
    // Compiling is long work without a pause.
    let installed = tokio::task::spawn_blocking(move || {
        for plugin in vedette_bundle::BUILT_IN {
            let chosen = match &wanted {
                Plugins::All => true,
                Plugins::Check(check_type) => check_name(plugin.id) == Some(check_type.as_str()),
            };
            if chosen {
                sandbox
                    .install(plugin.component, vedette_sandbox::Grant::AsAsked)
                    .with_context(|| format!("cannot install the plugin {}", plugin.id))?;
            }
        }
        anyhow::Ok(sandbox)
    });
    installed.await.context("installing the plugins panicked")?
}

/// The sandbox with the operator's check of this type, where the folder has one that is approved.
pub(crate) async fn install_own(
    sandbox: Sandbox,
    config: &Config,
    check_type: CheckType,
) -> anyhow::Result<Sandbox> {
    let folder = Folder::new(&config.plugins.folder);
    let installed = tokio::task::spawn_blocking(move || {
        plugins::install_check(&sandbox, &folder, &check_type).map(|()| sandbox)
    });
    installed.await.context("installing the plugin panicked")?
}

/// The checks that are built in.
pub(crate) fn check_names() -> Vec<&'static str> {
    vedette_bundle::BUILT_IN.iter().filter_map(|plugin| check_name(plugin.id)).collect()
}

/// The check type of a built-in plugin, by its id.
fn check_name(id: &str) -> Option<&str> {
    id.strip_prefix("vedette.check-")
}

/// The other half of [`serve`].
async fn end(
    app: Arc<App>,
    listeners: [Listening; 2],
    tasks: TaskTracker,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    shutdown.cancelled().await;
    for listener in &listeners {
        listener.stop(GRACE).await;
    }
    // Checks and deliveries end by their own deadlines; what does not end is treated like a crash,
    // and nothing depends on a clean end.
    if tokio::time::timeout(GRACE + Duration::from_secs(2), tasks.wait()).await.is_err() {
        tracing::warn!("some work did not finish in time and was abandoned");
    }
    app.store.close().await.context("cannot close the database")
}

/// Forgets idle windows and sums up metrics.
async fn housekeeping(app: Arc<App>, shutdown: CancellationToken) {
    let mut pace = tokio::time::interval(Duration::from_secs(5));
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = pace.tick() => {
                app.limits.forget_idle(app.clock.now());
                api::METRICS.run_upkeep();
            }
        }
    }
}

async fn first_account(app: &App) -> anyhow::Result<Option<CreatedAccount>> {
    if app.config.no_first_account {
        return Ok(None);
    }
    let edition = first_edition(&app.config);
    service::account::first_account(app, edition).await.context("cannot create the first account")
}

fn first_edition(config: &Config) -> &'static Edition {
    let id = config.edition.ids().first().copied().unwrap_or_default();
    Edition::by_id(id).expect("mounted editions are of the model")
}

pub(crate) fn roots(files: &[PathBuf]) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let mut roots = Vec::new();
    for file in files {
        let unreadable = || format!("cannot read the roots in {}", file.display());
        let before = roots.len();
        for root in CertificateDer::pem_file_iter(file).with_context(unreadable)? {
            roots.push(root.with_context(unreadable)?);
        }
        anyhow::ensure!(roots.len() > before, "{} holds no certificate", file.display());
    }
    Ok(roots)
}

/// Rechecks that sites which failed together are given before they are believed.
const JUMP_CHECKS: u32 = 2;
/// How long requests that run may go on after the first signal.
const GRACE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use vedette_model::Secret;

    use super::*;
    use crate::{config::Smtp, instance};

    #[tokio::test]
    async fn what_cannot_be_read_is_told_before_there_is_a_database() {
        let folder = tempfile::tempdir().expect("a folder");
        let smtp = |url: &str, from: &str| Smtp {
            url: Some(Secret::new(url.to_owned())),
            from: Some(from.to_owned()),
        };
        let config = || Config {
            db: format!("surrealkv://{}", folder.path().join("db").display()),
            dns_server: vec!["127.0.0.1:9".parse().expect("an address")],
            ..instance::config()
        };
        let missing = || folder.path().join("missing.pem");
        for bad in [
            Config { ca_file: vec![missing()], ..config() },
            Config { dnssec_anchor: Some(missing()), ..config() },
            Config { smtp: smtp("smtp://mail.example?tls=maybe", "a@b.example"), ..config() },
            Config { smtp: smtp("smtp://mail.example", "nobody"), ..config() },
        ] {
            let started = serve(bad, Clock::System, CancellationToken::new()).await;
            let cause = started.err().map(|cause| format!("{cause:#}"));
            assert!(cause.is_some(), "it is refused");
            assert!(!folder.path().join("db").exists(), "{cause:?}");
        }
    }
}
