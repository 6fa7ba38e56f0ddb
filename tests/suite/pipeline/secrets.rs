//! What is secret: sealed on disk, never printed, and of no use without its key.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use vedette_tests::{Response, free_port, secrets};

use crate::world::{World, until};

/// Stands in every secret below.
const MARK: &str = "s3cr3tmark";
/// 24 bytes, as Standard Webhooks wants them.
const SIGNING: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn hook(world: &World) -> Value {
    let url = world.lab.receiver.url(&format!("/{MARK}?token={MARK}"));
    json!({"custom_webhook_url": url, "webhook_secret": SIGNING})
}

/// The owner's alerts go to the lab's receiver, under an address with secrets in it.
async fn with_hook(world: &World) -> Value {
    let path = "/settings/notifications";
    world.owner.client.patch(path, hook(world)).await.expect(200)["settings"].clone()
}

fn key_file(world: &World) -> PathBuf {
    world.service.folder().join("data/secret.key")
}

/// The files of a folder that hold these bytes.
fn holding(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(holding(&path, text));
            continue;
        }
        // The engine may have removed it since it was listed.
        let bytes = fs::read(&path).unwrap_or_default();
        if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
            found.push(path);
        }
    }
    found
}

fn assert_hidden(folder: &Path) {
    for secret in [MARK, SIGNING] {
        let found = holding(folder, secret);
        assert!(found.is_empty(), "{secret} is in {found:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_is_made_at_the_first_start_for_its_owner_alone() {
    let world = World::start().await;
    let mode = fs::metadata(key_file(&world)).expect("made").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let key = fs::read_to_string(key_file(&world)).expect("text");
    assert!(!world.service.output().contains(key.trim()), "the key is printed");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_on_disk_shows_a_secret() {
    let mut world = World::start().await;
    with_hook(&world).await;
    let site = world.site("plain.example", 5).await;
    let body = json!({
        "domain": "plain.example", "custom_port": site.port(), "check_types": ["ssl"],
        "dns_provider": "cloudflare", "dns_provider_config": {"token": MARK},
        "deploy_target": "download", "deploy_config": {"password": MARK},
    });
    world.owner.client.post("/sites", body).await.expect(200);
    world.lab.receiver.wait_for(1).await.expect("the alert was rendered and delivered");
    let data = world.service.folder().join("data");
    assert!(!holding(&data, "plain.example").is_empty(), "this looks where the data is");
    assert_hidden(&data);
    assert_eq!(world.service.stop().await.expect("stops"), Some(0));
    assert_hidden(&data);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_with_the_same_key_goes_on_delivering() {
    let mut world = World::start().await;
    let before = with_hook(&world).await;
    assert_eq!(world.service.stop().await.expect("stops"), Some(0));
    world.service = world.service.start_again().await.expect("starts again");
    world.owner.client = world.service.client().with_key(&world.owner.key);
    let after = world.owner.client.get("/settings/notifications").await.expect(200);
    assert_eq!(after["settings"], before);
    world.send_test().await;
    let received = world.lab.receiver.wait_for(1).await.expect("the test arrives").remove(0);
    assert!(received.path.contains(MARK), "{}", received.path);
    assert!(received.header("webhook-signature").is_some(), "the secret is known, too");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_key_or_none_refuses_the_start_and_the_right_one_works_again() {
    let mut world = World::start().await;
    let before = with_hook(&world).await;
    assert_eq!(world.service.stop().await.expect("stops"), Some(0));
    let file = key_file(&world);
    let key = fs::read_to_string(&file).expect("text");

    // 32 other bytes.
    fs::write(&file, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n").expect("ours");
    let refused = world.service.refusal().await.expect("it ends");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let said = format!("the key file {} does not hold the key", file.display());
    assert!(refused.errors.contains(&said), "{}", refused.errors);

    fs::remove_file(&file).expect("ours");
    let refused = world.service.refusal().await.expect("it ends");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let said = format!("the key file {} is missing", file.display());
    assert!(refused.errors.contains(&said), "{}", refused.errors);
    assert!(!file.exists(), "no file is left that would hide which one is missing");

    fs::write(&file, &key).expect("ours");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("ours");
    let refused = world.service.refusal().await.expect("it ends");
    let said = format!("chmod 600 {}", file.display());
    assert!(refused.errors.contains(&said), "a copy that others may read: {}", refused.errors);

    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("ours");
    world.service = world.service.start_again().await.expect("starts again");
    world.owner.client = world.service.client().with_key(&world.owner.key);
    let after = world.owner.client.get("/settings/notifications").await.expect(200);
    assert_eq!(after["settings"], before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_key_costs_what_it_sealed_and_nothing_else() {
    let mut world = World::start().await;
    with_hook(&world).await;
    let site = world.site("kept.example", 5).await;
    let body = json!({
        "domain": "kept.example", "custom_port": site.port(), "check_types": ["ssl"],
        "deploy_target": "download", "deploy_config": {"password": MARK},
    });
    world.owner.client.post("/sites", body).await.expect(200);
    world.lab.receiver.wait_for(1).await.expect("the alert is delivered");
    let alerts = world.owner.client.get("/alerts").await.expect(200)["alerts"].clone();
    let data = world.service.folder().join("data");
    let database = format!("surrealkv://{}", data.display());
    fs::remove_file(key_file(&world)).expect("ours");

    let running = secrets(&database, &["discard", "--yes"]).await.expect("it ends");
    assert_eq!(running.code, Some(1), "{running:?}");
    assert!(running.errors.contains("another process has it open"), "{}", running.errors);
    fs::remove_file(key_file(&world)).expect("made, and of no use");
    assert_eq!(world.service.stop().await.expect("stops"), Some(0));

    let refused = world.service.refusal().await.expect("it ends");
    assert!(refused.errors.contains("vedette secrets discard"), "{}", refused.errors);
    let asked = secrets(&database, &["discard"]).await.expect("it ends");
    assert_eq!(asked.code, Some(1), "{asked:?}");
    assert!(asked.errors.contains("--yes"), "{}", asked.errors);
    assert!(!key_file(&world).exists(), "nothing was done");

    let done = secrets(&database, &["discard", "--yes"]).await.expect("it ends");
    assert_eq!(done.code, Some(0), "{done:?}");
    let lost = [
        format!("({}): its notification settings", world.owner.email),
        "kept.example has no".into(),
    ];
    for part in lost {
        assert!(done.output.contains(&part), "{part}: {}", done.output);
    }

    world.service = world.service.start_again().await.expect("starts again");
    world.owner.client = world.service.client().with_key(&world.owner.key);
    let settings = world.owner.client.get("/settings/notifications").await.expect(200);
    assert_eq!(settings["settings"]["custom_webhook_url"], Value::Null);
    assert_eq!(world.owner.client.get("/alerts").await.expect(200)["alerts"], alerts);
    with_hook(&world).await;
    world.send_test().await;
    let received = world.lab.receiver.wait_for(2).await.expect("the test arrives");
    assert!(received[1].path.contains(MARK), "{}", received[1].path);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_first_key_takes_over_and_the_old_line_may_go() {
    let mut world = World::start().await;
    let before = with_hook(&world).await;
    let file = key_file(&world);
    let old = fs::read_to_string(&file).expect("text");
    let new = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n";
    // Writing to a file that exists keeps its mode.
    for text in [format!("{new}{old}"), new.to_owned()] {
        assert_eq!(world.service.stop().await.expect("stops"), Some(0));
        fs::write(&file, text).expect("ours");
        world.service = world.service.start_again().await.expect("starts again");
        world.owner.client = world.service.client().with_key(&world.owner.key);
        let after = world.owner.client.get("/settings/notifications").await.expect(200);
        assert_eq!(after["settings"], before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_log_line_shows_a_secret() {
    // All that the program itself has to say, and what the libraries find worth a warning.
    let filter = "warn,vedette_server=trace,vedette_store=trace,vedette_sandbox=trace,\
                  vedette=trace,surrealdb::core::kvs::ds=off,surrealkv=error";
    let mut world =
        World::with(|settings| settings.toml = format!("[log]\nfilter = \"{filter}\"\n")).await;
    let client = world.owner.client.clone();
    with_hook(&world).await;
    let site = world.site("logged.example", 5).await;
    world.lab.receiver.answer_always(Response::Status(500, Vec::new()));
    let id = world.watch("logged.example", &site).await;
    world.lab.receiver.wait_for(3).await.expect("three failed tries");
    let failed = world.send_test().await;
    assert!(failed["message"].as_str().is_some_and(|said| said.contains("500")), "{failed}");
    let location = vec![("location".to_owned(), format!("http://elsewhere.example/?token={MARK}"))];
    world.lab.receiver.answer_next(Response::Status(302, location));
    world.send_test().await;
    world.lab.receiver.answer_always(Response::Status(204, Vec::new()));
    world.send_test().await;
    // Refused ones are not printed either: by their form, their port and their address.
    for url in [
        format!("http://127.0.0.1:25/?token={MARK}"),
        format!("http://10.0.0.1/{MARK}"),
        format!("gopher://{MARK}.example/"),
    ] {
        let body = json!({"custom_webhook_url": url});
        client.patch("/settings/notifications", body).await.expect(400);
    }
    // Nobody listens there.
    let nobody = free_port().await.expect("loopback has free ports");
    let nobody = json!({"custom_webhook_url": format!("http://{nobody}/?token={MARK}")});
    client.patch("/settings/notifications", nobody).await.expect(200);
    world.send_test().await;
    let configs = json!({
        "dns_provider_config": {"token": MARK}, "deploy_config": {"token": MARK},
    });
    client.patch(&format!("/sites?id={id}"), configs).await.expect(200);
    client.send_raw(reqwest::Method::PATCH, "/settings/notifications", MARK.into()).await;
    // Where the log is looked at it holds what it should.
    until("the log to tell of the failed delivery", async || {
        world.service.output().contains("failed for good").then_some(())
    })
    .await;
    assert_eq!(world.service.stop().await.expect("stops"), Some(0));

    let printed = world.service.output();
    let shown: Vec<_> =
        printed.lines().filter(|line| line.contains(MARK) || line.contains(SIGNING)).collect();
    assert!(shown.is_empty(), "{shown:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_contract_does_not_show_no_answer_shows() {
    let world = World::start().await;
    let client = &world.owner.client;
    let path = "/settings/notifications";
    let configs = json!({
        "domain": "shown.example", "monitoring_enabled": false,
        "dns_provider_config": {"token": MARK}, "deploy_config": {"token": MARK},
    });
    let created = client.post("/sites", configs).await;
    let id = created.json()["site"]["id"].as_str().expect("an id").to_owned();
    let changed = client
        .patch(&format!("/sites?id={id}"), json!({"deploy_config": {"password": MARK}}))
        .await;
    let secret = client.patch(path, json!({"webhook_secret": SIGNING})).await;
    let answers = [
        created,
        changed,
        secret,
        client.get("/sites").await,
        client.get(path).await,
        client.patch(&format!("/sites?id={id}"), json!({})).await,
        client.patch(path, json!({})).await,
    ];
    for answer in answers {
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert!(!answer.text.contains(MARK) && !answer.text.contains("whsec_"), "{}", answer.text);
    }
}
