//! `/openapi.json` and `/docs`: what the service says of itself, held against what it does.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::process::Command;
use uuid::Uuid;
use vedette_tests::{Account, Answer, Client, Lab, Received, Service, Settings};

use crate::world::{World, text};

/// The document, and the answers that were held against it.
struct Description(Value);

impl Description {
    async fn read(world: &World) -> Self {
        Self(world.service.client().get("/openapi.json").await.expect(200))
    }

    fn follow<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(to) => self.0.pointer(&to[1..]).unwrap_or_else(|| panic!("{to} leads nowhere")),
            None => value,
        }
    }

    /// Fails unless the answer is one that the operation is described to give.
    #[track_caller]
    fn holds(&self, method: &str, path: &str, answer: &Answer) {
        let at = format!("{method} {path} {}", answer.status);
        let responses = &self.0["paths"][path][method]["responses"];
        let response = self.follow(&responses[answer.status.to_string()]);
        assert!(response.is_object(), "{at} is not described: {}", answer.text);
        for (name, header) in response["headers"].as_object().into_iter().flatten() {
            let told = answer.header(name).unwrap_or_else(|| panic!("{at} has no {name}"));
            let number = told.parse::<i64>().map(Value::from);
            let schema = &self.follow(header)["schema"];
            self.fits(schema, &number.unwrap_or_else(|_| told.into()), &format!("{at} {name}"));
        }
        self.fits(&response["content"]["application/json"]["schema"], &answer.json(), &at);
    }

    /// Fails unless a value is as a schema of the document wants it.
    #[track_caller]
    fn fits(&self, schema: &Value, value: &Value, at: &str) {
        let mut schema = schema.clone();
        schema["components"] = self.0["components"].clone();
        let options = jsonschema::options().should_validate_formats(true).offline();
        let validator = options.build(&schema).expect("the schema is one");
        let problems: Vec<String> = validator
            .iter_errors(value)
            .map(|problem| format!("{}: {problem}", problem.instance_path()))
            .collect();
        assert!(problems.is_empty(), "{at}: {value}\n{problems:#?}");
    }

    /// Fails unless a signed webhook is the one that is described, with no field more.
    #[track_caller]
    fn holds_webhook(&self, received: &Received) {
        let webhook = &self.0["webhooks"]["alerts"]["post"];
        for parameter in webhook["parameters"].as_array().expect("it has headers") {
            let name = text(&parameter["name"]);
            let value = received.header(&name).unwrap_or_else(|| panic!("there is no {name}"));
            let number = value.parse::<i64>().map(Value::from);
            self.fits(&parameter["schema"], &number.unwrap_or_else(|_| value.into()), &name);
        }
        let body = received.json().expect("JSON");
        self.fits(&webhook["requestBody"]["content"]["application/json"]["schema"], &body, "body");
        self.names_all("WebhookPayload", &body);
        for alert in body["alerts"].as_array().expect("a list") {
            self.names_all("WebhookAlert", alert);
        }
    }

    #[track_caller]
    fn names_all(&self, schema: &str, value: &Value) {
        let described = &self.0["components"]["schemas"][schema]["properties"];
        for (field, _) in value.as_object().expect("an object") {
            assert!(described[field].is_object(), "{schema} has no {field}");
        }
    }
}

/// The document's operations: path, method, name.
fn operations(document: &Value) -> Vec<(String, String, String)> {
    let paths = document["paths"].as_object().expect("the document has paths");
    let operations = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().expect("a path has methods");
        methods.iter().map(move |(method, operation)| {
            (path.clone(), method.clone(), text(&operation["operationId"]))
        })
    });
    operations.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn both_descriptions_are_public_and_name_every_path() {
    let lab = Lab::start().await.expect("loopback has free ports");
    let settings = Settings { edition: "both".into(), ..lab.settings() };
    let service = Service::start(settings).await.expect("the service starts");
    let documented = [
        "/sites",
        "/check-ssl",
        "/check-dns",
        "/check-domain",
        "/check-ct",
        "/check-uptime",
        "/public/check-ssl",
        "/checks",
        "/cert-history",
        "/alerts",
        "/api-keys",
        "/api-keys/roll",
        "/settings/notifications",
        "/openapi.json",
        "/docs",
    ];
    let standard = service.client().get("/openapi.json").await;
    assert!(standard.header("content-type").is_some_and(|kind| kind.contains("json")));
    assert_eq!(standard.number("x-ratelimit-limit"), 10, "it counts like other public paths");
    let team = Client::new(&format!("http://{}/api", service.api), None);
    let team = team.get("/openapi.json").await;
    for (answer, prefix) in [(standard, "/v1"), (team, "/api")] {
        let document = answer.expect(200);
        assert!(text(&document["openapi"]).starts_with("3.1."));
        assert_eq!(document["info"]["version"], "1.0.0");
        assert_eq!(document["servers"][0]["url"], prefix);
        for path in documented {
            assert!(document["paths"][path].is_object(), "{prefix}: {path}");
        }
        let scheme = &document["components"]["securitySchemes"]["bearer"];
        assert_eq!((&scheme["type"], &scheme["scheme"]), (&json!("http"), &json!("bearer")));
        let dns = text(&document["paths"]["/check-dns"]["post"]["description"]);
        assert!(!dns.contains("CAA"), "the schema says which types an edition shows: {dns}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn descriptions_point_to_nothing_that_readers_lack() {
    let world = World::start().await;
    let document = Description::read(&world).await.0.to_string();
    for elsewhere in ["(decisions:", "(spec:"] {
        assert_eq!(document.find(elsewhere), None, "{elsewhere}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn page_is_one_answer_that_shows_every_operation() {
    let world = World::start().await;
    let client = world.service.client();
    let document = client.get("/openapi.json").await.expect(200);
    let page = client.get("/docs").await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")));
    let policy = page.header("content-security-policy").expect("a policy").to_owned();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    for (path, _, id) in operations(&document) {
        assert!(page.text.contains(&format!("id=\"{id}\"")), "{id}");
        assert!(page.text.contains(&path), "{path}");
    }
    for asks in ["src=", "href=\"http", "href=\"//", "@import", "url(http", "<script"] {
        assert!(!page.text.contains(asks), "{asks}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_it_is_told_that_nothing_changed() {
    let world = World::start().await;
    let client = world.service.client();
    for path in ["/openapi.json", "/docs"] {
        let first = client.get(path).await;
        let etag = first.header("etag").expect("a tag").to_owned();
        let kept = first.header("cache-control").expect("a rule").to_owned();
        assert!(kept.contains("max-age") && !kept.contains("no-store"), "{kept}");
        let again = client.request(Method::GET, path).header("if-none-match", &etag);
        let again = client.finish(again).await;
        assert_eq!((again.status, again.text.as_str()), (304, ""));
        assert_eq!(again.number("x-ratelimit-limit"), 10);
        let head = client.send(Method::HEAD, path, None).await;
        assert_eq!((head.status, head.text.as_str()), (200, ""));
        assert_eq!(head.header("etag"), Some(etag.as_str()));
        assert_eq!(client.send(Method::POST, path, None).await.status, 405);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn description_shares_the_public_window() {
    let world = World::start().await;
    let one = world.service.client().from_address("192.0.2.77");
    for _ in 0..5 {
        one.get("/openapi.json").await.expect(200);
        assert_eq!(one.get("/docs").await.status, 200);
    }
    let description = Description::read(&world).await;
    description.holds("get", "/openapi.json", &one.get("/openapi.json").await);
    one.get("/public/check-ssl?domain=localhost").await.expect(429);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_as_they_are_described() {
    let world = World::start().await;
    let description = Description::read(&world).await;
    let client = &world.owner.client;
    let site = world.site("soon.example", 5).await;
    let id = world.watch("soon.example", &site).await;
    let alert = text(&world.open_alerts(1).await[0]["id"]);

    let reads = [
        ("/sites", String::new()),
        ("/alerts", "?resolved=all&limit=1".to_owned()),
        ("/checks", format!("?site_id={id}")),
        ("/checks", format!("?site_id={id}&check_type=ssl")),
        ("/cert-history", format!("?site_id={id}")),
        ("/settings/notifications", String::new()),
        ("/api-keys", String::new()),
    ];
    for (path, query) in reads {
        let answer = client.get(&format!("{path}{query}")).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        description.holds("get", path, &answer);
    }

    let port = site.port();
    let body = json!({"domain": "soon.example", "port": port, "site_id": id});
    description.holds("post", "/check-ssl", &client.post("/check-ssl", body).await);
    let body = json!({"domain": "soon.example"});
    description.holds("post", "/check-dns", &client.post("/check-dns", body).await);
    let patch = client.patch(&format!("/sites?id={id}"), json!({"alert_days": 3})).await;
    description.holds("patch", "/sites", &patch);
    let path = format!("/alerts?id={alert}");
    let resolved = client.patch(&path, json!({"is_resolved": true})).await;
    description.holds("patch", "/alerts", &resolved);
    let settings = client.patch("/settings/notifications", json!({"email": false})).await;
    description.holds("patch", "/settings/notifications", &settings);
    let key = client.post("/api-keys", json!({"name": "second"})).await;
    description.holds("post", "/api-keys", &key);
    let key = text(&key.json()["id"]);
    let rolled = client.post("/api-keys/roll", json!({"id": key})).await;
    description.holds("post", "/api-keys/roll", &rolled);
    let incident = client.post("/incidents", json!({"title": "Slow"})).await;
    description.holds("post", "/incidents", &incident);
    let path = format!("/incidents/{}", text(&incident.json()["incident"]["id"]));
    description.holds("get", "/incidents/{id}", &client.get(&path).await);
    let expiry = client.patch(&format!("/api-keys?id={key}"), json!({"expiresAt": null})).await;
    description.holds("patch", "/api-keys", &expiry);
    let deleted = client.delete(&format!("/api-keys?id={key}")).await;
    description.holds("delete", "/api-keys", &deleted);
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_are_as_they_are_described() {
    let world = World::start().await;
    let description = Description::read(&world).await;
    world.hook().await;
    let secret = json!({"webhook_secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"});
    world.owner.client.patch("/settings/notifications", secret).await.expect(200);
    let site = world.site("hooked.example", 5).await;
    let id = world.watch("hooked.example", &site).await;
    world.lab.receiver.wait_for(1).await.expect("the alert arrives");
    let changed = json!({"alert_days": 3});
    world.owner.client.patch(&format!("/sites?id={id}"), changed).await.expect(200);
    world.lab.receiver.wait_for(2).await.expect("its end arrives");
    world.send_test().await;
    let received = world.lab.receiver.wait_for(3).await.expect("the test arrives");
    received.iter().for_each(|hook| description.holds_webhook(hook));
    let statuses = received.iter().map(|hook| hook.json().expect("JSON"));
    let statuses: Vec<String> = statuses.map(|body| text(&body["alerts"][0]["status"])).collect();
    assert_eq!(statuses, ["raised", "resolved", "raised"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_as_they_are_described() {
    let world = World::start().await;
    let description = Description::read(&world).await;
    let client = &world.owner.client;
    let free = world.account("free").await.client;
    let unknown = format!("/sites?id={}", Uuid::new_v4());
    let large = vec![b' '; (64 << 10) + 1];
    let answers = [
        ("post", "/sites", client.post("/sites", json!({})).await, 400),
        ("get", "/sites", client.anonymous().get("/sites").await, 401),
        ("delete", "/sites", client.delete(&unknown).await, 404),
        ("post", "/sites", client.send_raw(Method::POST, "/sites", large).await, 413),
        (
            "patch",
            "/settings/notifications",
            free.patch("/settings/notifications", json!({"email": true})).await,
            403,
        ),
    ];
    for (method, path, answer, status) in answers {
        assert_eq!(answer.status, status, "{}", answer.text);
        description.holds(method, path, &answer);
    }
    let busy = client.from_address("198.51.100.77");
    let answers = futures::future::join_all((0..61).map(|_| busy.get("/alerts"))).await;
    let refused = answers.iter().find(|answer| answer.status == 429).expect("one was refused");
    description.holds("get", "/alerts", refused);
}

/// Hundreds of made-up requests by a program of others; `VEDETTE_PEERS` names the folder it is in.
#[tokio::test(flavor = "multi_thread")]
async fn schemathesis_finds_nothing() {
    let Some(program) = schemathesis() else { return };
    let world = World::start().await;
    made_up_requests(&world, &world.owner, &program, &[]).await;
}

/// The same of the team edition. What would end the account is left out, and what asks a payment
/// provider.
#[tokio::test(flavor = "multi_thread")]
async fn schemathesis_finds_nothing_in_the_team_edition() {
    let Some(program) = schemathesis() else { return };
    let world = World::with(|settings| {
        settings.edition = "team".into();
        settings.toml = "[cron]\nsecret = \"s\"\n[payments]\nsecret = \"s\"\n".into();
    })
    .await;
    let owner = world.account("team").await;
    let without =
        ["--exclude-operation-id", "deleteAccount", "--exclude-operation-id", "beginCheckout"];
    made_up_requests(&world, &owner, &program, &without).await;
}

/// None, and said so, where it is not installed.
fn schemathesis() -> Option<PathBuf> {
    let folder = std::env::var_os("VEDETTE_PEERS").map(PathBuf::from);
    let program = folder.map(|folder| folder.join("bin/schemathesis"));
    let found = program.filter(|program| program.is_file());
    if found.is_none() {
        println!("skipped: VEDETTE_PEERS names no folder with bin/schemathesis");
    }
    found
}

async fn made_up_requests(world: &World, owner: &Account, program: &Path, options: &[&str]) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/schemathesis.sh");
    let ran = Command::new("bash")
        .args([script, world.service.client().base(), owner.key.as_str()])
        .arg(program)
        .args(options)
        .stdin(Stdio::null())
        .current_dir(world.service.folder())
        .kill_on_drop(true)
        .output()
        .await
        .expect("bash is installed");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
}
