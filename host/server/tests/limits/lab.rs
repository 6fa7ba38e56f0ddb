//! A service with a clock that the test moves, and what its answers say of the limits.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, Utc};
use futures::future::join_all;
use reqwest::{Client, Method};
use tokio_util::sync::CancellationToken;
use vedette_model::{Edition, quota};
use vedette_server::{
    App, Clock, Config,
    clock::ManualClock,
    config::Mounted,
    serve,
    service::account::{self, CreatedAccount},
};

/// A running service, the hand of its clock, and connections to it.
pub(crate) struct Service {
    pub(crate) app: Arc<App>,
    pub(crate) hand: ManualClock,
    base: String,
    clients: Vec<Client>,
    requests: AtomicU32,
}

/// What the tests look at.
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<u64>,
    /// Calls of the month, this one included.
    pub(crate) used: u64,
    pub(crate) text: String,
}

impl Service {
    pub(crate) async fn account(&self, plan: &str) -> CreatedAccount {
        self.account_of("standard", plan).await
    }

    pub(crate) async fn account_of(&self, edition: &str, plan: &str) -> CreatedAccount {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let address = format!("{plan}-{number}@example.com");
        account::create(&self.app, &address, plan, edition).await.expect("a plan of the edition")
    }

    /// Moves it to another plan as another node does, of which nothing is told here.
    pub(crate) async fn elsewhere(&self, account: &CreatedAccount, plan: &str) {
        let set = self.app.store.set_plan(account.account.id, plan).await;
        assert!(set.expect("the store works"));
    }

    /// Counts calls of this month without making them, as far as the plan has them.
    pub(crate) async fn use_up(&self, account: &CreatedAccount, calls: u64) {
        let month = quota::month(self.hand.now());
        let limit = self.used(account).await + calls;
        let edition = Edition::by_id(&account.account.edition).expect("an edition");
        let plan = edition.plan(&account.account.plan).expect("a plan of the edition");
        let limit = limit.min(plan.monthly_calls);
        let calls =
            (0..calls).map(|_| self.app.store.count_call(account.account.id, &month, limit));
        join_all(calls).await;
        assert_eq!(self.used(account).await, limit);
    }

    pub(crate) async fn used(&self, account: &CreatedAccount) -> u64 {
        let month = quota::month(self.hand.now());
        let so_far = self.app.store.calls_so_far(account.account.id, &month).await;
        so_far.expect("the store answers").used
    }

    /// So many requests at once, each from an address of its own.
    pub(crate) async fn burst(&self, account: &CreatedAccount, count: u32) -> Vec<Seen> {
        let key = Some(account.key.as_str());
        join_all((0..count).map(|_| self.get("/v1/alerts", key, None))).await
    }

    /// From this address, or else from one that nobody else has.
    pub(crate) async fn get(&self, path: &str, key: Option<&str>, address: Option<IpAddr>) -> Seen {
        self.send(Method::GET, path, key, address, "").await
    }

    /// Asks the assistants' endpoint whether it is there, which costs no call of the month.
    pub(crate) async fn ping(&self, key: &str) -> Seen {
        let body = r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#;
        self.send(Method::POST, "/v1/mcp", Some(key), None, body).await
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        key: Option<&str>,
        address: Option<IpAddr>,
        body: &'static str,
    ) -> Seen {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let own = || Ipv4Addr::from_bits(u32::from_be_bytes([10, 0, 0, 0]) | number).into();
        let client = &self.clients[number as usize % self.clients.len()];
        let request = client
            .request(method, format!("{}{path}", self.base))
            .header("x-forwarded-for", address.unwrap_or_else(own).to_string())
            .header("content-type", "application/json")
            .body(body);
        let request = match key {
            Some(key) => request.bearer_auth(key),
            None => request,
        };
        let response = request.send().await.expect("the service answers");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let number = |name: &str| {
            let value = headers.get(name)?.to_str().ok()?;
            Some(value.parse::<u64>().expect("an integer"))
        };
        Seen {
            status,
            retry_after: number("retry-after"),
            used: number("x-monthlylimit-used").expect("on every answer"),
            text: response.text().await.expect("the body arrives"),
        }
    }

    /// The next request is refused and told to wait for `seconds`; a second before that it still
    /// is, and then no longer.
    pub(crate) async fn wait_is_true(
        &self,
        path: &str,
        key: Option<&str>,
        address: Option<IpAddr>,
        seconds: u64,
    ) {
        let refused = self.get(path, key, address).await;
        let told = (refused.status, refused.retry_after);
        assert_eq!(told, (429, Some(seconds)), "{path}: {}", refused.text);
        assert!(refused.text.contains(&format!("\"retry_after\":{seconds}")), "{}", refused.text);
        self.hand.advance(Duration::from_secs(seconds - 1));
        let early = self.get(path, key, address).await;
        assert_eq!((early.status, early.retry_after), (429, Some(1)), "{path}: {}", early.text);
        self.hand.advance(Duration::from_secs(1));
        let then = self.get(path, key, address).await;
        assert_ne!(then.status, 429, "{path}: {}", then.text);
    }
}

/// Runs a test against a service of its own, on threads with the stacks that the program has.
pub(crate) fn with_service<F, R>(test: F)
where
    F: FnOnce(Service) -> R + Send + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    // An error only says that another test was first.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(10 << 20)
        .enable_all()
        .build()
        .expect("a runtime");
    let done = runtime.block_on(async {
        tokio::spawn(async move {
            let (clock, hand) = Clock::manual(begin());
            let shutdown = CancellationToken::new();
            let running = serve(config(), clock, shutdown.clone()).await.expect("it starts");
            let client = || Client::builder().no_proxy().http2_prior_knowledge().build();
            let service = Service {
                app: Arc::clone(&running.app),
                hand,
                base: format!("http://{}", running.api_addr),
                // Each carries at most 128 requests at a time, and a burst is of a thousand.
                clients: (0..8).map(|_| client().expect("a client")).collect(),
                requests: AtomicU32::new(1),
            };
            test(service).await;
            shutdown.cancel();
            running.finished().await.expect("it ends");
        })
        .await
    });
    if let Err(failure) = done {
        std::panic::resume_unwind(failure.into_panic());
    }
}

fn config() -> Config {
    let free_port = SocketAddr::from(([127, 0, 0, 1], 0));
    Config {
        listen: free_port,
        admin_listen: free_port,
        db: "mem://".to_owned(),
        edition: Mounted::Both,
        no_first_account: true,
        // Compiled once for all tests.
        cache_dir: Some(concat!(env!("CARGO_TARGET_TMPDIR"), "/native-code").into()),
        trusted_proxy: vec!["127.0.0.0/8".parse().expect("a range")],
        ..Config::default()
    }
}

/// Off the full second, so that rounding shows.
fn begin() -> DateTime<Utc> {
    "2026-11-20T12:00:00.250Z".parse().expect("a moment")
}
