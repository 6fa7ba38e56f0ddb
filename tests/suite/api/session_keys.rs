//! The keys behind session tokens: rotated, unknown, out of reach, found by discovery.

use futures::future::join_all;
use serde_json::json;
use vedette_tests::{
    Client, Issuer, Lab, Service, Settings,
    Signature::{Es256, Rs256},
};

use super::session::{refused, session, user, world};
use crate::world::{World, text};

#[tokio::test(flavor = "multi_thread")]
async fn new_keys_count_at_once_and_what_the_old_ones_signed_no_longer() {
    let (world, mut issuer) = world().await;
    let (old_rsa, old_curve) = (issuer.token(Rs256, "anna"), issuer.token(Es256, "anna"));
    let anna = user(&world, &old_rsa).await;
    assert_eq!(user(&world, &old_curve).await, anna);

    issuer.rotate().expect("keys are generated");
    assert_eq!(user(&world, &old_rsa).await, anna, "known keys need no issuer");
    assert_eq!(user(&world, &issuer.token(Es256, "anna")).await, anna);
    for old in [&old_rsa, &old_curve] {
        refused(&session(&world, old).get("/sites").await, "its key has left the set");
    }
    assert_eq!(user(&world, &issuer.token(Rs256, "anna")).await, anna);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_takes_the_name_of_another_counts_at_once() {
    let (world, mut issuer) = world().await;
    let old = issuer.token(Rs256, "anna");
    let anna = user(&world, &old).await;
    issuer.replace_keys().expect("keys are generated");
    assert_eq!(user(&world, &issuer.token(Rs256, "anna")).await, anna);
    refused(&session(&world, &old).get("/sites").await, "another key has its key's name");
    // Tokens that nobody signed do not make us ask the issuer again and again either.
    let before = issuer.fetches();
    for nth in 0..20 {
        let token = issuer.token(Rs256, &format!("anna-{nth}"));
        refused(&session(&world, &format!("{token}AA")).get("/sites").await, "nobody signed it");
    }
    assert!(issuer.fetches() - before <= 6, "{} fetches", issuer.fetches() - before);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_keys_do_not_make_us_ask_the_issuer_again_and_again() {
    let (world, issuer) = world().await;
    user(&world, &issuer.token(Rs256, "anna")).await;
    let before = issuer.fetches();
    let bad: Vec<String> = (0..50)
        .map(|nth| {
            issuer.sign(Es256, json!({"kid": format!("no-{nth}")}), issuer.claims("x", json!({})))
        })
        .collect();
    let (early, late) = bad.split_at(25);
    let answers = join_all(early.iter().map(|token| {
        let client = session(&world, token);
        async move { client.get("/sites").await }
    }));
    for answer in answers.await {
        refused(&answer, "no such key");
    }
    for token in late {
        refused(&session(&world, token).get("/sites").await, "no such key");
    }
    assert!(issuer.fetches() - before <= 6, "{} fetches", issuer.fetches() - before);
    user(&world, &issuer.token(Rs256, "anna")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_under_no_key_does_not_keep_out_those_under_a_new_one() {
    let (world, mut issuer) = world().await;
    let anna = user(&world, &issuer.token(Rs256, "anna")).await;
    for _ in 0..2 {
        let unknown = issuer.sign(Es256, json!({"kid": "none"}), issuer.claims("x", json!({})));
        refused(&session(&world, &unknown).get("/sites").await, "no such key");
        issuer.rotate().expect("keys are generated");
        assert_eq!(user(&world, &issuer.token(Es256, "anna")).await, anna);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_go_on_while_the_issuer_is_down() {
    let (world, mut issuer) = world().await;
    let anna = user(&world, &issuer.token(Rs256, "anna")).await;
    issuer.stop();
    assert_eq!(user(&world, &issuer.token(Rs256, "anna")).await, anna);
    assert_eq!(user(&world, &issuer.token(Es256, "anna")).await, anna);
    // The issuer may have begun to use these keys: their tokens are not called bad ones. The log tells
    // once for each time that the issuer was asked, however many there are.
    for nth in 0..20 {
        let header = json!({"kid": format!("new-{nth}")});
        let unknown = issuer.sign(Es256, header, issuer.claims("anna", json!({})));
        let answer = session(&world, &unknown).get("/sites").await;
        assert_eq!(answer.status, 500, "{}", answer.text);
        let said = text(&answer.json()["message"]);
        assert!(said.contains("identity provider"), "{said}");
    }
    let log = world.service.output();
    assert!(log.matches("were not fetched").count() < 10, "{log}");
    assert!(!log.contains("request failed"), "{log}");
    assert_eq!(user(&world, &issuer.token(Es256, "anna")).await, anna);
}

/// Signing in again would not help, so nobody is told to.
#[tokio::test(flavor = "multi_thread")]
async fn while_no_key_of_the_issuer_is_known_that_is_our_own_trouble() {
    let mut issuer = Issuer::start().await.expect("loopback has free ports");
    issuer.stop();
    let toml = issuer.toml();
    let world = World::with(|settings| settings.toml = toml).await;
    let answer = session(&world, &issuer.token(Rs256, "anna")).get("/sites").await;
    assert_eq!(answer.status, 500, "{}", answer.text);
    refused(&session(&world, "eyJ9.e30.x").get("/sites").await, "it names no key at all");
    world.owner.client.get("/sites").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keys_are_found_by_the_issuers_discovery_document() {
    let issuer = Issuer::start().await.expect("loopback has free ports");
    let toml = issuer.discovered_toml();
    let world = World::with(|settings| {
        settings.toml = toml;
        // What the operator names is dialled as written.
        settings.egress_allow.clear();
    })
    .await;
    user(&world, &issuer.token(Rs256, "anna")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_issuer_there_are_no_sessions() {
    let issuer = Issuer::start().await.expect("loopback has free ports");
    let world = World::start().await;
    refused(&session(&world, &issuer.token(Rs256, "anna")).get("/sites").await, "not configured");
    world.owner.client.get("/sites").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_edition_has_an_account_of_its_own_for_somebody() {
    let issuer = Issuer::start().await.expect("loopback has free ports");
    let lab = Lab::start().await.expect("loopback has free ports");
    let settings = Settings { edition: "both".into(), toml: issuer.toml(), ..lab.settings() };
    let service = Service::start(settings).await.expect("the service starts");
    let token = issuer.token(Rs256, "anna");
    let sites = async |prefix: &str| {
        let client = Client::new(&format!("http://{}{prefix}", service.api), Some(&token));
        client.get("/sites").await.expect(200)
    };
    let (standard, team) = (sites("/v1").await, sites("/api").await);
    assert_ne!(standard["userId"], team["userId"]);
    assert_eq!(sites("/api").await["userId"], team["userId"]);
}
