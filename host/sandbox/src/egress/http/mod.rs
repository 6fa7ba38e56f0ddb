//! HTTP over the egress connector: one connection per hop, every hop vetted anew. Over TLS the
//! server chooses between HTTP/2 and HTTP/1.1; where it chose the one and wants the other, there is
//! a second connection, vetted likewise.
//!
//! No proxy from the environment, no cookies, no Referer, no `Alt-Svc`, no client certificate.

mod answer;
mod body;
mod gzip;
mod hop;
mod input;
mod lenient;
mod redirect;

use std::{
    net::{IpAddr, SocketAddr},
    time::{Duration, Instant},
};

use futures::FutureExt;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use url::Url;

use super::{Audience, Egress, NetError, Policy, refused, url as http_url};
use hop::Hop;

/// A request. Headers are sent as given, except those that belong to the connection, which are
/// refused.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// Sent like the others, but never to another origin than the first.
    pub secret_headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    /// For all hops together, to the end of the body.
    pub deadline: Instant,
    /// 0 = a redirect is the answer.
    pub max_redirects: u8,
    /// Bytes after decompression; what is beyond is cut off and [`HttpResponse::truncated`] set.
    pub max_body: u32,
    pub verify_tls: bool,
    /// Replaces name resolution while the host is that of the first URL.
    pub connect_to: Option<IpAddr>,
}

/// The answer of the last hop.
#[derive(Clone, Debug)]
pub struct HttpResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    /// Decompressed.
    pub body: Vec<u8>,
    pub truncated: bool,
    /// Why there is only the head; set only after [`Egress::send_for_status`].
    pub failure: Option<NetError>,
    pub final_url: String,
    /// The redirects that were followed: status and `Location`, as sent.
    pub hops: Vec<(u16, String)>,
    pub peer: SocketAddr,
    pub timing: HttpTiming,
}

/// The first three are those of the last hop; the others count from the start of the call.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpTiming {
    pub resolve: Option<Duration>,
    pub connect: Option<Duration>,
    pub tls: Option<Duration>,
    pub first_byte: Option<Duration>,
    pub total: Duration,
}

/// Whether the URL is a stranger's or the operator's own.
#[derive(Clone, Copy)]
enum Source {
    Stranger(Audience),
    /// Whatever it redirects to is a stranger again, to this audience.
    Configuration(Audience),
}

/// What the caller is after.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    /// All of the answer.
    Body,
    /// That there was one, and which.
    Status,
}

impl HttpRequest {
    /// One without headers and body, to a server that proves to be the host. A redirect is the
    /// answer; at most `max_body` bytes of it are read.
    pub fn new(method: &str, url: &str, deadline: Instant, max_body: u32) -> Self {
        Self {
            method: method.to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            secret_headers: Vec::new(),
            body: None,
            deadline,
            max_redirects: 0,
            max_body,
            verify_tls: true,
            connect_to: None,
        }
    }
}

impl Egress {
    /// Sends a request on behalf of `audience`.
    pub async fn send(
        &self,
        request: HttpRequest,
        audience: Audience,
    ) -> Result<HttpResponse, NetError> {
        let url = self.policy().vet_url(&request.url, audience).map_err(refused)?;
        self.follow(request, url, Source::Stranger(audience), Want::Body).boxed().await
    }

    /// The same, but the head is an answer: a body that does not come whole and in time is left
    /// empty, and [`HttpResponse::truncated`] set. A redirect that is not followed, or that leads
    /// where nobody answers, is answered likewise. [`HttpResponse::failure`] says why.
    pub async fn send_for_status(
        &self,
        request: HttpRequest,
        audience: Audience,
    ) -> Result<HttpResponse, NetError> {
        let url = self.policy().vet_url(&request.url, audience).map_err(refused)?;
        self.follow(request, url, Source::Stranger(audience), Want::Status).boxed().await
    }

    /// Sends a request to a URL of the operator's configuration, dialled as written. Whatever it
    /// redirects to is a stranger again.
    pub async fn send_configured(&self, request: HttpRequest) -> Result<HttpResponse, NetError> {
        self.send_as_written(request, Audience::Authenticated).await
    }

    /// The same on behalf of `audience`.
    pub async fn send_as_written(
        &self,
        request: HttpRequest,
        audience: Audience,
    ) -> Result<HttpResponse, NetError> {
        let url = Url::parse(&request.url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some());
        let url = url.ok_or_else(|| NetError::NotPermitted("the URL cannot be read".into()))?;
        self.follow(request, url, Source::Configuration(audience), Want::Body).boxed().await
    }

    async fn follow(
        &self,
        mut request: HttpRequest,
        url: Url,
        source: Source,
        want: Want,
    ) -> Result<HttpResponse, NetError> {
        let started = Instant::now();
        let mut step = Step {
            headers: headers(&request)?,
            method: method(&request.method)?,
            url,
            source,
            body: request.body.take(),
            connect_to: request.connect_to,
        };
        let mut hops = Vec::new();
        // The redirect that led to this hop, where its head is an answer.
        let mut led_here: Option<HttpResponse> = None;
        loop {
            let answer = match step.hop(&request, self.most_read()).send(self).await {
                Ok(answer) => answer,
                Err(cause) => {
                    return match led_here {
                        Some(redirect) => Ok(redirect.led_nowhere(cause, started)),
                        None => Err(cause),
                    };
                }
            };
            let location = redirect::location(answer.status(), answer.headers());
            let Some(location) = location.filter(|_| request.max_redirects > 0) else {
                return answer.finish(request.max_body, want, step.url, hops, started).await;
            };
            let next = if hops.len() == usize::from(request.max_redirects) {
                Err(NetError::Protocol("too many redirects".to_owned()))
            } else {
                step.next(self.policy(), &location)
            };
            let next = match next {
                Ok(next) => next,
                Err(cause) if want == Want::Status => {
                    return Ok(answer.head(step.url, hops, started).without_body(cause));
                }
                Err(cause) => return Err(cause),
            };
            if want == Want::Status {
                led_here = Some(answer.head(step.url.clone(), hops.clone(), started));
            }
            step.redirect(next, answer.status(), &request.secret_headers);
            hops.push((answer.status().as_u16(), location));
        }
    }
}

/// What is sent next, and where to.
struct Step {
    headers: HeaderMap,
    method: Method,
    url: Url,
    source: Source,
    body: Option<Vec<u8>>,
    connect_to: Option<IpAddr>,
}

impl Step {
    fn hop<'a>(&'a self, request: &HttpRequest, most_read: u32) -> Hop<'a> {
        Hop {
            method: &self.method,
            url: &self.url,
            headers: &self.headers,
            body: self.body.as_deref().unwrap_or_default(),
            connect_to: self.connect_to,
            source: self.source,
            verify_tls: request.verify_tls,
            deadline: request.deadline,
            most_read,
        }
    }

    /// Where an answer points to: a stranger, whichever server answered.
    fn next(&self, policy: &Policy, location: &str) -> Result<Url, NetError> {
        let next = redirect::resolve(&self.url, location)?;
        policy.vet_url(next.as_str(), self.audience()).map_err(redirect::not_followed)
    }

    /// Goes to the stranger, without what was meant for the first alone.
    fn redirect(&mut self, next: Url, status: StatusCode, secret_headers: &[(String, String)]) {
        if redirect::changes_to_get(status, &self.method) {
            self.method = Method::GET;
            self.body = None;
            redirect::drop_body_headers(&mut self.headers);
        }
        if !redirect::same_origin(&self.url, &next) {
            redirect::drop_secrets(&mut self.headers, secret_headers);
        }
        if self.url.host() != next.host() {
            self.connect_to = None;
        }
        self.source = Source::Stranger(self.audience());
        self.url = next;
    }

    fn audience(&self) -> Audience {
        let (Source::Stranger(audience) | Source::Configuration(audience)) = self.source;
        audience
    }
}

impl HttpResponse {
    /// No more than the head, for this reason.
    fn without_body(self, failure: NetError) -> Self {
        Self { body: Vec::new(), truncated: true, failure: Some(failure), ..self }
    }

    /// A redirect to where nobody answers, for this reason.
    fn led_nowhere(self, failure: NetError, started: Instant) -> Self {
        let timing = HttpTiming { total: started.elapsed(), ..self.timing };
        Self { timing, ..self.without_body(failure) }
    }
}

/// Whether a request with this method and these headers could ever be made; if not, why.
pub(crate) fn sendable(text: &str, headers: &[(String, String)]) -> Result<(), NetError> {
    method(text)?;
    headers.iter().try_for_each(|(name, value)| header(name, value).map(drop))
}

fn method(text: &str) -> Result<Method, NetError> {
    let method = Method::from_bytes(text.as_bytes());
    match method {
        Ok(method) if method != Method::CONNECT && method != Method::TRACE => Ok(method),
        _ => Err(NetError::NotPermitted("the method may not be used".to_owned())),
    }
}

/// The headers of the first hop: the caller's, the secret ones, and ours where it gave none.
fn headers(request: &HttpRequest) -> Result<HeaderMap, NetError> {
    let mut headers = HeaderMap::new();
    for (name, value) in request.headers.iter().chain(&request.secret_headers) {
        let (name, value) = header(name, value)?;
        headers.append(name, value);
    }
    for (name, value) in OURS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    Ok(headers)
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), NetError> {
    let unusable = || NetError::NotPermitted(format!("the header {name} may not be sent"));
    let named = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unusable())?;
    if OF_THE_CONNECTION.contains(&named.as_str()) {
        return Err(unusable());
    }
    Ok((named, HeaderValue::from_str(value).map_err(|_| unusable())?))
}

/// Headers that the connection decides; a caller that set them could smuggle a second request.
const OF_THE_CONNECTION: [&str; 10] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Bytes of one connection: several times the longest body that anybody asks for, in the smallest
/// parts.
pub(super) const MOST_READ: u32 = 32 << 20;

const OURS: [(&str, &str); 3] = [
    ("user-agent", concat!("Vedette/", env!("CARGO_PKG_VERSION"))),
    ("accept", "*/*"),
    ("accept-encoding", "gzip, br, deflate"),
];

/// The host and port of a URL, for the connector.
fn host_and_port(url: &Url) -> (String, u16) {
    let host = url.host_str().expect("http and https URLs have a host").to_owned();
    (host, http_url::port(url))
}
