//! `POST /check-ssl`: a truthful answer for every kind of site, a clear refusal for every bad target.

use serde_json::{Value, json};
use tokio::net::TcpListener;
use uuid::Uuid;
use vedette_tests::{Leaf, Reply};

use crate::world::{World, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_healthy_site_is_described_field_by_field() {
    let world = World::start().await;
    let site = world.site("shop.example", 90).await;
    let body = json!({"domain": "shop.example", "port": site.port()});
    let result = world.owner.client.post("/check-ssl", body).await.expect(200);

    assert_eq!(result["valid"], true, "{result:#}");
    assert_eq!(result["error"], Value::Null);
    assert_eq!(result["domain"], "shop.example");
    assert_eq!(result["issuer"], "Lab Root Intermediate");
    assert_eq!(result["issuer_org"], "Vedette Lab");
    assert_eq!(result["days_remaining"], 90);
    assert_eq!(result["san"], json!(["shop.example"]));
    assert_eq!(result["chain_complete"], true);
    assert_eq!(result["chain_error"], Value::Null);
    assert_eq!(result["protocol_version"], "TLSv1.3");
    assert!(text(&result["cipher_name"]).starts_with("TLS_"));
    assert!(result["cipher_strength"].as_u64().is_some_and(|bits| bits >= 128));
    assert_eq!(result["ocsp_stapling"], Value::Null, "the leaf names no responder");
    assert_eq!(
        result["hsts"],
        json!({"enabled": true, "max_age": 31_536_000, "include_sub_domains": true, "preload": false})
    );
    assert_eq!(
        result["mixed_content"],
        json!({"passive_count": 0, "active_count": 0, "examples": []})
    );
    assert_eq!(result["expires_at"], result["valid_to"]);
    assert!(text(&result["valid_from"]).ends_with('Z'));
    assert!(result.get("tls_grade").is_none(), "this edition shows no grade");

    let chain = result["chain"].as_array().expect("a list");
    assert_eq!(chain.len(), 2);
    let leaf = &chain[0];
    for field in ["subject", "issuer", "serial_number", "valid_from", "valid_to", "fingerprint"] {
        assert!(leaf[field].is_string(), "{field}: {leaf}");
    }
    assert_eq!(leaf["key_type"], "EC");
    assert_eq!(leaf["key_bits"], 256);
    assert_eq!((&leaf["is_ca"], &chain[1]["is_ca"]), (&json!(false), &json!(true)));
    assert_eq!(leaf["in_trust_path"], true);
    assert_eq!(leaf["self_signed"], false);
    assert_eq!(text(&leaf["fingerprint"]).len(), 64);
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_certificates_are_facts_not_failures() {
    let world = World::start().await;
    let names = |name: &str| Leaf::for_names(&[name]);
    let authority = &world.lab.authority;
    let cases = [
        (
            "expired.example",
            authority.issue(&names("expired.example").days_left(-3)),
            "certificate_expired",
            true,
        ),
        ("other.example", authority.issue(&names("another.example")), "hostname_mismatch", true),
        ("self.example", names("self.example").self_signed(), "self_signed_certificate", true),
        (
            "short.example",
            authority.issue(&names("short.example").without_intermediate()),
            "incomplete_chain",
            false,
        ),
    ];
    for (domain, certificate, error, complete) in cases {
        let site = world.lab.site(domain, certificate.expect("signed")).await.expect("free port");
        let body = json!({"domain": domain, "port": site.port()});
        let result = world.owner.client.post("/check-ssl", body).await.expect(200);
        assert_eq!(result["valid"], false, "{domain}: {result:#}");
        assert_eq!(result["error"], error, "{domain}: {result:#}");
        assert_eq!(result["chain_complete"], complete, "{domain}");
        assert!(result["expires_at"].is_string(), "{domain}: the facts stay");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_cannot_be_reached_is_a_result_with_an_error() {
    let world = World::start().await;
    let client = &world.owner.client;
    world.lab.dns.answer("closed.example", Reply::address("127.0.0.1".parse().expect("valid")));
    let nobody = vedette_tests::free_port().await.expect("a free port");
    let body = json!({"domain": "closed.example", "port": nobody.port()});
    let refused = client.post("/check-ssl", body).await.expect(200);
    assert_eq!(refused["error"], "connection_refused");
    assert_eq!(refused["valid"], false);
    assert_eq!(refused["issuer"], "");
    assert_eq!((&refused["san"], &refused["chain"]), (&json!([]), &json!([])));
    assert_eq!((&refused["expires_at"], &refused["days_remaining"]), (&Value::Null, &Value::Null));

    let gone = client.post("/check-ssl", json!({"domain": "gone.example"})).await.expect(200);
    assert_eq!(gone["error"], "dns_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn origin_ip_replaces_the_address_only() {
    let world = World::start().await;
    let site = world.site("origin.example", 40).await;
    world.lab.dns.answer("origin.example", Reply::address("127.0.0.99".parse().expect("valid")));
    let body = json!({"domain": "origin.example", "port": site.port(), "origin_ip": "127.0.0.1"});
    let result = world.owner.client.post("/check-ssl", body).await.expect(200);
    assert_eq!(
        (&result["valid"], &result["days_remaining"]),
        (&json!(true), &json!(40)),
        "{result:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_and_blocked_targets_are_refused() {
    let world = World::start().await;
    world.lab.dns.answer("inside.example", Reply::address("10.1.2.3".parse().expect("valid")));
    world.lab.dns.answer("meta.example", Reply::address("169.254.169.254".parse().expect("valid")));
    let bodies = [
        json!({}),
        json!({"domain": null}),
        json!({"domain": "exa mple.com"}),
        json!({"domain": "127.0.0.1"}),
        json!({"domain": "::1"}),
        json!({"domain": "a.example", "port": 0}),
        json!({"domain": "a.example", "port": 65536}),
        json!({"domain": "a.example", "port": "443"}),
        json!({"domain": "a.example", "origin_ip": "169.254.169.254"}),
        json!({"domain": "a.example", "origin_ip": "::ffff:127.0.0.1"}),
        json!({"domain": "a.example", "origin_ip": "not-an-address"}),
        json!({"domain": "inside.example"}),
        json!({"domain": "meta.example"}),
        json!({"domain": "a.example", "site_id": "no-uuid"}),
    ];
    for body in bodies {
        let answer = world.owner.client.post("/check-ssl", body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        assert!(answer.json()["error"].is_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_is_stored_only_for_ones_own_site() {
    let world = World::start().await;
    let site = world.site("mine.example", 50).await;
    let id = world.watch("mine.example", &site).await;
    world.latest_ssl(&id, |_| true).await;
    let result = world.check_now("mine.example", &site, &id).await;
    let record = world.latest_ssl(&id, |record| record["source"] == "on_demand").await;
    assert_eq!(record["result"], result);

    let body = json!({"domain": "mine.example", "port": site.port(), "site_id": id});
    let stranger = world.account("pro").await;
    stranger.client.post("/check-ssl", body).await.expect(404);
    let body = json!({"domain": "mine.example", "port": site.port(), "site_id": Uuid::new_v4()});
    world.owner.client.post("/check-ssl", body).await.expect(404);
}

/// What was found where the site was would be told as a change of where it is.
#[tokio::test(flavor = "multi_thread")]
async fn a_look_that_a_move_overtook_is_not_stored() {
    let world = World::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
    let address = listener.local_addr().expect("it is bound");
    let id = world.quiet_with("mine.example", json!({"custom_port": address.port()})).await;
    world.lab.dns.answer("mine.example", Reply::address(address.ip()));
    let client = &world.owner.client;
    let look = client.post("/check-ssl", json!({"domain": "mine.example", "site_id": id}));
    // The look has begun, and ends once the site is elsewhere.
    let moves = async {
        let begun = listener.accept().await.expect("the check connects");
        let elsewhere = json!({"custom_port": 443});
        client.patch(&format!("/sites?id={id}"), elsewhere).await.expect(200);
        drop((begun, listener));
    };
    let (refused, ()) = tokio::join!(look, moves);
    let refused = refused.expect(400);
    let message = text(&refused["message"]);
    assert!(message.starts_with("port must be the site's"), "{refused}");
    assert!(message.contains("send the request again"), "{refused}");
    assert_eq!(world.count("ssl", &id).await, 0);

    // Named on purpose, a place counts wherever the site is.
    let other = world.site("mine.example", 5).await;
    assert_eq!(world.check_now("mine.example", &other, &id).await["days_remaining"], 5);
    assert_eq!(world.count("ssl", &id).await, 1);
}
