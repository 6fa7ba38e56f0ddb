//! `vedette plugin …`: what a plugin's author begins with, builds and hands to an operator.

use std::{
    fs,
    path::{Path, PathBuf},
};

use chrono::{DateTime, Utc};
use serde_json::json;
use tempfile::TempDir;
use vedette_model::{Assessment, CheckType, Evidence, Health, domain_name::Target};
use vedette_sandbox::{Grant, Job, Kind, Manifest, Ran as Run, Sandbox, egress::Audience};
use vedette_tests::{Manner, Peer, Ran, plugin};

use super::{Operated, sandbox_with};

/// This checkout, whose SDK the projects are written with.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Begins a project in a folder that is not there yet.
async fn begin(folder: &Path, kind: &str) -> Ran {
    begin_as("acme.smtp-banner", folder, kind).await
}

async fn begin_as(id: &str, folder: &Path, kind: &str) -> Ran {
    let folder = folder.to_str().expect("a path in UTF-8");
    let arguments = ["new", id, "--kind", kind, "--dir", folder, "--sdk", ROOT];
    plugin(&arguments).await.expect("the program runs")
}

/// Begins a project and builds it; the component's file.
pub(super) async fn built(id: &str, folder: &Path, kind: &str) -> (PathBuf, Ran) {
    let begun = begin_as(id, folder, kind).await;
    assert_eq!(begun.code, Some(0), "{begun:?}");
    // The same versions as the workspace's: they are here, whatever the network does.
    fs::copy(Path::new(ROOT).join("Cargo.lock"), folder.join("Cargo.lock")).expect("copied");
    let project = folder.to_str().expect("a path in UTF-8");
    let built = plugin(&["build", "--dir", project]).await.expect("the program runs");
    assert_eq!(built.code, Some(0), "{built:?}");
    (folder.join(format!("{id}-0.1.0.wasm")), built)
}

#[tokio::test]
async fn new_project_is_complete_and_never_overwrites() {
    let place = TempDir::with_prefix("vedette-plugin-").expect("a folder");
    let check: CheckType = "smtp_banner".parse().expect("a check type");
    for (kind, expected) in
        [("check", Kind::Check(check)), ("notifier", Kind::Notifier("smtp_banner".to_owned()))]
    {
        let folder = place.path().join(kind);
        let begun = begin(&folder, kind).await;
        assert_eq!(begun.code, Some(0), "{begun:?}");
        for file in ["Cargo.toml", "README.md", "plugin.toml", "src/lib.rs", "src/tests.rs"] {
            let text = fs::read_to_string(folder.join(file)).expect(file);
            assert!(!text.contains("{{") && !text.contains("}}"), "{kind} {file}: {text}");
        }
        let manifest = fs::read_to_string(folder.join("plugin.toml")).expect("a manifest");
        let manifest = Manifest::parse(&manifest, &Default::default()).expect("a valid manifest");
        assert_eq!((manifest.id.as_str(), manifest.kind), ("acme.smtp-banner", expected));

        let again = begin(&folder, kind).await;
        assert_eq!(again.code, Some(2), "{again:?}");
        assert!(again.errors.contains("is not empty; give another with --dir"), "{again:?}");
    }
}

#[tokio::test]
async fn id_of_somebody_else_is_refused() {
    for (id, said) in [
        ("vedette.banner", "is reserved for built-in plugins"),
        ("banner", "must be publisher.name"),
        ("acme.ssl", "ssl is built in; give the plugin another name with --as"),
    ] {
        let refused = plugin(&["new", id, "--kind", "check"]).await.expect("the program runs");
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.errors.contains(said), "{refused:?}");
    }
}

/// From a new project to a judged result: everything an author and an operator do, but for the
/// typing.
#[tokio::test(flavor = "multi_thread")]
async fn new_check_is_built_installed_and_run() {
    let place = TempDir::with_prefix("vedette-plugin-").expect("a folder");
    let (file, built) = built("acme.smtp-banner", &place.path().join("banner"), "check").await;
    assert!(built.output.contains("  tcp = { to = [\"target:*\"] }"), "{built:?}");
    let component = fs::read(file).expect("the component");
    let size = format!("size: {} bytes", component.len());
    assert!(built.output.contains(&size), "{built:?}");

    let sandbox = sandbox();
    sandbox.install(&component, Grant::AsAsked).expect("the plugin passes the gate");
    let peer = Peer::start(Manner::Banner(b"220 mx.example ESMTP\r\n".to_vec())).await;
    let peer = peer.expect("free ports");
    for (expected, health, findings) in
        [("ESMTP", Health::Ok, vec![]), ("SSH", Health::Degraded, vec!["smtp_banner.unexpected"])]
    {
        let (run, assessment) = run(&sandbox, peer.port(), expected).await;
        let matched = health == Health::Ok;
        let result = json!({"banner": "220 mx.example ESMTP", "matched": matched, "error": null});
        assert_eq!(run.observation.result, result);
        assert_eq!(assessment.health, health);
        let events = assessment.findings.iter().map(|finding| finding.event.as_str());
        assert_eq!(events.collect::<Vec<_>>(), findings);
    }
}

/// The same of a channel, up to the account that is told by it. Its crate has a name of its own:
/// projects that are built at the same time share a folder.
#[tokio::test(flavor = "multi_thread")]
async fn new_channel_is_built_installed_and_told_by() {
    let place = TempDir::with_prefix("vedette-plugin-").expect("a folder");
    let (file, _) = built("acme.hall-board", &place.path().join("board"), "notifier").await;
    let operated = Operated::start().await;
    operated.install(&file).await;
    let approved = operated.change(&["approve", "acme.hall-board"]).await;

    let (client, lab) = (&operated.world.owner.client, &operated.world.lab);
    let mut body = approved["settings"].clone();
    let url = &mut body["plugin_channels"]["hall_board"]["url"];
    assert!(url.is_string(), "{approved}");
    *url = lab.receiver.url("/board").into();
    client.patch("/settings/notifications", body).await.expect(200);
    let sent = operated.world.send_test().await;
    assert_eq!(sent["message"], "test notification sent to hall_board");
    let hook = lab.receiver.wait_for(1).await.expect("it arrives").remove(0);
    assert_eq!(hook.path, "/board");
    assert!(hook.header("x-vedette-delivery").is_some());
    let payload = hook.json().expect("JSON");
    let alert = &payload["alerts"][0];
    assert_eq!((&payload["test"], &alert["event"]), (&json!(true), &json!("ssl.expiring")));
}

async fn run(sandbox: &Sandbox, port: u16, expected: &str) -> (Run, Assessment) {
    let check: CheckType = "smtp_banner".parse().expect("a check type");
    let config = json!({"port": port, "expected": expected});
    let config = sandbox.validate(&check, "127.0.0.1", &config).await.expect("a configuration");
    let job = Job {
        run_id: "run".to_owned(),
        target: Target::parse("127.0.0.1").expect("a target"),
        port: None,
        connect_to: None,
        config: config.clone(),
        omit: Vec::new(),
        now: now(),
        audience: Audience::Authenticated,
        site: None,
        watched: false,
    };
    let run = sandbox.run(&check, job).await.expect("an observation");
    let evidence = Evidence {
        current: run.observation.result.clone(),
        current_at: now(),
        settled: None,
        siblings: Vec::new(),
        config,
        alert_days: 14,
        memory: None,
    };
    let assessed = sandbox.assess(&run.version, None, evidence).await;
    (run, assessed.expect("an assessment"))
}

/// A sandbox whose runs may reach loopback.
fn sandbox() -> Sandbox {
    // Nobody answers here: the target is an address.
    sandbox_with("127.0.0.1:9".parse().expect("an address"), Vec::new())
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).expect("a time")
}
