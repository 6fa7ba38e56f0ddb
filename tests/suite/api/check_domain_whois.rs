//! `POST /check-domain` over WHOIS: records of many shapes, referrals that lead astray, servers
//! that do not behave.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use vedette_tests::{REGISTRAR, REGISTRY, Registry, Says};

use super::check_domain;
use crate::world::{World, in_days, rfc3339, time};

/// The root refers `.lab` to the registry.
async fn world() -> (World, Registry) {
    let (world, registry) = check_domain::world().await;
    registry.whois.root.answer("lab", &format!("domain:       LAB\n\nwhois:        {REGISTRY}\n"));
    (world, registry)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_and_its_registrars_are_read_together() {
    let (world, registry) = world().await;
    let expires = in_days(100);
    registry.whois.registry.answer(
        "shop.lab",
        &format!(
            "   Domain Name: SHOP.LAB\n   Registrar WHOIS Server: {REGISTRAR}\n   \
             Registry Expiry Date: {}\n   Registrar: Lab Registrar, Inc.\n   \
             Domain Status: clientTransferProhibited https://icann.org/epp#clientTransferProhibited\n   \
             Name Server: NS2.SHOP.LAB\n   Name Server: ns1.shop.lab. 192.0.2.1\n   \
             DNSSEC: unsigned\n>>> Last update of whois database <<<\n",
            rfc3339(expires)
        ),
    );
    registry.whois.registrar.answer(
        "shop.lab",
        &format!(
            "Domain Name: shop.lab\nRegistrar Registration Expiration Date: {}\n\
             Registrant Name: REDACTED FOR PRIVACY\nRegistrant Organization: Lab Works\n",
            rfc3339(in_days(7))
        ),
    );
    let result = world.look("domain", "www.shop.lab").await;
    assert_eq!(result["error"], Value::Null, "{result:#}");
    assert_eq!(result["registrar"], "Lab Registrar, Inc.");
    assert_eq!(time(&result["expires_at"]), expires, "the registry's date, not the registrar's");
    assert_eq!(result["days_remaining"], 100);
    assert_eq!(result["name_servers"], json!(["ns1.shop.lab", "ns2.shop.lab"]));
    assert_eq!(result["privacy_protected"], true);
    assert_eq!(result["data_availability"], "full");
    assert_eq!(registry.whois.registry.asked(), ["shop.lab"], "one question, nothing but the name");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_root_of_the_operator_is_asked_where_it_is_and_whom_it_names_is_a_stranger() {
    let registry = Registry::start(&["example"]).await.expect("loopback has free ports");
    let toml = registry.toml();
    let world = World::with(|settings| {
        settings.toml = toml;
        settings.egress_allow.clear();
    })
    .await;
    registry.name_in(&world.lab.dns);
    let record = "Domain Name: own.lab\nRegistrar: Lab Registrar\nExpiry Date: 2031-05-06\n";
    registry.whois.root.answer("own.lab", record);
    let result = world.look("domain", "own.lab").await;
    assert_eq!((&result["error"], &result["registrar"]), (&Value::Null, &json!("Lab Registrar")));

    registry.whois.root.answer("far", &format!("whois: {REGISTRY}\n"));
    registry.whois.registry.answer("shop.far", record);
    let result = world.look("domain", "shop.far").await;
    assert_eq!(result["error"], "registry_unavailable", "{result:#}");
    assert!(registry.whois.registry.asked().is_empty(), "it was not connected to");
}

#[tokio::test(flavor = "multi_thread")]
async fn dates_and_words_of_many_registries_are_read() {
    let (world, registry) = world().await;
    let day = |text: &str| json!(format!("{text}T00:00:00Z"));
    let records: [(&str, &[u8], Value, &str); 6] = [
        (
            "day.lab",
            b"domain: day.lab\nregistrar: M\xfcller\npaid-till: 2031-05-06\n",
            day("2031-05-06"),
            "full",
        ),
        ("dotted.lab", b"Domain: dotted.lab\nexpire: 2031.05.06\n", day("2031-05-06"), "partial"),
        (
            "month.lab",
            b"Domain Name: month.lab\nExpiry Date: 06-May-2031\n",
            day("2031-05-06"),
            "partial",
        ),
        (
            "none.lab",
            b"Domain: none.lab\nStatus: connect\nNserver: ns1.none.lab\n",
            Value::Null,
            "partial",
        ),
        ("vague.lab", b"Domain Name: vague.lab\nExpiry Date: 31/31/2031\n", Value::Null, "partial"),
        (
            "zone.lab",
            b"Domain Name: zone.lab\nExpiration Date: 2031-05-06T02:00:00+0200\n",
            day("2031-05-06"),
            "partial",
        ),
    ];
    for (domain, record, ..) in &records {
        registry.whois.registry.says(domain, Says::Bytes(record.to_vec()));
    }
    for (domain, _, expires, availability) in &records {
        let result = world.look("domain", domain).await;
        assert_eq!(result["error"], Value::Null, "{domain}: {result:#}");
        assert_eq!(result["expires_at"], *expires, "{domain}: {result:#}");
        assert_eq!(result["data_availability"], *availability, "{domain}: {result:#}");
        assert_eq!(result["privacy_protected"], Value::Null, "{domain}: no registrant is shown");
    }
    let old = world.look("domain", "day.lab").await;
    assert_eq!(old["registrar"], "Müller", "Latin-1 where it is no UTF-8");
}

#[tokio::test(flavor = "multi_thread")]
async fn unregistered_throttled_and_silent_are_told_apart() {
    let (world, registry) = world().await;
    let desk = &registry.whois.registry;
    desk.answer("free.lab", "No match for \"FREE.LAB\".\n>>> Last update of whois database <<<\n");
    desk.answer("state.lab", "Domain: state.lab\nStatus: free\n");
    desk.answer("dated.lab", "No match for \"DATED.LAB\".\n\nLast update: 2026-11-26T00:00:00Z\n");
    desk.answer("noted.lab", "Domain: noted.lab\nStatus: AVAILABLE\nLast Update: 2026-11-26\n");
    desk.answer("kept.lab", "Domain: kept.lab\nStatus: UNASSIGNABLE\n");
    desk.answer(
        "terms.lab",
        "Domain: terms.lab\nRegistrar: Lab Registrar\n\nExcessive querying of this service will \
         result in your access being blocked.\n",
    );
    let limited =
        "Query rate limit exceeded. Please try again later.\nNo match for \"BUSY.LAB\".\n";
    desk.answer("busy.lab", limited);
    desk.answer("empty.lab", "");
    let disclaimed = format!(
        "% The data is not found in any other place; domains not registered here do not exist.\n\
         Domain Name: TAKEN.LAB\nRegistry Expiry Date: {}\n",
        rfc3339(in_days(33))
    );
    desk.answer("taken.lab", &disclaimed);
    desk.says("torn.lab", Says::Reset);
    let cases = [
        ("free.lab", json!("domain_not_found")),
        ("state.lab", json!("domain_not_found")),
        ("dated.lab", json!("domain_not_found")),
        ("noted.lab", json!("domain_not_found")),
        ("kept.lab", json!("domain_reserved")),
        ("terms.lab", Value::Null),
        ("busy.lab", json!("rate_limited")),
        ("empty.lab", json!("rate_limited")),
        ("taken.lab", Value::Null),
        ("torn.lab", json!("registry_unavailable")),
    ];
    for (domain, error) in cases {
        let result = world.look("domain", domain).await;
        assert_eq!(result["error"], error, "{domain}: {result:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_ends_costs_a_run_and_nothing_else() {
    let (world, registry) = world().await;
    let desk = &registry.whois.registry;
    desk.says("slow.lab", Says::Drip(b"remarks: slowly\r\n".to_vec(), Duration::from_millis(100)));
    desk.says("endless.lab", Says::Endless);
    desk.says("silent.lab", Says::Silence);
    desk.answer("well.lab", &format!("Domain: well.lab\nExpires: {}\n", rfc3339(in_days(9))));
    let names = ["slow.lab", "endless.lab", "silent.lab", "well.lab"];
    let results = join_all(names.map(|domain| world.look("domain", domain))).await;
    for (domain, result) in names.iter().zip(&results).take(3) {
        assert!(result["error"].is_string(), "{domain}: {result:#}");
        assert_ne!(result["error"], "domain_not_found", "{domain}");
        assert_eq!(result["data_availability"], "unavailable", "{domain}");
    }
    assert_eq!(results[2]["error"], "timeout", "{:#}", results[2]);
    assert_eq!(results[3]["days_remaining"], 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_referral_leads_to_public_names_only_and_never_in_a_circle() {
    let (world, registry) = world().await;
    let desk = &registry.whois.registry;
    let referrals = [
        ("address.lab", "127.0.0.1".to_owned()),
        ("local.lab", "localhost".to_owned()),
        ("ports.lab", format!("{REGISTRAR}:25")),
        ("lines.lab", format!("{REGISTRAR}\rQUIT")),
        ("circle.lab", REGISTRY.to_owned()),
        ("unknown.lab", "whois.example.com".to_owned()),
    ];
    for (domain, referral) in &referrals {
        let record = format!(
            "Domain Name: {domain}\nRegistrar WHOIS Server: {referral}\nRegistrar: Lab\n\
             Registry Expiry Date: {}\n",
            rfc3339(in_days(80))
        );
        desk.answer(domain, &record);
    }
    for (domain, _) in &referrals {
        let result = world.look("domain", domain).await;
        assert_eq!(result["error"], Value::Null, "{domain}: {result:#}");
        assert_eq!(result["days_remaining"], 80, "{domain}: a failing hop loses nothing");
        assert!(registry.whois.root.asked_about(domain) <= 1, "{domain}: back to the root");
        assert!(desk.asked_about(domain) <= 1, "{domain} was asked for in a circle");
    }
    let asked = registry.whois.registrar.asked();
    assert!(asked.iter().all(|question| !question.contains("QUIT")), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_root_that_refers_nowhere_may_have_the_record_itself() {
    let (world, registry) = check_domain::world().await;
    let record = format!(
        "Domain Name: SHOP.ALONE\nRegistrar: Lab Registrar\nRegistry Expiry Date: {}\n",
        rfc3339(in_days(70))
    );
    registry.whois.root.answer("shop.alone", &record);
    let result = world.look("domain", "www.shop.alone").await;
    assert_eq!((&result["error"], &result["days_remaining"]), (&Value::Null, &json!(70)));
    assert_eq!(result["registrar"], "Lab Registrar");
    assert_eq!(world.look("domain", "other.alone").await["error"], "tld_not_supported");
}

#[tokio::test(flavor = "multi_thread")]
async fn zones_of_the_second_level_are_asked_by_what_was_registered() {
    let (world, registry) = world().await;
    registry.whois.root.answer("uk", &format!("domain: UK\nrefer: {REGISTRY}\n"));
    registry.whois.registry.answer(
        "example.co.uk",
        "    Domain name:\n        example.co.uk\n\n    Registrar:\n        Lab Registrar Ltd \
         [Tag = LAB]\n        URL: https://registrar.example\n\n    Relevant dates:\n        \
         Registered on: 01-Jan-2001\n        Expiry date:  06-May-2031\n\n    Name servers:\n        \
         ns1.example.co.uk  192.0.2.1\n        ns0.example.co.uk\n\n    WHOIS lookup made\n",
    );
    let result = world.look("domain", "www.example.co.uk").await;
    assert_eq!(result["error"], Value::Null, "{result:#}");
    assert_eq!(result["registrar"], "Lab Registrar Ltd");
    assert_eq!(result["expires_at"], "2031-05-06T00:00:00Z");
    assert_eq!(result["name_servers"], json!(["ns0.example.co.uk", "ns1.example.co.uk"]));
}
