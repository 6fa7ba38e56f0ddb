//! What a guest reaches: the target it was granted, within its budget and time, and nobody else.

use std::{io, pin::pin, time::Duration};

use futures::{future::join_all, poll};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::timeout,
};
use vedette_sandbox::{
    Grant, Job, Probe, RunError, Sandbox, Stop,
    egress::{Audience, Policy, Refusal},
};
use wasm_encoder::{BlockType, MemArg};

use crate::{
    guest::{Guest, I32, SPARE},
    lab::{holding, job, replay, sandbox, test, with},
};

const TCP: &str = "vedette:net/tcp@1.0.0";
/// Cases of `net-error`.
const NOT_PERMITTED: i32 = 0;
const ADDRESS_BLOCKED: i32 = 1;
const TIMEOUT: i32 = 5;
const PROTOCOL: i32 = 7;
const BUDGET_EXHAUSTED: i32 = 9;
/// How often a run is tried that a busy machine may end before its plugin does.
const ROUNDS: usize = 3;
/// Runs of one small plugin at a time that somebody asked for, and of them those of people without an
/// account.
const RUNS_ASKED_FOR: u16 = 48;
const RUNS_OF_STRANGERS: usize = 16;

/// A check that makes `calls` exchanges with `host:port` and traps unless the last one ends with
/// `expected`: none = an answer, some = that case of `net-error`.
fn exchanging(host: &str, port: u16, calls: i32, expected: Option<i32>) -> Guest {
    dialling(host, port, None, calls, expected)
}

fn dialling(
    host: &str,
    port: u16,
    connect_to: Option<&str>,
    calls: i32,
    expected: Option<i32>,
) -> Guest {
    let mut guest = Guest::check("tcp = { to = [\"target:*\"] }", &[TCP]);
    let exchange = guest.import(TCP, "exchange", &[I32; 11], &[]);
    let [host, len] = guest.data().text(host);
    let connect_to = connect_to.map(|address| guest.data().text(address));
    let answered = guest.data().words(&[0; 8]);
    let done = guest.data().observation("{}", &[]);
    guest.run(move |code| {
        code.i32_const(calls).local_set(SPARE).loop_(BlockType::Empty);
        code.i32_const(host).i32_const(len).i32_const(port.into());
        let [at, len] = connect_to.unwrap_or_default();
        code.i32_const(connect_to.is_some().into()).i32_const(at).i32_const(len);
        // send, max, timeout-ms, where the answer goes
        code.i32_const(0).i32_const(0).i32_const(512).i32_const(0).i32_const(answered);
        code.call(exchange);
        code.local_get(SPARE).i32_const(1).i32_sub().local_tee(SPARE).br_if(0).end();
        let byte = |offset| MemArg { offset, align: 0, memory_index: 0 };
        code.i32_const(answered).i32_load8_u(byte(0)).i32_const(expected.is_some().into());
        code.i32_ne().if_(BlockType::Empty).unreachable().end();
        if let Some(case) = expected {
            code.i32_const(answered).i32_load8_u(byte(4)).i32_const(case);
            code.i32_ne().if_(BlockType::Empty).unreachable().end();
        }
        code.i32_const(done);
    });
    guest
}

#[tokio::test]
async fn a_granted_target_is_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let sandbox = holding(&exchanging("127.0.0.1", port, 1, None));
    let serving = tokio::spawn(async move {
        let mut peer = accepted(&listener).await;
        peer.write_all(b"220 hello\r\n").await.expect("sent");
    });
    let ran = sandbox.run(&test(), job("127.0.0.1")).await.expect("an observation");
    assert!(ran.host_time <= ran.duration);
    serving.await.expect("served");
}

#[tokio::test]
async fn any_other_host_or_port_is_not_permitted_and_no_packet_leaves() {
    let canary = TcpListener::bind("127.0.0.2:0").await.expect("a port");
    let port = canary.local_addr().expect("bound").port();
    for (grant, host) in [("target:*", "127.0.0.2"), ("target", "127.0.0.1")] {
        let mut guest = exchanging(host, port, 1, Some(NOT_PERMITTED));
        guest.manifest = guest.manifest.replace("target:*", grant);
        holding(&guest).run(&test(), job("127.0.0.1")).await.expect("refused inside");
    }
    let reached = timeout(Duration::from_millis(50), canary.accept()).await;
    assert!(reached.is_err(), "the canary was reached");
}

#[tokio::test]
async fn port_0_is_a_mistake_of_the_call_and_says_nothing_of_the_target() {
    let sandbox = holding(&exchanging("127.0.0.1", 0, 1, Some(PROTOCOL)));
    sandbox.run(&test(), job("127.0.0.1")).await.expect("refused inside");
}

#[tokio::test]
async fn connect_to_is_only_what_this_run_has_seen_vetted() {
    let canary = TcpListener::bind("127.0.0.2:0").await.expect("a port");
    let port = canary.local_addr().expect("bound").port();
    let guest = dialling("127.0.0.1", port, Some("127.0.0.2"), 1, Some(NOT_PERMITTED));
    let sandbox = holding(&guest);
    sandbox.run(&test(), job("127.0.0.1")).await.expect("refused inside");

    // The job's own is the one that may.
    let guest = dialling("127.0.0.1", port, Some("127.0.0.2"), 1, None);
    let sandbox = holding(&guest);
    let mut origin = job("127.0.0.1");
    origin.connect_to = Some("127.0.0.2".parse().expect("an address"));
    let serving = tokio::spawn(async move {
        let mut peer = accepted(&canary).await;
        peer.write_all(b"hi").await.expect("sent");
    });
    sandbox.run(&test(), origin).await.expect("an observation");
    serving.await.expect("served");
}

#[tokio::test]
async fn a_blocked_target_is_found_before_the_plugin_starts() {
    // It would trap: nobody answers it.
    let guest = exchanging("127.0.0.1", 443, 1, None);
    let sandbox = with(Policy::default());
    sandbox.install(&guest.build(), Grant::AsAsked).expect("installed");
    let blocked = sandbox.run(&test(), job("127.0.0.1")).await;
    assert_eq!(blocked, Err(RunError::Blocked(Refusal::Denied.to_string())));
    let mut origin = job("example.com");
    origin.connect_to = Some("10.0.0.1".parse().expect("an address"));
    assert!(matches!(sandbox.run(&test(), origin).await, Err(RunError::Blocked(_))));
}

#[tokio::test]
async fn that_a_watched_target_is_blocked_is_for_the_plugin_to_report() {
    let canary = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = canary.local_addr().expect("bound").port();
    let guest = exchanging("127.0.0.1", port, 1, Some(ADDRESS_BLOCKED));
    let sandbox = with(Policy::default());
    sandbox.install(&guest.build(), Grant::AsAsked).expect("installed");
    let watched = Job { port: Some(port), watched: true, ..job("127.0.0.1") };
    sandbox.run(&test(), watched).await.expect("refused inside");
    let nobody = timeout(Duration::ZERO, canary.accept()).await;
    assert!(nobody.is_err(), "nothing was connected");

    // Who only asks about it would be told of a machine of ours.
    sandbox.install(&Guest::check("", &[]).build(), Grant::AsAsked).expect("installed");
    let watched = Job { watched: true, ..job("10.0.0.1") };
    assert!(matches!(sandbox.run(&test(), watched).await, Err(RunError::Blocked(_))));
}

/// Loopback is open, but for where we listen ourselves.
fn listening_at_8080() -> Sandbox {
    with(Policy {
        allow: vec!["127.0.0.0/8".parse().expect("a range")],
        own_listeners: vec!["127.0.0.1:8080".parse().expect("a socket")],
        ..Policy::default()
    })
}

#[tokio::test]
async fn the_port_is_nothing_to_a_plugin_that_does_not_connect_to_its_target() {
    let sandbox = listening_at_8080();
    sandbox.install(&Guest::check("", &[]).build(), Grant::AsAsked).expect("installed");
    let mut elsewhere = job("127.0.0.1");
    elsewhere.port = Some(8080);
    assert!(sandbox.run(&test(), elsewhere).await.is_ok());
    assert!(matches!(sandbox.run(&test(), job("10.0.0.1")).await, Err(RunError::Blocked(_))));
}

#[tokio::test]
async fn our_own_listeners_are_blocked_even_where_their_address_is_allowed() {
    let sandbox = listening_at_8080();
    let guest = exchanging("127.0.0.1", 0, 1, Some(PROTOCOL));
    sandbox.install(&guest.build(), Grant::AsAsked).expect("installed");
    let mut ourselves = job("127.0.0.1");
    ourselves.port = Some(8080);
    assert!(matches!(sandbox.run(&test(), ourselves).await, Err(RunError::Blocked(_))));
    assert!(sandbox.run(&test(), job("127.0.0.1")).await.is_ok());
}

#[tokio::test]
async fn a_resolver_that_is_away_is_for_the_plugin_to_report() {
    // The lab's resolver answers nobody.
    let sandbox = holding(&Guest::check("", &[]));
    let ran = sandbox.run(&test(), job("example.com")).await.expect("the plugin ran");
    assert_eq!(ran.observation.result, json!({"ok": true}));
}

#[tokio::test]
async fn a_tarpit_holds_a_run_no_longer_than_its_wall_clock() {
    let tarpit = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = tarpit.local_addr().expect("bound").port();
    let mut guest = exchanging("127.0.0.1", port, 1, Some(TIMEOUT));
    // Long enough that the plugin has all the time after its probe that any run has.
    guest.manifest = guest.manifest.replace("wall = \"2s\"", "wall = \"5s\"");
    let sandbox = holding(&guest);
    let (check, mut rans) = (test(), Vec::new());
    // The probe ends first, so that the plugin can say what it saw. It has a quarter of a second for
    // that, which a busy machine may once need for itself.
    while rans.len() < ROUNDS && !rans.iter().any(Result::is_ok) {
        let run = timeout(Duration::from_secs(30), sandbox.run(&check, job("127.0.0.1")));
        rans.push(run.await.expect("an end"));
    }
    assert!(rans.iter().any(Result::is_ok), "no observation: {rans:?}");
}

#[tokio::test]
async fn a_caller_that_goes_away_takes_its_probes_along() {
    let tarpit = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = tarpit.local_addr().expect("bound").port();
    let mut guest = exchanging("127.0.0.1", port, 1, None);
    guest.manifest = guest.manifest.replace("wall = \"2s\"", "wall = \"30s\"");
    let sandbox = holding(&guest);
    let caller = tokio::spawn(async move { sandbox.run(&test(), job("127.0.0.1")).await });
    let mut peer = accepted(&tarpit).await;
    caller.abort();
    let mut rest = Vec::new();
    let closed = timeout(Duration::from_secs(20), peer.read_to_end(&mut rest)).await;
    closed.expect("closed long before the wall clock").expect("in order");
}

#[tokio::test]
async fn a_crowd_that_asks_the_same_costs_its_target_one_connection() {
    // What a run brings is for all of them, and so is that it broke.
    for (expected, brings) in [(None, true), (Some(TIMEOUT), false)] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let sandbox = holding(&exchanging("127.0.0.1", port, 1, expected));
        let check = test();
        let mut crowd = pin!(join_all((0..8).map(|_| sandbox.run(&check, job("127.0.0.1")))));
        assert!(poll!(crowd.as_mut()).is_pending(), "all have asked");
        let mut peer = accepted(&listener).await;
        peer.write_all(b"hi").await.expect("sent");
        drop(peer);
        let rans = crowd.await;
        assert!(rans.iter().all(|ran| ran.is_ok() == brings && *ran == rans[0]), "{rans:?}");
        let another = timeout(Duration::ZERO, listener.accept()).await;
        assert!(another.is_err(), "somebody else connected");
    }
}

/// The next that connects, in no longer than a busy machine takes to start a guest.
async fn accepted(listener: &TcpListener) -> TcpStream {
    let next = timeout(Duration::from_secs(30), listener.accept()).await;
    next.expect("somebody connects").expect("a guest").0
}

/// Takes in who connects, until so many wait at once: those do not count that have run out of time.
async fn hold(tarpit: &TcpListener, held: &mut Vec<TcpStream>, most: usize) {
    while held.len() < most {
        held.push(accepted(tarpit).await);
        held.retain(|peer| {
            let read = peer.try_read(&mut [0]);
            read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
        });
    }
}

/// The next that connects is answered; all that did before wait on.
async fn answer_one(listener: &TcpListener) {
    let mut peer = accepted(listener).await;
    peer.write_all(b"hi").await.expect("sent");
}

#[tokio::test]
async fn who_asks_for_runs_that_hang_keeps_neither_others_nor_what_is_planned_waiting() {
    let tarpit = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = tarpit.local_addr().expect("bound").port();
    let mut guest = exchanging("127.0.0.1", port, 1, None);
    // It asks somebody else about its target, so that the target's own limit is none of its.
    guest.manifest = guest.manifest.replace("target:*", &format!("127.0.0.1:{port}"));
    guest.manifest = guest.manifest.replace("wall = \"2s\"", "wall = \"30s\"");
    let loopback = vec!["127.0.0.0/8".parse().expect("a range")];
    let sandbox =
        with(Policy { allow: loopback.clone(), public_allow: loopback, ..Policy::default() });
    sandbox.install(&guest.build(), Grant::AsAsked).expect("installed");
    let (check, mut asked, mut held) = (test(), JoinSet::new(), Vec::new());
    // Each asks something else, so that none shares another's run.
    let hang = |asked: &mut JoinSet<_>, audience| {
        for port in 1..=RUNS_ASKED_FOR {
            let (sandbox, check) = (sandbox.clone(), test());
            let job = Job { port: Some(port), audience, ..job("127.0.0.1") };
            asked.spawn(async move { sandbox.run(&check, job).await });
        }
    };
    let finds_room = async |job: Job| {
        let both = async { tokio::join!(sandbox.run(&check, job), answer_one(&tarpit)) };
        let (ran, ()) = timeout(Duration::from_secs(20), both).await.expect("it finds room");
        ran.expect("an observation");
    };

    hang(&mut asked, Audience::Public);
    hold(&tarpit, &mut held, RUNS_OF_STRANGERS).await;
    finds_room(job("127.0.0.1")).await;
    hang(&mut asked, Audience::Authenticated);
    hold(&tarpit, &mut held, RUNS_ASKED_FOR.into()).await;
    finds_room(Job { watched: true, ..job("127.0.0.1") }).await;
}

#[test]
fn who_plans_runs_is_told_of_the_room_that_its_plugin_and_the_engine_have_for_them() {
    let sandbox = holding(&exchanging("127.0.0.1", 1, 1, None));
    let rooms = sandbox.planned_rooms(&test());
    let runs: Vec<_> = rooms.iter().map(|room| room.runs).collect();
    assert_eq!(runs, [48, 223]);
    assert_ne!(rooms[0].of, rooms[1].of);
}

#[tokio::test]
async fn a_shared_run_outlives_who_began_it_and_answers_nobody_who_comes_after_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let sandbox = holding(&exchanging("127.0.0.1", port, 1, None));
    let check = test();
    let mut first = Box::pin(sandbox.run(&check, job("127.0.0.1")));
    let mut second = Box::pin(sandbox.run(&check, job("127.0.0.1")));
    assert!(poll!(&mut first).is_pending());
    assert!(poll!(&mut second).is_pending());
    let mut peer = accepted(&listener).await;
    drop(first);
    peer.write_all(b"hi").await.expect("sent");
    drop(peer);
    second.await.expect("an observation");
    let greeting = async {
        let mut peer = accepted(&listener).await;
        peer.write_all(b"hi").await.expect("sent");
    };
    let (third, ()) = tokio::join!(sandbox.run(&check, job("127.0.0.1")), greeting);
    third.expect("an observation");
}

#[tokio::test]
async fn calls_end_with_the_budget() {
    let recorded = Probe {
        call: "tcp.exchange".into(),
        request: json!({"endpoint": {"host": "example.com", "port": 25}, "max": 512}),
        response: json!({"Ok": "220 hello"}),
    };
    let within = holding(&exchanging("example.com", 25, 64, None));
    replay(&within, vec![recorded.clone()]).await.expect("64 calls are within the budget");
    let beyond = holding(&exchanging("example.com", 25, 65, Some(BUDGET_EXHAUSTED)));
    replay(&beyond, vec![recorded]).await.expect("the 65th is not");
}

#[tokio::test]
async fn a_probe_that_was_not_recorded_breaks_the_replay() {
    let guest = holding(&exchanging("example.com", 25, 1, None));
    let broken = replay(&guest, Vec::new()).await.expect_err("nothing is recorded");
    let RunError::Broken { why: Stop::Trap, message } = broken else { panic!("{broken:?}") };
    assert!(message.starts_with("the case has no recorded answer to tcp.exchange"), "{message}");
}

#[tokio::test]
async fn an_uninstalled_check_runs_nothing() {
    let refused = sandbox().run(&test(), job("127.0.0.1")).await;
    assert_eq!(refused, Err(RunError::NotInstalled));
}
