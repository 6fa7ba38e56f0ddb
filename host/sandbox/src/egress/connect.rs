//! From a name to a connection: resolve, vet every address, connect to exactly those, compare.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    time::{Duration, Instant},
};

use futures::{StreamExt, stream::FuturesUnordered};
use tokio::{
    net::TcpStream,
    time::{sleep_until, timeout_at},
};
use vedette_model::domain_name::Target;

use super::{
    Audience, Egress, NetError, Phase, Refusal, absolute::absolute, code, refused, url::LOCALHOST,
};

/// Whom to connect to, and on whose behalf.
#[derive(Clone, Debug)]
pub struct Dial {
    pub target: Target,
    pub port: u16,
    /// Replaces name resolution; vetted like any address.
    pub connect_to: Option<IpAddr>,
    pub audience: Audience,
    pub deadline: Instant,
}

/// A connection, and how long it took.
#[derive(Debug)]
pub struct Connected {
    pub stream: TcpStream,
    pub peer: SocketAddr,
    /// None: there was no name to resolve.
    pub resolve: Option<Duration>,
    pub connect: Duration,
}

impl Egress {
    /// The addresses of a name or literal that `audience` may reach. On public paths one special
    /// address refuses the whole name; elsewhere refused ones are dropped, and none left is
    /// [`NetError::AddressBlocked`].
    pub async fn resolve(
        &self,
        target: &Target,
        audience: Audience,
        deadline: Instant,
    ) -> Result<Vec<IpAddr>, NetError> {
        let found = self.addresses(target, audience, deadline).await?;
        self.vet_all(found, audience, |address| self.policy().vet_address(address, audience))
    }

    /// The same for a check that asks about a target but never connects to it. For an account no
    /// address of a name is a reason to refuse it; for the public all that may not be reached are,
    /// except those where nobody is.
    pub async fn look_up(
        &self,
        target: &Target,
        audience: Audience,
        deadline: Instant,
    ) -> Result<Vec<IpAddr>, NetError> {
        let found = self.addresses(target, audience, deadline).await?.into_iter();
        let policy = self.policy();
        let vet = |address| policy.vet_address(address, audience);
        if audience == Audience::Authenticated {
            return Ok(found.filter(|address| vet(*address).is_ok()).collect());
        }
        let found = found.filter(|address| !policy.leads_nowhere(*address, audience)).collect();
        self.vet_all(found, audience, vet)
    }

    /// Connects to a vetted address of the target. The first of several that answers wins; each
    /// gets a head start of 250 ms (RFC 8305).
    pub async fn connect(&self, dial: &Dial) -> Result<Connected, NetError> {
        self.policy().vet_target(&dial.target, dial.audience).map_err(refused)?;
        let started = Instant::now();
        let (found, resolve) = match (dial.connect_to, &dial.target) {
            (Some(address), _) => (vec![address], None),
            (None, Target::Address(address)) => (vec![*address], None),
            (None, Target::Name(name)) => {
                let found = self.resolver().addresses(name, dial.deadline).await?;
                (found, Some(started.elapsed()))
            }
        };
        let addresses = self.vet_all(found, dial.audience, |address| {
            let socket = SocketAddr::new(address, dial.port);
            self.policy().vet_socket(socket, dial.audience)?;
            self.vet_everywhere(socket)
        })?;
        race(&addresses, dial.port, resolve, dial.deadline).await
    }

    /// Connects to what the operator's configuration names, as written: a loopback or private
    /// address passes, `egress.deny` and our own listeners do not. Never for a name that came
    /// from anywhere else.
    pub async fn connect_configured(
        &self,
        host: &str,
        port: u16,
        deadline: Instant,
    ) -> Result<Connected, NetError> {
        let started = Instant::now();
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        let (found, resolve) = match literal {
            Ok(address) => (vec![address], None),
            Err(_) if host.eq_ignore_ascii_case(LOCALHOST) => {
                (vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()], None)
            }
            Err(_) => {
                let name = absolute(host)?;
                let found = self.resolver().addresses_of(&name, deadline).await?;
                (found, Some(started.elapsed()))
            }
        };
        let addresses = self.vet_all(found, Audience::Authenticated, |address| {
            let socket = SocketAddr::new(address, port);
            self.policy().vet_configured(socket)?;
            self.vet_everywhere(socket)
        })?;
        race(&addresses, port, resolve, deadline).await
    }

    /// The addresses of a target, unvetted.
    async fn addresses(
        &self,
        target: &Target,
        audience: Audience,
        deadline: Instant,
    ) -> Result<Vec<IpAddr>, NetError> {
        self.policy().vet_target(target, audience).map_err(refused)?;
        match target {
            Target::Address(address) => Ok(vec![*address]),
            Target::Name(name) => self.resolver().addresses(name, deadline).await,
        }
    }

    fn vet_all(
        &self,
        found: Vec<IpAddr>,
        audience: Audience,
        vet: impl Fn(IpAddr) -> Result<(), Refusal>,
    ) -> Result<Vec<IpAddr>, NetError> {
        let mut passed = Vec::with_capacity(found.len());
        let mut last = None;
        for address in found {
            match vet(address) {
                Ok(()) => passed.push(address),
                Err(refusal) if audience == Audience::Public => return Err(refused(refusal)),
                Err(refusal) => last = Some(refusal),
            }
        }
        match last {
            Some(refusal) if passed.is_empty() => Err(refused(refusal)),
            _ => Ok(passed),
        }
    }

    /// The rule that the policy cannot hold, because it needs the machine: a listener on the
    /// unspecified address listens on every address of this host.
    fn vet_everywhere(&self, socket: SocketAddr) -> Result<(), Refusal> {
        let everywhere =
            |own: &SocketAddr| own.ip().is_unspecified() && own.port() == socket.port();
        if self.policy().own_listeners.iter().any(everywhere) && is_local(socket) {
            return Err(Refusal::OwnListener);
        }
        Ok(())
    }
}

/// Whether the address is one of this machine's: the kernel would use it as its own source.
fn is_local(socket: SocketAddr) -> bool {
    source(socket).is_ok_and(|source| source.ip() == socket.ip())
}

/// Whether it is this machine that has no way to the address, or forbids one: the kernel knows that
/// by itself. What somebody on the way says is of the address.
fn is_cut_off(to: SocketAddr, error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::ConnectionRefused
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::TimedOut => false,
        // Over IPv6 a firewall on the way may say that it forbids it (RFC 4443, 3.1).
        io::ErrorKind::PermissionDenied if to.is_ipv4() => true,
        // Without IPv6 there is no address to connect from, or not even a socket.
        _ => source(to).is_err() && has_sockets(),
    }
}

/// Whether there are descriptors and memory for one.
fn has_sockets() -> bool {
    UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).is_ok()
}

/// Whether this machine has a way to the address at all, as far as the kernel knows.
pub(super) fn has_route(address: IpAddr) -> bool {
    source(SocketAddr::new(address, 443)).is_ok() // no packet is sent, so that any port will do
}

/// What the kernel would use as its own address towards that one. Connecting a datagram socket sends
/// nothing.
fn source(towards: SocketAddr) -> io::Result<SocketAddr> {
    let any: IpAddr = match towards {
        SocketAddr::V4(_) => [0, 0, 0, 0].into(),
        SocketAddr::V6(_) => [0u16; 8].into(),
    };
    let probe = UdpSocket::bind((any, 0))?;
    probe.connect(towards)?;
    probe.local_addr()
}

/// Tries the addresses one after the other, overlapping: the next starts when one has failed or
/// has had its head start.
async fn race(
    addresses: &[IpAddr],
    port: u16,
    resolve: Option<Duration>,
    deadline: Instant,
) -> Result<Connected, NetError> {
    let started = Instant::now();
    let mut waiting = alternate(addresses).into_iter();
    let mut trying = FuturesUnordered::new();
    let mut failures = Vec::new();
    loop {
        if let Some(address) = waiting.next() {
            trying.push(attempt(SocketAddr::new(address, port), deadline));
        }
        let head_start = match waiting.len() {
            0 => deadline + Duration::from_secs(1), // the attempts themselves end at the deadline
            _ => Instant::now() + HEAD_START,
        };
        tokio::select! {
            Some(ended) = trying.next() => match ended {
                Ok((stream, peer)) => {
                    return Ok(Connected { stream, peer, resolve, connect: started.elapsed() });
                }
                Err(failure) => failures.push(failure),
            },
            () = sleep_until(head_start.into()) => {}
        }
        if trying.is_empty() && waiting.len() == 0 {
            return Err(worst(failures));
        }
    }
}

async fn attempt(to: SocketAddr, deadline: Instant) -> Result<(TcpStream, SocketAddr), NetError> {
    let stream = match timeout_at(deadline.into(), TcpStream::connect(to)).await {
        Err(_) => return Err(NetError::Timeout(Phase::Connect)),
        Ok(Err(error)) if is_cut_off(to, &error) => {
            return Err(NetError::other(
                code::NO_ROUTE,
                "this machine has no route to the address, or its firewall forbids it",
            ));
        }
        Ok(Err(error)) => return Err(NetError::from_io(&error, Phase::Connect)),
        Ok(Ok(stream)) => stream,
    };
    let peer = stream.peer_addr().map_err(|error| NetError::from_io(&error, Phase::Connect))?;
    if peer.ip() != to.ip() || peer.port() != to.port() {
        return Err(NetError::AddressBlocked("the peer is not the address dialled".to_owned()));
    }
    // A connection from an ephemeral port to itself is TCP's simultaneous open, not a server.
    if stream.local_addr().is_ok_and(|local| local == peer) {
        return Err(NetError::Refused);
    }
    // Probes write whole messages; waiting for more would only delay them.
    stream.set_nodelay(true).map_err(|error| NetError::from_io(&error, Phase::Connect))?;
    Ok((stream, peer))
}

/// IPv6 first, then the families in turn, each in its own order.
fn alternate(addresses: &[IpAddr]) -> Vec<IpAddr> {
    let (v6, v4): (Vec<IpAddr>, Vec<IpAddr>) =
        addresses.iter().partition(|address| address.is_ipv6());
    let longest = v6.len().max(v4.len());
    let turns = (0..longest).flat_map(|turn| [v6.get(turn), v4.get(turn)]);
    turns.flatten().copied().collect()
}

/// What the failures together say: an answer outweighs silence, silence a missing route, and that
/// one which this machine misses (without IPv6, to all addresses of that).
fn worst(failures: Vec<NetError>) -> NetError {
    let rank = |failure: &NetError| match failure {
        NetError::Refused => 0,
        NetError::Reset => 1,
        NetError::Timeout(_) => 2,
        NetError::Other(kind, _) if kind == code::UNREACHABLE => 4,
        NetError::Other(kind, _) if kind == code::NO_ROUTE => 5,
        _ => 3,
    };
    let first = failures.into_iter().min_by_key(rank);
    first.expect("a race ends with at least one failure")
}

const HEAD_START: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_take_turns_and_keep_their_order() {
        let parse = |texts: &[&str]| -> Vec<IpAddr> {
            texts.iter().map(|text| text.parse().unwrap()).collect()
        };
        let mixed = parse(&["192.0.2.1", "192.0.2.2", "2001:db8::1", "192.0.2.3"]);
        let turns = parse(&["2001:db8::1", "192.0.2.1", "192.0.2.2", "192.0.2.3"]);
        assert_eq!(alternate(&mixed), turns);
    }

    #[test]
    fn a_refusal_outweighs_a_missing_route() {
        let unreachable = NetError::other(code::UNREACHABLE, "");
        let timeout = NetError::Timeout(Phase::Connect);
        assert_eq!(worst(vec![unreachable.clone(), NetError::Refused]), NetError::Refused);
        assert_eq!(worst(vec![unreachable.clone(), timeout.clone()]), timeout);
        let no_route = NetError::other(code::NO_ROUTE, "");
        assert_eq!(worst(vec![no_route.clone(), unreachable.clone()]), unreachable);
        assert_eq!(worst(vec![no_route.clone()]), no_route);
    }

    #[test]
    fn a_machine_that_has_a_way_is_not_cut_off_whatever_was_answered() {
        let answers = [
            io::ErrorKind::HostUnreachable,
            io::ErrorKind::NetworkUnreachable,
            io::ErrorKind::ConnectionRefused,
            io::ErrorKind::AddrNotAvailable,
        ];
        let v4 = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
        let v6 = SocketAddr::from((Ipv6Addr::LOCALHOST, 9));
        assert!(!answers.iter().any(|kind| is_cut_off(v4, &(*kind).into())));
        assert!(is_cut_off(v4, &io::ErrorKind::PermissionDenied.into()));
        // Not every machine has it.
        if source(v6).is_ok() {
            assert!(!answers.iter().any(|kind| is_cut_off(v6, &(*kind).into())));
            assert!(!is_cut_off(v6, &io::ErrorKind::PermissionDenied.into()));
        }
    }

    #[test]
    fn a_machine_without_a_way_is_cut_off_unless_somebody_answered() {
        // Broadcast: the kernel makes no connection to it.
        let nowhere = SocketAddr::from((Ipv4Addr::BROADCAST, 9));
        let cut_off = |kind: io::ErrorKind| is_cut_off(nowhere, &kind.into());
        assert!(cut_off(io::ErrorKind::NetworkUnreachable));
        assert!(cut_off(io::ErrorKind::AddrNotAvailable));
        // A family that it does not have at all: that has no kind of its own.
        assert!(cut_off(io::ErrorKind::Other));
        assert!(!cut_off(io::ErrorKind::ConnectionRefused));
        assert!(!cut_off(io::ErrorKind::TimedOut));
    }

    #[test]
    fn addresses_of_this_machine_are_known_without_a_packet() {
        assert!(is_local("127.0.0.1:9".parse().unwrap()));
        assert!(!is_local("8.8.8.8:9".parse().unwrap()));
    }
}
