//! `domain.expiring` and `domain.expired`: by the calendar alone, never because a registry was
//! away.

use serde_json::{Value, json};
use vedette_tests::{Registry, Script, registration};

use crate::world::{World, in_days, rfc3339, text};

async fn world() -> (World, Registry) {
    let registry = Registry::start(&["example"]).await.expect("loopback has free ports");
    let toml = registry.toml();
    let world = World::with(|settings| settings.toml = toml).await;
    registry.name_in(&world.lab.dns);
    (world, registry)
}

fn register(registry: &Registry, domain: &str, days: i64) {
    registry.rdap.register(domain, &registration(domain, "Lab Registrar", in_days(days)));
}

/// A result as an agent of the owner's could have brought it.
fn result(days: i64) -> Value {
    json!({
        "registrar": "Lab Registrar", "expires_at": rfc3339(in_days(days)), "days_remaining": days,
        "name_servers": ["ns1.example"], "privacy_protected": null, "error": null,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_that_ends_soon_is_told_with_the_documented_payload() {
    let (world, registry) = world().await;
    world.hook().await;
    register(&registry, "soon.example", 5);
    let site = world.site("soon.example", 90).await;
    let body =
        json!({"domain": "soon.example", "custom_port": site.port(), "check_types": ["domain"]});
    let created = world.owner.client.post("/sites", body).await.expect(200);
    let id = text(&created["site"]["id"]);

    let alert = world.alerts("domain", 1).await.remove(0);
    assert_eq!(alert["severity"], "warning");
    assert!(text(&alert["message"]).contains("soon.example"));
    let hook = world.lab.receiver.wait_for(1).await.expect("it arrives").remove(0);
    let payload = hook.json().expect("JSON");
    assert_eq!(payload["source"], "vedette");
    assert!(text(&payload["timestamp"]).ends_with('Z'));
    let entry = &payload["alerts"][0];
    assert_eq!(entry["domain"], "soon.example");
    assert_eq!(
        (&entry["type"], &entry["severity"]),
        (&json!("domain.expiring"), &json!("warning"))
    );
    assert_eq!((&entry["message"], &entry["alert_id"]), (&alert["message"], &alert["id"]));
    assert!(entry["suggestion"].is_string());
    assert_eq!((&entry["site_id"], &entry["status"]), (&json!(id), &json!("raised")));

    let record = world.latest("domain", &id, |_| true).await;
    assert_eq!((&record["status"], &record["source"]), (&json!("degraded"), &json!("scheduler")));
    world.run("domain", "soon.example", &id).await;
    world.alerts("domain", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_threshold_is_the_sites_own_and_exact() {
    let (world, registry) = world().await;
    let cases = [
        ("at.example", 14, json!({}), 1, "degraded"),
        ("beyond.example", 15, json!({}), 0, "ok"),
        ("today.example", 0, json!({}), 1, "degraded"),
        ("own.example", 40, json!({"alert_days": 40}), 1, "degraded"),
        ("short.example", 4, json!({"alert_days": 3}), 0, "ok"),
    ];
    let mut open = 0;
    for (domain, days, members, alerts, status) in cases {
        register(&registry, domain, days);
        let id = world.quiet_with(domain, members).await;
        world.run("domain", domain, &id).await;
        open += alerts;
        let now = world.alerts_now("domain").await;
        assert_eq!(now.len(), open, "{domain}: {now:?}");
        let record = world.latest("domain", &id, |_| true).await;
        assert_eq!(record["status"], status, "{domain}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_date_without_an_offset_is_judged_like_any_other() {
    let (world, _registry) = world().await;
    let ends = in_days(5);
    for (nth, written) in
        ["%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S.418139", "%Y-%m-%d"].into_iter().enumerate()
    {
        let domain = format!("soon-{nth}.example");
        let id = world.quiet(&domain).await;
        let mut brought = result(5);
        brought["expires_at"] = json!(ends.format(written).to_string());
        world.bring("domain", &id, brought).await;
        let now = world.alerts_now("domain").await;
        assert_eq!(now.len(), nth + 1, "{written}: {now:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_registration_is_critical() {
    let (world, registry) = world().await;
    world.hook().await;
    register(&registry, "over.example", -1);
    let mut held = registration("held.example", "Lab Registrar", in_days(100));
    held["status"] = json!(["redemption period", "pending delete"]);
    registry.rdap.register("held.example", &held);
    for domain in ["over.example", "held.example"] {
        let id = world.quiet(domain).await;
        world.run("domain", domain, &id).await;
        let told = world.told_of("domain.expired", 1).await;
        let told = told.iter().filter(|entry| entry["domain"] == domain).count();
        let record = world.latest("domain", &id, |_| true).await;
        assert_eq!(record["status"], "down", "{domain}: {record:#}");
        assert!(told <= 1, "{domain} was told twice");
    }
    let alerts = world.alerts("domain", 2).await;
    assert!(alerts.iter().all(|alert| alert["severity"] == "critical"), "{alerts:?}");
    world.told_of("domain.expired", 2).await;
    assert_eq!(world.told(|event| event == "domain.expiring").len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_resolves_and_a_lapse_gets_worse() {
    let (world, _registry) = world().await;
    let id = world.quiet("course.example").await;
    world.bring("domain", &id, result(5)).await;
    let first = world.alerts("domain", 1).await.remove(0);
    world.bring("domain", &id, result(365)).await;
    world.alerts("domain", 0).await;
    let resolved = world.owner.client.get("/alerts?type=domain&resolved=true").await.expect(200);
    assert_eq!(resolved["alerts"][0]["id"], first["id"]);

    world.bring("domain", &id, result(2)).await;
    let second = world.alerts("domain", 1).await.remove(0);
    assert_ne!(second["id"], first["id"]);
    world.bring("domain", &id, result(-1)).await;
    let now = world.alerts_now("domain").await;
    let worst: Vec<_> = now.iter().filter(|alert| alert["severity"] == "critical").collect();
    assert_eq!((now.len(), worst.len()), (1, 1), "{now:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_in_trouble_raises_and_resolves_nothing() {
    let (world, registry) = world().await;
    registry.rdap.answer("busy.example", Script::reply(429, &[("retry-after", "600")], ""));
    registry.rdap.answer("away.example", Script::status(503));
    for domain in ["busy.example", "away.example"] {
        let id = world.quiet(domain).await;
        let result = world.run("domain", domain, &id).await;
        assert!(result["error"].is_string(), "{domain}: {result:#}");
        let record = world.latest("domain", &id, |_| true).await;
        assert_eq!(record["status"], "unknown", "{domain}: {record:#}");
        assert_eq!(world.alerts_now("domain").await, [] as [Value; 0], "{domain}");
    }

    // The registration is known to end soon; the registry is asked again and is busy.
    let id = world.quiet("known.example").await;
    world.bring("domain", &id, result(5)).await;
    let alert = world.alerts("domain", 1).await.remove(0);
    registry.rdap.answer("known.example", Script::status(429));
    let busy = world.run("domain", "known.example", &id).await;
    assert_eq!(busy["error"], "rate_limited", "{busy:#}");
    assert_eq!(world.alerts_now("domain").await[0]["id"], alert["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_date_that_is_known_is_told_while_the_registry_is_away() {
    let (world, registry) = world().await;
    for (domain, script) in
        [("busy.example", Script::status(429)), ("away.example", Script::status(503))]
    {
        let id = world.quiet_with(domain, json!({"alert_days": 10})).await;
        world.bring("domain", &id, result(20)).await;
        registry.rdap.answer(domain, script);
        world.run("domain", domain, &id).await;
        let record = world.latest("domain", &id, |_| true).await;
        assert_eq!(record["status"], "unknown", "{domain}: nothing is due: {record:#}");

        // Its time has come, by the calendar or because its owner wants to know earlier.
        let path = format!("/sites?id={id}");
        world.owner.client.patch(&path, json!({"alert_days": 30})).await.expect(200);
        let seen = world.run("domain", domain, &id).await;
        assert!(seen["error"].is_string() && seen["expires_at"].is_null(), "{seen:#}");
        let alerts = world.alerts_now("domain").await;
        let told = alerts.iter().filter(|alert| alert["domain"] == domain).count();
        assert_eq!(told, 1, "{domain}: {alerts:?}");
        let record = world.latest("domain", &id, |_| true).await;
        assert_eq!(record["status"], "degraded", "{domain}: {record:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_that_is_gone_has_expired() {
    let (world, _registry) = world().await;
    let known = world.quiet("known.example").await;
    world.bring("domain", &known, result(100)).await;
    for _ in 0..2 {
        let gone = world.run("domain", "known.example", &known).await;
        assert_eq!(gone["error"], "domain_not_found", "{gone:#}");
    }
    let alerts = world.alerts("domain", 1).await;
    assert_eq!(alerts[0]["severity"], "critical");

    let never = world.quiet("never.example").await;
    world.run("domain", "never.example", &never).await;
    let record = world.latest("domain", &never, |_| true).await;
    assert_eq!(record["status"], "down", "{record:#}");
    assert_eq!(world.alerts_now("domain").await.len(), 1, "it was never known as registered");
}
