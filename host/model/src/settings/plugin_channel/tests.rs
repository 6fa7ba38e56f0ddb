use serde_json::json;

use super::*;
use crate::edition::{STANDARD, TEAM};

/// A pager with a URL and a token, and a board that the host sends mail for.
fn installed() -> Vec<ChannelFields> {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    vec![
        ChannelFields { channel: "board".to_owned(), secret: Vec::new(), url: None },
        ChannelFields {
            channel: "pager".to_owned(),
            secret: texts(&["url", "token"]),
            url: Some("url".to_owned()),
        },
    ]
}

fn parsed(channels: &Value) -> Result<ChannelPatch, Invalid> {
    ChannelPatch::parse(&json!({ "plugin_channels": channels }), &installed())
}

fn patched(settings: &mut NotificationSettings, channels: &Value) -> Result<(), PatchError> {
    patched_on(settings, channels, STANDARD.highest_plan())
}

fn patched_on(
    settings: &mut NotificationSettings,
    channels: &Value,
    plan: &Plan,
) -> Result<(), PatchError> {
    settings.patch_channels(&parsed(channels)?, plan)
}

fn set(channels: &Value) -> NotificationSettings {
    let mut settings = NotificationSettings::default();
    patched(&mut settings, channels).unwrap();
    settings
}

fn pager() -> Value {
    json!({ "url": "https://pager.example/x?key=1", "token": "hunter2", "room": "ops" })
}

fn shown(settings: &NotificationSettings) -> Value {
    Value::Object(settings.shown_channels(&installed()))
}

#[test]
fn what_is_set_is_shown_but_for_its_secrets() {
    let settings = set(&json!({ "pager": pager(), "board": {} }));
    let expected = json!({
        "board": {},
        "pager": { "url": "https://pager.example/x?key=1", "token": true, "room": "ops" },
    });
    assert_eq!(shown(&settings), expected);
    assert_eq!(settings.config_of("pager"), Some(pager()));
    assert!(!format!("{settings:?}").contains("pager.example"));
    assert!(serde_json::to_value(&settings).is_err(), "only where it is sealed");
    assert_eq!(shown(&NotificationSettings::default()), json!({}));
}

#[test]
fn a_patch_changes_the_channels_that_it_names() {
    let both = json!({ "pager": pager(), "board": { "wall": 2 } });
    let short = json!({ "url": "https://pager.example/y" });
    for (what, patch, left) in [
        ("nothing", json!({}), both.clone()),
        ("one", json!({ "pager": short }), json!({ "pager": short, "board": { "wall": 2 } })),
        ("one out", json!({ "pager": null }), json!({ "board": { "wall": 2 } })),
        ("one out that was never in", json!({ "fax": null }), both.clone()),
        ("one out, one in", json!({ "pager": null, "board": {} }), json!({ "board": {} })),
        ("all out", json!(null), json!({})),
    ] {
        let mut settings = set(&both);
        patched(&mut settings, &patch).unwrap();
        assert_eq!(settings, set(&left), "{what}");
    }
    let mut settings = set(&both);
    let absent = ChannelPatch::parse(&json!({ "email": true }), &installed()).unwrap();
    settings.patch_channels(&absent, STANDARD.highest_plan()).unwrap();
    assert_eq!(settings, set(&both), "what is absent stays");
}

#[test]
fn a_secret_that_is_not_shown_is_kept_by_what_stands_for_it() {
    let mut settings = set(&json!({ "pager": pager() }));
    let mut sent_back = shown(&settings);
    patched(&mut settings, &sent_back).unwrap();
    assert_eq!(settings.config_of("pager"), Some(pager()));

    sent_back["pager"]["room"] = json!("night");
    patched(&mut settings, &sent_back).unwrap();
    let changed = settings.config_of("pager").unwrap();
    assert_eq!((&changed["token"], &changed["room"]), (&json!("hunter2"), &json!("night")));

    let without = json!({ "pager": { "url": "https://pager.example/x" } });
    patched(&mut settings, &without).unwrap();
    let refused = patched(&mut settings, &sent_back).unwrap_err().to_string();
    assert!(refused.starts_with("plugin_channels.pager.token must be a string"), "{refused}");
    assert_eq!(settings, set(&without), "nothing changed");
}

#[test]
fn what_is_out_of_bounds_names_its_place() {
    let url = "https://pager.example/x";
    let with = |field: &str, value: Value| {
        let mut set = json!({ "url": url });
        set[field] = value;
        json!({ "pager": set })
    };
    let many: Map<String, Value> = (0..32)
        .map(|nth| (format!("f{nth}"), json!(nth)))
        .chain([("url".into(), url.into())])
        .collect();
    for (channels, place) in [
        (json!([]), "plugin_channels"),
        (json!("pager"), "plugin_channels"),
        (json!({ "pager": "x" }), "plugin_channels.pager"),
        (json!({ "pager": [] }), "plugin_channels.pager"),
        (json!({ "pager": many }), "plugin_channels.pager"),
        (with(&"f".repeat(65), json!(1)), "plugin_channels.pager"),
        (json!({ "pager": {} }), "plugin_channels.pager.url"),
        (with("url", json!(null)), "plugin_channels.pager.url"),
        (with("url", json!(true)), "plugin_channels.pager.url"),
        (with("url", json!("pager.example")), "plugin_channels.pager.url"),
        (with("url", json!(format!("{url}{}", "x".repeat(2048)))), "plugin_channels.pager.url"),
        (with("token", json!(null)), "plugin_channels.pager.token"),
        (with("token", json!(false)), "plugin_channels.pager.token"),
        (with("token", json!(1)), "plugin_channels.pager.token"),
        (with("room", json!("x".repeat(2049))), "plugin_channels.pager.room"),
        (with("room", json!([{ "a": "x".repeat(2049) }])), "plugin_channels.pager.room"),
    ] {
        assert_eq!(parsed(&channels).unwrap_err().field, place, "{channels}");
    }
    for channels in [
        with("room", json!("é".repeat(2048))),
        with("rooms", json!(["a", 1, null, { "b": true }])),
        with("token", json!("é".repeat(2048))),
        with("url", json!(format!("https://pager.example/{}", "x".repeat(2026)))),
    ] {
        assert!(parsed(&channels).is_ok(), "{channels}");
    }
    assert!(ChannelPatch::parse(&json!([]), &[]).is_err());
}

#[test]
fn only_channels_that_are_there_are_set() {
    for (name, said) in [
        (
            "fax",
            "plugin_channels.fax names no channel of an installed plugin; installed are board, pager",
        ),
        ("slack", "plugin_channels.slack names no channel"),
        ("A fax\n", "plugin_channels names no channel"),
    ] {
        let refused = parsed(&json!({ (name): {} })).unwrap_err().to_string();
        assert!(refused.starts_with(said), "{refused}");
    }
    let nobody = ChannelPatch::parse(&json!({ "plugin_channels": { "fax": {} } }), &[]);
    assert!(nobody.unwrap_err().to_string().ends_with("none is installed"));
}

#[test]
fn an_account_has_sixteen_at_most() {
    let installed: Vec<ChannelFields> = (0..17)
        .map(|nth| ChannelFields { channel: format!("c{nth}"), secret: Vec::new(), url: None })
        .collect();
    let first = |count: usize| -> Value {
        let named = installed.iter().take(count).map(|fields| (fields.channel.clone(), json!({})));
        json!({ "plugin_channels": named.collect::<Map<_, _>>() })
    };
    let mut settings = NotificationSettings::default();
    let plan = STANDARD.highest_plan();
    let sixteen = ChannelPatch::parse(&first(16), &installed).unwrap();
    settings.patch_channels(&sixteen, plan).unwrap();
    let before = settings.clone();
    let more = json!({ "plugin_channels": { "c16": {} } });
    for body in [more, first(17)] {
        let patch = ChannelPatch::parse(&body, &installed).unwrap();
        let refused = settings.patch_channels(&patch, plan).unwrap_err().to_string();
        assert_eq!(refused, "plugin_channels must hold at most 16 channels");
        assert_eq!(settings, before);
    }
    let swap = json!({ "plugin_channels": { "c16": {}, "c0": null } });
    let swap = ChannelPatch::parse(&swap, &installed).unwrap();
    settings.patch_channels(&swap, plan).unwrap();
    assert_eq!(settings.channels().len(), 16);
}

#[test]
fn they_are_in_the_plans_of_the_custom_webhook() {
    let on = json!({ "pager": pager() });
    for (edition, plan, included) in [
        (&STANDARD, "free", false),
        (&STANDARD, "starter", true),
        (&STANDARD, "pro", true),
        (&TEAM, "free", false),
        (&TEAM, "pro", false),
        (&TEAM, "team", true),
    ] {
        let plan = edition.plan(plan).unwrap();
        let mut settings = NotificationSettings::default();
        let answer = patched_on(&mut settings, &on, plan);
        let expected =
            if included { Ok(()) } else { Err(PatchError::Forbidden(Feature::CustomWebhook)) };
        assert_eq!(answer, expected, "{} {}", edition.id, plan.id);

        let mut settings = set(&json!({ "pager": pager(), "board": {} }));
        assert_eq!(settings.active_channels(plan).is_empty(), !included);
        assert_eq!(settings.channels(), ["board", "pager"], "kept, whatever the plan");
        let kept = json!({ "pager": pager(), "board": {} });
        assert_eq!(patched_on(&mut settings, &kept, plan), Ok(()), "and may be sent back");
        patched_on(&mut settings, &json!({ "pager": null }), plan).unwrap();
        assert_eq!(settings.channels(), ["board"]);
    }
}

#[test]
fn they_are_told_after_the_documented_ones() {
    let mut settings = set(&json!({ "pager": pager() }));
    let plan = STANDARD.highest_plan();
    settings
        .patch(&json!({ "email": true, "slack_webhook_url": "https://a.example/b" }), plan)
        .unwrap();
    assert_eq!(settings.active_channels(plan), ["email", "slack", "pager"]);
    assert_eq!(settings.channels(), ["email", "slack", "pager"]);
}

#[test]
fn no_reference_leads_out_of_a_channels_own_settings() {
    let mut settings = set(&json!({
        "pager": { "url": "https://pager.example/x", "custom_webhook_url": "https://own.example/" },
        "board": { "wall": "left", "level": 2 },
    }));
    let hooks = json!({
        "custom_webhook_url": "https://hooks.example/x", "slack_webhook_url": "https://a.example/b",
    });
    settings.patch(&hooks, STANDARD.highest_plan()).unwrap();
    for (channel, field, value) in [
        ("pager", "url", Some("https://pager.example/x")),
        ("pager", "custom_webhook_url", Some("https://own.example/")),
        ("pager", "slack_webhook_url", None),
        ("pager", "wall", None),
        ("board", "wall", Some("left")),
        ("board", "level", None),
        ("board", "url", None),
        ("webhook", "custom_webhook_url", Some("https://hooks.example/x")),
        ("webhook", "url", None),
        ("fax", "custom_webhook_url", None),
        ("letter", "custom_webhook_url", None),
    ] {
        assert_eq!(settings.referenced_by(channel, field), value, "{channel} {field}");
    }
    assert_eq!(settings.config_of("slack"), Some(json!({})), "addresses are not for the plugin");
    assert_eq!(settings.config_of("fax"), None);
}

#[test]
fn a_channel_whose_plugin_is_gone_is_kept_and_shows_no_value() {
    let mut settings = set(&json!({ "pager": pager() }));
    let hidden = json!({ "pager": { "url": true, "token": true, "room": true } });
    assert_eq!(Value::Object(settings.shown_channels(&[])), hidden);
    assert_eq!(settings.channels(), ["pager"]);
    let out = json!({ "plugin_channels": { "pager": null } });
    let out = ChannelPatch::parse(&out, &[]).unwrap();
    settings.patch_channels(&out, STANDARD.lowest_plan()).unwrap();
    assert_eq!(settings, NotificationSettings::default());
}

#[test]
fn what_a_plugin_made_of_its_settings_takes_their_place() {
    let mut patch = parsed(&json!({ "pager": pager(), "board": null })).unwrap();
    for (channel, settings) in patch.set() {
        assert_eq!(channel, "pager");
        let mut normalised = settings.expose().clone();
        normalised.insert("room".to_owned(), json!("OPS"));
        *settings = Secret::new(normalised);
    }
    let mut settings = NotificationSettings::default();
    settings.patch_channels(&patch, STANDARD.highest_plan()).unwrap();
    assert_eq!(settings.config_of("pager").unwrap()["room"], "OPS");
    let mut nothing = ChannelPatch::parse(&json!({}), &installed()).unwrap();
    assert_eq!(nothing.set().count(), 0);
}

#[test]
fn rows_are_read_back_and_older_rows_have_none() {
    let settings = set(&json!({ "pager": pager() }));
    let row = crate::secret::revealed(|| serde_json::to_value(&settings)).unwrap();
    assert_eq!(serde_json::from_value::<NotificationSettings>(row).unwrap(), settings);
    let older = serde_json::from_value::<NotificationSettings>(json!({ "email": true })).unwrap();
    assert!(older.plugin_channels.is_empty());
}
