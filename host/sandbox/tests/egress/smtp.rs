//! Mail: who is dialled, and that what a relay says gives nothing of ours away.

use std::{
    future::pending,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    sync::Barrier,
};
use tokio_util::task::AbortOnDropHandle;
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

/// The sender is the operator's, and so is the login: neither is a fault of the mail.
#[tokio::test]
async fn relay_that_wants_a_login_at_the_sender_has_let_nobody_in() {
    for (answer, is_ours) in [("530 log in", true), ("535 not like this", true), ("553 no", false)]
    {
        let (address, _server) = serve(move |stream| async move {
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            stream.write_all(b"220 hello\r\n").await.unwrap();
            while stream.read_line(&mut line).await.unwrap_or(0) > 0 {
                let answer = if line.starts_with("MAIL") { answer } else { "250 ok" };
                line.clear();
                if stream.write_all(format!("{answer}\r\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        })
        .await;
        let outcome = send(&format!("smtp://{address}")).await;
        match outcome {
            Err(NotSent::TurnedAway(said)) => assert!(is_ours && said.contains(answer), "{said}"),
            Err(NotSent::Never(said)) => assert!(!is_ours && said.contains(answer), "{said}"),
            other => panic!("{answer}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn relay_that_ends_its_lines_with_a_bare_lf_is_understood() {
    let relay = OldRelay::new("250-hello\n250 SIZE 1000000\n").await;
    assert_eq!(send(&relay.url("")).await, Ok(()));
    assert_eq!(relay.verbs(), ["EHLO", "MAIL", "RCPT", "DATA"]);
}

#[tokio::test]
async fn relay_that_knows_no_ehlo_is_greeted_with_helo() {
    for refusal in ["500 what\r\n", "502-not\r\n502 here\r\n", "550 no\n"] {
        let relay = OldRelay::new(refusal).await;
        assert_eq!(send(&relay.url("")).await, Ok(()), "{refusal}");
        assert_eq!(relay.verbs(), ["EHLO", "QUIT", "HELO", "MAIL", "RCPT", "DATA"], "{refusal}");
    }
    let relay = OldRelay::new("500 what\r\n").await;
    assert_eq!(send(&relay.url("?tls=opportunistic")).await, Ok(()));
}

#[tokio::test]
async fn without_ehlo_there_is_neither_login_nor_tls() {
    let away =
        |reason: &str| -> Result<(), NotSent> { Err(NotSent::TurnedAway(reason.to_owned())) };
    let relay = OldRelay::new("502 not here\r\n").await;
    let login = relay.url("").replace("//", "//user:hunter2@");
    let refused = away("the mail relay refuses EHLO, and so accepts no login");
    assert_eq!(send(&login).await, refused);
    let refused = away("the mail relay did not agree to TLS");
    assert_eq!(send(&relay.url("?tls=required")).await, refused);
    assert!(!relay.verbs().contains(&"MAIL".to_owned()));
}

#[tokio::test]
async fn relay_that_turns_us_away_is_not_asked_twice() {
    let relay = OldRelay::new("554 no mail from you\r\n").await;
    let reason = "the mail relay turned us away: 554 no mail from you".to_owned();
    assert_eq!(send(&relay.url("")).await, Err(NotSent::TurnedAway(reason)));
    assert_eq!(relay.verbs(), ["EHLO", "QUIT"]);
}

#[tokio::test]
async fn relay_that_lets_in_nobody_is_dialled_anew_after_a_moment_only() {
    let reason = "the mail relay turned us away: 554 not now".to_owned();
    let away: Result<(), NotSent> = Err(NotSent::TurnedAway(reason));
    // A busy machine may take longer than the moment.
    for _ in 0..5 {
        let server = OldRelay::new("554 not now\r\n").await;
        let egress = egress(Policy::default(), None);
        let relay = Relay::new(egress, &server.url(""), "alerts@watch.example").unwrap();
        let dialled = || server.verbs().iter().filter(|verb| *verb == "EHLO").count();
        let begun = Instant::now();
        let both = [send_by(&relay).await, send_by(&relay).await];
        let in_time = begun.elapsed() < Duration::from_millis(500);
        assert_eq!(both, [away.clone(), away.clone()]);
        if in_time {
            assert_eq!(dialled(), 1);
            while dialled() == 1 {
                tokio::time::sleep(Duration::from_millis(50)).await;
                assert_eq!(send_by(&relay).await, away);
            }
            return;
        }
    }
    panic!("two mails took half a second each time");
}

#[tokio::test]
async fn relay_that_takes_mail_has_shut_out_only_what_came_beside_it() {
    let (first, count) = (Arc::new(Barrier::new(2)), AtomicUsize::new(0));
    let taken = Arc::clone(&first);
    let (address, _server) = serve(move |stream| {
        let nth = count.fetch_add(1, Ordering::Relaxed);
        let taken = Arc::clone(&taken);
        async move {
            match nth {
                0 => one_mail(stream, &taken).await,
                1 => converse(stream, "554 one at a time\n", &Mutex::default(), None).await,
                _ => converse(stream, "250 hello\n", &Mutex::default(), None).await,
            }
        }
    })
    .await;
    let egress = egress(Policy::default(), None);
    let relay = Relay::new(egress, &format!("smtp://{address}"), "alerts@watch.example").unwrap();
    let beside = async {
        first.wait().await;
        let sent = send_by(&relay).await;
        first.wait().await;
        sent
    };
    let (sent, turned_away) = tokio::join!(send_by(&relay), beside);
    assert_eq!(sent, Ok(()));
    assert!(matches!(turned_away, Err(NotSent::TurnedAway(_))), "{turned_away:?}");
    assert_eq!(send_by(&relay).await, Ok(()), "by a connection of its own");
}

#[tokio::test]
async fn relay_that_is_silent_before_its_greeting_lets_nobody_in() {
    let (address, _server) = serve(|stream| async move {
        let _open = stream;
        pending().await
    })
    .await;
    let egress = egress(Policy::default(), None);
    let relay = Relay::new(egress, &format!("smtp://{address}"), "alerts@watch.example").unwrap();
    let reason = "the mail relay did not answer in time".to_owned();
    let sent = send_within(&relay, Duration::from_secs(1)).await;
    assert_eq!(sent, Err(NotSent::TurnedAway(reason)));
}

#[tokio::test]
async fn relay_that_hangs_up_on_the_sender_has_let_us_in() {
    for (farewell, reason) in [
        ("", "the connection to the mail relay broke"),
        ("421 too many\r\n", "the mail relay refused the sender for now: 421 too many"),
    ] {
        let (address, _server) = serve(move |stream| async move {
            let mut stream = BufReader::new(stream);
            for answer in ["220 hello\r\n", "250 hello\r\n"] {
                stream.write_all(answer.as_bytes()).await.unwrap();
                stream.read_line(&mut String::new()).await.unwrap();
            }
            stream.write_all(farewell.as_bytes()).await.unwrap();
        })
        .await;
        let sent = send(&format!("smtp://{address}")).await;
        assert_eq!(sent, Err(NotSent::HungUp(reason.to_owned())), "{farewell}");
    }
}

#[tokio::test]
async fn mail_goes_by_a_new_connection_once_the_idle_ones_are_forgotten() {
    let (verbs, count) = (Arc::new(Mutex::new(Vec::new())), AtomicUsize::new(0));
    let (seen, both) = (Arc::clone(&verbs), Arc::new(Barrier::new(2)));
    let (address, _server) = serve(move |stream| {
        let is_forgotten = count.fetch_add(1, Ordering::Relaxed) < 2;
        let (seen, both) = (Arc::clone(&seen), Arc::clone(&both));
        async move {
            if !is_forgotten {
                return converse(stream, "250 hello\n", &seen, None).await;
            }
            both.wait().await;
            converse(stream, "250 hello\n", &seen, Some("RSET")).await;
        }
    })
    .await;
    let egress = egress(Policy::default(), None);
    let relay = Relay::new(egress, &format!("smtp://{address}"), "alerts@watch.example").unwrap();
    assert_eq!(tokio::join!(send_by(&relay), send_by(&relay)), (Ok(()), Ok(())));
    assert_eq!(send_by(&relay).await, Ok(()));
    let told = |verb: &str| verbs.lock().iter().filter(|told| *told == verb).count();
    assert_eq!((told("RSET"), told("EHLO"), told("DATA")), (1, 3, 3), "one is asked for both");
    // The new one is used on.
    assert_eq!(send_by(&relay).await, Ok(()));
    assert_eq!((told("RSET"), told("EHLO"), told("DATA")), (2, 3, 4));
}

/// A relay that answers EHLO with this, and takes everything else.
struct OldRelay {
    address: SocketAddr,
    verbs: Arc<Mutex<Vec<String>>>,
    _server: AbortOnDropHandle<()>,
}

impl OldRelay {
    async fn new(to_ehlo: &'static str) -> Self {
        let verbs = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&verbs);
        let (address, server) = serve(move |stream| {
            let seen = Arc::clone(&seen);
            async move { converse(stream, to_ehlo, &seen, None).await }
        })
        .await;
        Self { address, verbs, _server: server }
    }

    fn url(&self, query: &str) -> String {
        format!("smtp://{}{query}", self.address)
    }

    /// What it was told, by the first word, without the message.
    fn verbs(&self) -> Vec<String> {
        self.verbs.lock().clone()
    }
}

/// A relay's side of a connection. Once it has heard `last` it answers nothing any more, and does not
/// hang up either.
async fn converse(
    stream: TcpStream,
    to_ehlo: &'static str,
    seen: &Mutex<Vec<String>>,
    last: Option<&str>,
) {
    let mut stream = BufReader::new(stream);
    let (mut line, mut in_message) = (String::new(), false);
    let mut answer = "220 hello\n";
    loop {
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
        line.clear();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            return;
        }
        if in_message {
            in_message = line != ".\r\n";
            answer = if in_message { "" } else { "250 taken\n" };
            continue;
        }
        let verb = line.get(..4).unwrap_or_default();
        seen.lock().push(verb.to_owned());
        if last == Some(verb) {
            return pending().await;
        }
        in_message = verb == "DATA";
        answer = match verb {
            "EHLO" => to_ehlo,
            "DATA" => "354 go on\n",
            "QUIT" => "221 bye\n",
            _ => "250 ok\n",
        };
    }
}

/// A relay that takes one mail and hangs up; at its sender it waits for somebody twice.
async fn one_mail(stream: TcpStream, beside: &Barrier) {
    let (mut stream, mut line) = (BufReader::new(stream), String::new());
    for answer in ["220 hello\n", "250 hello\n", "250 ok\n", "250 ok\n", "354 go on\n"] {
        stream.write_all(answer.as_bytes()).await.unwrap();
        line.clear();
        stream.read_line(&mut line).await.unwrap();
        if line.starts_with("MAIL") {
            beside.wait().await;
            beside.wait().await;
        }
    }
    while line != ".\r\n" {
        line.clear();
        assert!(stream.read_line(&mut line).await.unwrap() > 0);
    }
    stream.write_all(b"250 taken\n").await.unwrap();
}

/// Why there was no connection that takes mail.
async fn not_sent(relay: &Relay) -> String {
    match send_by(relay).await {
        Err(NotSent::TurnedAway(reason)) => reason,
        other => panic!("expected to be let in by nobody, got {other:?}"),
    }
}

async fn send(url: &str) -> Result<(), NotSent> {
    let egress = egress(Policy::default(), None);
    send_by(&Relay::new(egress, url, "alerts@watch.example").unwrap()).await
}

async fn send_by(relay: &Relay) -> Result<(), NotSent> {
    send_within(relay, Duration::from_secs(10)).await
}

async fn send_within(relay: &Relay, time: Duration) -> Result<(), NotSent> {
    let mail = Mail {
        to: "ops@example.com",
        subject: "subject",
        text: "text",
        html: None,
        id: Uuid::from_u128(7),
        delivery: DeliveryId(Uuid::from_u128(8)),
        thread: None,
        created_at: now(),
    };
    let deadline = Instant::now() + time;
    let turn = relay.turn(deadline).await.expect("nobody else sends");
    relay.send(&turn, &mail, deadline).await
}
