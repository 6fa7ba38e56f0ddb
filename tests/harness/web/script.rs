//! What a server does with one request, byte by byte and pause by pause.

use std::{sync::Arc, time::Duration};

use async_compression::tokio::write::GzipEncoder;
use serde_json::Value;
use tokio::{io::AsyncWriteExt, sync::Notify};

use super::Wire;

/// One answer. Every script ends with the connection.
#[derive(Clone, Debug, Default)]
pub struct Script(Vec<Step>);

#[derive(Clone, Debug)]
enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    Until(Arc<Notify>),
    /// The same bytes until the peer hangs up.
    Flood(Vec<u8>),
    /// Nothing more until the peer hangs up.
    Hold,
    /// No close: a TCP reset.
    Reset,
}

impl Script {
    /// A whole answer of known length.
    pub fn reply(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let length = body.len().to_string();
        let mut bytes = head(status, headers, &[("content-length", &length)]);
        bytes.extend_from_slice(body);
        Self(vec![Step::Send(bytes)])
    }

    pub fn status(status: u16) -> Self {
        Self::reply(status, &[], "")
    }

    pub fn html(body: &str) -> Self {
        Self::reply(200, &[HTML], body)
    }

    pub fn json(value: &Value) -> Self {
        Self::reply(200, &[("content-type", "application/json")], value.to_string())
    }

    pub fn redirect(location: &str) -> Self {
        Self::reply(302, &[("location", location)], "")
    }

    /// Each part is a chunk of its own, sent by itself, `pause` after the one before.
    pub fn chunks(parts: &[&str], pause: Duration) -> Self {
        let mut steps = vec![Step::Send(head(200, &[HTML], &[CHUNKED]))];
        for part in parts {
            steps.push(Step::Wait(pause));
            steps.push(Step::Send(chunk(part.as_bytes())));
        }
        steps.push(Step::Send(b"0\r\n\r\n".to_vec()));
        Self(steps)
    }

    /// A page that announces more than ever comes.
    pub fn stalled(body: &str) -> Self {
        let length = (body.len() + 1000).to_string();
        let mut bytes = head(200, &[HTML], &[("content-length", &length)]);
        bytes.extend_from_slice(body.as_bytes());
        Self(vec![Step::Send(bytes), Step::Hold])
    }

    /// The beginning of a page, and then the end of the connection.
    pub fn half(status: u16) -> Self {
        let mut bytes = head(status, &[HTML], &[("content-length", "1000")]);
        bytes.extend_from_slice(b"<h1>half");
        Self(vec![Step::Send(bytes)])
    }

    /// A page that never ends.
    pub fn endless() -> Self {
        let line = chunk(&b"more of the same, and no end of it\n".repeat(200));
        Self(vec![Step::Send(head(200, &[HTML], &[CHUNKED])), Step::Flood(line)])
    }

    /// Reads the request and never answers.
    pub fn silence() -> Self {
        Self(vec![Step::Hold])
    }

    /// Reads the request and tears the connection.
    pub fn reset() -> Self {
        Self(vec![Step::Reset])
    }

    /// The same, and then nothing more until the peer hangs up, in place of the end.
    #[must_use]
    pub fn held(mut self) -> Self {
        self.0.push(Step::Hold);
        self
    }

    /// The same, this long after the request.
    #[must_use]
    pub fn late(mut self, pause: Duration) -> Self {
        self.0.insert(0, Step::Wait(pause));
        self
    }

    /// The same, once it is told to.
    #[must_use]
    pub fn once(mut self, told: Arc<Notify>) -> Self {
        self.0.insert(0, Step::Until(told));
        self
    }

    pub(super) async fn play(self, mut stream: impl Wire) -> std::io::Result<()> {
        for step in self.0 {
            match step {
                Step::Send(bytes) => {
                    stream.write_all(&bytes).await?;
                    stream.flush().await?;
                }
                Step::Wait(pause) => tokio::time::sleep(pause).await,
                Step::Until(told) => told.notified().await,
                Step::Flood(bytes) => loop {
                    stream.write_all(&bytes).await?;
                },
                Step::Hold => return wait_for_end(stream).await,
                Step::Reset => return stream.tcp().set_zero_linger(),
            }
        }
        stream.shutdown().await
    }
}

/// The body of an answer with `content-encoding: gzip`.
pub async fn gzip(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut encoder = GzipEncoder::new(Vec::new());
    encoder.write_all(bytes).await?;
    encoder.shutdown().await?;
    Ok(encoder.into_inner())
}

async fn wait_for_end(mut stream: impl Wire) -> std::io::Result<()> {
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await.map(|_| ())
}

fn head(status: u16, headers: &[(&str, &str)], framing: &[(&str, &str)]) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} As-Scripted\r\nconnection: close\r\n");
    for (name, value) in headers.iter().chain(framing) {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.into_bytes()
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

const HTML: (&str, &str) = ("content-type", "text/html; charset=utf-8");
const CHUNKED: (&str, &str) = ("transfer-encoding", "chunked");
