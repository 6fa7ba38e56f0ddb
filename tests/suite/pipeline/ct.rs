//! Certificates that nobody asked for: one alert each, and none for those that were to be
//! expected.

use serde_json::{Value, json};
use vedette_tests::{CtKind, CtSource, Issuance, RecordType, Reply, Script, record};

use crate::{
    api::check_ct,
    world::{World, text},
};

const NAME: &str = "watched.example";
const OURS: &str = check_ct::ISSUER;
const THEIRS: &str = "C=XX, O=Somebody Else, CN=Other CA";
const LETS_ENCRYPT: &str = "C=US, O=Let's Encrypt, CN=R11";

/// A site with two certificates of one issuer, seen once: the silent baseline.
async fn baseline() -> (World, CtSource, String) {
    let (world, source) = check_ct::world(CtKind::CrtSh).await;
    world.lab.dns.answer(NAME, Reply::Records(vec![record::address("127.0.0.1")]));
    source.log(NAME, Issuance::new(1, OURS, &[NAME]));
    source.log(NAME, Issuance::new(2, OURS, &["www.watched.example"]));
    let id = world.quiet(NAME).await;
    let first = world.run("ct", NAME, &id).await;
    assert_eq!((&first["total"], &first["error"]), (&json!(2), &Value::Null), "{first:#}");
    assert_eq!(world.alerts_now("ct").await, [] as [Value; 0], "the first run is silent");
    (world, source, id)
}

/// Runs the check once and answers the open alerts after it.
async fn after(world: &World, id: &str) -> Vec<Value> {
    world.run("ct", NAME, id).await;
    world.alerts_now("ct").await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unexpected_certificate_is_told_once() {
    let (world, source, id) = baseline().await;
    world.hook().await;
    let strange = Issuance::new(3, THEIRS, &["login.watched.example"]);
    source.log(NAME, strange.clone());
    let alerts = after(&world, &id).await;
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!((&alerts[0]["type"], &alerts[0]["severity"]), (&json!("ct"), &json!("warning")));
    let message = text(&alerts[0]["message"]);
    assert!(message.contains("Other CA") || message.contains("Somebody Else"), "{message}");
    let told = world.told_of("certificate.changed", 1).await;
    assert_eq!((&told[0]["domain"], &told[0]["alert_id"]), (&json!(NAME), &alerts[0]["id"]));

    let record = world.latest("ct", &id, |_| true).await;
    assert_eq!(record["status"], "degraded", "{record:#}");
    assert_eq!(record["result"]["unexpected_count"], 1);

    // Its certificate follows the precertificate; rows come in another order.
    source.log(NAME, strange.twin(4));
    for _ in 0..3 {
        assert_eq!(after(&world, &id).await.len(), 1);
    }
    source.log(NAME, Issuance::new(5, THEIRS, &[NAME]));
    assert_eq!(after(&world, &id).await.len(), 2, "an alert does not make its issuer accepted");
    world.told_of("certificate.changed", 2).await;
    world.all_delivered().await;
    assert_eq!(world.told(|event| event == "certificate.changed").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn new_certificates_of_an_accepted_issuer_are_silent() {
    let (world, source, id) = baseline().await;
    source.log(NAME, Issuance::new(3, OURS, &[NAME, "shop.watched.example"]));
    let result = world.run("ct", NAME, &id).await;
    assert_eq!(
        (&result["total"], &result["unexpected_count"]),
        (&json!(3), &json!(0)),
        "{result:#}"
    );
    assert_eq!(world.alerts_now("ct").await, [] as [Value; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn caa_permits_and_forbids() {
    let (world, source, id) = baseline().await;
    let dns = &world.lab.dns;
    let permit = |issuer: &str| {
        let records = Reply::Records(vec![record::caa(false, "issue", issuer)]);
        dns.answer_type(NAME, RecordType::CAA, records);
    };
    permit("letsencrypt.org");
    source.log(NAME, Issuance::new(3, LETS_ENCRYPT, &[NAME]));
    assert_eq!(after(&world, &id).await, [] as [Value; 0], "the owner's records permit it");

    permit("digicert.com");
    source.log(NAME, Issuance::new(4, "C=US, O=Google Trust Services, CN=WR1", &[NAME]));
    let alerts = after(&world, &id).await;
    assert_eq!(alerts.len(), 1, "{alerts:?}");
    assert_eq!(alerts[0]["severity"], "critical", "the owner's records forbid it");

    source.log(NAME, Issuance::new(5, THEIRS, &[NAME]));
    let alerts = after(&world, &id).await;
    let severities: Vec<_> = alerts.iter().map(|alert| text(&alert["severity"])).collect();
    assert_eq!(severities, ["critical"; 2], "who is not known is none of those that are named");

    permit("ca.watched.example");
    source.log(NAME, Issuance::new(6, "C=US, O=Another, CN=Another 1", &[NAME]));
    let alerts = after(&world, &id).await;
    let severities: Vec<_> = alerts.iter().map(|alert| text(&alert["severity"])).collect();
    assert_eq!(alerts.len(), 3, "{alerts:?}");
    assert!(severities.contains(&"warning".to_owned()), "it may be the one named: {alerts:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_served_certificate_is_expected() {
    let (world, source, id) = baseline().await;
    let site = world.site(NAME, 60).await;
    let body = json!({"domain": NAME, "port": site.port(), "site_id": id});
    let ssl = world.owner.client.post("/check-ssl", body).await.expect(200);
    let leaf = &ssl["chain"][0];
    let mut served = Issuance::new(9, "O=Vedette Lab, CN=Lab Root Intermediate", &[NAME]);
    served.serial = text(&leaf["serial_number"]);
    source.log(NAME, served);
    assert_eq!(after(&world, &id).await, [] as [Value; 0], "it is the one that the site shows");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_in_trouble_keeps_the_baseline() {
    let (world, source, id) = baseline().await;
    for script in [Script::status(503), Script::html("<html>busy</html>")] {
        source.trouble(Some(script));
        assert_eq!(after(&world, &id).await, [] as [Value; 0]);
        let record = world.latest("ct", &id, |_| true).await;
        assert_eq!(record["status"], "unknown", "{record:#}");
    }
    source.trouble(None);
    assert_eq!(after(&world, &id).await, [] as [Value; 0], "the same two certificates as before");
    source.log(NAME, Issuance::new(3, THEIRS, &[NAME]));
    assert_eq!(after(&world, &id).await.len(), 1);
    source.trouble(Some(Script::status(429)));
    assert_eq!(after(&world, &id).await.len(), 1);
    assert_eq!(world.latest("ct", &id, |_| true).await["error"], "rate_limited");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_stands_in_repeats_nothing_and_is_not_forgotten() {
    let first = CtSource::start(CtKind::CrtSh).await.expect("free port");
    let other = CtSource::start(CtKind::CertSpotter).await.expect("free port");
    let toml = CtSource::toml(&[&first, &other]);
    let world = World::with(|settings| settings.toml = toml).await;
    world.lab.dns.answer(NAME, Reply::Records(vec![record::address("127.0.0.1")]));
    let (ours, strange) = (Issuance::new(1, OURS, &[NAME]), Issuance::new(2, THEIRS, &[NAME]));
    first.log(NAME, ours.clone());
    let id = world.quiet(NAME).await;
    world.run("ct", NAME, &id).await;
    first.log(NAME, strange.clone());
    assert_eq!(after(&world, &id).await.len(), 1);

    // It tells all the names of a certificate, and knows one more.
    other.log(NAME, ours);
    let names = vec![NAME.to_owned(), "elsewhere.test".to_owned()];
    other.log(NAME, Issuance { names, ..strange });
    other.log(NAME, Issuance::new(3, OURS, &["www.watched.example"]));
    first.trouble(Some(Script::status(503)));
    let result = world.run("ct", NAME, &id).await;
    let counts = |result: &Value| {
        ["source", "total", "new_count", "unexpected_count"].map(|field| result[field].clone())
    };
    assert_eq!(counts(&result), [json!("certspotter"), json!(3), json!(1), json!(1)]);

    for script in [Some(Script::json(&json!([]))), None] {
        first.trouble(script);
        let result = world.run("ct", NAME, &id).await;
        assert_eq!(counts(&result), [json!("crtsh"), json!(3), json!(0), json!(1)]);
    }
    assert_eq!(world.alerts_now("ct").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_log_is_a_baseline_too() {
    let (world, source) = check_ct::world(CtKind::CertSpotter).await;
    let id = world.quiet("fresh.example").await;
    let first = world.run("ct", "fresh.example", &id).await;
    assert_eq!((&first["total"], &first["error"]), (&json!(0), &Value::Null), "{first:#}");
    source.log("fresh.example", Issuance::new(1, THEIRS, &["fresh.example"]));
    world.run("ct", "fresh.example", &id).await;
    world.alerts("ct", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scheduler_finds_it_by_itself() {
    let source = CtSource::start(CtKind::CrtSh).await.expect("free port");
    let toml = format!("[intervals]\nct = \"1s\"\n{}", CtSource::toml(&[&source]));
    let world = World::with(|settings| settings.toml = toml).await;
    world.hook().await;
    source.log("planned.example", Issuance::new(1, OURS, &["planned.example"]));
    let site = world.site("planned.example", 90).await;
    let body =
        json!({"domain": "planned.example", "custom_port": site.port(), "check_types": ["ct"]});
    let created = world.owner.client.post("/sites", body).await.expect(200);
    let id = text(&created["site"]["id"]);
    world.latest("ct", &id, |record| record["result"]["total"] == 1).await;
    source.log("planned.example", Issuance::new(2, THEIRS, &["planned.example"]));
    let told = world.told_of("certificate.changed", 1).await;
    assert_eq!(told[0]["domain"], "planned.example");
}
