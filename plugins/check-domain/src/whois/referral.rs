//! Names of other WHOIS servers, which strangers wrote.
//!
//! *Invariant:* what comes out is a public host name: no address, no single label, nothing that
//! could end a line.

use super::Referral;
use super::label::Label;
use super::object::Objects;
use super::split::{head, host};

/// The server of the registrar, where the answer names one.
pub(super) fn referral(objects: &Objects<'_, '_>) -> Option<Referral> {
    objects
        .own()
        .filter(|(_, entry)| entry.label() == Label::WhoisServer)
        .find_map(|(_, entry)| vet(entry.values.first()?))
}

/// The server in a referral line, with or without a scheme and a port.
pub(super) fn vet(value: &str) -> Option<Referral> {
    let value = head(value.trim(), LONGEST);
    let (scheme, rest) = match value.split_once("://") {
        Some((scheme, rest)) => (scheme, rest),
        None => ("whois", value),
    };
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    if !is_web && !scheme.eq_ignore_ascii_case("whois") {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next()?.split_whitespace().next()?;
    let (name, port) = match authority.split_once(':') {
        Some((name, port)) => (name, Some(port.parse().ok().filter(|port| *port > 0)?)),
        None => (authority, None),
    };
    let host = host(name).filter(|host| is_public(host))?;
    // Of a web address only the host may be meant, and its port is that of the web.
    match is_web {
        true if !host.starts_with("whois.") => None,
        true => Some(Referral { host, port: None }),
        false => Some(Referral { host, port }),
    }
}

fn is_public(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or(host);
    let is_usable = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
        && host.split('.').all(|label| !label.starts_with('-') && !label.ends_with('-'));
    is_usable && !NOT_PUBLIC.contains(&last)
}

/// Top level names that lead inside (RFC 6761, RFC 6762, RFC 7686, RFC 9476).
const NOT_PUBLIC: &[&str] = &[
    "alt",
    "arpa",
    "corp",
    "home",
    "internal",
    "intranet",
    "invalid",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "onion",
    "private",
];

const LONGEST: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_taken_with_its_port() {
        for (value, host, port) in [
            ("whois.registrar.example", "whois.registrar.example", None),
            ("WHOIS.Registrar.Example.", "whois.registrar.example", None),
            ("whois://whois.registrar.example", "whois.registrar.example", None),
            ("whois://whois.registrar.example:43/", "whois.registrar.example", Some(43)),
            ("whois.registrar.example:4343", "whois.registrar.example", Some(4343)),
            ("https://whois.registrar.example/", "whois.registrar.example", None),
            ("whois.registrar.example (TCP)", "whois.registrar.example", None),
        ] {
            assert_eq!(vet(value), Some(Referral { host: host.to_owned(), port }), "{value}");
        }
    }

    #[test]
    fn what_is_no_public_host_is_not_followed() {
        for value in [
            "",
            "NIC .XX",
            "localhost",
            "whois",
            "127.0.0.1",
            "[::1]",
            "whois://[::1]:43",
            "0x7f000001",
            "2130706433",
            "whois.internal",
            "printer.local",
            "1.168.192.in-addr.arpa",
            "whois.registrar.example:0",
            "whois.registrar.example:99999",
            "whois.registrar.example:43:43",
            "user@whois.registrar.example",
            "rwhois://whois.registrar.example",
            "https://www.registrar.example/whois",
            "-whois.registrar.example",
            "whois..example",
            "whoïs.registrar.example",
        ] {
            assert_eq!(vet(value), None, "{value}");
        }
    }

    #[test]
    fn a_line_break_never_reaches_the_host() {
        let found = vet("whois.registrar.example\r\nQUIT").map(|referral| referral.host);
        assert_eq!(found.as_deref(), Some("whois.registrar.example"));
        assert_eq!(vet("whois.registrar.example\u{0}x"), None);
    }
}
