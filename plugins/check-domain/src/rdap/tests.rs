use super::*;
use crate::fixture::{NOW, rdap, response};

fn name() -> Name {
    Name::of("example.com").expect("it is a name")
}

#[test]
fn status_says_what_the_body_need_not() {
    let good = rdap("example.com", "2026-03-02T00:00:00Z");
    for (status, body, expected) in [
        (404, "", Reply::NotFound),
        (404, "<html>", Reply::NotFound),
        (200, r#"{"errorCode":404}"#, Reply::NotFound),
        (200, r#"{"errorCode":"404","title":"Not Found"}"#, Reply::NotFound),
        (429, &good, Reply::Throttled(None)),
        (403, "", Reply::Denied),
        (200, r#"{"errorCode":429}"#, Reply::Throttled(None)),
        (200, r#"{"errorCode":500}"#, Reply::Failed(Token::RegistryUnavailable)),
        (200, r#"{"errorCode":[]}"#, Reply::Failed(Token::UnparsableResponse)),
        (200, r#"{"errorCode":99999}"#, Reply::Failed(Token::UnparsableResponse)),
        (500, &good, Reply::Failed(Token::RegistryUnavailable)),
        (301, "", Reply::Failed(Token::RegistryUnavailable)),
        (200, "", Reply::Failed(Token::UnparsableResponse)),
        (204, "", Reply::Failed(Token::UnparsableResponse)),
    ] {
        assert_eq!(read(&response(status, body), &name(), NOW), expected, "{status} {body}");
    }
    assert!(matches!(read(&response(200, &good), &name(), NOW), Reply::Registered(_)));
}

#[test]
fn server_that_throttles_may_say_for_how_long() {
    for (value, seconds) in
        [("120", Some(120)), ("Thu, 01 Jan 2026 00:01:00 GMT", Some(60)), ("soon", None)]
    {
        let headers = vec![("retry-after".to_owned(), value.to_owned())];
        let wait = seconds.map(Duration::from_secs);
        for (status, expected) in [
            (429, Reply::Throttled(wait)),
            (403, wait.map_or(Reply::Denied, |wait| Reply::Throttled(Some(wait)))),
        ] {
            let response = Response { headers: headers.clone(), ..response(status, "") };
            assert_eq!(read(&response, &name(), NOW), expected, "{status} {value:?}");
        }
    }
}

#[test]
fn authority_is_what_a_server_is_known_by() {
    for (base, expected) in [
        ("https://rdap.example/com/v1/", "rdap.example"),
        ("http://127.0.0.1:8080", "127.0.0.1:8080"),
        ("https://[::1]:8080/x", "[::1]:8080"),
        ("https://rdap.example?x", "rdap.example"),
    ] {
        assert_eq!(authority(base), expected, "{base}");
    }
}
