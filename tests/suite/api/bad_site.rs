//! Sites at their bounds and one beyond, and everything that is no domain.

use serde_json::{Value, json};

use crate::{refusal::refused, tenant::Tenant, world::World};

#[tokio::test(flavor = "multi_thread")]
async fn fields_are_taken_up_to_their_bounds() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let path = tenant.fill("/sites?id={site}");
    let every = json!(["ssl", "dns", "domain", "ct", "uptime"]);
    for (field, value, shown) in [
        ("custom_port", json!(1), json!(1)),
        ("custom_port", json!(65_535), json!(65_535)),
        ("custom_port", Value::Null, Value::Null),
        ("alert_days", json!(1), json!(1)),
        ("alert_days", json!(365), json!(365)),
        ("origin_ip", json!("127.0.0.1"), json!("127.0.0.1")),
        ("origin_ip", json!("2606:4700:4700::1111"), json!("2606:4700:4700::1111")),
        ("origin_ip", json!("2606:4700:4700:0:0:0:0:ABCD"), json!("2606:4700:4700::abcd")),
        // Of documentation: nobody is there, and no check dials it.
        ("origin_ip", json!("203.0.113.10"), json!("203.0.113.10")),
        ("origin_ip", json!("2001:db8::1"), json!("2001:db8::1")),
        ("origin_ip", Value::Null, Value::Null),
        ("check_types", json!(["ssl"]), json!(["ssl"])),
        ("check_types", json!(["dns", "ssl", "dns"]), json!(["dns", "ssl"])),
        ("check_types", every.clone(), every),
        ("check_config", json!({}), json!({})),
        ("check_config", Value::Null, json!({})),
    ] {
        let answer = tenant.client().patch(&path, json!({ (field): value })).await;
        assert_eq!(answer.status, 200, "{field} {value}: {}", answer.text);
        assert_eq!(answer.json()["site"][field], shown, "{value}");
    }
    let listed = tenant.client().get("/sites").await.expect(200)["sites"][0].clone();
    // What is written and never shown.
    for (field, value) in [
        ("dns_provider", json!("x".repeat(500))),
        ("dns_provider", json!("")),
        ("dns_provider", Value::Null),
        ("deploy_target", json!("\u{fc}".repeat(500))),
        ("dns_provider_config", json!({})),
        ("dns_provider_config", nested(16)),
        ("deploy_config", json!({"a": [1, {"b": null}]})),
        ("deploy_config", Value::Null),
    ] {
        let answer = tenant.client().patch(&path, json!({ (field): value })).await;
        assert_eq!(answer.expect(200)["site"], listed, "{field} {value}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_beyond_and_every_other_type_is_refused_by_name_on_create_and_on_change() {
    let world = World::start().await;
    let cases = beyond();
    // Two requests a case, and fewer than the account's window has.
    for cases in cases.chunks(38) {
        let tenant = Tenant::start(&world).await;
        let before = tenant.state().await;
        let path = tenant.fill("/sites?id={site}");
        for (field, value) in cases {
            let what = format!("{field} {value}");
            let changed = tenant.client().patch(&path, json!({ (*field): value })).await;
            assert!(refused(&changed, 400, &what).contains(field), "{what}: {}", changed.text);
            let body = json!({ "domain": "new.example", (*field): value });
            let created = tenant.client().post("/sites", body).await;
            assert!(refused(&created, 400, &what).contains(field), "{what}: {}", created.text);
        }
        assert_eq!(tenant.state().await, before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_bad_field_among_good_ones_changes_none_of_them() {
    let world = World::start().await;
    let tenant = Tenant::start(&world).await;
    let before = tenant.state().await;
    let body =
        json!({"alert_days": 3, "custom_port": 8443, "check_types": ["ssl"], "origin_ip": 7});
    let answer = tenant.client().patch(&tenant.fill("/sites?id={site}"), body).await;
    refused(&answer, 400, "one bad field");
    assert_eq!(tenant.state().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn domains_are_kept_in_one_spelling_and_are_duplicates_by_it() {
    let world = World::start().await;
    let client = &world.owner.client;
    let longest = name_of(253);
    let label = format!("{}.example", "a".repeat(63));
    for (written, kept) in [
        ("EXAMPLE.com", "example.com"),
        ("trailing.example.", "trailing.example"),
        ("b\u{fc}cher.example", "xn--bcher-kva.example"),
        ("STRA\u{df}E.example", "xn--strae-oqa.example"),
        ("_dmarc.example.com", "_dmarc.example.com"),
        ("a-b--c.example", "a-b--c.example"),
        ("0.example", "0.example"),
        ("a.b.c.d.e.f.example", "a.b.c.d.e.f.example"),
        (label.as_str(), label.as_str()),
        (longest.as_str(), longest.as_str()),
    ] {
        let body = json!({"domain": written, "monitoring_enabled": false});
        let created = client.post("/sites", body).await.expect(200);
        assert_eq!(created["site"]["domain"], kept, "{written}");
    }
    for again in ["example.COM.", "B\u{dc}CHER.example", "XN--BCHER-KVA.example."] {
        let answer = client.post("/sites", json!({"domain": again})).await;
        assert!(refused(&answer, 400, again).contains("domain"), "{again}: {}", answer.text);
    }
    let listed = client.get("/sites").await.expect(200);
    assert_eq!(listed["sites"].as_array().map(Vec::len), Some(10));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_domain_is_refused_wherever_a_domain_is_taken() {
    let world = World::start().await;
    for domains in no_domains().chunks(40) {
        let account = world.account("pro").await;
        for domain in domains {
            for path in ["/sites", "/check-ssl"] {
                let answer = account.client.post(path, json!({ "domain": domain })).await;
                let what = format!("{path} {domain}");
                assert!(refused(&answer, 400, &what).contains("domain"), "{what}: {}", answer.text);
            }
        }
        assert_eq!(account.client.get("/sites").await.expect(200)["sites"], json!([]));
    }
    let query = ["", "localhost", "a%20b.example", "a.example%00", "127.0.0.1", "%5B::1%5D", "%ff"];
    for domain in query {
        let path = format!("/public/check-ssl?domain={domain}");
        refused(&world.service.client().get(&path).await, 400, &path);
    }
}

/// Each field of a site with a value that it cannot have.
fn beyond() -> Vec<(&'static str, Value)> {
    let mut cases = Vec::new();
    let mut of = |field: &'static str, values: &[Value]| {
        cases.extend(values.iter().map(|value| (field, value.clone())));
    };
    let (text, yes, list, object) = (json!("443"), json!(true), json!([443]), json!({"a": 1}));
    let others =
        |more: &[Value]| [[text.clone(), yes.clone(), list.clone()].as_slice(), more].concat();
    of("custom_port", &others(&[json!(0), json!(-1), json!(65_536), json!(443.5), object.clone()]));
    of("custom_port", &[json!(u64::MAX), json!(i64::MIN), json!(1e300)]);
    of("alert_days", &others(&[json!(0), json!(366), json!(-1), json!(14.5), Value::Null]));
    of("alert_days", &[json!(u64::MAX), object.clone()]);
    for address in [
        "",
        "1.2.3",
        "1.2.3.4 ",
        "1.2.3.4:443",
        "1.2.3.4/32",
        "01.2.3.4",
        "1.2.3.256",
        "0x7f.1",
        "2130706433",
        "[::1]",
        "fe80::1%lo",
        ":::1",
        "localhost",
        "example.com",
        // Read, and refused by the egress policy.
        "0.0.0.0",
        "10.0.0.1",
        "169.254.169.254",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "fc00::1",
    ] {
        of("origin_ip", &[json!(address)]);
    }
    of("origin_ip", &[json!(7), json!(false), json!([]), object.clone()]);
    of(
        "check_types",
        &[Value::Null, json!([]), json!("ssl"), json!(["SSL"]), json!(["ssl", "tls"])],
    );
    of("check_types", &[json!([1]), json!([null]), json!([["ssl"]]), object.clone(), json!([""])]);
    of("monitoring_enabled", &[Value::Null, json!("true"), json!(1), json!([])]);
    of("check_config", &[json!([]), json!("{}"), json!({"tls": {}}), json!({"ssl": 7})]);
    of(
        "dns_provider",
        &[json!(7), json!("x".repeat(501)), json!("a\nb"), json!("\u{0}"), json!([])],
    );
    of("deploy_target", &[json!({}), json!("\u{fc}".repeat(501)), json!("a\u{2028}b")]);
    of("dns_provider_config", &[json!([]), json!("{}"), nested(17)]);
    of("deploy_config", &[json!(1), json!(true), nested(17)]);
    cases
}

fn no_domains() -> Vec<Value> {
    let texts = [
        "",
        " ",
        ".",
        "..",
        "com",
        "localhost",
        "\u{43f}\u{440}\u{438}\u{43c}\u{435}\u{440}",
        "example..com",
        ".example.com",
        "example.com..",
        "-a.example",
        "a-.example",
        "a b.example",
        "a.example ",
        " a.example",
        "a.example\n",
        "a.example\0",
        "a.example\0.evil.example",
        "a\u{2028}.example",
        "*.example.com",
        "a,b.example",
        "a!.example",
        "\"a\".example",
        "https://example.com",
        "//example.com",
        "example.com/",
        "example.com\\",
        "example.com:443",
        "user@example.com",
        "example.com?x",
        "example.com#x",
        "example%2ecom",
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "127.0.0.01",
        "0x7f.1",
        "0x7f000001",
        "2130706433",
        "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
        "\u{2460}.\u{2461}",
        "::1",
        "[::1]",
        "example.1",
        "example.0x1f",
        "$(id).example",
        "{{domain}}.example",
    ];
    let mut domains: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
    domains.extend([json!(name_of(254)), json!(format!("{}.example", "a".repeat(64)))]);
    domains
        .extend([json!(format!("{}.example", "a.".repeat(5_000))), json!("\u{fc}".repeat(9_000))]);
    domains.extend([
        Value::Null,
        json!(7),
        json!(true),
        json!([]),
        json!({}),
        json!(["a.example"]),
    ]);
    domains
}

/// A name of this many characters, four labels long.
fn name_of(length: usize) -> String {
    let labels = ["a".repeat(63), "b".repeat(63), "c".repeat(63)].join(".");
    format!("{labels}.{}", "d".repeat(length - labels.len() - 1))
}

/// So many objects in each other.
fn nested(levels: usize) -> Value {
    (1..levels).fold(json!({}), |inner, _| json!({ "a": inner }))
}
