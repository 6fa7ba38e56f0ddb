//! The listeners: what a connection may cost, in clear or over TLS, and how it ends.
//!
//! HTTP/1.1 and HTTP/2 are told apart by a connection's first bytes, so HTTP/2 works with ALPN
//! over TLS and with prior knowledge in clear.
//!
//! *Invariant:* a connection that brings nothing costs nothing for long: the handshake, the head,
//! the body and silence each have an end.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use rustix::process::{Resource, getrlimit};
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, Service, async_trait,
    conn::{Accepted, Acceptor, ConnCtrl, Holding, rustls::RustlsAcceptor, tcp::TcpAcceptor},
    fuse::{
        ArcConnObserver, ArcFusePolicy, ConnObserver, FuseAction, FuseConfig, FuseInfo, FusePolicy,
    },
    server::{Server, ServerHandle},
};
use tokio::{
    net::{TcpListener, TcpSocket},
    time::Instant,
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use crate::{
    shortage::{advice, is_exhausted},
    tls::Identity,
    trouble::Trouble,
};

/// A listener that is served.
pub(crate) struct Listening {
    handle: ServerHandle,
    closed: CancellationToken,
}

/// `setting` is the one that names the address.
pub(crate) fn bind(address: SocketAddr, setting: &str) -> anyhow::Result<TcpListener> {
    listen(address).with_context(|| format!("cannot listen on {address}, which {setting} names"))
}

/// As the runtime's own `bind` does it, except for the room in the queue.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(MOST_WAITING)
}

/// A listener that [`serve`] takes, with which nothing can fail any more.
pub(crate) fn acceptor(listener: TcpListener) -> anyhow::Result<TcpAcceptor> {
    Ok(TcpAcceptor::try_from(listener)?)
}

/// Serves until `shutdown`, and after that what runs: see [`Listening::stop`].
pub(crate) fn serve(
    acceptor: TcpAcceptor,
    identity: Option<&Identity>,
    service: Service,
    tasks: &TaskTracker,
    shutdown: &CancellationToken,
) -> Listening {
    match identity {
        None => run(acceptor, service, tasks, shutdown),
        Some(identity) => {
            // The token would end a reloading task of the framework's own; there is none.
            let secure =
                RustlsAcceptor::new(acceptor, identity.acceptor(), CancellationToken::new());
            run(secure, service, tasks, shutdown)
        }
    }
}

impl Listening {
    /// To be called after `shutdown`: what runs has `grace` to end.
    pub(crate) async fn stop(&self, grace: Duration) {
        // At its most connections the server does not accept, and so gives its socket back only
        // after it was told to stop.
        let _ = tokio::time::timeout(CLOSE, self.closed.cancelled()).await;
        self.handle.stop_graceful(grace);
    }
}

fn run<A: Acceptor + 'static>(
    acceptor: A,
    mut service: Service,
    tasks: &TaskTracker,
    shutdown: &CancellationToken,
) -> Listening {
    let requests = TaskTracker::new();
    service.hoops.insert(0, Arc::new(Counted(requests.clone())));
    let closed = CancellationToken::new();
    let closing = Closing {
        holdings: acceptor.holdings().to_vec(),
        inner: Some(acceptor),
        exhausted: Trouble::default(),
        shutdown: shutdown.clone(),
        closed: closed.clone(),
    };
    let mut server = Server::new(closing)
        .fuse_policy(Doorman { shutdown: shutdown.clone(), requests })
        .max_connections(most_connections(getrlimit(Resource::Nofile).current));
    server.http1_mut().max_header_size(LARGEST_HEAD);
    server
        .http2_mut()
        .max_concurrent_streams(MOST_STREAMS)
        .max_header_list_size(LARGEST_HEAD as u32);
    let handle = server.handle();
    tasks.spawn(async move {
        if let Err(cause) = server.try_serve(service).await {
            tracing::error!(error = %cause, "a listener ended: {cause}");
        }
    });
    Listening { handle, closed }
}

/// Of so many descriptors (none: no limit) each of the two listeners takes at most a quarter: the
/// other half is for the connections of checks and deliveries, and for the database's files.
fn most_connections(descriptors: Option<u64>) -> usize {
    let descriptors = descriptors.and_then(|number| usize::try_from(number).ok());
    descriptors.map_or(MOST_CONNECTIONS, |number| (number / 4).clamp(1, MOST_CONNECTIONS))
}

/// Gives its socket back at `shutdown`: a client that connects after that is refused, rather than
/// left in a queue that nobody empties. While this machine has no room for another connection,
/// clients wait in that queue, and the log says so now and then.
struct Closing<A> {
    inner: Option<A>,
    exhausted: Trouble,
    holdings: Vec<Holding>,
    shutdown: CancellationToken,
    closed: CancellationToken,
}

impl<A: Acceptor> Acceptor for Closing<A> {
    type Coupler = A::Coupler;
    type Stream = A::Stream;

    fn holdings(&self) -> &[Holding] {
        &self.holdings
    }

    async fn accept(
        &mut self,
        fuse_policy: Option<ArcFusePolicy>,
    ) -> io::Result<Accepted<Self::Coupler, Self::Stream>> {
        while let Some(inner) = &mut self.inner {
            let accepted = tokio::select! {
                biased;
                () = self.shutdown.cancelled() => break,
                accepted = inner.accept(fuse_policy.clone()) => accepted,
            };
            match accepted {
                Err(cause) if is_exhausted(&cause) => self.tell(&cause),
                accepted => return accepted,
            }
            tokio::time::sleep(EXHAUSTED_PAUSE).await;
        }
        self.inner = None;
        self.closed.cancel();
        std::future::pending().await
    }
}

impl<A> Closing<A> {
    fn tell(&mut self, cause: &io::Error) {
        if self.exhausted.is_news(&cause.to_string(), Instant::now()) {
            let advice = advice(cause);
            tracing::error!("new connections wait: no more can be opened: {cause}; {advice}");
        }
    }
}

/// Knows which requests are being answered, by the tokens that they hold.
struct Counted(TaskTracker);

#[async_trait]
impl Handler for Counted {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let _running = self.0.token();
        ctrl.call_next(req, depot, res).await;
    }
}

/// Lets everybody in, with a limit to every wait. A client that has said nothing yet is
/// disconnected after a while, and all are at `shutdown`; the server itself waits for them as if
/// they were at work.
struct Doorman {
    shutdown: CancellationToken,
    requests: TaskTracker,
}

#[async_trait]
impl FusePolicy for Doorman {
    async fn decide(&self, _info: &FuseInfo) -> FuseAction {
        let fuse = FuseConfig::strict()
            .with_http1_header_timeout(HEAD_PATIENCE)
            .with_request_body_timeout(BODY_PATIENCE)
            .with_connection_idle_timeout(LONGEST_SILENCE);
        FuseAction::Accept(fuse)
    }

    fn observe(&self, _info: &FuseInfo, connection: &ConnCtrl) -> Option<ArcConnObserver> {
        let gone = CancellationToken::new();
        let traffic = Arc::new(Traffic::default());
        let present = Present { _gone: gone.clone().drop_guard(), traffic: Arc::clone(&traffic) };
        let visit = Visit {
            connection: connection.clone(),
            traffic,
            shutdown: self.shutdown.clone(),
            requests: self.requests.clone(),
        };
        tokio::spawn(gone.run_until_cancelled_owned(visit.attend()));
        Some(Arc::new(present))
    }
}

/// A connection, from its beginning to its end.
struct Visit {
    connection: ConnCtrl,
    traffic: Arc<Traffic>,
    shutdown: CancellationToken,
    requests: TaskTracker,
}

impl Visit {
    async fn attend(self) {
        tokio::select! {
            () = self.shutdown.cancelled() => {}
            () = tokio::time::sleep(FIRST_PATIENCE) => {
                // A first request that runs that long is finished, and the connection with it.
                if !self.traffic.is_answered() {
                    self.connection.graceful_shutdown();
                }
                self.shutdown.cancelled().await;
            }
        }
        self.connection.graceful_shutdown();
        // Over HTTP/2 the client has to agree that there is nothing more, and one that is idle may
        // not even read. While requests run, some of them may be its own; the answer of one that has
        // just ended is still to be sent.
        loop {
            let (idle, before) = (self.requests.is_empty(), self.traffic.total());
            tokio::time::sleep(FAREWELL).await;
            if idle && self.requests.is_empty() && self.traffic.total() == before {
                return self.connection.abort();
            }
        }
    }
}

/// The bytes that a connection has carried so far.
#[derive(Default)]
struct Traffic {
    read: AtomicU64,
    written: AtomicU64,
}

impl Traffic {
    fn is_answered(&self) -> bool {
        self.written.load(Ordering::Relaxed) > 0
    }

    fn total(&self) -> u64 {
        self.read.load(Ordering::Relaxed) + self.written.load(Ordering::Relaxed)
    }
}

/// Dropped with its connection.
struct Present {
    _gone: DropGuard,
    traffic: Arc<Traffic>,
}

impl ConnObserver for Present {
    fn on_read(&self, bytes: usize) {
        self.traffic.read.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn on_write(&self, bytes: usize) {
        self.traffic.written.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// For the first request of a connection.
const FIRST_PATIENCE: Duration = Duration::from_secs(10);
/// A request's head, counted from the previous answer: a client that keeps a connection open
/// between requests must not find it closed just as it sends the next.
const HEAD_PATIENCE: Duration = Duration::from_secs(30);
/// Between two pieces of a body; the whole of it has an end of its own where it is read.
const BODY_PATIENCE: Duration = Duration::from_secs(15);
/// Longer than the longest check with all its waits (30 s for a place of the account, 35 s for one
/// at the host, 30 s for the run), during which a connection carries nothing.
pub(crate) const LONGEST_SILENCE: Duration = Duration::from_secs(100);
/// How long a connection that is told to end may be silent when nothing is owed to anybody.
const FAREWELL: Duration = Duration::from_secs(1);
/// Of one listener, where there are descriptors enough.
const MOST_CONNECTIONS: usize = 16_384;
/// Connections that wait to be accepted, as far as the machine allows (`net.core.somaxconn`). A
/// client that finds no room tries again after a second, and that is what a crowd would see.
const MOST_WAITING: u32 = 4_096;
/// Of one HTTP/2 connection at a time.
const MOST_STREAMS: u32 = 128;
/// Bytes of a request's head; more is answered with 431.
const LARGEST_HEAD: usize = 16 << 10;
/// Between two looks for whether there is room for another connection again.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);
/// How long a listener may take to notice the shutdown.
const CLOSE: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use futures::future::try_join_all;
    use tokio::net::TcpStream;

    use super::*;

    #[test]
    fn connections_leave_half_of_the_descriptors_to_the_work() {
        for (descriptors, most) in [
            (None, MOST_CONNECTIONS),
            (Some(u64::MAX), MOST_CONNECTIONS),
            (Some(65_536), MOST_CONNECTIONS),
            (Some(1_024), 256),
            (Some(0), 1),
        ] {
            assert_eq!(most_connections(descriptors), most, "{descriptors:?}");
        }
    }

    #[tokio::test]
    async fn crowd_that_comes_at_once_finds_room() {
        let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn");
        let allowed = allowed.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(128);
        let listener = bind("127.0.0.1:0".parse().unwrap(), "listen").unwrap();
        let address = listener.local_addr().unwrap();
        // Nobody accepts them.
        let crowd = (0..allowed.min(300)).map(|_| TcpStream::connect(address));
        let connected = tokio::time::timeout(Duration::from_secs(20), try_join_all(crowd)).await;
        assert_eq!(connected.unwrap().unwrap().len(), allowed.min(300));
    }
}
