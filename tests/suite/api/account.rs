//! Accounts, as the operator makes them.

use reqwest::Method;
use serde_json::json;
use vedette_tests::program;

use crate::world::{World, soon, text, until};

#[tokio::test(flavor = "multi_thread")]
async fn the_command_line_makes_and_lists_accounts() {
    let world = World::start().await;
    let admin = format!("http://{}", world.service.admin);
    let vedette = async |arguments: &[&str]| {
        let mut command = tokio::process::Command::new(program().expect("built"));
        command.args(arguments).args(["--admin", &admin]).output().await.expect("it runs")
    };
    let made =
        vedette(&["account", "create", "--email", "cli@example.com", "--plan", "starter"]).await;
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let made: serde_json::Value = serde_json::from_slice(&made.stdout).expect("one JSON object");
    assert_eq!((&made["email"], &made["plan"]), (&json!("cli@example.com"), &json!("starter")));
    let key = made["key"].as_str().expect("a key");
    let sites = world.service.client().with_key(key).get("/sites").await.expect(200);
    assert_eq!((&sites["plan"], &sites["userId"]), (&json!("starter"), &made["account_id"]));

    let listed = vedette(&["account", "list"]).await;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("cli@example.com") && listed.contains("owner@example.com"), "{listed}");
    assert!(!listed.contains(key));

    let refused =
        vedette(&["account", "create", "--email", "x@example.com", "--plan", "gold"]).await;
    assert!(!refused.status.success());
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("pro"),
        "it names the plans there are"
    );
    let team =
        ["account", "create", "--email", "x@example.com", "--plan", "pro", "--edition", "team"];
    let refused = vedette(&team).await;
    assert!(!refused.status.success(), "its key would open nothing");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("edition must be one of standard"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_moves_an_account_to_another_plan_of_its_edition() {
    let world = World::start().await;
    let (owner, operator) = (&world.owner.client, world.service.operator());
    let path = format!("/admin/accounts/{}", world.owner.id);
    for domain in ["one.example", "two.example", "three.example"] {
        owner.post("/sites", json!({"domain": domain, "check_types": ["dns"]})).await.expect(200);
    }
    let moved = operator.patch(&path, json!({"plan": "free"})).await.expect(200);
    assert_eq!((&moved["plan"], &moved["renewal"]), (&json!("free"), &json!(false)));
    let listed = owner.get("/sites").await.expect(200);
    let watched: Vec<_> = listed["sites"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|site| site["monitoring_enabled"] == true)
        .collect();
    assert_eq!((&listed["plan"], watched), (&json!("free"), vec![true, true, false]));
    let full = owner.post("/sites", json!({"domain": "four.example"})).await;
    assert_eq!((full.status, full.number("x-monthlylimit-limit")), (403, 100), "{}", full.text);

    for (path, body, status) in [
        (path.as_str(), json!({"plan": "team"}), 400),
        (path.as_str(), json!({"plan": null}), 400),
        (path.as_str(), json!({"email": "nobody"}), 400),
        (path.as_str(), json!({"email": null}), 400),
        (path.as_str(), json!({}), 200),
        ("/admin/accounts/00000000-0000-4000-8000-000000000000", json!({"plan": "pro"}), 404),
    ] {
        let answer = operator.patch(path, body.clone()).await;
        assert_eq!(answer.status, status, "{path} {body}: {}", answer.text);
    }

    let mut command = tokio::process::Command::new(program().expect("built"));
    let admin = format!("http://{}", world.service.admin);
    command.args(["account", "plan", &world.owner.id, "starter", "--admin", &admin]);
    let moved = command.output().await.expect("it runs");
    assert!(moved.status.success(), "{}", String::from_utf8_lossy(&moved.stderr));
    assert_eq!(owner.get("/sites").await.expect(200)["plan"], "starter");
    owner.post("/sites", json!({"domain": "four.example"})).await.expect(200);

    let mut command = tokio::process::Command::new(program().expect("built"));
    let address = "ada@new.example";
    command.args(["account", "email", &world.owner.id, address, "--admin", &admin]);
    let moved = command.output().await.expect("it runs");
    assert!(moved.status.success(), "{}", String::from_utf8_lossy(&moved.stderr));
    let answer: serde_json::Value = serde_json::from_slice(&moved.stdout).expect("one JSON object");
    assert_eq!((&answer["email"], &answer["plan"]), (&json!(address), &json!("starter")));
}

#[tokio::test(flavor = "multi_thread")]
async fn where_there_are_no_teams_no_header_names_another_account() {
    let world = World::start().await;
    for named in ["x", "00000000-0000-4000-8000-000000000000"] {
        let request = world.owner.client.request(reqwest::Method::GET, "/sites");
        let answer = request.header("x-vedette-account", named);
        world.owner.client.finish(answer).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_lost_a_key_is_given_another_by_the_operator() {
    let world = World::start().await;
    let admin = format!("http://{}", world.service.admin);
    let key_of = async |account: &str, flags: &[&str]| {
        let mut command = tokio::process::Command::new(program().expect("built"));
        command.args(["account", "key", account]).args(flags).args(["--admin", &admin]);
        command.output().await.expect("it runs")
    };
    let ran = key_of(&world.owner.id, &[]).await;
    let made: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("one JSON object");
    let another = world.owner.client.with_key(&text(&made["key"]));
    let listed = another.get("/api-keys").await.expect(200);
    assert_eq!(listed["keys"].as_array().map(Vec::len), Some(2), "{listed}");
    world.owner.client.get("/sites").await.expect(200);

    // The port itself wants no body where nothing is asked for.
    let keys = format!("/admin/accounts/{}/keys", world.owner.id);
    let operator = world.service.operator();
    let third = operator.send(Method::POST, &keys, None).await.expect(200);
    another.with_key(&text(&third["key"])).get("/sites").await.expect(200);

    // One that has expired opens something again.
    let id = text(&made["id"]);
    let path = format!("/api-keys?id={id}");
    world.owner.client.patch(&path, json!({"expiresAt": soon()})).await.expect(200);
    until("the key to expire", async || (another.get("/sites").await.status == 401).then_some(()))
        .await;
    let ran = key_of(&world.owner.id, &["--roll", &id]).await;
    let rolled: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("one JSON object");
    another.with_key(&text(&rolled["key"])).get("/sites").await.expect(200);

    // A plan with one key.
    let free = world.account("free").await;
    let listed = free.client.get("/api-keys").await.expect(200);
    let id = text(&listed["keys"][0]["id"]);
    let refused = key_of(&free.id, &[]).await;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains(&id), "it names what may be rolled: {said}");
    let ran = key_of(&free.id, &["--roll", &id]).await;
    let rolled: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("one JSON object");
    assert_eq!(text(&rolled["id"]), id);
    free.client.with_key(&text(&rolled["key"])).get("/sites").await.expect(200);
    free.client.get("/sites").await.expect(401);

    // A key is found in its own account alone.
    let foreign = key_of(&world.owner.id, &["--roll", &id]).await;
    let said = String::from_utf8_lossy(&foreign.stderr).into_owned();
    assert!(!foreign.status.success() && said.contains("API key not found"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_deletes_an_account_in_any_edition() {
    let world = World::start().await;
    world.owner.client.post("/sites", json!({"domain": "gone.example"})).await.expect(200);
    let stranger = world.account("free").await;
    let admin = format!("http://{}", world.service.admin);
    let delete = async || {
        let mut command = tokio::process::Command::new(program().expect("built"));
        command.args(["account", "delete", &world.owner.id, "--admin", &admin]);
        command.output().await.expect("it runs")
    };
    let deleted = delete().await;
    assert!(deleted.status.success(), "{}", String::from_utf8_lossy(&deleted.stderr));
    world.owner.client.get("/sites").await.expect(401);
    stranger.client.get("/sites").await.expect(200);
    let again = delete().await;
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(!again.status.success() && said.contains("account not found"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_are_shown_with_their_limits_and_gates() {
    let world = World::start().await;
    let plans = world.service.operator().get("/admin/plans").await.expect(200);
    let editions = plans["editions"].as_array().expect("a list");
    assert_eq!(editions.len(), 2);
    assert_eq!((&editions[0]["id"], &editions[0]["mounted"]), (&json!("standard"), &json!(true)));
    assert_eq!((&editions[1]["id"], &editions[1]["mounted"]), (&json!("team"), &json!(false)));
    let starter = &editions[0]["plans"][1];
    assert_eq!((&starter["id"], &starter["sites"]), (&json!("starter"), &json!(10)));
    assert_eq!(starter["features"], json!(["email", "chat_webhooks", "custom_webhook"]));
    assert_eq!(editions[0]["plans"][0]["min_interval_seconds"], json!({ "uptime": 300 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_start_prints_one_key_of_the_highest_plan() {
    let world = World::with(|settings| settings.first_account = true).await;
    let key = world.service.first_key.clone().expect("printed");
    let client = world.service.client().with_key(&key);
    assert_eq!(client.get("/sites").await.expect(200)["plan"], "pro");
    let mut service = world.service;
    service.stop().await.expect("stops");
    let service = service.start_again().await.expect("starts again");
    assert_eq!(service.first_key, None, "only an empty database gets a first account");
    service.client().with_key(&key).get("/sites").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_do_not_reach_the_operators_port() {
    let world = World::start().await;
    let operator = world.service.operator();
    operator.get("/healthz").await.expect(200);
    let get = |header: &'static str, value: &'static str| {
        let request = operator.request(Method::GET, "/admin/accounts").header(header, value);
        operator.finish(request)
    };
    assert_eq!(get("origin", "http://evil.example").await.status, 403);
    assert_eq!(get("host", "evil.example").await.status, 403);
    assert_eq!(
        world.service.client().get("/admin/accounts").await.status,
        404,
        "not on the API's port"
    );
}
