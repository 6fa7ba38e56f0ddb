//! A site as the tests see it.

use std::{cell::RefCell, rc::Rc};

use vedette_sdk::{
    Job,
    http::{Arrival, Request, Response},
    net::{NetError, Timing},
    testing::Host,
};

use crate::config::Config;

pub(crate) const DOMAIN: &str = "www.example.com";

/// What the plugin asked for, in order.
pub(crate) type Asked = Rc<RefCell<Vec<Request>>>;

pub(crate) fn job(config: Config) -> Job<Config> {
    Job::new(DOMAIN, config)
}

/// A host whose requests end as `script` says.
pub(crate) fn host(
    mut script: impl FnMut(&Request) -> Result<Response, NetError> + 'static,
) -> (Host, Asked) {
    let host = Host::new();
    let asked = Asked::default();
    let log = Rc::clone(&asked);
    host.http(move |request| {
        log.borrow_mut().push(request.clone());
        script(request)
    });
    host.set_remaining(std::time::Duration::from_secs(30));
    (host, asked)
}

/// A host that answers with only a head in 123.456 ms, for this reason.
pub(crate) fn breaking_off(status: u16, failure: NetError) -> Host {
    let host = Host::new();
    let response = Response { truncated: true, ..answer(status, b"") };
    let arrival = Arrival { response, failure: Some(failure) };
    host.http_partial(move |_| Ok(arrival.clone()));
    host.set_remaining(std::time::Duration::from_secs(30));
    host
}

/// A host that answers in that time with a redirect, and brings nothing from there for this reason.
pub(crate) fn redirecting(location: &str, failure: NetError) -> Host {
    let host = Host::new();
    let arrival = moved(location, failure);
    host.http_partial(move |_| Ok(arrival.clone()));
    host.set_remaining(std::time::Duration::from_secs(30));
    host
}

/// What it answers.
pub(crate) fn moved(location: &str, failure: NetError) -> Arrival {
    let mut response = Response { truncated: true, ..answer(302, b"") };
    response.headers.push(("location".to_owned(), location.to_owned()));
    Arrival { response, failure: Some(failure) }
}

/// An answer in 123.456 ms.
pub(crate) fn answer(status: u16, body: &[u8]) -> Response {
    Response {
        status,
        headers: vec![("content-type".to_owned(), "text/html".to_owned())],
        body: body.to_vec(),
        truncated: false,
        final_url: format!("https://{DOMAIN}/"),
        hops: Vec::new(),
        peer_address: "192.0.2.7".to_owned(),
        timing: Timing {
            resolve_us: Some(10_000),
            connect_us: Some(20_000),
            tls_us: Some(30_000),
            first_byte_us: Some(100_456),
            total_us: 123_456,
        },
    }
}
