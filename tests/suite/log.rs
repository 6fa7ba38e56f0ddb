//! The log is for whoever wants it: the service does not depend on a reader.

use std::{process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
    time::timeout,
};
use vedette_tests::{Service, Settings, program};

use crate::world::until;

/// A first start on a machine compiles the plugins.
const PATIENCE: Duration = Duration::from_secs(240);

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_nobody_can_read_stops_nothing() {
    let mut command = Command::new(program().expect("built"));
    command.args(["serve", "--db", "mem://"]);
    command.args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut running = command.spawn().expect("it starts");
    drop(running.stderr.take());
    let mut lines = BufReader::new(running.stdout.take().expect("piped")).lines();
    let ready = async {
        loop {
            let line = lines.next_line().await.expect("text").expect("it goes on");
            if let Some(address) = line.strip_prefix("listening on ") {
                return address.to_owned();
            }
        }
    };
    let address = timeout(PATIENCE, ready).await.expect("ready in time");
    drop(lines);
    let http = reqwest::Client::builder().no_proxy().build();
    let http = http.expect("a client without a proxy has nothing to fail on");
    let answer = http.get(format!("{address}/v1/sites")).send().await.expect("an answer");
    assert_eq!(answer.status().as_u16(), 401);

    let pid = running.id().expect("it runs").to_string();
    let told = Command::new("kill").args(["-TERM", &pid]).status().await;
    assert!(told.is_ok_and(|status| status.success()));
    let status = timeout(PATIENCE, running.wait()).await.expect("it ends in time");
    assert_eq!(status.expect("it ran").code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_at_every_address_is_told_that_its_links_lead_nowhere() {
    for (toml, is_told) in [("", true), ("public_url = \"https://vedette.example\"\n", false)] {
        let listen = "0.0.0.0:0".parse().expect("an address");
        let settings = Settings { listen, toml: toml.to_owned(), ..Settings::default() };
        let service = Service::start(settings).await.expect("the service starts");
        // The last line of a start.
        until("the log", async || service.output().contains(" is up: ").then_some(())).await;
        let said = service.output();
        assert_eq!(said.matches("set public_url").count(), usize::from(is_told), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variable_that_is_misspelt_is_told_once_and_one_of_somebody_else_is_not() {
    let set = |name: &str| (name.to_owned(), "1".to_owned());
    let environment = vec![set("VEDETTE_LOCATON"), set("VEDETTE_PORT")];
    let settings = Settings { environment, ..Settings::default() };
    let service = Service::start(settings).await.expect("the service starts");
    until("the log", async || service.output().contains(" is up: ").then_some(())).await;
    let said = service.output();
    let told = "VEDETTE_LOCATON is not read; did you mean VEDETTE_LOCATION?";
    assert_eq!(said.matches(told).count(), 1, "{said}");
    assert!(!said.contains("VEDETTE_PORT"), "{said}");
}
