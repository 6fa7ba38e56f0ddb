//! Channels of operators' plugins: set by an account, tried, told, taken out.

use serde_json::{Value, json};
use vedette_tests::{Client, Response};

use super::Operated;
use crate::{
    guest::Guest,
    world::{text, until},
};

const SETTINGS: &str = "/settings/notifications";
const NOT_INSTALLED: &str = "no plugin for the channel pager is installed";

/// A service with the channel `pager`: its plugin posts what it is configured with to `pager_url`.
struct Paging(Operated);

impl Paging {
    async fn start() -> Self {
        Self::with(&Guest::echo()).await
    }

    /// The same with another plugin.
    async fn with(guest: &Guest) -> Self {
        let operated = Operated::start().await;
        let file = operated.file("acme.pager-1.0.0.wasm", guest);
        operated.install(&file).await;
        operated.change(&["approve", "acme.pager"]).await;
        Self(operated)
    }

    fn client(&self) -> &Client {
        &self.0.world.owner.client
    }

    /// Settings of the pager that lead to the lab's receiver.
    fn pager(&self) -> Value {
        let url = self.0.world.lab.receiver.url("/page?key=1");
        json!({ "pager_url": url, "pager_token": "hunter2", "room": "ops" })
    }

    /// Has the owner told by it; answers the channels as they are shown then.
    async fn set(&self, pager: Value) -> Value {
        let body = json!({ "plugin_channels": { "pager": pager } });
        let changed = self.client().patch(SETTINGS, body).await.expect(200);
        changed["settings"]["plugin_channels"].clone()
    }

    async fn shown(&self) -> Value {
        shown(self.client()).await
    }
}

async fn shown(client: &Client) -> Value {
    client.get(SETTINGS).await.expect(200)["settings"]["plugin_channels"].clone()
}

/// What the plugin is given of [`Paging::pager`].
fn given() -> Value {
    json!({ "pager_url": "ref:pager_url", "pager_token": "ref:pager_token", "room": "ops" })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_is_told_by_the_channel_that_it_sets() {
    let paging = Paging::start().await;
    let world = &paging.0.world;
    assert_eq!(paging.shown().await, json!({}));
    let mut expected = paging.pager();
    expected["pager_token"] = json!(true);
    let expected = json!({ "pager": expected });
    assert_eq!(paging.set(paging.pager()).await, expected);
    assert_eq!(paging.shown().await, expected);

    let sent = world.send_test().await;
    assert_eq!(sent["channels"], json!(["pager"]));
    assert_eq!(sent["message"], "test notification sent to pager");
    let hook = world.lab.receiver.wait_for(1).await.expect("it arrives").remove(0);
    assert_eq!(hook.path, "/page?key=1");
    assert_eq!(hook.json().expect("JSON"), given(), "the plugin sees no secret");
    let test = hook.header("x-vedette-delivery").expect("an id").to_owned();

    let site = world.site("soon.example", 5).await;
    world.watch("soon.example", &site).await;
    let hook = world.lab.receiver.wait_for(2).await.expect("the alert arrives").remove(1);
    assert_eq!(hook.json().expect("JSON"), given());
    assert!(hook.header("x-vedette-delivery").is_some_and(|id| id != test));
    assert!(hook.header("webhook-signature").is_none());
    let alert = text(&world.open_alerts(1).await[0]["id"]);
    let delivered = |log: &[Value]| log.iter().any(|delivery| delivery["state"] == "delivered");
    let log = world.log(&alert, delivered).await;
    assert_eq!((log.len(), &log[0]["channel"]), (1, &json!("pager")), "{log:?}");

    let body = json!({ "plugin_channels": { "pager": null } });
    paging.client().patch(SETTINGS, body).await.expect(200);
    assert_eq!(paging.shown().await, json!({}));
    assert_eq!(world.send_test().await["channels"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_part_of_a_notification_has_an_id_of_its_own() {
    let paging = Paging::with(&Guest::echo_in_parts(3)).await;
    let world = &paging.0.world;
    paging.set(paging.pager()).await;
    assert_eq!(world.send_test().await["message"], "test notification sent to pager");
    let hooks = world.lab.receiver.wait_for(3).await.expect("all parts arrive");
    let mut ids: Vec<&str> =
        hooks.iter().filter_map(|hook| hook.header("x-vedette-delivery")).collect();
    assert!(ids.iter().all(|id| uuid::Uuid::parse_str(id).is_ok()), "{ids:?}");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3, "{ids:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_writes_nothing_has_told_nobody() {
    let paging = Paging::with(&Guest::echo_in_parts(0)).await;
    let world = &paging.0.world;
    paging.set(paging.pager()).await;
    let sent = world.send_test().await;
    let said = "test notification not delivered: pager: the plugin wrote nothing to send";
    assert_eq!(sent["message"], said);

    let site = world.site("soon.example", 5).await;
    world.watch("soon.example", &site).await;
    let alert = text(&world.open_alerts(1).await[0]["id"]);
    let failed = |log: &[Value]| log.iter().any(|delivery| delivery["state"] == "failed");
    let log = world.log(&alert, failed).await;
    assert!(text(&log[0]["error"]).contains("the plugin wrote nothing to send"), "{log:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_shown_can_be_sent_back() {
    let paging = Paging::start().await;
    let mut pager = paging.set(paging.pager()).await["pager"].clone();
    pager["room"] = json!("night");
    let changed = paging.set(pager.clone()).await;
    assert_eq!(changed["pager"], pager);
    let sent = paging.0.world.send_test().await;
    assert_eq!(sent["message"], "test notification sent to pager");
    let hook = paging.0.world.lab.receiver.wait_for(1).await.expect("it arrives").remove(0);
    let mut expected = given();
    expected["room"] = json!("night");
    assert_eq!(hook.json().expect("JSON"), expected, "the token is still set");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_set_names_its_place_and_changes_nothing() {
    let paging = Paging::start().await;
    let before = paging.set(paging.pager()).await;
    let url = paging.0.world.lab.receiver.url("/page");
    let with = |field: &str, value: Value| {
        let mut pager = json!({ "pager_url": url });
        pager[field] = value;
        json!({ "pager": pager })
    };
    for (channels, said) in [
        (json!({ "fax": {} }), "plugin_channels.fax names no channel"),
        (json!({ "fax": {} }), "installed are pager"),
        (json!({ "slack": { "url": url } }), "plugin_channels.slack"),
        (json!({ "pager": "x" }), "plugin_channels.pager must be an object"),
        (json!({ "pager": {} }), "plugin_channels.pager.pager_url is required"),
        (json!([]), "plugin_channels must be an object"),
        (
            with("pager_url", json!("http://169.254.169.254/latest")),
            "plugin_channels.pager.pager_url",
        ),
        (with("pager_url", json!("http://10.0.0.1/")), "plugin_channels.pager.pager_url"),
        (with("pager_url", json!("http://user@127.0.0.1/")), "plugin_channels.pager.pager_url"),
        (with("pager_url", json!("pager.example")), "plugin_channels.pager.pager_url"),
        (with("pager_url", json!(true)), "plugin_channels.pager.pager_url"),
        (with("pager_token", json!("http://10.0.0.1/")), "plugin_channels.pager.pager_token"),
        (with("pager_token", json!(7)), "plugin_channels.pager.pager_token"),
        (with("room", json!("x".repeat(2049))), "plugin_channels.pager.room"),
    ] {
        let body = json!({ "plugin_channels": channels, "status_page_title": "New" });
        let answer = paging.client().patch(SETTINGS, body).await;
        assert_eq!(answer.status, 400, "{channels}: {}", answer.text);
        assert!(answer.text.contains(said), "{channels}: {}", answer.text);
    }
    let settings = paging.client().get(SETTINGS).await.expect(200)["settings"].clone();
    assert_eq!(settings["plugin_channels"], before);
    assert_eq!(settings["status_page_title"], "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_is_in_the_plan_and_its_accounts_alone() {
    let paging = Paging::start().await;
    let world = &paging.0.world;
    paging.set(paging.pager()).await;
    let body = json!({ "plugin_channels": { "pager": paging.pager() } });
    let free = world.account("free").await.client;
    let refused = free.patch(SETTINGS, body.clone()).await.expect(403);
    assert!(text(&refused["message"]).contains("starter"), "{refused}");
    let nothing = json!({ "plugin_channels": { "pager": null } });
    free.patch(SETTINGS, nothing).await.expect(200);

    let stranger = world.account("starter").await.client;
    assert_eq!(shown(&stranger).await, json!({}));
    let sent = stranger.send(reqwest::Method::POST, SETTINGS, None).await.expect(200);
    assert_eq!(sent["channels"], json!([]));
    let kept = json!({ "plugin_channels": { "pager": shown(paging.client()).await["pager"] } });
    stranger.patch(SETTINGS, kept).await.expect(400);
    stranger.patch(SETTINGS, body).await.expect(200);
    assert_eq!(world.lab.receiver.received().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_whose_plugin_is_taken_out_waits_for_it() {
    let paging = Paging::start().await;
    let world = &paging.0.world;
    let before = paging.set(paging.pager()).await;
    paging.0.change(&["disable", "acme.pager"]).await;
    let hidden = json!({ "pager_url": true, "pager_token": true, "room": true });
    assert_eq!(paging.shown().await, json!({ "pager": hidden }));
    let sent = world.send_test().await;
    assert_eq!(sent["channels"], json!([]));
    assert!(text(&sent["message"]).contains("pager: no plugin for it is installed"), "{sent}");
    let body = json!({ "plugin_channels": { "pager": paging.pager() } });
    let refused = paging.client().patch(SETTINGS, body).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(refused.text.contains("none is installed"), "{}", refused.text);

    world.hook().await;
    let site = world.site("soon.example", 5).await;
    world.watch("soon.example", &site).await;
    let alert = text(&world.open_alerts(1).await[0]["id"]);
    let held = |log: &[Value]| log.iter().any(|one| one["error"] == NOT_INSTALLED);
    let log = world.log(&alert, held).await;
    let told: Vec<&Value> = log.iter().filter(|one| one["channel"] == "pager").collect();
    let waits = told.iter().map(|one| (&one["state"], &one["attempts"]));
    assert_eq!(waits.collect::<Vec<_>>(), [(&json!("pending"), &json!(0))], "{log:?}");
    until("what to do in the log", async || {
        let said = world.service.output();
        said.contains("ask the account to take the channel out of its settings").then_some(())
    })
    .await;

    paging.0.change(&["enable", "acme.pager"]).await;
    assert_eq!(paging.shown().await, before);
    let is_told = |one: &Value| one["channel"] == "pager" && one["state"] == "delivered";
    world.log(&alert, |log| log.iter().any(is_told)).await;
    let sent = world.send_test().await;
    assert_eq!(sent["channels"], json!(["webhook", "pager"]), "{sent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_to_be_tried_again_waits_for_a_plugin_that_is_taken_out() {
    let paging = Paging::start().await;
    let world = &paging.0.world;
    paging.set(paging.pager()).await;
    world.lab.receiver.answer_always(Response::Hang);
    let site = world.site("soon.example", 5).await;
    world.watch("soon.example", &site).await;
    world.lab.receiver.wait_for(1).await.expect("it is tried");
    // While it is tried, for ten seconds, or a second time where the machine is busy.
    paging.0.change(&["disable", "acme.pager"]).await;

    let alert = text(&world.open_alerts(1).await[0]["id"]);
    let log = world.log(&alert, |log| log[0]["error"] == NOT_INSTALLED).await;
    let tries = world.lab.receiver.received().len();
    let waits = (&log[0]["state"], &log[0]["attempts"]);
    assert_eq!(waits, (&json!("pending"), &json!(tries)), "{log:?}");
    assert!(tries < 3, "a try was left");

    world.lab.receiver.answer_always(Response::Status(204, Vec::new()));
    paging.0.change(&["enable", "acme.pager"]).await;
    let log = world.log(&alert, |log| log[0]["state"] == "delivered").await;
    assert_eq!(log[0]["attempts"], json!(tries + 1), "{log:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_installs_it_and_who_reads_the_description_learn_how_it_is_set() {
    let paging = Paging::start().await;
    let approved = paging.0.change(&["approve", "acme.pager"]).await;
    let url = json!({ "pager_url": "https://hooks.example.com/…" });
    assert_eq!(approved["settings"], json!({ "plugin_channels": { "pager": url } }));
    let document = paging.client().get("/openapi.json").await.expect(200);
    let schemas = &document["components"]["schemas"];
    let patch = &schemas["NotificationSettingsPatch"]["properties"]["plugin_channels"];
    assert!(patch["properties"]["pager"].to_string().contains("/PagerChannel\""), "{patch}");
    assert_eq!(schemas["PagerChannel"]["required"], json!(["pager_url"]));
    paging.0.change(&["disable", "acme.pager"]).await;
    let document = paging.client().get("/openapi.json").await.expect(200).to_string();
    assert!(!document.contains("PagerChannel"));
}
