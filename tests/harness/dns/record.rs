//! Records as a zone file would list them, without owner and TTL.

use std::net::IpAddr;

use hickory_proto::rr::{
    Name, RData,
    rdata::{A, AAAA, CAA, CNAME, MX, NS, TXT},
};

/// `A` or `AAAA`.
pub fn address(text: &str) -> RData {
    match text.parse().expect("a test writes an address") {
        IpAddr::V4(ip) => RData::A(A(ip)),
        IpAddr::V6(ip) => RData::AAAA(AAAA(ip)),
    }
}

pub fn cname(target: &str) -> RData {
    RData::CNAME(CNAME(name(target)))
}

pub fn mx(preference: u16, host: &str) -> RData {
    RData::MX(MX::new(preference, name(host)))
}

pub fn ns(host: &str) -> RData {
    RData::NS(NS(name(host)))
}

/// One record of one or more strings.
pub fn txt(strings: &[&[u8]]) -> RData {
    RData::TXT(TXT::from_bytes(strings.to_vec()))
}

/// `tag` and `value` as they go over the wire.
pub fn caa(critical: bool, tag: &str, value: &str) -> RData {
    let mut caa = CAA::new_issue(critical, None, Vec::new());
    caa.tag = tag.to_owned();
    caa.value = value.as_bytes().to_vec();
    RData::CAA(caa)
}

fn name(text: &str) -> Name {
    let mut name = Name::from_ascii(text).expect("a test writes a name");
    name.set_fqdn(true);
    name
}
