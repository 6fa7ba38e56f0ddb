use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use vedette_sdk::{Check, Severity, net::NetError};

use super::*;
use crate::fixture::{IANA, World, iana, rdap, response, thin};

/// The schema as the API shows it.
fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<DomainResult>().to_value()
}

fn assert_valid(result: &DomainResult) {
    let validator = jsonschema::draft202012::new(&schema()).expect("the schema can be used");
    let value = serde_json::to_value(result).expect("it has a form in JSON");
    let problems: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
    assert!(problems.is_empty(), "{value}: {problems:?}");
}

#[test]
fn every_result_satisfies_the_schema() {
    let by_rdap = World::new().http(|url| match url {
        IANA => Err(NetError::Refused),
        _ => Ok(response(200, &rdap("example.com", "2026-03-02T00:00:00Z"))),
    });
    let by_whois = World::new().whois(|server, query| match server {
        "whois.iana.org:43" => Ok(iana(query, Some("whois.denic.de"))),
        _ => Ok(thin("example.de", "2026-03-02T00:00:00Z", "whois.denic.de")),
    });
    let absent = World::new().http(|_| Ok(response(404, "")));
    for (world, target) in [
        (&by_rdap, "example.com"),
        (&by_whois, "example.de"),
        (&absent, "example.com"),
        (&World::new(), "example.com"),
    ] {
        assert_valid(&world.check(target));
    }
}

#[test]
fn schema_documents_every_field_and_requires_none() {
    let schema = schema();
    assert_eq!(schema.get("required"), None);
    for field in [
        "domain",
        "registrar",
        "expires_at",
        "days_remaining",
        "name_servers",
        "privacy_protected",
        "status",
        "source",
        "error",
    ] {
        assert!(schema["properties"][field]["description"].is_string(), "{field}");
    }
    let text = schema.to_string();
    for value in ["full", "partial", "unavailable", "rdap", "whois"] {
        assert!(text.contains(&format!("\"{value}\"")), "{value}");
    }
    let validator = jsonschema::draft202012::new(&schema).expect("the schema can be used");
    assert!(validator.is_valid(&json!({"expires_at": "2026-03-02T00:00:00Z"})));
    assert!(!validator.is_valid(&json!({"name_servers": "ns1.example.com"})));
}

#[test]
fn manifest_and_descriptor_agree() {
    let manifest = include_str!("../plugin.toml");
    let said = Domain::describe();
    assert!(manifest.contains(&format!("id = \"{}\"", said.id)));
    assert!(manifest.contains(&format!("version = \"{}\"", said.version)));
    let events: Vec<(&str, Severity)> = said.events.iter().map(|e| (e.name, e.severity)).collect();
    assert_eq!(
        events,
        [("domain.expiring", Severity::Warning), ("domain.expired", Severity::Critical)],
    );
}

#[test]
fn days_that_are_over_are_not_left() {
    for (days, said) in [
        (1, "example.com: registered, 1 day left"),
        (0, "example.com: registered, 0 days left"),
        (-1, "example.com: registered, expired less than a day ago"),
        (-3, "example.com: registered, expired 2 days ago"),
    ] {
        let result = DomainResult {
            domain: "example.com".to_owned(),
            days_remaining: Some(days),
            ..DomainResult::default()
        };
        assert_eq!(summary(&result), said);
    }
}
