//! Teams: invited by mail, accepted by key or session, at work for the owner, and out again.

use chrono::{TimeDelta, Utc};
use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use vedette_tests::{Account, Answer, Client, Issuer, Mailbox, Signature::Rs256};

use super::world;
use crate::{
    refusal::refused,
    world::{World, text, time},
};

/// Invites an address; the invitation with its token.
pub(super) async fn invite(owner: &Client, email: &str, role: &str) -> Value {
    let invited = owner.post("/team", json!({"email": email, "role": role})).await.expect(200);
    invited["invitation"].clone()
}

/// Puts somebody into a team.
pub(super) async fn join(owner: &Client, member: &Account, role: &str) {
    let invitation = invite(owner, &member.email, role).await;
    accept(&member.client, &text(&invitation["token"])).await.expect(200);
}

pub(super) async fn accept(client: &Client, token: &str) -> Answer {
    client.post("/team/accept", json!({"token": token})).await
}

pub(super) async fn remove(client: &Client, id: &str) -> Answer {
    client.send(Method::DELETE, "/team", Some(json!({"member_id": id}))).await
}

/// The account that a client acts for.
pub(super) async fn acts_for(client: &Client) -> String {
    text(&client.get("/sites").await.expect(200)["userId"])
}

async fn change_role(client: &Client, id: &str, role: &str) -> Answer {
    client.patch("/team/role", json!({"member_id": id, "role": role})).await
}

async fn move_to(world: &World, account: &Account, plan: &str) {
    let path = format!("/admin/accounts/{}", account.id);
    world.service.operator().patch(&path, json!({"plan": plan})).await.expect(200);
}

/// How often each status was answered.
fn counted(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status == status).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fifty_first_letter_of_a_day_is_refused_and_costs_no_call() {
    let mailbox = Mailbox::start().await.expect("free port");
    let world = world(&mailbox.toml("")).await;
    let owner = world.account("team").await.client;
    // Each takes the place of the one before, and is mailed all the same.
    let body = json!({"email": "ann@example.com", "role": "viewer"});
    let mut used = 0;
    for _ in 0..50 {
        let sent = owner.post("/team", body.clone()).await;
        used = sent.number("x-monthlylimit-used");
        sent.expect(200);
    }
    for _ in 0..2 {
        let refused = owner.post("/team", body.clone()).await;
        assert_eq!(refused.status, 429, "{}", refused.text);
        assert!(refused.number("retry-after") > 0);
        assert_eq!(refused.number("x-monthlylimit-used"), used);
    }
    assert_eq!(owner.get("/team").await.number("x-monthlylimit-used"), used + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_invited_by_mail_accepts_with_a_key_and_works_for_the_owner() {
    let mailbox = Mailbox::start().await.expect("free port");
    let world = world(&mailbox.toml("")).await;
    let (owner, member) = (world.account("team").await, world.account("free").await);
    let site = json!({"domain": "ours.example", "monitoring_enabled": false});
    owner.client.post("/sites", site).await.expect(200);

    let invited = invite(&owner.client, &member.email.to_uppercase(), "editor").await;
    let token = text(&invited["token"]);
    let left = time(&invited["expires_at"]) - Utc::now();
    assert!(left > TimeDelta::days(6) && left <= TimeDelta::days(7), "{invited}");
    let shown = json!({
        "id": invited["id"], "email": member.email, "role": "editor",
        "expires_at": invited["expires_at"],
    });
    let listed = json!({
        "members": [], "invitations": [shown], "plan": "team", "teamMembersLimit": 3,
    });
    assert_eq!(owner.client.get("/team").await.expect(200), listed);

    let mail = mailbox.wait_for(1).await.expect("it arrives").remove(0);
    assert_eq!(mail.to, std::slice::from_ref(&member.email));
    let words = mail.part("text/plain").expect("a text");
    for part in [token.as_str(), owner.email.as_str(), "editor"] {
        assert!(words.contains(part), "{part}: {words}");
    }

    let body = json!({"token": token, "preview": true});
    let preview = member.client.post("/team/accept", body).await.expect(200);
    let expected = json!({
        "success": true, "team_owner_id": owner.id, "role": "editor",
        "team_owner_email": owner.email, "team_owner_name": null,
    });
    assert_eq!(preview, expected);
    assert_eq!(acts_for(&member.client).await, member.id, "a preview accepts nothing");
    assert_eq!(accept(&member.client, &token).await.expect(200), expected);

    let sites = member.client.get("/sites").await;
    assert_eq!(sites.number("x-monthlylimit-limit"), 50_000, "the owner's calls");
    let sites = sites.expect(200);
    assert_eq!((&sites["userId"], &sites["plan"]), (&json!(owner.id), &json!("team")));
    assert_eq!(sites["sites"][0]["domain"], "ours.example");
    let team = member.client.get("/team").await.expect(200);
    let listed = json!([{
        "id": team["members"][0]["id"], "member_id": member.id, "role": "editor",
        "email": member.email, "full_name": null,
    }]);
    assert_eq!(team["members"], listed);
    assert_eq!(team["invitations"], json!([]), "it is used up");
    assert_ne!(team["members"][0]["id"], team["members"][0]["member_id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_accepts_and_a_change_holds_from_its_next_request_on() {
    let issuer = Issuer::start().await.expect("loopback has free ports");
    let world = world(&issuer.toml()).await;
    let owner = world.account("team").await;
    let anna = world.owner.client.with_key(&issuer.token(Rs256, "anna"));
    let own = acts_for(&anna).await;
    let invited = invite(&owner.client, "anna@example.com", "editor").await;
    accept(&anna, &text(&invited["token"])).await.expect(200);
    assert_eq!(acts_for(&anna).await, owner.id);
    let site = |nth: u8| json!({"domain": format!("s{nth}.example"), "monitoring_enabled": false});
    anna.post("/sites", site(1)).await.expect(200);

    let changed = change_role(&owner.client, &own, "viewer").await.expect(200);
    assert_eq!(
        (&changed["member"]["member_id"], &changed["member"]["role"]),
        (&json!(own), &json!("viewer"))
    );
    refused(&anna.post("/sites", site(2)).await, 403, "a viewer adds a site");
    assert_eq!(acts_for(&anna).await, owner.id);

    assert_eq!(remove(&owner.client, &own).await.expect(200), json!({"success": true}));
    assert_eq!(acts_for(&anna).await, own);
    assert_eq!(anna.get("/sites").await.expect(200)["sites"], json!([]));
    refused(&remove(&owner.client, &own).await, 404, "nobody is there any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_bound_to_what_its_member_is_now() {
    let world = world("").await;
    let (owner, member) = (world.account("team").await, world.account("free").await);
    join(&owner.client, &member, "viewer").await;
    let site = |nth: u8| json!({"domain": format!("s{nth}.example"), "monitoring_enabled": false});
    refused(&member.client.post("/sites", site(1)).await, 403, "a viewer adds a site");
    change_role(&owner.client, &member.id, "editor").await.expect(200);
    member.client.post("/sites", site(1)).await.expect(200);

    // Without teams a membership rests, and comes back with the plan.
    move_to(&world, &owner, "pro").await;
    assert_eq!(acts_for(&member.client).await, member.id);
    let said = refused(&owner.client.get("/team").await, 403, "no teams in this plan");
    assert!(said.contains("team plan"), "{said}");
    move_to(&world, &owner, "team").await;
    assert_eq!(acts_for(&member.client).await, owner.id);

    // Who was put out has their own sites again, and the limits of their own plan.
    let team = owner.client.get("/team").await.expect(200);
    remove(&owner.client, &text(&team["members"][0]["id"])).await.expect(200);
    let sites = member.client.get("/sites").await;
    assert_eq!(sites.number("x-monthlylimit-limit"), 100);
    assert_eq!(sites.expect(200)["userId"], member.id.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_a_member_made_may_what_they_may_and_goes_with_them() {
    let world = world("").await;
    let (owner, member) = (world.account("team").await, world.account("free").await);
    join(&owner.client, &member, "admin").await;
    let make = async |client: &Client| {
        let made = client.post("/api-keys", json!({"name": "deploy"})).await.expect(200);
        client.with_key(&text(&made["key"]))
    };
    let own = make(&owner.client).await;
    let key = make(&member.client).await;
    // Whatever is made with it is the member's as well.
    let further = make(&key).await;
    let site = |nth: u8| json!({"domain": format!("s{nth}.example"), "monitoring_enabled": false});
    key.post("/sites", site(1)).await.expect(200);

    change_role(&owner.client, &member.id, "viewer").await.expect(200);
    for client in [&key, &further] {
        assert_eq!(acts_for(client).await, owner.id);
        refused(&client.post("/sites", site(2)).await, 403, "a viewer's key adds a site");
        refused(&change_role(client, &member.id, "admin").await, 403, "a viewer's key promotes");
    }
    change_role(&owner.client, &member.id, "editor").await.expect(200);
    further.post("/sites", site(2)).await.expect(200);

    // Without teams in the plan the membership rests, and so do they.
    move_to(&world, &owner, "pro").await;
    refused(&key.get("/sites").await, 401, "the key of a membership that rests");
    move_to(&world, &owner, "team").await;
    assert_eq!(acts_for(&key).await, owner.id);

    // Whoever rolls a key is told the new one, and has it.
    change_role(&owner.client, &member.id, "admin").await.expect(200);
    let listed = owner.client.get("/api-keys").await.expect(200);
    let roll = async |client: &Client, nth: usize| {
        let body = json!({"id": listed["keys"][nth]["id"]});
        client.with_key(&text(&client.post("/api-keys/roll", body).await.expect(200)["key"]))
    };
    assert_eq!(listed["keys"].as_array().map(Vec::len), Some(4), "the first, and three more");
    refused(
        &member.client.post("/api-keys/roll", json!({"id": listed["keys"][1]["id"]})).await,
        403,
        "the owner's",
    );
    let rolled = roll(&owner.client, 2).await;
    refused(&key.get("/sites").await, 401, "the secret before");

    remove(&owner.client, &member.id).await.expect(200);
    refused(&further.get("/sites").await, 401, "a key of nobody in the team");
    for client in [&own, &rolled] {
        assert_eq!(acts_for(client).await, owner.id);
    }
    let listed = owner.client.get("/api-keys").await.expect(200);
    assert_eq!(listed["keys"].as_array().map(Vec::len), Some(3), "{listed}");
    // The room of the other is free again: the plan has ten.
    for _ in 3..10 {
        make(&owner.client).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn anybody_leaves_by_either_of_their_ids() {
    let world = world("").await;
    let (owner, member) = (world.account("team").await, world.account("free").await);
    for name in ["id", "member_id"] {
        join(&owner.client, &member, "viewer").await;
        let team = member.client.get("/team").await.expect(200);
        remove(&member.client, &text(&team["members"][0][name])).await.expect(200);
        assert_eq!(acts_for(&member.client).await, member.id, "by {name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_names_the_owners_account_is_let_in_as_soon_as_they_may_be() {
    let world = world("").await;
    let (owner, member) = (world.account("team").await, world.account("free").await);
    let named = async || {
        let request = member.client.request(Method::GET, "/sites");
        member.client.finish(request.header("x-vedette-account", &owner.id)).await
    };
    refused(&named().await, 404, "not in the team yet");
    join(&owner.client, &member, "viewer").await;
    assert_eq!(named().await.expect(200)["userId"], owner.id.as_str());

    move_to(&world, &owner, "pro").await;
    refused(&named().await, 404, "the membership rests");
    move_to(&world, &owner, "team").await;
    assert_eq!(named().await.expect(200)["userId"], owner.id.as_str());

    remove(&owner.client, &member.id).await.expect(200);
    refused(&named().await, 404, "not in the team any more");
    join(&owner.client, &member, "viewer").await;
    assert_eq!(named().await.expect(200)["userId"], owner.id.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_put_out_costs_the_owner_no_call_and_sees_nothing_of_the_month() {
    let world = world("").await;
    let (owner, member) = (world.account("team").await, world.account("free").await);
    let used = async || owner.client.get("/sites").await.number("x-monthlylimit-used");
    join(&owner.client, &member, "viewer").await;
    assert_eq!(acts_for(&member.client).await, owner.id);
    remove(&owner.client, &member.id).await.expect(200);
    let before = used().await;
    assert_eq!(acts_for(&member.client).await, member.id);
    assert_eq!(used().await, before + 1, "the owner's own");

    join(&owner.client, &member, "viewer").await;
    assert_eq!(acts_for(&member.client).await, owner.id);
    remove(&owner.client, &member.id).await.expect(200);
    let before = used().await;
    let request = member.client.request(Method::GET, "/sites");
    let twice = member.client.request(Method::GET, "/sites").header("x-vedette-account", &owner.id);
    let twice = member.client.finish(twice.header("x-vedette-account", &member.id)).await;
    assert_eq!(twice.status, 400, "{}", twice.text);
    let named = member.client.finish(request.header("x-vedette-account", &owner.id)).await;
    refused(&named, 404, "not in the team any more");
    assert_eq!(named.number("x-monthlylimit-used"), 0);
    assert_eq!(used().await, before + 1, "the owner's own");
}

#[tokio::test(flavor = "multi_thread")]
async fn members_and_open_invitations_fill_the_plan_together() {
    let world = world("").await;
    let (owner, member) = (world.account("team").await, world.account("free").await);
    let client = &owner.client;
    join(client, &member, "viewer").await;
    invite(client, "one@example.com", "viewer").await;
    let two = invite(client, "two@example.com", "viewer").await;
    let more = |email: &str| json!({"email": email});
    let said = refused(&client.post("/team", more("three@example.com")).await, 403, "a fourth");
    assert!(said.contains('3'), "{said}");

    // One in place of another takes no room, and the first is dead.
    let again = invite(client, "two@example.com", "editor").await;
    assert_ne!(again["token"], two["token"]);
    let open = client.get("/team").await.expect(200)["invitations"].clone();
    assert_eq!(open.as_array().map(Vec::len), Some(2), "{open}");
    let replaced = accept(&member.client, &text(&two["token"])).await;
    refused(&replaced, 404, "a token that was replaced");

    assert_eq!(remove(client, &text(&again["id"])).await.expect(200), json!({"success": true}));
    refused(&remove(client, &text(&again["id"])).await, 404, "taken back already");
    let taken_back = accept(&member.client, &text(&again["token"])).await;
    refused(&taken_back, 404, "an invitation that was taken back");
    let bodies: Vec<Value> = (0..8).map(|nth| more(&format!("n{nth}@example.com"))).collect();
    let answers = join_all(bodies.into_iter().map(|body| client.post("/team", body))).await;
    assert_eq!((counted(&answers, 200), counted(&answers, 403)), (1, 7), "{answers:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invitation_is_for_one_address_and_for_once() {
    let world = world("").await;
    let (owner, member) = (world.account("team").await, world.account("free").await);
    let invited = invite(&owner.client, &member.email, "viewer").await;
    let token = text(&invited["token"]);
    let stranger = world.account("free").await;
    for preview in [true, false] {
        let body = json!({"token": token, "preview": preview});
        let answer = stranger.client.post("/team/accept", body).await;
        let said = refused(&answer, 403, "somebody else's invitation");
        assert!(!said.contains(&member.email), "{said}");
    }
    refused(&accept(&owner.client, &token).await, 400, "the owner's own team");
    accept(&member.client, &token).await.expect(200);
    let used = accept(&member.client, &token).await;
    let never = accept(&member.client, &"0".repeat(64)).await;
    refused(&used, 404, "a used token");
    assert_eq!((used.status, used.text), (never.status, never.text), "told apart");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_is_in_one_team_and_not_with_members_of_ones_own() {
    let world = world("").await;
    let (one, other) = (world.account("team").await, world.account("team").await);
    let member = world.account("free").await;
    join(&one.client, &member, "viewer").await;

    let invited = invite(&other.client, &member.email, "viewer").await;
    let token = text(&invited["token"]);
    let said = refused(&accept(&member.client, &token).await, 400, "in another team");
    assert!(said.contains("leave"), "{said}");
    let invited = invite(&other.client, &one.email, "viewer").await;
    refused(&accept(&one.client, &text(&invited["token"])).await, 400, "has members");

    // A viewer may go, and is free for the other team then.
    assert_eq!(remove(&member.client, &member.id).await.expect(200), json!({"success": true}));
    assert_eq!(acts_for(&member.client).await, member.id);
    accept(&member.client, &token).await.expect(200);
    assert_eq!(acts_for(&member.client).await, other.id);

    // So may somebody whose team has no plan for it any more.
    move_to(&world, &other, "free").await;
    remove(&member.client, &member.id).await.expect(200);
    move_to(&world, &other, "team").await;
    assert_eq!(acts_for(&member.client).await, member.id);
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_comes_before_role_and_role_before_the_body() {
    let world = world("").await;
    let pro = &world.owner.client;
    for (method, path) in [
        (Method::GET, "/team"),
        (Method::POST, "/team"),
        (Method::DELETE, "/team"),
        (Method::PATCH, "/team/role"),
    ] {
        let answer = pro.send(method.clone(), path, Some(json!({}))).await;
        let said = refused(&answer, 403, &format!("{method} {path} without teams"));
        assert!(said.contains("the team plan"), "{said}");
    }
    refused(&pro.post("/team/accept", json!({})).await, 400, "that needs no plan of one's own");

    let (owner, member) = (world.account("team").await, world.account("free").await);
    join(&owner.client, &member, "editor").await;
    for (method, path) in
        [(Method::POST, "/team"), (Method::DELETE, "/team"), (Method::PATCH, "/team/role")]
    {
        let answer = member.client.send(method.clone(), path, Some(json!({}))).await;
        let said = refused(&answer, 403, &format!("{method} {path} of an editor"));
        assert!(said.contains("admin"), "{said}");
    }
    let table = [
        (Method::POST, "/team", json!({}), 400, "email"),
        (Method::POST, "/team", json!({"email": "anna"}), 400, "email"),
        (Method::POST, "/team", json!({"email": owner.email}), 400, "email"),
        (Method::POST, "/team", json!({"email": member.email}), 400, "email"),
        (Method::POST, "/team", json!({"email": "a@example.com", "role": "owner"}), 400, "role"),
        (Method::PATCH, "/team/role", json!({"role": "admin"}), 400, "member_id"),
        (Method::PATCH, "/team/role", json!({"member_id": member.id}), 400, "role"),
        (Method::PATCH, "/team/role", json!({"member_id": "1", "role": "admin"}), 400, "member_id"),
        (Method::PATCH, "/team/role", json!({"member_id": owner.id, "role": "admin"}), 404, ""),
        (Method::DELETE, "/team", json!({}), 400, "member_id"),
        (Method::DELETE, "/team", json!({"member_id": owner.id}), 404, ""),
        (Method::POST, "/team/accept", json!({"preview": true}), 400, "token"),
        (Method::POST, "/team/accept", json!({"token": ""}), 400, "token"),
        (Method::POST, "/team/accept", json!({"token": "x", "preview": 1}), 400, "preview"),
    ];
    for (method, path, body, status, field) in table {
        let what = format!("{method} {path} {body}");
        let said = refused(&owner.client.send(method, path, Some(body)).await, status, &what);
        assert!(said.contains(field), "{what}: {said}");
    }
    let team = owner.client.get("/team").await.expect(200);
    assert_eq!(team["invitations"], json!([]));
    assert_eq!(team["members"].as_array().map(Vec::len), Some(1));
}
