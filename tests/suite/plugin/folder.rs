//! The folder and its lock: who reads them, who writes them, and what neither may break.

use std::{fs, time::Duration};

use reqwest::Method;
use serde_json::json;
use tokio::{net::TcpListener, time::timeout};
use vedette_tests::{plugin, plugin_in};

use super::{Operated, path, shown};
use crate::{
    guest::{Guest, I32},
    world::until,
};

#[tokio::test(flavor = "multi_thread")]
async fn what_was_tampered_with_is_refused_and_the_others_go_on() {
    let operated = Operated::start().await;
    for (id, ok) in [("acme.banner", true), ("acme.other", true)] {
        operated.install(&operated.component(id, "1.0.0", ok)).await;
    }
    operated.change(&["approve", "acme.banner"]).await;
    let approved = operated.run(&["approve", "acme.other"]).await;
    assert_eq!(approved.code, Some(0), "{approved:?}");
    let hash = approved.json()["sha256"].as_str().expect("a hash").to_owned();
    let component = operated.component("acme.other", "1.0.1", false);
    fs::copy(component, operated.folder().join(format!("{hash}.wasm"))).expect("tampered with");

    let pid = operated.world.service.pid().expect("it runs").to_string();
    let told = std::process::Command::new("kill").args(["-HUP", &pid]).status();
    assert!(told.expect("kill runs").success());
    let refused = until("the refusal", async || {
        let shown = operated.shown("acme.other").await;
        (shown["state"] == "failed").then_some(shown)
    })
    .await;
    let error = refused["error"].as_str().expect("a sentence");
    assert!(error.contains("is not the file that was approved"), "{error}");
    let figures = operated.world.service.operator().get("/metrics").await.text;
    let failed = "vedette_plugins{state=\"failed\"} 1";
    assert!(figures.lines().any(|shown| shown == failed), "{figures}");
    assert_eq!(operated.banner().await, true);
    let client = &operated.world.owner.client;
    let other = client.post("/check-other", json!({ "domain": "shop.example" })).await;
    assert_eq!(other.status, 404);

    let Operated { world, home: _home } = operated;
    let mut service = world.service;
    service.stop().await.expect("it ends");
    let service = service.start_again().await.expect("it starts without the one that is bad");
    assert_eq!(shown(&service, "acme.other").await["state"], "failed");
    assert_eq!(shown(&service, "acme.banner").await["state"], "running");
    assert_eq!(shown(&service, "vedette.check-ssl").await["state"], "running");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_that_is_taken_away_is_used_no_more() {
    let operated = Operated::start().await;
    let tcp = "vedette:net/tcp@1.0.0";
    let mut guest = Guest::check("tcp = { to = [\"target:25\"] }", &[tcp]);
    guest.import(tcp, "exchange", &[I32; 11], &[]);
    operated.install(&operated.file("test.wasm", &guest)).await;
    operated.change(&["approve", "acme.test"]).await;
    let client = &operated.world.owner.client;
    let lock = operated.folder().join("plugins.lock");
    let approved = fs::read_to_string(&lock).expect("a lock");
    let lines = approved.lines().filter(|line| !line.starts_with("granted.tcp"));
    let less = lines.collect::<Vec<_>>().join("\n");
    for (text, state, status) in
        [(approved.as_str(), "running", 200), (less.as_str(), "failed", 404)]
    {
        fs::write(&lock, text).expect("written");
        let admin = format!("http://{}", operated.world.service.admin);
        let told = plugin(&["reload", "--admin", &admin]).await.expect("the program runs");
        assert_eq!(told.code, Some(if state == "running" { 0 } else { 1 }), "{told:?}");
        assert!(told.output.contains("acme.test"), "it lists what there is: {told:?}");
        let shown = operated.shown("acme.test").await;
        assert_eq!(shown["state"], state, "{shown}");
        assert!(shown["running_version"].is_null(), "{shown}");
        let ran = client.post("/check-test", json!({ "domain": "shop.example" })).await;
        assert_eq!(ran.status, status, "{ran:?}");
    }
    let error = operated.shown("acme.test").await["error"].to_string();
    assert!(error.contains("add granted.tcp to its entry in plugins.lock"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_cannot_be_followed_changes_nothing() {
    let operated = Operated::start().await;
    operated.install(&operated.component("acme.banner", "1.0.0", true)).await;
    operated.change(&["approve", "acme.banner"]).await;
    fs::write(operated.folder().join("plugins.lock"), "version = 2\n").expect("written");
    let operator = operated.world.service.operator();
    let refused = operator.send(Method::POST, "/admin/plugins/reload", None).await;
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.text.contains("its version is 2"), "{refused:?}");
    let listing = operator.get("/admin/plugins").await.expect(200);
    assert!(listing["lock_error"].is_string());
    assert_eq!(operated.banner().await, true);
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_at_the_same_moment_are_all_kept() {
    let operated = Operated::start().await;
    let ids = ["acme.a", "acme.b", "acme.c", "acme.d"];
    for id in ids {
        operated.install(&operated.component(id, "1.0.0", true)).await;
    }
    let approve = |id| {
        let operated = &operated;
        async move { operated.run(&["approve", id]).await }
    };
    for ran in futures::future::join_all(ids.map(approve)).await {
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let listed = operated.run(&["list"]).await.json().to_string();
    assert_eq!(listed.matches("\"enabled\"").count(), ids.len(), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_the_service_keeps_nobody_from_the_folder() {
    let operated = Operated::start().await;
    operated.install(&operated.component("acme.banner", "1.0.0", true)).await;
    // Connections are taken and never answered.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let admin = format!("http://{}", silent.local_addr().expect("bound"));
    let another = async {
        until("the approval", async || {
            let lock = fs::read_to_string(operated.folder().join("plugins.lock")).ok()?;
            lock.contains("acme.banner").then_some(())
        })
        .await;
        // Half of what the first of them waits for its service.
        timeout(Duration::from_secs(30), operated.run(&["disable", "acme.banner"])).await
    };
    let approve = ["approve", "acme.banner", "--admin", admin.as_str()];
    tokio::select! {
        approved = operated.run(&approve) => panic!("nobody took it up: {approved:?}"),
        ran = another => {
            let ran = ran.expect("the folder is free");
            assert_eq!(ran.code, Some(0), "{ran:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_the_service_does_not_see_is_told() {
    let operated = Operated::start().await;
    let admin = format!("http://{}", operated.world.service.admin);
    let first = operated.component("acme.banner", "1.0.0", true);
    let second = operated.component("acme.banner", "2.0.0", true);
    let folder = operated.home.path().join("elsewhere");
    for (arguments, admin, code, said) in [
        (vec!["install", path(&first)], None, 0, "pending"),
        (vec!["approve", "acme.banner"], Some(admin.as_str()), 2, "knows no acme.banner"),
        (vec!["disable", "acme.banner"], Some(admin.as_str()), 2, "name that folder with --folder"),
        (vec!["enable", "acme.banner"], Some(admin.as_str()), 2, "/plugins, as seen from where"),
        (vec!["install", path(&second)], None, 0, "pending"),
        (vec!["approve", "acme.banner"], Some("http://127.0.0.1:1"), 2, "the folder is changed"),
        (vec!["rollback", "acme.banner"], Some("http://127.0.0.1:1"), 2, "the folder is changed"),
        (vec!["list"], None, 0, "\"version\":\"1.0.0\""),
        (vec!["remove", "acme.banner"], Some(admin.as_str()), 0, "acme.banner"),
    ] {
        let told = admin.map_or(Vec::new(), |admin| vec!["--admin", admin]);
        let ran = plugin_in(&folder, &[arguments.as_slice(), told.as_slice()].concat()).await;
        let ran = ran.expect("the program runs");
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
        assert!(ran.json().to_string().contains(said), "{arguments:?}: {ran:?}");
    }

    operated.install(&first).await;
    operated.change(&["approve", "acme.banner"]).await;
    for file in [&first, &second] {
        let ran = plugin_in(&folder, &["install", path(file)]).await.expect("the program runs");
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let remove = ["remove", "acme.banner", "--admin", admin.as_str()];
    let ran = plugin_in(&folder, &remove).await.expect("the program runs");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.json().to_string().contains("still has acme.banner"), "{ran:?}");
}
