//! A service inside the process of a unit test, and whose account it serves.

use std::{env, net::SocketAddr, panic, path::PathBuf, sync::Arc};

use tokio_util::{sync::CancellationToken, task::TaskTracker};
use vedette_model::Edition;
use vedette_store::{Options, Store};

use crate::{
    App, Caller, Clock, Config,
    seal_key::SealKey,
    serve,
    service::{self, credential::Credential},
    start::{WaysOut, assemble},
};

/// Runs a test on a service of its own, on threads with the stacks that the program has.
pub(crate) fn with_app<F, R>(
    config: impl Future<Output = Config> + Send + 'static,
    clock: Clock,
    test: F,
) where
    F: FnOnce(Arc<App>) -> R + Send + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    run(async move {
        let shutdown = CancellationToken::new();
        let running = serve(config.await, clock, shutdown.clone()).await.expect("it starts");
        test(Arc::clone(&running.app)).await;
        shutdown.cancel();
        running.finished().await.expect("it ends");
    });
}

/// The same without work loops and listeners: nothing happens but what the test does.
pub(crate) fn with_idle_app<F, R>(config: Config, clock: Clock, test: F)
where
    F: FnOnce(Arc<App>) -> R + Send + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    run(async move {
        let key = SealKey::of(&config).expect("one in memory");
        let store = Store::open(&config.db, Options::new(key.seal)).await.expect("it opens");
        let (shutdown, tasks) = (CancellationToken::new(), TaskTracker::new());
        let api_addr = config.listen;
        let out = WaysOut::of(&config, vec![api_addr, config.admin_listen]).expect("ways");
        let app = assemble(config, clock, &shutdown, store.clone(), out, api_addr, &tasks).await;
        test(app.expect("its plugins are there")).await;
        store.close().await.expect("it closes");
    });
}

fn run(test: impl Future<Output = ()> + Send + 'static) {
    // An error only says that another test was first.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(10 << 20)
        .enable_all()
        .build()
        .expect("a runtime");
    let done = runtime.block_on(async { tokio::spawn(test).await });
    if let Err(failure) = done {
        panic::resume_unwind(failure.into_panic());
    }
}

/// Listens at free ports of loopback, and has a database to itself.
pub(crate) fn config() -> Config {
    let free_port = SocketAddr::from(([127, 0, 0, 1], 0));
    Config {
        listen: free_port,
        admin_listen: free_port,
        db: "mem://".to_owned(),
        no_first_account: true,
        cache_dir: Some(native_code()),
        ..Config::default()
    }
}

/// Of an account on the highest plan of its edition.
pub(crate) async fn owner(app: &App, edition: &'static Edition) -> Caller {
    owner_of(app, edition, "owner@shop.example").await
}

/// The same, with this address.
pub(crate) async fn owner_of(app: &App, edition: &'static Edition, email: &str) -> Caller {
    let plan = edition.highest_plan().id;
    let made = service::account::create(app, email, plan, edition.id).await;
    let key = made.expect("a plan of the edition").key;
    let credential = Credential { bearer: &key, account: None, address: None };
    let caller = service::credential::authenticate(app, edition, credential).await;
    caller.expect("a key that was just made")
}

/// Where the integration tests have it too: compiled once for all tests, and not among what is the
/// developer's own.
fn native_code() -> PathBuf {
    let test = env::current_exe().expect("a process has a program");
    let target = test.ancestors().nth(3).expect("it lies in target/debug/deps");
    target.join("tmp/native-code")
}
