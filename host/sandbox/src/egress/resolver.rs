//! Names to addresses and records, by the operator's DNS servers alone.
//!
//! Names are absolute: no search list, no hosts file. Nothing is cached here, so that a check
//! sees the name as it stands now; the servers in front cache by TTL.

mod ask;
mod blame;
mod uplink;

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use hickory_resolver::{
    lookup::Lookup,
    net,
    proto::{
        dnssec::TrustAnchors,
        rr::{Name, RData, RecordType},
    },
};
use parking_lot::Mutex;
use tokio::time::{sleep, timeout_at};
use vedette_model::DomainName;

use self::uplink::Uplink;
use super::{
    DnsServer, NetError, Phase, SetupError, Trust,
    absolute::absolute,
    answer::{Failure, is_knowledge, negative, text},
    code,
    connect::has_route,
    heard::Heard,
    resolv_conf::{RESOLV_CONF, system_servers},
    upstream::Upstream,
    url::LOCALHOST,
    validating,
};

/// At most this many addresses of a name are looked at.
const MAX_ADDRESSES: usize = 16;
/// At most this many aliases may stand between a name and its addresses.
const MAX_ALIASES: usize = 16;
/// One name takes no longer than this.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the slower address family is waited for once the other has answered.
const GRACE: Duration = Duration::from_millis(300);
/// The same where this machine has no way to what the other family answered: a question that was
/// lost is asked again within this time.
const LONG_GRACE: Duration = Duration::from_secs(4);
/// The keys of a zone are looked at once for all questions of a run, and of its neighbours.
const KEEP_KEYS: Duration = Duration::from_secs(30);
const MOST_ZONES: usize = 4_096;

/// The DNS servers, asked one after the other, those that were silent lately after the others.
pub struct Resolver {
    servers: Vec<Upstream>,
    anchors: Arc<TrustAnchors>,
    trust: Trust,
    heard: Mutex<Heard>,
    uplink: Uplink,
    /// Zones, and whether a signature holds over their keys, looked up lately.
    keys: Mutex<HashMap<Name, (Instant, bool)>>,
}

/// Whose validation an answer has been through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validation {
    /// The server's, where it validates: what is bogus does not exist for a visitor.
    Servers,
    /// Nobody's: bogus data comes as it is.
    Nobodys,
    /// Ours, against our own anchors.
    Ours,
}

impl Resolver {
    /// `trust`: what the certificates of servers over TLS and HTTPS are verified against.
    pub(super) fn new(
        mut servers: Vec<DnsServer>,
        anchor: Option<&Path>,
        trust: Trust,
    ) -> Result<Self, SetupError> {
        if servers.is_empty() {
            servers = system_servers();
        }
        let anchors = Arc::new(match anchor {
            None => TrustAnchors::default(),
            Some(path) => anchors_of(path)
                .map_err(|reason| SetupError::Anchor { path: path.to_owned(), reason })?,
        });
        Self::with_anchors(servers, anchors, trust)
    }

    /// A resolver that asks only `server`, with the same anchors: a question's own resolver.
    pub(crate) fn only(&self, server: SocketAddr) -> Result<Self, SetupError> {
        Self::with_anchors(vec![server.into()], Arc::clone(&self.anchors), self.trust.clone())
    }

    fn with_anchors(
        servers: Vec<DnsServer>,
        anchors: Arc<TrustAnchors>,
        trust: Trust,
    ) -> Result<Self, SetupError> {
        if servers.is_empty() {
            return Err(SetupError::NoResolver(RESOLV_CONF));
        }
        // Two rounds over all servers fit into the time for one name.
        let attempt = PATIENCE / (2 * servers.len() as u32);
        let attempt = attempt.clamp(Duration::from_secs(1), Duration::from_millis(2400));
        let servers = servers
            .into_iter()
            .map(|server| Upstream::new(server, &trust, attempt, &anchors))
            .collect::<Result<_, net::NetError>>()
            .map_err(|error| SetupError::Resolver(error.to_string()))?;
        Ok(Self {
            servers,
            anchors,
            trust,
            heard: Mutex::default(),
            uplink: Uplink::default(),
            keys: Mutex::default(),
        })
    }

    /// The addresses of a name, IPv6 and IPv4, at most sixteen, unvetted. Fails with
    /// [`NetError::NameNotFound`], [`NetError::Timeout`], or the codes `dns-failed` (the name's
    /// servers) and `resolver-down` (ours).
    pub async fn addresses(
        &self,
        name: &DomainName,
        deadline: Instant,
    ) -> Result<Vec<IpAddr>, NetError> {
        if name.as_str() == LOCALHOST {
            // No server is asked for it (RFC 6761, 6.3).
            return Ok(vec![Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()]);
        }
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
            Ok(Err(Failure::Silent)) | Err(_) => {
                Err(self.blame(deadline, NetError::Timeout(Phase::Resolve)).await)
            }
            Ok(Err(Failure::Unfound(error))) => Err(self.blame(deadline, error).await),
            Ok(Err(Failure::Refused(error))) => {
                Err(self.judge_refusal(name, deadline, error).await)
            }
            Ok(Err(Failure::Certain(error))) => Err(error),
            Ok(Ok(addresses)) => Ok(addresses),
        }
    }

    /// The TXT records of a name, each as one text; none when it has no such records. Fails with
    /// [`NetError::Timeout`] or the code `dns-failed`, where nobody knows whether it has.
    pub async fn texts(&self, name: &str, deadline: Instant) -> Result<Vec<String>, NetError> {
        let name = absolute(name)?;
        let bound = deadline.min(Instant::now() + PATIENCE);
        let asked = self.lookup(&name, RecordType::TXT, Validation::Servers);
        let Ok(answered) = timeout_at(bound.into(), asked).await else {
            return Err(NetError::Timeout(Phase::Resolve));
        };
        match answered.outcome {
            Ok(records) => Ok(records.answers().iter().filter_map(|r| text(&r.data)).collect()),
            Err(error) => match negative(error) {
                Ok(()) => Ok(Vec::new()),
                Err(Failure::Silent) => Err(NetError::Timeout(Phase::Resolve)),
                Err(
                    Failure::Unfound(error) | Failure::Refused(error) | Failure::Certain(error),
                ) => Err(error),
            },
        }
    }

    /// Whether any server can find out anything at all. Where they never showed that they reach
    /// others, they are asked for the root's name servers. Whether they reach others again is for
    /// [`is_resolving`](Self::is_resolving) to find out: who looks up a name does not wait for that.
    pub(crate) async fn is_alive(&self, deadline: Instant) -> bool {
        if self.is_cut_off() {
            return false;
        }
        match self.had_uplink().await {
            Some(has_uplink) => has_uplink,
            None => self.answers_for_root(deadline).await,
        }
    }

    /// Whether any server is there: any answer counts but that it failed, which is what a recursor
    /// says that never had a way out, or has lost it and kept nothing.
    async fn answers_for_root(&self, deadline: Instant) -> bool {
        let outcome = self.ask_root(deadline).await;
        outcome.is_some_and(|outcome| outcome.as_ref().err().is_none_or(is_knowledge))
    }

    /// What is said of the root's name servers; none where nobody said anything in time.
    async fn ask_root(&self, deadline: Instant) -> Option<Result<Lookup, net::NetError>> {
        let root = Name::root();
        let asked = self.lookup(&root, RecordType::NS, Validation::Servers);
        timeout_at(deadline.into(), asked).await.ok().map(|answered| answered.outcome)
    }

    /// Whether our servers answer us: as long as one did lately, nobody is asked, unless they are
    /// known to live on what they have kept. Servers that have refused a name, and nothing but refused
    /// since, may refuse whatever is asked by us; the root is one more chance for them.
    pub async fn is_resolving(&self, deadline: Instant) -> bool {
        self.prove_uplink().await;
        if self.was_heard_lately() {
            return true;
        }
        let has_uplink = if self.is_cut_off() { self.had_uplink().await } else { None };
        match has_uplink {
            Some(has_uplink) => has_uplink,
            None => self.answers_for_root(deadline).await && !self.heard.lock().is_refused(),
        }
    }

    /// Whether a server has answered something lately that it need not have kept.
    pub fn was_heard_lately(&self) -> bool {
        !self.is_cut_off() && self.heard.lock().answered_lately()
    }

    /// Whether a chain of trust can begin. Where the servers say that the root has no keys there is
    /// nothing to validate, and each attempt would cost many questions. Silence says nothing, nor
    /// does a failure.
    pub(crate) async fn has_root_keys(&self, deadline: Instant) -> bool {
        let root = Name::root();
        // Without an anchor for the root, chains begin elsewhere.
        if self.anchors.is_empty() || self.knows_keys(&root) == Some(true) {
            return true;
        }
        let asked = self.lookup(&root, RecordType::DNSKEY, Validation::Nobodys);
        let Ok(answered) = timeout_at(deadline.into(), asked).await else {
            return true;
        };
        match answered.outcome {
            Ok(keys) => keys.answers().iter().any(|key| key.record_type() == RecordType::DNSKEY),
            Err(error) => !is_knowledge(&error),
        }
    }

    /// Whether a validation came to no end: it says nothing about the answer.
    pub(crate) fn gave_up(error: &net::NetError) -> bool {
        validating::gave_up(error)
    }

    /// Whether a signature held over the keys of a zone a moment ago; none when nobody looked.
    pub(crate) fn knows_keys(&self, zone: &Name) -> Option<bool> {
        let keys = self.keys.lock();
        let (at, signed) = keys.get(zone)?;
        (at.elapsed() < KEEP_KEYS).then_some(*signed)
    }

    pub(crate) fn remember_keys(&self, zone: Name, signed: bool) {
        let mut keys = self.keys.lock();
        if keys.len() >= MOST_ZONES {
            keys.retain(|_, (at, _)| at.elapsed() < KEEP_KEYS);
        }
        if keys.len() < MOST_ZONES {
            keys.insert(zone, (Instant::now(), signed));
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
                () = sleep(grace(addresses, has_route)) => Ok(Vec::new()),
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
        let records = match self.lookup(name, rtype, Validation::Servers).await.outcome {
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
}

/// How long the other family is waited for once these addresses are known.
fn grace(addresses: &[IpAddr], has_route: impl Fn(IpAddr) -> bool) -> Duration {
    let is_useful = addresses.iter().any(|address| has_route(*address));
    if is_useful { GRACE } else { LONG_GRACE }
}

/// Without any anchor nothing would be validated, and nobody told of it.
fn anchors_of(path: &Path) -> Result<TrustAnchors, String> {
    let anchors = TrustAnchors::from_file(path).map_err(|error| error.to_string())?;
    if anchors.is_empty() { Err("it holds no DNSKEY record".to_owned()) } else { Ok(anchors) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn family_without_a_route_leaves_the_other_time_to_be_asked_again() {
        let addresses = ["2001:db8::1", "192.0.2.1"].map(|text| text.parse::<IpAddr>().unwrap());
        let [v6, v4] = addresses;
        assert_eq!(grace(&[v6], |address| address.is_ipv4()), LONG_GRACE);
        assert_eq!(grace(&[v4], |address| address.is_ipv4()), GRACE);
        assert_eq!(grace(&[v6, v4], |address| address.is_ipv4()), GRACE);
        // The kernel sends nothing there without being asked to.
        assert!(!has_route(Ipv4Addr::BROADCAST.into()));
        assert!(has_route(Ipv4Addr::LOCALHOST.into()));
    }
}
