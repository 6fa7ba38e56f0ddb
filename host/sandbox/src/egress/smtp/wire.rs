//! The bytes below SMTP: a connection that egress made, in TLS where the operator wants it.
//!
//! *Invariant:* lettre never dials and never starts TLS itself; both are ours, with our resolver,
//! our policy and our roots.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
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
    egress::{Egress, NetError, tls},
    probes::tls::{StartTls, begin},
};

/// Connects and, where the URL says so, encrypts.
pub(super) async fn open(
    egress: &Egress,
    server: &Server,
    deadline: Instant,
) -> Result<Box<dyn AsyncTokioStream>, NetError> {
    let dial = || egress.connect_configured(&server.host, server.port, deadline);
    let mut stream = dial().await?.stream;
    match server.security {
        Security::Never => return Ok(Box::new(stream)),
        Security::FromTheStart => {
            let stream = encrypted(egress, server, stream, deadline).await?;
            return Ok(Box::new(Encrypted { stream, greeting: b"" }));
        }
        Security::StartTls => {
            begin(StartTls::Smtp, &mut stream, &server.host, deadline).await?;
        }
        Security::Offered => {
            match begin(StartTls::Smtp, &mut stream, &server.host, deadline).await {
                Ok(()) => {}
                Err(NetError::Protocol(_)) => return Ok(Box::new(dial().await?.stream)),
                Err(other) => return Err(other),
            }
        }
    }
    let stream = encrypted(egress, server, stream, deadline).await?;
    Ok(Box::new(Encrypted { stream, greeting: GREETING }))
}

async fn encrypted(
    egress: &Egress,
    server: &Server,
    stream: TcpStream,
    deadline: Instant,
) -> Result<TlsStream<TcpStream>, NetError> {
    let name = ServerName::try_from(server.host.clone())
        .map_err(|_| NetError::Tls("the relay's host is no name for TLS".to_owned()))?;
    let config = tls::verifying_config(egress.trust(), &[]);
    tls::handshake(config, name, stream, deadline).await
}

/// An encrypted connection to a relay. After STARTTLS the relay does not greet again, and lettre
/// waits for a greeting: it gets that one from us.
#[derive(Debug)]
struct Encrypted {
    stream: TlsStream<TcpStream>,
    greeting: &'static [u8],
}

impl AsyncTokioStream for Encrypted {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.stream.get_ref().0.peer_addr()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.greeting.is_empty() {
            return Pin::new(&mut this.stream).poll_read(cx, buf);
        }
        let (now, later) = this.greeting.split_at(this.greeting.len().min(buf.remaining()));
        buf.put_slice(now);
        this.greeting = later;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

const GREETING: &[u8] = b"220 encrypted\r\n";
