//! Exchanges and dialogues over TCP.

use std::sync::Arc;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::Notify,
};
use tokio_rustls::TlsAcceptor;

use crate::{
    egress::{NetError, Phase},
    lab::{ClosedPort, authenticated, endpoint, serve, to_loopback},
    pki::{Pki, server_config},
    probes::tcp::{Connection, ExchangeRequest, exchange, exchange_many},
};

#[tokio::test]
async fn an_exchange_reads_to_the_end_or_the_maximum() {
    let (address, _server) = serve(|mut stream| async move {
        let mut query = [0; 5];
        let _ = stream.read_exact(&mut query).await;
        let _ = stream.write_all(&query).await;
        let _ = stream.write_all(b" answered").await;
    })
    .await;
    let egress = to_loopback(None);
    let mut request = request(address.port());
    request.send = b"hello".to_vec();
    let answer = exchange(authenticated(&egress), request.clone()).await.unwrap();
    assert_eq!(answer, b"hello answered");
    request.max = 7;
    assert_eq!(exchange(authenticated(&egress), request).await.unwrap(), b"hello a");
}

#[tokio::test]
async fn what_came_before_trouble_is_the_answer() {
    let egress = to_loopback(None);
    let (stalls, _one) = serve(|mut stream| async move {
        let _ = stream.write_all(b"part").await;
        std::future::pending::<()>().await;
    })
    .await;
    let (resets, _two) = serve(|mut stream| async move {
        let _ = stream.write_all(b"part").await;
        let mut first = [0; 1];
        let _ = stream.read(&mut first).await; // the rest stays unread: closing resets
    })
    .await;
    for address in [stalls, resets] {
        let mut request = request(address.port());
        request.send = vec![0; 1000];
        request.timeout_ms = 3_000;
        assert_eq!(exchange(authenticated(&egress), request).await.unwrap(), b"part");
    }
}

#[tokio::test]
async fn an_exchange_fails_only_when_nothing_came() {
    let egress = to_loopback(None);
    let (mute, _one) = serve(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let (closes, _two) = serve(|_| async {}).await;
    let closed = ClosedPort::new();
    let mut requests = [mute.port(), closes.port(), closed.port].map(request).to_vec();
    requests.iter_mut().for_each(|request| request.timeout_ms = 3_000);
    let answers = exchange_many(authenticated(&egress), requests).await;
    assert_eq!(answers[0], Err(NetError::Timeout(Phase::Receive)));
    assert_eq!(answers[1], Ok(Vec::new()), "closed without a word");
    assert_eq!(answers[2], Err(NetError::Refused));
}

#[tokio::test]
async fn many_exchanges_keep_their_order() {
    let answered: Arc<[Notify; 10]> = Arc::default();
    let (address, _server) = serve(move |mut stream| {
        let answered = Arc::clone(&answered);
        async move {
            let number = stream.read_u8().await.unwrap_or_default();
            // Of two in a row the second is answered first.
            if number % 2 == 0 {
                answered[usize::from(number) + 1].notified().await;
            }
            let _ = stream.write_u8(number).await;
            answered[usize::from(number)].notify_one();
        }
    })
    .await;
    let requests = (0..10).map(|number| {
        let mut request = request(address.port());
        request.send = vec![number];
        request
    });
    let egress = to_loopback(None);
    let answers = exchange_many(authenticated(&egress), requests.collect()).await;
    let answers: Vec<_> = answers.into_iter().flatten().flatten().collect();
    assert_eq!(answers, (0..10).collect::<Vec<u8>>());
}

#[tokio::test]
async fn a_dialogue_writes_reads_and_goes_on_inside_tls() {
    let pki = Pki::new();
    let leaf = pki.leaf(&["site.example"]);
    let config = Arc::new(server_config(&pki.chain(&leaf), &leaf.key, None));
    let (address, _server) = serve(move |mut stream| {
        let acceptor = TlsAcceptor::from(Arc::clone(&config));
        async move {
            let _ = stream.write_all(b"ready\n").await;
            let mut word = [0; 6];
            let _ = stream.read_exact(&mut word).await;
            let mut stream = acceptor.accept(stream).await.unwrap();
            let _ = stream.write_all(b"inside\n").await;
            let _ = stream.read_exact(&mut word).await;
            let _ = stream.write_all(&word).await;
            let _ = stream.shutdown().await;
        }
    })
    .await;
    let egress = to_loopback(None);
    let target = endpoint("127.0.0.1", address.port());
    let mut dialogue = Connection::connect(authenticated(&egress), target, WITHIN).await.unwrap();
    assert_eq!(dialogue.read(64, WITHIN).await.unwrap(), b"ready\n");
    assert_eq!(dialogue.read(64, 50).await, Err(NetError::Timeout(Phase::Receive)));
    dialogue.write(b"STLS\r\n".to_vec(), WITHIN).await.unwrap();
    dialogue.start_tls("site.example".to_owned(), WITHIN).await.unwrap();
    assert_eq!(dialogue.read(64, WITHIN).await.unwrap(), b"inside\n");
    dialogue.write(b"abcdef".to_vec(), WITHIN).await.unwrap();
    assert_eq!(dialogue.read(3, WITHIN).await.unwrap(), b"abc", "the rest is kept");
    assert_eq!(dialogue.read(64, WITHIN).await.unwrap(), b"def");
    assert_eq!(dialogue.read(64, WITHIN).await.unwrap(), b"", "the end");
}

/// Milliseconds that are enough for a busy machine.
const WITHIN: u32 = 15_000;

fn request(port: u16) -> ExchangeRequest {
    let endpoint = endpoint("127.0.0.1", port);
    ExchangeRequest { endpoint, send: Vec::new(), max: 1000, timeout_ms: WITHIN }
}
