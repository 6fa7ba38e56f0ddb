//! `vedette agent`: the program at the edge of a network, and what the service then shows.

use std::{fs, path::Path, process::Stdio, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{process::Command, time::timeout};
use vedette_tests::{Account, Lab, Ran, Settings, agent, agent_command, free_port};

use crate::world::{World, text, until};

/// It ends in this time on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// The service of the team edition, and an account that may have agents.
async fn world() -> (World, Account) {
    world_with(|_| ()).await
}

async fn world_with(change: impl FnOnce(&mut Settings)) -> (World, Account) {
    let world = World::with(|settings| {
        settings.edition = "team".into();
        change(settings);
    })
    .await;
    let account = world.account("team").await;
    (world, account)
}

/// The key of a new agent.
async fn agent_key(account: &Account) -> String {
    let made = account.client.post("/agent/key", json!({"name": "rack 7"})).await.expect(200);
    text(&made["agent_key"])
}

fn url(world: &World) -> String {
    format!("http://{}/api", world.service.api)
}

/// One round at this place.
async fn once(lab: &Lab, key: &str, url: &str, queue: &Path, target: &str) -> Ran {
    let queue = queue.to_str().expect("a path in UTF-8");
    let arguments = ["--url", url, "--target", target, "--queue", queue, "--once"];
    agent(&lab.settings(), key, &arguments).await.expect("the program runs")
}

/// How many reports wait.
fn waiting(queue: &Path) -> usize {
    let files = fs::read_dir(queue).expect("a folder").map(|file| file.expect("a file").path());
    files.filter(|file| file.extension().is_some_and(|kind| kind == "json")).count()
}

async fn certificates(account: &Account) -> Vec<Value> {
    let listed = account.client.get("/agent/certs").await.expect(200);
    listed["certificates"].as_array().expect("a list").clone()
}

/// The leaf that was seen there.
async fn leaf(account: &Account, host: &str) -> Option<Value> {
    let subject = format!("CN={host}");
    let mut all = certificates(account).await.into_iter();
    all.find(|told| told["host"] == host && told["subject"] == subject.as_str())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_sees_is_told_by_the_service() {
    let (world, account) = world().await;
    let (key, home) = (agent_key(&account).await, TempDir::new().expect("a folder"));
    let site = world.site("intranet.example", 30).await;
    let target = format!("intranet.example:{}", site.port());

    let ran = once(&world.lab, &key, &url(&world), home.path(), &target).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.errors.contains(&key), "the key is in the log: {ran:?}");
    assert_eq!(waiting(home.path()), 0);
    let seen = leaf(&account, "intranet.example").await.expect("it is listed");
    assert_eq!((&seen["port"], &seen["is_valid"]), (&json!(site.port()), &json!(true)), "{seen}");
    assert!(text(&seen["issuer"]).contains("Lab Root Intermediate"), "{seen}");
    let agents = account.client.get("/agent/key").await.expect(200);
    assert!(agents["agents"][0]["last_seen_at"].is_string(), "{agents}");

    // An agent that does not name its network's authority is told that nobody trusts it.
    let strange = Settings { roots: Vec::new(), ..world.lab.settings() };
    let queue = home.path().to_str().expect("a path in UTF-8");
    let base = url(&world);
    let arguments = ["--url", &base, "--target", &target, "--queue", queue, "--once"];
    let ran = agent(&strange, &key, &arguments).await.expect("the program runs");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let seen = leaf(&account, "intranet.example").await.expect("it is listed");
    assert_eq!(seen["is_valid"], false, "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_of_one_label_is_looked_at() {
    let (world, account) = world().await;
    let (key, home) = (agent_key(&account).await, TempDir::new().expect("a folder"));
    for host in ["localhost", "db01"] {
        let site = world.site(host, 30).await;
        let target = format!("{host}:{}", site.port());
        let ran = once(&world.lab, &key, &url(&world), home.path(), &target).await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let seen = leaf(&account, host).await.expect("it is listed");
        assert_eq!((&seen["port"], &seen["is_valid"]), (&json!(site.port()), &json!(true)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_that_is_closed_is_named_with_what_closes_it() {
    let (world, account) = world().await;
    let (key, home) = (agent_key(&account).await, TempDir::new().expect("a folder"));
    let file = home.path().join("agent.toml");
    fs::write(&file, "[egress]\ndeny = [\"127.0.0.0/8\"]\n").expect("written");
    let (file, base) = (file.display().to_string(), url(&world));
    let queue = home.path().to_str().expect("a path in UTF-8");
    let arguments = ["--url", &base, "--target", "127.0.0.1:1", "--queue", queue, "--once"];
    let arguments = [&arguments[..], &["--config", &file]].concat();
    let ran = agent(&world.lab.settings(), &key, &arguments).await.expect("the program runs");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let said = "cannot look at 127.0.0.1 port 1: egress.deny closes its address";
    assert!(ran.errors.contains(said), "{ran:?}");
    assert!(ran.errors.contains("looked at 0 places"), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_wait_on_disk_while_the_service_is_away() {
    let listen = free_port().await.expect("a port");
    let (world, account) = world_with(|settings| settings.listen = listen).await;
    let (key, home) = (agent_key(&account).await, TempDir::new().expect("a folder"));
    let (first, second) =
        (world.site("first.example", 30).await, world.site("second.example", 30).await);
    let base = url(&world);
    let World { lab, mut service, .. } = world;
    service.stop().await.expect("it stops");

    // It was never registered, and looks all the same.
    for (reports, target) in [
        (1, format!("first.example:{}", first.port())),
        (2, format!("second.example:{}", second.port())),
    ] {
        let ran = once(&lab, &key, &base, home.path(), &target).await;
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.errors.contains(&base), "{ran:?}");
        assert_eq!(waiting(home.path()), reports);
    }

    let _service = service.start_again().await.expect("it starts");
    // Nobody answers at the third place: that is no reason not to deliver the others.
    let nobody = free_port().await.expect("a port");
    let ran = once(&lab, &key, &base, home.path(), &nobody.to_string()).await;
    assert_eq!((ran.code, waiting(home.path())), (Some(0), 0), "{ran:?}");
    let said =
        format!("127.0.0.1 port {} showed no certificate: connection_refused", nobody.port());
    assert!(ran.errors.contains(&said), "{ran:?}");
    assert!(ran.errors.contains("looked at 1 place in "), "{ran:?}");
    assert!(ran.errors.contains(", 1 showed no certificate"), "{ran:?}");
    for host in ["first.example", "second.example"] {
        assert!(leaf(&account, host).await.is_some(), "{host}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_looks_at_once_and_ends_when_it_is_told_to() {
    let (world, account) = world().await;
    let (key, home) = (agent_key(&account).await, TempDir::new().expect("a folder"));
    let site = world.site("intranet.example", 30).await;
    let list = home.path().join("targets");
    let places = format!("# of the lab\nintranet.example:{} # by hand\n", site.port());
    fs::write(&list, places).expect("written");
    let queue = home.path().join("queue");
    let (queue, list) = (queue.display().to_string(), list.display().to_string());
    let base = url(&world);
    let arguments = ["--url", &base, "--targets", &list, "--queue", &queue, "--interval", "1m"];
    let command = agent_command(&world.lab.settings(), home.path(), &key, &arguments);
    let mut command = command.expect("it was built");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let mut running = command.spawn().expect("it starts");
    until("the first report", async || leaf(&account, "intranet.example").await).await;

    // The folder is in use.
    let another = agent(&world.lab.settings(), &key, &arguments).await.expect("the program runs");
    assert_eq!(another.code, Some(2), "{another:?}");
    assert!(another.errors.contains("--queue"), "{another:?}");

    let pid = running.id().expect("it runs").to_string();
    let told = Command::new("kill").args(["-TERM", &pid]).status().await;
    assert!(told.is_ok_and(|status| status.success()));
    let status = timeout(PATIENCE, running.wait()).await.expect("it ends in time");
    assert_eq!(status.expect("it ran").code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_refused_ends_it_with_what_to_do() {
    let (world, account) = world().await;
    let (deleted, home) = (agent_key(&account).await, TempDir::new().expect("a folder"));
    let agents = account.client.get("/agent/key").await.expect(200);
    let id = text(&agents["agents"][0]["id"]);
    account.client.delete(&format!("/agent/key?id={id}")).await.expect(200);
    // A key of the API is for other things.
    for key in [deleted.as_str(), account.key.as_str(), "sp_agent_nonsense"] {
        let ran = once(&world.lab, key, &url(&world), home.path(), "127.0.0.1:1").await;
        assert_eq!((ran.code, waiting(home.path())), (Some(2), 0), "{ran:?}");
        assert!(ran.errors.contains("VEDETTE_AGENT_KEY"), "{ran:?}");
        assert!(!ran.errors.contains(key), "{ran:?}");
    }
    let file = home.path().join("key");
    fs::write(&file, format!("{}\n", agent_key(&account).await)).expect("written");
    let (file, base) = (file.display().to_string(), url(&world));
    let queue = home.path().to_str().expect("a path in UTF-8");
    let arguments = ["--url", &base, "--target", "127.0.0.1:1", "--queue", queue, "--once"];
    let arguments = [&arguments[..], &["--key-file", &file]].concat();
    let ran = agent(&world.lab.settings(), "sp_agent_nonsense", &arguments).await;
    let ran = ran.expect("the program runs");
    assert_eq!(ran.code, Some(0), "the file is what counts: {ran:?}");
}

#[tokio::test]
async fn what_is_wrong_on_the_command_line_is_named() {
    let home = TempDir::new().expect("a folder");
    let list = home.path().join("targets");
    fs::write(&list, "fine.example\nhttps://wrong.example\n").expect("written");
    let (folder, list) = (home.path().display().to_string(), list.display().to_string());
    let fine = ["--url", "http://127.0.0.1:1/api", "--queue", &folder, "--once"];
    let settings = Settings::default();
    for (key, arguments, word) in [
        ("k", vec![], "--target"),
        ("k", vec!["--target", "https://a.example"], "--target"),
        ("k", vec!["--targets", &list], "--targets"),
        ("k", vec!["--target", "a.example", "--interval", "5s"], "--interval"),
        ("k", vec!["--target", "a.example", "--key-file", "/nowhere"], "--key-file"),
        ("k", vec!["--target", "a.example", "--config", "/nowhere"], "/nowhere"),
        ("k", vec!["--target", "a.example", "--ca-file", "/nowhere"], "/nowhere"),
        (" ", vec!["--target", "a.example"], "VEDETTE_AGENT_KEY"),
    ] {
        let arguments = [&fine[..], &arguments].concat();
        let ran = agent(&settings, key, &arguments).await.expect("the program runs");
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        assert!(ran.errors.contains(word), "{arguments:?}: {ran:?}");
    }
    for (url, queue, word) in [
        ("vedette.example.com", folder.as_str(), "--url"),
        ("http://127.0.0.1:1", list.as_str(), "--queue"),
    ] {
        let arguments = ["--url", url, "--queue", queue, "--target", "a.example", "--once"];
        let ran = agent(&settings, "k", &arguments).await.expect("the program runs");
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        assert!(ran.errors.contains(word), "{arguments:?}: {ran:?}");
    }
}
