//! How commands speak to the API of a running service: one HTTP client, and what its errors say.

use std::{path::PathBuf, time::Duration};

use anyhow::Context;
use reqwest::{
    Certificate, Client, ClientBuilder,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
    redirect,
};
use serde_json::Value;

use crate::start;

/// A client that sends JSON, with these headers and this key, and trusts the roots in `ca_files`
/// besides the public ones. It follows no redirect: the key is for nobody else.
///
/// # Errors
/// When a file holds no roots, or the key is none that a header could carry.
pub(super) fn of_service(
    mut headers: HeaderMap,
    key: Option<&str>,
    ca_files: &[PathBuf],
) -> anyhow::Result<ClientBuilder> {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(key) = key {
        let bearer = HeaderValue::from_str(&format!("Bearer {key}"));
        let mut bearer = bearer.ok().context("the key has characters that no key has")?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
    }
    let roots = start::roots(ca_files)?;
    let roots = roots.iter().map(|root| Certificate::from_der(root));
    let roots = roots.collect::<Result<Vec<_>, _>>().context("--ca-file")?;
    Ok(Client::builder()
        .user_agent(concat!("vedette/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .tls_certs_merge(roots)
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE))
}

/// The sentence of an error of the service; none where the body is not the service's.
pub(super) fn said(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    let said = body["message"].as_str().or(body["error"].as_str())?;
    Some(said.to_owned())
}

const CONNECT: Duration = Duration::from_secs(10);
/// The service closes what was idle for 30 s: a connection is let go before that.
const IDLE: Duration = Duration::from_secs(20);
