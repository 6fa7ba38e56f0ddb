//! The bytes below SMTP: a connection that egress made, in TLS where the operator wants it, and what
//! lettre is strict about made good.
//!
//! *Invariant:* lettre never dials and never starts TLS itself; both are ours, with our resolver,
//! our policy and our roots.

use std::{
    fmt, io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Instant,
};

use lettre::transport::smtp::client::AsyncTokioStream;
use rustls_pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};
use tokio_rustls::client::TlsStream;

use super::server::{Security, Server};
use crate::{
    egress::{Connected, Egress, NetError, tls},
    probes::tls::{StartTls, begin},
};

/// How the relay is greeted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hello {
    Extended,
    /// For relays that know no extensions (RFC 5321 section 3.2).
    Plain,
}

/// Connects and, where the URL says so, encrypts.
pub(super) async fn open(
    egress: &Egress,
    server: &Server,
    hello: Hello,
    deadline: Instant,
) -> Result<Box<dyn AsyncTokioStream>, NetError> {
    let dial = || egress.connect_configured(&server.host, server.port, deadline);
    let Connected { mut stream, peer, .. } = dial().await?;
    match server.security {
        Security::Never => return Ok(Box::new(Line::new(stream, peer, hello, b""))),
        Security::FromTheStart => {
            let stream = encrypted(egress, server, stream, deadline).await?;
            return Ok(Box::new(Line::new(stream, peer, hello, b"")));
        }
        Security::StartTls => {
            begin(StartTls::Smtp, &mut stream, &server.host, deadline).await?;
        }
        Security::Offered => {
            match begin(StartTls::Smtp, &mut stream, &server.host, deadline).await {
                Ok(()) => {}
                Err(NetError::Protocol(_)) => {
                    let Connected { stream, peer, .. } = dial().await?;
                    return Ok(Box::new(Line::new(stream, peer, hello, b"")));
                }
                Err(other) => return Err(other),
            }
        }
    }
    let stream = encrypted(egress, server, stream, deadline).await?;
    Ok(Box::new(Line::new(stream, peer, hello, GREETING)))
}

async fn encrypted(
    egress: &Egress,
    server: &Server,
    stream: TcpStream,
    deadline: Instant,
) -> Result<TlsStream<TcpStream>, NetError> {
    let name = ServerName::try_from(server.host.clone())
        .map_err(|_| NetError::Tls("the relay's host is not a name for TLS".to_owned()))?;
    let config = tls::verifying_config(egress.trust(), &[]);
    tls::handshake(config, name, stream, deadline).await
}

/// A connection to a relay, as lettre wants it.
///
/// After STARTTLS the relay does not greet again, and lettre waits for a greeting: it gets that one
/// from us. Lettre begins with EHLO, and reads no line that ends with a bare LF or is not UTF-8.
#[derive(Debug)]
struct Line<S> {
    stream: S,
    peer: SocketAddr,
    /// What lettre is to read next.
    heard: Vec<u8>,
    /// The last byte that came.
    last: u8,
    /// What stands in place of lettre's first bytes.
    verb: &'static [u8],
}

impl<S> Line<S> {
    fn new(stream: S, peer: SocketAddr, hello: Hello, greeting: &[u8]) -> Self {
        let verb: &[u8] = match hello {
            Hello::Extended => b"",
            Hello::Plain => b"HELO",
        };
        Self { stream, peer, heard: greeting.to_vec(), last: 0, verb }
    }
}

impl<S> AsyncTokioStream for Line<S>
where
    S: AsyncRead + AsyncWrite + Send + Sync + Unpin + fmt::Debug,
{
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Line<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.heard.is_empty() {
            let mut bytes = [0; PIECE];
            let mut piece = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut this.stream).poll_read(cx, &mut piece))?;
            for byte in piece.filled() {
                if *byte == b'\n' && this.last != b'\r' {
                    this.heard.push(b'\r');
                }
                // In another charset than lettre reads: the words are for a log, the code is what counts.
                this.heard.push(if byte.is_ascii() { *byte } else { b'?' });
                this.last = *byte;
            }
        }
        let now = this.heard.len().min(buf.remaining());
        buf.put_slice(&this.heard[..now]);
        this.heard.drain(..now);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Line<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.verb.is_empty() {
            return Pin::new(&mut this.stream).poll_write(cx, bytes);
        }
        // One write for the whole line, as lettre means it.
        let mut line = bytes.to_vec();
        line.iter_mut().zip(this.verb).for_each(|(byte, of_verb)| *byte = *of_verb);
        let written = ready!(Pin::new(&mut this.stream).poll_write(cx, &line))?;
        this.verb = &this.verb[written.min(this.verb.len())..];
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

const GREETING: &[u8] = b"220 encrypted\r\n";
const PIECE: usize = 1024;

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    fn line(hello: Hello, greeting: &[u8], room: usize) -> (Line<DuplexStream>, DuplexStream) {
        let (ours, relays) = duplex(room);
        (Line::new(ours, ([127, 0, 0, 1], 25).into(), hello, greeting), relays)
    }

    #[tokio::test]
    async fn lines_end_with_both_bytes_however_they_come() {
        for part in [1, 2, 64] {
            let (mut ours, mut relays) = line(Hello::Extended, b"220 encrypted\r\n", 64);
            for piece in b"250-a\n250-b\r\n\n250 c\n".chunks(part) {
                relays.write_all(piece).await.unwrap();
            }
            drop(relays);
            let mut heard = String::new();
            ours.read_to_string(&mut heard).await.unwrap();
            assert_eq!(heard, "220 encrypted\r\n250-a\r\n250-b\r\n\r\n250 c\r\n", "{part}");
        }
    }

    #[tokio::test]
    async fn reply_in_another_charset_is_read_all_the_same() {
        let (mut ours, mut relays) = line(Hello::Extended, b"", 64);
        relays.write_all(b"250 queued f\xfcr Sie\r\n").await.unwrap();
        drop(relays);
        let mut heard = String::new();
        ours.read_to_string(&mut heard).await.unwrap();
        assert_eq!(heard, "250 queued f?r Sie\r\n");
    }

    #[tokio::test]
    async fn only_the_first_word_becomes_a_plain_hello() {
        for room in [1, 3, 64] {
            for (hello, first) in [(Hello::Plain, "HELO a"), (Hello::Extended, "EHLO a")] {
                let (mut ours, mut relays) = line(hello, b"", room);
                let said = async move {
                    ours.write_all(b"EHLO a\r\n").await.unwrap();
                    ours.write_all(b"EHLO b\r\n").await.unwrap();
                };
                let mut heard = String::new();
                let ((), read) = tokio::join!(said, relays.read_to_string(&mut heard));
                read.unwrap();
                assert_eq!(heard, format!("{first}\r\nEHLO b\r\n"), "{room}");
            }
        }
    }
}
