//! The service over HTTP, as agents speak to it: two calls, and what their answers mean.

use std::{path::PathBuf, time::Duration};

use anyhow::Context;
use reqwest::{
    Client, Response, Url,
    header::{HeaderMap, RETRY_AFTER},
};
use serde::Serialize;
use serde_json::Value;

use crate::cli::client;

pub(super) struct Server {
    client: Client,
    /// Without a slash at its end.
    base: String,
}

/// What an agent says of itself when it registers.
#[derive(Serialize)]
pub(super) struct About {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hostname: Option<String>,
    pub(super) version: &'static str,
    pub(super) os: &'static str,
    pub(super) interval_seconds: u64,
}

/// Why a call was not answered as it should be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// A status that is no success.
    Refused {
        status: u16,
        retry_after: Option<Duration>,
        /// The service's own sentence; none where something between it and us has answered.
        said: Option<String>,
    },
    /// With the cause.
    Unreachable(String),
    /// A success that is not what the service answers.
    Garbled,
}

impl Server {
    /// # Errors
    /// When the key or a file of roots cannot be used.
    pub(super) fn new(url: &Url, key: &str, ca_files: &[PathBuf]) -> anyhow::Result<Self> {
        let client = client::of_service(HeaderMap::new(), Some(key), ca_files)?;
        let client = client.timeout(PATIENCE).build().context("cannot make an HTTP client")?;
        Ok(Self { client, base: url.as_str().trim_end_matches('/').to_owned() })
    }

    /// Makes the agent known; answers its id.
    pub(super) async fn register(&self, about: &About) -> Result<String, Failure> {
        let body = serde_json::to_string(about).expect("texts and numbers have a form in JSON");
        let answer = self.post("/agent/register", body).await?;
        answer["agent_id"].as_str().map(str::to_owned).ok_or(Failure::Garbled)
    }

    /// Brings a report; answers what came of it.
    pub(super) async fn report(&self, body: String) -> Result<Value, Failure> {
        self.post("/agent/report", body).await
    }

    /// A failure as a sentence that says what to do.
    pub(super) fn sentence(&self, failure: &Failure) -> String {
        failure.sentence(&self.base)
    }

    async fn post(&self, path: &str, body: String) -> Result<Value, Failure> {
        let request = self.client.post(format!("{}{path}", self.base)).body(body);
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let body = whole(response).await;
        if !status.is_success() {
            let said = body.ok().as_deref().and_then(client::said);
            return Err(Failure::Refused { status: status.as_u16(), retry_after, said });
        }
        let answer: Value = serde_json::from_str(&body?).map_err(|_| Failure::Garbled)?;
        if answer.is_object() { Ok(answer) } else { Err(Failure::Garbled) }
    }
}

impl Failure {
    /// Whether it is the key, or what its account may do: nothing changes that but a person.
    pub(super) fn is_about_the_key(&self) -> bool {
        matches!(self, Self::Refused { status: 401 | 403, .. })
    }

    /// Whether the service has taken as much of the report as it ever will. What a proxy says while
    /// the service is away looks similar, but is not in the service's own words; and a service that
    /// does not know the path was started with another edition, or is not the one that was meant.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Self::Refused { status: 400, said, .. } => said.is_some(),
            Self::Refused { status: 403, said, .. } => {
                said.as_deref().is_some_and(|said| said.contains(REST_TAKEN))
            }
            Self::Refused { status: 404, said, .. } => said.as_deref() == Some(NO_SUCH_AGENT),
            Self::Refused { status, .. } => *status == 413,
            Self::Unreachable(_) | Self::Garbled => false,
        }
    }

    /// Whether the service is there, and in trouble of its own.
    pub(super) fn is_its_own_trouble(&self) -> bool {
        matches!(self, Self::Refused { status: 500.., .. })
    }

    /// How long the service asks to be left alone, at most a day.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => retry_after.map(|wait| wait.min(LONGEST_WAIT)),
            Self::Unreachable(_) | Self::Garbled => None,
        }
    }

    fn sentence(&self, base: &str) -> String {
        match self {
            Self::Refused { status: 401, .. } => format!(
                "{base} refused the agent's key: set VEDETTE_AGENT_KEY (or --key-file) to a key \
                 that POST /agent/key made there and that was not deleted"
            ),
            Self::Refused { status: 403, said, .. } if !self.is_final() => {
                let said = said.as_deref().unwrap_or("the account may have no agents");
                format!("{base} refused this agent: {said}")
            }
            // The agent that it does not find is no matter of the address.
            Self::Refused { status: 404, said, .. } if !self.is_final() => {
                let said = said.as_deref().unwrap_or("not found");
                format!(
                    "{base} answered 404 ({said}): --url must be the team edition's API, such as \
                     https://vedette.example.com/api"
                )
            }
            Self::Refused { status: 300..=399, .. } => {
                format!("{base} redirects: give --url the address that it redirects to")
            }
            Self::Refused { status, said: Some(said), .. } => {
                format!("{base} answered {status}: {said}")
            }
            Self::Refused { status, said: None, .. } => format!("{base} answered {status}"),
            Self::Unreachable(cause) => format!("cannot reach {base}: {cause}"),
            Self::Garbled => {
                format!("{base} answered with something other than JSON: is --url right?")
            }
        }
    }
}

/// The address of an API, without what would not belong to one.
pub(super) fn base(text: &str) -> Result<Url, String> {
    let url: Url = text.parse().map_err(|_| BASE.to_owned())?;
    let is_base = matches!(url.scheme(), "http" | "https")
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    if is_base { Ok(url) } else { Err(BASE.to_owned()) }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

async fn whole(mut response: Response) -> Result<String, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        if body.len() + chunk.len() > LARGEST {
            return Err(Failure::Garbled);
        }
        body.extend_from_slice(&chunk);
    }
    String::from_utf8(body).map_err(|_| Failure::Garbled)
}

/// The address stands in the sentence already.
fn unreachable(cause: reqwest::Error) -> Failure {
    Failure::Unreachable(format!("{:#}", anyhow::Error::new(cause.without_url())))
}

/// Of a whole call.
const PATIENCE: Duration = Duration::from_secs(30);
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);
/// What the service says to a report that names another agent than its key.
const NO_SUCH_AGENT: &str = "agent not found";
/// What it says when it has no room for new places of a report. Sent again, the report would only
/// hold up all that wait behind it. A service that does not say so took nothing of it.
const REST_TAKEN: &str = "all else was taken in";
/// In bytes, of an answer.
const LARGEST: usize = 64 << 10;
const BASE: &str =
    "must be the address of an API with its prefix, such as https://vedette.example.com/api";

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;
    use crate::service::agent::no_room;

    /// What a service says that takes all of a report or nothing.
    const NOTHING_TAKEN: &str = "an agent looks at 1000 places (host and port) at most; make \
                                 another agent for the others";

    fn refused(status: u16, said: Option<&str>) -> Failure {
        Failure::Refused { status, retry_after: None, said: said.map(str::to_owned) }
    }

    #[test]
    fn what_is_never_taken_is_said_so_by_the_service_itself() {
        let ours = Some("results must have at most 500 entries");
        for (failure, is_final, about_the_key) in [
            (refused(400, ours), true, false),
            (refused(400, None), false, false),
            (
                refused(404, Some(&crate::Error::NotFound(crate::Resource::Agent).to_string())),
                true,
                false,
            ),
            (refused(404, Some("there is no such path")), false, false),
            (refused(404, Some("not_found")), false, false),
            (refused(404, None), false, false),
            (refused(413, None), true, false),
            (refused(401, ours), false, true),
            (refused(403, ours), false, true),
            (refused(403, None), false, true),
            (refused(403, Some(&no_room(7).to_string())), true, true),
            (refused(403, Some(NOTHING_TAKEN)), false, true),
            (refused(429, ours), false, false),
            (refused(500, ours), false, false),
            (refused(502, None), false, false),
            (refused(301, None), false, false),
            (Failure::Unreachable("refused".to_owned()), false, false),
            (Failure::Garbled, false, false),
        ] {
            assert_eq!(failure.is_final(), is_final, "{failure:?}");
            assert_eq!(failure.is_about_the_key(), about_the_key, "{failure:?}");
        }
        assert!(refused(503, None).is_its_own_trouble());
        assert!(!refused(429, None).is_its_own_trouble());
    }

    #[test]
    fn a_failure_says_what_to_do() {
        let base = "https://v.example/api";
        for (failure, words) in [
            (refused(401, None), ["VEDETTE_AGENT_KEY", "--key-file"]),
            (refused(403, Some("agents need the team plan")), [base, "need the team plan"]),
            (
                refused(403, Some(&no_room(7).to_string())),
                ["answered 403: an agent looks at", "another agent"],
            ),
            (refused(404, None), [base, "--url"]),
            (refused(404, Some("there is no such path")), [base, "--url"]),
            (refused(404, Some(NO_SUCH_AGENT)), ["404", NO_SUCH_AGENT]),
            (refused(308, None), [base, "--url"]),
            (refused(503, Some("busy")), ["503", "busy"]),
            (refused(502, None), [base, "502"]),
            (Failure::Unreachable("connection refused".to_owned()), [base, "connection refused"]),
            (Failure::Garbled, [base, "--url"]),
        ] {
            let sentence = failure.sentence(base);
            assert!(words.iter().all(|word| sentence.contains(word)), "{sentence}");
        }
    }

    #[test]
    fn a_wait_is_seconds_and_at_most_a_day() {
        let of = |text: &str| {
            let headers = HeaderMap::from_iter([(
                RETRY_AFTER,
                text.parse::<HeaderValue>().expect("a value"),
            )]);
            let failure =
                Failure::Refused { status: 429, retry_after: retry_after(&headers), said: None };
            failure.retry_after().map(|wait| wait.as_secs())
        };
        for (text, seconds) in [("7", Some(7)), ("9999999", Some(86_400)), ("soon", None)] {
            assert_eq!(of(text), seconds, "{text}");
        }
    }

    #[test]
    fn an_api_has_an_address_and_nothing_else() {
        for text in ["https://v.example/api", "http://127.0.0.1:8080/api/", "https://v.example"] {
            assert!(base(text).is_ok(), "{text}");
        }
        for text in [
            "v.example/api",
            "ftp://v.example/api",
            "https://v.example/api?x=1",
            "https://v.example/api#top",
            "https://user:word@v.example/api",
            "",
        ] {
            assert!(base(text).is_err(), "{text}");
        }
    }
}
