//! A webhook receiver: keeps every request it gets and answers as it was told to.

use std::{collections::VecDeque, convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use http_body_util::{BodyExt, Full};
use hyper::{
    HeaderMap, Request,
    body::{Bytes, Incoming},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::{
    net::TcpListener,
    sync::{Notify, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

/// Longer than a check takes that a busy machine has to try again twice, the second time after 80 s at
/// most; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(180);

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Received {
    pub at: Instant,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// What the receiver says to a request.
#[derive(Clone, Debug)]
pub enum Response {
    Status(u16, Vec<(String, String)>),
    /// A status and a body.
    Json(u16, Value),
    /// Reads the request and never answers.
    Hang,
    /// Answers 204 once it is told to.
    Held(Arc<Notify>),
}

/// A running receiver. Without instructions it answers 204.
pub struct Receiver {
    address: SocketAddr,
    inbox: Arc<Inbox>,
    stop: CancellationToken,
}

struct Inbox {
    received: Mutex<Vec<Received>>,
    count: watch::Sender<usize>,
    script: Mutex<VecDeque<Response>>,
    otherwise: Mutex<Response>,
}

impl Receiver {
    pub async fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let receiver = Self {
            address: listener.local_addr()?,
            inbox: Arc::new(Inbox {
                received: Mutex::default(),
                count: watch::Sender::new(0),
                script: Mutex::default(),
                otherwise: Mutex::new(Response::Status(204, Vec::new())),
            }),
            stop: CancellationToken::new(),
        };
        let (inbox, stop) = (Arc::clone(&receiver.inbox), receiver.stop.clone());
        tokio::spawn(async move {
            tokio::select! { () = stop.cancelled() => (), () = accept(listener, inbox, stop.clone()) => () }
        });
        Ok(receiver)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A URL that reaches this receiver; `path` starts with `/`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The answer to the next request that has none yet.
    pub fn answer_next(&self, response: Response) {
        self.inbox.script.lock().push_back(response);
    }

    /// The answer to every request without one of its own.
    pub fn answer_always(&self, response: Response) {
        *self.inbox.otherwise.lock() = response;
    }

    /// All that arrived so far, oldest first.
    pub fn received(&self) -> Vec<Received> {
        self.inbox.received.lock().clone()
    }

    /// Waits until `count` requests have arrived.
    pub async fn wait_for(&self, count: usize) -> anyhow::Result<Vec<Received>> {
        let mut arrived = self.inbox.count.subscribe();
        let enough = arrived.wait_for(|&so_far| so_far >= count);
        match tokio::time::timeout(PATIENCE, enough).await {
            Ok(Ok(_)) => Ok(self.received()),
            _ => {
                let arrived = self.received().len();
                anyhow::bail!("{arrived} of {count} requests arrived in {PATIENCE:?}")
            }
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Received {
    pub fn json(&self) -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(&self.body)?)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

async fn accept(listener: TcpListener, inbox: Arc<Inbox>, stop: CancellationToken) {
    while let Ok((stream, _)) = listener.accept().await {
        let (inbox, stop) = (Arc::clone(&inbox), stop.clone());
        tokio::spawn(async move {
            let service = service_fn(move |request| receive(request, Arc::clone(&inbox)));
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service);
            tokio::select! { () = stop.cancelled() => (), _ = connection => () }
        });
    }
}

async fn receive(
    request: Request<Incoming>,
    inbox: Arc<Inbox>,
) -> Result<hyper::Response<Full<Bytes>>, Infallible> {
    let at = Instant::now();
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let path = head.uri.to_string();
    let response = inbox.script.lock().pop_front();
    let response = response.unwrap_or_else(|| inbox.otherwise.lock().clone());
    inbox.received.lock().push(Received { at, path, headers: head.headers, body });
    inbox.count.send_modify(|count| *count += 1);
    match response {
        Response::Hang => std::future::pending().await,
        Response::Held(word) => {
            word.notified().await;
            let answer = hyper::Response::builder().status(204);
            Ok(answer.body(Full::default()).expect("a status is valid"))
        }
        Response::Status(status, headers) => {
            let mut answer = hyper::Response::builder().status(status);
            for (name, value) in headers {
                answer = answer.header(name, value);
            }
            Ok(answer.body(Full::default()).expect("a test writes valid headers"))
        }
        Response::Json(status, body) => {
            let answer = hyper::Response::builder().status(status);
            let answer = answer.header("content-type", "application/json");
            let body = Full::from(body.to_string());
            Ok(answer.body(body).expect("a test writes a valid status"))
        }
    }
}
