//! Session tokens: who the identity provider vouches for is in, and nobody else.

use aws_lc_rs::hmac;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::Utc;
use futures::future::join_all;
use serde_json::{Value, json};
use vedette_tests::{
    Answer, Client, Issuer,
    Signature::{Es256, Rs256},
    unsigned,
};

use crate::world::{World, text, until};

pub(super) async fn world() -> (World, Issuer) {
    let issuer = Issuer::start().await.expect("loopback has free ports");
    let toml = issuer.toml();
    (World::with(|settings| settings.toml = toml).await, issuer)
}

/// A client with this token.
pub(super) fn session(world: &World, token: &str) -> Client {
    world.owner.client.with_key(token)
}

/// The account that a token is let in as.
pub(super) async fn user(world: &World, token: &str) -> String {
    let sites = session(world, token).get("/sites").await.expect(200);
    text(&sites["userId"])
}

/// Refused like every other credential that is none, with the headers of every answer.
#[track_caller]
pub(super) fn refused(answer: &Answer, why: &str) {
    assert_eq!(answer.status, 401, "{why}: {}", answer.text);
    assert_eq!(answer.json()["error"], "unauthorized", "{why}");
    for name in ["limit", "remaining", "reset"] {
        answer.number(&format!("x-ratelimit-{name}"));
    }
    for name in ["limit", "used", "remaining"] {
        assert_eq!(answer.number(&format!("x-monthlylimit-{name}")), 0, "{why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_token_of_somebody_makes_an_account_that_later_ones_find() {
    let (world, issuer) = world().await;
    let first = user(&world, &issuer.token(Rs256, "anna")).await;
    let claims = json!({"aud": ["other", Issuer::AUDIENCE], "email": "anna@elsewhere.example"});
    let again = user(&world, &issuer.token_with(Es256, "anna", claims)).await;
    assert_eq!(again, first, "the subject counts, whatever else the token says");
    let other = user(&world, &issuer.token(Es256, "bert")).await;
    assert_ne!(other, first);

    let accounts = world.service.operator().get("/admin/accounts").await.text;
    assert!(accounts.contains("anna@example.com") && !accounts.contains("elsewhere"), "{accounts}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_of_a_session_is_a_free_one_that_can_make_its_key() {
    let (world, issuer) = world().await;
    let client = session(&world, &issuer.token(Rs256, "anna"));
    let answer = client.get("/sites").await;
    assert_eq!(answer.number("x-monthlylimit-limit"), 100);
    assert_eq!(answer.number("x-monthlylimit-used"), 1);
    assert_eq!(answer.expect(200)["plan"], "free");
    let site = |nth: u8| json!({"domain": format!("s{nth}.example"), "monitoring_enabled": false});
    client.post("/sites", site(1)).await.expect(200);
    client.post("/sites", site(2)).await.expect(200);
    client.post("/sites", site(3)).await.expect(403);

    let key = client.post("/api-keys", json!({"name": "ci"})).await.expect(200);
    let mine = client.with_key(&text(&key["key"])).get("/sites").await.expect(200);
    assert_eq!(mine["sites"].as_array().map(Vec::len), Some(2), "key and session are one account");
    client.post("/api-keys", json!({"name": "second"})).await.expect(403);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_is_taken_leads_to_nobody_elses_account() {
    let (world, issuer) = world().await;
    let claims = json!({"email": world.owner.email});
    let user = user(&world, &issuer.token_with(Rs256, "mallory", claims)).await;
    assert_ne!(user, world.owner.id);
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_new_needs_a_verified_address_and_somebody_known_does_not() {
    let (world, issuer) = world().await;
    let nobody = [
        json!({"email": null}),
        json!({"email": "anna"}),
        json!({"email": "Anna <anna@example.com>"}),
        json!({"email_verified": false}),
        json!({"email_verified": "false"}),
    ];
    for change in nobody.clone() {
        let answer =
            session(&world, &issuer.token_with(Rs256, "anna", change.clone())).get("/sites").await;
        refused(&answer, &change.to_string());
        assert!(text(&answer.json()["message"]).contains("e-mail"), "{}", answer.text);
    }
    let anna =
        user(&world, &issuer.token_with(Rs256, "anna", json!({"email_verified": null}))).await;
    for change in nobody {
        assert_eq!(user(&world, &issuer.token_with(Rs256, "anna", change)).await, anna);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn first_tokens_that_come_at_once_make_one_account() {
    let (world, issuer) = world().await;
    let tokens: Vec<String> = (0..8).map(|_| issuer.token(Es256, "anna")).collect();
    let users = join_all(tokens.iter().map(|token| user(&world, token))).await;
    assert!(users.iter().all(|user| *user == users[0]), "{users:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_not_the_issuers_for_us_and_of_now_is_refused() {
    let (world, issuer) = world().await;
    let now = Utc::now().timestamp();
    for change in [
        json!({"iss": null}),
        json!({"iss": format!("{}/", issuer.url())}),
        json!({"iss": [issuer.url()]}),
        json!({"aud": null}),
        json!({"aud": "somebody-else"}),
        json!({"aud": ["somebody-else"]}),
        json!({"sub": null}),
        json!({"sub": ""}),
        json!({"sub": "x".repeat(256)}),
        json!({"exp": null}),
        json!({"exp": now - 5}),
        json!({"exp": "tomorrow"}),
        json!({"nbf": now + 300}),
        json!({"iat": now + 3600}),
        json!({"padding": "x".repeat(9_000)}),
    ] {
        let token = issuer.token_with(Rs256, "anna", change.clone());
        refused(&session(&world, &token).get("/sites").await, &change.to_string());
    }
    user(&world, &issuer.token(Rs256, "anna")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_nobody_signed_as_the_key_demands_is_refused() {
    let (world, issuer) = world().await;
    let stranger = Issuer::start().await.expect("loopback has free ports");
    let claims = issuer.claims("anna", json!({}));
    let good = issuer.token(Rs256, "anna");
    let [header, body, signature] = parts(&good);
    let rsa = issuer.jwk(Rs256);
    let kid = text(&rsa["kid"]);
    let raised = issuer.claims("owner", json!({}));

    let none = |alg: &str| format!("{}.", unsigned(&json!({"alg": alg, "kid": kid}), &claims));
    let shared = |secret: &[u8]| {
        let message = unsigned(&json!({"alg": "HS256", "kid": kid}), &claims);
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
        let tag = hmac::sign(&key, message.as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag))
    };
    let modulus = URL_SAFE_NO_PAD.decode(text(&rsa["n"])).expect("base64url");
    let embedded = |member: &str, value: Value| {
        stranger.sign(Rs256, json!({"kid": kid, member: value}), claims.clone())
    };
    let forged = [
        ("no signature", none("none")),
        ("no signature, shouted", none("NONE")),
        ("no signature under a good header", format!("{header}.{body}.")),
        ("the public key as a secret", shared(rsa.to_string().as_bytes())),
        ("the modulus as a secret", shared(&modulus)),
        ("an empty secret", shared(b"")),
        ("another's key under our name", stranger.sign(Rs256, json!({}), claims.clone())),
        ("a key that the token brings", embedded("jwk", stranger.jwk(Rs256))),
        (
            "keys that the token points to",
            embedded("jku", json!(format!("{}/keys", stranger.url()))),
        ),
        ("a longer hash", issuer.sign(Rs256, json!({"alg": "RS512"}), claims.clone())),
        ("the other key's name", issuer.sign(Es256, json!({"kid": kid}), claims.clone())),
        ("the other algorithm", issuer.sign(Es256, json!({"alg": "RS256"}), claims.clone())),
        (
            "an extension to understand",
            issuer.sign(Rs256, json!({"crit": ["exp"]}), claims.clone()),
        ),
        (
            "other claims",
            format!("{}.{signature}", unsigned(&json!({"alg": "RS256", "kid": kid}), &raised)),
        ),
        ("a part too many", format!("{good}.{signature}")),
        ("padding", format!("{good}=")),
        ("nothing", "..".to_owned()),
        ("no JSON", "YQ.YQ.YQ".to_owned()),
    ];
    for (why, token) in &forged {
        refused(&session(&world, token).get("/sites").await, why);
    }
    for (place, part) in [header, body, signature].into_iter().enumerate() {
        let mut tampered = parts(&good).map(str::to_owned);
        tampered[place] = flipped(part);
        refused(&session(&world, &tampered.join(".")).get("/sites").await, "a changed byte");
    }
    user(&world, &good).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_when_its_token_does() {
    let (world, issuer) = world().await;
    // The keys are fetched by then.
    user(&world, &issuer.token(Es256, "carl")).await;
    let claims = json!({"exp": Utc::now().timestamp() + 12});
    let short = session(&world, &issuer.token_with(Es256, "anna", claims));
    short.get("/sites").await.expect(200);
    until("the token to expire", async || (short.get("/sites").await.status == 401).then_some(()))
        .await;
    // Somebody else: whoever asked so often may have used up the ten seconds' requests.
    user(&world, &issuer.token(Es256, "bert")).await;
}

fn parts(token: &str) -> [&str; 3] {
    let parts: Vec<&str> = token.split('.').collect();
    parts.try_into().expect("a token has three parts")
}

/// The same with another first character.
fn flipped(part: &str) -> String {
    let other = if part.starts_with('A') { 'B' } else { 'A' };
    format!("{other}{}", &part[1..])
}
