//! One request on one connection.

use std::{
    io::{self, ErrorKind},
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Instant,
};

use http::{HeaderMap, HeaderValue, Method, Request, Response, Version, header};
use http_body_util::Full;
use hyper::{
    body::{Bytes, Incoming},
    client::conn::{http1, http2},
    rt::Executor,
};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::oneshot,
    time::timeout_at,
};
use tokio_util::sync::CancellationToken;
use url::{Host, Url};

use super::{
    Source,
    answer::{Answer, HopTiming},
    host_and_port,
    lenient::Lenient,
};
use crate::egress::{
    Connected, Dial, Egress, NetError, Phase,
    tls::{Recorder, client_config, handshake, handshake_error, verifying_config},
    url as http_url,
};

/// What one hop sends, and where to.
pub(super) struct Hop<'a> {
    pub(super) method: &'a Method,
    pub(super) url: &'a Url,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
    pub(super) connect_to: Option<IpAddr>,
    pub(super) source: Source,
    pub(super) verify_tls: bool,
    pub(super) deadline: Instant,
    /// Bytes, of all that comes.
    pub(super) most_read: u32,
}

/// Why there is no answer.
enum Unanswered {
    /// HTTP/2 is what it failed by, and HTTP/1.1 may do better.
    OverHttp2(NetError),
    Failed(NetError),
}

impl Hop<'_> {
    /// Connects, sends, and waits for the head of the answer. Where HTTP/2 is in the way of one, the
    /// server is asked once more, in HTTP/1.1.
    pub(super) async fn send(&self, egress: &Egress) -> Result<Answer, NetError> {
        match self.ask(egress, &PROTOCOLS).await {
            Err(Unanswered::OverHttp2(failure)) => match self.ask(egress, &PROTOCOLS[1..]).await {
                // It speaks nothing else.
                Err(Unanswered::Failed(NetError::Tls(_))) => Err(failure),
                asked => asked.map_err(NetError::from),
            },
            asked => asked.map_err(NetError::from),
        }
    }

    /// On a connection of its own, on which TLS offers these.
    async fn ask(&self, egress: &Egress, protocols: &[&str]) -> Result<Answer, Unanswered> {
        let Connected { stream, peer, resolve, connect } = self.connect(egress).await?;
        if self.url.scheme() == "http" {
            let timing = HopTiming { resolve, connect, tls: None };
            return self.exchange(stream, Version::HTTP_11, peer, timing).await;
        }
        let config = self.tls_config(egress, protocols);
        let started = Instant::now();
        let stream = handshake(config, server_name(self.url)?, stream, self.deadline).await?;
        let timing = HopTiming { resolve, connect, tls: Some(started.elapsed()) };
        let version = match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => Version::HTTP_2,
            _ => Version::HTTP_11,
        };
        self.exchange(stream, version, peer, timing).await
    }

    fn tls_config(&self, egress: &Egress, protocols: &[&str]) -> Arc<ClientConfig> {
        if self.verify_tls {
            let alpn: Vec<&[u8]> = protocols.iter().map(|name| name.as_bytes()).collect();
            verifying_config(egress.trust(), &alpn)
        } else {
            let alpn: Vec<String> = protocols.iter().map(|name| (*name).to_owned()).collect();
            client_config(&Recorder::new(), &alpn)
        }
    }

    async fn connect(&self, egress: &Egress) -> Result<Connected, NetError> {
        match self.source {
            Source::Configuration(_) => {
                let (host, port) = host_and_port(self.url);
                egress.connect_configured(&host, port, self.deadline).await
            }
            Source::Stranger(audience) => {
                let dial = Dial {
                    target: http_url::target(self.url).map_err(NetError::from)?,
                    port: http_url::port(self.url),
                    connect_to: self.connect_to,
                    audience,
                    deadline: self.deadline,
                };
                egress.connect(&dial).await
            }
        }
    }

    async fn exchange<S>(
        &self,
        stream: S,
        version: Version,
        peer: SocketAddr,
        timing: HopTiming,
    ) -> Result<Answer, Unanswered>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let tasks = Tasks(CancellationToken::new());
        let end = tasks.0.clone().drop_guard();
        let stream = TokioIo::new(Lenient::new(stream, self.most_read));
        let asked = async {
            match version {
                Version::HTTP_2 => self.over_http2(stream, tasks).await,
                _ => self.over_http1(stream, &tasks).await.map_err(Unanswered::from),
            }
        };
        let response = match timeout_at(self.deadline.into(), asked).await {
            Ok(response) => response?,
            Err(_) => return Err(NetError::Timeout(Phase::Receive).into()),
        };
        let first_byte = Instant::now();
        let (deadline, most_read) = (self.deadline, self.most_read);
        Ok(Answer { response, peer, timing, first_byte, deadline, most_read, _end: end })
    }

    async fn over_http1<S>(
        &self,
        stream: TokioIo<Lenient<S>>,
        tasks: &Tasks,
    ) -> Result<Response<Incoming>, NetError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut builder = http1::Builder::new();
        builder.max_header_size(MAX_HEAD as usize).max_headers(MAX_HEADERS);
        // Names have no case, and some receivers look for them as they are usually written.
        builder.title_case_headers(true);
        // Of the past, and read by everybody all the same.
        builder.allow_spaces_after_header_name_in_responses(true);
        builder.allow_obsolete_multiline_headers_in_responses(true);
        let (mut sender, connection) =
            builder.handshake(stream).await.map_err(|error| self.http_error(&error))?;
        tasks.execute(async move {
            // The error also ends the exchange, which tells it.
            let _ = connection.await;
        });
        let request = self.request(Version::HTTP_11)?;
        sender.send_request(request).await.map_err(|error| self.http_error(&error))
    }

    async fn over_http2<S>(
        &self,
        stream: TokioIo<Lenient<S>>,
        tasks: Tasks,
    ) -> Result<Response<Incoming>, Unanswered>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut builder = http2::Builder::new(tasks.clone());
        builder.max_header_list_size(MAX_HEAD);
        builder.initial_stream_window_size(WINDOW).initial_connection_window_size(WINDOW);
        let (mut sender, connection) =
            builder.handshake(stream).await.map_err(|error| self.http2_error(&error))?;
        let (told, ended) = oneshot::channel();
        tasks.execute(async move {
            let _ = told.send(connection.await);
        });
        let request = self.request(Version::HTTP_2)?;
        let refused = match sender.send_request(request).await {
            Ok(response) => return Ok(response),
            Err(error) => error,
        };
        drop(sender);
        // The request went nowhere where the connection ended before it; why, that knows alone.
        let cause =
            if refused.is_canceled() { ended.await.ok().and_then(Result::err) } else { None };
        Err(self.unanswered(cause.as_ref().unwrap_or(&refused)))
    }

    /// What a failed exchange over HTTP/2 comes to. A server may require HTTP/1.1 for what HTTP/2
    /// forbids, such as to ask for a certificate in the middle of a connection, and then says so in
    /// place of an answer (RFC 9113 section 7).
    fn unanswered(&self, error: &hyper::Error) -> Unanswered {
        let failure = self.http2_error(error);
        let may_do_better = h2_error(error).is_some_and(|cause| {
            cause.reason() == Some(h2::Reason::HTTP_1_1_REQUIRED)
                || (is_malformed(cause) && self.method.is_safe())
        });
        if may_do_better { Unanswered::OverHttp2(failure) } else { Unanswered::Failed(failure) }
    }

    fn http_error(&self, error: &hyper::Error) -> NetError {
        http_error(error, self.most_read)
    }

    /// The same for an exchange over HTTP/2, which keeps only the kind of an error below it:
    /// invalid is an error of TLS, for example when the server wants a certificate of ours.
    fn http2_error(&self, error: &hyper::Error) -> NetError {
        let source = std::error::Error::source(error);
        match source.and_then(|cause| cause.downcast_ref::<io::Error>()) {
            Some(io) if io.kind() == ErrorKind::InvalidData => {
                NetError::Tls("the handshake failed".to_owned())
            }
            None if h2_error(error).is_some_and(is_malformed) => {
                NetError::Protocol("the answer is not HTTP".to_owned())
            }
            Some(_) | None => self.http_error(error),
        }
    }

    /// HTTP/2 has no headers of the connection, and the host in the URI.
    fn request(&self, version: Version) -> Result<Request<Full<Bytes>>, NetError> {
        let unusable = |_| NetError::NotPermitted("the URL cannot be requested".to_owned());
        let path = &self.url[url::Position::BeforePath..url::Position::AfterQuery];
        let host = &self.url[url::Position::BeforeHost..url::Position::AfterPort];
        let uri = match version {
            Version::HTTP_2 => format!("https://{host}{path}"),
            _ => path.to_owned(),
        };
        let mut request = Request::builder()
            .method(self.method)
            .uri(uri)
            .version(version)
            .body(Full::from(Bytes::copy_from_slice(self.body)))
            .map_err(|_| NetError::NotPermitted("the URL cannot be requested".to_owned()))?;
        *request.headers_mut() = self.headers.clone();
        if version != Version::HTTP_2 {
            let host = HeaderValue::from_str(host).map_err(unusable)?;
            request.headers_mut().insert(header::HOST, host);
            request.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        Ok(request)
    }
}

impl From<NetError> for Unanswered {
    fn from(error: NetError) -> Self {
        Self::Failed(error)
    }
}

impl From<Unanswered> for NetError {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::OverHttp2(error) | Unanswered::Failed(error) => error,
        }
    }
}

/// Runs what one connection consists of, until its answer is dropped: none of it outlives the
/// request, whatever the peer leaves undone.
#[derive(Clone)]
struct Tasks(CancellationToken);

impl<F> Executor<F> for Tasks
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, task: F) {
        let end = self.0.clone();
        tokio::spawn(async move {
            let _ = end.run_until_cancelled_owned(task).await;
        });
    }
}

/// None of the name for an address: then there is no SNI (RFC 6066 section 3).
fn server_name(url: &Url) -> Result<ServerName<'static>, NetError> {
    let name = match url.host() {
        Some(Host::Domain(name)) => {
            ServerName::try_from(name.trim_end_matches('.').to_owned()).ok()
        }
        Some(Host::Ipv4(address)) => Some(ServerName::IpAddress(address.into())),
        Some(Host::Ipv6(address)) => Some(ServerName::IpAddress(address.into())),
        None => None,
    };
    name.ok_or_else(|| NetError::NotPermitted("the host cannot be named in a handshake".into()))
}

/// What a failed exchange says about the peer, from which at most `most_read` bytes were read.
pub(super) fn http_error(error: &hyper::Error, most_read: u32) -> NetError {
    if error.is_parse_too_large() {
        return NetError::TooLarge(MAX_HEAD);
    }
    if error.is_parse() {
        return NetError::Protocol("the answer is not HTTP".to_owned());
    }
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return match io.kind() {
                ErrorKind::UnexpectedEof => NetError::Reset,
                ErrorKind::QuotaExceeded => NetError::TooLarge(most_read),
                // The parts of the body; what TLS finds invalid has words of its own.
                ErrorKind::InvalidInput | ErrorKind::InvalidData if !is_of_tls(io) => {
                    NetError::Protocol("the answer is not HTTP".to_owned())
                }
                _ => handshake_error(io),
            };
        }
        source = inner.source();
    }
    NetError::Reset // closed before or inside the answer
}

fn h2_error(error: &hyper::Error) -> Option<&h2::Error> {
    std::error::Error::source(error)?.downcast_ref()
}

/// Whether it was refused on our side. Proxies hand on headers that HTTP/2 forbids, such as `Upgrade`
/// and `Keep-Alive`, which most browsers pass over.
fn is_malformed(error: &h2::Error) -> bool {
    error.is_library() && error.reason() == Some(h2::Reason::PROTOCOL_ERROR)
}

fn is_of_tls(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|cause| cause.is::<rustls::Error>())
}

/// What the server may choose from (RFC 7301). One that chooses nothing speaks HTTP/1.1, which is
/// all but the first.
const PROTOCOLS: [&str; 2] = ["h2", "http/1.1"];
/// Bytes of a body over HTTP/2 that may come before they are read.
const WINDOW: u32 = 1 << 20;
/// Bytes of status line and headers.
const MAX_HEAD: u32 = 64 * 1024;
const MAX_HEADERS: usize = 256;
