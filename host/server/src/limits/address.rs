//! Which address a request is counted by.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use ipnet::IpNet;

/// The peer's address, or, behind proxies that the operator trusts, the rightmost hop of
/// `X-Forwarded-For` that is not one of them. IPv6 is cut to its /64, which is what one customer
/// has at least (decisions: client address).
///
/// `forwarded` are the header's values in the order they came. A hop that is no address ends the
/// walk: whoever reported it is the last one that is known. An empty one is none (RFC 9110, 5.6.1).
pub fn client_address<'a>(
    peer: IpAddr,
    forwarded: impl DoubleEndedIterator<Item = &'a str>,
    trusted: &[IpNet],
) -> IpAddr {
    let mut client = peer.to_canonical();
    let hops = forwarded.rev().flat_map(|value| value.rsplit(','));
    for hop in hops.filter(|hop| !hop.trim().is_empty()).map(parse_hop) {
        if !trusted.iter().any(|net| net.contains(&client)) {
            break;
        }
        let Some(hop) = hop else { break };
        client = hop;
    }
    bucket(client)
}

/// An address as proxies write it: some add the port, some put IPv6 in brackets.
fn parse_hop(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    bare.parse::<IpAddr>()
        .or_else(|_| text.parse::<SocketAddr>().map(|address| address.ip()))
        .ok()
        .map(|address| address.to_canonical())
}

fn bucket(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_cannot_choose_their_address() {
        for header in ["1.1.1.1", "1.1.1.1, 10.0.0.9", "10.0.0.1", "nonsense", ""] {
            assert_eq!(client("8.8.8.8", &[header]), "8.8.8.8", "{header}");
        }
    }

    #[test]
    fn behind_proxies_the_rightmost_untrusted_hop_counts() {
        let cases: &[(&[&str], &str)] = &[
            (&["1.1.1.1"], "1.1.1.1"),
            (&["6.6.6.6, 1.1.1.1"], "1.1.1.1"),
            (&["6.6.6.6, 1.1.1.1, 10.0.0.2"], "1.1.1.1"),
            (&["6.6.6.6", "1.1.1.1", "10.0.0.2"], "1.1.1.1"),
            (&["6.6.6.6, 1.1.1.1", "10.0.0.2,10.0.0.3"], "1.1.1.1"),
            (&["1.1.1.1:4711"], "1.1.1.1"),
            (&["[2001:db8:1:2:3::4]:4711"], "2001:db8:1:2::"),
            (&["::ffff:1.1.1.1"], "1.1.1.1"),
            (&["10.0.0.7"], "10.0.0.7"),
            (&["1.1.1.1,"], "1.1.1.1"),
            (&["6.6.6.6, 1.1.1.1, , 10.0.0.2,", ""], "1.1.1.1"),
            (&[" , ,"], "10.0.0.1"),
        ];
        for (headers, expected) in cases {
            assert_eq!(client("10.0.0.1", headers), *expected, "{headers:?}");
        }
    }

    #[test]
    fn a_malformed_hop_leaves_the_one_that_reported_it() {
        assert_eq!(client("10.0.0.1", &["1.1.1.1, nonsense"]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &["1.1.1.1, nonsense, 10.0.0.5"]), "10.0.0.5");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn neighbours_in_one_64_share_a_bucket() {
        assert_eq!(client("2001:db8::1", &[]), client("2001:db8::ffff:2", &[]));
        assert_ne!(client("2001:db8::1", &[]), client("2001:db8:0:1::1", &[]));
        assert_eq!(client("::ffff:9.9.9.9", &[]), "9.9.9.9");
    }

    fn client(peer: &str, forwarded: &[&str]) -> String {
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        client_address(peer.parse().unwrap(), forwarded.iter().copied(), &trusted).to_string()
    }
}
