//! Servers that speak HTTP/2, most of them alone.

use std::{convert::Infallible, net::SocketAddr, sync::Arc};

use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    server::conn::http2,
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{RootCertStore, ServerConfig, server::WebPkiClientVerifier};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::{
    egress::{NetError, Phase},
    lab::{authenticated, ok, read_request, serve, to_loopback, to_loopback_reading},
    pki::{Pki, server_config},
    probes::http::{fetch, fetch_partial},
    vectors::get,
};

#[tokio::test]
async fn a_server_of_http2_alone_is_asked_in_it() {
    let (address, _server) = speaks_http2_alone().await;
    let egress = to_loopback(None);
    let mut request = get(&format!("https://{address}/moved"));
    request.method = "POST".to_owned();
    request.headers = vec![("X-Own".to_owned(), "1".to_owned())];
    request.body = Some(b"four".to_vec());
    request.verify_tls = false;
    let moved = fetch(authenticated(&egress), request.clone()).await.unwrap();
    assert_eq!((moved.status, moved.body.as_slice()), (307, b"".as_slice()));

    request.max_redirects = 1;
    let response = fetch(authenticated(&egress), request).await.unwrap();
    let said = String::from_utf8(response.body).unwrap();
    assert_eq!(said, format!("HTTP/2.0 POST https://{address}/told?a=b x-own=1 body=4"));
    assert_eq!((response.status, response.hops.len()), (200, 1));
    assert_eq!(response.final_url, format!("https://{address}/told?a=b"));
    assert_eq!(response.peer_address, "127.0.0.1");
    let timing = response.timing;
    assert!(timing.connect_us.is_some() && timing.tls_us.is_some());
    assert!(timing.first_byte_us.unwrap() <= timing.total_us);
}

#[tokio::test]
async fn the_limits_hold_over_http2_too() {
    let (address, _server) = speaks_http2_alone().await;
    let egress = to_loopback(None);
    let request = |path: &str| {
        let mut request = get(&format!("https://{address}{path}"));
        request.verify_tls = false;
        request
    };
    for (max_body, read) in [(1000, (1000, true)), (4 << 20, (LONG, false))] {
        let mut long = request("/long");
        long.max_body = max_body;
        let response = fetch(authenticated(&egress), long).await.unwrap();
        assert_eq!((response.body.len(), response.truncated), read);
    }
    let mut silent = request("/silent");
    // The handshake is to be through by then.
    silent.timeout_ms = 3_000;
    let error = fetch(authenticated(&egress), silent).await.unwrap_err();
    assert_eq!(error, NetError::Timeout(Phase::Receive));
    assert!(fetch(authenticated(&egress), request("/endless-head")).await.is_err());
    let mut verified = request("/told");
    verified.verify_tls = true;
    let stranger = fetch(authenticated(&egress), verified).await.unwrap_err();
    assert!(matches!(stranger, NetError::Tls(_)), "{stranger}");
}

#[tokio::test]
async fn a_server_of_http2_that_misses_a_certificate_of_ours_is_one_of_failed_tls() {
    let (address, _server) = wants_a_certificate().await;
    let mut request = get(&format!("https://{address}/"));
    request.verify_tls = false;
    let error = fetch(authenticated(&to_loopback(None)), request).await.unwrap_err();
    assert!(matches!(error, NetError::Tls(_)), "{error}");
}

#[tokio::test]
async fn a_body_that_is_reset_before_its_end_is_broken_off_whatever_the_code() {
    /// Parts of the answer; the body, none where it broke off.
    type Case = (Vec<Vec<u8>>, Option<&'static [u8]>);

    let (told, untold) = (head(Some("7")), head(None));
    let long = head(Some("1000"));
    let half = || data(b"partial", false);
    let table: [Case; 8] = [
        (vec![long.clone(), half(), reset(NO_ERROR)], None),
        (vec![untold.clone(), half(), reset(NO_ERROR)], None),
        (vec![long, half(), reset(CANCEL)], None),
        (vec![untold.clone(), half(), reset(CANCEL)], None),
        (vec![untold.clone(), reset(NO_ERROR)], None),
        // It was all there: so a server says that it needs no more of the request.
        (vec![untold.clone(), data(b"partial", true), reset(NO_ERROR)], Some(b"partial")),
        (vec![told, half(), reset(NO_ERROR)], Some(b"partial")),
        (vec![untold, data(b"", true)], Some(b"")),
    ];
    let egress = to_loopback(None);
    for (parts, body) in table {
        let (address, _server) = answers_in_frames(parts.concat()).await;
        let mut request = get(&format!("https://{address}/"));
        request.verify_tls = false;
        let arrival = fetch_partial(authenticated(&egress), request.clone()).await.unwrap();
        assert_eq!(arrival.response.status, 200);
        assert_eq!(arrival.response.body, body.unwrap_or_default(), "{parts:?}");
        assert_eq!(arrival.failure, body.is_none().then_some(NetError::Reset), "{parts:?}");
        let read = fetch(authenticated(&egress), request).await.map(|response| response.body);
        assert_eq!(read, body.map(<[u8]>::to_vec).ok_or(NetError::Reset), "{parts:?}");
    }
}

#[tokio::test]
async fn a_server_that_requires_http11_is_asked_once_more_in_it() {
    let egress = to_loopback(None);
    for refusal in [reset(HTTP_1_1_REQUIRED), go_away(HTTP_1_1_REQUIRED)] {
        let (address, _server) = answers_over_http11(refusal.clone()).await;
        let response = fetch(authenticated(&egress), post(address)).await.unwrap();
        let asked = String::from_utf8(response.body).unwrap();
        let is_whole = asked.starts_with("POST /private HTTP/1.1\r\n") && asked.ends_with("four");
        assert!(is_whole, "{refusal:?}: {asked}");
        assert_eq!((response.status, response.hops.len()), (200, 0));
    }
    let (otherwise, _one) = answers_over_http11(reset(CANCEL)).await;
    let error = fetch(authenticated(&egress), post(otherwise)).await.unwrap_err();
    assert_eq!(error, NetError::Reset, "nothing says that HTTP/1.1 would do better");
    let (neither, _two) = answers_in_frames(reset(HTTP_1_1_REQUIRED)).await;
    let error = fetch(authenticated(&egress), post(neither)).await.unwrap_err();
    assert_eq!(error, NetError::Reset, "it speaks nothing else");
}

#[tokio::test]
async fn a_head_that_http2_forbids_is_asked_for_again_where_that_does_no_harm() {
    let egress = to_loopback(None);
    // A field that is not indexed (RFC 7541 section 6.2.2).
    let fields = [&[0x88_u8, 0, 7][..], b"upgrade", &[3], b"h2c"].concat();
    let forbidden = [frame(HEADERS, END_HEADERS, 1, &fields), data(b"page", true)].concat();
    let (both, _one) = answers_over_http11(forbidden.clone()).await;
    let mut request = post(both);
    request.method = "GET".to_owned();
    request.body = None;
    let response = fetch(authenticated(&egress), request.clone()).await.unwrap();
    assert!(response.body.starts_with(b"GET /private HTTP/1.1\r\n"));
    let not_http = NetError::Protocol("the answer is not HTTP".to_owned());
    let acted_on = fetch(authenticated(&egress), post(both)).await.unwrap_err();
    assert_eq!(acted_on, not_http, "what was posted is posted once");
    let (alone, _two) = answers_in_frames(forbidden).await;
    request.url = format!("https://{alone}/");
    assert_eq!(fetch(authenticated(&egress), request).await.unwrap_err(), not_http);
}

#[tokio::test]
async fn frames_that_mean_nothing_are_not_read_for_ever() {
    let (address, _server) = speaks_http2(|mut stream| async move {
        let nothing = frame(UNKNOWN, 0, 0, &[0; 16_384]);
        let _ = stream.write_all(&frame(SETTINGS, 0, 0, &[])).await;
        let _ = wait_for_request(&mut stream).await;
        while stream.write_all(&nothing).await.is_ok() {}
    })
    .await;
    let mut request = get(&format!("https://{address}/"));
    request.verify_tls = false;
    let egress = to_loopback_reading(256 << 10);
    let error = fetch(authenticated(&egress), request).await.unwrap_err();
    assert_eq!(error, NetError::TooLarge(256 << 10));
}

fn post(address: SocketAddr) -> crate::probes::http::Request {
    let mut request = get(&format!("https://{address}/private"));
    request.method = "POST".to_owned();
    request.body = Some(b"four".to_vec());
    request.verify_tls = false;
    request
}

/// A server of HTTP/2 that answers its only request with these frames.
async fn answers_in_frames(frames: Vec<u8>) -> (SocketAddr, impl Sized) {
    speaks_http2(move |stream| answer_in_frames(stream, frames.clone())).await
}

/// The same over HTTP/2; over HTTP/1.1 it answers with what it was asked.
async fn answers_over_http11(frames: Vec<u8>) -> (SocketAddr, impl Sized) {
    speaks(&["h2", "http/1.1"], move |mut stream| {
        let frames = frames.clone();
        async move {
            if stream.get_ref().1.alpn_protocol() == Some(b"h2".as_slice()) {
                return answer_in_frames(stream, frames).await;
            }
            let asked = read_request(&mut stream).await;
            let _ = stream.write_all(&ok("", asked.as_bytes())).await;
            let _ = stream.shutdown().await;
        }
    })
    .await
}

async fn answer_in_frames(mut stream: TlsStream<TcpStream>, frames: Vec<u8>) {
    let settings = frame(SETTINGS, 0, 0, &[]);
    let _ = stream.write_all(&settings).await;
    if wait_for_request(&mut stream).await.is_ok() {
        let _ = stream.write_all(&frames).await;
        let _ = stream.flush().await;
    }
    // Closed at once, the connection might break before the answer is read.
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
}

async fn wait_for_request(stream: &mut (impl AsyncRead + Unpin)) -> std::io::Result<()> {
    stream.read_exact(&mut [0; 24]).await?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let [high, middle, low, kind, ..] = head;
        let length = u32::from_be_bytes([0, high, middle, low]) as usize;
        stream.read_exact(&mut vec![0; length]).await?;
        if kind == HEADERS {
            return Ok(());
        }
    }
}

/// `:status: 200` and how long the body will be (RFC 7541, appendix A: 8 and 28).
fn head(length: Option<&str>) -> Vec<u8> {
    let mut fields = vec![0x88];
    if let Some(length) = length {
        fields.extend([0x0f, 28 - 15, u8::try_from(length.len()).unwrap()]);
        fields.extend(length.as_bytes());
    }
    frame(HEADERS, END_HEADERS, 1, &fields)
}

fn data(bytes: &[u8], is_last: bool) -> Vec<u8> {
    frame(DATA, if is_last { END_STREAM } else { 0 }, 1, bytes)
}

fn reset(code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, 1, &code.to_be_bytes())
}

/// After no stream at all.
fn go_away(code: u32) -> Vec<u8> {
    frame(GO_AWAY, 0, 0, &[[0; 4], code.to_be_bytes()].concat())
}

/// RFC 9113 section 4.1.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A server of HTTP/2 that asks everybody for a certificate. With TLS 1.3 it says that there is none
/// when the handshake is over for the other side.
async fn wants_a_certificate() -> (SocketAddr, impl Sized) {
    let pki = Pki::new();
    let leaf = pki.leaf(&["site.example"]);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(pki.root.der().clone()).unwrap();
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider));
    let chain: Vec<_> = pki.chain(&leaf).into_iter().map(Into::into).collect();
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(chain, leaf.key.serialize_der().try_into().unwrap())
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    serve(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let accepted = acceptor.accept(stream).into_fallible().await;
            let Err((_, mut stream)) = accepted else { return };
            // Closed at once, what it said might be lost.
            let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
        }
    })
    .await
}

/// A server that refuses whoever does not offer HTTP/2.
async fn speaks_http2_alone() -> (SocketAddr, impl Sized) {
    speaks_http2(|stream| async move {
        let builder = http2::Builder::new(TokioExecutor::new());
        let _ = builder.serve_connection(TokioIo::new(stream), service_fn(answer)).await;
    })
    .await
}

/// Has `talk` speak to whoever offers HTTP/2.
async fn speaks_http2<F, T>(talk: F) -> (SocketAddr, impl Sized)
where
    F: Fn(TlsStream<TcpStream>) -> T + Clone + Send + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    speaks(&["h2"], talk).await
}

/// Has `talk` speak to whoever offers one of these; the first is chosen that is offered.
async fn speaks<F, T>(protocols: &'static [&'static str], talk: F) -> (SocketAddr, impl Sized)
where
    F: Fn(TlsStream<TcpStream>) -> T + Clone + Send + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    let pki = Pki::new();
    let leaf = pki.leaf(&["site.example"]);
    let mut config = server_config(&pki.chain(&leaf), &leaf.key, None);
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    serve(move |stream| {
        let (acceptor, talk) = (acceptor.clone(), talk.clone());
        async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                talk(stream).await;
            }
        }
    })
    .await
}

/// Tells what was asked, but for the paths that say what is wanted.
async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (asked, body) = request.into_parts();
    let own = asked.headers.get("x-own").map(|own| own.to_str().unwrap()).unwrap_or_default();
    let body = body.collect().await.map(|body| body.to_bytes().len()).unwrap_or_default();
    let response = Response::builder();
    let (response, said) = match asked.uri.path() {
        "/moved" => (response.status(307).header("location", "/told?a=b"), Vec::new()),
        "/long" => (response, vec![b'.'; LONG]),
        "/endless-head" => (response.header("x-long", "y".repeat(80_000)), Vec::new()),
        "/silent" => std::future::pending().await,
        _ => {
            let (version, method, uri) = (asked.version, &asked.method, &asked.uri);
            let said = format!("{version:?} {method} {uri} x-own={own} body={body}");
            (response, said.into_bytes())
        }
    };
    Ok(response.body(Full::from(said)).unwrap())
}

/// More than may come before it is read.
const LONG: usize = 3 << 20;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GO_AWAY: u8 = 7;
/// Of a type that nobody has defined.
const UNKNOWN: u8 = 0xfa;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const NO_ERROR: u32 = 0;
const CANCEL: u32 = 8;
const HTTP_1_1_REQUIRED: u32 = 13;
