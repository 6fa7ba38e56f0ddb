use vedette_sdk::net::Phase;

use super::*;
use crate::fixture::{self, DOMAIN, answer};

fn not_tls() -> NetError {
    NetError::Tls("not-tls".to_owned())
}

fn tries(asked: &fixture::Asked) -> Vec<(String, u8)> {
    asked.borrow().iter().map(|request| (request.url.clone(), request.max_redirects)).collect()
}

#[test]
fn good_site_is_asked_once_and_as_configured() {
    let config = Config {
        path: "/health?full=1".to_owned(),
        verify_tls: false,
        follow_redirects: false,
        timeout_ms: 3_000,
        ..Config::default()
    };
    let (host, asked) = fixture::host(|_| Ok(answer(200, b"")));
    let visit = Visit::make(&host.cx(), &fixture::job(config));
    assert!(visit.outcome.is_ok());
    assert_eq!(visit.url, "https://www.example.com/health?full=1");
    let asked = asked.borrow();
    let [request] = asked.as_slice() else { panic!("one request, not {asked:?}") };
    assert_eq!((request.method.as_str(), request.url.as_str()), ("GET", visit.url.as_str()));
    assert_eq!((request.max_redirects, request.max_body), (0, 1 << 20));
    assert_eq!((request.verify_tls, request.timeout_ms), (false, 3_000));
}

#[test]
fn origin_address_is_not_used() {
    let (host, asked) = fixture::host(|_| Ok(answer(200, b"")));
    let job = Job {
        connect_to: Some("192.0.2.99".to_owned()),
        port: Some(8443),
        ..fixture::job(Config::default())
    };
    Visit::make(&host.cx(), &job);
    let asked = asked.borrow();
    assert_eq!(asked[0].connect_to, None);
    assert_eq!(asked[0].url, "https://www.example.com:8443/");
}

#[test]
fn address_is_asked_by_itself() {
    for (target, url) in
        [("192.0.2.7", "https://192.0.2.7/"), ("2001:db8::7", "https://[2001:db8::7]/")]
    {
        let (host, asked) = fixture::host(|_| Ok(answer(200, b"")));
        let job = Job { target: target.to_owned(), ..fixture::job(Config::default()) };
        Visit::make(&host.cx(), &job);
        assert_eq!(asked.borrow()[0].url, url);
    }
}

#[test]
fn plain_http_is_asked_where_the_port_turns_https_away() {
    for (port, error, plain_url) in [
        (None, NetError::Refused, "http://www.example.com/"),
        (Some(8080), not_tls(), "http://www.example.com:8080/"),
    ] {
        let (host, asked) = fixture::host(move |request| match request.url.split_once("://") {
            Some(("http", _)) => Ok(answer(200, b"")),
            _ => Err(error.clone()),
        });
        let job = Job { port, ..fixture::job(Config::default()) };
        let visit = Visit::make(&host.cx(), &job);
        assert!(visit.outcome.is_ok());
        assert_eq!(visit.url, plain_url);
        let secure_url = plain_url.replacen("http", "https", 1);
        assert_eq!(tries(&asked), [(secure_url, 10), (plain_url.to_owned(), 10)]);
    }
}

fn hung_up() -> NetError {
    NetError::Tls("closed during the handshake".to_owned())
}

#[test]
fn plain_http_is_asked_where_a_port_says_nothing_to_a_handshake() {
    for error in [NetError::Timeout(Phase::Handshake), hung_up()] {
        for status in [200, 302, 404, 500] {
            let said = error.clone();
            let (host, asked) = fixture::host(move |request| match request.url.split_once("://") {
                Some(("http", _)) => Ok(answer(status, b"")),
                _ => Err(said.clone()),
            });
            let job = Job { port: Some(8080), ..fixture::job(Config::default()) };
            let visit = Visit::make(&host.cx(), &job);
            assert_eq!(visit.url, "http://www.example.com:8080/");
            assert!(visit.outcome.is_ok(), "{status}");
            let times: Vec<_> = asked.borrow().iter().map(|request| request.timeout_ms).collect();
            assert_eq!(times, [10_000, 2_000]);
        }
    }
}

#[test]
fn silence_stands_where_plain_http_brings_nothing_of_a_port_without_tls() {
    type Said = Result<vedette_sdk::http::Response, NetError>;
    let plain: [Said; 4] = [
        Ok(answer(400, b"The plain HTTP request was sent to HTTPS port")),
        Err(NetError::Timeout(Phase::Receive)),
        Err(NetError::Reset),
        Err(NetError::BudgetExhausted),
    ];
    for said in plain {
        let (host, asked) = fixture::host(move |request| match request.url.split_once("://") {
            Some(("http", _)) => said.clone(),
            _ => Err(NetError::Timeout(Phase::Handshake)),
        });
        let job = Job { port: Some(8443), ..fixture::job(Config::default()) };
        let visit = Visit::make(&host.cx(), &job);
        assert_eq!(visit.url, "https://www.example.com:8443/");
        assert_eq!(visit.outcome.err(), Some(NetError::Timeout(Phase::Handshake)));
        assert_eq!(asked.borrow().len(), 2);
    }
}

#[test]
fn silence_stands_where_plain_http_leads_to_it() {
    let host = vedette_sdk::testing::Host::new();
    host.http_partial(|request| match request.url.starts_with("http://") {
        true => {
            Ok(fixture::moved("https://www.example.com:8443/", NetError::Timeout(Phase::Handshake)))
        }
        false => Err(NetError::Timeout(Phase::Handshake)),
    });
    let job = Job { port: Some(8443), ..fixture::job(Config::default()) };
    let visit = Visit::make(&host.cx(), &job);
    assert_eq!(visit.url, "https://www.example.com:8443/");
    assert_eq!(visit.outcome.err(), Some(NetError::Timeout(Phase::Handshake)));
}

#[test]
fn other_failures_of_https_are_the_outcome() {
    for (port, error) in [
        (None, not_tls()),
        (None, NetError::Reset),
        (None, NetError::Timeout(Phase::Connect)),
        (None, NetError::Timeout(Phase::Handshake)),
        (None, hung_up()),
        (Some(8080), NetError::Reset),
        (Some(8080), NetError::Timeout(Phase::Connect)),
        (Some(8080), NetError::Timeout(Phase::Receive)),
        (None, NetError::Tls("certificate certificate_expired".to_owned())),
        (Some(8080), NetError::Refused),
        (Some(8080), NetError::Tls("alert 40 HandshakeFailure".to_owned())),
    ] {
        let said = error.clone();
        let (host, asked) = fixture::host(move |_| Err(said.clone()));
        let job = Job { port, ..fixture::job(Config::default()) };
        assert_eq!(Visit::make(&host.cx(), &job).outcome.err(), Some(error));
        assert_eq!(asked.borrow().len(), 1, "{port:?}");
    }
}

#[test]
fn refusal_behind_a_redirect_turns_no_https_away() {
    let moved = fixture::moved("https://elsewhere.example/", NetError::Refused);
    let host = vedette_sdk::testing::Host::new();
    let said = moved.clone();
    host.http_partial(move |request| {
        assert_eq!(request.url, "https://www.example.com/");
        Ok(said.clone())
    });
    let visit = Visit::make(&host.cx(), &fixture::job(Config::default()));
    let failed = ("https://elsewhere.example/", &NetError::Refused);
    assert_eq!(visit.unanswered(), Some(failed));
    assert_eq!(visit.outcome, Ok(moved));
}

#[test]
fn plain_http_that_leads_to_the_port_that_refuses_is_the_answer() {
    let host = vedette_sdk::testing::Host::new();
    host.http_partial(|request| match request.url.starts_with("http://") {
        true => Ok(fixture::moved("https://www.example.com/", NetError::Refused)),
        false => Err(NetError::Refused),
    });
    let visit = Visit::make(&host.cx(), &fixture::job(Config::default()));
    assert_eq!(visit.url, "http://www.example.com/");
    assert_eq!(visit.failed_url.as_deref(), Some("https://www.example.com/"));
}

#[test]
fn redirect_that_is_not_followed_leads_nowhere() {
    let host = fixture::redirecting("https://elsewhere.example/", NetError::Reset);
    let config = Config { follow_redirects: false, ..Config::default() };
    let visit = Visit::make(&host.cx(), &fixture::job(config));
    assert_eq!((visit.unanswered(), visit.failed_url.as_deref()), (None, None));
}

#[test]
fn without_redirects_the_port_needs_no_second_look() {
    let (host, asked) = fixture::host(|request| match request.url.starts_with("http://") {
        true => Ok(answer(200, b"")),
        false => Err(NetError::Refused),
    });
    let config = Config { follow_redirects: false, ..Config::default() };
    let visit = Visit::make(&host.cx(), &fixture::job(config));
    assert!(visit.outcome.is_ok());
    assert_eq!(asked.borrow().len(), 2);
}

#[test]
fn site_that_serves_neither_is_told_by_what_https_brought() {
    for error in [NetError::Timeout(Phase::Connect), NetError::Refused] {
        let said = error.clone();
        let (host, asked) =
            fixture::host(move |request| match request.url.starts_with("http://") {
                true => Err(said.clone()),
                false => Err(NetError::Refused),
            });
        let visit = Visit::make(&host.cx(), &fixture::job(Config::default()));
        assert_eq!(visit.url, format!("https://{DOMAIN}/"), "{error}");
        assert_eq!(visit.outcome.err(), Some(NetError::Refused), "{error}");
        assert_eq!(asked.borrow().len(), 2);
    }
}

#[test]
fn failure_of_who_takes_connections_over_http_is_what_http_brought() {
    for error in [
        NetError::Reset,
        NetError::Timeout(Phase::Receive),
        NetError::Protocol("the answer is not HTTP".to_owned()),
        NetError::TooLarge(65_536),
    ] {
        let said = error.clone();
        let (host, _) = fixture::host(move |request| match request.url.starts_with("http://") {
            true => Err(said.clone()),
            false => Err(NetError::Refused),
        });
        let visit = Visit::make(&host.cx(), &fixture::job(Config::default()));
        assert_eq!(visit.url, format!("http://{DOMAIN}/"), "{error}");
        assert_eq!(visit.outcome.err(), Some(error));
    }
}

#[test]
fn failure_of_a_port_that_speaks_no_tls_is_what_http_brought() {
    for error in [NetError::Reset, NetError::Timeout(Phase::Receive)] {
        let said = error.clone();
        let (host, _) = fixture::host(move |request| match request.url.starts_with("http://") {
            true => Err(said.clone()),
            false => Err(not_tls()),
        });
        let job = Job { port: Some(8080), ..fixture::job(Config::default()) };
        let visit = Visit::make(&host.cx(), &job);
        assert_eq!(visit.url, "http://www.example.com:8080/");
        assert_eq!(visit.outcome.err(), Some(error));
    }
}

#[test]
fn trouble_of_our_own_is_not_hidden_behind_the_first_refusal() {
    let (host, _) = fixture::host(|request| match request.url.starts_with("http://") {
        true => Err(NetError::BudgetExhausted),
        false => Err(NetError::Refused),
    });
    let visit = Visit::make(&host.cx(), &fixture::job(Config::default()));
    assert_eq!(visit.outcome.err(), Some(NetError::BudgetExhausted));
}

#[test]
fn beginning_of_an_answer_over_http_is_the_outcome() {
    let host = vedette_sdk::testing::Host::new();
    let broken = Arrival { response: answer(200, b""), failure: Some(NetError::Reset) };
    let said = broken.clone();
    host.http_partial(move |request| match request.url.starts_with("http://") {
        true => Ok(said.clone()),
        false => Err(NetError::Refused),
    });
    let visit = Visit::make(&host.cx(), &fixture::job(Config::default()));
    assert_eq!(visit.url, format!("http://{DOMAIN}/"));
    assert_eq!(visit.outcome, Ok(broken));
}

#[test]
fn chosen_scheme_is_the_only_one() {
    for (scheme, url) in
        [(Scheme::Https, "https://www.example.com/"), (Scheme::Http, "http://www.example.com/")]
    {
        let (host, asked) = fixture::host(|_| Err(NetError::Refused));
        let config = Config { scheme, ..Config::default() };
        assert!(Visit::make(&host.cx(), &fixture::job(config)).outcome.is_err());
        assert_eq!(tries(&asked), [(url.to_owned(), 10)]);
    }
}

#[test]
fn attempt_ends_before_the_run_does() {
    for (remaining_ms, timeout_ms) in [(30_000, 10_000), (4_000, 3_500), (500, 1), (0, 1)] {
        let (host, asked) = fixture::host(|_| Err(NetError::Reset));
        host.set_remaining(Duration::from_millis(remaining_ms));
        Visit::make(&host.cx(), &fixture::job(Config::default()));
        assert_eq!(asked.borrow()[0].timeout_ms, timeout_ms, "{remaining_ms}");
    }
}
