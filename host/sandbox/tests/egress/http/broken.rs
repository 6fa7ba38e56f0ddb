//! Answers that are no HTTP, break off or never end.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;

use crate::{
    egress::{Audience, HttpRequest, NetError, Phase},
    lab::{Http, authenticated, ok, read_request, serve, to_loopback, to_loopback_reading},
    probes::http::{fetch, fetch_partial},
    vectors::get,
};

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
        request.timeout_ms = 3_000;
        let arrival = fetch_partial(authenticated(&egress), request).await.unwrap();
        assert_eq!(arrival.failure, Some(NetError::Timeout(Phase::Receive)));
        let response = arrival.response;
        assert_eq!((response.status, response.body.len(), response.truncated), (status, 0, true));
        assert!(response.headers.contains(&("x-answer".to_owned(), "yes".to_owned())));
        assert_eq!(response.peer_address, "127.0.0.1");
        let timing = response.timing;
        assert!(timing.connect_us.is_some());
        assert!(timing.first_byte_us.unwrap() < timing.total_us, "{timing:?}");
        assert!(timing.total_us >= 2_900_000, "as long as it was waited for: {timing:?}");
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
async fn a_server_that_never_comes_to_its_answer_is_not_listened_to_for_ever() {
    let interim = format!("HTTP/1.1 103 Early Hints\r\nx-hint: {}\r\n\r\n", "y".repeat(30_000));
    let (address, _server) = serve(move |mut stream| {
        let interim = interim.clone();
        async move {
            read_request(&mut stream).await;
            while stream.write_all(interim.as_bytes()).await.is_ok() {}
        }
    })
    .await;
    let request = get(&format!("http://{address}/"));
    let egress = to_loopback_reading(256 << 10);
    let error = fetch(authenticated(&egress), request).await.unwrap_err();
    assert_eq!(error, NetError::TooLarge(256 << 10));
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
        request.timeout_ms = 3_000;
        let error = fetch(authenticated(&egress), request).await.unwrap_err();
        assert_eq!(error, NetError::Timeout(Phase::Receive));
    }
}
