//! A client of server-sent events, as a user would write it: one request, read line by line.

use std::time::Duration;

use reqwest::{Client as Http, RequestBuilder, Response, header::HeaderMap};
use serde_json::Value;

use crate::Answer;

/// Longer than the service's heartbeat, and enough for a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

const STREAM: &str = "text/event-stream";

/// A stream that is being read. Dropping it closes the connection.
pub struct Events {
    response: Response,
    /// What has arrived and was not read yet.
    rest: Vec<u8>,
    /// The last id that was seen, with an event or without.
    pub last_id: Option<String>,
    /// How many comments came so far.
    pub comments: usize,
    /// What the service asked to wait before connecting again.
    pub retry: Option<u64>,
}

/// An event with data.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub name: String,
    pub id: Option<String>,
    pub data: Value,
}

impl Events {
    /// Follows `url`, which names the path and the query. What is not answered with a stream
    /// comes back as the answer that it is.
    pub async fn follow(
        url: &str,
        key: &str,
        last_id: Option<&str>,
        http2: bool,
    ) -> Result<Self, Box<Answer>> {
        let mut request = http(http2).get(url).bearer_auth(key).header("accept", STREAM);
        if let Some(id) = last_id {
            request = request.header("last-event-id", id);
        }
        let mut events = Self::open(request).await?;
        // The first id says where it begins: from here on nothing is missed.
        while events.last_id.is_none() {
            assert!(events.block().await.is_some(), "the stream says where it begins");
        }
        Ok(events)
    }

    /// Posts a request that is answered with a stream, as assistants subscribe.
    pub async fn listen(url: &str, key: &str, body: &Value) -> Result<Self, Box<Answer>> {
        let both = format!("application/json, {STREAM}");
        Self::open(http(false).post(url).bearer_auth(key).header("accept", both).json(body)).await
    }

    async fn open(request: RequestBuilder) -> Result<Self, Box<Answer>> {
        let response = request.send().await.expect("the service answers");
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with(STREAM));
        if response.status() != 200 || !is_stream {
            return Err(Box::new(Answer {
                status: response.status().as_u16(),
                headers: response.headers().clone(),
                text: response.text().await.expect("the body arrives"),
            }));
        }
        Ok(Self { response, rest: Vec::new(), last_id: None, comments: 0, retry: None })
    }

    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// The next event with data; none when the stream has ended.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.block().await? {
                return Some(event);
            }
        }
    }

    /// Waits for an event of this name and passes over the others.
    pub async fn named(&mut self, name: &str) -> Event {
        loop {
            let event = self.next().await.unwrap_or_else(|| panic!("it ended before {name}"));
            if event.name == name {
                return event;
            }
        }
    }

    /// Waits until there are so many comments.
    pub async fn comment(&mut self, count: usize) {
        while self.comments < count {
            assert!(self.block().await.is_some(), "it ended before a comment");
        }
    }

    /// Reads to the end, whatever still comes.
    pub async fn ended(&mut self) {
        while self.next().await.is_some() {}
    }

    /// One block of lines up to a blank one; `Some(None)` for one without data.
    async fn block(&mut self) -> Option<Option<Event>> {
        let text = loop {
            if let Some(end) = self.rest.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.rest.drain(..end + 2).collect();
                break String::from_utf8(block).expect("events are text");
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await;
            let chunk = chunk.unwrap_or_else(|_| panic!("nothing came in {PATIENCE:?}"));
            // A connection that breaks ends the stream as well.
            let chunk = chunk.ok().flatten()?;
            self.rest.extend_from_slice(&chunk);
        };
        let (mut name, mut data) = (String::new(), None);
        for line in text.lines().filter(|line| !line.is_empty()) {
            match line.split_once(": ") {
                Some(("", _)) => self.comments += 1,
                Some(("id", id)) => self.last_id = Some(id.to_owned()),
                Some(("event", event)) => name = event.to_owned(),
                Some(("data", json)) => data = serde_json::from_str(json).ok(),
                Some(("retry", wait)) => self.retry = wait.parse().ok(),
                _ => panic!("not a line of events: {line}"),
            }
        }
        let id = self.last_id.clone();
        Some(data.map(|data| Event { name, id, data }))
    }
}

fn http(http2: bool) -> Http {
    crate::install_crypto();
    let builder = Http::builder().no_proxy();
    let builder = if http2 { builder.http2_prior_knowledge() } else { builder };
    builder.build().expect("a client without a proxy has nothing to fail on")
}
