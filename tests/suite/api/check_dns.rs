//! `POST /check-dns`: canonical records of every type, and an honest word where there are none.

use futures::future::join_all;
use serde_json::{Value, json};
use uuid::Uuid;
use vedette_tests::{RecordType, Reply, ResponseCode, record};

use crate::world::{World, text, until};

/// Records of every type, each unlike its canonical form.
fn every_type(world: &World) {
    let dns = &world.lab.dns;
    dns.answer(
        "full.example",
        Reply::Records(vec![
            record::address("127.0.0.10"),
            record::address("127.0.0.9"),
            record::address("127.0.0.10"),
            record::address("2001:DB8:0:0:0:0:0:1"),
            record::mx(20, "b.mail.example"),
            record::mx(10, "Z.Mail.Example"),
            record::mx(10, "a.mail.example"),
            record::txt(&[b"v=spf1 ", b"-all"]),
            record::txt(&[b"\x00a b"]),
            record::caa(false, "ISSUE", "ca.example; account=1"),
            record::caa(true, "iodef", "mailto:pki@full.example"),
            record::ns("NS2.Full.Example"),
            record::ns("ns1.full.example"),
        ]),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_type_is_canonical_sorted_and_in_order() {
    let world = World::with(|settings| settings.egress_allow.push("2001:db8::/32".into())).await;
    every_type(&world);
    let result = world.look("dns", "full.example").await;

    assert_eq!(result["error"], Value::Null, "{result:#}");
    assert_eq!(result["failed_types"], json!([]));
    assert_eq!(result["dnssec"], Value::Null, "this resolver shows no signatures: {result:#}");
    assert_eq!(
        result["records"],
        json!([
            {"type": "A", "values": ["127.0.0.9", "127.0.0.10"]},
            {"type": "AAAA", "values": ["2001:db8::1"]},
            {"type": "MX", "values": ["10 a.mail.example", "10 z.mail.example", "20 b.mail.example"]},
            {"type": "TXT", "values": ["\\000a b", "v=spf1 -all"]},
            {"type": "CAA", "values": [
                "0 issue \"ca.example; account=1\"",
                "128 iodef \"mailto:pki@full.example\"",
            ]},
            {"type": "NS", "values": ["ns1.full.example", "ns2.full.example"]},
        ]),
        "{result:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn place_to_connect_to_is_nothing_to_a_check_that_connects_nowhere() {
    let world = World::start().await;
    world.lab.dns.answer("own.example", Reply::Records(vec![record::address("127.0.0.1")]));
    let port = world.service.api.port();
    for (port, origin_ip) in [(json!(port), json!("127.0.0.1")), (json!(0), json!("localhost"))] {
        let body = json!({"domain": "own.example", "port": port, "origin_ip": origin_ip});
        let result = world.owner.client.post("/check-dns", body).await.expect(200);
        assert_eq!(result["error"], Value::Null, "{result:#}");
    }
    let body = json!({"domain": "own.example", "port": port});
    world.owner.client.post("/check-uptime", body).await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_of_documentation_are_told_and_never_dialled() {
    let world = World::start().await;
    let (dns, client) = (&world.lab.dns, &world.owner.client);
    let records = vec![record::address("192.0.2.1"), record::address("2001:db8::1")];
    dns.answer("docs.example", Reply::Records(records));
    dns.answer("inside.example", Reply::address("10.1.2.3".parse().expect("valid")));
    let result = world.look("dns", "docs.example").await;
    assert_eq!(values(&result, "A"), ["192.0.2.1"]);
    assert_eq!(values(&result, "AAAA"), ["2001:db8::1"]);
    let result = world.look("dns", "inside.example").await;
    assert_eq!(values(&result, "A"), ["10.1.2.3"]);
    for (path, domain) in [
        ("/check-ssl", "inside.example"),
        ("/check-ssl", "docs.example"),
        ("/check-uptime", "docs.example"),
    ] {
        let answer = client.post(path, json!({ "domain": domain })).await;
        assert_eq!(answer.status, 400, "{path} {domain}: {}", answer.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alias_is_named_and_its_addresses_are_found() {
    let world = World::start().await;
    let dns = &world.lab.dns;
    dns.answer("www.example", Reply::Records(vec![record::cname("Edge.CDN.example")]));
    dns.answer("edge.cdn.example", Reply::Records(vec![record::cname("pop.cdn.example")]));
    dns.answer("pop.cdn.example", Reply::Records(vec![record::address("127.0.0.7")]));
    let result = world.look("dns", "www.example").await;
    assert_eq!(result["error"], Value::Null, "{result:#}");
    assert_eq!(
        result["records"],
        json!([
            {"type": "A", "values": ["127.0.0.7"]},
            {"type": "CNAME", "values": ["edge.cdn.example"]},
        ])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_order_of_an_answer_is_no_data() {
    let world = World::start().await;
    let ips = ["127.0.0.1", "127.0.0.2", "127.0.0.30"].map(|ip| ip.parse().expect("valid"));
    let mut turned = ips;
    turned.reverse();
    let rotation = Reply::Rotation(vec![Reply::addresses(&ips), Reply::addresses(&turned)]);
    world.lab.dns.answer_type("round.example", RecordType::A, rotation);
    for _ in 0..4 {
        let result = world.look("dns", "round.example").await;
        let expected = json!([{"type": "A", "values": ["127.0.0.1", "127.0.0.2", "127.0.0.30"]}]);
        assert_eq!(result["records"], expected, "{result:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_too_large_for_a_datagram_are_whole() {
    let world = World::start().await;
    let long = |number: u8| {
        let string = vec![b'a' + number; 255];
        record::txt(&[&string[..], b"end"])
    };
    let mut records: Vec<_> = (0..20).map(long).collect();
    records.push(record::address("127.0.0.1"));
    world.lab.dns.answer("large.example", Reply::Records(records));
    let result = world.look("dns", "large.example").await;
    assert_eq!(result["error"], Value::Null, "{result:#}");
    let texts = values(&result, "TXT");
    assert_eq!(texts.len(), 20);
    assert!(texts.iter().all(|value| value.len() == 258 && value.ends_with("end")));
    assert!(texts.is_sorted());
}

#[tokio::test(flavor = "multi_thread")]
async fn each_failure_has_its_word() {
    let world = World::start().await;
    let dns = &world.lab.dns;
    dns.answer("broken.example", Reply::Failure(ResponseCode::ServFail));
    dns.answer("refused.example", Reply::Failure(ResponseCode::Refused));
    dns.answer("silent.example", Reply::Silence);
    dns.answer("one.example", Reply::Records(vec![record::cname("two.example")]));
    dns.answer("two.example", Reply::Records(vec![record::cname("one.example")]));
    dns.answer("bare.example", Reply::no_data());
    let cases = [
        ("gone.example", json!("nxdomain")),
        ("broken.example", json!("servfail")),
        ("refused.example", json!("refused")),
        ("silent.example", json!("timeout")),
        ("one.example", json!("cname_loop")),
        ("bare.example", Value::Null),
    ];
    let results = join_all(cases.iter().map(|(domain, _)| world.look("dns", domain))).await;
    for ((domain, error), result) in cases.iter().zip(results) {
        assert_eq!(result["error"], *error, "{domain}: {result:#}");
        if *domain != "one.example" {
            assert_eq!(result["records"], json!([]), "{domain}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_that_failed_is_named_and_not_empty() {
    let world = World::start().await;
    let dns = &world.lab.dns;
    let records =
        vec![record::address("127.0.0.1"), record::mx(0, "."), record::caa(false, "issue", ";")];
    dns.answer("partly.example", Reply::Records(records));
    dns.answer_type("partly.example", RecordType::CAA, Reply::Failure(ResponseCode::ServFail));
    let result = world.look("dns", "partly.example").await;
    assert_eq!(result["error"], Value::Null, "{result:#}");
    assert_eq!(result["failed_types"], json!(["CAA"]));
    assert_eq!(
        result["records"],
        json!([{"type": "A", "values": ["127.0.0.1"]}, {"type": "MX", "values": ["0 ."]}])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_team_edition_leaves_caa_out() {
    let world = World::with(|settings| {
        settings.edition = "team".into();
        settings.egress_allow.push("2001:db8::/32".into());
    })
    .await;
    every_type(&world);
    let result = world.look("dns", "full.example").await;
    let types: Vec<_> = records(&result).iter().map(|record| text(&record["type"])).collect();
    assert_eq!(types, ["A", "AAAA", "MX", "TXT", "NS"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_bodies_are_refused() {
    let world = World::start().await;
    for body in [
        json!({}),
        json!({"domain": null}),
        json!({"domain": 7}),
        json!({"domain": "no spaces.example"}),
        json!({"domain": "127.0.0.1"}),
        json!({"domain": "[::1]"}),
        json!({"domain": "https://a.example"}),
        json!({"domain": "a.example", "site_id": "17"}),
        json!([]),
    ] {
        let answer = world.owner.client.post("/check-dns", body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
    }
    let anonymous = world.owner.client.anonymous();
    anonymous.post("/check-dns", json!({"domain": "a.example"})).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_result_is_the_answered_one() {
    let world = World::start().await;
    world.lab.dns.answer("kept.example", Reply::Records(vec![record::address("127.0.0.1")]));
    let id = world.quiet("kept.example").await;
    let result = world.run("dns", "kept.example", &id).await;
    let record = world.latest("dns", &id, |_| true).await;
    assert_eq!(record["result"], result);
    assert_eq!(record["source"], "on_demand");
    assert_eq!(record["status"], "ok");
    assert_eq!(record["error"], Value::Null);

    let body = json!({"domain": "kept.example", "site_id": id});
    world.account("pro").await.client.post("/check-dns", body).await.expect(404);
    let body = json!({"domain": "kept.example", "site_id": Uuid::new_v4()});
    world.owner.client.post("/check-dns", body).await.expect(404);
    let body = json!({"domain": "other.example", "site_id": id});
    world.owner.client.post("/check-dns", body).await.expect(400);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_health_of_a_name_follows_its_error() {
    let world = World::start().await;
    let dns = &world.lab.dns;
    dns.answer("refused.example", Reply::Failure(ResponseCode::Refused));
    for (domain, status) in [("gone.example", "down"), ("refused.example", "unknown")] {
        let id = world.quiet(domain).await;
        world.run("dns", domain, &id).await;
        let record = world.latest("dns", &id, |_| true).await;
        assert_eq!(record["status"], status, "{record:#}");
        assert_eq!(record["error"], record["result"]["error"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registered_site_is_checked_unasked() {
    let world = World::start().await;
    let site = world.site("watched.example", 90).await;
    let body = json!({
        "domain": "watched.example", "custom_port": site.port(), "check_types": ["dns"],
    });
    let created = world.owner.client.post("/sites", body).await.expect(200);
    let id = text(&created["site"]["id"]);
    let record = world.latest("dns", &id, |_| true).await;
    assert_eq!(record["source"], "scheduler");
    assert_eq!(values(&record["result"], "A"), ["127.0.0.1"]);
    let page = format!("/checks?site_id={id}&check_type=dns");
    until("the same record in the history", async || {
        let page = world.owner.client.get(&page).await.expect(200);
        (page["checks"][0] == record).then_some(())
    })
    .await;
}

fn records(result: &Value) -> &[Value] {
    result["records"].as_array().expect("a list of records")
}

fn values(result: &Value, record_type: &str) -> Vec<String> {
    let record = records(result).iter().find(|record| record["type"] == record_type);
    let values = record.and_then(|record| record["values"].as_array());
    values.into_iter().flatten().map(text).collect()
}
