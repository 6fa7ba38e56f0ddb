//! The service inside the process that measures it, on loopback, and the accounts that ask it.

use std::net::SocketAddr;

use anyhow::Context;
use vedette_model::Edition;
use vedette_server::{App, Caller, Config, service};

// As the program has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs a measurement on threads like those of the program.
pub(crate) fn run(
    measurement: impl Future<Output = anyhow::Result<()>> + Send + 'static,
) -> anyhow::Result<()> {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(10 << 20)
        .enable_all()
        .build()?;
    runtime.block_on(async { tokio::spawn(measurement).await? })
}

/// Listens at free ports of loopback, and makes no account of its own accord.
pub(crate) fn config(database: String) -> Config {
    let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
    Config {
        listen: loopback,
        admin_listen: loopback,
        db: database,
        no_first_account: true,
        ..Config::default()
    }
}

/// An account of the standard edition's highest plan, and its key.
pub(crate) async fn account(app: &App, email: &str) -> anyhow::Result<(Caller, String)> {
    let edition = Edition::by_id("standard").context("the edition")?;
    let made = service::account::create(app, email, "pro", edition.id).await?;
    let credential =
        service::credential::Credential { bearer: &made.key, account: None, address: None };
    let caller = service::credential::authenticate(app, edition, credential).await?;
    Ok((caller, made.key))
}
