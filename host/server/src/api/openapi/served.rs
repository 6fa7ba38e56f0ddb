//! Two answers that change only with the installed plugins.

use std::sync::Arc;

use aws_lc_rs::digest;
use base64::{Engine, engine::general_purpose::STANDARD};
use salvo::{
    http::{HeaderValue, header},
    prelude::*,
};
use serde_json::Value;

use super::page::Page;
use crate::document::Document;

/// A text, and what goes with it.
pub(super) struct Served {
    document: Arc<Document>,
    kind: HeaderValue,
    /// Of a page: what it may load and do.
    policy: Option<HeaderValue>,
}

impl Served {
    pub(super) fn document(document: &Value) -> Self {
        Self::new(document.to_string(), "application/json; charset=utf-8")
    }

    /// A page whose only style is the one that it carries; it runs nothing and loads nothing.
    pub(super) fn page(page: Page) -> Self {
        let style = STANDARD.encode(digest::digest(&digest::SHA256, page.style.as_bytes()));
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'"
        );
        let policy = HeaderValue::try_from(policy).expect("base64 can stand in a header");
        Self { policy: Some(policy), ..Self::new(page.html, "text/html; charset=utf-8") }
    }

    fn new(text: String, kind: &'static str) -> Self {
        let kind = HeaderValue::from_static(kind);
        Self { document: Document::new(text), kind, policy: None }
    }
}

impl Served {
    /// Tagged and packed once for all requests.
    pub(super) fn write(&self, depot: &mut Depot, res: &mut Response) {
        let headers = res.headers_mut();
        // For the client alone: the limit headers on it are the client's.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=300"));
        headers.insert(header::CONTENT_TYPE, self.kind.clone());
        if let Some(policy) = &self.policy {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
            headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        }
        res.status_code(StatusCode::OK);
        res.body(self.document.plain.clone());
        depot.insert_typed(Arc::clone(&self.document));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_who_ask_share_one_document() {
        let served = Served::document(&json!({ "openapi": "3.1.0" }));
        let [one, other] = [(), ()].map(|()| {
            let (mut depot, mut res) = (Depot::new(), Response::new());
            served.write(&mut depot, &mut res);
            let shared = depot.get_typed::<Arc<Document>>().ok();
            shared.cloned().expect("a document")
        });
        assert!(Arc::ptr_eq(&one, &other));
        assert_eq!(one.plain, r#"{"openapi":"3.1.0"}"#);
    }
}
