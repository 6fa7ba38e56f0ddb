//! Names every request: an id that the answer, the log and the client's own records share.
//!
//! *Invariant:* the log holds the path, never the query: a query may hold a secret.

use std::time::Instant;

use salvo::{
    http::{HeaderMap, HeaderName, HeaderValue},
    prelude::*,
};
use tracing::{Span, field};

/// A request that has its name.
pub(super) struct Named {
    span: Span,
    begun: Instant,
}

/// Everything that is logged while the request runs carries its id, method, path and account.
pub(super) fn name(req: &Request, res: &mut Response) -> Named {
    let begun = Instant::now();
    let id = brought(req.headers()).unwrap_or_else(fresh);
    let span = tracing::info_span!(
        "request",
        id = id.to_str().unwrap_or_default(),
        method = %req.method(),
        path = req.uri().path(),
        account = field::Empty,
    );
    res.headers_mut().insert(REQUEST_ID, id);
    Named { span, begun }
}

impl Named {
    /// What its log lines stand in.
    pub(super) fn span(&self) -> &Span {
        &self.span
    }

    /// Notes in the log how it was answered.
    pub(super) fn note(&self, res: &Response) {
        let status = res.status_code.unwrap_or(StatusCode::OK).as_u16();
        let took = self.begun.elapsed();
        self.span.in_scope(|| tracing::debug!(status, ?took, "answered"));
    }
}

/// From here on the request's log lines name the account.
pub(super) fn note_account(account: impl std::fmt::Display) {
    tracing::Span::current().record("account", field::display(account));
}

/// The client's own id, where it is one that can stand in a log as it is.
fn brought(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut values = headers.get_all(REQUEST_ID).iter();
    let value = values.next()?;
    let bytes = value.as_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_id = (1..=LONGEST).contains(&bytes.len()) && bytes.iter().all(is_plain);
    (is_id && values.next().is_none()).then(|| value.clone())
}

fn fresh() -> HeaderValue {
    let mut text = uuid::Uuid::encode_buffer();
    let id = uuid::Uuid::now_v7().hyphenated().encode_lower(&mut text);
    HeaderValue::from_str(id).expect("a UUID is plain text")
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const LONGEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_id_is_taken_over() {
        let of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(REQUEST_ID, HeaderValue::from_bytes(value.as_bytes()).unwrap());
            }
            brought(&headers)
        };
        let longest = "a".repeat(LONGEST);
        for good in ["7", "Job_17-b", "0198c8a1-7d2e-7c3f-9a4b-5c6d7e8f9a0b", &longest] {
            assert_eq!(of(&[good]).unwrap(), good);
        }
        let too_long = "a".repeat(LONGEST + 1);
        for bad in ["", "a b", "a\tb", "a=b", "a\"b", "ü", &too_long] {
            assert_eq!(of(&[bad]), None, "{bad}");
        }
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["one", "two"]), None);
    }
}
