//! `vedette check …`: the same plugins without a service; 0 ok, 1 findings, 2 could not check.

use serde_json::{Value, json};
use vedette_tests::{
    CtKind, CtSource, Issuance, Lab, Ran, Registry, Reply, ResponseCode, Script, Settings, check,
    record, registration,
};

use crate::world::in_days;

async fn run(settings: &Settings, arguments: &[&str]) -> Ran {
    check(settings, arguments).await.expect("the program runs")
}

#[tokio::test(flavor = "multi_thread")]
async fn dns_says_what_it_saw() {
    let lab = Lab::start().await.expect("free ports");
    lab.dns.answer("shop.example", Reply::Records(vec![record::address("127.0.0.1")]));
    lab.dns.answer("refused.example", Reply::Failure(ResponseCode::Refused));
    let settings = lab.settings();
    let fine = run(&settings, &["dns", "shop.example", "--json"]).await;
    assert_eq!(fine.code, Some(0), "{fine:?}");
    let result = fine.json();
    assert_eq!(result["records"], json!([{"type": "A", "values": ["127.0.0.1"]}]));
    assert_eq!(result["findings"], json!([]));

    let people = run(&settings, &["dns", "shop.example"]).await;
    assert_eq!(people.code, Some(0), "{people:?}");
    assert!(
        people.output.contains("shop.example") && people.output.contains("127.0.0.1"),
        "{people:?}"
    );

    let gone = run(&settings, &["dns", "gone.example", "--json"]).await;
    assert_eq!((gone.code, &gone.json()["error"]), (Some(1), &json!("nxdomain")), "{gone:?}");
    let refused = run(&settings, &["dns", "refused.example", "--json"]).await;
    assert_eq!(
        (refused.code, &refused.json()["error"]),
        (Some(2), &json!("refused")),
        "{refused:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn domain_tells_a_registration_that_ends() {
    let lab = Lab::start().await.expect("free ports");
    let registry = Registry::start(&["example"]).await.expect("free ports");
    registry.name_in(&lab.dns);
    for (domain, days) in [("long.example", 300), ("soon.example", 5), ("over.example", -2)] {
        registry.rdap.register(domain, &registration(domain, "Lab Registrar", in_days(days)));
    }
    registry.rdap.answer("busy.example", Script::status(429));
    let settings = Settings { toml: registry.toml(), ..lab.settings() };
    for (domain, code, finding) in [
        ("long.example", 0, None),
        ("soon.example", 1, Some("domain.expiring")),
        ("over.example", 1, Some("domain.expired")),
        ("busy.example", 2, None),
    ] {
        let ran = run(&settings, &["domain", domain, "--json"]).await;
        assert_eq!(ran.code, Some(code), "{domain}: {ran:?}");
        let said = &ran.json()["findings"];
        let types: Vec<_> = said
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|found| found["type"].as_str())
            .collect();
        assert_eq!(types, Vec::from_iter(finding), "{domain}");
    }
    let suffix = run(&settings, &["domain", "co.uk", "--json"]).await;
    assert_eq!(
        (suffix.code, &suffix.json()["error"]),
        (Some(2), &json!("not_checked")),
        "{suffix:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ct_finds_what_was_logged() {
    let lab = Lab::start().await.expect("free ports");
    let source = CtSource::start(CtKind::CrtSh).await.expect("free port");
    source.log("shop.example", Issuance::new(1, "O=Lab Trust, CN=Lab CA", &["shop.example"]));
    let settings = Settings { toml: CtSource::toml(&[&source]), ..lab.settings() };
    let fine = run(&settings, &["ct", "shop.example", "--json"]).await;
    assert_eq!((fine.code, &fine.json()["total"]), (Some(0), &json!(1)), "{fine:?}");
    source.trouble(Some(Script::status(503)));
    let away = run(&settings, &["ct", "shop.example", "--json"]).await;
    assert_eq!(away.code, Some(2), "{away:?}");
    assert_eq!(away.json()["error"], "ct_source_unavailable");
    let people = run(&settings, &["ct", "shop.example"]).await;
    let meaning = "no source of plugins.ct.sources answers";
    assert!(people.output.contains(meaning) && !away.output.contains(meaning), "{people:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn uptime_takes_a_port_and_a_configuration() {
    let lab = Lab::start().await.expect("free ports");
    let pages = lab.pages("shop.example").await.expect("free port");
    pages.at("/", Script::html("open all day"));
    let (settings, port) = (lab.settings(), pages.port().to_string());
    let arguments = ["uptime", "shop.example", "--json", "--port", &port];
    let up = run(&settings, &arguments).await;
    assert_eq!((up.code, &up.json()["status"]), (Some(0), &json!("up")), "{up:?}");

    let keyword = [&arguments[..], &["--config", "keyword = \"closed\""]].concat();
    let absent = run(&settings, &keyword).await;
    assert_eq!(
        (absent.code, &absent.json()["keyword_match"]),
        (Some(1), &json!(false)),
        "{absent:?}"
    );

    pages.at("/", Script::status(503));
    let down = run(&settings, &arguments).await;
    assert_eq!((down.code, &down.json()["status_code"]), (Some(1), &json!(503)), "{down:?}");

    let wrong = [&arguments[..], &["--config", "path = 7"]].concat();
    let wrong = run(&settings, &wrong).await;
    assert_eq!((wrong.code, &wrong.json()["error"]), (Some(2), &json!("not_checked")), "{wrong:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_services_file_names_the_networks_and_resolvers_of_one_check_too() {
    let lab = Lab::start().await.expect("free ports");
    let pages = lab.pages("shop.example").await.expect("free port");
    pages.at("/", Script::html("open all day"));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("service.toml");
    let text =
        format!("dns_server = [\"{}\"]\n[egress]\nallow = [\"127.0.0.0/8\"]\n", lab.dns.address());
    std::fs::write(&file, text).expect("written");
    let settings = Settings { dns: Vec::new(), egress_allow: Vec::new(), ..lab.settings() };
    let (port, file) = (pages.port().to_string(), file.display().to_string());
    let arguments = ["uptime", "shop.example", "--json", "--port", &port, "--config", &file];
    let up = run(&settings, &arguments).await;
    assert_eq!((up.code, &up.json()["status"]), (Some(0), &json!("up")), "{up:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_checked_is_said_and_is_no_finding() {
    let lab = Lab::start().await.expect("free ports");
    lab.dns.answer("inside.example", Reply::address("10.1.2.3".parse().expect("valid")));
    let settings = lab.settings();
    for arguments in [
        ["uptime", "no spaces.example", "--json"],
        ["uptime", "inside.example", "--json"],
        ["ssl", "nobody.example", "--json"],
        ["no-such", "shop.example", "--json"],
    ] {
        let ran = run(&settings, &arguments).await;
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        let said = if ran.output.is_empty() {
            Value::from(ran.errors)
        } else {
            // A result says it in its error, a refusal in a sentence.
            let told = ran.json();
            told.get("message").unwrap_or(&told["error"]).clone()
        };
        assert!(said.as_str().is_some_and(|said| !said.trim().is_empty()), "{arguments:?}");
    }
    let inside = run(&settings, &["ssl", "inside.example"]).await;
    assert_eq!(inside.code, Some(2), "{inside:?}");
    assert!(
        inside.errors.contains("--egress-allow"),
        "it names the flag that opens it: {inside:?}"
    );
}
