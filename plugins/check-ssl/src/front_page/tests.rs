use std::{cell::RefCell, rc::Rc};

use vedette_sdk::{
    http::{Arrival, Hop},
    net::{NetError, Timing},
    testing,
};

use super::*;
use crate::result::{Example, Kind};

const PAGE: &str = "<!doctype html><img src=http://a.example/x>";

fn endpoint(host: &str, port: u16) -> Endpoint {
    Endpoint { host: host.to_owned(), port, connect_to: Some("192.0.2.7".to_owned()) }
}

fn html(url: &str) -> Response {
    Response {
        status: 200,
        headers: vec![("content-type".to_owned(), "text/html".to_owned())],
        body: PAGE.into(),
        truncated: false,
        final_url: url.to_owned(),
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

fn moved(url: &str, location: &str) -> Response {
    let headers = vec![("Location".to_owned(), location.to_owned())];
    Response { status: 301, headers, body: Vec::new(), ..html(url) }
}

fn hop(location: &str) -> Hop {
    Hop { status: 301, location: location.to_owned() }
}

/// Visits with scripted answers, in order; answers what was seen and what was asked for.
fn visited(
    endpoint: &Endpoint,
    answers: Vec<Result<Response, NetError>>,
) -> (FrontPage, Vec<Request>) {
    let host = testing::Host::new();
    let asked: Rc<RefCell<Vec<Request>>> = Rc::default();
    let log = Rc::clone(&asked);
    let mut answers = answers.into_iter();
    host.http(move |request| {
        log.borrow_mut().push(request.clone());
        answers.next().expect("no more requests than answers")
    });
    let page = FrontPage::visit(&host.cx(), endpoint);
    let asked = asked.borrow().clone();
    (page, asked)
}

#[test]
fn page_without_redirects_costs_one_request() {
    let mut answer = html("https://example.com/");
    answer.headers.push(("strict-transport-security".to_owned(), "max-age=300".to_owned()));
    let (page, asked) = visited(&endpoint("example.com", 443), vec![Ok(answer)]);
    assert_eq!(page.hsts.and_then(|hsts| hsts.max_age), Some(300));
    let mixed = page.mixed_content.expect("the page is HTML");
    let example = Example {
        url: "http://a.example/x".to_owned(),
        tag: "img".to_owned(),
        kind: Kind::Passive,
    };
    assert_eq!(mixed.examples, [example]);
    let [request] = asked.as_slice() else { panic!("one request, not {asked:?}") };
    assert_eq!(request.url, "https://example.com/");
    assert_eq!((request.max_redirects, request.verify_tls), (0, false));
    assert_eq!(request.connect_to.as_deref(), Some("192.0.2.7"));
}

#[test]
fn port_and_address_stand_in_the_url() {
    for (host, port, url) in [
        ("example.com", 8443, "https://example.com:8443/"),
        ("192.0.2.7", 443, "https://192.0.2.7/"),
        ("2001:db8::1", 8443, "https://[2001:db8::1]:8443/"),
    ] {
        let (_, asked) = visited(&endpoint(host, port), vec![Ok(html(url))]);
        assert_eq!(asked[0].url, url);
    }
}

#[test]
fn address_has_no_hsts() {
    let mut answer = html("https://192.0.2.7/");
    answer.headers.push(("strict-transport-security".to_owned(), "max-age=300".to_owned()));
    let (page, _) = visited(&endpoint("192.0.2.7", 443), vec![Ok(answer)]);
    assert_eq!(page.hsts, Some(Hsts::default()));
}

#[test]
fn no_http_answer_means_null() {
    let (page, _) = visited(&endpoint("example.com", 443), vec![Err(NetError::Reset)]);
    assert_eq!(page, FrontPage::default());
}

#[test]
fn answer_that_breaks_off_tells_its_hsts_and_no_page() {
    let host = testing::Host::new();
    host.http_partial(|request| {
        let hsts = ("strict-transport-security".to_owned(), "max-age=300".to_owned());
        let mut response = Response { body: Vec::new(), truncated: true, ..html(&request.url) };
        response.headers.push(hsts);
        Ok(Arrival { response, failure: Some(NetError::Reset) })
    });
    let page = FrontPage::visit(&host.cx(), &endpoint("example.com", 443));
    assert_eq!(page.hsts.and_then(|hsts| hsts.max_age), Some(300));
    assert_eq!(page.mixed_content, None);
}

#[test]
fn hsts_comes_from_the_first_response_and_the_page_from_the_last() {
    let mut first = moved("https://example.com/", "/start");
    first.headers.push(("strict-transport-security".to_owned(), "max-age=7".to_owned()));
    let mut last = html("https://example.com/start");
    last.headers.push(("strict-transport-security".to_owned(), "max-age=9".to_owned()));
    let (page, asked) = visited(&endpoint("example.com", 443), vec![Ok(first), Ok(last)]);
    assert_eq!(page.hsts.and_then(|hsts| hsts.max_age), Some(7));
    assert!(page.mixed_content.is_some());
    assert_eq!(asked[1].url, "https://example.com/start");
    assert_eq!(asked[1].max_redirects, 4);
}

#[test]
fn www_is_reached_by_redirects_of_the_host_itself() {
    let last = Response {
        hops: vec![hop("https://www.example.com/"), hop("/en/")],
        ..html("https://www.example.com/en/")
    };
    let first = moved("https://example.com/", "https://www.example.com/");
    let (page, asked) = visited(&endpoint("example.com", 443), vec![Ok(first), Ok(last)]);
    assert!(page.mixed_content.is_some());
    assert_eq!(asked[1].url, "https://example.com/");
    assert_eq!(asked[1].max_redirects, 5);
}

#[test]
fn page_elsewhere_is_not_looked_at() {
    let first = moved("https://example.com/", "https://other.example/");
    let (page, asked) = visited(&endpoint("example.com", 443), vec![Ok(first)]);
    assert_eq!(page.mixed_content, None);
    assert_eq!(asked.len(), 1);

    let start = || Ok(moved("https://example.com/", "https://www.example.com/"));
    for (hops, landing) in [
        (vec![hop("https://other.example/"), hop("https://example.com/")], "https://example.com/"),
        (vec![hop("https://www.example.com/")], "https://other.example/"),
        (vec![hop("http://www.example.com/")], "http://www.example.com/"),
        (vec![hop("https://sub.www.example.com/")], "https://sub.www.example.com/"),
    ] {
        let last = Response { hops, ..html(landing) };
        let (page, _) = visited(&endpoint("example.com", 443), vec![start(), Ok(last)]);
        assert_eq!(page.mixed_content, None, "{landing}");
    }
}

#[test]
fn unfinished_ways_and_pages_are_null() {
    let first = || Ok(moved("https://example.com/", "/a"));
    let endless = moved("https://example.com/b", "/c");
    let (page, _) = visited(&endpoint("example.com", 443), vec![first(), Ok(endless)]);
    assert_eq!(page.mixed_content, None);
    let long = Response { truncated: true, ..html("https://example.com/a") };
    let (page, _) = visited(&endpoint("example.com", 443), vec![first(), Ok(long)]);
    assert_eq!(page.mixed_content, None);
    let (page, _) = visited(&endpoint("example.com", 443), vec![first(), Err(NetError::Refused)]);
    assert!(page.hsts.is_some());
    assert_eq!(page.mixed_content, None);
}

#[test]
fn run_without_time_left_asks_for_nothing() {
    let host = testing::Host::new();
    host.set_remaining(Duration::from_millis(400));
    assert_eq!(FrontPage::visit(&host.cx(), &endpoint("example.com", 443)), FrontPage::default());
}
