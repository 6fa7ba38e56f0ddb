//! A TCP server that is no web server: it greets in clear, says nothing, tears the connection, or
//! answers a handshake with bytes made by hand.

use std::{net::SocketAddr, sync::Arc};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use old_tls::OldTls;

mod old_tls;

/// How it treats whoever connects.
#[derive(Clone)]
pub enum Manner {
    /// Speaks first, in clear.
    Banner(Vec<u8>),
    /// Accepts, and not a byte.
    Silence,
    /// Reads what it is sent and tears the connection.
    Reset,
    /// Answers a ClientHello as a server of another age does, once.
    OldTls(Arc<OldTls>),
}

/// A running server; dropping it closes the listener and every connection.
pub struct Peer {
    address: SocketAddr,
    stop: CancellationToken,
}

impl Peer {
    /// Listens on a free port of 127.0.0.1.
    pub async fn start(manner: Manner) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let peer = Self { address: listener.local_addr()?, stop: CancellationToken::new() };
        tokio::spawn(accept(listener, manner, peer.stop.clone()));
        Ok(peer)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn accept(listener: TcpListener, manner: Manner, stop: CancellationToken) {
    let connections = TaskTracker::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let (connection, stop) = (treat(stream, manner.clone()), stop.clone());
                connections.spawn(async move {
                    // A client that hangs up has seen enough.
                    tokio::select! { () = stop.cancelled() => (), _ = connection => () }
                });
            }
        }
    }
}

async fn treat(mut stream: TcpStream, manner: Manner) -> std::io::Result<()> {
    match manner {
        Manner::Banner(bytes) => {
            stream.write_all(&bytes).await?;
            wait_for_end(stream).await
        }
        Manner::Silence => wait_for_end(stream).await,
        Manner::Reset => {
            stream.read_u8().await?;
            stream.set_zero_linger()
        }
        Manner::OldTls(server) => server.answer(stream).await,
    }
}

async fn wait_for_end(mut stream: TcpStream) -> std::io::Result<()> {
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await.map(|_| ())
}
