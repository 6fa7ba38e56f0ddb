//! The DNS servers of the machine, where the operator names none.

use std::net::{IpAddr, SocketAddr};

use super::DnsServer;

/// Only `nameserver` lines matter here: the search list of the machine is not ours.
pub(super) fn system_servers() -> Vec<DnsServer> {
    let text = std::fs::read_to_string(RESOLV_CONF).unwrap_or_default();
    name_servers(&text).into_iter().map(DnsServer::from).collect()
}

fn name_servers(resolv_conf: &str) -> Vec<SocketAddr> {
    let lines = resolv_conf.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let address = (words.next() == Some("nameserver")).then(|| words.next()).flatten()?;
        address.parse::<IpAddr>().ok()
    });
    lines.map(|address| SocketAddr::new(address, 53)).collect()
}

pub(super) const RESOLV_CONF: &str = "/etc/resolv.conf";

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
}
