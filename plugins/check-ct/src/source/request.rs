//! HTTP requests to a source, and what their failures mean.

use std::time::Duration;

use vedette_sdk::{
    http::{Request, Response},
    net::{self, NetError},
};

use super::{Asked, Failure};

/// What a source sends back at most: the host's own limit.
pub(super) const MAX_BODY: u32 = 2 << 20;
const MAX_REDIRECTS: u8 = 3;

impl Asked<'_> {
    /// The body of a good answer.
    pub(super) fn get(&self, url: String, at_most: Duration) -> Result<Response, Failure> {
        let request = self.request(url, at_most);
        self.accept(self.cx.fetch(&request))
    }

    pub(super) fn request(&self, url: String, at_most: Duration) -> Request {
        let timeout_ms = self.cx.timeout_ms(at_most, self.reserve);
        Request { max_redirects: MAX_REDIRECTS, ..Request::get(url, timeout_ms, MAX_BODY) }
    }

    /// Any status but 200 is a failure.
    pub(super) fn accept(&self, answer: Result<Response, NetError>) -> Result<Response, Failure> {
        accept(answer, self.now)
    }
}

fn accept(answer: Result<Response, NetError>, now: i64) -> Result<Response, Failure> {
    let response = answer.map_err(failure)?;
    match response.status {
        200 => Ok(response),
        429 => Err(Failure::Throttled(response.retry_after(now))),
        status => Err(Failure::Unavailable(format!("it answers with status {status}"))),
    }
}

fn failure(error: NetError) -> Failure {
    match error {
        NetError::Timeout(_) => Failure::Timeout,
        NetError::BudgetExhausted => Failure::Ours("the run's budget is used up".to_owned()),
        NetError::Other((code, message))
            if matches!(code.as_str(), "resolver-down" | "no-route" | "exhausted") =>
        {
            Failure::Ours(format!("{code}: {message}"))
        }
        error => Failure::Unavailable(net::reason(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{NOW, response};

    #[test]
    fn status_says_whether_to_come_back() {
        let with = |status, header: Option<&str>| {
            let mut response = response(status, b"[]");
            response.headers.extend(header.map(|value| ("Retry-After".into(), value.into())));
            accept(Ok(response), NOW).err()
        };
        assert_eq!(with(200, None), None);
        for (header, seconds) in [
            (Some("30"), Some(30)),
            (Some("Thu, 01 Jan 2026 02:00:00 GMT"), Some(7_200)),
            (Some("Fri, 31 Dec 1999 23:59:59 GMT"), Some(0)),
            (Some("-1"), None),
            (None, None),
        ] {
            let wait = seconds.map(Duration::from_secs);
            assert_eq!(with(429, header), Some(Failure::Throttled(wait)), "{header:?}");
        }
        for status in [301, 403, 404, 500, 502, 503, 504] {
            assert!(matches!(with(status, None), Some(Failure::Unavailable(_))), "{status}");
        }
    }

    #[test]
    fn our_own_trouble_is_told_apart() {
        let other = |code: &str| NetError::Other((code.to_owned(), String::new()));
        for (error, token) in [
            (NetError::Timeout(vedette_sdk::net::Phase::Receive), "timeout"),
            (NetError::Refused, "ct_source_unavailable"),
            (NetError::NameNotFound, "ct_source_unavailable"),
            (NetError::NotPermitted("origin".to_owned()), "ct_source_unavailable"),
            (other("unreachable"), "ct_source_unavailable"),
        ] {
            let failure = failure(error);
            assert!(!matches!(failure, Failure::Ours(_)));
            assert_eq!(failure.token(), token);
        }
        let codes = ["resolver-down", "no-route", "exhausted"].map(other);
        for error in [NetError::BudgetExhausted].into_iter().chain(codes) {
            assert!(matches!(failure(error), Failure::Ours(_)));
        }
    }
}
