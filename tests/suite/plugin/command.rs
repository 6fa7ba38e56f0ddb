//! What the commands answer: exit codes, advice, refusals.

use std::fs;

use serde_json::json;

use super::{Operated, path};
use crate::guest::{Guest, I32};

#[tokio::test(flavor = "multi_thread")]
async fn advice_names_the_folder_that_the_command_was_given() {
    let operated = Operated::start().await;
    let folder = format!("--folder {}", operated.folder().display());
    for (command, advice) in [
        ("approve", "vedette plugin install FILE"),
        ("disable", "vedette plugin list"),
        ("remove", "vedette plugin list"),
    ] {
        let ran = operated.run(&[command, "acme.none"]).await;
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.json().to_string().contains(&format!("{advice} {folder}")), "{ran:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_at_fault_is_the_exit_code() {
    let operated = Operated::start().await;
    let good = operated.component("acme.banner", "1.0.0", true);
    let taken = operated.component("acme.ssl", "1.0.0", true);
    let ours = operated.component("vedette.banner", "1.0.0", true);
    let junk = operated.home.path().join("junk.wasm");
    fs::write(&junk, "junk").expect("written");
    let torn = operated.home.path().join("torn.wasm");
    fs::write(&torn, [&fs::read(&good).expect("readable")[..], &b"behind"[..]].concat())
        .expect("written");
    let zeros = "0".repeat(64);
    let api = format!("http://{}", operated.world.service.api);
    let inspected = operated.run(&["inspect", path(&good)]).await.json();
    let hash = inspected["sha256"].as_str().expect("a hash").to_ascii_uppercase();
    for (arguments, code, said) in [
        (vec!["inspect", path(&good)], 0, "acme.banner"),
        (vec!["inspect", path(&junk)], 1, "not a WebAssembly component"),
        (vec!["inspect", "/nowhere.wasm"], 2, "cannot read /nowhere.wasm"),
        (vec!["inspect", path(&taken)], 1, "not be installed: the check type ssl is built in"),
        (vec!["inspect", path(&torn)], 1, "not be installed: the component does not compile"),
        (vec!["install", path(&torn)], 1, "the component does not compile"),
        (
            vec!["install", path(&good), "--sha256", zeros.as_str()],
            1,
            "get the file that its author",
        ),
        (vec!["install", path(&taken)], 1, "the check type ssl is built in"),
        (vec!["install", path(&ours)], 1, "the publisher vedette"),
        (vec!["install", path(&good)], 0, "pending"),
        (vec!["approve", "acme.banner", "--grant", "dns"], 2, "--grant names dns"),
        (vec!["approve", "acme.banner", "--grant", ""], 2, "--grant has an empty name"),
        (vec!["approve", "acme.banner", "--by", " "], 2, "--by is empty"),
        (vec!["list", "--admin", api.as_str()], 2, "is not the operator's port"),
        (vec!["approve", "acme.banner", "--sha256", "g"], 2, "SHA-256 that begins with g"),
        (vec!["approve", "acme.other"], 2, "vedette plugin install FILE"),
        (vec!["rollback", "acme.banner"], 2, "no plugin acme.banner is approved"),
        (vec!["approve", "acme.banner", "--sha256", hash.as_str()], 0, "acme.banner"),
        (vec!["rollback", "acme.banner"], 2, "to go back to"),
        (vec!["install", path(&good)], 2, "is approved already"),
        (vec!["list"], 0, "enabled"),
        (vec!["disable", "acme.banner"], 0, "acme.banner"),
        (vec!["remove", "acme.other"], 2, "there is no plugin acme.other"),
    ] {
        let ran = operated.run(&arguments).await;
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
        assert!(ran.json().to_string().contains(said), "{arguments:?}: {ran:?}");
    }
    // What can be shown of it is shown all the same.
    let refused = operated.run(&["inspect", path(&torn)]).await.json();
    assert_eq!((&refused["id"], &refused["error"]), (&json!("acme.banner"), &json!("plugin")));
    assert_eq!(refused["manifest_sha256"], inspected["manifest_sha256"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_that_a_plugin_cannot_be_loaded_with_changes_nothing() {
    let operated = Operated::start().await;
    let [random, tcp] = ["vedette:env/random@1.0.0", "vedette:net/tcp@1.0.0"];
    let capabilities = "random = true\ntcp = { to = [\"target:25\"] }";
    let mut guest = Guest::check(capabilities, &[random, tcp]);
    guest.import(random, "bytes", &[I32; 2], &[]);
    guest.import(tcp, "exchange", &[I32; 11], &[]);
    operated.install(&operated.file("test.wasm", &guest)).await;
    let refused = operated.run(&["approve", "acme.test", "--grant", "random"]).await;
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let refused = refused.json()["message"].to_string();
    assert!(refused.contains("tcp is not granted") && refused.contains(tcp), "{refused}");
    let listed = operated.run(&["list"]).await.json();
    assert_eq!(listed["plugins"][0]["state"], "pending", "{listed}");
    operated.change(&["approve", "acme.test", "--grant", "random,tcp"]).await;
    assert_eq!(operated.shown("acme.test").await["state"], "running");
}
