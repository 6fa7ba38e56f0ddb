//! What the API bears, as ratios:
//!
//! ```text
//! cargo run --release -p vedette-server --example load -- [SECONDS] [DATABASE]
//! ```
//!
//! First what one decision of the limiter takes.
//!
//! Then `GET /v1/sites` with twenty sites, a key and all limits, beside a bare salvo that says
//! hello. Both run in this process and are asked by the same clients in turn, so that what the
//! machine does and what the clients cost is the same for both. All clients have one key, and the
//! next one when its window is nearly full; after the last key the service's clock is moved, so
//! that the first has its window again. Every request is counted in all limits. Once the clients
//! take the list as it is, and once packed, as browsers and most libraries ask for it.
//!
//! Then quiet tenants alone, and beside two thousand connections that send a byte now and then and
//! a tenant that asks a hundred times as often as its plan has it.

mod instance;

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use chrono::TimeDelta;
use salvo::{
    Listener,
    conn::{Acceptor, TcpListener},
    prelude::*,
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::{JoinHandle, JoinSet},
};
use tokio_util::sync::{CancellationToken, DropGuard};
use vedette_model::{AccountId, Timestamp, quota::Limit};
use vedette_server::{
    App, Clock, Config,
    clock::ManualClock,
    limits::{Class, Limits},
    service,
};

/// Enough that nobody uses up a month with one number of clients and one form.
const ACCOUNTS: usize = 128;
/// Of the hundred that the plan has in ten seconds.
const CALLS: usize = 90;
const WINDOW: Duration = Duration::from_secs(10);
const MONTH: Duration = Duration::from_secs(31 * 24 * 60 * 60);
const SITES: usize = 20;
/// At one time. All who wait at one moment are counted by one durable write, which the disk takes
/// its time for: few clients wait for it most of the time, many keep the processor busy meanwhile.
const CLIENTS: [usize; 3] = [64, 256, 1024];
/// How the clients take the list, and what they say for it.
const FORMS: [(&str, &str); 2] = [("as it is", ""), ("packed", "accept-encoding: gzip\r\n")];
const ROUNDS: usize = 3;
const SLOW: usize = 2_000;
const TICK: Duration = Duration::from_millis(1);
/// The addresses that requests come from.
const ADDRESSES: u32 = 1 << 14;
/// Of the limiter, one after the other.
const DECISIONS: u32 = 1_000_000;

#[handler]
async fn hello() -> &'static str {
    "hello"
}

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = arguments.next().map_or(Ok(4), |text| text.parse())?;
    let database = arguments.next();
    instance::run(measure(seconds, database))
}

async fn measure(seconds: u64, database: Option<String>) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let database =
        database.unwrap_or_else(|| format!("surrealkv://{}/db", folder.path().display()));
    let (clock, hand) = Clock::manual("2026-11-01T00:00:00Z".parse()?);
    let shutdown = CancellationToken::new();
    let config =
        Config { trusted_proxy: vec!["127.0.0.0/8".parse()?], ..instance::config(database) };
    let running = vedette_server::serve(config, clock, shutdown.clone()).await?;
    let mut keys = Vec::new();
    for number in 0..ACCOUNTS {
        let email = format!("{number}@example.com");
        let (caller, key) = instance::account(&running.app, &email).await?;
        for site in 0..SITES {
            let domain = format!("site-{site}.example.com");
            let body = json!({ "domain": domain, "monitoring_enabled": false });
            service::site::create(&running.app, &caller, &body).await?;
        }
        keys.push(key);
    }
    let bare = TcpListener::new("127.0.0.1:0").bind().await;
    let bare_at = bare.holdings()[0].local_addr.clone().into_std().context("an address")?;
    tokio::spawn(Server::new(bare).serve(Router::new().get(hello)));

    let keys = Arc::new(keys);
    let span = Duration::from_secs(seconds);
    decide(&running.app, hand.now());
    for clients in CLIENTS {
        for form in FORMS {
            hand.advance(MONTH);
            beside_hello(running.api_addr, bare_at, span, clients, form, &keys, &hand).await?;
        }
    }
    // Quiet tenants begin with windows and a month of which nothing is used.
    hand.advance(MONTH);
    let real = run_clock(hand);
    beside_noise(running.api_addr, span, &keys).await?;
    drop(real);
    shutdown.cancel();
    running.finished().await
}

/// What it takes to count a request in the windows of its address and of its account: two
/// decisions. The time moves as it does for those who ask as often as they may.
fn decide(app: &App, now: Timestamp) {
    let limits = Limits::new(&app.clock);
    let limit = Limit { max: 100, span: WINDOW };
    let accounts: Vec<AccountId> = (0..ACCOUNTS).map(|_| uuid::Uuid::now_v7().into()).collect();
    let begun = Instant::now();
    let admitted = (0..DECISIONS / 2).filter(|nth| {
        let now = now + TimeDelta::milliseconds(i64::from(nth / 4));
        let address = Ipv4Addr::from_bits((10 << 24) | (nth % ADDRESSES)).into();
        let account = accounts[*nth as usize % ACCOUNTS];
        let address = limits.admit_address(Class::Private, address, now);
        address.is_ok() && limits.admit_account(account, limit, now).is_ok()
    });
    let admitted = admitted.count();
    let each = begun.elapsed() / DECISIONS;
    println!("a decision of the limiter: {each:.2?} ({admitted} requests admitted)");
}

/// The service's clock goes as the wall's does, as long as the guard lives. On a thread of its own:
/// it is not to wait for what it lets through.
fn run_clock(hand: ManualClock) -> DropGuard {
    let ended = CancellationToken::new();
    let guard = ended.clone().drop_guard();
    std::thread::spawn(move || {
        while !ended.is_cancelled() {
            std::thread::sleep(TICK);
            hand.advance(TICK);
        }
    });
    guard
}

/// A request of the list, from the next of many addresses; `more` are lines of its head.
fn request(key: &str, more: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let [_, a, b, c] = (number % ADDRESSES).to_be_bytes();
    format!(
        "GET /v1/sites HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n\
         x-forwarded-for: 10.{a}.{b}.{c}\r\n{more}\r\n"
    )
}

/// Whose turn it is. When all had theirs, their windows are over.
fn turn(hand: &ManualClock) -> usize {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let asked = ASKED.fetch_add(1, Ordering::Relaxed);
    if asked.is_multiple_of(CALLS * ACCOUNTS) {
        hand.advance(WINDOW + TICK);
    }
    asked / CALLS % ACCOUNTS
}

async fn beside_hello(
    api: SocketAddr,
    bare: SocketAddr,
    span: Duration,
    clients: usize,
    (form, accepts): (&str, &'static str),
    keys: &Arc<Vec<String>>,
    hand: &ManualClock,
) -> anyhow::Result<()> {
    let (mut floor, mut ours) = (Vec::new(), Vec::new());
    // The first round only warms up.
    for round in 0..=ROUNDS {
        let greeting = Arc::new(move || format!("GET / HTTP/1.1\r\nhost: x\r\n{accepts}\r\n"));
        let plain = load(bare, span, clients, greeting).await?;
        let (keys, hand) = (Arc::clone(keys), hand.clone());
        let list = Arc::new(move || request(&keys[turn(&hand)], accepts));
        let asked = load(api, span, clients, list).await?;
        if round > 0 {
            println!("hello      {plain}");
            println!("GET sites  {asked}");
            floor.push(plain);
            ours.push(asked);
        }
    }
    let mean = |rounds: &[Load], of: fn(&Load) -> f64| {
        rounds.iter().map(of).sum::<f64>() / rounds.len() as f64
    };
    println!(
        "{clients} clients, {form}: {:.2} of hello's requests per second; p99: {:.2} times hello's",
        mean(&ours, |load| load.rate) / mean(&floor, |load| load.rate),
        mean(&ours, |load| load.p99.as_secs_f64()) / mean(&floor, |load| load.p99.as_secs_f64()),
    );
    Ok(())
}

/// Quiet tenants by themselves, then with bad neighbours, several times in turn.
async fn beside_noise(
    api: SocketAddr,
    span: Duration,
    keys: &Arc<Vec<String>>,
) -> anyhow::Result<()> {
    let (noisy, quiet) = keys.split_last().context("there are accounts")?;
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        alone.push(paced(api, span, quiet).await?);
        let slow = slow_sockets(api).await?;
        let flood = flood(api, noisy.clone());
        beside.push(paced(api, span, quiet).await?);
        flood.abort();
        drop(slow);
    }
    let median = |rounds: &mut Vec<Duration>| {
        rounds.sort_unstable();
        rounds[rounds.len() / 2]
    };
    let (alone, beside) = (median(&mut alone), median(&mut beside));
    println!(
        "p99 of quiet tenants: {alone:.2?} alone, {beside:.2?} beside {SLOW} slow connections and \
         a tenant at a hundred times its plan: {:.2} times",
        beside.as_secs_f64() / alone.as_secs_f64()
    );
    Ok(())
}

/// One request every few milliseconds, of one tenant after the other; answers the p99.
async fn paced(api: SocketAddr, span: Duration, keys: &[String]) -> anyhow::Result<Duration> {
    let mut stream = TcpStream::connect(api).await?;
    stream.set_nodelay(true)?;
    let mut pace = tokio::time::interval(Duration::from_millis(4));
    let (begun, mut times, mut answer) = (Instant::now(), Vec::new(), Vec::new());
    for key in keys.iter().cycle() {
        if begun.elapsed() > span {
            break;
        }
        pace.tick().await;
        let asked = Instant::now();
        stream.write_all(request(key, "").as_bytes()).await?;
        read(&mut stream, &mut answer).await?;
        times.push(asked.elapsed());
        ensure!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    }
    times.sort_unstable();
    Ok(times[times.len() * 99 / 100])
}

/// Connections that have begun a head and add a byte to it now and then.
async fn slow_sockets(api: SocketAddr) -> anyhow::Result<JoinSet<()>> {
    let mut slow = JoinSet::new();
    for _ in 0..SLOW {
        let mut stream = TcpStream::connect(api).await?;
        stream.write_all(b"GET /v1/sites HTTP/1.1\r\nx-slow: ").await?;
        slow.spawn(async move {
            while stream.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
    }
    Ok(slow)
}

/// A thousand requests a second with one key: a hundred times what the plan admits.
fn flood(api: SocketAddr, key: String) -> JoinHandle<anyhow::Result<()>> {
    tokio::spawn(async move {
        let mut stream = TcpStream::connect(api).await?;
        stream.set_nodelay(true)?;
        let mut pace = tokio::time::interval(Duration::from_millis(1));
        let mut answer = Vec::new();
        loop {
            pace.tick().await;
            stream.write_all(request(&key, "").as_bytes()).await?;
            read(&mut stream, &mut answer).await?;
        }
    })
}

/// What came of a load.
struct Load {
    rate: f64,
    p50: Duration,
    p99: Duration,
    refused: usize,
}

impl std::fmt::Display for Load {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { rate, p50, p99, refused } = self;
        write!(f, "{rate:>8.0}/s  p50 {p50:.2?}  p99 {p99:.2?}  ({refused} refused)")
    }
}

/// Clients that each keep a connection and ask again as soon as they are answered.
async fn load(
    to: SocketAddr,
    span: Duration,
    clients: usize,
    request: Arc<dyn Fn() -> String + Send + Sync>,
) -> anyhow::Result<Load> {
    let ended = Arc::new(AtomicBool::new(false));
    let begun = Instant::now();
    let mut asking = JoinSet::new();
    for _ in 0..clients {
        let (ended, request) = (Arc::clone(&ended), Arc::clone(&request));
        asking.spawn(async move {
            let mut stream = TcpStream::connect(to).await?;
            stream.set_nodelay(true)?;
            let (mut times, mut refused) = (Vec::new(), 0);
            let mut answer = Vec::new();
            while !ended.load(Ordering::Relaxed) {
                let text = request();
                let begun = Instant::now();
                stream.write_all(text.as_bytes()).await?;
                read(&mut stream, &mut answer).await?;
                match answer.get(9..12).unwrap_or_default() {
                    b"200" => times.push(begun.elapsed()),
                    // The clock was late on a machine at its limit.
                    b"429" => refused += 1,
                    _ => anyhow::bail!("{}", String::from_utf8_lossy(&answer)),
                }
            }
            anyhow::Ok((times, refused))
        });
    }
    tokio::time::sleep(span).await;
    ended.store(true, Ordering::Relaxed);
    let (mut times, mut refused) = (Vec::new(), 0);
    while let Some(client) = asking.join_next().await {
        let (its, no) = client??;
        times.extend(its);
        refused += no;
    }
    ensure!(refused < times.len(), "{refused} refused: give the load more accounts, or less time");
    let rate = times.len() as f64 / begun.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    Ok(Load { rate, p50: at(50), p99: at(99), refused })
}

/// One answer with a `Content-Length`, whole.
async fn read(stream: &mut TcpStream, answer: &mut Vec<u8>) -> anyhow::Result<()> {
    answer.clear();
    loop {
        ensure!(stream.read_buf(answer).await? > 0, "the connection was closed");
        let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = std::str::from_utf8(&answer[..end])?.to_ascii_lowercase();
        let (_, length) = head.split_once("content-length: ").context("a length")?;
        let length: usize = length.lines().next().unwrap_or_default().trim().parse()?;
        if answer.len() >= end + 4 + length {
            return Ok(());
        }
    }
}
