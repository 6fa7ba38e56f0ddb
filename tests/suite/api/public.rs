//! `GET /public/check-ssl`: ten a minute, public targets only, the documented subset.

use vedette_tests::Reply;

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_public_check_answers_the_documented_subset_only() {
    // 443 is the only port of the public check, so what can be seen here is the refusal to connect.
    let world =
        World::with(|settings| settings.public_egress_allow = vec!["127.0.0.1/32".into()]).await;
    world.lab.dns.answer("open.example", Reply::address("127.0.0.1".parse().expect("valid")));
    let result =
        world.service.client().get("/public/check-ssl?domain=open.example").await.expect(200);
    let fields: Vec<&String> = result.as_object().expect("an object").keys().collect();
    let documented =
        ["chain_complete", "days_remaining", "error", "expires_at", "issuer", "san", "valid"];
    assert_eq!(fields, documented.each_ref());
}

#[tokio::test(flavor = "multi_thread")]
async fn private_targets_are_refused_whatever_the_operator_opened() {
    let world = World::start().await;
    let public = world.service.client();
    world.lab.dns.answer("lab.example", Reply::address("127.0.0.1".parse().expect("valid")));
    let mixed = ["8.8.8.8", "127.0.0.1"].map(|ip| ip.parse().expect("valid"));
    world.lab.dns.answer("mixed.example", Reply::addresses(&mixed));
    for domain in
        ["lab.example", "mixed.example", "localhost", "127.0.0.1", "a.internal", "x.example:8443"]
    {
        let answer = public.get(&format!("/public/check-ssl?domain={domain}")).await;
        assert_eq!(answer.status, 400, "{domain}: {}", answer.text);
    }
    public.get("/public/check-ssl").await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_eleventh_call_of_an_address_in_a_minute_is_refused() {
    let world = World::start().await;
    let one = world.service.client().from_address("192.0.2.7");
    for number in 1..=10 {
        let answer = one.get("/public/check-ssl?domain=localhost").await;
        assert_eq!(answer.status, 400);
        assert_eq!(answer.number("x-ratelimit-limit"), 10);
        assert_eq!(answer.number("x-ratelimit-remaining"), 10 - number);
        assert_eq!(answer.number("x-monthlylimit-limit"), 0);
    }
    let refused = one.get("/public/check-ssl?domain=localhost").await;
    let wait = refused.number("retry-after");
    let body = refused.expect(429);
    assert_eq!(body["retry_after"], wait);
    assert!((1..=60).contains(&wait));
    assert!(body["error"].is_string() && body["message"].is_string());
    world
        .service
        .client()
        .from_address("192.0.2.8")
        .get("/public/check-ssl?domain=localhost")
        .await
        .expect(400);
}
