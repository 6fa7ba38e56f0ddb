//! The dialogues before TLS.

use std::sync::Arc;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    egress::NetError,
    inspect::{accept, request},
    lab::{authenticated, policy, serve},
    pki::{Pki, server_config},
    probes::tls::{StartTls, inspect},
};

/// What a server says, and what it must hear: `>` lines are said, `<` lines expected.
type Play = &'static [&'static str];

const GOOD: [(StartTls, Play); 6] = [
    (
        StartTls::Smtp,
        &[
            ">220-mail.example\r\n220 ready\r\n",
            "<EHLO vedette.invalid\r\n",
            ">250-mail.example\r\n250-SIZE 1\r\n250 STARTTLS\r\n",
            "<STARTTLS\r\n",
            ">220 go\r\n",
        ],
    ),
    (
        StartTls::Imap,
        &[">* OK ready\r\n", "<a STARTTLS\r\n", ">* CAPABILITY IMAP4rev1\r\na OK begin\r\n"],
    ),
    (StartTls::Pop3, &[">+OK ready\r\n", "<STLS\r\n", ">+OK begin\r\n"]),
    (StartTls::Ftp, &[">220-hello\r\n free text\r\n220 ready\r\n", "<AUTH TLS\r\n", ">234 go\r\n"]),
    (StartTls::Postgres, &["<\0\0\0\u{8}\u{4}\u{d2}\u{16}\u{2f}", ">S"]),
    (
        StartTls::Xmpp,
        &[
            "<<?xml version='1.0'?><stream:stream to='site.example' version='1.0' \
             xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>",
            "><stream:stream id='1'><stream:features><starttls/></stream:features>",
            "<<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>",
            "><proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>",
        ],
    ),
];

#[tokio::test]
async fn every_dialogue_leads_to_a_handshake() {
    let pki = Pki::new();
    let leaf = pki.leaf(&["site.example"]);
    let chain = pki.chain(&leaf);
    let egress = pki.egress(policy(&["127.0.0.1/32"], &[]), None);
    for (protocol, play) in GOOD {
        let config = Arc::new(server_config(&chain, &leaf.key, None));
        let (address, _server) = serve(move |mut stream| {
            let config = Arc::clone(&config);
            async move {
                perform(play, &mut stream).await;
                accept(stream, config).await;
            }
        })
        .await;
        let mut request = request("site.example", address.port());
        request.endpoint.connect_to = Some("127.0.0.1".to_owned());
        request.starttls = Some(protocol);
        let report = inspect(authenticated(&egress), request).await;
        let report = report.unwrap_or_else(|error| panic!("{protocol:?}: {error}"));
        assert_eq!(report.chain, chain, "{protocol:?}");
        assert_eq!(report.examination.verification.error, None, "{protocol:?}");
    }
}

#[tokio::test]
async fn a_server_that_declines_is_not_quoted() {
    let declining: [(StartTls, Play); 6] = [
        (StartTls::Smtp, &[">554 go away, secret\r\n"]),
        (StartTls::Imap, &[">* BYE secret\r\n"]),
        (StartTls::Pop3, &[">+OK\r\n", "<STLS\r\n", ">-ERR secret\r\n"]),
        (StartTls::Ftp, &[">220 ready\r\n", "<AUTH TLS\r\n", ">500 secret\r\n"]),
        (StartTls::Postgres, &[">N"]),
        (StartTls::Smtp, &[">SSH-2.0-secret\r\n"]),
    ];
    let egress = crate::lab::to_loopback(None);
    for (protocol, play) in declining {
        let (address, _server) = serve(move |mut stream| async move {
            perform(play, &mut stream).await;
            let _ = stream.shutdown().await;
            let _ = stream.read(&mut [0; 64]).await;
        })
        .await;
        let mut request = request("127.0.0.1", address.port());
        request.starttls = Some(protocol);
        let error = inspect(authenticated(&egress), request).await.unwrap_err();
        let expected = matches!(error, NetError::Protocol(_) | NetError::Reset);
        assert!(expected && !error.to_string().contains("secret"), "{protocol:?}: {error}");
    }
}

#[tokio::test]
async fn an_endless_greeting_is_cut_off() {
    let (address, _server) = serve(|mut stream| async move {
        while stream.write_all(b"220-and another thing\r\n").await.is_ok() {}
    })
    .await;
    let mut request = request("127.0.0.1", address.port());
    request.starttls = Some(StartTls::Smtp);
    request.timeout_ms = 20_000;
    let egress = crate::lab::to_loopback(None);
    let error = inspect(authenticated(&egress), request).await.unwrap_err();
    assert!(matches!(error, NetError::Protocol(_)), "{error}");
}

async fn perform(play: Play, stream: &mut TcpStream) {
    for line in play {
        let (direction, text) = line.split_at(1);
        let bytes: Vec<u8> = text.chars().map(|c| c as u32 as u8).collect();
        if direction == ">" {
            stream.write_all(&bytes).await.unwrap();
        } else {
            let mut heard = vec![0; bytes.len()];
            stream.read_exact(&mut heard).await.unwrap();
            assert_eq!(heard, bytes);
        }
    }
}
