//! What an operator sets for a check: what its runs are given, and how often they are.

use std::fs;

use reqwest::Method;
use serde_json::{Value, json};

use super::Operated;
use crate::{
    guest::Guest,
    world::{text, until},
};

/// A check that answers what is set for it, and asks to be run every thirty days.
fn answering() -> Guest {
    let mut guest = Operated::guest("acme.banner", "1.0.0", true);
    guest.run_answers_settings();
    guest.manifest += "[schedule]\ninterval = \"720h\"\n\
                       [settings.properties]\nok = { type = \"boolean\" }\n\
                       words = { type = \"array\", items = { type = \"string\" } }\n";
    guest
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_set_reaches_the_check_and_has_it_run_as_often() {
    let operated = Operated::start().await;
    let client = &operated.world.owner.client;
    operated.install(&operated.file("banner.wasm", &answering())).await;
    let approved = operated.change(&["approve", "acme.banner"]).await;
    assert_eq!(approved["may_be_set"]["ok"], json!({ "type": "boolean" }), "{approved}");
    assert_eq!(operated.banner().await, Value::Null);
    let site = json!({ "domain": "shop.example", "check_types": ["banner"] });
    let site = client.post("/sites", site).await.expect(200);
    let history = format!("/checks?site_id={}&check_type=banner", text(&site["site"]["id"]));
    let runs = async |at_least: u64| {
        let page = client.get(&history).await.expect(200);
        (page["total"].as_u64() >= Some(at_least)).then_some(())
    };
    until("the first run", async || runs(1).await).await;

    let said = operated.change(&["set", "acme.banner", "ok=true", "--interval", "1s"]).await;
    let set = (json!({ "ok": true }), json!("1s"));
    assert_eq!((&said["settings"], &said["interval"]), (&set.0, &set.1), "{said}");
    assert_eq!(operated.banner().await, true);
    until("runs as often as was set", async || runs(5).await).await;
    let listed = operated.run(&["list"]).await.json()["plugins"][0].clone();
    for shown in [operated.shown("acme.banner").await, listed] {
        assert_eq!((&shown["settings"], &shown["interval"]), (&set.0, &set.1), "{shown}");
    }

    let back = ["set", "acme.banner", "--unset", "ok", "--interval", "default"];
    operated.change(&back).await;
    assert_eq!(operated.banner().await, Value::Null);
    let shown = operated.shown("acme.banner").await;
    assert!(shown["settings"].is_null() && shown["interval"].is_null(), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_changes_nothing() {
    let operated = Operated::start().await;
    operated.install(&operated.file("banner.wasm", &answering())).await;
    operated.install(&operated.file("pager.wasm", &Guest::channel("ref:pager_url"))).await;
    for id in ["acme.banner", "acme.pager"] {
        operated.change(&["approve", id]).await;
    }
    operated.change(&["set", "acme.banner", "ok=true"]).await;
    let lock = || fs::read_to_string(operated.folder().join("plugins.lock")).expect("a lock");
    let before = lock();
    for (arguments, said) in [
        (
            vec!["acme.banner", "oko=true"],
            "no setting is called \"oko\"; this plugin has ok, words",
        ),
        (vec!["acme.banner", "ok=maybe"], "the setting ok: value is not of type \"boolean\""),
        (vec!["acme.banner", "words=[1]"], "the setting words/0: value is not of type \"string\""),
        (vec!["acme.banner", "--unset", "oko"], "this plugin has ok, words"),
        (vec!["acme.banner", "ok=false", "--interval", "0s"], "must be between 1s and 366d"),
        (vec!["acme.banner"], "the settings of acme.banner are: ok, words"),
        (vec!["acme.pager", "room=ops"], "a channel has no settings here"),
        (vec!["acme.pager", "--interval", "5m"], "a channel has no interval"),
        (vec!["acme.none", "ok=true"], "no plugin acme.none is approved"),
    ] {
        let ran = operated.run(&[&["set"][..], arguments.as_slice()].concat()).await;
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        let message = text(&ran.json()["message"]);
        assert!(message.contains(said), "{arguments:?}: {message}");
        assert_eq!(lock(), before, "{arguments:?}");
    }
    assert_eq!(operated.banner().await, true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_does_not_take_what_is_set_is_not_approved() {
    let operated = Operated::start().await;
    operated.install(&operated.file("banner.wasm", &answering())).await;
    operated.change(&["approve", "acme.banner"]).await;
    operated.change(&["set", "acme.banner", "ok=true"]).await;
    operated.install(&operated.component("acme.banner", "2.0.0", false)).await;
    let refused = operated.run(&["approve", "acme.banner"]).await;
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let message = text(&refused.json()["message"]);
    assert!(message.contains("this plugin has no settings; take that back first"), "{message}");
    assert!(message.contains("vedette plugin set acme.banner --unset KEY"), "{message}");

    operated.change(&["set", "acme.banner", "--unset", "ok"]).await;
    operated.change(&["approve", "acme.banner"]).await;
    assert_eq!(operated.banner().await, false);
    // Whoever writes the lock by hand is told by the service, which goes on with what it has.
    let lock = operated.folder().join("plugins.lock");
    let written = fs::read_to_string(&lock).expect("a lock");
    let by_hand = written.replace("enabled = true\n", "enabled = true\nsettings.ok = true\n");
    fs::write(&lock, by_hand).expect("written");
    let operator = operated.world.service.operator();
    operator.send(Method::POST, "/admin/plugins/reload", None).await.expect(200);
    let shown = operated.shown("acme.banner").await;
    let error = text(&shown["error"]);
    assert!(error.contains("no setting is called \"ok\""), "{error}");
    assert_eq!(operated.banner().await, false);
}
