//! Roles, on every route and tool: what a member may do is done, and what they may not is a 403
//! that names the role which may.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;
use vedette_model::Role;
use vedette_tests::{Account, Answer, Client};

use super::{
    members::{accept, acts_for, invite, join, remove},
    world,
};
use crate::{
    refusal::refused,
    world::{World, text},
};

/// An owner, and a member of each role.
struct Crew {
    owner: Account,
    members: Vec<(Role, Account)>,
}

impl Crew {
    async fn start(world: &World) -> Self {
        let owner = world.account("team").await;
        let mut members = Vec::new();
        for role in Role::OF_MEMBERS {
            let member = world.account("free").await;
            join(&owner.client, &member, role.as_str()).await;
            members.push((role, member));
        }
        Self { owner, members }
    }

    fn member(&self, role: Role) -> &Account {
        let found = self.members.iter().find(|(of, _)| *of == role);
        &found.expect("there is one of each").1
    }
}

/// Whether it was not done because of the role of whoever asked. What a plan lacks, or the operator
/// has not switched on, is told in other words.
fn is_refused(answer: &Answer) -> bool {
    answer.status == 403 && answer.text.contains("it takes the role")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_is_for_its_roles_and_for_no_others() {
    let world = world("").await;
    let crew = Crew::start(&world).await;
    for (role, member) in &crew.members {
        for (method, path, query, least) in ROUTES {
            let path = path.replace("{id}", &Uuid::new_v4().to_string());
            let method = Method::from_bytes(method.as_bytes()).expect("a method");
            let what = format!("{method} {path}{query} of a {}", role.as_str());
            let body = match path.as_str() {
                _ if method == Method::GET => None,
                "/mcp" => Some(json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})),
                _ => Some(json!({"name": 1})),
            };
            let answer = member.client.send(method, &format!("{path}{query}"), body).await;
            assert!(!matches!(answer.status, 401 | 405 | 429 | 500), "{what}: {}", answer.text);
            assert_eq!(is_refused(&answer), role < least, "{what}: {}", answer.text);
            if is_refused(&answer) {
                let said = refused(&answer, 403, &what);
                assert!(said.contains(least.as_str()) && said.contains(role.as_str()), "{said}");
            }
        }
    }
    // Nothing of this was about anybody.
    let team = crew.owner.client.get("/team").await.expect(200);
    assert_eq!(team["members"].as_array().map(Vec::len), Some(3), "{team}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_of_callers_is_left_out() {
    let world = world("").await;
    let document = world.service.client().get("/openapi.json").await.expect(200);
    let paths = document["paths"].as_object().expect("the document has paths");
    let mut described = BTreeSet::new();
    for (path, item) in paths {
        for (method, operation) in item.as_object().expect("a path has methods") {
            // Public, or for a credential of another kind.
            if operation.get("security").is_none() && !ABOUT_ONESELF.contains(&path.as_str()) {
                described.insert((method.to_uppercase(), path.clone()));
            }
        }
    }
    let walked: BTreeSet<_> = ROUTES
        .iter()
        .map(|(method, path, ..)| ((*method).to_owned(), (*path).to_owned()))
        .collect();
    assert_eq!(walked, described);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_is_for_its_roles_and_for_no_others() {
    let world = world("").await;
    let crew = Crew::start(&world).await;
    let all = tools(&crew.owner.client).await;
    assert!(all.len() > 15, "{all:?}");
    for (role, member) in &crew.members {
        let mut usable = all.clone();
        usable.retain(|name| least_role(name) <= *role);
        assert_eq!(tools(&member.client).await, usable, "listed for a {}", role.as_str());
        for name in &all {
            let least = least_role(name);
            let params = json!({"name": name, "arguments": {}});
            let result = rpc(&member.client, "tools/call", params).await;
            let said = text(&result["content"][0]["text"]);
            let is_refused = result["isError"] == true && said.contains("it takes the role");
            assert_eq!(is_refused, *role < least, "{name} of a {}: {result}", role.as_str());
            assert!(!is_refused || said.contains(least.as_str()), "{name}: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_admin_makes_does_no_more_than_an_admin() {
    let world = world("").await;
    let crew = Crew::start(&world).await;
    let (owner, admin) = (&crew.owner, crew.member(Role::Admin));
    let keys = admin.client.get("/api-keys").await.expect(200);
    let owners = text(&keys["keys"][0]["id"]);
    let roll = |id: &str| json!({"id": id});
    let is_kept = |answer: &Answer| answer.status == 403 && answer.text.contains("its new secret");
    let rolled = admin.client.post("/api-keys/roll", roll(&owners)).await;
    assert!(is_kept(&rolled), "{}", rolled.text);
    assert_eq!(acts_for(&owner.client).await, owner.id, "the owner's key goes on");

    let made = admin.client.post("/api-keys", json!({"name": "ci"})).await.expect(200);
    let key = owner.client.with_key(&text(&made["key"]));
    assert_eq!(acts_for(&key).await, owner.id);
    key.patch("/settings/notifications", json!({})).await.expect(200);
    for (method, path) in [(Method::GET, "/account"), (Method::GET, "/billing/status")] {
        let answer = key.send(method, path, None).await;
        assert!(is_refused(&answer), "{path}: {}", answer.text);
    }
    let rolled = key.post("/api-keys/roll", roll(&owners)).await;
    assert!(is_kept(&rolled), "{}", rolled.text);
    admin.client.post("/api-keys/roll", roll(&text(&made["id"]))).await.expect(200);
    key.get("/sites").await.expect(401);

    // A key that has leaked is ended by whoever is there, whosever it is.
    let path = format!("/api-keys?id={owners}");
    admin.client.patch(&path, json!({"expiresAt": null})).await.expect(200);
    admin.client.send(Method::DELETE, &path, None).await.expect(200);
    owner.client.get("/sites").await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_an_admin_made_takes_its_owner_into_no_team() {
    let world = world("").await;
    let (owner, admin) = (world.account("team").await, world.account("free").await);
    join(&owner.client, &admin, "admin").await;
    let made = admin.client.post("/api-keys", json!({"name": "deploy"})).await.expect(200);
    let key = owner.client.with_key(&text(&made["key"]));
    let other = world.account("team").await;
    let invited = invite(&other.client, &owner.email, "admin").await;
    let token = text(&invited["token"]);
    let accepted = accept(&key, &token).await;
    assert!(is_refused(&accepted), "{}", accepted.text);
    refused(&remove(&key, &owner.id).await, 404, "the owner is no member here");
    assert_eq!(acts_for(&key).await, owner.id);

    // An owner who joins another team has no members any more, and so no key of theirs.
    remove(&owner.client, &admin.id).await.expect(200);
    accept(&owner.client, &token).await.expect(200);
    assert_eq!(acts_for(&owner.client).await, other.id);
    refused(&key.get("/sites").await, 401, "its maker is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_says_which_account_is_meant() {
    let world = world("").await;
    let crew = Crew::start(&world).await;
    let member = crew.member(Role::Viewer);
    let with = async |id: &str| {
        let request = member.client.request(Method::GET, "/sites");
        member.client.finish(request.header("x-vedette-account", id)).await
    };
    let own = with(&member.id).await;
    assert_eq!(own.number("x-monthlylimit-limit"), 100, "with the limits of the own plan");
    assert_eq!(own.expect(200)["userId"], member.id.as_str());
    assert_eq!(with(&crew.owner.id).await.expect(200)["userId"], crew.owner.id.as_str());
    let theirs = with(&world.owner.id).await;
    let nobodys = with(&Uuid::new_v4().to_string()).await;
    refused(&theirs, 404, "another account");
    assert_eq!(theirs.text, nobodys.text);
    refused(&with("mine").await, 400, "what is no id");

    // There they are the owner.
    let body = json!({"domain": "own.example", "monitoring_enabled": false});
    let request = member.client.request(Method::POST, "/sites").json(&body);
    let request = request.header("x-vedette-account", &member.id);
    member.client.finish(request).await.expect(200);
    let sites = crew.owner.client.get("/sites").await.expect(200);
    assert_eq!(sites["sites"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_of_an_incident_names_the_member_who_wrote_it() {
    let world = world("").await;
    let crew = Crew::start(&world).await;
    let (owner, editor, admin) = (&crew.owner, crew.member(Role::Editor), crew.member(Role::Admin));
    let body = json!({"title": "Mail is late"});
    let opened = editor.client.post("/incidents", body).await.expect(200);
    let path = format!("/incidents/{}", text(&opened["incident"]["id"]));
    admin.client.patch(&path, json!({"status": "identified"})).await.expect(200);
    let made = admin.client.post("/api-keys", json!({"name": "ci"})).await.expect(200);
    let key = owner.client.with_key(&text(&made["key"]));
    let body = json!({"status": "monitoring", "message": "It is coming back."});
    key.post(&format!("{path}/updates"), body).await.expect(200);
    let body = json!({"status": "resolved", "message": "It is back."});
    owner.client.post(&format!("{path}/updates"), body).await.expect(200);
    let told = owner.client.get(&path).await.expect(200);
    let updates = told["updates"].as_array().expect("a list");
    let authors: Vec<_> = updates.iter().map(|update| text(&update["author_id"])).collect();
    let expected = [&editor.id, &admin.id, &admin.id, &owner.id];
    assert!(authors.iter().eq(expected), "of a key it is who made it: {told}");
}

/// The names of the tools that are listed.
async fn tools(client: &Client) -> Vec<String> {
    let listing = rpc(client, "tools/list", json!({})).await;
    let tools = listing["tools"].as_array().expect("a list");
    tools.iter().map(|tool| text(&tool["name"])).collect()
}

/// The result of a request to `/mcp`.
async fn rpc(client: &Client, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let answer = client.post("/mcp", body).await.expect(200);
    assert!(answer["result"].is_object(), "{method}: {answer}");
    answer["result"].clone()
}

/// Decisions: roles.
fn least_role(tool: &str) -> Role {
    match tool {
        "test_notifications" => Role::Admin,
        name if name.starts_with("list_") || name.starts_with("get_") => Role::Viewer,
        _ => Role::Editor,
    }
}

/// Whoever asks is the one that it is about, whatever they may do with the account's data.
const ABOUT_ONESELF: [&str; 1] = ["/auth/welcome"];

/// Method, path, query and the least role of every route of callers. The requests are such that
/// whoever may make them changes nothing.
const ROUTES: &[(&str, &str, &str, Role)] = &[
    ("GET", "/sites", "", Role::Viewer),
    ("POST", "/sites", "", Role::Editor),
    ("PATCH", "/sites", "", Role::Editor),
    ("DELETE", "/sites", "", Role::Editor),
    ("POST", "/check-ssl", "", Role::Editor),
    ("POST", "/check-dns", "", Role::Editor),
    ("POST", "/check-domain", "", Role::Editor),
    ("POST", "/check-ct", "", Role::Editor),
    ("POST", "/check-uptime", "", Role::Editor),
    ("GET", "/checks", "", Role::Viewer),
    ("POST", "/checks", "", Role::Editor),
    ("GET", "/cert-history", "", Role::Viewer),
    ("GET", "/alerts", "", Role::Viewer),
    ("PATCH", "/alerts", "", Role::Editor),
    ("GET", "/alerts/{id}/deliveries", "", Role::Viewer),
    ("GET", "/events", "?types=none", Role::Viewer),
    ("GET", "/incidents", "", Role::Viewer),
    ("POST", "/incidents", "", Role::Editor),
    ("GET", "/incidents/{id}", "", Role::Viewer),
    ("PATCH", "/incidents/{id}", "", Role::Editor),
    ("GET", "/incidents/{id}/updates", "", Role::Viewer),
    ("POST", "/incidents/{id}/updates", "", Role::Editor),
    ("GET", "/maintenance-windows", "", Role::Viewer),
    ("POST", "/maintenance-windows", "", Role::Editor),
    ("DELETE", "/maintenance-windows", "", Role::Editor),
    ("GET", "/settings/notifications", "", Role::Viewer),
    ("PATCH", "/settings/notifications", "", Role::Admin),
    ("POST", "/settings/notifications", "", Role::Admin),
    ("GET", "/api-keys", "", Role::Viewer),
    ("POST", "/api-keys", "", Role::Admin),
    ("PATCH", "/api-keys", "", Role::Admin),
    ("DELETE", "/api-keys", "", Role::Admin),
    ("POST", "/api-keys/roll", "", Role::Admin),
    ("GET", "/renewal", "", Role::Viewer),
    ("POST", "/renewal", "", Role::Admin),
    ("GET", "/renewal/certificate", "", Role::Admin),
    ("POST", "/mcp", "", Role::Viewer),
    ("GET", "/account", "", Role::Owner),
    ("PATCH", "/account", "", Role::Owner),
    ("DELETE", "/account", "", Role::Owner),
    ("POST", "/checkout", "", Role::Owner),
    ("GET", "/billing/status", "", Role::Owner),
    ("GET", "/team", "", Role::Viewer),
    ("POST", "/team", "", Role::Admin),
    ("DELETE", "/team", "", Role::Admin),
    ("PATCH", "/team/role", "", Role::Admin),
    ("POST", "/team/accept", "", Role::Viewer),
    ("GET", "/agent/key", "", Role::Viewer),
    ("POST", "/agent/key", "", Role::Admin),
    ("DELETE", "/agent/key", "", Role::Admin),
    ("GET", "/agent/certs", "", Role::Viewer),
];
