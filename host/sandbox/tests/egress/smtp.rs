//! Mail: who is dialled, and that what a relay says gives nothing of ours away.

use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use uuid::Uuid;
use vedette_model::DeliveryId;

use crate::{
    egress::{
        Policy,
        smtp::{Mail, NotSent, Relay},
    },
    lab::{Canary, egress, now, serve},
};

#[tokio::test]
async fn relay_that_is_denied_is_not_dialled() {
    let canary = Canary::on("127.0.0.1").await;
    let deny = Policy { deny: vec!["127.0.0.0/8".parse().unwrap()], ..Policy::default() };
    let url = format!("smtp://user:hunter2@{}", canary.address);
    let relay = Relay::new(egress(deny, None), &url, "alerts@watch.example").unwrap();
    let reason = not_sent(&relay).await;
    assert!(!reason.contains("hunter2") && reason.contains("egress.deny"), "{reason}");
    canary.assert_untouched().await;
}

#[tokio::test]
async fn relay_that_quotes_the_login_is_not_quoted() {
    let (address, _server) = serve(|stream| async move {
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.write_all(b"220 hello\r\n").await.unwrap();
        while stream.read_line(&mut line).await.unwrap_or(0) > 0 {
            let answer: &[u8] = match line.get(..4) {
                Some("EHLO") => b"250-hello\r\n250 AUTH PLAIN\r\n",
                Some("AUTH") => b"535 user with hunter2 is unknown\r\n",
                _ => b"250 ok\r\n",
            };
            line.clear();
            if stream.write_all(answer).await.is_err() {
                return;
            }
        }
    })
    .await;
    let url = format!("smtp://user:hunter2@{address}");
    let relay = Relay::new(egress(Policy::default(), None), &url, "alerts@watch.example").unwrap();
    assert_eq!(not_sent(&relay).await, "the mail relay did not accept the configured login");
}

/// Why the mail could not be sent by now.
async fn not_sent(relay: &Relay) -> String {
    let mail = Mail {
        to: "ops@example.com",
        subject: "subject",
        text: "text",
        html: None,
        id: Uuid::from_u128(7),
        delivery: DeliveryId(Uuid::from_u128(8)),
        created_at: now(),
    };
    let deadline = Instant::now() + Duration::from_secs(10);
    let turn = relay.turn(deadline).await.expect("nobody else sends");
    match relay.send(&turn, &mail, deadline).await {
        Err(NotSent::Later(reason)) => reason,
        other => panic!("expected it to be tried later, got {other:?}"),
    }
}
