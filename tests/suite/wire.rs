//! Requests byte by byte, for what a well-behaved client refuses to send.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use vedette_tests::Answer;

/// A request that is written as it stands, on a connection of its own.
pub(crate) struct Wire {
    method: &'static str,
    target: Vec<u8>,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl Wire {
    /// `target` goes into the request line unchanged. Every request comes from an address of its
    /// own, which the service believes of its proxy.
    pub(crate) fn new(method: &'static str, target: impl Into<Vec<u8>>) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let address = Ipv4Addr::from_bits(u32::from_be_bytes([11, 0, 0, 0]) | number).to_string();
        let wire = Self { method, target: target.into(), headers: Vec::new(), body: Vec::new() };
        wire.header("host", "vedette.example")
            .header("connection", "close")
            .header("x-forwarded-for", &address)
    }

    pub(crate) fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("authorization", format!("Bearer {key}"))
    }

    /// With its length.
    pub(crate) fn body(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self.header("content-length", body.len().to_string())
    }

    /// In chunks of this size, without a length.
    pub(crate) fn chunked(mut self, body: &[u8], size: usize) -> Self {
        for chunk in body.chunks(size) {
            self.body.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            self.body.extend_from_slice(chunk);
            self.body.extend_from_slice(b"\r\n");
        }
        self.body.extend_from_slice(b"0\r\n\r\n");
        self.header("transfer-encoding", "chunked")
    }

    /// What comes back; none when the connection ends without an answer.
    pub(crate) async fn send(self, service: SocketAddr) -> Option<Answer> {
        let exchange = async {
            let mut stream = TcpStream::connect(service).await.expect("the service listens");
            // A server that has seen enough may close before everything was sent.
            let _ = stream.write_all(&self.bytes()).await;
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes).await;
            bytes
        };
        let bytes = tokio::time::timeout(PATIENCE, exchange).await.expect("the connection ends");
        read(&bytes)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.method.as_bytes().to_vec();
        bytes.push(b' ');
        bytes.extend_from_slice(&self.target);
        bytes.extend_from_slice(b" HTTP/1.1\r\n");
        for (name, value) in &self.headers {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

fn read(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).expect("the head is text");
    let text = String::from_utf8(bytes[end + 4..].to_vec()).expect("the body is text");
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1));
    let status = status.and_then(|code| code.parse().ok()).expect("a status line");
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':').expect("a header");
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a header's name");
        headers.append(name, HeaderValue::from_str(value.trim()).expect("a header's value"));
    }
    Some(Answer { status, headers, text })
}

const PATIENCE: Duration = Duration::from_secs(180);
static NEXT: AtomicU32 = AtomicU32::new(1);
