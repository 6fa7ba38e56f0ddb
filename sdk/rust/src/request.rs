//! How most HTTP requests of a check begin.

use crate::http::Request;

impl Request {
    /// GET without headers, from a server that proves to be the host; a redirect is the answer.
    /// `timeout_ms` is for the whole exchange, 0 = as long as the run has left; at most `max_body`
    /// bytes of the body are kept.
    pub fn get(url: impl Into<String>, timeout_ms: u32, max_body: u32) -> Self {
        Self {
            method: "GET".to_owned(),
            url: url.into(),
            headers: Vec::new(),
            secret_headers: Vec::new(),
            body: None,
            timeout_ms,
            max_redirects: 0,
            max_body,
            verify_tls: true,
            connect_to: None,
        }
    }
}
