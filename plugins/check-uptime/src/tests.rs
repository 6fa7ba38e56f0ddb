use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use vedette_sdk::{
    http::Response,
    net::{NetError, Phase},
};

use super::*;
use crate::fixture::{self, answer};

fn run(outcome: Result<Response, NetError>) -> Result<Observation<UptimeResult>, CheckError> {
    let (host, _) = fixture::host(move |_| outcome.clone());
    Uptime::run(&host.cx(), fixture::job(Config::default()))
}

#[test]
fn answer_is_observed_with_its_metrics() {
    let seen = run(Ok(answer(200, b"hello"))).expect("the check works");
    assert_eq!(seen.summary, "up, HTTP 200 in 123 ms");
    let metrics: Vec<(String, f64)> = seen.metrics.into_iter().map(|m| (m.name, m.value)).collect();
    assert_eq!(
        metrics,
        [(UP.to_owned(), 1.0), (RESPONSE.to_owned(), 0.12346), (FIRST_BYTE.to_owned(), 0.10046)],
    );
    let failing = run(Ok(answer(503, b""))).expect("the check works");
    assert_eq!(failing.summary, "down, unexpected_status, HTTP 503 in 123 ms");
    assert_eq!((failing.metrics.len(), failing.metrics[0].value), (3, 0.0));
}

#[test]
fn site_that_is_away_is_a_result() {
    for (error, token) in [
        (NetError::Refused, "connection_refused"),
        (NetError::Timeout(Phase::Receive), "response_timeout"),
        (NetError::NameNotFound, "dns_not_found"),
        (NetError::TooLarge(65_536), "response_too_large"),
    ] {
        let seen = run(Err(error)).expect("the check works");
        let url = "https://www.example.com/".to_owned();
        assert_eq!(seen.facts, facts::of_failure(url, token));
        assert_eq!(seen.summary, format!("down, {token}"));
        assert_eq!((seen.metrics.len(), seen.metrics[0].value), (1, 0.0));
    }
}

#[test]
fn answer_that_breaks_off_is_down_with_what_came_of_it() {
    let protocol = |text: &str| NetError::Protocol(text.to_owned());
    for (status, failure, token) in [
        (200_u16, NetError::Timeout(Phase::Receive), "response_timeout"),
        (500, NetError::Timeout(Phase::Receive), "response_timeout"),
        (200, NetError::Reset, "connection_reset"),
        (200, protocol("the body cannot be decompressed"), "invalid_response"),
        (302, protocol("too many redirects"), "invalid_response"),
        (302, protocol("the URL of the redirect cannot be read"), "invalid_response"),
    ] {
        // Neither an expected status nor a keyword is worth anything without the page.
        let config = Config {
            expected_status: vec![status.to_string().parse().expect("a code")],
            keyword: Some("hello".to_owned()),
            ..Config::default()
        };
        let host = fixture::breaking_off(status, failure);
        let seen = Uptime::run(&host.cx(), fixture::job(config)).expect("the check works");
        let UptimeResult { status_code, response_time_ms, ttfb_ms, .. } = seen.facts;
        assert_eq!((status_code, response_time_ms, ttfb_ms), (status, 123.46, 100.46));
        assert_eq!(seen.facts.status, Status::Down);
        assert_eq!(seen.facts.error.as_deref(), Some(token));
        assert_eq!(seen.facts.keyword_match, None);
        let transfer = seen.facts.phases.as_ref().and_then(|phases| phases.transfer_ms);
        assert_eq!(transfer, Some(23.0));
        assert_eq!(seen.facts.final_url.as_deref(), Some("https://www.example.com/"));
        assert_eq!(seen.summary, format!("down, {token}, HTTP {status} in 123 ms"));
        assert_eq!((seen.metrics.len(), seen.metrics[0].value), (3, 0.0));
    }
}

#[test]
fn redirect_to_nobody_who_answers_is_down_with_the_answer_that_came() {
    for (failure, token) in [
        (NetError::NameNotFound, "dns_not_found"),
        (NetError::Refused, "connection_refused"),
        (NetError::Timeout(Phase::Connect), "connection_timeout"),
        (NetError::AddressBlocked(String::new()), "blocked_address"),
        (NetError::Tls("certificate certificate_expired".to_owned()), "certificate_expired"),
    ] {
        let host = fixture::redirecting("https://dead.example/", failure);
        let seen = Uptime::run(&host.cx(), fixture::job(Config::default()));
        let seen = seen.expect("the check works");
        assert_eq!(seen.summary, format!("down, {token}, HTTP 302 in 123 ms"));
        let UptimeResult { status, status_code, redirects, error, .. } = &seen.facts;
        assert_eq!((*status, *status_code, *redirects), (Status::Down, 302, 0), "{token}");
        assert_eq!(error.as_deref(), Some(token));
        assert_eq!(seen.facts.final_url.as_deref(), Some("https://www.example.com/"));
        assert_eq!(seen.facts.failed_url.as_deref(), Some("https://dead.example/"));
        assert!(seen.facts.phases.is_some() && seen.facts.response_time_ms > 0.0);
    }
}

#[test]
fn our_own_trouble_is_no_result() {
    let other = |code: &str| NetError::Other((code.to_owned(), String::new()));
    for error in [NetError::BudgetExhausted, other("resolver-down"), other("exhausted")] {
        let host = fixture::breaking_off(200, error.clone());
        let broken_off = Uptime::run(&host.cx(), fixture::job(Config::default()));
        assert!(matches!(broken_off, Err(CheckError::Failed(_))));
        let host = fixture::redirecting("https://dead.example/", error.clone());
        let redirected = Uptime::run(&host.cx(), fixture::job(Config::default()));
        assert!(matches!(redirected, Err(CheckError::Failed(_))));
        assert!(matches!(run(Err(error)), Err(CheckError::Failed(_))));
    }
}

#[test]
fn certificates_that_only_others_read_are_no_failure_of_the_site() {
    let error =
        NetError::Tls("too large: a message of the handshake has more than 64 KiB".to_owned());
    let outcome = run(Err(error.clone()));
    assert!(matches!(outcome, Err(CheckError::UnsupportedTarget(_))));
    let host = fixture::redirecting("https://many.example/", error);
    let redirected = Uptime::run(&host.cx(), fixture::job(Config::default()));
    assert!(matches!(redirected, Err(CheckError::UnsupportedTarget(_))));
}

#[test]
fn port_of_another_protocol_has_no_page() {
    // No script: a request would fail the test.
    let host = vedette_sdk::testing::Host::new();
    for port in [25, 587, 993, 4190, 5061, 5432, 6679, 10080] {
        let job = Job { port: Some(port), ..fixture::job(Config::default()) };
        let outcome = Uptime::run(&host.cx(), job);
        assert!(matches!(outcome, Err(CheckError::UnsupportedTarget(_))), "{port}");
    }
}

#[test]
fn results_satisfy_their_schema() {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<UptimeResult>().to_value();
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is one");
    let mut redirected = answer(200, b"");
    redirected.timing.resolve_us = None;
    redirected.final_url = "https://example.com/".repeat(500);
    for outcome in [
        Ok(answer(200, b"")),
        Ok(redirected),
        Ok(answer(999, b"")),
        Err(NetError::Refused),
        Err(NetError::Timeout(Phase::Connect)),
    ] {
        let result = json!(run(outcome).expect("the check works").facts);
        let problems: Vec<String> =
            validator.iter_errors(&result).map(|error| error.to_string()).collect();
        assert_eq!(problems, Vec::<String>::new(), "{result}");
        let read: UptimeResult = serde_json::from_value(result.clone()).expect("it reads back");
        assert_eq!(json!(read), result);
    }
}

#[test]
fn configuration_and_its_schema_agree() {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is one");
    let accepted = |config: &Value| {
        let read = serde_json::from_value(config.clone()).ok();
        read.is_some_and(|config| Uptime::validate("example.com", config).is_ok())
    };
    for config in [
        json!({}),
        json!({"path": "/health", "expected_status": [200, "301", "400-499"], "keyword": "ok"}),
        json!({"expected_status": [999, "200-999"]}),
        json!({"keyword": null, "degraded_ms": 0, "timeout_ms": 25_000, "scheme": "http"}),
        json!({"degraded_ms": 60_000, "timeout_ms": 1_000, "verify_tls": false}),
    ] {
        assert!(validator.is_valid(&config) && accepted(&config), "{config}");
        let normalised = json!(serde_json::from_value::<Config>(config).expect("it was accepted"));
        assert!(validator.is_valid(&normalised), "{normalised}");
    }
    for config in [
        json!({"path": ""}),
        json!({"path": "health"}),
        json!({"expected_status": [99]}),
        json!({"expected_status": 1000}),
        json!({"expected_status": ["2xx"]}),
        json!({"expected_status": vec![200; 33]}),
        json!({"keyword": ""}),
        json!({"keyword": "x".repeat(1_001)}),
        json!({"degraded_ms": 60_001}),
        json!({"degraded_ms": -1}),
        json!({"timeout_ms": 999}),
        json!({"timeout_ms": 25_001}),
        json!({"scheme": "ftp"}),
        json!({"pth": "/"}),
    ] {
        assert!(!validator.is_valid(&config) && !accepted(&config), "{config}");
    }
}

#[test]
fn manifest_and_descriptor_agree() {
    let manifest = include_str!("../plugin.toml");
    let said = Uptime::describe();
    assert!(manifest.contains(&format!("id = \"{}\"", said.id)));
    assert!(manifest.contains(&format!("version = \"{}\"", said.version)));
    let names: Vec<&str> = said.events.iter().map(|event| event.name).collect();
    assert_eq!(names, ["site.down", "site.degraded", "site.up"]);
    assert!(said.events.iter().all(|event| event.alert_type == "uptime"));
}
