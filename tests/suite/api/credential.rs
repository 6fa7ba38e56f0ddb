//! Every private route under every kind of credential: who may not come in is told so by all of
//! them, and a session token is as good as a key.

use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;
use vedette_model::api_key;
use vedette_tests::{Answer, Client, Issuer, Signature};

use crate::world::{World, soon, text, until};

/// A request to a private route, and its status for an account that has nothing yet.
struct Ask {
    method: Method,
    path: String,
    body: Option<Value>,
    status: u16,
}

fn asks() -> Vec<Ask> {
    let id = Uuid::new_v4();
    let ask = |method: Method, path: &str, body: Value, status: u16| Ask {
        method,
        path: path.replace("{id}", &id.to_string()),
        body: (!body.is_null()).then_some(body),
        status,
    };
    let mut asks = vec![
        ask(Method::GET, "/sites", Value::Null, 200),
        ask(
            Method::POST,
            "/sites",
            json!({"domain": "a.example", "monitoring_enabled": false}),
            200,
        ),
        ask(Method::PATCH, "/sites?id={id}", json!({}), 404),
        ask(Method::DELETE, "/sites?id={id}", Value::Null, 404),
        ask(Method::GET, "/checks?site_id={id}", Value::Null, 404),
        ask(Method::POST, "/checks", json!({}), 400),
        ask(Method::GET, "/cert-history?site_id={id}", Value::Null, 404),
        ask(Method::GET, "/alerts", Value::Null, 200),
        ask(Method::PATCH, "/alerts?id={id}", json!({"is_resolved": true}), 404),
        ask(Method::GET, "/api-keys", Value::Null, 200),
        ask(Method::POST, "/api-keys", json!({"name": "another"}), 200),
        ask(Method::PATCH, "/api-keys?id={id}", json!({"expiresAt": null}), 404),
        ask(Method::DELETE, "/api-keys?id={id}", Value::Null, 404),
        ask(Method::POST, "/api-keys/roll", json!({"id": id}), 404),
        ask(Method::GET, "/settings/notifications", Value::Null, 200),
        ask(Method::PATCH, "/settings/notifications", json!({}), 200),
        ask(Method::POST, "/settings/notifications", Value::Null, 200),
    ];
    for check in ["ssl", "dns", "domain", "ct", "uptime"] {
        asks.push(ask(Method::POST, &format!("/check-{check}"), json!({}), 400));
    }
    asks
}

impl Ask {
    /// Sends it with this `Authorization` header, or none.
    async fn send(&self, client: &Client, authorization: Option<&str>) -> Answer {
        let mut request = client.anonymous().request(self.method.clone(), &self.path);
        if let Some(value) = authorization {
            request = request.header("authorization", value);
        }
        if let Some(body) = &self.body {
            request = request.json(body);
        }
        client.finish(request).await
    }

    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// A key of the owner's, with its id.
async fn key(client: &Client, body: Value) -> (String, String) {
    let name = body["name"].clone();
    let made = client.post("/api-keys", body).await.expect(200);
    let keys = client.get("/api-keys").await.expect(200)["keys"].clone();
    let listed = keys.as_array().and_then(|keys| keys.iter().find(|key| key["name"] == name));
    (text(&made["key"]), text(&listed.expect("listed")["id"]))
}

async fn deleted_key(client: &Client) -> String {
    let (secret, id) = key(client, json!({"name": "deleted"})).await;
    client.delete(&format!("/api-keys?id={id}")).await.expect(200);
    secret
}

async fn expired_key(client: &Client) -> String {
    let (secret, _) = key(client, json!({"name": "expired", "expiresAt": soon()})).await;
    let short = client.with_key(&secret);
    until("the key to expire", async || (short.get("/alerts").await.status == 401).then_some(()))
        .await;
    secret
}

#[tokio::test(flavor = "multi_thread")]
async fn every_private_route_refuses_what_is_no_credential() {
    let issuer = Issuer::start().await.expect("loopback has free ports");
    let toml = issuer.toml();
    let world = World::with(|settings| settings.toml = toml).await;
    let client = &world.owner.client;
    let good = &world.owner.key;
    let last = if good.ends_with('A') { 'B' } else { 'A' };
    let mut byte = 0_u8;
    let other_edition = api_key::mint("sp_", || {
        byte = byte.wrapping_add(37);
        byte
    });
    let bearer = |token: &str| Some(format!("Bearer {token}"));
    let credentials = [
        ("no credential", None),
        ("garbage", bearer("garbage")),
        ("an empty one", bearer("")),
        ("the wrong scheme", Some(format!("Basic {good}"))),
        ("no scheme", Some(good.clone())),
        ("a bad checksum", bearer(&format!("{}{last}", &good[..good.len() - 1]))),
        ("a deleted key", bearer(&deleted_key(client).await)),
        ("an expired key", bearer(&expired_key(client).await)),
        ("another edition's key", bearer(&other_edition)),
        (
            "an expired session",
            bearer(&issuer.token_with(Signature::Rs256, "a", json!({"exp": 1_000_000_000}))),
        ),
    ];
    for ask in asks() {
        for (what, authorization) in &credentials {
            let answer = ask.send(client, authorization.as_deref()).await;
            assert_eq!(answer.status, 401, "{} with {what}: {}", ask.name(), answer.text);
            assert!(answer.json()["error"].is_string(), "{} with {what}", ask.name());
            assert_eq!(answer.number("x-monthlylimit-limit"), 0);
            assert_eq!(answer.number("x-ratelimit-limit"), 60);
        }
    }
    let sites = client.get("/sites").await.expect(200);
    assert_eq!(sites["sites"], json!([]), "nothing changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_and_a_session_are_handled_alike() {
    let issuer = Issuer::start().await.expect("loopback has free ports");
    let toml = issuer.toml();
    let world = World::with(|settings| settings.toml = toml).await;
    let client = &world.owner.client;
    for (nth, ask) in asks().iter().enumerate() {
        let by_key = ask.send(client, Some(&format!("Bearer {}", world.owner.key))).await;
        assert_eq!(by_key.status, ask.status, "{} with a key: {}", ask.name(), by_key.text);
        // Somebody new each time: a free account has ten requests in ten seconds.
        let token = issuer.token(Signature::Es256, &format!("somebody-{nth}"));
        let by_session = ask.send(client, Some(&format!("bearer {token}"))).await;
        assert_eq!(by_session.status, ask.status, "{}: {}", ask.name(), by_session.text);
        assert_eq!(by_session.number("x-monthlylimit-used"), 1, "{}", ask.name());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn public_routes_ask_for_no_credential_and_look_at_none() {
    let world = World::start().await;
    let path = "/public/check-ssl?domain=localhost";
    for authorization in [None, Some("Bearer garbage"), Some("Basic YTpi")] {
        let mut request = world.service.client().request(Method::GET, path);
        if let Some(value) = authorization {
            request = request.header("authorization", value);
        }
        let answer = world.service.client().finish(request).await;
        assert_eq!(answer.status, 400, "{authorization:?}: {}", answer.text);
        assert!(text(&answer.json()["message"]).contains("domain"), "{}", answer.text);
    }
}
