//! How commands speak to the operator's port of a running service; its token, where it has one, is
//! read from VEDETTE_ADMIN_TOKEN.

use std::time::Duration;

use anyhow::{Context, bail};
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde_json::Value;

/// Where the operator's port is; its token, where it has one, is read from VEDETTE_ADMIN_TOKEN.
#[derive(clap::Args)]
pub(super) struct Admin {
    /// The operator's port of the service; its token, where it has one, comes from VEDETTE_ADMIN_TOKEN
    #[arg(
        long,
        value_name = "URL",
        env = "VEDETTE_ADMIN",
        default_value = "http://127.0.0.1:8081"
    )]
    pub(super) admin: Url,
}

pub(super) fn client() -> anyhow::Result<Client> {
    Ok(Client::builder().no_proxy().timeout(PATIENCE).build()?)
}

/// Sends a request to the port at `base` and answers its JSON; a refusal is an error.
pub(super) async fn send(base: &Url, request: RequestBuilder) -> anyhow::Result<Value> {
    let (status, answer) = ask(base, request).await?;
    if !status.is_success() {
        bail!("{}", answer["message"].as_str().unwrap_or("the service refused"));
    }
    Ok(answer)
}

/// Sends a request to the port at `base` and answers what it says, whatever that is; but for a token
/// that it misses or does not take, which is told in the words of whoever has variables, not headers.
pub(super) async fn ask(
    base: &Url,
    request: RequestBuilder,
) -> anyhow::Result<(StatusCode, Value)> {
    let request = match super::environment("VEDETTE_ADMIN_TOKEN") {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    let response = request.send().await.with_context(|| {
        format!("cannot reach the operator's port at {base}; is the service running?")
    })?;
    let status = response.status();
    if status == StatusCode::UNAUTHORIZED {
        bail!(
            "the operator's port at {base} wants its token: set VEDETTE_ADMIN_TOKEN to admin.token"
        );
    }
    let answer = response.json().await.context("the answer is no JSON")?;
    Ok((status, answer))
}

const PATIENCE: Duration = Duration::from_secs(30);
