//! How commands speak to the operator's port of a running service; its token, where it has one, is
//! read from VEDETTE_ADMIN_TOKEN.

use std::time::Duration;

use anyhow::{Context, bail};
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde_json::Value;

use super::client::shown;
use crate::api::NO_SUCH_PATH;

/// Where the operator's port is; its token, where it has one, is read from VEDETTE_ADMIN_TOKEN.
#[derive(clap::Args)]
pub(super) struct Admin {
    /// The operator's port of the service; its token, where it has one, comes from VEDETTE_ADMIN_TOKEN
    #[arg(
        long,
        value_name = "URL",
        env = "VEDETTE_ADMIN",
        default_value = "http://127.0.0.1:8081",
        value_parser = base
    )]
    pub(super) admin: Url,
}

/// The port's address, with or without `http://` before it.
fn base(text: &str) -> Result<Url, String> {
    let url =
        if text.contains("://") { Url::parse(text) } else { Url::parse(&format!("http://{text}")) };
    url.map_err(|cause| format!("it is no address such as http://127.0.0.1:8081: {cause}"))
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
    let base = shown(base);
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
    let answer: Value = response.json().await.context("the answer is no JSON")?;
    if is_another_port(status, &answer) {
        bail!(
            "what listens at {base} is not the operator's port; name that with --admin or \
             VEDETTE_ADMIN: the service prints it when it starts (`admin on …`), and its \
             admin_listen sets it"
        );
    }
    Ok((status, answer))
}

/// Whether a path that the operator's port has is not there: most likely it is the API's.
fn is_another_port(status: StatusCode, answer: &Value) -> bool {
    status == StatusCode::NOT_FOUND && answer["message"] == NO_SUCH_PATH
}

const PATIENCE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_unknown_account_is_no_other_port() {
        let missing = |message: &str| json!({ "error": "not_found", "message": message });
        assert!(is_another_port(StatusCode::NOT_FOUND, &missing("there is no such path")));
        assert!(!is_another_port(StatusCode::NOT_FOUND, &missing("account not found")));
        assert!(!is_another_port(StatusCode::OK, &json!({ "accounts": [] })));
    }
}
