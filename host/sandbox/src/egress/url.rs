//! URLs that others hand us: read once, strictly, and judged by what was read.
//!
//! Parsers differ in what they make of blanks, backslashes, user-info, percent signs and odd
//! spellings of IPv4. Whatever could be read in two ways is refused before it is parsed.
//!
//! `localhost` is the one host without a dot: the loopback address, asked of no name server (RFC
//! 6761, 6.3) and judged like it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};
use vedette_model::{DomainName, domain_name::Target};

use super::Refusal;

/// Parses an `http` or `https` URL. The host is a name of the public form or a canonical address
/// literal; the port is not one of the "bad ports" of the Fetch standard.
pub fn parse(text: &str) -> Result<Url, Refusal> {
    if text.bytes().any(|b| b <= b' ' || b == 0x7f || b == b'\\') {
        return Err(Refusal::Url("must not contain blanks, control characters or backslashes"));
    }
    let authority = authority(text)?;
    if authority.contains(['@', '%', ';']) {
        return Err(Refusal::Url(
            "must name a plain host, without user, percent sign or semicolon",
        ));
    }
    let url = Url::parse(text).map_err(|_| Refusal::Url("cannot be read"))?;
    vet_host(&url, host_text(authority))?;
    let port = port(&url);
    if BAD_PORTS.contains(&port) {
        return Err(Refusal::Port(port));
    }
    Ok(url)
}

/// The host that the URL names. The URL must have come from [`parse`].
pub fn target(url: &Url) -> Result<Target, Refusal> {
    match url.host() {
        Some(Host::Ipv4(address)) => Ok(Target::Address(IpAddr::V4(address))),
        Some(Host::Ipv6(address)) => Ok(Target::Address(IpAddr::V6(address))),
        Some(Host::Domain(LOCALHOST)) => Ok(Target::Address(IpAddr::V4(Ipv4Addr::LOCALHOST))),
        Some(Host::Domain(name)) => Ok(Target::Name(DomainName::parse(name)?)),
        None => Err(Refusal::Url("must name a host")),
    }
}

/// The port that the URL names or implies.
pub fn port(url: &Url) -> u16 {
    let port = url.port_or_known_default();
    port.expect("http and https imply a port")
}

/// What stands between `//` and the path.
fn authority(text: &str) -> Result<&str, Refusal> {
    const WRONG: Refusal = Refusal::Url("must start with http:// or https:// and a host");
    let (scheme, rest) = text.split_once("://").ok_or(WRONG)?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Err(WRONG);
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    if end == 0 { Err(WRONG) } else { Ok(&rest[..end]) }
}

/// The authority without its port.
fn host_text(authority: &str) -> &str {
    match authority.rfind(':') {
        Some(colon) if !authority[colon..].contains(']') => &authority[..colon],
        _ => authority,
    }
}

/// The parser accepts a dozen spellings of one IPv4 address; only the dotted quad is a host.
fn vet_host(url: &Url, written: &str) -> Result<(), Refusal> {
    match url.host() {
        Some(Host::Ipv4(address)) if written == address.to_string() => Ok(()),
        Some(Host::Ipv6(address)) => {
            let inner = written.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            match inner.and_then(|text| text.parse::<Ipv6Addr>().ok()) {
                Some(parsed) if parsed == address => Ok(()),
                _ => Err(Refusal::Url("must name its IPv6 address in brackets, without a zone")),
            }
        }
        Some(Host::Domain(LOCALHOST)) => Ok(()),
        Some(Host::Domain(name)) => DomainName::parse(name).map(drop).map_err(Refusal::from),
        Some(Host::Ipv4(_)) => Err(Refusal::Url("must write its IPv4 address as a dotted quad")),
        None => Err(Refusal::Url("must name a host")),
    }
}

/// As the parser writes it, whatever was given.
pub(super) const LOCALHOST: &str = "localhost";

/// fetch.spec.whatwg.org/#port-blocking, except 1 and 9: nothing that could be tricked into
/// anything listens there, and they are what people name as a closed port.
const BAD_PORTS: [u16; 81] = [
    0, 7, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
    103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
    512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
    995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
    6669, 6679, 6697, 10080,
];
