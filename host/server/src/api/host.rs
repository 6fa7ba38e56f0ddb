//! The name by which a request asks for the service, or for the status page on a domain of its own.

use salvo::{
    http::{Version, header},
    prelude::*,
};

use crate::Error;

/// As the client says it: HTTP/2 in the target, HTTP/1 in a header of its own.
pub(super) fn host(req: &Request) -> Option<&str> {
    if let Some(authority) = req.uri().authority() {
        return Some(authority.as_str());
    }
    req.headers().get(header::HOST)?.to_str().ok()
}

/// A request that names no host, or two, may have been meant for another service by what stands in
/// front of this one: RFC 9112, 3.2.
pub(super) fn refusal(req: &Request) -> Option<Error> {
    let mut named = req.headers().get_all(header::HOST).iter();
    let (first, second) = (named.next(), named.next());
    let is_missing = first.is_none() && req.version() == Version::HTTP_11;
    let is_bad = is_missing || second.is_some();
    is_bad.then(|| Error::Malformed("send one Host header".into()))
}
