use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::edition::{STANDARD, TEAM};

const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

fn patched(body: &Value, plan: &Plan) -> Result<NotificationSettings, PatchError> {
    let mut settings = NotificationSettings::default();
    settings.patch(body, plan).map(|()| settings)
}

fn pro() -> &'static Plan {
    STANDARD.highest_plan()
}

#[test]
fn settings_begin_silent() {
    assert_eq!(
        serde_json::to_value(NotificationSettings::default().view()).unwrap(),
        json!({
            "email": false, "alert_emails": [], "slack_webhook_url": null,
            "discord_webhook_url": null, "teams_webhook": null, "custom_webhook_url": null,
            "webhook_secret_set": false, "status_page_enabled": false, "status_page_title": "",
            "status_page_logo_url": null, "status_page_accent_color": "#2f6feb",
            "status_page_favicon_url": null, "status_page_custom_domain": null,
            "status_page_hide_powered_by": false, "status_page_custom_css": null,
            "status_page_slug": null,
        })
    );
    assert!(NotificationSettings::default().channels().is_empty());
}

#[test]
fn every_documented_field_is_set_and_shown() {
    let body = json!({
        "email": true, "alert_emails": ["ops@example.com"],
        "slack_webhook_url": "https://hooks.example/a",
        "discord_webhook_url": "https://hooks.example/b",
        "teams_webhook": "https://hooks.example/c",
        "custom_webhook_url": "http://hooks.example/d?token=t",
        "status_page_enabled": true, "status_page_title": "Example status",
        "status_page_logo_url": "https://example.com/logo.svg", "status_page_accent_color": "#A1b",
        "status_page_favicon_url": "https://example.com/favicon.ico",
        "status_page_custom_domain": "status.example.com", "status_page_hide_powered_by": true,
        "status_page_custom_css": "body { color: #222 }\n",
    });
    let settings = patched(&body, pro()).unwrap();
    let mut shown = serde_json::to_value(settings.view()).unwrap();
    assert_eq!(shown.as_object_mut().unwrap().remove("webhook_secret_set"), Some(json!(false)));
    assert_eq!(shown.as_object_mut().unwrap().remove("status_page_slug"), Some(json!(null)));
    assert_eq!(shown, body);
    assert_eq!(settings.channels(), ["email", "slack", "discord", "teams", "webhook"]);
    assert_eq!(settings.referenced("custom_webhook_url"), Some("http://hooks.example/d?token=t"));
    assert_eq!(settings.referenced("status_page_title"), None);
    assert_eq!(settings.referenced("webhook_secret"), None);
}

#[test]
fn what_is_out_of_bounds_names_its_field() {
    for (field, values) in [
        ("email", vec![json!(null), json!("yes"), json!(1)]),
        (
            "alert_emails",
            vec![
                json!(null),
                json!("ops@example.com"),
                json!(["ops"]),
                json!([1]),
                json!([
                    "a@x.example",
                    "b@x.example",
                    "c@x.example",
                    "d@x.example",
                    "e@x.example",
                    "f@x.example"
                ]),
            ],
        ),
        (
            "slack_webhook_url",
            vec![json!(1), json!(""), json!("hooks.example/a"), json!("ftp://a.example")],
        ),
        ("discord_webhook_url", vec![json!("https:///a"), json!("https://")]),
        ("teams_webhook", vec![json!("javascript:alert(1)"), json!("https://a.example/\r\nx")]),
        (
            "custom_webhook_url",
            vec![
                json!("https://a.example/ b"),
                json!(format!("https://a.example/{}", "a".repeat(2048))),
                json!("éé"),
                json!("file:///etc/passwd"),
            ],
        ),
        ("webhook_secret", vec![json!(""), json!("whsec_"), json!("whsec_AAAA"), json!(7)]),
        ("status_page_enabled", vec![json!(null), json!("true")]),
        ("status_page_title", vec![json!(null), json!("t".repeat(101)), json!("a\r\nBcc: b")]),
        (
            "status_page_logo_url",
            vec![
                json!("data:image/png;base64,AA"),
                json!("javascript:alert(1)"),
                json!("JavaScript://a.example/%0aalert(1)"),
                json!("https://user:pass@a.example/l"),
                json!("https://a.example\\@b.example/l"),
                json!("https://a b.example/l"),
                json!("https://a.example:99999/l"),
                json!("https://[::g]/l"),
                json!("https:a.example/l"),
                json!("//a.example/l"),
                json!(format!("https://a.example/{}", "a".repeat(483))),
            ],
        ),
        (
            "status_page_accent_color",
            vec![
                json!(null),
                json!("red"),
                json!("#12"),
                json!("#1234"),
                json!("#12345g"),
                json!("123456"),
                json!("#"),
            ],
        ),
        ("status_page_favicon_url", vec![json!("/favicon.ico"), json!("data:,x"), json!("")]),
        (
            "status_page_custom_domain",
            vec![json!("https://status.example.com"), json!("localhost"), json!("192.0.2.1")],
        ),
        ("status_page_hide_powered_by", vec![json!(null), json!(0)]),
        ("status_page_custom_css", vec![json!("a".repeat(10_001)), json!({})]),
    ] {
        for value in values {
            match patched(&json!({ field: value }), pro()) {
                Err(PatchError::Invalid(invalid)) => assert_eq!(invalid.field, field, "{value}"),
                other => panic!("{field} {value}: {other:?}"),
            }
        }
    }
    assert!(patched(&json!([]), pro()).is_err());
}

#[test]
fn bounds_are_counted_in_characters_and_inclusive() {
    for body in [
        json!({"status_page_title": "é".repeat(100)}),
        json!({"status_page_custom_css": "é".repeat(10_000)}),
        json!({"status_page_logo_url": format!("https://a.example/{}", "a".repeat(482))}),
        json!({"custom_webhook_url": format!("https://a.example/{}", "a".repeat(2030))}),
        json!({"custom_webhook_url": "HTTP://192.0.2.1:8080/x"}),
    ] {
        assert!(patched(&body, pro()).is_ok(), "{body}");
    }
}

#[test]
fn addresses_are_lower_cased_and_counted_without_doubles() {
    let body = json!({"alert_emails": [
        "A@x.example", "a@X.example", "b@x.example", "c@x.example", "d@x.example", "e@x.example",
    ]});
    let settings = patched(&body, pro()).unwrap();
    assert_eq!(
        settings.alert_emails,
        ["a@x.example", "b@x.example", "c@x.example", "d@x.example", "e@x.example"]
    );
}

#[test]
fn gates_follow_the_editions_tables() {
    let fields = [
        ("email", json!(true)),
        ("alert_emails", json!(["a@x.example"])),
        ("slack_webhook_url", json!("https://hooks.example/a")),
        ("discord_webhook_url", json!("https://hooks.example/a")),
        ("teams_webhook", json!("https://hooks.example/a")),
        ("custom_webhook_url", json!("https://hooks.example/a")),
        ("webhook_secret", json!(SECRET)),
        ("status_page_enabled", json!(true)),
        ("status_page_title", json!("Status")),
        ("status_page_logo_url", json!("https://example.com/l")),
        ("status_page_accent_color", json!("#123")),
        ("status_page_favicon_url", json!("https://example.com/f")),
        ("status_page_custom_domain", json!("status.example.com")),
        ("status_page_hide_powered_by", json!(true)),
        ("status_page_custom_css", json!("a{}")),
    ];
    let open = ["status_page_enabled", "status_page_title"].as_slice();
    let email = ["email", "alert_emails"].as_slice();
    let channels = [
        "slack_webhook_url",
        "discord_webhook_url",
        "teams_webhook",
        "custom_webhook_url",
        "webhook_secret",
    ]
    .as_slice();
    for (edition, plan, allowed) in [
        (&STANDARD, "free", vec![open]),
        (&STANDARD, "starter", vec![open, email, channels]),
        (&TEAM, "free", vec![open]),
        (&TEAM, "pro", vec![open, email]),
    ] {
        for (field, value) in &fields {
            let answer = patched(&json!({ *field: value }), edition.plan(plan).unwrap());
            let expected = allowed.iter().any(|fields| fields.contains(field));
            assert_eq!(answer.is_ok(), expected, "{field} on {} {plan}", edition.id);
            assert!(matches!(answer, Ok(_) | Err(PatchError::Forbidden(_))));
        }
    }
    for edition in [&STANDARD, &TEAM] {
        for (field, value) in &fields {
            assert!(patched(&json!({ *field: value }), edition.highest_plan()).is_ok(), "{field}");
        }
    }
}

#[test]
fn a_downgraded_account_keeps_its_channels_unused_and_may_switch_them_off() {
    let free = STANDARD.lowest_plan();
    let on = json!({"email": true, "custom_webhook_url": "https://a.example/"});
    let mut settings = patched(&on, pro()).unwrap();
    assert_eq!(settings.active_channels(pro()), ["email", "webhook"]);
    assert!(settings.active_channels(free).is_empty());
    assert_eq!(settings.channels(), ["email", "webhook"]);
    let before = settings.clone();
    let mut back = serde_json::to_value(settings.view()).unwrap();
    back["status_page_title"] = json!("Acme");
    settings.patch(&back, free).expect("what is not changed needs no plan");
    assert_eq!(settings, NotificationSettings { status_page_title: "Acme".into(), ..before });
    for (body, feature) in [
        (json!({"email": true, "alert_emails": ["a@x.example"]}), Feature::Email),
        (json!({"custom_webhook_url": "https://b.example/"}), Feature::CustomWebhook),
    ] {
        assert_eq!(settings.patch(&body, free), Err(PatchError::Forbidden(feature)), "{body}");
    }
    settings.status_page_title.clear();
    settings
        .patch(&json!({"email": false, "custom_webhook_url": null, "alert_emails": []}), free)
        .unwrap();
    assert_eq!(settings, NotificationSettings::default());
}

#[test]
fn what_a_channel_needs_is_in_the_plans_that_have_it() {
    for (edition, plan, expected) in [
        (&STANDARD, "free", [false, false, false, false]),
        (&STANDARD, "starter", [true, true, true, true]),
        (&TEAM, "free", [false, false, false, false]),
        (&TEAM, "pro", [true, false, false, false]),
        (&TEAM, "team", [true, true, true, true]),
    ] {
        let plan = edition.plan(plan).unwrap();
        let has = ["email", "slack", "webhook", "pager"].map(|one| plan.includes(needed_by(one)));
        assert_eq!(has, expected, "{} {}", edition.id, plan.id);
    }
}

#[test]
fn a_refused_patch_changes_nothing() {
    let mut settings = patched(&json!({"email": true}), pro()).unwrap();
    let before = settings.clone();
    let starter = STANDARD.plan("starter").unwrap();
    for body in [
        json!({"email": false, "status_page_accent_color": "blue"}),
        json!({"email": false, "status_page_custom_css": "a{}"}),
    ] {
        assert!(settings.patch(&body, starter).is_err());
        assert_eq!(settings, before);
    }
    settings.patch(&json!({}), starter).unwrap();
    settings.patch(&json!({"plan": "pro", "status_page_slug": "x"}), starter).unwrap();
    assert_eq!(settings, before);
}

#[test]
fn a_signing_secret_is_kept_and_never_shown() {
    let settings = patched(&json!({"webhook_secret": SECRET}), pro()).unwrap();
    let shown = serde_json::to_string(&settings.view()).unwrap();
    assert!(shown.contains(r#""webhook_secret_set":true"#) && !shown.contains("whsec_"));
    assert!(!format!("{settings:?}").contains("whsec_"));
    let expected: Vec<u8> = (0..24).collect();
    assert_eq!(settings.signing_key().unwrap().expose(), &expected);
    assert!(NotificationSettings::default().signing_key().is_none());
}

#[test]
fn logs_print_no_webhook_urls() {
    let body = json!({"custom_webhook_url": "https://a.example/?token=hunter2"});
    assert!(!format!("{:?}", patched(&body, pro()).unwrap()).contains("hunter2"));
}

#[test]
fn rows_are_read_back_and_older_rows_have_defaults() {
    let body = json!({"email": true, "webhook_secret": SECRET, "status_page_title": "T"});
    let settings = patched(&body, pro()).unwrap();
    let row = crate::secret::revealed(|| serde_json::to_value(&settings)).unwrap();
    assert_eq!(serde_json::from_value::<NotificationSettings>(row).unwrap(), settings);
    let older = serde_json::from_value::<NotificationSettings>(json!({"email": true})).unwrap();
    assert_eq!(older, NotificationSettings { email: true, ..Default::default() });
}

proptest! {
    #[test]
    fn what_is_shown_can_be_sent_back(
        email: bool,
        title in "[a-zA-Z é]{0,100}",
        colour in "#[0-9a-fA-F]{6}",
        css in prop::option::of("\\PC{0,50}"),
    ) {
        let body = json!({
            "email": email, "status_page_title": title, "status_page_accent_color": colour,
            "status_page_custom_css": css,
        });
        let mut settings = patched(&body, pro()).unwrap();
        let before = settings.clone();
        let shown = serde_json::to_value(settings.view()).unwrap();
        prop_assert_eq!(settings.patch(&shown, pro()), Ok(()));
        prop_assert_eq!(settings, before);
    }
}
