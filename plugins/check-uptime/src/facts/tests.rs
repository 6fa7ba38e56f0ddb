use proptest::prelude::*;
use vedette_sdk::http::Hop;

use super::*;
use crate::fixture::{self, DOMAIN};

fn with_keyword(keyword: &str) -> Config {
    Config { keyword: Some(keyword.to_owned()), ..Config::default() }
}

fn judged(response: &Response, config: &Config) -> (Status, Option<bool>, Option<String>) {
    let result = of_answer(String::new(), response, config);
    (result.status, result.keyword_match, result.error)
}

#[test]
fn answer_in_time_is_up_with_all_its_figures() {
    let url = format!("https://{DOMAIN}/");
    let result = of_answer(url.clone(), &fixture::answer(200, b"hello"), &Config::default());
    let expected = UptimeResult {
        status: Status::Up,
        status_code: 200,
        response_time_ms: 123.46,
        ttfb_ms: 100.46,
        keyword_match: None,
        error: None,
        url: Some(url.clone()),
        final_url: Some(url),
        failed_url: None,
        redirects: 0,
        phases: Some(Phases {
            dns_ms: Some(10.0),
            connect_ms: Some(20.0),
            tls_ms: Some(30.0),
            first_byte_ms: Some(40.46),
            transfer_ms: Some(23.0),
        }),
    };
    assert_eq!(result, expected);
}

#[test]
fn status_comes_before_keyword_before_time() {
    let mut slow = fixture::answer(200, b"hello");
    slow.timing.total_us = 5_000_010;
    let mut slow_failure = fixture::answer(503, b"hello");
    slow_failure.timing.total_us = 9_000_000;
    let fast = fixture::answer(200, b"hello");
    let unset = Config::default();
    let off = Config { degraded_ms: 0, ..Config::default() };
    let strict = Config { degraded_ms: 123, ..Config::default() };
    let token = |token: &str| Some(token.to_owned());
    for (response, config, expected) in [
        (&fast, &unset, (Status::Up, None, None)),
        (&fast, &with_keyword("hell"), (Status::Up, Some(true), None)),
        (&fast, &with_keyword("Hell"), (Status::Down, Some(false), token("keyword_missing"))),
        (&fast, &strict, (Status::Degraded, None, None)),
        (&slow, &unset, (Status::Degraded, None, None)),
        (&slow, &off, (Status::Up, None, None)),
        (&slow, &with_keyword("bye"), (Status::Down, Some(false), token("keyword_missing"))),
        (&slow_failure, &unset, (Status::Down, None, token("unexpected_status"))),
        (
            &slow_failure,
            &with_keyword("hello"),
            (Status::Down, Some(true), token("unexpected_status")),
        ),
    ] {
        assert_eq!(judged(response, config), expected);
    }
}

#[test]
fn exactly_the_limit_is_not_slow() {
    let mut answer = fixture::answer(200, b"");
    answer.timing.total_us = 5_000_000;
    assert_eq!(judged(&answer, &Config::default()).0, Status::Up);
}

#[test]
fn login_page_is_down_unless_expected() {
    let login = fixture::answer(401, b"");
    assert_eq!(judged(&login, &Config::default()).0, Status::Down);
    let expected = vec!["401".parse().expect("a code")];
    let config = Config { expected_status: expected, ..Config::default() };
    assert_eq!(judged(&login, &config).0, Status::Up);
    assert_eq!(judged(&fixture::answer(200, b""), &config).0, Status::Down);
}

#[test]
fn keyword_is_looked_for_in_the_decoded_text() {
    let found = |body: &[u8], content_type: &str, keyword: &str| {
        let mut response = fixture::answer(200, body);
        response.headers = vec![("Content-Type".to_owned(), content_type.to_owned())];
        judged(&response, &with_keyword(keyword)).1
    };
    for (body, content_type, keyword, expected) in [
        (b"caf\xe9".as_slice(), "text/html; charset=iso-8859-1", "café", true),
        (b"caf\xe9", "text/html", "café", true),
        (b"caf\xe9", "text/html; charset=utf-8", "café", false),
        (b"<meta charset=latin1>caf\xe9", "text/html", "café", true),
        ("café".as_bytes(), "text/html", "café", true),
        (b"\xff\xfeh\0i\0", "text/plain", "hi", true),
        (b"{\"ok\":true}", "application/json", "\"ok\":true", true),
        (b"", "text/html", "x", false),
    ] {
        assert_eq!(found(body, content_type, keyword), Some(expected), "{content_type} {keyword}");
    }
    let long = [vec![b'.'; 700_000], b"the end".to_vec()].concat();
    assert_eq!(found(&long, "text/html", "the end"), Some(true));
}

#[test]
fn redirects_are_counted_and_wait_with_the_first_byte() {
    let mut response = fixture::answer(200, b"");
    response.hops = vec![
        Hop { status: 301, location: "https://example.com/".to_owned() },
        Hop { status: 302, location: "/home".to_owned() },
    ];
    response.final_url = format!("https://example.com/{}", "x".repeat(5_000));
    response.timing.first_byte_us = Some(900_000);
    response.timing.total_us = 1_000_000;
    let result = of_answer(String::new(), &response, &Config::default());
    assert_eq!(result.redirects, 2);
    assert_eq!(result.final_url.map(|url| url.chars().count()), Some(MAX_URL + 1));
    assert_eq!(result.phases.and_then(|phases| phases.first_byte_ms), Some(840.0));
}

#[test]
fn phases_that_did_not_happen_are_null() {
    let mut response = fixture::answer(200, b"");
    (response.timing.resolve_us, response.timing.tls_us) = (None, None);
    let phases = of_answer(String::new(), &response, &Config::default()).phases;
    let phases = phases.expect("something answered");
    assert_eq!((phases.dns_ms, phases.tls_ms), (None, None));
    assert_eq!((phases.connect_ms, phases.first_byte_ms), (Some(20.0), Some(80.46)));
}

proptest! {
    #[test]
    fn first_byte_is_never_after_the_end(
        resolve_us: Option<u32>,
        connect_us: Option<u32>,
        tls_us: Option<u32>,
        first_byte_us: Option<u32>,
        total_us: u32,
    ) {
        let mut response = fixture::answer(200, b"");
        response.timing = Timing { resolve_us, connect_us, tls_us, first_byte_us, total_us };
        let result = of_answer(String::new(), &response, &Config::default());
        prop_assert!(result.ttfb_ms <= result.response_time_ms);
        let phases = result.phases.expect("something answered");
        for part in [phases.first_byte_ms, phases.transfer_ms].into_iter().flatten() {
            prop_assert!(part >= 0.0);
        }
    }

    #[test]
    fn parts_add_up_to_the_whole(
        parts in prop::array::uniform5(0_u32..30_000_000),
        plain: bool,
        literal: bool,
    ) {
        let [resolve, connect, tls, wait, transfer] = parts;
        let resolve_us = (!literal).then_some(resolve);
        let tls_us = (!plain).then_some(tls);
        let first_byte =
            resolve_us.unwrap_or_default() + connect + tls_us.unwrap_or_default() + wait;
        let mut response = fixture::answer(200, b"");
        response.timing = Timing {
            resolve_us,
            connect_us: Some(connect),
            tls_us,
            first_byte_us: Some(first_byte),
            total_us: first_byte + transfer,
        };
        let result = of_answer(String::new(), &response, &Config::default());
        let Phases { dns_ms, connect_ms, tls_ms, first_byte_ms, transfer_ms } =
            result.phases.expect("something answered");
        let sum: f64 =
            [dns_ms, connect_ms, tls_ms, first_byte_ms, transfer_ms].into_iter().flatten().sum();
        prop_assert!((sum - result.response_time_ms).abs() < 0.05, "{sum}");
    }
}
