use vedette_sdk::net::{CERTIFICATE_TOKENS, NetError, Phase};

use super::*;
use crate::facts;

fn failed(token: &str) -> UptimeResult {
    facts::of_failure("https://example.com/health?token=secret".to_owned(), token)
}

#[test]
fn every_token_has_a_reason_and_a_suggestion_of_its_own() {
    let other = |code: &str| NetError::Other((code.to_owned(), String::new()));
    let errors = [
        NetError::AddressBlocked(String::new()),
        NetError::NameNotFound,
        other("dns-failed"),
        NetError::Refused,
        NetError::Reset,
        NetError::Timeout(Phase::Connect),
        NetError::Timeout(Phase::Receive),
        NetError::Tls("not-tls".to_owned()),
        NetError::Tls("alert 112".to_owned()),
        NetError::Tls(String::new()),
        NetError::Protocol(String::new()),
        NetError::TooLarge(1),
    ];
    let connection = errors.iter().map(|error| error::of_request(error).expect("a token"));
    let answer = [error::UNEXPECTED_STATUS, error::KEYWORD_MISSING];
    let mut messages = std::collections::BTreeSet::new();
    for token in connection.chain(answer).chain(CERTIFICATE_TOKENS.iter().copied()) {
        let finding = down(&failed(token), &Config::default());
        assert_ne!(finding.suggestion.as_deref(), Some(OTHERWISE), "{token}");
        assert!(!finding.message.contains(token), "{}", finding.message);
        assert!(messages.insert(finding.message), "{token} says what another says");
    }
}

#[test]
fn message_names_the_page_but_not_its_query() {
    let message = |result: &UptimeResult| down(result, &Config::default()).message;
    assert_eq!(
        message(&failed("connection_refused")),
        "https://example.com/health is down: the connection was refused",
    );
    let nameless = UptimeResult { url: None, error: None, ..failed("") };
    assert_eq!(message(&nameless), "The site is down: it does not work");
    let status = UptimeResult { status_code: 502, ..nameless.clone() };
    assert_eq!(message(&status), "The site is down: it answered with HTTP status 502");
    let turned = UptimeResult { status_code: 302, ..failed("invalid_response") };
    assert_eq!(
        message(&turned),
        "https://example.com/health is down: it redirects endlessly, to an address that is not \
         followed or cannot be read, or to where nothing speaks HTTP",
    );
    assert_eq!(
        message(&failed(error::RESPONSE_TOO_LARGE)),
        "https://example.com/health is down: its answer has more headers than clients accept, \
         or never ends",
    );
    let page = UptimeResult { status_code: 200, keyword_match: Some(false), ..nameless };
    assert_eq!(message(&page), "The site is down: its page does not contain the keyword");
    let status = UptimeResult { status_code: 503, ..failed("unexpected_status") };
    assert_eq!(
        message(&status),
        "https://example.com/health is down: it answered with HTTP status 503",
    );
}

#[test]
fn redirect_to_nobody_is_told_with_the_host_that_is_missing() {
    let told = |failed_url: &str, token: &str| {
        let failed_url = Some(failed_url.to_owned());
        let result = UptimeResult { failed_url, status_code: 302, ..failed(token) };
        let finding = down(&result, &Config::default());
        (finding.message, finding.suggestion.expect("there always is one"))
    };
    let (message, suggestion) = told("https://dead.example/start?token=secret", NOT_FOUND);
    assert_eq!(
        message,
        "https://example.com/health is down: it redirects to https://dead.example, and that \
         fails: its name does not exist or has no address",
    );
    // Some redirects lead to another page each time.
    assert_eq!(told("https://dead.example/login;id=7", NOT_FOUND), (message, suggestion.clone()));
    assert!(suggestion.contains("redirect") && !suggestion.contains("secret"), "{suggestion}");
    for token in [NOT_FOUND, BLOCKED, "connection_refused"] {
        let (message, suggestion) = told("https://dead.example:8443/", token);
        assert!(message.contains("to https://dead.example:8443, "), "{message}");
        assert!(suggestion.contains(" dead.example"), "{suggestion}");
    }
    // On the site's own host there is nothing but the trouble to look for.
    let (message, suggestion) = told("http://EXAMPLE.com:8080/", "connection_refused");
    assert!(message.ends_with("and that fails: the connection was refused"), "{message}");
    let plainly = down(&failed("connection_refused"), &Config::default());
    assert_eq!(Some(suggestion), plainly.suggestion);
}

#[test]
fn no_message_is_longer_than_the_host_takes() {
    let long = "𝄞".repeat(5_000);
    let config = Config { keyword: Some(long.clone()), ..Config::default() };
    for token in [long.as_str(), error::KEYWORD_MISSING, NOT_FOUND] {
        let result = UptimeResult {
            url: Some(long.clone()),
            failed_url: Some(format!("https://x{long}")),
            response_time_ms: f64::MAX,
            ..failed(token)
        };
        for finding in
            [down(&result, &config), degraded(&result, &config), up_again(&result, Some(i64::MAX))]
        {
            assert!(finding.message.len() <= 1_024, "{} bytes", finding.message.len());
            let suggestion = finding.suggestion.unwrap_or_default();
            assert!(suggestion.len() <= 2_048, "{} bytes", suggestion.len());
        }
    }
}

#[test]
fn duration_is_told_in_its_two_largest_units() {
    for (seconds, said) in [
        (i64::MIN, "less than a minute"),
        (59, "less than a minute"),
        (60, "1 minute"),
        (14 * 60 + 59, "14 minutes"),
        (3_600, "1 hour"),
        (3 * 3_600 + 5 * 60, "3 hours 5 minutes"),
        (86_400 + 60, "1 day 1 minute"),
        (2 * 86_400 + 3_600 + 60, "2 days 1 hour"),
    ] {
        assert_eq!(duration(seconds), said);
    }
}
