//! How commands speak to the API of a running service: one HTTP client, and what its errors say.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context;
use reqwest::{
    Client, ClientBuilder, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
    redirect,
};
use rustls::{
    ClientConfig, RootCertStore, client::WebPkiServerVerifier, crypto::aws_lc_rs,
    pki_types::CertificateDer,
};
use serde_json::Value;
use vedette_sandbox::egress::{Trust, accepting_authorities};

use crate::start;

/// A client that sends JSON, with these headers and this key, and trusts the roots in `ca_files`
/// besides the public ones. It follows no redirect: the key is for nobody else.
///
/// # Errors
/// When a file holds no roots, or a header could not carry the key.
pub(super) fn of_service(
    mut headers: HeaderMap,
    key: Option<&str>,
    ca_files: &[PathBuf],
) -> anyhow::Result<ClientBuilder> {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(key) = key {
        let bearer = HeaderValue::from_str(&format!("Bearer {key}"));
        let mut bearer = bearer.ok().context("the key contains characters that no key can have")?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
    }
    let client = Client::builder()
        .user_agent(concat!("vedette/", env!("CARGO_PKG_VERSION")))
        .default_headers(headers)
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE);
    let roots = start::roots(ca_files).context("--ca-file")?;
    if roots.is_empty() {
        return Ok(client);
    }
    Ok(client.tls_backend_preconfigured(trusting(&roots).context("--ca-file")?))
}

/// TLS that trusts the system's roots and these, even if a server shows one of these itself: the
/// certificate that `openssl req -x509` makes is marked as an authority, and is refused otherwise.
fn trusting(roots: &[CertificateDer<'static>]) -> anyhow::Result<ClientConfig> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut known = RootCertStore::empty();
    known.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    for root in roots {
        known.add(root.clone())?;
    }
    let usual = WebPkiServerVerifier::builder_with_provider(Arc::new(known), Arc::clone(&provider));
    let verifier = accepting_authorities(usual.build()?, Trust::new(roots)?);
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The sentence of an error of the service; none where the body is not the service's.
pub(super) fn said(body: &str) -> Option<String> {
    let body: Value = serde_json::from_str(body).ok()?;
    let said = body["message"].as_str().or(body["error"].as_str())?;
    Some(said.to_owned())
}

/// An address as it may be told, in a log or to an assistant: a gateway's password stands before its
/// host, and its token in the query.
pub(super) fn shown(url: &Url) -> Url {
    let mut shown = url.clone();
    // Only a URL that can have neither refuses to have none.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.set_fragment(None);
    shown
}

const CONNECT: Duration = Duration::from_secs(10);
/// The service closes what was idle for 30 s: a connection is let go before that.
const IDLE: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_without_what_may_be_a_secret() {
        for (url, told) in [
            ("https://v.example/v1/mcp", "https://v.example/v1/mcp"),
            ("http://u:hunter2@127.0.0.1:8081", "http://127.0.0.1:8081/"),
            ("https://hunter2@v.example/v1/mcp?token=hunter2#hunter2", "https://v.example/v1/mcp"),
        ] {
            assert_eq!(shown(&url.parse().expect("a URL")).as_str(), told);
        }
    }
}
