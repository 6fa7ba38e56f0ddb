//! A service whose database gives no answers: a debugger holds every thread but the one that
//! watches, as the engine would hold them.

use serde_json::json;
use vedette_tests::{Service, Settings};

use crate::program::{command, installed, output, turn};

const PROGRAMS: &[(&str, &str)] = &[("gdb", "gdb")];

#[tokio::test(flavor = "multi_thread")]
async fn service_that_stands_still_becomes_another_process_and_has_lost_nothing() {
    if !installed(PROGRAMS) {
        return;
    }
    let _turn = turn().await;
    let mut service = Service::start(Settings::default()).await.expect("it starts");
    let owner = service.account("owner@example.com", "pro").await.expect("an account");
    let site = json!({"domain": "example.com", "monitoring_enabled": false});
    owner.client.post("/sites", site).await.expect(200);

    let pid = service.pid().expect("it runs");
    if !hold_all_but_the_watchdog(pid).await {
        println!("skipped: no debugger may look into a process here");
        return;
    }
    service.started_itself_again().await.expect("it comes back");
    let sites = service.client().with_key(&owner.key).get("/sites").await.expect(200);
    assert_eq!(sites["sites"][0]["domain"], "example.com");
    assert!(service.output().contains("the program starts again"), "{}", service.output());
    // By the number that it had before, and as an init system would.
    assert_eq!(service.stop().await.expect("it stops"), Some(0));
}

/// Until the process has become another program; false where that is not allowed.
async fn hold_all_but_the_watchdog(pid: u32) -> bool {
    const SCRIPT: [&str; 7] = [
        "set pagination off",
        "handle all nostop noprint pass",
        "set scheduler-locking on",
        "catch exec",
        "python [t.switch() for t in gdb.selected_inferior().threads() if t.name == 'watchdog']",
        "continue",
        "detach",
    ];
    let mut gdb = command("gdb");
    gdb.args(["-batch", "-nx", "-p", &pid.to_string()]);
    SCRIPT.iter().for_each(|line| {
        gdb.args(["-ex", line]);
    });
    let said = output(&mut gdb).await.expect("the debugger ends");
    let errors = String::from_utf8_lossy(&said.stderr);
    if errors.contains("Operation not permitted") {
        return false;
    }
    let said = String::from_utf8_lossy(&said.stdout);
    assert!(said.contains("hit Catchpoint"), "it became no other program: {said}\n{errors}");
    true
}
