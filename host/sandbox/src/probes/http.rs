//! HTTP requests of plugins.

use super::{Reach, Timing, address, many, micros, peer_text};
use crate::egress::{HttpRequest, HttpResponse, NetError, url};

/// A request as a plugin makes it.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// Header and *value*: the caller has looked the secret up.
    pub secret_headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    pub timeout_ms: u32,
    pub max_redirects: u8,
    pub max_body: u32,
    pub verify_tls: bool,
    pub connect_to: Option<String>,
}

/// A redirect that was followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    pub status: u16,
    pub location: String,
}

/// The last answer. `timing`: resolve, connect and tls are those of the last hop.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub truncated: bool,
    pub final_url: String,
    pub hops: Vec<Hop>,
    pub peer_address: String,
    pub timing: Timing,
}

/// An answer as far as it came: its head alone where there is a `failure`.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub response: Response,
    pub failure: Option<NetError>,
}

/// Sends one request and follows its redirects.
pub async fn fetch(reach: Reach, request: Request) -> Result<Response, NetError> {
    let request = outgoing(&reach, request)?;
    let answer = if names_configured(&reach, &request) {
        reach.egress.send_as_written(request, reach.audience).await
    } else {
        reach.egress.send(request, reach.audience).await
    };
    answer.map(Response::from)
}

/// The same, and whatever comes after the head of the first answer is no error.
pub async fn fetch_partial(reach: Reach, request: Request) -> Result<Arrival, NetError> {
    let request = outgoing(&reach, request)?;
    let mut answer = reach.egress.send_for_status(request, reach.audience).await?;
    let failure = answer.failure.take();
    Ok(Arrival { response: answer.into(), failure })
}

/// Several requests at once; answers keep the order of the requests.
pub async fn fetch_many(reach: Reach, requests: Vec<Request>) -> Vec<Result<Response, NetError>> {
    many(requests, |request| fetch(reach.clone(), request)).await
}

fn names_configured(reach: &Reach, request: &HttpRequest) -> bool {
    if reach.configured.is_empty() || request.connect_to.is_some() {
        return false;
    }
    let target = url::parse(&request.url).and_then(|url| Ok((url::target(&url)?, url::port(&url))));
    target.is_ok_and(|(target, port)| reach.is_configured(&target, port))
}

fn outgoing(reach: &Reach, request: Request) -> Result<HttpRequest, NetError> {
    Ok(HttpRequest {
        deadline: reach.until(request.timeout_ms),
        connect_to: request.connect_to.as_deref().map(address).transpose()?,
        method: request.method,
        url: request.url,
        headers: request.headers,
        secret_headers: request.secret_headers,
        body: request.body,
        max_redirects: request.max_redirects,
        max_body: request.max_body,
        verify_tls: request.verify_tls,
    })
}

impl From<HttpResponse> for Response {
    fn from(response: HttpResponse) -> Self {
        let timing = Timing {
            resolve_us: response.timing.resolve.map(micros),
            connect_us: response.timing.connect.map(micros),
            tls_us: response.timing.tls.map(micros),
            first_byte_us: response.timing.first_byte.map(micros),
            total_us: micros(response.timing.total),
        };
        let hops = response.hops.into_iter().map(|(status, location)| Hop { status, location });
        Self {
            status: response.status,
            headers: response.headers,
            body: response.body,
            truncated: response.truncated,
            final_url: response.final_url,
            hops: hops.collect(),
            peer_address: peer_text(response.peer),
            timing,
        }
    }
}
