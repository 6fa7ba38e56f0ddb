//! `POST /check-domain` over RDAP: what a registry says, and what it is taken for when it says
//! nothing good. WHOIS has a file of its own.

use futures::future::join_all;
use serde_json::{Value, json};
use uuid::Uuid;
use vedette_tests::{REGISTRY, Registry, Script, registration};

use crate::world::{World, in_days, rfc3339, text, time};

/// A world whose RDAP service serves `.example` and `.com`.
pub(super) async fn world() -> (World, Registry) {
    let registry = Registry::start(&["example", "com"]).await.expect("loopback has free ports");
    let toml = registry.toml();
    let world = World::with(|settings| settings.toml = toml).await;
    registry.name_in(&world.lab.dns);
    (world, registry)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_is_described_field_by_field() {
    let (world, registry) = world().await;
    let expires = in_days(90);
    let mut object = registration("shop.example", "Lab Registrar, Inc.", expires);
    object["redacted"] = json!([{
        "name": {"description": "Registrant Name"}, "method": "removal", "pathLang": "jsonpath",
    }]);
    registry.rdap.register("shop.example", &object);
    let result = world.look("domain", "shop.example").await;

    assert_eq!(result["error"], Value::Null, "{result:#}");
    assert_eq!(result["registrar"], "Lab Registrar, Inc.");
    assert_eq!(time(&result["expires_at"]), expires);
    assert_eq!(result["days_remaining"], 90);
    assert_eq!(result["name_servers"], json!(["ns1.shop.example", "ns2.shop.example"]));
    assert_eq!(result["privacy_protected"], true);
    assert_eq!(result["data_availability"], "full");
    let asked = registry.rdap.asked("shop.example");
    assert_eq!(asked.len(), 1);
    assert!(
        asked[0].header("accept").is_some_and(|accept| accept.contains("application/rdap+json"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shown_registrant_is_no_privacy_and_none_is_not_known() {
    let (world, registry) = world().await;
    let mut shown = registration("shown.example", "Lab Registrar", in_days(50));
    let registrant = json!({
        "objectClassName": "entity", "roles": ["registrant"],
        "vcardArray": ["vcard", [["fn", {}, "text", "Ada Lab"], ["org", {}, "text", "Lab Works"]]],
    });
    shown["entities"].as_array_mut().expect("a list").push(registrant);
    registry.rdap.register("shown.example", &shown);
    let mut proxied = shown.clone();
    proxied["ldhName"] = json!("proxied.example");
    proxied["entities"][1]["vcardArray"][1] = json!([["fn", {}, "text", "Domains By Proxy, LLC"]]);
    registry.rdap.register("proxied.example", &proxied);
    let unknown = registration("unknown.example", "Lab Registrar", in_days(50));
    registry.rdap.register("unknown.example", &unknown);
    let cases = [
        ("shown.example", json!(false)),
        ("proxied.example", json!(true)),
        ("unknown.example", Value::Null),
    ];
    for (domain, expected) in cases {
        let result = world.look("domain", domain).await;
        assert_eq!(result["privacy_protected"], expected, "{domain}: {result:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_is_asked_for_by_the_name_that_was_registered() {
    let (world, registry) = world().await;
    let object = registration("below.com", "Lab Registrar", in_days(30));
    registry.rdap.register("below.com", &object);
    let result = world.look("domain", "deep.down.Below.COM.").await;
    assert_eq!(result["days_remaining"], 30, "{result:#}");
    assert_eq!(registry.rdap.asked("below.com").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn sparse_objects_are_read_as_far_as_they_go() {
    let (world, registry) = world().await;
    let bare = json!({"objectClassName": "domain", "ldhName": "BARE.EXAMPLE"});
    registry.rdap.register("bare.example", &bare);
    let result = world.look("domain", "bare.example").await;
    assert_eq!(result["error"], Value::Null, "{result:#}");
    for field in ["registrar", "expires_at", "days_remaining", "name_servers", "privacy_protected"]
    {
        assert_eq!(result[field], Value::Null, "{field}: {result:#}");
    }
    assert_eq!(result["data_availability"], "partial");

    let mut odd = registration("odd.example", "Lab Registrar", in_days(20));
    odd["events"] = json!([
        {"eventAction": "expiration", "eventDate": "as soon as possible"},
        {"eventAction": "registrar expiration", "eventDate": rfc3339(in_days(20))},
    ]);
    odd["nameservers"] = json!([]);
    odd["entities"][0]["vcardArray"] = json!(["vcard", [["fn", {}, "text", ["Lab", "Registrar"]]]]);
    odd["entities"] = json!([{"roles": ["technical"], "entities": odd["entities"].clone()}]);
    registry.rdap.register("odd.example", &odd);
    let result = world.look("domain", "odd.example").await;
    assert_eq!(result["error"], Value::Null, "{result:#}");
    assert_eq!(result["name_servers"], json!([]), "stated: none");
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_followed_as_far_as_they_lead_somewhere() {
    let (world, registry) = world().await;
    let object = registration("moved.example", "Lab Registrar", in_days(70));
    let end = registry.rdap.place("/elsewhere/moved", Script::json(&object));
    let middle = registry.rdap.place("/hop", Script::redirect(&end));
    registry.rdap.answer("moved.example", Script::redirect(&middle));
    let moved = world.look("domain", "moved.example").await;
    assert_eq!(moved["days_remaining"], 70, "{moved:#}");

    let itself = registry.rdap.url("round.example");
    registry.rdap.answer("round.example", Script::redirect(&itself));
    registry
        .rdap
        .answer("inside.example", Script::redirect("http://10.1.2.3/domain/inside.example"));
    registry.rdap.answer("meta.example", Script::redirect("http://169.254.169.254/latest"));
    for domain in ["round.example", "inside.example", "meta.example"] {
        let result = world.look("domain", domain).await;
        assert_eq!(result["error"], "registry_unavailable", "{domain}: {result:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_answer_is_never_called_unregistered() {
    let (world, registry) = world().await;
    let rdap = &registry.rdap;
    let huge = json!({"ldhName": "huge.example", "remarks": "x".repeat(300 << 10)});
    rdap.register("huge.example", &huge);
    rdap.answer("html.example", Script::html("<html><body>Down for maintenance</body></html>"));
    rdap.answer("cut.example", Script::reply(200, &[], "{\"objectClassName\": \"dom"));
    rdap.answer("broken.example", Script::status(500));
    rdap.answer("away.example", Script::status(503));
    rdap.answer("torn.example", Script::reset());
    rdap.answer("limited.example", Script::reply(429, &[("retry-after", "3600")], "slow down"));
    rdap.answer("denied.example", Script::status(403));
    let cases = [
        ("huge.example", "registry_unavailable"),
        ("html.example", "registry_unavailable"),
        ("cut.example", "registry_unavailable"),
        ("broken.example", "registry_unavailable"),
        ("away.example", "registry_unavailable"),
        ("torn.example", "registry_unavailable"),
        ("limited.example", "rate_limited"),
        ("denied.example", "rate_limited"),
        ("free.example", "domain_not_found"),
    ];
    let looks = join_all(cases.iter().map(|(domain, _)| world.look("domain", domain))).await;
    for ((domain, error), result) in cases.iter().zip(looks) {
        // Broken answers may as well be called unparsable; unregistered they are not.
        let said = text(&result["error"]);
        let is_unparsable = *error == "registry_unavailable" && said == "unparsable_response";
        assert!(said == *error || is_unparsable, "{domain}: {result:#}");
        assert_eq!(result["data_availability"], "unavailable", "{domain}: {result:#}");
        assert_eq!(result["expires_at"], Value::Null, "{domain}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_whose_rdap_is_down_is_asked_by_whois() {
    let (world, registry) = world().await;
    registry.rdap.answer("second.example", Script::status(502));
    registry.whois.root.answer("example", &format!("domain: EXAMPLE\nrefer: {REGISTRY}\n"));
    let expires = in_days(44);
    registry.whois.registry.answer(
        "second.example",
        &format!(
            "Domain Name: SECOND.EXAMPLE\nRegistrar: Lab Registrar\nRegistry Expiry Date: {}\n",
            rfc3339(expires)
        ),
    );
    let result = world.look("domain", "second.example").await;
    assert_eq!(result["error"], Value::Null, "{result:#}");
    assert_eq!(time(&result["expires_at"]), expires);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_neither_protocol_serves_the_zone_it_is_said() {
    let (world, _registry) = world().await;
    let result = world.look("domain", "shop.nowhere").await;
    assert_eq!(result["error"], "tld_not_supported", "{result:#}");
    assert_eq!(result["registrar"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_kept_for_everybody() {
    let (world, registry) = world().await;
    let object = registration("cached.example", "Lab Registrar", in_days(60));
    registry.rdap.register("cached.example", &object);
    let first = world.look("domain", "cached.example").await;
    let second = world.look("domain", "www.cached.example").await;
    assert_eq!(first["expires_at"], second["expires_at"]);
    let stranger = world.account("pro").await.client;
    stranger.post("/check-domain", json!({"domain": "cached.example"})).await.expect(200);
    assert_eq!(registry.rdap.asked("cached.example").len(), 1, "public data is asked for once");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_bodies_and_names_nobody_can_register_are_refused() {
    let (world, _registry) = world().await;
    for body in [
        json!({}),
        json!({"domain": 7}),
        json!({"domain": "no spaces.example"}),
        json!({"domain": "192.0.2.1"}),
        json!({"domain": "co.uk"}),
        json!({"domain": "a.example", "site_id": "17"}),
    ] {
        let answer = world.owner.client.post("/check-domain", body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
    }
    let anonymous = world.owner.client.anonymous();
    anonymous.post("/check-domain", json!({"domain": "a.example"})).await.expect(401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_result_is_the_answered_one() {
    let (world, registry) = world().await;
    registry.rdap.register("kept.example", &registration("kept.example", "Lab", in_days(200)));
    let id = world.quiet("kept.example").await;
    let result = world.run("domain", "kept.example", &id).await;
    let record = world.latest("domain", &id, |_| true).await;
    assert_eq!(record["result"], result);
    assert_eq!((&record["status"], &record["source"]), (&json!("ok"), &json!("on_demand")));
    let body = json!({"domain": "kept.example", "site_id": id});
    world.account("pro").await.client.post("/check-domain", body).await.expect(404);
    let body = json!({"domain": "kept.example", "site_id": Uuid::new_v4()});
    world.owner.client.post("/check-domain", body).await.expect(404);
}
