//! How long a scan takes, beside the scanners that people run by hand.

use std::time::{Duration, Instant};

use super::{Network, server};
use crate::program::{command, find, installed, succeed, turn};

/// Each is measured so often, in turns; the quickest counts, which is the least disturbed by what
/// else the machine does.
const RUNS: usize = 7;
/// How many times as long as sslscan a scan may take, and how many of our scans testssl.sh must last.
/// A release build takes half as long as the one and a hundredth of the other; a debug build starts
/// and computes some times slower, and all the more so on a machine that is short of processors.
const BOUNDS: (u32, u32) = if cfg!(debug_assertions) { (4, 5) } else { (1, 50) };

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_is_quicker_than_sslscan_and_testssl() {
    if !installed(&[("openssl", "openssl"), ("nginx", "nginx"), ("sslscan", "sslscan")]) {
        return;
    }
    if !installed(&[("faketime", "faketime"), ("testssl", "testssl.sh")]) {
        return;
    }
    let _turn = turn().await;
    let network = Network::start().await.expect("a network of one name");
    let row = super::ROWS.iter().find(|row| row.name == "nginx-intermediate").expect("a row");
    let server = server::start(&network, row).await.expect("nginx starts");
    // The first run compiles the plugin; a service does that once.
    network.check(server.address).await.expect("it runs");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let started = Instant::now();
        let graded = network.check(server.address).await.expect("it runs").json();
        ours.push(started.elapsed());
        assert_eq!(graded["tls_grade"], row.grade);
        let started = Instant::now();
        let address = server.address.to_string();
        succeed(command("sslscan").arg(address)).await.expect("sslscan runs");
        theirs.push(started.elapsed());
    }
    let (ours, sslscan) = (quickest(ours), quickest(theirs));
    let (most, least) = BOUNDS;
    println!("vedette {ours:?}, sslscan {sslscan:?}: {:.2}", ratio(ours, sslscan));

    // It runs for minutes: enough is seen once the bound is passed.
    let bound = ours * least;
    let seconds = format!("{:.3}", bound.as_secs_f64());
    let started = Instant::now();
    let mut bounded = command("timeout");
    bounded.args(["--kill-after=2", &seconds]).arg(find("testssl").expect("installed"));
    bounded.args(["--quiet", "--warnings=off", "--color=0"]).arg(server.address.to_string());
    let ended = bounded.output().await.expect("testssl.sh runs");
    let testssl = started.elapsed();
    let ended = if ended.status.code() == Some(124) { "not done after" } else { "done after" };
    println!("testssl.sh {ended} {testssl:?}: {:.4}", ratio(ours, testssl));
    assert!(ours <= sslscan * most, "{ours:?} is more than {most} times {sslscan:?}");
    assert!(bound <= testssl, "{least} times {ours:?} is more than {testssl:?}");
}

fn quickest(times: Vec<Duration>) -> Duration {
    times.into_iter().min().unwrap_or_default()
}

fn ratio(ours: Duration, theirs: Duration) -> f64 {
    ours.as_secs_f64() / theirs.as_secs_f64()
}
