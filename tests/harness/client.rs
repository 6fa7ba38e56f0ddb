//! A REST client as a user would write it: a base address, a key, JSON.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use reqwest::{Method, header::HeaderMap};
use serde_json::Value;

/// Calls one service with one credential, or none.
///
/// Every request comes from an address of its own (a service that trusts 127.0.0.0/8 as its proxy
/// believes that), so that a test meets the limits of an address only where it asks for them with
/// [`Client::from_address`].
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    key: Option<String>,
    address: Option<IpAddr>,
}

/// A whole answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Client {
    /// `base` ends in the version prefix, e.g. `http://127.0.0.1:8080/v1`.
    pub fn new(base: &str, key: Option<&str>) -> Self {
        crate::install_crypto();
        let http = reqwest::Client::builder()
            .no_proxy()
            .timeout(Duration::from_secs(120))
            .build()
            .expect("a client without a proxy has nothing to fail on");
        Self { http, base: base.to_owned(), key: key.map(str::to_owned), address: None }
    }

    /// The address that every path is below.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The same service, another credential.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self.clone() }
    }

    #[must_use]
    pub fn anonymous(&self) -> Self {
        Self { key: None, ..self.clone() }
    }

    /// All further requests come from this address.
    #[must_use]
    pub fn from_address(&self, address: &str) -> Self {
        let address = address.parse().expect("a test writes an address");
        Self { address: Some(address), ..self.clone() }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PATCH, path, Some(body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    pub async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let request = self.request(method, path);
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        self.finish(request).await
    }

    /// Any bytes as the body, for what a JSON value cannot say.
    pub async fn send_raw(&self, method: Method, path: &str, body: Vec<u8>) -> Answer {
        let request = self.request(method, path).header("content-type", "application/json");
        self.finish(request.body(body)).await
    }

    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self
            .http
            .request(method, format!("{}{path}", self.base))
            .header("x-forwarded-for", self.source().to_string());
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    fn source(&self) -> IpAddr {
        let next = || {
            static REQUESTS: AtomicU32 = AtomicU32::new(0);
            let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
            Ipv4Addr::from_bits(u32::from_be_bytes([10, 0, 0, 0]) | number).into()
        };
        self.address.unwrap_or_else(next)
    }

    /// Sends it; a server that does not answer fails the test here.
    pub async fn finish(&self, request: reqwest::RequestBuilder) -> Answer {
        let response = request.send().await.expect("the service answers");
        Answer {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text: response.text().await.expect("the body arrives"),
        }
    }
}

impl Answer {
    /// The body of an answer that must have this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "unexpected status, body: {}", self.text);
        self.json()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        match serde_json::from_str(&self.text) {
            Ok(value) => value,
            Err(reason) => panic!("not JSON ({reason}): {}", self.text),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// An integer header; all the limits' headers are.
    #[track_caller]
    pub fn number(&self, name: &str) -> i64 {
        let text = self.header(name).unwrap_or_else(|| panic!("no header {name}"));
        text.parse().unwrap_or_else(|_| panic!("{name} is not an integer: {text}"))
    }
}
