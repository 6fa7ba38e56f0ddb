use std::{cell::RefCell, rc::Rc, time::Duration};

use vedette_sdk::{
    http::Response,
    net::{NetError, Timing},
    testing::Host,
    tls::{InspectRequest, Report, Starttls},
};

use super::*;
use crate::{
    fixture::{self, DOMAIN, NOW},
    result::{Hsts, MixedContent},
};

type Asked = Rc<RefCell<Vec<InspectRequest>>>;

/// Nobody will see the grade, as in an edition without it.
fn job(port: Option<u16>) -> Job<Config> {
    let omit = vec!["tls_grade".to_owned()];
    Job { port, omit, ..Job::new(DOMAIN, Config::default()) }
}

/// A host whose handshakes end as scripted, in order; answers what was asked for.
fn host(answers: Vec<Result<Report, NetError>>) -> (Host, Asked) {
    let host = Host::new();
    let asked = Asked::default();
    let log = Rc::clone(&asked);
    let mut answers = answers.into_iter();
    host.tls(move |request| {
        log.borrow_mut().push(request.clone());
        answers.next().expect("no more handshakes than answers")
    });
    // Nobody to wait with.
    host.connection(|_| Err(NetError::Refused));
    (host, asked)
}

fn page(request: &vedette_sdk::http::Request) -> Response {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Response {
        status: 200,
        headers: vec![
            header("content-type", "text/html"),
            header("strict-transport-security", "max-age=31536000; includeSubDomains"),
        ],
        body: b"<script src=http://cdn.example/x.js></script>".to_vec(),
        truncated: false,
        final_url: request.url.clone(),
        hops: Vec::new(),
        peer_address: "192.0.2.7".to_owned(),
        timing: Timing {
            resolve_us: None,
            connect_us: None,
            tls_us: None,
            first_byte_us: None,
            total_us: 1,
        },
    }
}

#[test]
fn good_server_is_seen_in_one_handshake_and_one_request() {
    let (host, asked) = host(vec![Ok(fixture::report())]);
    host.http(|request| {
        assert_eq!(request.url, "https://www.example.com/");
        assert_eq!(request.connect_to.as_deref(), Some("192.0.2.7"));
        Ok(page(request))
    });
    let seen = Ssl::run(&host.cx(), job(None)).expect("the check works");
    let expected = SslResult {
        hsts: Some(Hsts {
            enabled: true,
            max_age: Some(31_536_000),
            include_sub_domains: true,
            preload: false,
        }),
        ..fixture::result()
    };
    assert_eq!(SslResult { mixed_content: None, ..seen.facts.clone() }, expected);
    assert_eq!(seen.facts.mixed_content.map(|mixed| mixed.active_count), Some(1));
    assert_eq!(seen.summary, "valid, 60 days left, issued by R11");
    assert_eq!(seen.next_run_in, None);
    let metrics: Vec<(String, f64)> = seen.metrics.into_iter().map(|m| (m.name, m.value)).collect();
    assert_eq!(metrics, [(DAYS_REMAINING.to_owned(), 60.0), (HANDSHAKE.to_owned(), 0.002)],);
    let asked = asked.borrow();
    let [request] = asked.as_slice() else { panic!("one handshake, not {asked:?}") };
    assert_eq!((request.endpoint.host.as_str(), request.endpoint.port), (DOMAIN, 443));
    assert_eq!((request.server_name.as_ref(), request.starttls), (None, None));
    assert!(request.complete && request.timeout_ms == 8_000);
}

#[test]
fn origin_address_replaces_only_the_address() {
    let mut report = fixture::report();
    report.peer_address = "192.0.2.99".to_owned();
    let (host, asked) = host(vec![Ok(report)]);
    host.http(|request| {
        assert_eq!(request.url, "https://www.example.com:8443/");
        assert_eq!(request.connect_to.as_deref(), Some("192.0.2.99"));
        Ok(page(request))
    });
    let job = Job { connect_to: Some("192.0.2.99".to_owned()), ..job(Some(8443)) };
    Ssl::run(&host.cx(), job).expect("the check works");
    let endpoint = asked.borrow()[0].endpoint.clone();
    assert_eq!((endpoint.host.as_str(), endpoint.port), (DOMAIN, 8443));
    assert_eq!(endpoint.connect_to.as_deref(), Some("192.0.2.99"));
}

#[test]
fn server_that_is_away_is_a_result() {
    let (host, _) = host(vec![Err(NetError::Refused)]);
    let seen = Ssl::run(&host.cx(), job(None)).expect("the check works");
    assert_eq!(seen.facts, facts::of_failure(DOMAIN, "connection_refused"));
    assert_eq!(seen.summary, "connection_refused");
    assert_eq!(seen.next_run_in, Some(AGAIN));
    assert_eq!((seen.facts.hsts, seen.facts.mixed_content), (None, None));
}

#[test]
fn our_own_trouble_is_no_result() {
    let down = NetError::Other(("resolver-down".to_owned(), "no answer".to_owned()));
    for error in [NetError::BudgetExhausted, down] {
        let (host, _) = host(vec![Err(error)]);
        assert!(matches!(Ssl::run(&host.cx(), job(None)), Err(CheckError::Failed(_))));
    }
}

#[test]
fn mail_port_starts_tls_and_serves_no_page() {
    // No script for HTTP: a request would fail the test.
    let (host, asked) = host(vec![Ok(fixture::report())]);
    let seen = Ssl::run(&host.cx(), job(Some(587))).expect("the check works");
    assert_eq!(asked.borrow()[0].starttls, Some(Starttls::Smtp));
    assert!(seen.facts.valid);
    assert_eq!((seen.facts.hsts, seen.facts.mixed_content), (None::<Hsts>, None::<MixedContent>));
}

#[test]
fn missing_staple_is_looked_for_once_more() {
    let report = |staple: Option<&str>| {
        let mut report = fixture::report();
        report.examination.chain[0].has_ocsp_url = true;
        report.examination.ocsp_staple = staple.map(str::to_owned);
        Ok(report)
    };
    let other_leaf = || {
        let mut other: Result<Report, NetError> = report(Some("good"));
        if let Ok(other) = &mut other {
            other.chain[0] = vec![9];
        }
        other
    };
    for (answers, stapling, error) in [
        (vec![report(Some("good"))], true, None),
        (vec![report(None), report(Some("good"))], true, None),
        (vec![report(None), report(Some("revoked"))], true, Some("certificate_revoked")),
        (vec![report(Some("stale")), report(None)], false, None),
        (vec![report(None), Err(NetError::Reset)], false, None),
        (vec![report(None), other_leaf()], false, None),
    ] {
        let handshakes = answers.len();
        let (host, asked) = host(answers);
        host.http(|_| Err(NetError::Refused));
        let seen = Ssl::run(&host.cx(), job(None)).expect("the check works");
        assert_eq!(seen.facts.ocsp_stapling, Some(stapling));
        assert_eq!(seen.facts.error.as_deref(), error);
        let asked = asked.borrow();
        assert_eq!(asked.len(), handshakes);
        assert!(asked[1..].iter().all(|again| {
            again.endpoint.connect_to.as_deref() == Some("192.0.2.7") && !again.complete
        }));
    }
}

#[test]
fn short_run_does_without_the_second_look() {
    let mut report = fixture::report();
    report.examination.chain[0].has_ocsp_url = true;
    let (host, asked) = host(vec![Ok(report)]);
    host.set_remaining(Duration::from_secs(2));
    host.http(|_| Err(NetError::Refused));
    let seen = Ssl::run(&host.cx(), job(None)).expect("the check works");
    assert_eq!(seen.facts.ocsp_stapling, Some(false));
    assert_eq!(asked.borrow()[0].timeout_ms, 1_500);
}

#[test]
fn what_nobody_will_see_is_not_looked_for() {
    let mut report = fixture::report();
    report.examination.chain[0].has_ocsp_url = true;
    // No script for HTTP or for a second handshake: either would fail the test.
    let (host, asked) = host(vec![Ok(report)]);
    let omit = ["tls_grade", "hsts", "mixed_content", "ocsp_stapling"].map(str::to_owned).into();
    let seen = Ssl::run(&host.cx(), Job { omit, ..job(None) }).expect("the check works");
    assert!(seen.facts.valid && seen.facts.hsts.is_none() && seen.facts.mixed_content.is_none());
    assert_eq!(asked.borrow().len(), 1);
}

#[test]
fn page_is_visited_when_one_of_its_fields_is_seen() {
    for field in ["hsts", "mixed_content"] {
        let (host, _) = host(vec![Ok(fixture::report())]);
        host.http(|request| Ok(page(request)));
        let omit = vec!["tls_grade".to_owned(), field.to_owned()];
        let seen = Ssl::run(&host.cx(), Job { omit, ..job(None) }).expect("the check works");
        assert!(seen.facts.hsts.is_some() && seen.facts.mixed_content.is_some());
    }
}

#[test]
fn certificate_that_demands_a_staple_is_noted() {
    for (demands, staple, noted) in
        [(true, None, true), (true, Some("good"), false), (false, None, false)]
    {
        let mut report = fixture::report();
        report.examination.chain[0].has_ocsp_url = true;
        report.examination.chain[0].must_staple = demands;
        report.examination.ocsp_staple = staple.map(str::to_owned);
        let (host, _) = host(vec![Ok(report.clone()), Ok(report)]);
        host.http(|_| Err(NetError::Refused));
        let seen = Ssl::run(&host.cx(), job(None)).expect("the check works");
        assert_eq!(seen.summary.contains("demands a staple"), noted, "{}", seen.summary);
        assert!(seen.facts.valid);
    }
}

#[test]
fn manifest_and_descriptor_agree() {
    let manifest = include_str!("../plugin.toml");
    let said = Ssl::describe();
    assert!(manifest.contains(&format!("id = \"{}\"", said.id)));
    assert!(manifest.contains(&format!("version = \"{}\"", said.version)));
    for grant in ["tls = { to", "tcp = { to", "http = { to", "random = true"] {
        assert!(manifest.contains(grant), "{grant}");
    }
    let names: Vec<&str> = said.events.iter().map(|event| event.name).collect();
    assert_eq!(
        names,
        ["ssl.expiring", "ssl.expired", "ssl.invalid", "ssl.renewed", "certificate.changed"],
    );
    assert!(said.events.iter().all(|event| event.confirmations == 1));
    let announced = said.events.iter().filter(|event| event.clears == 0).map(|event| event.name);
    assert_eq!(announced.collect::<Vec<_>>(), ["ssl.renewed"]);
}

#[test]
fn result_is_judged_at_the_time_of_the_run() {
    let (host, _) = host(vec![Ok(fixture::report())]);
    host.http(|request| Ok(page(request)));
    host.set_now(NOW + 60 * 86_400 + 1);
    let seen = Ssl::run(&host.cx(), job(None)).expect("the check works");
    assert_eq!(seen.facts.days_remaining, Some(-1));
    assert_eq!(seen.facts.error.as_deref(), Some("certificate_expired"));
    assert_eq!(seen.next_run_in, Some(AGAIN));
    let summary = "certificate_expired, expired less than a day ago, issued by R11";
    assert_eq!(seen.summary, summary);
}
