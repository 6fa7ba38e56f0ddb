//! `/renewal`: the plan, the operator's switch, what a site must be set to, and the log.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use uuid::Uuid;
use vedette_tests::{
    Account, Asked, Receiver, Response, Script, UpdateKey, Web, free_port, program,
};

use crate::world::{World, text, time, until};

/// The operator switches renewal on or off.
async fn switch(world: &World, account: &Account, on: bool) -> Value {
    let path = format!("/admin/accounts/{}", account.id);
    world.service.operator().patch(&path, json!({"renewal": on})).await.expect(200)
}

/// What a site needs, with the lab's name server.
fn provider(world: &World, zone: &str) -> Value {
    let key = UpdateKey::new("renewal-key");
    json!({
        "dns_provider": "rfc2136",
        "dns_provider_config": {
            "server": world.lab.dns.address().to_string(),
            "zone": zone,
            "key_name": key.name,
            "key_secret": key.secret(),
        },
    })
}

async fn logs(world: &World, site: &str) -> Vec<Value> {
    let path = format!("/renewal?site_id={site}");
    let log = world.owner.client.get(&path).await.expect(200);
    log["logs"].as_array().cloned().expect("a list")
}

/// The log, as soon as its newest line is the end of a renewal.
async fn ended(world: &World, site: &str) -> Vec<Value> {
    until("a renewal to end", async || {
        let log = logs(world, site).await;
        log.first().is_some_and(|newest| newest["status"] != "pending").then_some(log)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn below_pro_everything_is_403_and_names_the_plan() {
    let world = World::start().await;
    let site = world.quiet("shop.example").await;
    for plan in ["free", "starter"] {
        let account = world.account(plan).await;
        switch(&world, &account, true).await;
        let client = &account.client;
        for body in [json!({"site_id": site}), json!({}), json!({"site_id": 7})] {
            let refused = client.post("/renewal", body).await.expect(403);
            assert!(text(&refused["message"]).contains("pro"), "{refused}");
        }
        for path in ["/renewal", "/renewal/certificate"] {
            let refused = client.get(&format!("{path}?site_id={site}")).await.expect(403);
            assert!(text(&refused["message"]).contains("pro"), "{refused}");
            client.get(path).await.expect(403);
        }
    }
    let anybody = world.service.client();
    anybody.post("/renewal", json!({"site_id": site})).await.expect(401);
    anybody.get(&format!("/renewal?site_id={site}")).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn renewal_is_closed_until_the_operator_switches_it_on() {
    let world = World::start().await;
    let site = world.quiet("shop.example").await;
    let client = &world.owner.client;
    let closed = client.post("/renewal", json!({"site_id": site})).await;
    assert!(closed.header("deprecation").is_some_and(|since| since.starts_with('@')));
    let closed = closed.expect(403);
    assert!(text(&closed["message"]).contains("closed to new users"), "{closed}");
    assert!(closed["error"].is_string(), "{closed}");
    assert_eq!(logs(&world, &site).await, Vec::<Value>::new(), "the log can be read all the same");

    let switched = switch(&world, &world.owner, true).await;
    assert_eq!(switched["account_id"], json!(world.owner.id));
    assert_eq!(switched["renewal"], true);
    let path = format!("/admin/accounts/{}", world.owner.id);
    let same = world.service.operator().patch(&path, json!({})).await.expect(200);
    assert_eq!(same, switched, "nothing is asked for, and nothing changes");
    client.post("/renewal", json!({"site_id": site})).await.expect(400);
    let other = world.account("pro").await.client;
    other.post("/renewal", json!({"site_id": site})).await.expect(403);

    switch(&world, &world.owner, false).await;
    let closed = client.post("/renewal", json!({"site_id": site})).await.expect(403);
    assert!(text(&closed["message"]).contains("closed to new users"), "{closed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_switches_accounts_that_exist() {
    let world = World::start().await;
    let operator = world.service.operator();
    let nobody = format!("/admin/accounts/{}", Uuid::new_v4());
    operator.patch(&nobody, json!({"renewal": true})).await.expect(404);
    operator.patch("/admin/accounts/17", json!({"renewal": true})).await.expect(400);
    let owner = format!("/admin/accounts/{}", world.owner.id);
    for body in [json!({"renewal": "on"}), json!({"renewal": null})] {
        let refused = operator.patch(&owner, body).await.expect(400);
        assert!(text(&refused["message"]).contains("renewal"), "{refused}");
    }

    let site = world.quiet("shop.example").await;
    let post = async || world.owner.client.post("/renewal", json!({"site_id": site})).await.status;
    let admin = format!("http://{}", world.service.admin);
    for (word, status) in [("on", 400), ("off", 403)] {
        let arguments = ["account", "renewal", &world.owner.id, word, "--admin", &admin];
        let mut command = tokio::process::Command::new(program().expect("built"));
        let ran = command.args(arguments).output().await.expect("it runs");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let said: Value = serde_json::from_slice(&ran.stdout).expect("one JSON object");
        assert_eq!(said["renewal"], word == "on");
        assert_eq!(post().await, status, "{word}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_and_unknown_sites_get_the_same_answer() {
    let world = World::start().await;
    let site = world.quiet("shop.example").await;
    let stranger = world.account("pro").await;
    switch(&world, &stranger, true).await;
    let client = &stranger.client;
    let unknown = Uuid::new_v4().to_string();
    for path in ["/renewal?site_id=", "/renewal/certificate?site_id="] {
        let theirs = client.get(&format!("{path}{site}")).await;
        let nobodys = client.get(&format!("{path}{unknown}")).await;
        assert_eq!((theirs.status, &theirs.text), (404, &nobodys.text), "{path}");
    }
    let theirs = client.post("/renewal", json!({"site_id": site})).await;
    let nobodys = client.post("/renewal", json!({"site_id": unknown})).await;
    assert_eq!((theirs.status, &theirs.text), (404, &nobodys.text));
    for path in ["/renewal", "/renewal?site_id=17", "/renewal/certificate"] {
        client.get(path).await.expect(400);
    }
    for body in [json!({}), json!({"site_id": "17"}), json!({"site_id": null})] {
        let refused = client.post("/renewal", body).await.expect(400);
        assert!(text(&refused["message"]).contains("site_id"), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_cannot_be_used_is_named() {
    let world = World::start().await;
    switch(&world, &world.owner, true).await;
    let site = world.quiet("shop.example").await;
    let client = &world.owner.client;
    let path = format!("/sites?id={site}");
    let good = provider(&world, "shop.example");
    let with = |member: &str, value: Value| {
        let mut changed = good.clone();
        changed["dns_provider_config"][member] = value;
        changed
    };
    for (settings, field) in [
        (json!({}), "dns_provider"),
        (json!({"dns_provider": "cloudflare"}), "dns_provider"),
        (json!({"dns_provider": "rfc2136"}), "dns_provider_config"),
        (with("zone", json!("other.example")), "dns_provider_config.zone"),
        (with("key_secret", json!("s3cr3t!")), "dns_provider_config.key_secret"),
        (with("algorithm", json!("hmac-md5")), "dns_provider_config.algorithm"),
        (with("server", json!("169.254.169.254:53")), "dns_provider_config.server"),
        (with("server", json!("10.0.0.1")), "dns_provider_config.server"),
    ] {
        client.patch(&path, settings.clone()).await.expect(200);
        let refused = client.post("/renewal", json!({"site_id": site})).await.expect(400);
        let said = text(&refused["message"]);
        assert!(said.contains(field) && !said.contains("s3cr3t"), "{settings}: {said}");
    }
    assert_eq!(logs(&world, &site).await, Vec::<Value>::new(), "nothing has begun");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_that_fails_says_why_in_the_log() {
    let nobody = free_port().await.expect("loopback has free ports");
    let directory = format!("[renewal]\ndirectory_url = \"http://{nobody}/directory\"\n");
    let world = World::with(|settings| settings.toml = directory).await;
    switch(&world, &world.owner, true).await;
    let site = world.quiet_with("shop.example", provider(&world, "shop.example")).await;
    let client = &world.owner.client;
    let begun = client.post("/renewal", json!({"site_id": site})).await.expect(200);
    assert_eq!(begun["site_id"], json!(site));
    assert!(text(&begun["message"]).contains("shop.example"), "{begun}");

    let log = ended(&world, &site).await;
    let statuses: Vec<_> = log.iter().map(|entry| text(&entry["status"])).collect();
    assert_eq!(statuses, ["failed", "pending"]);
    assert!(text(&log[0]["message"]).contains("certificate authority"), "{log:?}");
    assert!(time(&log[0]["created_at"]) >= time(&log[1]["created_at"]));
    let secret = UpdateKey::new("renewal-key").secret();
    assert!(!format!("{log:?}{}", world.service.output()).contains(&secret));
    client.get(&format!("/renewal/certificate?site_id={site}")).await.expect(404);

    let elsewhere = json!({"deploy_target": "nginx"});
    client.patch(&format!("/sites?id={site}"), elsewhere).await.expect(200);
    client.post("/renewal", json!({"site_id": site})).await.expect(200);
    let log = until("the second renewal to end", async || {
        let log = logs(&world, &site).await;
        (log.len() == 4).then_some(log)
    })
    .await;
    assert_eq!(log[0]["status"], "failed");
    let said = text(&log[0]["message"]);
    assert!(said.contains("deploy_target") && said.contains("download"), "{said}");

    client.delete(&format!("/sites?id={site}")).await.expect(200);
    client.get(&format!("/renewal?site_id={site}")).await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_that_a_crash_interrupted_is_taken_up_again() {
    let authority = Receiver::start().await.expect("loopback has free ports");
    authority.answer_next(Response::Hang);
    let directory = format!("[renewal]\ndirectory_url = \"{}\"\n", authority.url("/directory"));
    let mut world = World::with(|settings| settings.toml = directory).await;
    switch(&world, &world.owner, true).await;
    let site = world.quiet_with("shop.example", provider(&world, "shop.example")).await;
    world.owner.client.post("/renewal", json!({"site_id": site})).await.expect(200);
    authority.wait_for(1).await.expect("the authority is asked");
    let again = world.owner.client.post("/renewal", json!({"site_id": site})).await.expect(200);
    assert!(text(&again["message"]).contains("under way"), "{again}");
    assert_eq!(logs(&world, &site).await.len(), 1, "one at a time");

    world.service.kill().await.expect("killed");
    world.service = world.service.start_again().await.expect("starts again");
    world.owner.client = world.service.client().with_key(&world.owner.key);
    authority.wait_for(2).await.expect("the authority is asked again");
    let log = ended(&world, &site).await;
    assert_eq!((log.len(), &log[0]["status"]), (2, &json!("failed")), "{log:?}");
}

/// An authority that takes every proof. Who asks for the order the nth time is answered as it is
/// `ordered`.
async fn authority(ordered: impl Fn(usize) -> (u16, Value) + Send + Sync + 'static) -> Web {
    let polls = AtomicUsize::new(0);
    let answer = move |asked: &Asked| {
        let host = asked.header("host").unwrap_or_default();
        let url = |path: &str| format!("http://{host}{path}");
        let (status, body) = match asked.path() {
            "/directory" => (200, directory(url)),
            "/account" => (201, json!({"status": "valid"})),
            "/orders" => (201, order(url)),
            "/authorization" => (200, authorization(url)),
            "/challenge" => (200, challenge(url)),
            "/order" => ordered(polls.fetch_add(1, Ordering::Relaxed)),
            _ => (200, json!({})),
        };
        let location = url(if asked.path() == "/orders" { "/order" } else { "/account/1" });
        let headers = [
            ("content-type", "application/json"),
            ("replay-nonce", "n0nce"),
            ("location", location.as_str()),
        ];
        let body = if asked.method == "HEAD" { String::new() } else { body.to_string() };
        // To the end of what was sent: a connection that is closed before it was read is torn.
        Script::reply(status, &headers, body).held()
    };
    Web::start(None, answer).await.expect("loopback has free ports")
}

fn directory(url: impl Fn(&str) -> String) -> Value {
    json!({"newNonce": url("/nonce"), "newAccount": url("/account"), "newOrder": url("/orders")})
}

fn order(url: impl Fn(&str) -> String) -> Value {
    let authorizations = [url("/authorization")];
    json!({"status": "pending", "authorizations": authorizations, "finalize": url("/finalize")})
}

fn authorization(url: impl Fn(&str) -> String) -> Value {
    let identifier = json!({"type": "dns", "value": "shop.example"});
    json!({"identifier": identifier, "status": "pending", "challenges": [challenge(url)]})
}

fn challenge(url: impl Fn(&str) -> String) -> Value {
    json!({"type": "dns-01", "url": url("/challenge"), "token": "t0ken", "status": "pending"})
}

#[tokio::test(flavor = "multi_thread")]
async fn trouble_of_the_authority_is_told_in_its_words_and_not_as_a_proof_that_failed() {
    let problem = |kind: &str, detail: &str| {
        let kind = format!("urn:ietf:params:acme:error:{kind}");
        json!({"type": kind, "detail": detail})
    };
    let ordered = move |nth: usize| {
        if nth == 0 {
            return (503, problem("serverInternal", "down for maintenance"));
        }
        let error = problem("caa", "CAA forbids the issuer");
        (200, json!({"error": error, "status": "invalid", "authorizations": [], "finalize": ""}))
    };
    let authority = authority(ordered).await;
    let renewal = format!(
        "[renewal]\ndirectory_url = \"{}/directory\"\npropagation = \"0s\"\n",
        authority.origin()
    );
    let world = World::with(|settings| settings.toml = renewal).await;
    world.lab.dns.take_updates(&UpdateKey::new("renewal-key"));
    switch(&world, &world.owner, true).await;
    let site = world.quiet_with("shop.example", provider(&world, "shop.example")).await;
    for (lines, words) in [(2, "down for maintenance"), (4, "CAA forbids the issuer")] {
        world.owner.client.post("/renewal", json!({"site_id": site})).await.expect(200);
        let log = ended(&world, &site).await;
        assert_eq!((log.len(), &log[0]["status"]), (lines, &json!("failed")), "{log:?}");
        let said = text(&log[0]["message"]);
        assert!(said.contains(words) && !said.contains("proof"), "{said}");
    }
}
