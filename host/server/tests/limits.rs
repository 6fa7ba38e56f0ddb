//! The limits over HTTP, with a clock that the test moves: exact among many at once, and true in
//! what they tell to wait.

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

#[test]
fn with_seven_calls_left_a_thousand_at_once_admit_exactly_seven() {
    with_service(|service| async move {
        let account = service.account("pro").await;
        service.use_up(&account, 10_000 - 7).await;
        let answers = service.burst(&account, 1_000).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 7);
        let refused: Vec<_> = answers.iter().filter(|answer| answer.status == 429).collect();
        assert_eq!(refused.len(), 993);
        // A hundred passed the account's window; the month refused all of them but seven. Who met
        // the window afterwards hears of the month, too.
        let by_month = refused.iter().filter(|answer| answer.text.contains("upgrade")).count();
        assert!(by_month >= 93, "{by_month}");
        let mut told: Vec<u64> = answers
            .iter()
            .filter(|answer| answer.status == 200)
            .map(|answer| answer.used)
            .collect();
        told.sort_unstable();
        assert_eq!(
            told,
            (9_994..=10_000).collect::<Vec<u64>>(),
            "each call was told its own count"
        );

        for _ in 0..2 {
            service.hand.advance(Duration::from_secs(11));
            let more = service.burst(&account, 150).await;
            assert!(more.iter().all(|answer| answer.status == 429 && answer.used == 10_000));
        }
        assert_eq!(service.used(&account).await, 10_000, "what was refused is no call");

        let left = quota::until_next_month(service.hand.now());
        service.hand.advance(left);
        let first = service.get("/v1/alerts", Some(&account.key), None).await;
        assert_eq!((first.status, first.used), (200, 1), "{}", first.text);
    });
}

#[test]
fn waiting_as_long_as_retry_after_says_is_enough_and_a_second_less_is_not() {
    with_service(|service| async move {
        let one = Some(IpAddr::from([192, 0, 2, 1]));
        // The window of an address, for requests with and without a credential.
        for (path, most) in [("/v1/alerts", 60), ("/v1/public/check-ssl?domain=localhost", 10)] {
            for number in 0..most {
                if number == most / 2 {
                    service.hand.advance(Duration::from_millis(7_300));
                }
                assert_ne!(service.get(path, None, one).await.status, 429, "{path} {number}");
            }
            service.wait_is_true(path, None, one, 53).await;
        }

        // The window of an account.
        let free = service.account("free").await;
        let key = Some(free.key.as_str());
        for _ in 0..10 {
            assert_eq!(service.get("/v1/alerts", key, None).await.status, 200);
        }
        service.wait_is_true("/v1/alerts", key, None, 11).await;

        // The month.
        let free = service.account("free").await;
        let key = Some(free.key.as_str());
        service.use_up(&free, 100).await;
        let left = quota::until_next_month(service.hand.now());
        service.wait_is_true("/v1/alerts", key, None, quota::whole_seconds(left)).await;
    });
}

#[test]
fn retry_after_is_the_longest_wait_of_all_limits_that_are_used_up() {
    with_service(|service| async move {
        let one = Some(IpAddr::from([192, 0, 2, 2]));
        let free = service.account("free").await;
        let key = Some(free.key.as_str());
        for number in 1..=61 {
            let answer = service.get("/v1/alerts", key, one).await;
            let expected = match number {
                ..=10 => None,
                // The account's ten seconds, as long as its address has requests left.
                11..60 => Some(11),
                _ => Some(61),
            };
            assert_eq!(answer.retry_after, expected, "request {number}: {}", answer.text);
        }
        service.wait_is_true("/v1/alerts", key, one, 61).await;

        service.use_up(&free, 100).await;
        let month = quota::whole_seconds(quota::until_next_month(service.hand.now()));
        // Whichever limit is met first, what helps is told.
        for number in 1..=70 {
            let answer = service.get("/v1/alerts", key, one).await;
            assert_eq!(answer.retry_after, Some(month), "request {number}: {}", answer.text);
            assert!(answer.text.contains("upgrade"), "request {number}: {}", answer.text);
        }
        service.wait_is_true("/v1/alerts", key, one, month).await;
    });
}

#[test]
fn what_costs_no_call_does_not_wait_for_the_next_month() {
    with_service(|service| async move {
        let free = service.account("free").await;
        service.use_up(&free, 100).await;
        for number in 1..=10 {
            let answer = service.ping(&free.key).await;
            assert_eq!((answer.status, answer.used), (200, 100), "ping {number}: {}", answer.text);
        }
        let ping = service.ping(&free.key).await;
        assert_eq!((ping.status, ping.retry_after), (429, Some(11)), "{}", ping.text);
        assert!(!ping.text.contains("upgrade"), "{}", ping.text);
        let month = quota::whole_seconds(quota::until_next_month(service.hand.now()));
        let call = service.get("/v1/alerts", Some(&free.key), None).await;
        assert_eq!((call.status, call.retry_after), (429, Some(month)), "{}", call.text);
        service.hand.advance(Duration::from_secs(11));
        assert_eq!(service.ping(&free.key).await.status, 200);
    });
}

#[test]
fn a_full_address_has_nobody_wait_for_the_next_month_to_buy_more_or_to_leave() {
    with_service(|service| async move {
        let free = service.account_of("team", "free").await;
        let (key, one) = (Some(free.key.as_str()), Some(IpAddr::from([192, 0, 2, 3])));
        service.use_up(&free, 100).await;
        for _ in 0..60 {
            assert_eq!(service.get("/api/alerts", key, one).await.status, 429);
        }
        let month = quota::whole_seconds(quota::until_next_month(service.hand.now()));
        let call = service.get("/api/alerts", key, one).await;
        assert_eq!((call.status, call.retry_after), (429, Some(month)), "{}", call.text);
        for (method, path) in [
            (Method::POST, "/api/checkout"),
            (Method::GET, "/api/billing/status"),
            (Method::DELETE, "/api/account"),
        ] {
            let told = service.send(method, path, key, one, "").await;
            assert_eq!((told.status, told.retry_after), (429, Some(61)), "{path}: {}", told.text);
            assert!(!told.text.contains("month"), "{path}: {}", told.text);
        }
        service.wait_is_true("/api/account", key, one, 61).await;
        let call = service.get("/api/alerts", key, one).await;
        assert_eq!((call.status, call.used), (429, 100), "{}", call.text);
    });
}

#[test]
fn who_is_over_the_window_of_a_plan_is_held_against_the_next_one_at_once() {
    with_service(|service| async move {
        let account = service.account("free").await;
        let key = Some(account.key.as_str());
        let answers = service.burst(&account, 11).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 429).count(), 1);
        let moved = account::change_plan(&service.app, account.account.id, "starter").await;
        moved.expect("a plan of the edition");
        let then = service.get("/v1/alerts", key, None).await;
        assert_eq!((then.status, then.used), (200, 11), "{}", then.text);

        // A change on another node is not told here.
        let answers = service.burst(&account, 40).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 429).count(), 1);
        service.elsewhere(&account, "pro").await;
        let then = service.get("/v1/alerts", key, None).await;
        assert_eq!((then.status, then.used), (200, 51), "{}", then.text);
    });
}

#[test]
fn a_burst_right_after_a_downgrade_is_held_against_the_lower_plan() {
    with_service(|service| async move {
        for is_told in [true, false] {
            let account = service.account("pro").await;
            let first = service.get("/v1/alerts", Some(&account.key), None).await;
            assert_eq!((first.status, first.used), (200, 1), "{}", first.text);
            if is_told {
                let moved = account::change_plan(&service.app, account.account.id, "free").await;
                moved.expect("a plan of the edition");
            } else {
                service.elsewhere(&account, "free").await;
            }
            for (most, used) in [(9, 10), (10, 20)] {
                let answers = service.burst(&account, 60).await;
                let (admitted, refused): (Vec<_>, Vec<_>) =
                    answers.iter().partition(|answer| answer.status == 200);
                assert_eq!(admitted.len(), most, "told: {is_told}");
                for answer in refused {
                    assert_eq!((answer.status, answer.retry_after), (429, Some(11)));
                    assert!(answer.text.contains("10 requests"), "{}", answer.text);
                }
                assert_eq!(service.used(&account).await, used, "what was refused is no call");
                service.hand.advance(Duration::from_secs(11));
            }
        }
    });
}

#[test]
fn a_burst_right_after_a_downgrade_here_has_the_calls_that_are_left() {
    with_service(|service| async move {
        let account = service.account("pro").await;
        let first = service.get("/v1/alerts", Some(&account.key), None).await;
        assert_eq!((first.status, first.used), (200, 1), "{}", first.text);
        service.use_up(&account, 95).await;
        service.hand.advance(Duration::from_secs(11));
        let moved = account::change_plan(&service.app, account.account.id, "free").await;
        moved.expect("a plan of the edition");
        let answers = service.burst(&account, 60).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 4);
        assert_eq!(service.used(&account).await, 100);
    });
}

#[test]
fn who_was_refused_by_the_month_of_a_lower_plan_takes_one_place_in_the_window() {
    with_service(|service| async move {
        let account = service.account("free").await;
        service.use_up(&account, 100).await;
        let answers = service.burst(&account, 5).await;
        assert!(answers.iter().all(|answer| answer.status == 429));
        service.elsewhere(&account, "starter").await;
        // Five of its fifty places are taken.
        let answers = service.burst(&account, 60).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 45);
        assert_eq!(service.used(&account).await, 145);
    });
}

/// A running service, the hand of its clock, and connections to it.
struct Service {
    app: Arc<App>,
    hand: ManualClock,
    base: String,
    clients: Vec<Client>,
    requests: AtomicU32,
}

/// What the tests look at.
struct Seen {
    status: u16,
    retry_after: Option<u64>,
    /// Calls of the month, this one included.
    used: u64,
    text: String,
}

impl Service {
    async fn account(&self, plan: &str) -> CreatedAccount {
        self.account_of("standard", plan).await
    }

    async fn account_of(&self, edition: &str, plan: &str) -> CreatedAccount {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let address = format!("{plan}-{number}@example.com");
        account::create(&self.app, &address, plan, edition).await.expect("a plan of the edition")
    }

    /// Moves it to another plan as another node does, of which nothing is told here.
    async fn elsewhere(&self, account: &CreatedAccount, plan: &str) {
        let set = self.app.store.set_plan(account.account.id, plan).await;
        assert!(set.expect("the store works"));
    }

    /// Counts calls of this month without making them, as far as the plan has them.
    async fn use_up(&self, account: &CreatedAccount, calls: u64) {
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

    async fn used(&self, account: &CreatedAccount) -> u64 {
        let month = quota::month(self.hand.now());
        let so_far = self.app.store.calls_so_far(account.account.id, &month).await;
        so_far.expect("the store answers").used
    }

    /// So many requests at once, each from an address of its own.
    async fn burst(&self, account: &CreatedAccount, count: u32) -> Vec<Seen> {
        let key = Some(account.key.as_str());
        join_all((0..count).map(|_| self.get("/v1/alerts", key, None))).await
    }

    /// From this address, or else from one that nobody else has.
    async fn get(&self, path: &str, key: Option<&str>, address: Option<IpAddr>) -> Seen {
        self.send(Method::GET, path, key, address, "").await
    }

    /// Asks the assistants' endpoint whether it is there, which costs no call of the month.
    async fn ping(&self, key: &str) -> Seen {
        let body = r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#;
        self.send(Method::POST, "/v1/mcp", Some(key), None, body).await
    }

    async fn send(
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
    async fn wait_is_true(
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
fn with_service<F, R>(test: F)
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
