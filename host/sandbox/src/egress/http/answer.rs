//! What one request brought: the head of an answer, and then its body.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use http::{HeaderMap, HeaderValue, Response, StatusCode};
use hyper::body::Incoming;
use tokio::time::timeout_at;
use tokio_util::sync::DropGuard;
use url::Url;

use super::{HttpResponse, HttpTiming, Want, body};
use crate::egress::{NetError, Phase};

/// The head of an answer, and the connection its body comes from.
pub(super) struct Answer {
    pub(super) response: Response<Incoming>,
    pub(super) peer: SocketAddr,
    pub(super) timing: HopTiming,
    pub(super) first_byte: Instant,
    pub(super) deadline: Instant,
    pub(super) most_read: u32,
    /// Ends the connection with the answer.
    pub(super) _end: DropGuard,
}

/// What it took to connect to the server that answered.
#[derive(Clone, Copy)]
pub(super) struct HopTiming {
    pub(super) resolve: Option<Duration>,
    pub(super) connect: Duration,
    pub(super) tls: Option<Duration>,
}

impl Answer {
    pub(super) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// What is known before the body is read.
    pub(super) fn head(
        &self,
        url: Url,
        hops: Vec<(u16, String)>,
        started: Instant,
    ) -> HttpResponse {
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = self.headers().iter().map(|(name, value)| (name.to_string(), text(value)));
        HttpResponse {
            status: self.status().as_u16(),
            headers: headers.collect(),
            body: Vec::new(),
            truncated: false,
            failure: None,
            final_url: url.into(),
            hops,
            peer: self.peer,
            timing: HttpTiming {
                resolve: self.timing.resolve,
                connect: Some(self.timing.connect),
                tls: self.timing.tls,
                first_byte: Some(self.first_byte - started),
                total: started.elapsed(),
            },
        }
    }

    /// Reads the body and closes the connection.
    pub(super) async fn finish(
        self,
        max_body: u32,
        want: Want,
        url: Url,
        hops: Vec<(u16, String)>,
        started: Instant,
    ) -> Result<HttpResponse, NetError> {
        let answer = self.head(url, hops, started);
        let read = body::read(self.response, max_body as usize, self.most_read);
        let read = timeout_at(self.deadline.into(), read).await;
        let read = read.unwrap_or(Err(NetError::Timeout(Phase::Receive)));
        let timing = HttpTiming { total: started.elapsed(), ..answer.timing };
        let answer = HttpResponse { timing, ..answer };
        match read {
            Ok((body, truncated)) => Ok(HttpResponse { body, truncated, ..answer }),
            Err(cause) if want == Want::Status => Ok(answer.without_body(cause)),
            Err(cause) => Err(cause),
        }
    }
}
