//! `POST /check-ssl` against servers of every kind: chains in disorder, client certificates, old
//! versions, and what is no TLS at all.

use std::sync::Arc;

use serde_json::{Value, json};
use vedette_tests::{Certificate, Demands, Leaf, Manner, OldTls, Reply, Site};

use crate::world::{World, text};

#[tokio::test(flavor = "multi_thread")]
async fn order_and_extras_of_a_chain_do_not_matter() {
    let world = World::start().await;
    let authority = &world.lab.authority;
    let root = authority.root_der();
    let other =
        authority.issue(&Leaf::for_names(&["else.example"])).expect("signed").chain.remove(0);
    let issue = |domain: &str| authority.issue(&Leaf::for_names(&[domain])).expect("signed");
    let reversed = |mut certificate: Certificate| {
        certificate.chain.insert(1, root.clone());
        certificate
    };
    let doubled = |mut certificate: Certificate| {
        certificate.chain.push(certificate.chain[1].clone());
        certificate.chain.push(other.clone());
        certificate
    };
    let cases = [
        ("reversed.example", reversed(issue("reversed.example")), 3),
        ("doubled.example", doubled(issue("doubled.example")), 4),
    ];
    for (domain, certificate, length) in cases {
        let site = world.lab.site(domain, certificate).await.expect("free port");
        let result = look(&world, domain, site.port()).await;
        assert_eq!(
            (&result["valid"], &result["error"]),
            (&json!(true), &Value::Null),
            "{domain}: {result:#}"
        );
        assert_eq!(
            (&result["chain_complete"], &result["chain_error"]),
            (&json!(true), &Value::Null)
        );
        let chain = result["chain"].as_array().expect("a list");
        assert_eq!(chain.len(), length, "{domain}: as served, nothing added or dropped");
        assert_eq!(chain[0]["in_trust_path"], true);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_breaks_a_chain_is_told_in_a_sentence() {
    let world = World::start().await;
    let authority = &world.lab.authority;
    let stranger = vedette_tests::Authority::new("Unknown Root").expect("an authority");
    let mut with_root = stranger.issue(&Leaf::for_names(&["private.example"])).expect("signed");
    with_root.chain.push(stranger.root_der());
    let short = Leaf::for_names(&["short.example"]).without_intermediate();
    let cases = [
        ("private.example", with_root, "untrusted_root", true, "untrusted root"),
        ("short.example", authority.issue(&short).expect("signed"), "incomplete_chain", false, ""),
        (
            "self.example",
            Leaf::for_names(&["self.example"]).self_signed().expect("signed"),
            "self_signed_certificate",
            true,
            "self-signed certificate",
        ),
    ];
    for (domain, certificate, error, complete, sentence) in cases {
        let site = world.lab.site(domain, certificate).await.expect("free port");
        let result = look(&world, domain, site.port()).await;
        assert_eq!(result["error"], error, "{domain}: {result:#}");
        assert_eq!(result["chain_complete"], complete, "{domain}");
        assert!(text(&result["chain_error"]).starts_with(sentence), "{domain}: {result:#}");
        assert_eq!(result["valid"], false);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_asks_for_a_client_certificate_is_judged_as_usual() {
    let world = World::start().await;
    for (domain, old_version) in [("mutual.example", false), ("mutual-old.example", true)] {
        let demands = Demands { old_version, client_root: Some(world.lab.authority.root_der()) };
        let certificate = world.lab.certificate(domain, 45).expect("signed");
        let any = "127.0.0.1:0".parse().expect("valid");
        let site = Site::start_with(any, certificate, demands).await.expect("free port");
        world.lab.dns.answer(domain, Reply::address(site.address().ip()));
        let result = look(&world, domain, site.port()).await;
        assert_eq!(
            (&result["valid"], &result["days_remaining"]),
            (&json!(true), &json!(45)),
            "{domain}: {result:#}"
        );
        assert_eq!(result["error"], Value::Null, "{domain}");
        assert_eq!(result["hsts"], Value::Null, "{domain}: no page is shown to strangers");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_tls_is_told_apart() {
    let world = World::start().await;
    let banner = Manner::Banner(b"220 mail.example ESMTP ready\r\n".to_vec());
    let cases = [
        ("banner.example", banner, "tls_not_spoken"),
        ("torn.example", Manner::Reset, "connection_reset"),
        ("silent.example", Manner::Silence, "connection_timeout"),
    ];
    for (domain, manner, error) in cases {
        let peer = world.lab.peer(domain, manner).await.expect("free port");
        let result = look(&world, domain, peer.port()).await;
        assert_eq!(result["error"], error, "{domain}: {result:#}");
        assert_eq!((&result["valid"], &result["issuer"]), (&json!(false), &json!("")));
        assert!(!result.to_string().contains("ESMTP"), "a banner is not quoted: {result:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_another_age_is_described_from_its_hello() {
    let world = World::start().await;
    let leaf = Leaf::for_names(&["aged.example"]).days_left(33).rsa();
    let certificate = world.lab.authority.issue(&leaf).expect("signed");
    let server = OldTls { version: 0x0301, suite: 0x002f, certificate };
    let peer = world.lab.peer("aged.example", Manner::OldTls(Arc::new(server))).await;
    let peer = peer.expect("free port");
    let result = look(&world, "aged.example", peer.port()).await;
    assert_eq!(result["error"], Value::Null, "{result:#}");
    assert_eq!((&result["valid"], &result["chain_complete"]), (&json!(true), &json!(true)));
    assert_eq!(result["days_remaining"], 33);
    assert_eq!(result["san"], json!(["aged.example"]));
    assert_eq!(result["protocol_version"], "TLSv1.0");
    assert_eq!(result["cipher_name"], "TLS_RSA_WITH_AES_128_CBC_SHA");
    assert_eq!(result["cipher_strength"], 128);
    assert_eq!(
        (&result["chain"][0]["key_type"], &result["chain"][0]["key_bits"]),
        (&json!("RSA"), &json!(2048))
    );
    assert_eq!((&result["hsts"], &result["mixed_content"]), (&Value::Null, &Value::Null));
}

async fn look(world: &World, domain: &str, port: u16) -> Value {
    let body = json!({"domain": domain, "port": port});
    world.owner.client.post("/check-ssl", body).await.expect(200)
}
