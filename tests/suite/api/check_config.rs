//! `check_config` of a site: judged by the check that it is for, and named where it does not fit.

use serde_json::json;

use crate::world::{World, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_does_not_fit_is_refused_by_its_place() {
    let world = World::start().await;
    let client = &world.owner.client;
    let cases = [
        (json!({"uptime": {"path": 7}}), "/path"),
        (json!({"uptime": {"path": "health"}}), "/path"),
        (json!({"uptime": {"keyword": ""}}), "/keyword"),
        (json!({"uptime": {"keyword": "\0"}}), "/uptime/keyword"),
        (json!({"uptime": {"keyword": "a\u{85}b"}}), "/uptime/keyword"),
        (json!({"uptime": {"degraded_ms": -1}}), "/degraded_ms"),
        (json!({"uptime": {"degraded_ms": "fast"}}), "/degraded_ms"),
        (json!({"uptime": {"expected_status": [42]}}), "/expected_status/0"),
        (json!({"uptime": {"expected_status": 1000}}), "/expected_status"),
        (json!({"uptime": {"expected_status": "ok"}}), "/expected_status"),
        (json!({"uptime": {"no-such": 1}}), ""),
        (json!({"no-such": {}}), ""),
        (json!({"uptime": 7}), ""),
        (json!([]), ""),
    ];
    for (config, place) in cases {
        let body = json!({"domain": "a.example", "check_config": config});
        let answer = client.post("/sites", body).await;
        assert_eq!(answer.status, 400, "{config}: {}", answer.text);
        let said = answer.json();
        let said = format!("{} {}", said["error"], said["message"]);
        assert!(said.contains("check_config"), "{config}: {said}");
        assert!(said.contains(place), "{config}: names no {place}: {said}");
    }
    assert_eq!(client.get("/sites").await.expect(200)["sites"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_could_be_of_several_kinds_is_refused_for_what_it_is() {
    let world = World::start().await;
    let config = json!({"uptime": {"expected_status": [200, 1000]}});
    let body = json!({"domain": "a.example", "check_config": config});
    let said = world.owner.client.post("/sites", body).await.expect(400);
    let said = text(&said["message"]);
    assert!(said.contains("/expected_status/1") && said.contains("maximum of 999"), "{said}");
    assert!(!said.contains("alternative") && !said.contains("of type"), "{said}");
}

/// Whoever brings it could name ten domains a second for which it does not fit.
#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_is_no_trouble_of_the_check_and_a_text_is_kept_as_it_is() {
    let world = World::start().await;
    let client = &world.owner.client;
    for nth in 0..12 {
        let config = json!({"uptime": {"keyword": "\u{7f}\r"}});
        let body = json!({"domain": format!("s{nth}.evil{nth}.example"), "check_config": config});
        let said = client.post("/sites", body).await.expect(400);
        assert!(text(&said["message"]).contains("control characters"), "{said}");
    }
    let config = json!({"uptime": {"keyword": "one\r\ntwo\t"}});
    world.quiet_with("a.example", json!({"check_config": config})).await;
    let shown = client.get("/sites").await.expect(200)["sites"][0]["check_config"].clone();
    assert_eq!(shown["uptime"]["keyword"], "one\r\ntwo\t");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_fits_is_kept_changed_and_cleared() {
    let world = World::start().await;
    let client = &world.owner.client;
    let config = json!({"uptime": {"path": "/health", "keyword": "ok", "expected_status": [200]}});
    let id = world.quiet_with("a.example", json!({"check_config": config})).await;
    let path = format!("/sites?id={id}");
    let shown = client.get("/sites").await.expect(200)["sites"][0]["check_config"].clone();
    assert_eq!(shown["uptime"]["path"], "/health", "{shown}");
    assert_eq!(text(&shown["uptime"]["keyword"]), "ok");

    let bad = json!({"check_config": {"uptime": {"path": "x"}}});
    client.patch(&path, bad).await.expect(400);
    let same = client.patch(&path, json!({})).await.expect(200)["site"].clone();
    assert_eq!(same["check_config"], shown, "a refused change changes nothing");

    let cleared = client.patch(&path, json!({"check_config": null})).await.expect(200);
    assert_eq!(cleared["site"]["check_config"], json!({}));
}
