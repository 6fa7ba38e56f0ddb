//! A plugin becomes a check, gives way to its next version, comes back and goes.

use std::fs;

use reqwest::Method;
use serde_json::{Value, json};
use vedette_tests::{RecordType, Reply};

use super::{Operated, path, shown};
use crate::{
    guest::{Guest, Says},
    world::until,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_becomes_a_check_when_it_is_approved_and_is_none_when_it_is_disabled() {
    let operated = Operated::start().await;
    let client = &operated.world.owner.client;
    let file = operated.component("acme.banner", "1.0.0", true);
    let installed = operated.install(&file).await;
    assert_eq!(
        (&installed["state"], &installed["check_type"]),
        (&json!("pending"), &json!("banner"))
    );
    let shown = operated.shown("acme.banner").await;
    assert_eq!((&shown["state"], &shown["built_in"]), (&json!("pending"), &json!(false)));
    assert_eq!(operated.statuses("one.example").await, (404, 400));

    operated.change(&["approve", "acme.banner", "--by", "ops@example.com"]).await;
    let shown = operated.shown("acme.banner").await;
    assert_eq!((&shown["state"], &shown["version"]), (&json!("running"), &json!("1.0.0")));
    assert_eq!(shown["sha256"], installed["sha256"]);
    assert_eq!(operated.banner().await, true);
    assert_eq!(operated.statuses("two.example").await, (200, 200));
    assert_eq!(client.get("/check-banner").await.status, 405);
    assert_eq!(client.get("/check-%62anner").await.status, 405, "the same path");
    assert_eq!(client.anonymous().post("/check-banner", json!({})).await.status, 401);
    let document = client.get("/openapi.json").await.expect(200).to_string();
    assert!(document.contains("/check-banner") && document.contains("BannerResult"));
    let refused = client.get("/alerts?type=other").await.expect(400);
    let known = "type must be one of ssl, dns, domain, ct, cert_change, uptime, test";
    assert_eq!(refused["message"], known);
    let tools = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert!(client.post("/mcp", tools).await.expect(200).to_string().contains("check_banner"));

    operated.change(&["disable", "acme.banner"]).await;
    assert_eq!(operated.shown("acme.banner").await["state"], "disabled");
    assert_eq!(operated.statuses("three.example").await, (404, 400));
    assert!(!client.get("/openapi.json").await.expect(200).to_string().contains("/check-banner"));
    operated.change(&["enable", "acme.banner"]).await;
    assert_eq!(operated.banner().await, true);

    operated.change(&["remove", "acme.banner"]).await;
    assert_eq!(operated.shown("acme.banner").await, Value::Null);
    assert_eq!(operated.statuses("four.example").await, (404, 400));
    let left = fs::read_dir(operated.folder()).expect("the folder").count();
    assert_eq!(left, 1, "the lock alone");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_plugin_calls_like_a_field_of_ours_is_shown() {
    let operated = Operated::start().await;
    let mut guest = Operated::guest("acme.banner", "1.0.0", true);
    guest.run_answers(&json!({ "ok": true, "tls_grade": "A" }).to_string());
    operated.install(&operated.file("graded.wasm", &guest)).await;
    operated.change(&["approve", "acme.banner"]).await;
    let seen = operated.world.look("banner", "shop.example").await;
    assert_eq!(seen["tls_grade"], "A", "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_can_be_written_back_while_its_plugin_is_disabled() {
    let operated = Operated::start().await;
    let client = &operated.world.owner.client;
    operated.install(&operated.component("acme.banner", "1.0.0", true)).await;
    operated.change(&["approve", "acme.banner"]).await;
    let body = json!({
        "domain": "shop.example", "check_types": ["ssl", "banner"], "check_config": { "banner": {} },
        "monitoring_enabled": false,
    });
    let site = client.post("/sites", body).await.expect(200)["site"].clone();
    let path = format!("/sites?id={}", site["id"].as_str().expect("an id"));
    operated.change(&["disable", "acme.banner"]).await;

    let (types, config) = (&site["check_types"], &site["check_config"]);
    let same = json!({ "check_types": types, "check_config": config, "alert_days": 7 });
    let kept = client.patch(&path, same).await.expect(200)["site"].clone();
    assert_eq!((&kept["check_types"], &kept["check_config"]), (types, config));
    for (other, said) in [
        (json!({ "check_types": ["ssl", "other"] }), "\"other\" is none of them"),
        (json!({ "check_config": { "banner": { "deep": true } } }), "is not installed"),
    ] {
        let refused = client.patch(&path, other).await.expect(400);
        assert!(refused["message"].as_str().expect("a text").contains(said), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_is_to_wait_says_how_long() {
    let operated = Operated::start().await;
    let client = &operated.world.owner.client;
    let mut guest = Operated::guest("acme.banner", "1.0.0", true);
    let retry = guest.data().words(&[1, 2, 30, 0]);
    guest.run(move |code| {
        code.i32_const(retry);
    });
    operated.install(&operated.file("waits.wasm", &guest)).await;
    operated.change(&["approve", "acme.banner"]).await;
    let body = json!({ "domain": "shop.example" });
    let told = client.post("/check-banner", body).await.expect(500)["message"].to_string();
    assert!(told.contains("try again in 30 s"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_saw_is_judged_by_the_version_that_ran() {
    let operated = Operated::start().await;
    let (world, dns) = (&operated.world, &operated.world.lab.dns);
    let mut strict = Operated::guest("acme.banner", "1.0.0", true);
    let found = strict.data().findings("banner.bad", 1);
    strict.assess(move |code| {
        code.i32_const(found);
    });
    operated.install(&operated.file("strict.wasm", &strict)).await;
    operated.change(&["approve", "acme.banner"]).await;
    operated.install(&operated.component("acme.banner", "2.0.0", true)).await;
    operated.change(&["approve", "acme.banner"]).await;
    dns.answer("held.example", Reply::address("127.0.0.1".parse().expect("an address")));
    let site = world.quiet_with("held.example", json!({ "check_types": ["banner"] })).await;

    // The run waits for the address of its target, five seconds at most, while the version before
    // comes back: all but the service's part in that is done beforehand.
    let back = operated.run(&["rollback", "acme.banner"]).await;
    assert_eq!(back.code, Some(0), "{back:?}");
    let operator = world.service.operator();
    dns.fall_silent();
    let goes_back = async {
        until("the run", async || (dns.asked("held.example", RecordType::A) > 0).then_some(()))
            .await;
        operator.send(Method::POST, "/admin/plugins/reload", None).await.expect(200);
        dns.answer_again();
    };
    tokio::join!(world.run("banner", "held.example", &site), goes_back);
    assert_eq!(world.latest("banner", &site, |_| true).await["status"], "ok");
    assert_eq!(world.alerts_now("test").await, Vec::<Value>::new());
    let brought = world.bring("banner", &site, json!({ "ok": true })).await;
    assert_eq!(brought["status"], "degraded", "by the one that is installed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_version_takes_the_place_of_the_first_and_gives_it_back() {
    let operated = Operated::start().await;
    operated.install(&operated.component("acme.banner", "1.0.0", true)).await;
    operated.change(&["approve", "acme.banner"]).await;
    assert_eq!(operated.banner().await, true);
    operated.install(&operated.component("acme.banner", "2.0.0", false)).await;
    assert_eq!(operated.banner().await, true, "it waits for approval");
    operated.change(&["approve", "acme.banner"]).await;
    assert_eq!(operated.shown("acme.banner").await["version"], "2.0.0");
    assert_eq!(operated.banner().await, false);
    operated.change(&["rollback", "acme.banner"]).await;
    assert_eq!(operated.shown("acme.banner").await["version"], "1.0.0");
    assert_eq!(operated.banner().await, true);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_plugin_saw_can_be_read_when_it_is_gone() {
    let operated = Operated::start().await;
    let client = &operated.world.owner.client;
    operated.install(&operated.component("acme.banner", "1.0.0", true)).await;
    operated.change(&["approve", "acme.banner"]).await;
    let site = json!({ "domain": "shop.example", "check_types": ["banner"] });
    let site = client.post("/sites", site).await.expect(200);
    let history = |check_type| {
        let id = site["site"]["id"].as_str().expect("an id");
        format!("/checks?site_id={id}&check_type={check_type}")
    };
    let seen = until("the first run", async || {
        let page = client.get(&history("banner")).await.expect(200);
        (page["total"] != 0).then_some(page)
    })
    .await;
    operated.change(&["remove", "acme.banner"]).await;
    let kept = client.get(&history("banner")).await.expect(200);
    let oldest = |page: &Value| page["checks"].as_array().and_then(|all| all.last().cloned());
    assert_eq!(oldest(&kept), oldest(&seen));
    let refused = client.get(&history("other")).await.expect(400);
    assert!(refused["message"].to_string().contains("check_type must be one of"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_asks_for_more_runs_has_them_at_once() {
    let operated = Operated::start().await;
    let client = &operated.world.owner.client;
    let asking = |version: &str, interval: &str| {
        let says = Says { id: "acme.banner", version, event: "banner.bad", ..Says::default() };
        let mut guest = Guest::check_saying(&says, "", &[]);
        guest.manifest = format!(
            "[plugin]\nid = \"acme.banner\"\nversion = \"{version}\"\nkind = \"check\"\n\
             check-type = \"banner\"\nwit = \"vedette:plugin@1\"\n\
             [schedule]\ninterval = \"{interval}\"\n"
        );
        operated.file(&format!("{version}.wasm"), &guest)
    };
    operated.install(&asking("1.0.0", "720h")).await;
    operated.change(&["approve", "acme.banner"]).await;
    let site = json!({ "domain": "shop.example", "check_types": ["banner"] });
    let site = client.post("/sites", site).await.expect(200);
    let id = site["site"]["id"].as_str().expect("an id").to_owned();
    let runs = async |at_least: u64| {
        let page = client.get(&format!("/checks?site_id={id}&check_type=banner")).await.expect(200);
        (page["total"].as_u64() >= Some(at_least)).then_some(())
    };
    until("the first run", async || runs(1).await).await;
    operated.install(&asking("2.0.0", "5s")).await;
    operated.change(&["approve", "acme.banner"]).await;
    until("the next", async || runs(2).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_version_that_is_kept_can_be_gone_back_to() {
    let operated = Operated::start().await;
    let first = operated.component("acme.banner", "1.0.0", true);
    let hash = operated.install(&first).await["sha256"].as_str().expect("a hash").to_owned();
    operated.change(&["approve", "acme.banner"]).await;
    for version in ["2.0.0", "3.0.0"] {
        operated.install(&operated.component("acme.banner", version, false)).await;
        operated.change(&["approve", "acme.banner"]).await;
    }
    let again = operated.run(&["install", path(&first)]).await;
    assert_eq!(again.code, Some(2), "{again:?}");
    let folder = format!("--folder {}", operated.folder().display());
    let how = format!("vedette plugin approve acme.banner --sha256 {} {folder}", &hash[..12]);
    assert!(again.json().to_string().contains(&how), "{again:?}");

    operated.change(&["approve", "acme.banner", "--sha256", &hash[..12]]).await;
    assert_eq!(operated.shown("acme.banner").await["version"], "1.0.0");
    assert_eq!(operated.banner().await, true);
    operated.change(&["rollback", "acme.banner"]).await;
    assert_eq!(operated.shown("acme.banner").await["version"], "3.0.0");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_does_not_load_leaves_the_one_before_also_at_the_next_start() {
    let operated = Operated::start().await;
    operated.install(&operated.component("acme.banner", "1.0.0", true)).await;
    operated.change(&["approve", "acme.banner"]).await;
    // What it says of itself is not what its manifest says.
    let mut wrong = Operated::guest("acme.banner", "2.0.0", false);
    wrong.manifest = wrong.manifest.replace("2.0.0", "3.0.0");
    operated.install(&operated.file("wrong.wasm", &wrong)).await;
    let approved = operated.run(&["approve", "acme.banner"]).await;
    assert_eq!(approved.code, Some(0), "{approved:?}");
    let operator = operated.world.service.operator();
    operator.send(Method::POST, "/admin/plugins/reload", None).await.expect(200);
    let before = operated.shown("acme.banner").await;
    let versions = (&before["state"], &before["version"], &before["running_version"]);
    assert_eq!(versions, (&json!("failed"), &json!("3.0.0"), &json!("1.0.0")), "{before}");
    assert_eq!(operated.banner().await, true);

    let Operated { world, home: _home } = operated;
    let mut service = world.service;
    service.stop().await.expect("it ends");
    let service = service.start_again().await.expect("it starts");
    assert_eq!(shown(&service, "acme.banner").await, before);
}
