//! The service over HTTP.

use std::{path::PathBuf, time::Duration};

use anyhow::Context;
use reqwest::{
    Client, Response, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER},
};
use tokio::time::timeout;

use super::{
    answer::{self, Failure},
    message::Message,
};
use crate::cli::client;

pub(super) struct Endpoint {
    client: Client,
    pub(super) url: Url,
}

/// What came back.
pub(super) enum Asked {
    /// One line, or nothing.
    Answer(Option<String>),
    /// A stream of events, not yet read.
    Events(Box<Response>),
}

/// In bytes, of an answer or an event.
pub(super) const LARGEST: usize = 8 << 20;

impl Endpoint {
    pub(super) fn new(url: Url, key: Option<&str>, ca_files: &[PathBuf]) -> anyhow::Result<Self> {
        let both = HeaderValue::from_static("application/json, text/event-stream");
        let headers = HeaderMap::from_iter([(ACCEPT, both)]);
        let client = client::of_service(headers, key, ca_files)?;
        let client = client.build().context("cannot make an HTTP client")?;
        Ok(Self { client, url })
    }

    /// Posts one message. `session` is the version that `initialize` agreed on.
    pub(super) async fn ask(
        &self,
        message: &Message,
        session: Option<&str>,
    ) -> Result<Asked, Failure> {
        let mut request = self.client.post(self.url.clone()).body(message.body.clone());
        for (name, value) in message.headers(session) {
            request = request.header(HeaderName::from_static(name), value);
        }
        let response = timeout(PATIENCE, request.send()).await.map_err(|_| Failure::Late)?;
        let response = response.map_err(unreachable)?;
        let status = response.status();
        let is_stream =
            header(&response, &CONTENT_TYPE).is_some_and(|kind| kind.starts_with(EVENTS));
        let retry_after =
            header(&response, &RETRY_AFTER).and_then(|seconds| seconds.parse::<u64>().ok());
        if status.is_success() && is_stream {
            return Ok(Asked::Events(Box::new(response)));
        }
        let body = timeout(PATIENCE, whole(response)).await.map_err(|_| Failure::Late)??;
        answer::read(status.as_u16(), retry_after, body).map(Asked::Answer)
    }
}

fn header<'a>(response: &'a Response, name: &HeaderName) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

async fn whole(mut response: Response) -> Result<String, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        if body.len() + chunk.len() > LARGEST {
            return Err(Failure::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    String::from_utf8(body).map_err(|_| Failure::Garbled)
}

/// The address stands in the sentence already.
fn unreachable(cause: reqwest::Error) -> Failure {
    Failure::Unreachable(format!("{:#}", anyhow::Error::new(cause.without_url())))
}

const EVENTS: &str = "text/event-stream";
/// Longer than any check may run.
const PATIENCE: Duration = Duration::from_secs(120);
