//! `/account`: what its owner reads and changes, and how an account ends.

use reqwest::Method;
use serde_json::{Value, json};
use vedette_tests::{Account, Answer, Client, Events, Issuer, Mailbox, Signature::Es256};

use super::world;
use crate::{
    refusal::refused,
    tenant::result,
    world::{World, in_days, rfc3339, text, time, until},
};

const SETTINGS: &str = "/settings/notifications";

/// A world with an identity provider and a mail relay.
async fn with_people() -> (World, Issuer, Mailbox) {
    let issuer = Issuer::start().await.expect("loopback has free ports");
    let mailbox = Mailbox::start().await.expect("loopback has free ports");
    let world = world(&format!("{}{}", issuer.toml(), mailbox.toml(""))).await;
    (world, issuer, mailbox)
}

/// The same request, for the caller's own account.
async fn as_oneself(client: &Client, method: Method, account: &str) -> Answer {
    let request = client.request(method, "/account").header("x-vedette-account", account);
    client.finish(request).await
}

fn page_of(world: &World) -> Client {
    Client::new(&format!("http://{}", world.service.api), None)
}

/// Fills an account with one of everything that the edition has for its plan.
async fn lived_in(account: &Account, title: &str) -> String {
    let client = &account.client;
    let body = json!({"domain": "tenant.example", "monitoring_enabled": false});
    let site = text(&client.post("/sites", body).await.expect(200)["site"]["id"]);
    let body = json!({"site_id": site, "check_type": "ssl", "result": result(5)});
    client.post("/checks", body).await.expect(200);
    client.post("/api-keys", json!({"name": "spare"})).await.expect(200);
    client.post("/incidents", json!({"title": "Mail is late"})).await.expect(200);
    let window = json!({"starts_at": rfc3339(in_days(1)), "ends_at": rfc3339(in_days(2))});
    client.post("/maintenance-windows", window).await.expect(200);
    let body = json!({"status_page_enabled": true, "status_page_title": title});
    let settings = client.patch(SETTINGS, body).await.expect(200);
    format!("/status/{}", text(&settings["settings"]["status_page_slug"]))
}

/// All that an account can read, except when its keys were last used.
async fn state(client: &Client) -> Value {
    let mut state = json!({});
    for path in [
        "/account",
        "/sites",
        "/alerts?resolved=all",
        "/api-keys",
        "/incidents",
        "/maintenance-windows",
        SETTINGS,
    ] {
        state[path] = client.get(path).await.expect(200);
    }
    for key in state["/api-keys"]["keys"].as_array_mut().into_iter().flatten() {
        key["last_used_at"] = Value::Null;
    }
    state
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_reads_the_account_and_changes_its_name() {
    let world = world("").await;
    let client = &world.owner.client;
    let read = client.get("/account").await.expect(200);
    time(&read["created_at"]);
    let expected = json!({
        "id": world.owner.id, "email": world.owner.email, "full_name": null, "plan": "pro",
        "created_at": read["created_at"],
    });
    assert_eq!(read, expected);

    let longest = "ü".repeat(200);
    for (body, name) in [
        (json!({"full_name": " Ada Lovelace "}), json!("Ada Lovelace")),
        (json!({}), json!("Ada Lovelace")),
        (json!({"email": "other@example.com", "plan": "team"}), json!("Ada Lovelace")),
        (json!({"full_name": longest}), json!(longest)),
        (json!({"full_name": null}), Value::Null),
        (json!({"full_name": "Ada"}), json!("Ada")),
        (json!({"full_name": "  "}), Value::Null),
    ] {
        let changed = client.patch("/account", body.clone()).await.expect(200);
        let mut expected = expected.clone();
        expected["full_name"] = name;
        assert_eq!(changed, json!({"profile": expected}), "{body}");
        assert_eq!(client.get("/account").await.expect(200), expected, "{body}");
    }
    let head = client.send(Method::HEAD, "/account", None).await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_name_is_refused_and_changes_nothing() {
    let world = world("").await;
    let client = &world.owner.client;
    client.patch("/account", json!({"full_name": "Ada"})).await.expect(200);
    for name in
        [json!("x".repeat(201)), json!("Ada\nLovelace"), json!("\u{7}"), json!(7), json!([])]
    {
        let answer = client.patch("/account", json!({"full_name": name})).await;
        let message = refused(&answer, 400, &name.to_string());
        assert!(message.contains("full_name"), "{message}");
    }
    for body in ["", "[]", "null", "{", "\"Ada\""] {
        let answer = client.send_raw(Method::PATCH, "/account", body.into()).await;
        refused(&answer, 400, body);
    }
    assert_eq!(client.get("/account").await.expect(200)["full_name"], "Ada");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_needs_a_credential() {
    let world = world("").await;
    let nobody = world.service.client();
    for method in [Method::GET, Method::DELETE] {
        refused(&nobody.send(method.clone(), "/account", None).await, 401, method.as_str());
    }
    refused(&nobody.patch("/account", json!({"full_name": "x"})).await, 401, "PATCH");
    let answer = world.owner.client.send(Method::PUT, "/account", None).await;
    refused(&answer, 405, "PUT");
    world.owner.client.get("/account").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_standard_edition_has_no_accounts_of_its_own() {
    let world = World::start().await;
    for path in ["/account", "/auth/welcome"] {
        refused(&world.owner.client.get(path).await, 404, path);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_account_is_gone_at_once_and_another_is_untouched() {
    let world = world("").await;
    let (owner, stranger) = (&world.owner, world.account("pro").await);
    let page = lived_in(owner, "Acme").await;
    let strangers_page = lived_in(&stranger, "Other").await;
    let spare = owner.client.post("/api-keys", json!({"name": "third"})).await.expect(200);
    let spare = owner.client.with_key(&text(&spare["key"]));
    let visitor = page_of(&world);
    assert_eq!(visitor.get(&page).await.status, 200);
    let before = state(&stranger.client).await;
    let url = format!("http://{}/api/events", world.service.api);
    let mut events = Events::follow(&url, &owner.key, None, false).await.expect("a stream");

    let answer = owner.client.delete("/account").await;
    assert_eq!(answer.expect(200), json!({"success": true}));
    for client in [&owner.client, &spare] {
        for path in ["/account", "/sites", SETTINGS] {
            refused(&client.get(path).await, 401, path);
        }
        refused(&client.delete("/account").await, 401, "again");
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        refused(&client.post("/mcp", body).await, 401, "a listing, which costs nothing");
    }
    for form in ["", ".json", ".rss"] {
        assert_eq!(visitor.get(&format!("{page}{form}")).await.status, 404, "{form}");
    }
    events.ended().await;
    let accounts = world.service.operator().get("/admin/accounts").await.text;
    assert!(!accounts.contains(&owner.id) && !accounts.contains(&owner.email), "{accounts}");

    assert_eq!(state(&stranger.client).await, before);
    assert_eq!(visitor.get(&strangers_page).await.status, 200);
    // What is free may be somebody else's next.
    let heir = world.account("pro").await;
    assert_eq!(lived_in(&heir, "Acme").await, page);
    assert_eq!(visitor.get(&page).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_of_somebody_who_deleted_the_account_begins_another() {
    let (world, issuer, _mailbox) = with_people().await;
    let session = || world.owner.client.with_key(&issuer.token(Es256, "anna"));
    let first = session().get("/account").await.expect(200);
    assert_eq!((&first["email"], &first["plan"]), (&json!("anna@example.com"), &json!("free")));
    let key = session().post("/api-keys", json!({"name": "ci"})).await.expect(200);
    let key = session().with_key(&text(&key["key"]));
    session().post("/sites", json!({"domain": "a.example"})).await.expect(200);
    let url = format!("http://{}/api/events", world.service.api);
    let token = issuer.token(Es256, "anna");
    let mut events = Events::follow(&url, &token, None, false).await.expect("a stream");

    session().delete("/account").await.expect(200);
    events.ended().await;
    let accounts = world.service.operator().get("/admin/accounts").await.text;
    assert!(!accounts.contains("anna@example.com"), "a stream signs nobody up: {accounts}");
    let named = as_oneself(&session(), Method::GET, &text(&first["id"])).await;
    refused(&named, 401, "the account that is gone");
    refused(&key.get("/account").await, 401, "its key");

    let second = session().get("/account").await.expect(200);
    assert_ne!(second["id"], first["id"]);
    assert_eq!(session().get("/sites").await.expect(200)["sites"], json!([]));
    refused(&key.get("/account").await, 401, "the key of the first");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_has_the_own_account_and_not_the_teams() {
    let (world, issuer, mailbox) = with_people().await;
    let owner = world.account("team").await;
    let member = || world.owner.client.with_key(&issuer.token(Es256, "bert"));
    let own = text(&member().get("/account").await.expect(200)["id"]);
    let body = json!({"email": "bert@example.com", "role": "admin"});
    owner.client.post("/team", body).await.expect(200);
    let token = until("the invitation", async || {
        let mails = mailbox.arrived();
        let mail = mails.iter().find(|mail| mail.to == ["bert@example.com"])?;
        let words = mail.part("text/plain").expect("a text");
        words.lines().find_map(|line| line.strip_prefix("    ")).map(str::to_owned)
    })
    .await;
    member().post("/team/accept", json!({"token": token})).await.expect(200);

    for method in [Method::GET, Method::PATCH, Method::DELETE] {
        let body = (method == Method::PATCH).then(|| json!({"full_name": "Bert"}));
        let answer = member().send(method.clone(), "/account", body).await;
        let message = refused(&answer, 403, method.as_str());
        assert!(message.contains("owner"), "{message}");
    }
    let read = as_oneself(&member(), Method::GET, &own).await.expect(200);
    assert_eq!(read["email"], "bert@example.com");
    assert_eq!(owner.client.get("/account").await.expect(200)["full_name"], Value::Null);

    // Who deletes the own account leaves the team.
    as_oneself(&member(), Method::DELETE, &own).await.expect(200);
    let team = owner.client.get("/team").await.expect(200);
    let members = team["members"].as_array().expect("a list");
    assert!(members.iter().all(|member| member["email"] != "bert@example.com"), "{team}");
    let again = member().get("/account").await.expect(200);
    assert_ne!(again["id"], json!(own));
    assert_eq!(again["plan"], "free", "in nobody's team");
}
