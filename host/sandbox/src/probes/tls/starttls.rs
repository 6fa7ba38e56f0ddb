//! The few words before TLS that mail, file, chat and database servers want to hear.

use std::time::Instant;

use tokio::{io::AsyncReadExt, net::TcpStream, time::timeout_at};

use crate::{
    egress::{NetError, Phase},
    probes::tcp::write,
};

/// A protocol that starts in clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartTls {
    Smtp,
    Imap,
    Pop3,
    Ftp,
    Postgres,
    Xmpp,
}

/// Speaks until the server is ready for the handshake. What it says is never quoted.
pub(crate) async fn begin(
    protocol: StartTls,
    stream: &mut TcpStream,
    domain: &str,
    deadline: Instant,
) -> Result<(), NetError> {
    let mut dialogue = Dialogue { stream, deadline, read: 0 };
    match protocol {
        StartTls::Smtp => dialogue.smtp().await,
        StartTls::Imap => dialogue.imap().await,
        StartTls::Pop3 => dialogue.pop3().await,
        StartTls::Ftp => dialogue.ftp().await,
        StartTls::Postgres => dialogue.postgres().await,
        StartTls::Xmpp => dialogue.xmpp(domain).await,
    }
}

struct Dialogue<'a> {
    stream: &'a mut TcpStream,
    deadline: Instant,
    read: usize,
}

impl Dialogue<'_> {
    /// RFC 3207.
    async fn smtp(&mut self) -> Result<(), NetError> {
        self.expect_reply("220").await?;
        self.say("EHLO vedette.invalid\r\n").await?;
        self.expect_reply("250").await?;
        self.say("STARTTLS\r\n").await?;
        self.expect_reply("220").await
    }

    /// RFC 4217.
    async fn ftp(&mut self) -> Result<(), NetError> {
        self.expect_reply("220").await?;
        self.say("AUTH TLS\r\n").await?;
        self.expect_reply("234").await
    }

    /// RFC 3501 section 6.2.1.
    async fn imap(&mut self) -> Result<(), NetError> {
        self.expect_line(|line| line.starts_with("* OK")).await?;
        self.say("a STARTTLS\r\n").await?;
        loop {
            let line = self.line().await?;
            if !line.starts_with("* ") {
                return if line.starts_with("a OK") { Ok(()) } else { Err(declined()) };
            }
        }
    }

    /// RFC 2595 section 4.
    async fn pop3(&mut self) -> Result<(), NetError> {
        self.expect_line(|line| line.starts_with("+OK")).await?;
        self.say("STLS\r\n").await?;
        self.expect_line(|line| line.starts_with("+OK")).await
    }

    /// SSLRequest: the length, then the code 80877103; the answer is one letter.
    async fn postgres(&mut self) -> Result<(), NetError> {
        write(self.stream, &[0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f], self.deadline).await?;
        if self.byte().await? == b'S' { Ok(()) } else { Err(declined()) }
    }

    /// RFC 6120 section 5.
    async fn xmpp(&mut self, domain: &str) -> Result<(), NetError> {
        // The domain is a parsed name or address: nothing in it needs escaping.
        self.say(&format!(
            "<?xml version='1.0'?><stream:stream to='{domain}' version='1.0' \
             xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>"
        ))
        .await?;
        self.until(&["</stream:features>", "<stream:features/>"]).await?;
        self.say("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>").await?;
        let answer = self.until(&[">"]).await?;
        if answer.contains("<proceed") { Ok(()) } else { Err(declined()) }
    }

    async fn say(&mut self, text: &str) -> Result<(), NetError> {
        write(self.stream, text.as_bytes(), self.deadline).await
    }

    /// A reply of one or several lines, `250-…` and at last `250 …`.
    async fn expect_reply(&mut self, code: &str) -> Result<(), NetError> {
        loop {
            let line = self.line().await?;
            if !line.starts_with(code) {
                // FTP puts free text between the first and the last line.
                if line
                    .as_bytes()
                    .get(..3)
                    .is_some_and(|start| start.iter().all(u8::is_ascii_digit))
                {
                    return Err(declined());
                }
            } else if line.as_bytes().get(3) != Some(&b'-') {
                return Ok(());
            }
        }
    }

    async fn expect_line(&mut self, good: impl Fn(&str) -> bool) -> Result<(), NetError> {
        let line = self.line().await?;
        if good(&line) { Ok(()) } else { Err(declined()) }
    }

    async fn line(&mut self) -> Result<String, NetError> {
        self.until(&["\n"]).await
    }

    /// Reads up to and with one of `ends`, byte by byte: what follows belongs to TLS.
    async fn until(&mut self, ends: &[&str]) -> Result<String, NetError> {
        let mut text = Vec::new();
        loop {
            text.push(self.byte().await?);
            if ends.iter().any(|end| text.ends_with(end.as_bytes())) {
                return Ok(String::from_utf8_lossy(&text).into_owned());
            }
        }
    }

    async fn byte(&mut self) -> Result<u8, NetError> {
        self.read += 1;
        if self.read > MAX_DIALOGUE {
            return Err(declined());
        }
        match timeout_at(self.deadline.into(), self.stream.read_u8()).await {
            Ok(Ok(byte)) => Ok(byte),
            Ok(Err(error)) => Err(NetError::from_io(&error, Phase::Handshake)),
            Err(_) => Err(NetError::Timeout(Phase::Handshake)),
        }
    }
}

fn declined() -> NetError {
    NetError::Protocol("the server did not agree to STARTTLS".to_owned())
}

/// All that a server may say before the handshake, in bytes.
const MAX_DIALOGUE: usize = 16 * 1024;
