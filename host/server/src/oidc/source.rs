//! Where an issuer's keys are fetched from: `oidc.jwks_url`, or what its discovery document names
//! (OpenID Connect Discovery 1.0).
//!
//! *Invariant:* what the configuration names is dialled as written; a key set that the discovery
//! document places on another origin is reached by the rules for strangers.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use url::Url;
use vedette_sandbox::egress::{Audience, Egress, HttpRequest, HttpResponse};

pub(super) struct Source {
    issuer: String,
    jwks_url: Option<Url>,
    egress: Egress,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

#[derive(Deserialize)]
struct Published {
    keys: Vec<Value>,
}

impl Source {
    pub(super) fn new(issuer: String, jwks_url: Option<Url>, egress: Egress) -> Self {
        Self { issuer, jwks_url, egress }
    }

    /// The keys as they are published now, of whatever kind.
    pub(super) async fn keys(&self) -> anyhow::Result<Vec<Value>> {
        let answer = match &self.jwks_url {
            Some(url) => self.egress.send_configured(get(url)).await?,
            None => self.discovered().await?,
        };
        let published: Published = read(&answer).context("the key set")?;
        Ok(published.keys)
    }

    /// Of the configuration, which says where they are.
    pub(super) fn key(&self) -> &'static str {
        if self.jwks_url.is_some() { "oidc.jwks_url" } else { "oidc.issuer, or set oidc.jwks_url" }
    }

    async fn discovered(&self) -> anyhow::Result<HttpResponse> {
        let place = format!("{}{WELL_KNOWN}", self.issuer.trim_end_matches('/'));
        let place = Url::parse(&place).context("oidc.issuer is not a URL")?;
        let answer = self.egress.send_configured(get(&place)).await?;
        let found: Discovery = read(&answer).context("the discovery document")?;
        ensure!(
            found.issuer == self.issuer,
            "the discovery document is that of {}: set oidc.issuer to exactly this",
            found.issuer
        );
        let keys = Url::parse(&found.jwks_uri).context("jwks_uri is not a URL")?;
        let answer = match keys.origin() == place.origin() {
            true => self.egress.send_configured(get(&keys)).await,
            false => self.egress.send(get(&keys), Audience::Authenticated).await,
        };
        answer.context("the key set that the discovery document names")
    }
}

fn get(url: &Url) -> HttpRequest {
    HttpRequest {
        headers: vec![("accept".to_owned(), "application/json".to_owned())],
        ..HttpRequest::new("GET", url.as_str(), Instant::now() + TIMEOUT, LONGEST)
    }
}

fn read<T: DeserializeOwned>(answer: &HttpResponse) -> anyhow::Result<T> {
    ensure!(answer.status == 200, "was answered {}", answer.status);
    ensure!(!answer.truncated, "is longer than {LONGEST} bytes");
    Ok(serde_json::from_slice(&answer.body)?)
}

const WELL_KNOWN: &str = "/.well-known/openid-configuration";
const TIMEOUT: Duration = Duration::from_secs(5);
const LONGEST: u32 = 256 << 10;
