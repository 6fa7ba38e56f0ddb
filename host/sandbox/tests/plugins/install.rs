//! Installing again: hot swap, native code from the cache, forged native code. Channels.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use serde_json::{Value, json};
use vedette_model::{DeliveryId, delivery::Rendered};
use vedette_sandbox::{
    CheckVersion, Grant, MemoryState, Notification, Options, PluginError, Receipt, RunError,
    Sandbox, Settings, Stop, ValidateError, Verdict, egress::Policy,
};

use crate::{
    guest::{Guest, Says},
    lab::{egress, evidence, holding, now, refusal, replay, test},
};

fn caching(folder: &Path) -> Sandbox {
    let options = Options {
        egress: egress(Policy::default()),
        cache_dir: Some(folder.to_owned()),
        settings: Default::default(),
        state: Arc::new(MemoryState::default()),
    };
    Sandbox::new(options).expect("a sandbox")
}

#[tokio::test]
async fn a_new_version_takes_the_place_of_the_old() {
    let sandbox = holding(&Guest::check("", &[]));
    let mut guest = Guest::check("", &[]);
    guest.run_answers(r#"{"ok":false}"#);
    sandbox.install(&guest.build(), Grant::AsAsked).expect("installed");
    let ran = replay(&sandbox, Vec::new()).await.expect("an observation");
    assert_eq!(ran.observation.result, json!({"ok": false}));
    assert_eq!(sandbox.check_types().len(), 1);

    let mut broken = Guest::check("", &[]);
    broken.validate(|code| {
        code.unreachable();
    });
    sandbox.install(&broken.build(), Grant::AsAsked).expect_err("refused");
    let ran = replay(&sandbox, Vec::new()).await.expect("the old one is still there");
    assert_eq!(ran.observation.result, json!({"ok": false}));
}

#[tokio::test]
async fn what_a_version_saw_is_judged_by_the_same_version() {
    let sandbox = holding(&Guest::check("", &[]));
    let ran = replay(&sandbox, Vec::new()).await.expect("an observation");
    let found = async |by: &CheckVersion| {
        let evidence = evidence(ran.observation.result.clone());
        let assessed = sandbox.assess(by, Some("example.com"), evidence).await.expect("judged");
        assessed.findings.len()
    };
    let mut stricter = Guest::check("", &[]);
    let answer = stricter.data().findings("test.bad", 1);
    stricter.assess(move |code| {
        code.i32_const(answer);
    });
    sandbox.install(&stricter.build(), Grant::AsAsked).expect("installed");
    let installed = sandbox.version(&test()).expect("installed");
    assert_ne!(installed, ran.version);
    assert_eq!((found(&ran.version).await, found(&installed).await), (0, 1));
    assert!(sandbox.uninstall("acme.test"));
    assert_eq!(sandbox.version(&test()), None);
    assert_eq!(found(&ran.version).await, 0, "it is gone, and judges what it saw");
}

#[tokio::test]
async fn a_check_is_given_what_its_operator_set() {
    let mut guest = Guest::check("", &[]);
    guest.run_answers_settings();
    guest.manifest += "[settings.properties]\nok = { type = \"boolean\" }\n";
    let sandbox = holding(&guest);
    let seen = async || {
        let ran = replay(&sandbox, Vec::new()).await;
        ran.expect("an observation").observation.result
    };
    let set = |set: Value| {
        let settings = Settings::from([(test(), set)]);
        sandbox.install_with(&guest.build(), Grant::AsAsked, BTreeMap::new(), settings)
    };
    assert_eq!(seen().await, json!({}));
    set(json!({"ok": false})).expect("installed");
    assert_eq!(seen().await, json!({"ok": false}));
    let refused = set(json!({"oko": true})).expect_err("refused").to_string();
    assert_eq!(refused, "no setting is called \"oko\"; this plugin has ok");
    assert_eq!(seen().await, json!({"ok": false}), "the one before is still there");
}

#[tokio::test]
async fn what_is_uninstalled_is_not_there_and_can_come_back() {
    let sandbox = holding(&Guest::check("", &[]));
    let before = sandbox.generation();
    assert!(!sandbox.uninstall("acme.other"), "there is no such plugin");
    assert!(sandbox.uninstall("acme.test"));
    assert!(sandbox.generation() > before);
    assert!(sandbox.check_types().is_empty());
    let gone = replay(&sandbox, Vec::new()).await;
    assert_eq!(gone.expect_err("nobody is there"), RunError::NotInstalled);
    assert!(!sandbox.uninstall("acme.test"), "it is gone");
    sandbox.install(&Guest::check("", &[]).build(), Grant::AsAsked).expect("installed");
    replay(&sandbox, Vec::new()).await.expect("an observation");
}

#[test]
fn a_plugin_that_takes_another_place_leaves_the_old_one() {
    let sandbox = holding(&Guest::check("", &[]));
    let says = Says { event: "other.bad", ..Says::default() };
    let mut moved = Guest::check_saying(&says, "", &[]);
    moved.manifest = moved.manifest.replace("check-type = \"test\"", "check-type = \"other\"");
    sandbox.install(&moved.build(), Grant::AsAsked).expect("installed");
    let types = sandbox.check_types();
    assert_eq!(types.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(), ["other"]);
}

#[test]
fn a_component_is_read_and_examined_without_running_it() {
    let mut trap = Guest::check("random = true", &[]);
    trap.describe(|code| {
        code.unreachable();
    });
    let component = trap.build();
    let read = vedette_sandbox::read(&component).expect("a manifest");
    assert_eq!((&*read.manifest.id, &*read.text), ("acme.test", &*trap.manifest));
    let refused = vedette_sandbox::examine(&component, &Grant::AsAsked).expect_err("refused");
    assert!(refused.to_string().contains("does not import vedette:env/random"), "{refused}");

    let mut trap = Guest::check("", &[]);
    trap.describe(|code| {
        code.unreachable();
    });
    vedette_sandbox::examine(&trap.build(), &Grant::AsAsked).expect("nothing of it ran");
}

#[tokio::test]
async fn forged_native_code_is_compiled_again_never_loaded() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = folder.path().join("native");
    let component = Guest::check("", &[]).build();
    caching(&cache).install(&component, Grant::AsAsked).expect("compiled");
    let entry = fs::read_dir(&cache)
        .expect("the cache")
        .map(|file| file.expect("a file").path())
        .find(|path| path.extension().is_some_and(|kind| kind == "native"))
        .expect("native code was kept");
    let genuine = fs::read(&entry).expect("readable");
    let mut forged = genuine.clone();
    let middle = forged.len() / 2;
    forged[middle] ^= 0x80;
    fs::write(&entry, &forged).expect("writable");

    let sandbox = caching(&cache);
    sandbox.install(&component, Grant::AsAsked).expect("compiled again");
    assert_eq!(fs::read(&entry).expect("readable").len(), genuine.len());
    assert_ne!(fs::read(&entry).expect("readable"), forged, "the forgery was replaced");
    replay(&sandbox, Vec::new()).await.expect("an observation");
}

#[test]
fn what_the_gate_refused_is_not_cached() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut guest = Guest::check("", &[]);
    guest.validate(|code| {
        code.unreachable();
    });
    caching(folder.path()).install(&guest.build(), Grant::AsAsked).expect_err("refused");
    let kept = fs::read_dir(folder.path()).expect("the cache").filter(|file| {
        file.as_ref().is_ok_and(|file| file.path().extension().is_some_and(|kind| kind == "native"))
    });
    assert_eq!(kept.count(), 0);
}

#[tokio::test]
async fn a_channel_writes_to_a_reference_that_the_host_resolves() {
    let sandbox = holding(&Guest::channel("ref:pager_url?urgent"));
    let settings = json!({"pager_url": "https://pager.example/secret"});
    let rendered = sandbox.render("pager", notification(), &settings).await.expect("rendered");
    let expected = Rendered::Http {
        url: "ref:pager_url?urgent".into(),
        method: "POST".into(),
        headers: Vec::new(),
        body: "{}".into(),
    };
    assert_eq!(rendered, [expected]);
    // It asked for an hour; a minute is the most.
    let verdict = sandbox.interpret("pager", "pager.example", Receipt::default()).await;
    assert_eq!(verdict, Ok(Verdict::Retry(Some(60))));
}

#[tokio::test]
async fn a_channel_cannot_choose_where_alerts_go() {
    for url in [
        "https://evil.example/",
        "ref:other_url",
        "ref:pager_url_2",
        "ref:pager_url.evil.example/",
        "ref:pager_url@evil.example/",
        "ref:pager_url:8443/",
        "pager_url",
        "",
    ] {
        let sandbox = holding(&Guest::channel(url));
        let refused = sandbox.render("pager", notification(), &json!({})).await;
        let Err(PluginError::Broken { why: Stop::Output, .. }) = refused else {
            panic!("{url}: {refused:?}")
        };
    }
}

#[tokio::test]
async fn a_channel_never_sees_its_secrets() {
    let sandbox = holding(&Guest::echo());
    let settings = json!({
        "pager_url": "https://pager.example/secret", "pager_token": "hunter2", "room": "ops",
    });
    let judged = sandbox.validate_channel("pager", &settings).await.expect("settings");
    let judged = Value::Object(judged);
    assert_eq!(judged, settings, "to the caller they are as they came");
    let rendered = sandbox.render("pager", notification(), &judged).await.expect("rendered");
    let [Rendered::Http { body, .. }] = rendered.as_slice() else { panic!("{rendered:?}") };
    let seen: Value = serde_json::from_str(body).expect("JSON");
    let expected = json!({
        "pager_url": "ref:pager_url", "pager_token": "ref:pager_token", "room": "ops",
    });
    assert_eq!(seen, expected);
    assert_eq!(
        sandbox.interpret("pager", "pager.example", Receipt::default()).await,
        Ok(Verdict::Delivered)
    );
}

#[tokio::test]
async fn settings_are_what_the_channel_makes_of_them_and_its_secrets() {
    // It answers an empty object, whatever it is asked.
    let sandbox = holding(&Guest::channel("ref:pager_url"));
    let settings = json!({"pager_url": "https://pager.example/secret", "room": "ops"});
    let judged = sandbox.validate_channel("pager", &settings).await.expect("settings");
    assert_eq!(Value::Object(judged), json!({"pager_url": "https://pager.example/secret"}));
    let nobody = sandbox.validate_channel("fax", &settings).await;
    assert_eq!(nobody, Err(ValidateError::Unavailable(PluginError::NotInstalled)));
}

#[test]
fn a_secret_that_no_reference_can_name_is_refused_at_the_gate() {
    let guest = Guest::channel_with("ref:pager_url", &["pager_url", "pager-token"]);
    let refused = refusal(&guest.build());
    assert!(refused.contains("secret-fields must match [a-z][a-z0-9_]*"), "{refused}");
}

fn notification() -> Notification {
    Notification {
        id: DeliveryId(uuid::Uuid::from_u128(1)),
        source: "vedette".into(),
        timestamp: now(),
        test: true,
        alerts: Vec::new(),
    }
}
