//! What a connection may cost: HTTP/2 in clear, heads with an end, silence with an end.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::world::World;

/// The service waits ten seconds for a first word, and thirty for a whole head.
const PATIENCE: Duration = Duration::from_secs(45);
/// Well below the fifteen that a body may pause.
const AT_ONCE: Duration = Duration::from_secs(8);

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

/// All that comes back until the service closes the connection.
async fn say(world: &World, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(world.service.api).await.expect("it listens");
    stream.write_all(bytes).await.expect("it reads");
    let mut answer = Vec::new();
    // A service that closes on unread bytes resets the connection, with the answer or after it.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("the end in time");
    String::from_utf8_lossy(&answer).into_owned()
}
