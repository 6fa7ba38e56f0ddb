//! Names to addresses and records, by the operator's DNS servers alone.
//!
//! Names are absolute: no search list, no hosts file. Nothing is cached here, so that a check
//! sees the name as it stands now; the servers in front cache by TTL.

use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use hickory_resolver::{
    TokioResolver,
    config::{
        ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
        ServerOrderingStrategy,
    },
    lookup::Lookup as Records,
    net::{self, DnsError, runtime::TokioRuntimeProvider},
    proto::{
        dnssec::TrustAnchors,
        op::ResponseCode,
        rr::{Name, RData, RecordType},
    },
};
use tokio::time::{sleep, timeout_at};
use vedette_model::DomainName;

use super::{NetError, Phase, SetupError, code};

/// At most this many addresses of a name are looked at.
const MAX_ADDRESSES: usize = 16;
/// At most this many aliases may stand between a name and its addresses.
const MAX_ALIASES: usize = 16;
/// One name takes no longer than this.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the slower address family is waited for once the other has answered.
const GRACE: Duration = Duration::from_millis(300);

/// The DNS servers, asked one after the other.
pub struct Resolver {
    servers: Vec<Server>,
    anchors: Arc<TrustAnchors>,
}

struct Server {
    address: SocketAddr,
    plain: TokioResolver,
    validating: TokioResolver,
}

/// An answer and whom it came from.
pub(crate) struct Answered {
    pub(crate) server: SocketAddr,
    pub(crate) outcome: Result<Records, net::NetError>,
}

impl Resolver {
    pub(super) fn new(
        mut servers: Vec<SocketAddr>,
        anchor: Option<&Path>,
    ) -> Result<Self, SetupError> {
        if servers.is_empty() {
            servers = system_servers();
        }
        let anchors = Arc::new(match anchor {
            None => TrustAnchors::default(),
            Some(path) => TrustAnchors::from_file(path).map_err(|error| SetupError::Anchor {
                path: path.to_owned(),
                reason: error.to_string(),
            })?,
        });
        Self::with_anchors(&servers, anchors)
    }

    /// A resolver that asks only `server`, with the same anchors: a question's own resolver.
    pub(crate) fn only(&self, server: SocketAddr) -> Result<Self, SetupError> {
        Self::with_anchors(&[server], Arc::clone(&self.anchors))
    }

    fn with_anchors(
        servers: &[SocketAddr],
        anchors: Arc<TrustAnchors>,
    ) -> Result<Self, SetupError> {
        if servers.is_empty() {
            return Err(SetupError::NoResolver(RESOLV_CONF));
        }
        // Two rounds over all servers fit into the time for one name.
        let attempt = PATIENCE / (2 * servers.len() as u32);
        let attempt = attempt.clamp(Duration::from_secs(1), Duration::from_millis(2400));
        let servers = servers.iter().map(|&address| {
            let plain = build(address, attempt, None)?;
            let validating = build(address, attempt, Some(Arc::clone(&anchors)))?;
            Ok(Server { address, plain, validating })
        });
        let servers = servers
            .collect::<Result<_, net::NetError>>()
            .map_err(|error| SetupError::Resolver(error.to_string()))?;
        Ok(Self { servers, anchors })
    }

    /// The addresses of a name, IPv6 and IPv4, at most sixteen, unvetted. Fails with
    /// [`NetError::NameNotFound`], [`NetError::Timeout`], or the codes `dns-failed` (the name's
    /// servers) and `resolver-down` (ours).
    pub async fn addresses(
        &self,
        name: &DomainName,
        deadline: Instant,
    ) -> Result<Vec<IpAddr>, NetError> {
        self.addresses_of(&absolute(name.as_str())?, deadline).await
    }

    /// As [`addresses`](Self::addresses), for a name that configuration gives.
    pub(super) async fn addresses_of(
        &self,
        name: &Name,
        deadline: Instant,
    ) -> Result<Vec<IpAddr>, NetError> {
        let bound = deadline.min(Instant::now() + PATIENCE);
        match timeout_at(bound.into(), self.both_families(name)).await {
            Ok(Err(Failure::Silent)) | Err(_) => self.blame(deadline).await,
            Ok(Err(Failure::Certain(error))) => Err(error),
            Ok(Ok(addresses)) => Ok(addresses),
        }
    }

    /// Asks each server until one knows: silence and failures send the question to the next.
    pub(crate) async fn lookup(&self, name: &Name, rtype: RecordType, validate: bool) -> Answered {
        let mut last = None;
        for round in 0..2 {
            for server in &self.servers {
                let resolver = if validate { &server.validating } else { &server.plain };
                let outcome = resolver.lookup(name.clone(), rtype).await;
                let answered = Answered { server: server.address, outcome };
                match &answered.outcome {
                    Err(error) if is_silence(error) => last = last.or(Some(answered)),
                    Err(net::NetError::Dns(DnsError::ResponseCode(_))) => last = Some(answered),
                    Ok(_) | Err(_) => return answered,
                }
            }
            let spoke = last.as_ref().is_some_and(|answered| match &answered.outcome {
                Err(error) => !is_silence(error),
                Ok(_) => true,
            });
            if spoke || round == 1 {
                break;
            }
        }
        last.expect("there is at least one server, and each leaves an answer or returns")
    }

    /// Whether any server answers at all: asked for the root's name servers, any answer counts.
    pub(crate) async fn is_alive(&self, deadline: Instant) -> bool {
        let root = Name::root();
        let ask = self.lookup(&root, RecordType::NS, false);
        match timeout_at(deadline.into(), ask).await {
            Ok(answered) => match answered.outcome {
                Ok(_) => true,
                Err(error) => !is_silence(&error),
            },
            Err(_) => false,
        }
    }

    async fn both_families(&self, name: &Name) -> Result<Vec<IpAddr>, Failure> {
        let mut v6 = Box::pin(self.family(name, RecordType::AAAA));
        let mut v4 = Box::pin(self.family(name, RecordType::A));
        let (first, second) = tokio::select! {
            found = &mut v6 => (found, v4),
            found = &mut v4 => (found, v6),
        };
        let second = match &first {
            Ok(addresses) if !addresses.is_empty() => tokio::select! {
                found = second => found,
                () = sleep(GRACE) => Ok(Vec::new()),
            },
            Ok(_) | Err(_) => second.await,
        };
        let mut addresses = match (first, second) {
            (Ok(mut some), Ok(more)) => {
                some.extend(more);
                some
            }
            (Ok(some), Err(_)) | (Err(_), Ok(some)) if !some.is_empty() => some,
            (Err(failure), Ok(_)) | (Ok(_), Err(failure)) => return Err(failure),
            (Err(one), Err(other)) => return Err(one.or(other)),
        };
        if addresses.is_empty() {
            return Err(Failure::Certain(NetError::NameNotFound));
        }
        addresses.sort_by_key(|address| address.is_ipv4()); // stable: each family keeps its order
        addresses.truncate(MAX_ADDRESSES);
        Ok(addresses)
    }

    /// The addresses of one family; none = the name has no such record.
    async fn family(&self, name: &Name, rtype: RecordType) -> Result<Vec<IpAddr>, Failure> {
        let records = match self.lookup(name, rtype, false).await.outcome {
            Ok(records) => records,
            Err(error) => return negative(error).map(|()| Vec::new()),
        };
        let aliases = records.answers().iter().filter(|r| r.record_type() == RecordType::CNAME);
        if aliases.count() > MAX_ALIASES {
            let message = "the name has too long a chain of aliases";
            return Err(Failure::Certain(NetError::other(code::DNS_FAILED, message)));
        }
        let addresses = records.answers().iter().filter_map(|record| match &record.data {
            RData::A(address) => Some(IpAddr::V4(address.0)),
            RData::AAAA(address) => Some(IpAddr::V6(address.0)),
            _ => None,
        });
        Ok(addresses.collect())
    }

    /// Silence for one name is that name's trouble only where the servers answer another.
    async fn blame<T>(&self, deadline: Instant) -> Result<T, NetError> {
        let bound = deadline.max(Instant::now() + Duration::from_secs(1));
        if self.is_alive(bound).await {
            return Err(NetError::Timeout(Phase::Resolve));
        }
        Err(NetError::other(code::RESOLVER_DOWN, "the DNS servers do not answer"))
    }
}

/// Why a lookup found nothing.
enum Failure {
    /// Nobody answered: whose fault is still open.
    Silent,
    Certain(NetError),
}

impl Failure {
    /// What was said outweighs what was not.
    fn or(self, other: Self) -> Self {
        match self {
            Self::Silent => other,
            Self::Certain(_) => self,
        }
    }
}

/// Parses a name as it stands: without a trailing dot it is absolute all the same.
pub(crate) fn absolute(name: &str) -> Result<Name, NetError> {
    let parsed = Name::from_ascii(name);
    let mut name = parsed.map_err(|_| NetError::NotPermitted("the name cannot be read".into()))?;
    name.set_fqdn(true);
    Ok(name)
}

/// No server said anything, as opposed to an answer that is an error.
pub(crate) fn is_silence(error: &net::NetError) -> bool {
    use net::NetError as E;
    matches!(error, E::Timeout | E::Io(_) | E::NoConnections | E::Busy | E::Truncated)
}

/// Tells "there are no such records" from a failure.
fn negative(error: net::NetError) -> Result<(), Failure> {
    let failed = |message: &str| Err(Failure::Certain(NetError::other(code::DNS_FAILED, message)));
    match error {
        error if is_silence(&error) => Err(Failure::Silent),
        net::NetError::Dns(DnsError::NoRecordsFound(none)) => match none.response_code {
            ResponseCode::NoError | ResponseCode::NXDomain => Ok(()),
            _ => failed("the name's servers failed"),
        },
        net::NetError::Dns(DnsError::ResponseCode(ResponseCode::Refused)) => {
            failed("the DNS servers refuse the question")
        }
        net::NetError::Dns(_) => failed("the name's servers failed"),
        _ => failed("the answer cannot be used"),
    }
}

fn build(
    server: SocketAddr,
    attempt: Duration,
    anchors: Option<Arc<TrustAnchors>>,
) -> Result<TokioResolver, net::NetError> {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
        connection.port = server.port();
        connection
    });
    let server = NameServerConfig::new(server.ip(), true, connections.into());
    let config = ResolverConfig::from_name_servers(vec![server]);
    let provider = TokioRuntimeProvider::default();
    let mut builder =
        TokioResolver::builder_with_config(config, provider).with_options(options(attempt));
    if let Some(anchors) = anchors {
        builder = builder.with_trust_anchor(anchors);
    }
    builder.build()
}

fn options(attempt: Duration) -> ResolverOpts {
    let mut options = ResolverOpts::default();
    options.ndots = 0;
    options.timeout = attempt;
    options.attempts = 0; // the rounds over the servers are the retries
    options.cache_size = 0;
    options.use_hosts_file = ResolveHosts::Never;
    options.num_concurrent_reqs = 1;
    options.edns_payload_len = 1232;
    options.try_tcp_on_error = false;
    options.server_ordering_strategy = ServerOrderingStrategy::UserProvidedOrder;
    options
}

/// Only `nameserver` lines matter here: the search list of the machine is not ours.
fn system_servers() -> Vec<SocketAddr> {
    let text = std::fs::read_to_string(RESOLV_CONF).unwrap_or_default();
    name_servers(&text)
}

fn name_servers(resolv_conf: &str) -> Vec<SocketAddr> {
    let lines = resolv_conf.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let address = (words.next() == Some("nameserver")).then(|| words.next()).flatten()?;
        address.parse::<IpAddr>().ok()
    });
    lines.map(|address| SocketAddr::new(address, 53)).collect()
}

const RESOLV_CONF: &str = "/etc/resolv.conf";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_name_servers_are_read_from_the_system() {
        let text = "# local\nsearch corp.example\nnameserver 192.0.2.1\nnameserver fe80::1%eth0\n\
                    nameserver 2001:db8::53 # second\noptions ndots:5\n";
        let expected: [SocketAddr; 2] =
            ["192.0.2.1:53".parse().unwrap(), "[2001:db8::53]:53".parse().unwrap()];
        assert_eq!(name_servers(text), expected);
    }

    #[test]
    fn a_name_is_absolute_with_and_without_its_dot() {
        assert_eq!(absolute("example.com").unwrap(), absolute("example.com.").unwrap());
        assert!(absolute("example.com").unwrap().is_fqdn());
    }
}
