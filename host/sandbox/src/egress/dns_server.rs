//! A DNS server as the operator names it: plain, over TCP, TLS (RFC 7858) or HTTPS (RFC 8484).

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    str::FromStr,
    sync::Arc,
};

use hickory_resolver::config::{ConnectionConfig, NameServerConfig};
use url::{Host, Url};

/// A DNS server and how it is spoken to: `192.0.2.53`, `192.0.2.53:5353`, `[2001:db8::53]:53`,
/// `tcp://192.0.2.53`, `tls://192.0.2.53#dns.example`, `https://192.0.2.53/dns-query#dns.example`.
/// Servers are named by address, so that finding them needs no other; the name after `#` is the
/// one that the certificate must be for, the address itself where there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsServer {
    pub address: SocketAddr,
    pub transport: Transport,
}

/// How a DNS server is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// UDP, and TCP for what does not fit.
    Plain,
    Tcp,
    Tls {
        name: Arc<str>,
    },
    Https {
        name: Arc<str>,
        path: Arc<str>,
    },
}

/// What is wrong with the text of a DNS server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "is no DNS server such as 192.0.2.53:53, tcp://192.0.2.53, tls://192.0.2.53#dns.example or \
     https://192.0.2.53/dns-query#dns.example"
)]
pub struct NoDnsServer;

impl DnsServer {
    pub(super) fn config(&self) -> NameServerConfig {
        let connections = match &self.transport {
            Transport::Plain => vec![ConnectionConfig::udp(), ConnectionConfig::tcp()],
            Transport::Tcp => vec![ConnectionConfig::tcp()],
            Transport::Tls { name } => vec![ConnectionConfig::tls(Arc::clone(name))],
            Transport::Https { name, path } => {
                vec![ConnectionConfig::https(Arc::clone(name), Some(Arc::clone(path)))]
            }
        };
        let on_port = |mut connection: ConnectionConfig| {
            connection.port = self.address.port();
            connection
        };
        let connections = connections.into_iter().map(on_port).collect();
        NameServerConfig::new(self.address.ip(), true, connections)
    }
}

impl From<SocketAddr> for DnsServer {
    fn from(address: SocketAddr) -> Self {
        Self { address, transport: Transport::Plain }
    }
}

impl FromStr for DnsServer {
    type Err = NoDnsServer;

    fn from_str(text: &str) -> Result<Self, NoDnsServer> {
        if !text.contains("://") {
            let address = text.parse().or_else(|_| text.parse().map(|ip: IpAddr| (ip, 53).into()));
            let address: SocketAddr = address.map_err(|_| NoDnsServer)?;
            return if address.port() == 0 { Err(NoDnsServer) } else { Ok(address.into()) };
        }
        let url = Url::parse(text).map_err(|_| NoDnsServer)?;
        let ip = address(&url).ok_or(NoDnsServer)?;
        let name = || url.fragment().map_or_else(|| ip.to_string().into(), Arc::from);
        let (port, transport) = match url.scheme() {
            "udp" => (53, Transport::Plain),
            "tcp" => (53, Transport::Tcp),
            "tls" => (853, Transport::Tls { name: name() }),
            "https" => {
                let path = if url.path() == "/" { "/dns-query" } else { url.path() };
                (443, Transport::Https { name: name(), path: path.into() })
            }
            _ => return Err(NoDnsServer),
        };
        let port = url.port().unwrap_or(port);
        let is_bare =
            matches!(transport, Transport::Https { .. }) || matches!(url.path(), "" | "/");
        if port == 0 || !is_bare || url.query().is_some() || !url.username().is_empty() {
            return Err(NoDnsServer);
        }
        Ok(Self { address: SocketAddr::new(ip, port), transport })
    }
}

impl fmt::Display for DnsServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address;
        match &self.transport {
            Transport::Plain => write!(f, "{address}"),
            Transport::Tcp => write!(f, "tcp://{address}"),
            Transport::Tls { name } => write!(f, "tls://{address}#{name}"),
            Transport::Https { name, path } => write!(f, "https://{address}{path}#{name}"),
        }
    }
}

/// The host as an address; schemes that are not the web's keep it as text.
fn address(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(text) => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_read_and_shown_alike() {
        let servers = [
            ("192.0.2.53", "192.0.2.53:53"),
            ("192.0.2.53:5353", "192.0.2.53:5353"),
            ("2001:db8::53", "[2001:db8::53]:53"),
            ("udp://192.0.2.53", "192.0.2.53:53"),
            ("tcp://192.0.2.53:5353", "tcp://192.0.2.53:5353"),
            ("tls://192.0.2.53", "tls://192.0.2.53:853#192.0.2.53"),
            ("tls://[2001:db8::53]#dns.example", "tls://[2001:db8::53]:853#dns.example"),
            ("https://192.0.2.53#dns.example", "https://192.0.2.53:443/dns-query#dns.example"),
            ("https://192.0.2.53:8443/q#a.example", "https://192.0.2.53:8443/q#a.example"),
        ];
        for (text, expected) in servers {
            let server: DnsServer = text.parse().expect(text);
            assert_eq!(server.to_string(), expected);
            assert_eq!(expected.parse(), Ok(server), "{expected}");
        }
    }

    #[test]
    fn what_needs_another_server_to_be_found_is_refused() {
        let texts = [
            "",
            "dns.example",
            "tls://dns.example",
            "https://dns.example/dns-query",
            "quic://192.0.2.53",
            "tcp://192.0.2.53/path",
            "tls://192.0.2.53:0",
            "https://user@192.0.2.53/",
            "192.0.2.53:70000",
            "192.0.2.53:0",
            "[2001:db8::53]:0",
        ];
        for text in texts {
            assert_eq!(text.parse::<DnsServer>(), Err(NoDnsServer), "{text}");
        }
    }
}
