//! The host's probes, as plain functions: plain requests in, plain answers out.
//!
//! Every request and answer mirrors a record of the plugin contract (`vedette:net`), field by
//! field; the sandbox converts and nothing else. A probe connects through the egress layer and in
//! no other way, so what it may reach is decided there; what a *plugin* may reach (its grants) is
//! cut off before a probe is called.
//!
//! Probes take owned requests and answer `Send + 'static` futures: they run as tasks of their own,
//! since the caller's stack may be a small one, and stop when the task is aborted.
//!
//! *Invariant:* no probe reads a clock for anything but measuring; `now` comes with the [`Reach`].
//! *Invariant:* nothing that a peer sent appears in an error.

pub mod dns;
pub mod http;
pub mod tcp;
pub mod tls;
pub mod x509;

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use vedette_model::{Timestamp, domain_name::Target};

use crate::egress::{Audience, Connected, Dial, Egress, NetError};

/// How far a run may reach, and until when.
#[derive(Clone)]
pub struct Reach {
    pub egress: Egress,
    pub audience: Audience,
    /// The end of the run; every request's own timeout is cut to it.
    pub deadline: Instant,
    /// The moment certificates and staples are judged at.
    pub now: Timestamp,
    /// Hosts and ports that the operator's configuration names: they are dialled as written.
    pub configured: Arc<[(Target, u16)]>,
}

/// Where to connect. `host`: a name or an address literal; `connect_to`: an address literal that
/// replaces name resolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub host: String,
    pub port: u16,
    pub connect_to: Option<String>,
}

/// In microseconds; none = the phase did not happen. `first_byte_us` and `total_us` count from
/// the start of the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    pub resolve_us: Option<u32>,
    pub connect_us: Option<u32>,
    pub tls_us: Option<u32>,
    pub first_byte_us: Option<u32>,
    pub total_us: u32,
}

impl Reach {
    /// When a request with this timeout, made now, must have ended.
    fn until(&self, timeout_ms: u32) -> Instant {
        let own = Instant::now() + Duration::from_millis(timeout_ms.into());
        own.min(self.deadline)
    }

    fn is_configured(&self, target: &Target, port: u16) -> bool {
        self.configured.iter().any(|(host, number)| host == target && *number == port)
    }

    async fn connect(&self, endpoint: &Endpoint, deadline: Instant) -> Result<Connected, NetError> {
        let target = endpoint.target()?;
        if endpoint.connect_to.is_none() && self.is_configured(&target, endpoint.port) {
            let host = target.to_string();
            return self.egress.connect_configured(&host, endpoint.port, deadline).await;
        }
        let dial = Dial {
            target,
            port: endpoint.port,
            connect_to: endpoint.connect_to.as_deref().map(address).transpose()?,
            audience: self.audience,
            deadline,
        };
        self.egress.connect(&dial).await
    }
}

impl Endpoint {
    /// The host, canonical.
    pub fn target(&self) -> Result<Target, NetError> {
        let target = Target::parse_local(&self.host);
        target.map_err(|invalid| NetError::NotPermitted(invalid.to_string()))
    }
}

/// Parses an address literal, and nothing laxer: no octal, hex or short forms, no zones.
fn address(text: &str) -> Result<IpAddr, NetError> {
    text.parse().map_err(|_| NetError::NotPermitted("the address cannot be read".to_owned()))
}

/// As the contract has addresses of peers: the address alone, RFC 5952.
fn peer_text(peer: SocketAddr) -> String {
    peer.ip().to_string()
}

fn micros(duration: Duration) -> u32 {
    duration.as_micros().try_into().unwrap_or(u32::MAX)
}

/// Runs the requests of a `-many` call, at most four at a time; answers keep their order.
async fn many<R, A>(requests: Vec<R>, probe: impl Fn(R) -> A) -> Vec<<A as Future>::Output>
where
    A: Future,
{
    use futures::StreamExt;
    futures::stream::iter(requests.into_iter().map(probe)).buffered(IN_FLIGHT).collect().await
}

/// Of one `-many` call.
const IN_FLIGHT: usize = 4;
