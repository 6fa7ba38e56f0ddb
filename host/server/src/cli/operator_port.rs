//! How commands speak to the operator's port of a running service; its token, where it has one, is
//! read from VEDETTE_ADMIN_TOKEN.

use std::time::Duration;

use anyhow::{Context, Error, bail};
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde_json::Value;

use super::client::shown;
use crate::{api::NO_SUCH_PATH, listen::LONGEST_SILENCE};

/// Where the operator's port is.
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
    url.map_err(|cause| format!("it must be an address such as http://127.0.0.1:8081: {cause}"))
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

/// Sends a request to the port at `base` and answers what it says, whatever that is; except that a
/// missing or wrong token is explained to somebody who sets variables, not headers.
pub(super) async fn ask(
    base: &Url,
    request: RequestBuilder,
) -> anyhow::Result<(StatusCode, Value)> {
    let base = shown(base);
    let request = match super::environment("VEDETTE_ADMIN_TOKEN") {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    let response = request.send().await.map_err(|cause| unanswered(&base, cause))?;
    let status = response.status();
    if status == StatusCode::UNAUTHORIZED {
        bail!(
            "the operator's port at {base} wants its token: set VEDETTE_ADMIN_TOKEN to admin.token"
        );
    }
    let answer: Value = response.json().await.context("the answer is not JSON")?;
    if is_another_port(status, &answer) {
        bail!(
            "what listens at {base} is not the operator's port; name that with --admin or \
             VEDETTE_ADMIN: the service prints it when it starts (`admin on …`), and its \
             admin_listen sets it"
        );
    }
    Ok((status, answer))
}

/// What becomes of a request that was not answered in time nobody knows.
fn unanswered(base: &Url, cause: reqwest::Error) -> Error {
    let said = if cause.is_timeout() {
        format!(
            "the operator's port at {base} has not answered in time: what it was asked for may be \
             done yet; check whether it is before you ask again"
        )
    } else {
        format!("cannot reach the operator's port at {base}; is the service running?")
    };
    Error::new(cause).context(said)
}

/// Whether a path that the operator's port has is not there: most likely it is the API's.
fn is_another_port(status: StatusCode, answer: &Value) -> bool {
    status == StatusCode::NOT_FOUND && answer["message"] == NO_SUCH_PATH
}

const PATIENCE: Duration = Duration::from_secs(30);
/// For what may take its time: as long as the port keeps a silent connection, less a margin.
pub(super) const LONG_PATIENCE: Duration = LONGEST_SILENCE.saturating_sub(Duration::from_secs(10));

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn who_is_late_to_answer_is_not_said_to_be_away() {
        // An error only says that another test was first.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let base = base(&url).expect("an address");
        let ask = async |patience: Duration| {
            let request = client().expect("it is made").delete(base.clone()).timeout(patience);
            send(&base, request).await.expect_err("nobody answers").to_string()
        };
        let said = ask(Duration::from_millis(50)).await;
        assert!(said.contains("has not answered in time"), "{said}");
        drop(listener);
        let said = ask(PATIENCE).await;
        assert!(said.contains("is the service running?"), "{said}");
    }

    #[test]
    fn an_unknown_account_is_no_other_port() {
        let missing = |message: &str| json!({ "error": "not_found", "message": message });
        assert!(is_another_port(StatusCode::NOT_FOUND, &missing("there is no such path")));
        assert!(!is_another_port(StatusCode::NOT_FOUND, &missing("account not found")));
        assert!(!is_another_port(StatusCode::OK, &json!({ "accounts": [] })));
    }
}
