//! What a connection may cost: HTTP/2 in clear, heads with an end, silence with an end.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::world::World;

/// The service waits ten seconds for a first word, and thirty for a whole head; whatever is silent is
/// over after a hundred.
const PATIENCE: Duration = Duration::from_secs(75);
/// Below the fifteen that a body may pause, and enough for a busy machine.
const AT_ONCE: Duration = Duration::from_secs(12);
/// The body is late by chance: in one round it may be there with its head.
const ROUNDS: usize = 8;

#[tokio::test(flavor = "multi_thread")]
async fn http_2_works_in_clear_for_who_knows_beforehand() {
    let world = World::start().await;
    let http = reqwest::Client::builder().no_proxy().http2_prior_knowledge().build();
    let http = http.expect("a client without a proxy has nothing to fail on");
    let url = format!("http://{}/v1/sites", world.service.api);
    let answer = http.get(url).bearer_auth(&world.owner.key).send().await.expect("an answer");
    assert_eq!((answer.status().as_u16(), answer.version()), (200, reqwest::Version::HTTP_2));
    assert!(answer.headers().contains_key("x-ratelimit-remaining"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_without_end_is_refused() {
    let world = World::start().await;
    let fields = |count: usize, size: usize| -> String {
        let value = "x".repeat(size);
        (0..count).map(|number| format!("x-filler-{number}: {value}\r\n")).collect()
    };
    for filler in [fields(1, 20 << 10), fields(300, 8)] {
        let head = format!("GET /v1/sites HTTP/1.1\r\nhost: localhost\r\n{filler}\r\n");
        let answer = say(&world, head.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
    world.owner.client.get("/sites").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_says_nothing_or_half_a_head_is_shown_out() {
    let world = World::start().await;
    let (silent, half) =
        tokio::join!(say(&world, b""), say(&world, b"GET /v1/sites HTTP/1.1\r\nhost: local"));
    assert_eq!(silent, "");
    assert!(!half.contains(" 200 "), "{half}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_announced_too_large_is_not_waited_for() {
    let world = World::start().await;
    let key = &world.owner.key;
    for (expect, body) in [("", "{}"), ("expect: 100-continue\r\n", "")] {
        let request = format!(
            "POST /v1/sites HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n\
             content-type: application/json\r\n{expect}content-length: 65537\r\n\r\n{body}"
        );
        let answer = timeout(AT_ONCE, say(&world, request.as_bytes())).await.expect("it knows");
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_nobody_reads_does_not_end_the_connection() {
    let world = World::start().await;
    let credential: &str = &format!("authorization: Bearer {}\r\n", world.owner.key);
    let mut stream = TcpStream::connect(world.service.api).await.expect("it listens");
    stream.set_nodelay(true).expect("a socket");
    for _ in 0..ROUNDS {
        for (request, credential, status) in [
            ("POST /v1/sites", "", 401),
            ("POST /v1/nowhere", "", 404),
            ("PUT /v1/sites", credential, 405),
            ("GET /v1/sites", credential, 200),
            ("POST /v1/settings/notifications", credential, 200),
        ] {
            let head = format!(
                "{request} HTTP/1.1\r\nhost: localhost\r\n{credential}content-length: 2\r\n\r\n"
            );
            // As most clients do, in two pieces: the answer is known before the body is there.
            stream.write_all(head.as_bytes()).await.expect("it reads");
            stream.write_all(b"{}").await.expect("it reads on");
            let answer = timeout(AT_ONCE, next(&mut stream)).await.expect("an answer");
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {answer}");
            assert!(!answer.contains("connection: close"), "{request}: {answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_all_before_reading_finds_the_answer() {
    let world = World::start().await;
    let credential: &str = &format!("authorization: Bearer {}\r\n", world.owner.key);
    let body = vec![b' '; 10 << 20];
    let mut stream = TcpStream::connect(world.service.api).await.expect("it listens");
    for (credential, status) in [("", 401), (credential, 413)] {
        let head = format!(
            "POST /v1/sites HTTP/1.1\r\nhost: localhost\r\n{credential}\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.expect("it reads");
        stream.write_all(&body).await.expect("it reads to the end");
        let answer = timeout(AT_ONCE, next(&mut stream)).await.expect("an answer");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(!answer.contains("connection: close"), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_ends_the_connection_says_so() {
    let world = World::start().await;
    for (request, status) in [("POST /v1/sites", 401), ("PUT /v1/sites", 405)] {
        for expect in ["", "expect: 100-continue\r\n"] {
            let head = format!(
                "{request} HTTP/1.1\r\nhost: localhost\r\n{expect}content-length: 2\r\n\r\n"
            );
            let answer = timeout(AT_ONCE, say(&world, head.as_bytes())).await.expect("an end");
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {answer}");
            assert!(answer.contains("\r\nconnection: close\r\n"), "{request}: {answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_names_one_host() {
    let world = World::start().await;
    let credential = format!("authorization: Bearer {}\r\nconnection: close\r\n", world.owner.key);
    for (version, hosts, status) in [
        ("1.1", "", 400),
        ("1.1", "host: localhost\r\nhost: other.example\r\n", 400),
        ("1.1", "host: localhost\r\n", 200),
        ("1.0", "", 200),
    ] {
        let head = format!("GET /v1/sites HTTP/{version}\r\n{hosts}{credential}\r\n");
        let answer = timeout(AT_ONCE, say(&world, head.as_bytes())).await.expect("an end");
        assert_eq!(answer.get(9..12), Some(status.to_string().as_str()), "{head}{answer}");
        assert!(answer.contains("\r\nx-ratelimit-remaining: "), "{head}{answer}");
    }
}

/// The head of the next answer, of which the body was read too; the connection goes on.
async fn next(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("the connection goes on"));
    }
    let head = String::from_utf8(head).expect("text");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.expect("a length").parse().expect("a number");
    stream.read_exact(&mut vec![0; length]).await.expect("the whole body");
    head
}

/// All that comes back until the service closes the connection.
async fn say(world: &World, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(world.service.api).await.expect("it listens");
    stream.write_all(bytes).await.expect("it reads");
    let mut answer = Vec::new();
    // A service that closes on unread bytes resets the connection, with the answer or after it.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("the end in time");
    String::from_utf8_lossy(&answer).into_owned()
}
