//! Every endpoint that writes, but `/sites`: each field at its bounds and one beyond.

use reqwest::Method;
use serde_json::{Value, json};
use vedette_tests::Reply;

use crate::{
    refusal::refused,
    tenant::{DOMAIN, Tenant, result},
    world::{World, text},
};

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_taken_up_to_their_bounds() {
    let world = World::start().await;
    let client = &world.owner.client;
    let five =
        ["A@Example.com", "b@example.com", "c@example.com", "d@example.com", "e@example.com"];
    let with_twins = [&five[..], &["a@example.COM", "B@example.com"]].concat();
    let kept =
        ["a@example.com", "b@example.com", "c@example.com", "d@example.com", "e@example.com"];
    for (field, value, shown) in [
        ("alert_emails", json!([]), json!([])),
        ("alert_emails", json!(five), json!(kept)),
        ("alert_emails", json!(with_twins), json!(kept)),
        ("status_page_title", json!(""), json!("")),
        ("status_page_title", json!("\u{fc}".repeat(100)), json!("\u{fc}".repeat(100))),
        ("status_page_logo_url", json!(url_of(500)), json!(url_of(500))),
        ("status_page_logo_url", Value::Null, Value::Null),
        ("status_page_favicon_url", json!(url_of(500)), json!(url_of(500))),
        ("status_page_favicon_url", Value::Null, Value::Null),
        ("status_page_custom_css", json!("\u{fc}".repeat(10_000)), json!("\u{fc}".repeat(10_000))),
        ("status_page_custom_css", Value::Null, Value::Null),
        ("status_page_accent_color", json!("#fff"), json!("#fff")),
        ("status_page_accent_color", json!("#09AFaf"), json!("#09AFaf")),
        ("status_page_custom_domain", json!("Status.Acme.example."), json!("status.acme.example")),
        ("status_page_custom_domain", Value::Null, Value::Null),
        ("status_page_hide_powered_by", json!(true), json!(true)),
        ("email", json!(false), json!(false)),
        ("custom_webhook_url", Value::Null, Value::Null),
        ("slack_webhook_url", Value::Null, Value::Null),
        ("discord_webhook_url", Value::Null, Value::Null),
        ("teams_webhook", Value::Null, Value::Null),
    ] {
        let answer = client.patch(SETTINGS, json!({ (field): value })).await;
        assert_eq!(answer.status, 200, "{field}: {}", answer.text);
        assert_eq!(answer.json()["settings"][field], shown, "{field}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_one_beyond_and_of_other_types_are_refused_by_name() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let before = tenant.state().await;
    let addresses: Vec<String> = (0..6).map(|number| format!("u{number}@example.com")).collect();
    let cases = [
        ("email", vec![Value::Null, json!("true"), json!(1)]),
        ("alert_emails", vec![Value::Null, json!("a@example.com"), json!(addresses)]),
        ("alert_emails", vec![json!([7]), json!([null]), json!([""]), json!(["a@b@example.com"])]),
        ("alert_emails", vec![json!(["a@example.com\r\nBcc: b@example.com"]), json!({})]),
        ("slack_webhook_url", vec![json!(""), json!(7), json!("ftp://hooks.slack.com/x")]),
        ("discord_webhook_url", vec![json!("discord.com/api/webhooks/x"), json!([])]),
        ("teams_webhook", vec![json!("https://"), json!({}), json!("https:///x")]),
        ("custom_webhook_url", vec![json!(""), json!("http://10.0.0.1/"), json!(url_of(2_049))]),
        ("webhook_secret", vec![json!(""), json!("whsec_short"), json!(7)]),
        ("status_page_enabled", vec![Value::Null, json!("yes"), json!(0)]),
        ("status_page_title", vec![Value::Null, json!("\u{fc}".repeat(101)), json!("a\nb")]),
        ("status_page_logo_url", vec![json!(url_of(501)), json!("logo.png"), json!(7)]),
        ("status_page_logo_url", vec![json!("javascript:alert(1)"), json!("https://a b/")]),
        ("status_page_favicon_url", vec![json!(url_of(501)), json!("data:,x"), json!("")]),
        (
            "status_page_accent_color",
            vec![Value::Null, json!("fff"), json!("#ffff"), json!("#ggg")],
        ),
        ("status_page_accent_color", vec![json!("#1234567"), json!("red"), json!(16_777_215)]),
        ("status_page_custom_domain", vec![json!("https://a.example"), json!("a"), json!("")]),
        ("status_page_hide_powered_by", vec![Value::Null, json!("no")]),
        ("status_page_custom_css", vec![json!("\u{fc}".repeat(10_001)), json!(["a{}"])]),
    ];
    for (field, values) in cases {
        for value in values {
            // A good field beside it is not taken either.
            let other = if field == "email" { "status_page_enabled" } else { "email" };
            let body = json!({ (other): true, (field): value });
            let answer = tenant.client().patch(SETTINGS, body).await;
            let what = format!("{field} {value}");
            assert!(refused(&answer, 400, &what).contains(field), "{what}: {}", answer.text);
        }
    }
    assert_eq!(tenant.state().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_expiries_of_keys_have_bounds() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let client = tenant.client();
    let spare = tenant.fill("/api-keys?id={key}");
    for (written, kept) in [
        ("2099-01-01T00:00:00Z", "2099-01-01T00:00:00Z"),
        ("2099-01-01T01:30:00+02:00", "2098-12-31T23:30:00Z"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
    ] {
        let key = client.patch(&spare, json!({ "expiresAt": written })).await.expect(200);
        assert_eq!(key["expires_at"], kept, "{written}");
    }
    let cleared = client.patch(&spare, json!({ "expiresAt": null })).await.expect(200);
    assert_eq!((&cleared["expires_at"], &cleared["name"]), (&Value::Null, &json!("spare")));
    let longest = "\u{fc}".repeat(100);
    for (written, kept) in [("x", "x"), ("  ci  ", "ci"), (longest.as_str(), longest.as_str())] {
        let made = client.post("/api-keys", json!({ "name": written, "expiresAt": null })).await;
        let made = made.expect(200);
        assert_eq!(made["name"], json!(kept));
        client.delete(&format!("/api-keys?id={}", text(&made["id"]))).await.expect(200);
    }

    let before = tenant.state().await;
    for name in [
        Value::Null,
        json!(""),
        json!(" \u{a0}"),
        json!("x".repeat(101)),
        json!("a\nb"),
        json!("\u{0}"),
        json!(7),
        json!(["ci"]),
    ] {
        let answer = client.post("/api-keys", json!({ "name": name })).await;
        let message = refused(&answer, 400, &name.to_string());
        assert!(message.contains("name"), "{name}: {message}");
    }
    let past = chrono::Utc::now().to_rfc3339();
    for at in [
        json!(past),
        json!("2001-01-01T00:00:00Z"),
        json!("0000-01-01T00:00:00Z"),
        json!("-0001-01-01T00:00:00Z"),
        json!("+10000-01-01T00:00:00Z"),
        json!("9999-12-31T23:59:59-12:00"),
        json!("2099-13-01T00:00:00Z"),
        json!("2099-02-30T00:00:00Z"),
        json!("2099-01-01T24:00:01Z"),
        json!("2099-01-01T00:00:00+25:00"),
        json!("tomorrow"),
        json!(""),
        json!("4070908800"),
        json!(4_070_908_800_u64),
        json!(true),
        json!([]),
        json!({}),
    ] {
        let set = client.patch(&spare, json!({ "expiresAt": at })).await;
        let made = client.post("/api-keys", json!({ "name": "late", "expiresAt": at })).await;
        for answer in [set, made] {
            let message = refused(&answer, 400, &at.to_string());
            assert!(message.contains("expiresAt"), "{at}: {message}");
        }
    }
    refused(&client.patch(&spare, json!({})).await, 400, "no expiresAt");
    for id in [Value::Null, json!(""), json!(7), json!("17"), json!([tenant.key]), json!({})] {
        let answer = client.post("/api-keys/roll", json!({ "id": id })).await;
        assert!(refused(&answer, 400, &id.to_string()).contains("id"), "{}", answer.text);
    }
    assert_eq!(tenant.state().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_alerts_and_checks_of_other_types_are_refused_by_name() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let before = tenant.state().await;
    let brought = json!({"site_id": tenant.site, "check_type": "ssl", "result": result(5)});
    let alert = tenant.fill("/alerts?id={alert}");
    let asked = json!({"domain": DOMAIN});
    let ids = [Value::Null, json!(""), json!(7), json!("17"), json!([]), json!(true)];
    let types = [Value::Null, json!(""), json!("SSL"), json!("tls"), json!("../ssl"), json!(7)];
    let results = [Value::Null, json!([]), json!("{}"), json!(7), json!({}), json!({"valid": 1})];
    let flags = [Value::Null, json!("true"), json!(1), json!([]), json!({})];
    let ports = [Value::Null, json!(0), json!(65_536), json!(-1), json!("443"), json!(443.5)];
    let addresses = [json!(""), json!("localhost"), json!("10.0.0.1"), json!("::1%lo"), json!(7)];
    for (method, path, body, field, values) in [
        (Method::POST, "/checks", &brought, "site_id", &ids[..]),
        (Method::POST, "/checks", &brought, "check_type", &types[..]),
        (Method::POST, "/checks", &brought, "result", &results[..]),
        (Method::PATCH, alert.as_str(), &json!({}), "is_resolved", &flags[..]),
        (Method::POST, "/check-ssl", &asked, "site_id", &ids[1..]),
        (Method::POST, "/check-dns", &asked, "site_id", &ids[1..]),
        (Method::POST, "/check-ssl", &asked, "port", &ports[1..]),
        (Method::POST, "/check-uptime", &asked, "port", &ports[1..]),
        (Method::POST, "/check-ssl", &asked, "origin_ip", &addresses[..]),
    ] {
        for value in values {
            let mut body = body.clone();
            body[field] = value.clone();
            let answer = tenant.client().send(method.clone(), path, Some(body)).await;
            let what = format!("{method} {path} {field} {value}");
            assert!(refused(&answer, 400, &what).contains(field), "{what}: {}", answer.text);
        }
    }
    assert_eq!(tenant.state().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_goes_to_the_first_and_to_the_last_port() {
    let world = World::start().await;
    world.lab.dns.answer("edge.example", Reply::address("127.0.0.1".parse().expect("valid")));
    for port in [1, 65_535] {
        let body = json!({"domain": "edge.example", "port": port});
        let result = world.owner.client.post("/check-ssl", body).await.expect(200);
        assert_eq!(result["valid"], false, "{result}");
        assert!(result["error"].is_string(), "nobody listens on {port}: {result}");
    }
}

/// A URL of so many characters.
fn url_of(length: usize) -> String {
    let start = "https://images.example/";
    format!("{start}{}", "x".repeat(length - start.len()))
}

const SETTINGS: &str = "/settings/notifications";
