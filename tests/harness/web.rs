//! An HTTP server whose every byte the test writes, in clear or over TLS: slow, endless, broken.
//!
//! One request a connection, one [`Script`] a request.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    net::{TcpListener, TcpStream},
    time::Instant,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{Certificate, site};

pub use pages::Pages;
pub use script::{Script, gzip};

mod pages;
mod script;

/// Longer heads are nobody's request.
const MAX_HEAD: usize = 64 << 10;

/// One request as it arrived.
#[derive(Clone, Debug)]
pub struct Asked {
    pub at: Instant,
    pub method: String,
    /// Path and query, as sent.
    pub target: String,
    /// In order; names lower case.
    pub headers: Vec<(String, String)>,
}

/// A running server; dropping it closes the listener and every connection.
pub struct Web {
    address: SocketAddr,
    is_secure: bool,
    log: Arc<Log>,
    stop: CancellationToken,
}

#[derive(Default)]
struct Log {
    asked: Mutex<Vec<Asked>>,
    connections: AtomicUsize,
}

type Respond = Arc<dyn Fn(&Asked) -> Script + Send + Sync>;

impl Web {
    /// Listens on a free port of 127.0.0.1, over TLS when there is a certificate.
    pub async fn start(
        certificate: Option<Certificate>,
        respond: impl Fn(&Asked) -> Script + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let tls =
            certificate.map(|certificate| site::tls_config(certificate, &site::Demands::default()));
        let tls = tls.transpose()?.map(TlsAcceptor::from);
        let web = Self {
            address: listener.local_addr()?,
            is_secure: tls.is_some(),
            log: Arc::default(),
            stop: CancellationToken::new(),
        };
        let server = Server { tls, respond: Arc::new(respond), log: Arc::clone(&web.log) };
        tokio::spawn(accept(listener, server, web.stop.clone()));
        Ok(web)
    }

    pub fn ip(&self) -> IpAddr {
        self.address.ip()
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Without a path: `http://127.0.0.1:8080`.
    pub fn origin(&self) -> String {
        let scheme = if self.is_secure { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// All requests so far, oldest first.
    pub fn asked(&self) -> Vec<Asked> {
        self.log.asked.lock().clone()
    }

    /// Connections so far, also those that never brought a request.
    pub fn connections(&self) -> usize {
        self.log.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Asked {
    /// Without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// A decoded member of the query.
    pub fn query(&self, name: &str) -> Option<String> {
        let (_, query) = self.target.split_once('?')?;
        let mut members = url::form_urlencoded::parse(query.as_bytes());
        members.find(|(member, _)| member == name).map(|(_, value)| value.into_owned())
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Clone)]
struct Server {
    tls: Option<TlsAcceptor>,
    respond: Respond,
    log: Arc<Log>,
}

/// A connection that can also be torn.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Unpin + Send {
    fn tcp(&self) -> &TcpStream;
}

impl Wire for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Wire for TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

async fn accept(listener: TcpListener, server: Server, stop: CancellationToken) {
    let connections = TaskTracker::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                server.log.connections.fetch_add(1, Ordering::Relaxed);
                let (connection, stop) = (serve(stream, server.clone()), stop.clone());
                connections.spawn(async move {
                    // A client that hangs up in the middle is what some scripts are for.
                    tokio::select! { () = stop.cancelled() => (), _ = connection => () }
                });
            }
        }
    }
}

async fn serve(stream: TcpStream, server: Server) -> std::io::Result<()> {
    match &server.tls {
        None => converse(stream, &server).await,
        Some(tls) => {
            let stream = tls.accept(stream).await?;
            converse(stream, &server).await
        }
    }
}

async fn converse(mut stream: impl Wire, server: &Server) -> std::io::Result<()> {
    let Some(asked) = read_head(&mut stream).await? else { return Ok(()) };
    server.log.asked.lock().push(asked.clone());
    (server.respond)(&asked).play(stream).await
}

/// None: the peer hung up before it had asked, or asked without end.
async fn read_head(stream: &mut impl Wire) -> std::io::Result<Option<Asked>> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > MAX_HEAD || stream.read_buf(&mut head).await? == 0 {
            return Ok(None);
        }
    }
    let head = String::from_utf8_lossy(&head);
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let mut word = || words.next().unwrap_or_default().to_owned();
    let (method, target) = (word(), word());
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
    Ok(Some(Asked { at: Instant::now(), method, target, headers: headers.collect() }))
}
