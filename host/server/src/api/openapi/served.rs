//! Two answers that change only with the installed plugins.

use aws_lc_rs::digest;
use base64::{Engine, engine::general_purpose::STANDARD};
use salvo::{
    http::{HeaderValue, header},
    hyper::body::Bytes,
    prelude::*,
};
use serde_json::Value;

use super::page::Page;

/// Bytes, and what goes with them.
pub(super) struct Served {
    bytes: Bytes,
    kind: HeaderValue,
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
        Self { bytes: bytes.into(), kind: HeaderValue::from_static(kind), policy: None }
    }
}

impl Served {
    pub(super) fn write(&self, res: &mut Response) {
        let headers = res.headers_mut();
        // For the client alone: the limit headers on it are the client's.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=300"));
        headers.insert(header::CONTENT_TYPE, self.kind.clone());
        if let Some(policy) = &self.policy {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
            headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        }
        res.status_code(StatusCode::OK);
        res.body(self.bytes.clone());
    }
}
