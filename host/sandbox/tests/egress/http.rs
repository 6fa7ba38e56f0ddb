//! HTTP: bodies and their caps, headers, verification, deadlines.

use async_compression::tokio::write::{BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder};
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    server::conn::http2,
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{RootCertStore, ServerConfig, server::WebPkiClientVerifier};
use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

use crate::{
    egress::{Audience, HttpRequest, NetError, Phase},
    lab::{Dns, Http, authenticated, ok, policy, read_request, serve, to_loopback},
    pki::{Pki, server_config},
    probes::http::{fetch, fetch_partial},
    vectors::get,
};

#[tokio::test]
async fn a_request_says_what_it_must_and_nothing_of_the_environment() {
    let server = Http::new(|_| ok("x-answer: yes\r\n", b"hello")).await;
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let egress = to_loopback(Some(&dns));
    let mut request = get(&format!("http://site.example:{}/a?b=c#d", server.address.port()));
    request.headers = vec![("X-Own".to_owned(), "1".to_owned())];
    request.secret_headers = vec![("X-Token".to_owned(), "s3cret".to_owned())];
    let response = fetch(authenticated(&egress), request).await.unwrap();
    assert_eq!((response.status, response.body.as_slice()), (200, b"hello".as_slice()));
    assert!(!response.truncated);
    assert_eq!(response.peer_address, "127.0.0.1");
    assert!(response.headers.contains(&("x-answer".to_owned(), "yes".to_owned())));
    let timing = response.timing;
    assert!(timing.resolve_us.is_some() && timing.connect_us.is_some() && timing.tls_us.is_none());
    assert!(timing.first_byte_us.unwrap() <= timing.total_us);

    let sent = server.requests().remove(0).to_lowercase();
    assert!(sent.starts_with("get /a?b=c http/1.1\r\n"), "{sent}");
    assert!(sent.contains(&format!("host: site.example:{}\r\n", server.address.port())));
    assert!(sent.contains("x-own: 1\r\n") && sent.contains("x-token: s3cret\r\n"));
    assert!(sent.contains("user-agent: vedette/"));
    for header in ["cookie", "referer", "authorization", "proxy", "via"] {
        assert!(!sent.contains(header), "{header} in {sent}");
    }
}

#[tokio::test]
async fn answers_that_are_not_quite_of_their_time_are_read() {
    for head in [
        "HTTP/1.0 200 OK\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length : 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nx-long: one\r\n two\r\ncontent-length: 5\r\n\r\nhello",
    ] {
        let server = Http::new(move |_| head.as_bytes().to_vec()).await;
        let egress = to_loopback(None);
        let response = fetch(authenticated(&egress), get(&server.url("/"))).await.unwrap();
        assert_eq!((response.status, response.body.as_slice()), (200, b"hello".as_slice()));
        assert!(!response.truncated, "{head}");
    }
}

#[tokio::test]
async fn headers_of_the_connection_are_not_the_callers() {
    let server = Http::new(|_| ok("", b"")).await;
    let egress = to_loopback(None);
    for (name, value) in [
        ("Host", "other.example"),
        ("Content-Length", "0"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "keep-alive"),
        ("X-Split", "a\r\nX-Smuggled: b"),
        ("X Space", "a"),
    ] {
        let mut request = get(&server.url("/"));
        request.headers = vec![(name.to_owned(), value.to_owned())];
        let error = fetch(authenticated(&egress), request).await.unwrap_err();
        assert!(matches!(error, NetError::NotPermitted(_)), "{name}: {error}");
    }
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn bodies_are_decompressed() {
    let text = b"mixed content ".repeat(500);
    let mut encoded = vec![("identity", text.clone())];
    encoded.push(("gzip", encode(GzipEncoder::new(Vec::new()), &text).await.into_inner()));
    encoded.push(("br", encode(BrotliEncoder::new(Vec::new()), &text).await.into_inner()));
    encoded.push(("deflate", encode(ZlibEncoder::new(Vec::new()), &text).await.into_inner()));
    encoded.push(("deflate", encode(DeflateEncoder::new(Vec::new()), &text).await.into_inner()));
    let twice = encode(GzipEncoder::new(Vec::new()), &text).await.into_inner();
    let twice = encode(BrotliEncoder::new(Vec::new()), &twice).await.into_inner();
    encoded.push(("gzip, br", twice));
    let egress = to_loopback(None);
    for (coding, bytes) in encoded {
        let answer = ok(&format!("content-encoding: {coding}\r\n"), &bytes);
        let server = Http::new(move |_| answer.clone()).await;
        let response = fetch(authenticated(&egress), get(&server.url("/"))).await.unwrap();
        assert!(response.body == text, "{coding}: {} bytes", response.body.len());
        assert!(!response.truncated);
    }
}

#[tokio::test]
async fn the_cap_counts_what_comes_out_of_a_bomb() {
    let bomb = encode(GzipEncoder::new(Vec::new()), &vec![0; 20 << 20]).await.into_inner();
    assert!(bomb.len() < 100_000);
    let answer = ok("content-encoding: gzip\r\n", &bomb);
    let server = Http::new(move |_| answer.clone()).await;
    let egress = to_loopback(None);
    let mut request = get(&server.url("/"));
    request.max_body = 1000;
    let response = fetch(authenticated(&egress), request).await.unwrap();
    assert_eq!((response.body.len(), response.truncated), (1000, true));
    let exact = ok("", &[b'x'; 1000]);
    let server = Http::new(move |_| exact.clone()).await;
    let mut request = get(&server.url("/"));
    request.max_body = 1000;
    let response = fetch(authenticated(&egress), request).await.unwrap();
    assert_eq!((response.body.len(), response.truncated), (1000, false));
}

#[tokio::test]
async fn a_body_that_is_hardly_more_than_its_wrapping_is_given_up() {
    let empty = encode(GzipEncoder::new(Vec::new()), b"").await.into_inner().repeat(20_000);
    let twice = encode(GzipEncoder::new(Vec::new()), &empty).await.into_inner();
    assert!(twice.len() < 10_000, "and it may be short");
    let egress = to_loopback(None);
    for (coding, bytes) in [("gzip", empty), ("gzip, gzip", twice)] {
        let answer = ok(&format!("content-encoding: {coding}\r\n"), &bytes);
        let server = Http::new(move |_| answer.clone()).await;
        let mut request = get(&server.url("/"));
        request.max_body = 1000;
        let error = fetch(authenticated(&egress), request).await.err();
        let undone = NetError::Protocol("the body cannot be decompressed".to_owned());
        assert_eq!(error, Some(undone), "{coding}");
    }
}

#[tokio::test]
async fn broken_answers_have_their_own_errors_and_are_not_quoted() {
    let egress = to_loopback(None);
    let long = format!("HTTP/1.1 200 OK\r\nx-long: {}\r\n\r\n", "y".repeat(80_000));
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let not_http = || NetError::Protocol("the answer is not HTTP".to_owned());
    let table: [(Vec<u8>, NetError); 8] = [
        (b"SSH-2.0-secretd\r\n".to_vec(), not_http()),
        (format!("{chunked}secret\r\n").into_bytes(), not_http()),
        (format!("{chunked}3\r\nabcsecret").into_bytes(), not_http()),
        (format!("{chunked}fffffffffffffffff\r\n").into_bytes(), not_http()),
        (long.into_bytes(), NetError::TooLarge(65536)),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".to_vec(), NetError::Reset),
        (b"".to_vec(), NetError::Reset),
        (
            ok("content-encoding: gzip\r\n", b"not gzip at all"),
            NetError::Protocol("the body cannot be decompressed".to_owned()),
        ),
    ];
    for (answer, expected) in table {
        let server = Http::new(move |_| answer.clone()).await;
        let error = fetch(authenticated(&egress), get(&server.url("/"))).await.err();
        assert_eq!(error, Some(expected));
    }
}

#[tokio::test]
async fn where_the_status_is_the_answer_no_body_spoils_it() {
    let egress = to_loopback(None);
    for answer in [
        b"HTTP/1.1 202 Accepted\r\ncontent-length: 10\r\n\r\nhalf".to_vec(),
        b"HTTP/1.1 202 Accepted\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc".to_vec(),
    ] {
        let server = Http::new(move |_| answer.clone()).await;
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: server.url("/"),
            headers: Vec::new(),
            secret_headers: Vec::new(),
            body: None,
            deadline: Instant::now() + Duration::from_secs(5),
            max_redirects: 0,
            max_body: 1000,
            verify_tls: true,
            connect_to: None,
        };
        let answer = egress.send_for_status(request, Audience::Authenticated).await.unwrap();
        assert_eq!((answer.status, answer.body.len(), answer.truncated), (202, 0, true));
    }
}

#[tokio::test]
async fn an_answer_that_stalls_after_its_head_is_told_with_its_head() {
    let egress = to_loopback(None);
    for (body, status) in [("", 200), ("half", 200), ("", 500)] {
        let head = format!("HTTP/1.1 {status} X\r\nx-answer: yes\r\ncontent-length: 1000\r\n\r\n");
        let begun = (head + body).into_bytes();
        let (address, _server) = serve(move |mut stream| {
            let begun = begun.clone();
            async move {
                read_request(&mut stream).await;
                let _ = stream.write_all(&begun).await;
                std::future::pending::<()>().await;
            }
        })
        .await;
        let mut request = get(&format!("http://{address}/"));
        request.timeout_ms = 1000;
        let arrival = fetch_partial(authenticated(&egress), request).await.unwrap();
        assert_eq!(arrival.failure, Some(NetError::Timeout(Phase::Receive)));
        let response = arrival.response;
        assert_eq!((response.status, response.body.len(), response.truncated), (status, 0, true));
        assert!(response.headers.contains(&("x-answer".to_owned(), "yes".to_owned())));
        assert_eq!(response.peer_address, "127.0.0.1");
        let timing = response.timing;
        assert!(timing.connect_us.is_some());
        assert!(timing.first_byte_us.unwrap() < timing.total_us, "{timing:?}");
        assert!(timing.total_us >= 900_000, "as long as it was waited for: {timing:?}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_says_why() {
    /// What is sent; the status, the body and the failure that are told.
    type Case = (Vec<u8>, u16, &'static [u8], Option<NetError>);

    let egress = to_loopback(None);
    let undone = NetError::Protocol("the body cannot be decompressed".to_owned());
    let table: [Case; 5] = [
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".to_vec(),
            200,
            b"",
            Some(NetError::Reset),
        ),
        (
            b"HTTP/1.1 503 X\r\ntransfer-encoding: chunked\r\n\r\n4\r\nha".to_vec(),
            503,
            b"",
            Some(NetError::Reset),
        ),
        (ok("content-encoding: gzip\r\n", b"not gzip at all"), 200, b"", Some(undone)),
        (ok("", b"whole"), 200, b"whole", None),
        (b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(), 204, b"", None),
    ];
    for (answer, status, body, failure) in table {
        let server = Http::new(move |_| answer.clone()).await;
        let request = get(&server.url("/"));
        let arrival = fetch_partial(authenticated(&egress), request).await.unwrap();
        let response = arrival.response;
        assert_eq!((response.status, response.body.as_slice()), (status, body));
        assert_eq!(response.truncated, failure.is_some());
        assert!(response.timing.first_byte_us.unwrap() <= response.timing.total_us);
        assert_eq!(arrival.failure, failure);
    }

    let server = Http::new(|_| ok("", b"longer than wanted")).await;
    let mut request = get(&server.url("/"));
    request.max_body = 6;
    let cut = fetch_partial(authenticated(&egress), request).await.unwrap();
    assert_eq!((cut.response.body.as_slice(), cut.response.truncated), (&b"longer"[..], true));
    assert_eq!(cut.failure, None, "cut by us");
}

#[tokio::test]
async fn without_a_head_there_is_no_part_of_an_answer() {
    let egress = to_loopback(None);
    for (answer, expected) in [
        (b"".as_slice(), NetError::Reset),
        (b"HTTP/1.1 200 OK\r\ncontent-le", NetError::Reset),
        (b"SSH-2.0-hello\r\n", NetError::Protocol("the answer is not HTTP".to_owned())),
    ] {
        let server = Http::new(move |_| answer.to_vec()).await;
        let error = fetch_partial(authenticated(&egress), get(&server.url("/"))).await.err();
        assert_eq!(error, Some(expected));
    }
}

#[tokio::test]
async fn one_deadline_covers_head_and_body() {
    let egress = to_loopback(None);
    let (silent, _one) = serve(|mut stream| async move {
        read_request(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    let (dripping, _two) = serve(|mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n").await;
        while stream.write_all(b".").await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await;
    for address in [silent, dripping] {
        let mut request = get(&format!("http://{address}/"));
        request.timeout_ms = 400;
        let error = fetch(authenticated(&egress), request).await.unwrap_err();
        assert_eq!(error, NetError::Timeout(Phase::Receive));
    }
}

#[tokio::test]
async fn certificates_are_verified_unless_told_otherwise() {
    let pki = Pki::new();
    // Verification uses the clock of the machine: this leaf is valid today.
    let mut params = crate::pki::leaf_params(&["site.example"]);
    (params.not_before, params.not_after) =
        (rcgen::date_time_ymd(2020, 1, 1), rcgen::date_time_ymd(9999, 1, 1));
    let root = long_lived_root();
    let leaf = crate::pki::issue(params, &root);
    let config = server_config(std::slice::from_ref(&leaf.der), &leaf.key, None);
    let (address, _server) = says_secure(config).await;
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let allow = || policy(&["127.0.0.1/32"], &[]);
    let (trusting, stranger) =
        (crate::pki::trusting(&[&root], allow(), Some(&dns)), pki.egress(allow(), Some(&dns)));
    let request = |host: &str, verify| {
        let mut request = get(&format!("https://{host}:{}/", address.port()));
        request.verify_tls = verify;
        request
    };
    let response = fetch(authenticated(&trusting), request("site.example", true)).await.unwrap();
    assert_eq!(response.body, b"secure");
    assert!(response.timing.tls_us.is_some());
    for (egress, host) in [(&stranger, "site.example"), (&trusting, "other.example")] {
        let error = fetch(authenticated(egress), request(host, true)).await.unwrap_err();
        assert!(matches!(error, NetError::Tls(_)), "{host}: {error}");
        assert!(fetch(authenticated(egress), request(host, false)).await.is_ok(), "{host}");
    }
}

/// What `openssl req -x509` makes: a server certificate that says it is a CA.
#[tokio::test]
async fn a_leaf_that_says_it_is_a_ca_is_verified_as_the_ssl_check_does() {
    let mut params = crate::pki::leaf_params(&["site.example"]);
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    (params.not_before, params.not_after) =
        (rcgen::date_time_ymd(2020, 1, 1), rcgen::date_time_ymd(9999, 1, 1));
    let own = crate::pki::Ca::self_signed(params, rcgen::KeyPair::generate().unwrap()).unwrap();
    let config = server_config(&[crate::pki::der(&own)], own.key(), None);
    let (address, _server) = says_secure(config).await;
    let dns = Dns::fixed(&["127.0.0.1"]).await;
    let allow = || policy(&["127.0.0.1/32"], &[]);
    let trusting = crate::pki::trusting(&[&own], allow(), Some(&dns));
    let stranger = Pki::new().egress(allow(), Some(&dns));
    let request = |host: &str| get(&format!("https://{host}:{}/", address.port()));
    let response = fetch(authenticated(&trusting), request("site.example")).await.unwrap();
    assert_eq!(response.body, b"secure");
    for (egress, host, token) in [
        (&stranger, "site.example", "self_signed_certificate"),
        (&trusting, "other.example", "hostname_mismatch"),
    ] {
        let error = fetch(authenticated(egress), request(host)).await.unwrap_err();
        let NetError::Tls(said) = &error else { panic!("{host}: {error}") };
        assert!(said.starts_with(&format!("certificate {token} ")), "{host}: {said}");
    }
}

#[tokio::test]
async fn a_server_that_closes_without_saying_so_in_tls_is_read_to_its_end() {
    /// What is sent; the body, or why there is none.
    type Case = (&'static [u8], Result<&'static [u8], NetError>);

    let pki = Pki::new();
    let leaf = pki.leaf(&["site.example"]);
    let egress = to_loopback(None);
    let table: [Case; 7] = [
        (b"HTTP/1.0 200 OK\r\n\r\nto the end", Ok(b"to the end")),
        (b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n", Ok(b"")),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfour", Ok(b"four")),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", Err(NetError::Reset)),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nha", Err(NetError::Reset)),
        (b"HTTP/1.1 200 OK\r\ncontent-le", Err(NetError::Reset)),
        (b"", Err(NetError::Reset)),
    ];
    for (answer, expected) in table {
        let config = server_config(&pki.chain(&leaf), &leaf.key, None);
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let (address, _server) = serve(move |stream| {
            let acceptor = acceptor.clone();
            async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                read_request(&mut stream).await;
                let _ = stream.write_all(answer).await;
                let _ = stream.flush().await;
                // Of the connection alone: no `close_notify`.
                let _ = stream.get_mut().0.shutdown().await;
            }
        })
        .await;
        let mut request = get(&format!("https://{address}/"));
        request.verify_tls = false;
        let read = fetch(authenticated(&egress), request).await.map(|response| response.body);
        let said = String::from_utf8_lossy(answer);
        assert_eq!(read, expected.map(<[u8]>::to_vec), "{said}");
    }
}

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
    let pki = Pki::new();
    let leaf = pki.leaf(&["site.example"]);
    let mut config = server_config(&pki.chain(&leaf), &leaf.key, None);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    serve(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let builder = http2::Builder::new(TokioExecutor::new());
            let _ = builder.serve_connection(TokioIo::new(stream), service_fn(answer)).await;
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

/// A server that answers `secure` to every request.
async fn says_secure(config: ServerConfig) -> (SocketAddr, impl Sized) {
    let acceptor = TlsAcceptor::from(Arc::new(config));
    serve(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            read_request(&mut stream).await;
            let _ = stream.write_all(&ok("", b"secure")).await;
            let _ = stream.shutdown().await;
        }
    })
    .await
}

fn long_lived_root() -> crate::pki::Ca {
    let mut params = crate::pki::ca_params("Long Root");
    (params.not_before, params.not_after) =
        (rcgen::date_time_ymd(2020, 1, 1), rcgen::date_time_ymd(9999, 1, 1));
    crate::pki::Ca::self_signed(params, rcgen::KeyPair::generate().unwrap()).unwrap()
}

async fn encode<E: AsyncWrite + Unpin>(mut encoder: E, bytes: &[u8]) -> E {
    encoder.write_all(bytes).await.unwrap();
    encoder.shutdown().await.unwrap();
    encoder
}
