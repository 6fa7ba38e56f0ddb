//! A crowd of connections takes the descriptors that the listeners may have, and none that the work
//! needs.

use std::{fs, process::Stdio, time::Duration};

use futures::future::try_join_all;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpStream,
    process::Command,
    time::timeout,
};
use vedette_tests::program;

use crate::world::until;

/// A first start on a machine compiles the plugins.
const PATIENCE: Duration = Duration::from_secs(240);
/// Of the process.
const DESCRIPTORS: usize = 128;

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_that_says_nothing_leaves_descriptors_to_the_rest() {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {DESCRIPTORS}; exec \"$0\" \"$@\"")]);
    command.arg(program().expect("built")).args(["serve", "--db", "mem://"]);
    command.args(["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut running = command.spawn().expect("it starts");
    let mut lines = BufReader::new(running.stdout.take().expect("piped")).lines();
    let mut address = async |announced: &str| {
        loop {
            let line = lines.next_line().await.expect("text").expect("it goes on");
            if let Some(address) = line.strip_prefix(announced) {
                return address.to_owned();
            }
        }
    };
    let admin = timeout(PATIENCE, address("admin on ")).await.expect("ready in time");
    let api = timeout(PATIENCE, address("listening on http://")).await.expect("ready in time");

    let folder = format!("/proc/{}/fd", running.id().expect("it runs"));
    let open = || fs::read_dir(&folder).expect("it runs").count();
    let before = open();
    let crowd = try_join_all((0..DESCRIPTORS).map(|_| TcpStream::connect(&api))).await;
    let _crowd = crowd.expect("they wait to be let in");
    until("the crowd to be let in", async || (open() > before + DESCRIPTORS / 8).then_some(()))
        .await;
    let http = reqwest::Client::builder().no_proxy().build();
    let http = http.expect("a client without a proxy has nothing to fail on");
    let health = http.get(format!("{admin}/healthz")).send().await.expect("an answer");
    assert_eq!(health.status().as_u16(), 200);
    assert!(open() < DESCRIPTORS * 3 / 4, "{} of {DESCRIPTORS} are taken", open());
}
