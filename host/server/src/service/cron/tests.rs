//! Calls beside a scheduler that stands still: the test has all turns, and hands them out.

use std::net::SocketAddr;

use serde_json::json;
use tokio::net::{TcpSocket, UdpSocket};
use vedette_model::{Site, edition::TEAM};

use super::*;
use crate::{
    Caller, Clock, Config,
    config::{Egress, Guard, Mounted},
    instance, service,
};

#[test]
fn the_type_of_a_call_is_all_or_domain() {
    for (body, scope) in [
        (json!({}), Scope::All),
        (json!({ "type": "all" }), Scope::All),
        (json!({ "type": "domain", "depth": 3 }), Scope::Domain),
    ] {
        assert_eq!(Scope::parse(&body), Ok(scope), "{body}");
    }
    for wrong in [json!(null), json!("ssl"), json!("ALL"), json!(7), json!(["all"])] {
        let refused = Scope::parse(&json!({ "type": wrong })).expect_err("it is refused");
        assert_eq!(refused.field, "type", "{wrong}");
    }
}

#[test]
fn domain_is_one_check_of_those_that_are_installed() {
    let check = |name: &str| name.parse::<CheckType>().expect("the name of a check");
    let installed = || vec![check("dns"), check("domain"), check("ssl")];
    assert_eq!(Scope::All.within(installed()), installed());
    assert_eq!(Scope::Domain.within(installed()), [check("domain")]);
    assert!(Scope::Domain.within(vec![check("ssl")]).is_empty());
}

#[test]
fn an_unknown_record_and_our_own_failure_are_errors() {
    let mut counts = Counts::default();
    let stored = |status, raised| Ending::Stored { status, raised };
    for ending in [
        stored(CheckStatus::Ok, 0),
        stored(CheckStatus::Down, 2),
        stored(CheckStatus::Unknown, 0),
        Ending::Failed,
        Ending::Nothing,
        Ending::PutOff,
    ] {
        counts.add(ending);
    }
    assert_eq!(counts, Counts { checked: 4, errors: 2, alerts: 2 });
}

#[test]
fn what_was_due_is_run_once_and_counted() {
    // It stands still: nothing else becomes due while the test looks.
    let (clock, _) = Clock::manual("2026-11-20T12:00:00Z".parse().expect("a moment"));
    instance::with_app(config(), clock, |app| async move {
        let caller = instance::owner(&app, &TEAM).await;
        let mut turns = every_turn(&app).await;
        // Its ssl and its uptime check are due now.
        let (first, _refuses) = site(&app, &caller, "first.example").await;
        one_failure(&app, &caller, &first).await;

        let over = call(&app, app.clock.now(), Instant::now() - Duration::from_secs(1));
        Arc::clone(&over).work().await.expect("the schedule is read");
        assert_eq!(*over.counts.lock(), Counts::default(), "nothing is begun after the time");

        let later = Instant::now() + Duration::from_secs(60);
        let both = call(&app, app.clock.now(), later);
        let mut work = std::pin::pin!(Arc::clone(&both).work());
        // It waits in the line now, and has what the test gives back before the scheduler has it.
        assert!(futures::poll!(&mut work).is_pending());
        turns.pop();
        work.await.expect("the schedule is read");
        assert_eq!(*both.counts.lock(), Counts { checked: 2, errors: 0, alerts: 1 });
        let records = service::check::latest(&app, &caller, first.id).await.expect("its records");
        let sources: Vec<_> = records.values().map(|record| record.source).collect();
        assert_eq!(sources, [Source::Cron; 2], "{records:?}");

        let before = app.clock.now() - Duration::from_secs(1);
        site(&app, &caller, "second.example").await;
        turns.pop();
        let past = call(&app, before, later);
        Arc::clone(&past).work().await.expect("the schedule is read");
        assert_eq!(*past.counts.lock(), Counts::default(), "what became due later is left");
    });
}

fn call(app: &Arc<App>, asked_at: Timestamp, until: Instant) -> Arc<Call> {
    Arc::new(Call {
        types: Scope::All.within(app.sandbox.check_types()),
        asked_at,
        until,
        counts: Mutex::default(),
        app: Arc::clone(app),
    })
}

async fn every_turn(app: &App) -> Vec<Turn> {
    let mut turns = Vec::new();
    for _ in 0..planned::MOST_RUNS {
        turns.push(app.planned.turn().await);
    }
    turns
}

/// On the port of a socket that refuses every connection, and keeps the port from others.
async fn site(app: &App, caller: &Caller, domain: &str) -> (Site, TcpSocket) {
    let socket = TcpSocket::new_v4().expect("sockets can be made");
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("loopback has free ports");
    let port = socket.local_addr().expect("it is bound").port();
    let body = json!({
        "domain": domain, "origin_ip": "127.0.0.1", "custom_port": port, "check_types": ["ssl"],
    });
    let site = service::site::create(app, caller, &body).await.expect("a good body");
    (site, socket)
}

/// The first of the two failures that raise an alert.
async fn one_failure(app: &App, caller: &Caller, site: &Site) {
    let result = json!({ "status": "down", "status_code": 0, "error": "connection_refused" });
    let body = json!({ "site_id": site.id, "check_type": "uptime", "result": result });
    service::check::record(app, caller, &body).await.expect("a good result");
}

async fn config() -> Config {
    let name_server = name_server().await.to_string();
    let loopback = "127.0.0.0/8".parse().expect("a range");
    Config {
        edition: Mounted::Team,
        dns_server: vec![name_server.parse().expect("an address")],
        egress: Egress { allow: vec![loopback], ..Egress::default() },
        // However late the machine is, what is found counts.
        guard: Guard { late: Duration::from_secs(86_400) },
        ..instance::config()
    }
}

/// Answers, so that the service is not offline, and knows no name.
async fn name_server() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.expect("loopback has free ports");
    let address = socket.local_addr().expect("it is bound");
    tokio::spawn(async move {
        let mut packet = [0; 1500];
        while let Ok((length, from)) = socket.recv_from(&mut packet).await {
            // The question as an answer: refused.
            packet[2] |= 0x80;
            packet[3] = 0x85;
            let _ = socket.send_to(&packet[..length], from).await;
        }
    });
    address
}
