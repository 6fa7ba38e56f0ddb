//! `POST /check-ct`: the certificates that were logged for a domain, each once, from sources that
//! answer in their own ways or not at all.

use serde_json::{Value, json};
use vedette_tests::{CtKind, CtSource, Issuance, Script};

use crate::world::{World, text, time};

pub(crate) const ISSUER: &str = "C=US, O=Lab Trust, CN=Lab Issuing CA 1";

/// A world that looks certificates up in one source of this kind.
pub(crate) async fn world(kind: CtKind) -> (World, CtSource) {
    let source = CtSource::start(kind).await.expect("loopback has free ports");
    let toml = CtSource::toml(&[&source]);
    (World::with(|settings| settings.toml = toml).await, source)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_described_field_by_field() {
    let (world, source) = world(CtKind::CrtSh).await;
    let issued = Issuance::new(7, ISSUER, &["shop.example", "www.shop.example"]);
    source.log("shop.example", issued.clone());
    let result = world.look("ct", "shop.example").await;

    assert_eq!(result["error"], Value::Null, "{result:#}");
    assert_eq!(result["total"], 1);
    assert_eq!(result["source"], "crtsh");
    assert!(result["new_count"].is_u64() && result["unexpected_count"].is_u64());
    let certificate = &certificates(&result)[0];
    assert_eq!(certificate["issuer"], "Lab Issuing CA 1");
    assert_eq!(certificate["issuer_org"], "Lab Trust");
    assert_eq!(names(certificate), ["shop.example", "www.shop.example"]);
    assert_eq!(text(&certificate["serial_number"]), issued.serial);
    for (field, at) in [("not_before", issued.not_before), ("not_after", issued.not_after)] {
        let read = time(&certificate[field]);
        assert_eq!(read.timestamp(), at.timestamp(), "{field}: the source's times are UTC");
    }
    assert_eq!(time(&certificate["logged_at"]).timestamp(), issued.logged_at.timestamp());
    assert_eq!(certificate["fingerprint"], Value::Null, "this source has none");
    assert!(certificate["expected"].is_boolean());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_of_the_operator_is_asked_where_it_is_whatever_is_opened() {
    let source = CtSource::start(CtKind::CrtSh).await.expect("loopback has free ports");
    let toml = CtSource::toml(&[&source]);
    let world = World::with(|settings| {
        settings.toml = toml;
        settings.egress_allow.clear();
    })
    .await;
    source.log("shop.example", Issuance::new(7, ISSUER, &["shop.example"]));
    let result = world.look("ct", "shop.example").await;
    assert_eq!((&result["error"], &result["total"]), (&Value::Null, &json!(1)), "{result:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn precertificate_and_certificate_are_one_in_any_order() {
    let (world, source) = world(CtKind::CrtSh).await;
    let first = Issuance::new(1, ISSUER, &["twins.example"]);
    source.log("twins.example", first.twin(2));
    source.log("twins.example", Issuance::new(3, ISSUER, &["*.twins.example"]));
    source.log("twins.example", first);
    let looks = [world.look("ct", "twins.example").await, world.look("ct", "twins.example").await];
    for result in &looks {
        assert_eq!(result["total"], 2, "{result:#}");
    }
    assert_eq!(looks[0]["certificates"], looks[1]["certificates"], "rows come in any order");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_others_are_dropped() {
    let (world, source) = world(CtKind::CrtSh).await;
    for (id, names) in [
        (1, vec!["mine.example"]),
        (2, vec!["notmine.example"]),
        (3, vec!["mine.example.evil.example"]),
        (4, vec!["*.mine.example"]),
        (5, vec!["deep.down.MINE.example", "other.example"]),
    ] {
        source.log("mine.example", Issuance::new(id, ISSUER, &names));
    }
    let result = world.look("ct", "mine.example").await;
    assert_eq!(result["total"], 3, "{result:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_of_the_other_source_is_read() {
    let (world, source) = world(CtKind::CertSpotter).await;
    for id in 1..=5 {
        source.log("pages.example", Issuance::new(id, ISSUER, &["pages.example"]));
    }
    source.log("pages.example", Issuance::new(3, ISSUER, &["pages.example"]).twin(6));
    let result = world.look("ct", "pages.example").await;
    assert_eq!(result["error"], Value::Null, "{result:#}");
    assert_eq!(result["source"], "certspotter");
    assert_eq!(result["total"], 5, "twins have the hash of their content in common: {result:#}");
    for certificate in certificates(&result) {
        assert_eq!(certificate["issuer_org"], "Lab Trust");
        assert_eq!(certificate["logged_at"], Value::Null, "this source does not tell");
    }
    let asked = source.asked();
    assert!(asked.iter().all(|asked| asked.query("include_subdomains").as_deref() == Some("true")));
    assert!(asked.iter().any(|asked| asked.query("after").is_some()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_in_trouble_is_named_so() {
    let troubles = [
        (
            Script::html("<html><body>Sorry, something went wrong</body></html>"),
            "ct_source_unavailable",
        ),
        (Script::status(503), "ct_source_unavailable"),
        (Script::status(502), "ct_source_unavailable"),
        (
            Script::reply(200, &[("content-type", "application/json")], "[{"),
            "ct_source_unavailable",
        ),
        (Script::reset(), "ct_source_unavailable"),
        (Script::reply(429, &[("retry-after", "60")], ""), "rate_limited"),
    ];
    for (script, error) in troubles {
        // A source that fails again and again is left alone for a while.
        let (world, source) = world(CtKind::CrtSh).await;
        source.log("shop.example", Issuance::new(1, ISSUER, &["shop.example"]));
        source.trouble(Some(script.clone()));
        let result = world.look("ct", "shop.example").await;
        assert_eq!(result["error"], error, "{script:?}: {result:#}");
        assert_eq!(
            (&result["total"], &result["certificates"]),
            (&json!(0), &json!([])),
            "{script:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_operator_names_no_source_nothing_is_known() {
    let world = World::with(|settings| settings.toml = CtSource::toml(&[])).await;
    let result = world.look("ct", "shop.example").await;
    assert_eq!(result["error"], "ct_source_unavailable", "{result:#}");
    assert_eq!((&result["total"], &result["certificates"]), (&json!(0), &json!([])));
    assert_eq!(result["source"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_never_answers_is_a_timeout() {
    let (world, source) = world(CtKind::CrtSh).await;
    source.trouble(Some(Script::silence()));
    let result = world.look("ct", "shop.example").await;
    assert_eq!(result["error"], "timeout", "{result:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_source_answers_for_one_in_trouble() {
    let first = CtSource::start(CtKind::CrtSh).await.expect("free port");
    let second = CtSource::start(CtKind::CertSpotter).await.expect("free port");
    let toml = CtSource::toml(&[&first, &second]);
    let world = World::with(|settings| settings.toml = toml).await;
    first.trouble(Some(Script::status(503)));
    second.log("shop.example", Issuance::new(1, ISSUER, &["shop.example"]));
    let result = world.look("ct", "shop.example").await;
    assert_eq!((&result["error"], &result["total"]), (&Value::Null, &json!(1)), "{result:#}");
    assert_eq!(result["source"], "certspotter");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_bodies_and_public_suffixes_are_refused() {
    let (world, source) = world(CtKind::CrtSh).await;
    for body in [
        json!({}),
        json!({"domain": 7}),
        json!({"domain": "no spaces.example"}),
        json!({"domain": "192.0.2.1"}),
        json!({"domain": "co.uk"}),
        json!({"domain": "a.example", "site_id": "17"}),
    ] {
        let answer = world.owner.client.post("/check-ct", body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
    }
    assert_eq!(source.asked().len(), 0, "nobody was asked");
    let anonymous = world.owner.client.anonymous();
    anonymous.post("/check-ct", json!({"domain": "a.example"})).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_result_is_the_answered_one() {
    let (world, source) = world(CtKind::CrtSh).await;
    source.log("kept.example", Issuance::new(1, ISSUER, &["kept.example"]));
    let id = world.quiet("kept.example").await;
    let result = world.run("ct", "kept.example", &id).await;
    let record = world.latest("ct", &id, |_| true).await;
    assert_eq!(record["result"], result);
    assert_eq!((&record["status"], &record["source"]), (&json!("ok"), &json!("on_demand")));
    let body = json!({"domain": "kept.example", "site_id": id});
    world.account("pro").await.client.post("/check-ct", body).await.expect(404);

    source.trouble(Some(Script::status(503)));
    world.run("ct", "kept.example", &id).await;
    let record = world.latest("ct", &id, |record| record["error"].is_string()).await;
    assert_eq!(record["status"], "unknown", "{record:#}");
}

fn certificates(result: &Value) -> &[Value] {
    result["certificates"].as_array().expect("a list of certificates")
}

fn names(certificate: &Value) -> Vec<String> {
    certificate["san"].as_array().into_iter().flatten().map(text).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_moves_lists_nothing_of_the_domain_before() {
    let (world, source) = world(CtKind::CrtSh).await;
    source.log("old.example", Issuance::new(1, ISSUER, &["old.example"]));
    let other = "C=US, O=Other Trust, CN=Other CA";
    source.log("new.example", Issuance::new(2, other, &["new.example"]));
    let site = world.quiet("old.example").await;
    let before = world.run("ct", "old.example", &site).await;
    assert_eq!(before["total"], 1, "{before:#}");
    let arguments = json!({"site_id": site, "domain": "new.example"});
    let params = json!({"name": "update_site", "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let moved = world.owner.client.post("/mcp", call).await.expect(200);
    assert_eq!(moved["result"]["isError"], false, "{moved}");
    let after = world.run("ct", "new.example", &site).await;
    let counts = ["total", "new_count", "unexpected_count"].map(|count| after[count].clone());
    assert_eq!(counts, [json!(1), json!(0), json!(0)], "{after:#}");
    assert_eq!(names(&certificates(&after)[0]), ["new.example"]);
}
