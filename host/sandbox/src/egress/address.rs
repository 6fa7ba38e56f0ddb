//! What kind of address this is: public, or one of the special-use ranges.
//!
//! *Invariant:* embedded IPv4 forms (mapped, NAT64, 6to4, …) are special as they stand; they are
//! never unwrapped and judged by what is inside, since a gateway may see them otherwise.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The class of an address. `Special` carries the name of the range, for metrics and logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Public,
    Special(&'static str),
}

/// Classifies by the IANA special-purpose registries, and a little stricter: for IPv6 only what
/// has been delegated for global unicast is public (RFC 4291 section 2.5.4).
pub fn classify(address: IpAddr) -> Class {
    match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

fn classify_v4(address: Ipv4Addr) -> Class {
    let bits = address.to_bits();
    V4.iter()
        .find(|(net, length, _)| bits ^ net.to_bits() < 1 << (32 - length))
        .map_or(Class::Public, |(_, _, name)| Class::Special(name))
}

fn classify_v6(address: Ipv6Addr) -> Class {
    let bits = address.to_bits();
    let inside = |net: Ipv6Addr, length: u32| (bits ^ net.to_bits()) >> (128 - length) == 0;
    if !inside(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3) {
        return Class::Special(outside_global_unicast(address));
    }
    if let Some((_, _, name)) = V6.iter().find(|(net, length, _)| inside(*net, *length)) {
        return Class::Special(name);
    }
    let [.., high, low, _, _] = address.segments();
    if matches!((high, low), (0x0000 | 0x0200, 0x5efe)) {
        return Class::Special("isatap"); // RFC 5214: the lower half is an IPv4 address
    }
    Class::Public
}

/// A word for the metric; the decision does not depend on it.
fn outside_global_unicast(address: Ipv6Addr) -> &'static str {
    let [first, second, ..] = address.segments();
    match (first, second) {
        _ if address.is_unspecified() => "unspecified",
        _ if address.is_loopback() => "loopback",
        _ if address.to_ipv4_mapped().is_some() => "ipv4-mapped",
        (0x0064, 0xff9b) => "nat64",
        (0x0000, 0x0000) => "ipv4-embedded",
        (0xfe80..=0xfebf, _) => "link-local",
        (0xfc00..=0xfdff, _) => "unique-local",
        (0xff00..=0xffff, _) => "multicast",
        _ => "not-global-unicast",
    }
}

const V4: [(Ipv4Addr, u32, &str); 16] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, "this-network"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "shared"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "protocol-assignments"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "6to4-relay"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "benchmarking"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
    // Azure's wire server looks public, and answers every guest with its secrets.
    (Ipv4Addr::new(168, 63, 129, 16), 32, "metadata"),
];

const V6: [(Ipv6Addr, u32, &str); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "protocol-assignments"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "documentation"),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "6to4"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "documentation"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_is_special_from_its_first_to_its_last_address_and_no_further() {
        for (net, length, name) in V4 {
            let first = net.to_bits();
            let last = first | ((1u64 << (32 - length)) - 1) as u32;
            for bits in [first, last] {
                assert_eq!(classify_v4(Ipv4Addr::from_bits(bits)), Class::Special(name));
            }
            for outside in [first.wrapping_sub(1), last.wrapping_add(1)] {
                let class = classify_v4(Ipv4Addr::from_bits(outside));
                assert_ne!(class, Class::Special(name), "{}", Ipv4Addr::from_bits(outside));
            }
        }
        for (net, length, name) in V6 {
            let first = net.to_bits();
            let last = first | ((1u128 << (128 - length)) - 1);
            for bits in [first, last] {
                assert_eq!(classify_v6(Ipv6Addr::from_bits(bits)), Class::Special(name));
            }
        }
    }

    #[test]
    fn global_unicast_ends_at_both_edges() {
        let class = |text: &str| classify(text.parse().unwrap());
        assert_ne!(class("1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), Class::Public);
        assert_ne!(class("4000::"), Class::Public);
        assert_eq!(class("2001:200::1"), Class::Public);
        assert_eq!(class("3fff:1000::1"), Class::Public);
        assert_eq!(class("3ffe:ffff::1"), Class::Public);
        assert_eq!(class("2003::"), Class::Public);
    }
}
