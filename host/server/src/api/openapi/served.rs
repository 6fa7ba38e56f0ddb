//! Two answers that never change while the service runs.

use std::fmt::Write;

use aws_lc_rs::digest;
use base64::{Engine, engine::general_purpose::STANDARD};
use salvo::{
    http::{HeaderValue, header},
    hyper::body::Bytes,
    prelude::*,
};
use serde_json::Value;

use super::page::Page;

/// Bytes, and what goes with them. Cheap to clone.
#[derive(Clone)]
pub(super) struct Served {
    bytes: Bytes,
    kind: HeaderValue,
    etag: HeaderValue,
    /// Of a page: what it may load and do.
    policy: Option<HeaderValue>,
}

impl Served {
    pub(super) fn document(document: &Value) -> Self {
        Self::new(document.to_string().into_bytes(), "application/json; charset=utf-8")
    }

    /// A page whose only style is the one that it carries; it runs nothing and loads nothing.
    pub(super) fn page(page: Page) -> Self {
        let style = STANDARD.encode(digest::digest(&digest::SHA256, page.style.as_bytes()));
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'"
        );
        let policy = HeaderValue::try_from(policy).expect("base64 can stand in a header");
        Self {
            policy: Some(policy),
            ..Self::new(page.html.into_bytes(), "text/html; charset=utf-8")
        }
    }

    fn new(bytes: Vec<u8>, kind: &'static str) -> Self {
        let mut etag = String::from('"');
        for byte in &digest::digest(&digest::SHA256, &bytes).as_ref()[..16] {
            write!(etag, "{byte:02x}").expect("a string takes what is written");
        }
        etag.push('"');
        Self {
            bytes: bytes.into(),
            kind: HeaderValue::from_static(kind),
            etag: HeaderValue::try_from(etag).expect("hex can stand in a header"),
            policy: None,
        }
    }

    /// Whether the client says that it has exactly this (RFC 9110, 13.1.2).
    fn is_known_to(&self, req: &Request) -> bool {
        let given = req.headers().get_all(header::IF_NONE_MATCH).iter();
        let texts = given.filter_map(|value| value.to_str().ok());
        texts.flat_map(|text| text.split(',')).map(str::trim).any(|tag| {
            let tag = tag.strip_prefix("W/").unwrap_or(tag);
            tag == "*" || tag.as_bytes() == self.etag.as_bytes()
        })
    }
}

#[handler]
impl Served {
    async fn handle(&self, req: &mut Request, res: &mut Response) {
        let headers = res.headers_mut();
        headers.insert(header::ETAG, self.etag.clone());
        // For the client alone: the limit headers on it are the client's.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=300"));
        if let Some(policy) = &self.policy {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
            headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        }
        if self.is_known_to(req) {
            res.status_code(StatusCode::NOT_MODIFIED);
            return;
        }
        res.headers_mut().insert(header::CONTENT_TYPE, self.kind.clone());
        res.status_code(StatusCode::OK);
        res.body(self.bytes.clone());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_client_has_is_told_by_its_tag() {
        let served = Served::document(&json!({ "openapi": "3.1.0" }));
        let etag = served.etag.to_str().expect("a tag is text").to_owned();
        let weak = format!("\"other\", W/{etag}");
        for (value, known) in
            [(etag.as_str(), true), (weak.as_str(), true), ("*", true), ("\"other\"", false)]
        {
            let mut request = Request::new();
            let value = HeaderValue::from_str(value).expect("a header");
            request.headers_mut().insert(header::IF_NONE_MATCH, value.clone());
            assert_eq!(served.is_known_to(&request), known, "{value:?}");
        }
        assert!(!served.is_known_to(&Request::new()));
    }
}
