//! `/settings/notifications`: fields, bounds, the plan's gates, the test call.

use serde_json::{Value, json};
use vedette_tests::Response;

use crate::world::{World, text};

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_read_changed_and_cleared() {
    let world = World::start().await;
    let client = &world.owner.client;
    let read = client.get("/settings/notifications").await.expect(200);
    assert_eq!(read["plan"], "pro");
    assert_eq!(read["settings"]["custom_webhook_url"], Value::Null);

    let url = world.lab.receiver.url("/hook?token=t");
    let body = json!({"custom_webhook_url": url, "alert_emails": ["A@Example.com", "a@example.com", "b@example.com"]});
    let changed =
        client.patch("/settings/notifications", body).await.expect(200)["settings"].clone();
    assert_eq!(changed["custom_webhook_url"], json!(url));
    assert_eq!(changed["alert_emails"], json!(["a@example.com", "b@example.com"]));
    assert_eq!(client.get("/settings/notifications").await.expect(200)["settings"], changed);

    let cleared = client
        .patch("/settings/notifications", json!({"custom_webhook_url": null}))
        .await
        .expect(200);
    assert_eq!(cleared["settings"]["custom_webhook_url"], Value::Null);
    assert_eq!(
        cleared["settings"]["alert_emails"], changed["alert_emails"],
        "what is absent stays"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_to_blocked_addresses_are_refused() {
    let world = World::start().await;
    let client = &world.owner.client;
    for url in [
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.1/",
        "https://192.168.1.1/hook",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://user@127.0.0.1/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http:/example.com",
        "example.com",
        "http://exa mple.com/",
        "",
        "http://127.0.0.1:25/",
    ] {
        let answer =
            client.patch("/settings/notifications", json!({"custom_webhook_url": url})).await;
        assert_eq!(answer.status, 400, "{url}: {}", answer.text);
        assert!(answer.text.contains("custom_webhook_url"), "{url}: {}", answer.text);
    }
    let read = client.get("/settings/notifications").await.expect(200);
    assert_eq!(read["settings"]["custom_webhook_url"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_on_localhost_is_reached_where_loopback_is_open() {
    let world = World::start().await;
    let url = world.lab.receiver.url("/hook").replace("127.0.0.1", "localhost");
    let body = json!({"custom_webhook_url": url});
    let changed = world.owner.client.patch("/settings/notifications", body).await.expect(200);
    assert_eq!(changed["settings"]["custom_webhook_url"], json!(url));
    assert!(url.contains("//localhost:"), "{url}");
    let sent = world.send_test().await;
    assert_eq!(sent["message"], "test notification sent to webhook", "{sent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_webhooks_are_the_vendors_or_an_opened_address() {
    let world = World::start().await;
    let client = &world.owner.client;
    let open = world.lab.receiver.url("/any");
    for (field, good, bad) in [
        (
            "slack_webhook_url",
            ["https://hooks.slack.com/services/T0/B0/x", open.as_str()],
            [
                "https://hooks.slack.com.evil.com/services/T0/B0/x",
                "https://hooks.slack.com:444/services/T0/B0/x",
                "http://hooks.slack.com/services/T0/B0/x",
                "https://hooks.slack.com/",
                "https://10.0.0.1/services/T0/B0/x",
            ],
        ),
        (
            "discord_webhook_url",
            ["https://discord.com/api/webhooks/1/x", open.as_str()],
            [
                "https://discord.com@evil/api/webhooks/1/x",
                "https://discord.com.evil.com/api/webhooks/1/x",
                "https://discord.com/channels/1",
                "https://hooks.slack.com/services/T0/B0/x",
                "https://169.254.169.254/api/webhooks/1/x",
            ],
        ),
        (
            "teams_webhook",
            ["https://acme.webhook.office.com/webhookb2/x", open.as_str()],
            [
                "https://webhook.office.com/webhookb2/x",
                "https://evil-webhook.office.com/x",
                "https://acme.webhook.office.com\\@evil.com/x",
                "https://acme.webhook.office.com./x",
                "https://8.8.8.8/x",
            ],
        ),
    ] {
        for url in bad {
            let answer = client.patch("/settings/notifications", json!({ (field): url })).await;
            assert_eq!(answer.status, 400, "{url}: {}", answer.text);
            assert!(answer.text.contains(field), "{url}: {}", answer.text);
        }
        for url in good {
            let body = json!({ (field): url });
            let set = client.patch("/settings/notifications", body).await.expect(200);
            assert_eq!(set["settings"][field], url);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bounds_and_types_are_kept() {
    let world = World::start().await;
    let client = &world.owner.client;
    let six: Vec<String> = (0..6).map(|number| format!("u{number}@example.com")).collect();
    for body in [
        json!({"email": "yes"}),
        json!({"email": null}),
        json!({"alert_emails": "a@example.com"}),
        json!({"alert_emails": ["not-an-address"]}),
        json!({"alert_emails": six}),
        json!({"status_page_title": "x".repeat(101)}),
        json!({"status_page_accent_color": "red"}),
        json!({"status_page_accent_color": "#12345"}),
        json!({"status_page_logo_url": format!("https://e.example/{}", "x".repeat(500))}),
        json!({"status_page_custom_css": "x".repeat(10_001)}),
        json!({"custom_webhook_url": 5}),
        json!([]),
    ] {
        let answer = client.patch("/settings/notifications", body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plan_gates_channels_and_styling() {
    let world = World::start().await;
    let url = world.lab.receiver.url("/hook");
    let free = world.account("free").await.client;
    let refused =
        free.patch("/settings/notifications", json!({"custom_webhook_url": url})).await.expect(403);
    assert!(text(&refused["message"]).contains("starter"), "{refused}");
    free.patch("/settings/notifications", json!({})).await.expect(200);
    let starter = world.account("starter").await.client;
    starter.patch("/settings/notifications", json!({"custom_webhook_url": url})).await.expect(200);
    let refused = starter
        .patch("/settings/notifications", json!({"status_page_hide_powered_by": true}))
        .await
        .expect(403);
    assert!(text(&refused["message"]).contains("pro"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_test_call_reaches_every_configured_channel() {
    let world = World::start().await;
    let none = world.send_test().await;
    assert_eq!(none["channels"], json!([]));
    world.hook().await;
    let sent = world.send_test().await;
    assert_eq!(sent["channels"], json!(["webhook"]));
    let hook = world.lab.receiver.wait_for(1).await.expect("it arrives").remove(0);
    let payload = hook.json().expect("JSON");
    assert_eq!(payload["source"], "vedette");
    assert_eq!(payload["alerts"][0]["type"], "ssl.expiring");
    assert_eq!(payload["alerts"][0]["severity"], "info");
    assert!(text(&payload["alerts"][0]["message"]).to_lowercase().contains("test"));

    world.lab.receiver.answer_always(Response::Status(500, Vec::new()));
    let failed = world.send_test().await;
    assert_eq!(failed["channels"], json!(["webhook"]));
    assert!(text(&failed["message"]).contains("webhook"), "{failed}");
}
