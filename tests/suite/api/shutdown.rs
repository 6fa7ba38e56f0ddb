//! The end: what runs is finished, what is idle is closed, what is new is refused.

use std::{
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    process::Command,
    sync::Notify,
};
use vedette_tests::{Script, program};

use crate::world::{ROUNDS, World, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_runs_is_answered_and_whoever_comes_late_is_refused() {
    let world = World::start().await;
    let pages = world.lab.pages("slow.example").await.expect("free port");
    let refused = Arc::new(Notify::new());
    pages.at("/", Script::html("<h1>at last</h1>").once(Arc::clone(&refused)));
    let address = world.service.api;
    let client = world.owner.client.clone();
    let body = json!({"domain": "slow.example", "port": pages.port()});
    let running = tokio::spawn(async move { client.post("/check-uptime", body).await });
    until("the check to be under way", async || (!pages.asked("/").is_empty()).then_some(())).await;

    let mut service = world.service;
    let late = async {
        until("the refusal", async || TcpStream::connect(address).await.err()).await;
        let too_late = running.is_finished();
        refused.notify_one();
        too_late
    };
    let (exit, too_late) = tokio::join!(service.stop(), late);
    assert!(!too_late, "refused while the check still ran");
    assert_eq!(exit.expect("stops"), Some(0), "a clean exit");
    let result = running.await.expect("no panic").expect(200);
    assert_eq!(result["status_code"], 200, "{result:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_stopped_while_it_starts_does_not_come_up_first() {
    // Where no plugin is compiled yet, which is most of a start.
    let cache = TempDir::new().expect("there is room for a folder");
    let mut child = Command::new(program().expect("built"))
        .args(["serve", "--db", "mem://", "--no-first-account"])
        .args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
        .env("VEDETTE_CACHE_DIR", cache.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it runs");
    let mut log = BufReader::new(child.stderr.take().expect("piped")).lines();
    loop {
        let line = log.next_line().await.expect("text").expect("more than it has said");
        if line.contains("is installed") {
            break;
        }
    }
    let pid = child.id().expect("it runs").to_string();
    Command::new("kill").args(["-TERM", &pid]).status().await.expect("told");
    let ended = child.wait_with_output().await.expect("it ends");
    assert_eq!(ended.status.code(), Some(0), "a clean exit");
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "", "it never listened");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_who_is_idle_holds_up_the_end() {
    let mut world = World::start().await;
    let mut took = Vec::new();
    for _ in 0..ROUNDS {
        took.push(end_beside_idle_ones(&mut world).await);
        // Requests that run may go on for ten.
        if took.last() < Some(&Duration::from_secs(8)) {
            return;
        }
        world.service = world.service.start_again().await.expect("starts again");
        world.owner.client = world.service.client().with_key(&world.owner.key);
    }
    panic!("every end was held up: {took:?}");
}

/// How long it takes to stop where connections are open on which nobody says anything.
async fn end_beside_idle_ones(world: &mut World) -> Duration {
    // Kept alive after an answer, and never used at all.
    world.owner.client.get("/sites").await.expect(200);
    let mut silent = TcpStream::connect(world.service.api).await.expect("it listens");
    // Of HTTP/2, and deaf: it does not confirm that there is nothing more to come.
    let mut deaf = TcpStream::connect(world.service.api).await.expect("it listens");
    deaf.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.expect("it listens");
    deaf.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await.expect("it listens");
    let mut settings = [0; 9];
    deaf.read_exact(&mut settings).await.expect("it speaks HTTP/2");
    assert_eq!(settings[3], 4, "settings come first: {settings:?}");
    let begun = Instant::now();
    assert_eq!(world.service.stop().await.expect("stops"), Some(0), "a clean exit");
    let took = begun.elapsed();
    drop(deaf);
    let mut rest = Vec::new();
    // Closed, in whichever way.
    let _ = silent.read_to_end(&mut rest).await;
    assert!(rest.is_empty());
    took
}
