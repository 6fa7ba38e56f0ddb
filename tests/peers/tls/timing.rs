//! How long a scan takes, beside the scanners that people run by hand.

use std::time::{Duration, Instant};

use super::{Network, server};
use crate::program::{command, find, installed, output, succeed, turn};

/// Each is measured so often, in turns; the median counts.
const RUNS: usize = 5;

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
    let (ours, sslscan) = (median(ours), median(theirs));
    println!("vedette {ours:?}, sslscan {sslscan:?}: {:.2}", ratio(ours, sslscan));

    // It runs for minutes: enough is seen once the bound is passed.
    let bound = ours * 50;
    let seconds = format!("{:.3}", bound.as_secs_f64());
    let started = Instant::now();
    let mut bounded = command("timeout");
    bounded.args(["--kill-after=2", &seconds]).arg(find("testssl").expect("installed"));
    bounded.args(["--quiet", "--warnings=off", "--color=0"]).arg(server.address.to_string());
    let ended = output(&mut bounded).await.expect("testssl.sh runs");
    let testssl = started.elapsed();
    let ended = if ended.status.code() == Some(124) { "not done after" } else { "done after" };
    println!("testssl.sh {ended} {testssl:?}: {:.4}", ratio(ours, testssl));
    // Half of it is what a release build is measured at; a debug build on a busy machine is not.
    assert!(ours <= sslscan, "{ours:?} is more than {sslscan:?}");
    assert!(bound <= testssl, "{ours:?} is more than a fiftieth of {testssl:?}");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn ratio(ours: Duration, theirs: Duration) -> f64 {
    ours.as_secs_f64() / theirs.as_secs_f64()
}
