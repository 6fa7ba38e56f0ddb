//! HTTP: what a request says and what is read of an answer.

mod body;
mod broken;
mod http2;
mod tls;

use crate::{
    egress::NetError,
    lab::{Dns, Http, authenticated, ok, to_loopback},
    probes::http::fetch,
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
