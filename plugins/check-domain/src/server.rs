//! A WHOIS server: a host and a port.

use std::{fmt, net::Ipv6Addr};

/// Compared by host and port; the host is in lower case, without a trailing dot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    /// A name or an address literal (IPv6 without brackets).
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Server {
    pub(crate) fn new(host: &str, port: u16) -> Self {
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        Self { host, port }
    }

    /// Reads `host`, `host:port`, `[address]:port` or a bare address.
    pub(crate) fn parse(text: &str, default_port: u16) -> Option<Self> {
        let text = text.trim();
        if text.parse::<Ipv6Addr>().is_ok() {
            return Some(Self::new(text, default_port));
        }
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest.split_once(']')?;
                (host, after.strip_prefix(':'))
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let port = port.map_or(Some(default_port), |port| port.parse().ok())?;
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':');
        let good = (1..=MAX_HOST).contains(&host.len()) && host.bytes().all(plain) && port > 0;
        good.then(|| Self::new(host, port))
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            return write!(f, "[{}]:{}", self.host, self.port);
        }
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// RFC 1035, 2.3.4.
const MAX_HOST: usize = 253;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_with_and_without_ports() {
        for (text, expected) in [
            ("whois.example", Some("whois.example:43")),
            ("Whois.Example.:43", Some("whois.example:43")),
            ("127.0.0.1:4343", Some("127.0.0.1:4343")),
            ("[::1]:4343", Some("[::1]:4343")),
            ("[::1]", Some("[::1]:43")),
            ("::1", Some("[::1]:43")),
            ("[::1", None),
            ("[x]:43]", None),
            ("", None),
            (":43", None),
            ("a:0", None),
            ("a:65536", None),
            ("a:", None),
            ("a\r\nb:43", None),
            ("a/b", None),
        ] {
            let read = Server::parse(text, 43).map(|server| server.to_string());
            assert_eq!(read.as_deref(), expected, "{text:?}");
        }
    }
}
