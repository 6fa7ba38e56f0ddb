//! Which name a registry knows: the registrable part of a target.
//!
//! Besides the suffixes of the public list there are second-level zones whose owners run
//! registries of their own: the registry of their parent knows nothing of the names below.
//!
//! *Invariant:* pure; a name has at least two labels, and only letters that a query may carry.

use std::net::IpAddr;

use url::Host;
use vedette_sdk::{CheckError, suffix};

/// The registrable name of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    text: String,
    zone: Option<&'static Zone>,
}

/// A second-level zone that is a registry of its own.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Zone {
    pub(crate) name: &'static str,
    /// Its WHOIS server, on port 43.
    pub(crate) whois: &'static str,
}

impl Name {
    /// The registrable name of a canonical target. An address or a bare suffix has none.
    pub(crate) fn of(target: &str) -> Result<Self, CheckError> {
        let literal = target.trim_start_matches('[').trim_end_matches(']');
        if literal.parse::<IpAddr>().is_ok() {
            return unsupported("an address has no registration; check a domain name");
        }
        let zone = zone_of(target);
        let registrable = match zone {
            Some(zone) => below(target, zone),
            None => suffix::registrable(target),
        };
        // A query may hold a name and nothing else.
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_');
        match registrable.filter(|name| name.bytes().all(plain)) {
            Some(name) => Ok(Self { text: name.to_owned(), zone }),
            None => unsupported(&format!(
                "names are registered below {target}, not {target} itself; check one of them"
            )),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn tld(&self) -> &str {
        self.text.rsplit('.').next().unwrap_or(&self.text)
    }

    pub(crate) fn zone(&self) -> Option<&'static Zone> {
        self.zone
    }
}

fn zone_of(target: &str) -> Option<&'static Zone> {
    ZONES.iter().find(|zone| is_below(target, zone.name) || target == zone.name)
}

/// The name directly below the zone, or below one of the countries that eu.org is divided into.
fn below<'a>(target: &'a str, zone: &Zone) -> Option<&'a str> {
    let before = target.strip_suffix(zone.name)?.strip_suffix('.')?;
    let mut labels = before.rsplit('.');
    let mut start = before.len() - labels.next()?.len();
    let first = &before[start..];
    if zone.name == EU_ORG && EU_ORG_PARTS.contains(&first) {
        start = start.checked_sub(1 + labels.next()?.len())?;
    }
    target.get(start..).filter(|name| !name.starts_with('.'))
}

/// Whether `name` ends in `.parent`.
pub(crate) fn is_below(name: &str, parent: &str) -> bool {
    name.strip_suffix(parent).is_some_and(|before| before.ends_with('.'))
}

/// A host in A-labels, since registries also write it in letters beyond ASCII; anything else
/// unchanged.
pub(crate) fn a_labels(host: &str) -> String {
    if host.is_ascii() || host.len() > LONGEST_UNICODE {
        return host.to_owned();
    }
    match Host::parse(host) {
        Ok(Host::Domain(name)) => name,
        _ => host.to_owned(),
    }
}

fn unsupported<T>(reason: &str) -> Result<T, CheckError> {
    Err(CheckError::UnsupportedTarget(reason.to_owned()))
}

/// In bytes, of what may be a name of 253 once it is in A-labels.
const LONGEST_UNICODE: usize = 1_024;

const EU_ORG: &str = "eu.org";

/// Below these, and below eu.org itself, eu.org registers names.
const EU_ORG_PARTS: &[&str] = &[
    "al", "asso", "at", "au", "be", "bg", "ca", "cd", "ch", "cn", "cy", "cz", "de", "dk", "edu",
    "ee", "es", "fi", "fr", "gr", "hr", "hu", "ie", "il", "in", "int", "is", "it", "jp", "kr",
    "lt", "lu", "lv", "mc", "me", "mk", "mt", "my", "net", "ng", "nl", "no", "nz", "paris", "pl",
    "pt", "q-a", "ro", "ru", "se", "si", "sk", "tr", "uk", "us",
];

const CENTRALNIC: &str = "whois.centralnic.net";

const ZONES: &[Zone] = &[
    Zone { name: "ae.org", whois: CENTRALNIC },
    Zone { name: "br.com", whois: CENTRALNIC },
    Zone { name: "cn.com", whois: CENTRALNIC },
    Zone { name: "co.com", whois: CENTRALNIC },
    Zone { name: "com.de", whois: CENTRALNIC },
    Zone { name: "com.se", whois: CENTRALNIC },
    Zone { name: "de.com", whois: CENTRALNIC },
    Zone { name: "eu.com", whois: CENTRALNIC },
    Zone { name: "gb.com", whois: CENTRALNIC },
    Zone { name: "gb.net", whois: CENTRALNIC },
    Zone { name: "gr.com", whois: CENTRALNIC },
    Zone { name: "hu.com", whois: CENTRALNIC },
    Zone { name: "hu.net", whois: CENTRALNIC },
    Zone { name: "in.net", whois: CENTRALNIC },
    Zone { name: "jp.net", whois: CENTRALNIC },
    Zone { name: "jpn.com", whois: CENTRALNIC },
    Zone { name: "mex.com", whois: CENTRALNIC },
    Zone { name: "no.com", whois: CENTRALNIC },
    Zone { name: "qc.com", whois: CENTRALNIC },
    Zone { name: "ru.com", whois: CENTRALNIC },
    Zone { name: "sa.com", whois: CENTRALNIC },
    Zone { name: "se.com", whois: CENTRALNIC },
    Zone { name: "se.net", whois: CENTRALNIC },
    Zone { name: "uk.com", whois: CENTRALNIC },
    Zone { name: "uk.net", whois: CENTRALNIC },
    Zone { name: "us.com", whois: CENTRALNIC },
    Zone { name: "us.org", whois: CENTRALNIC },
    Zone { name: "uy.com", whois: CENTRALNIC },
    Zone { name: "za.com", whois: CENTRALNIC },
    Zone { name: EU_ORG, whois: "whois.eu.org" },
    Zone { name: "za.net", whois: "whois.za.net" },
    Zone { name: "za.org", whois: "whois.za.org" },
    Zone { name: "ac.za", whois: "whois.ac.za" },
    Zone { name: "co.za", whois: "whois.registry.net.za" },
    Zone { name: "gov.za", whois: "whois.gov.za" },
    Zone { name: "net.za", whois: "net-whois.registry.net.za" },
    Zone { name: "org.za", whois: "org-whois.registry.net.za" },
    Zone { name: "web.za", whois: "web-whois.registry.net.za" },
    Zone { name: "ac.uk", whois: "whois.ja.net" },
    Zone { name: "gov.uk", whois: "whois.ja.net" },
    Zone { name: "biz.ua", whois: "whois.biz.ua" },
    Zone { name: "co.ua", whois: "whois.co.ua" },
    Zone { name: "pp.ua", whois: "whois.pp.ua" },
    Zone { name: "co.ca", whois: "whois.co.ca" },
    Zone { name: "co.pl", whois: "whois.co.pl" },
    Zone { name: "edu.cn", whois: "whois.edu.cn" },
    Zone { name: "priv.at", whois: "whois.nic.priv.at" },
    Zone { name: "e164.arpa", whois: "whois.ripe.net" },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registrable_part_of_a_target_is_what_is_checked() {
        for (target, name, zone) in [
            ("example.com", "example.com", None),
            ("a.b.example.com", "example.com", None),
            ("a.example.co.uk", "example.co.uk", None),
            ("foo.github.io", "github.io", None),
            ("_dmarc.example.org", "example.org", None),
            ("a.b.ck", "a.b.ck", None),
            ("www.ck", "www.ck", None),
            ("x.xn--p1ai", "x.xn--p1ai", None),
            ("www.shop.uk.com", "shop.uk.com", Some("uk.com")),
            ("shop.br.com", "shop.br.com", Some("br.com")),
            ("a.shop.co.za", "shop.co.za", Some("co.za")),
            ("www.club.eu.org", "club.eu.org", Some("eu.org")),
            ("www.club.fr.eu.org", "club.fr.eu.org", Some("eu.org")),
            ("www.ox.ac.uk", "ox.ac.uk", Some("ac.uk")),
        ] {
            let read = Name::of(target).expect("it has a registrable part");
            assert_eq!((read.as_str(), read.zone().map(|z| z.name)), (name, zone), "{target}");
            assert!(name.ends_with(read.tld()));
        }
    }

    #[test]
    fn addresses_and_bare_suffixes_are_unsupported() {
        for target in [
            "192.0.2.1",
            "2001:db8::1",
            "[2001:db8::1]",
            "com",
            "co.uk",
            "uk.com",
            "co.za",
            "eu.org",
            "fr.eu.org",
            "localhost",
            "",
            "a\r\nb.com",
        ] {
            let read = Name::of(target);
            assert!(matches!(read, Err(CheckError::UnsupportedTarget(_))), "{target}: {read:?}");
        }
    }

    #[test]
    fn letters_beyond_ascii_become_a_labels() {
        for (host, expected) in [
            ("ns1.bücher.example", "ns1.xn--bcher-kva.example"),
            ("НС1.пример.рф", "xn--1-ytbm.xn--e1afmkfd.xn--p1ai"),
            ("NS_1.Example.com", "NS_1.Example.com"),
            ("１２７.0.0.1", "１２７.0.0.1"),
            ("bü cher.example", "bü cher.example"),
        ] {
            assert_eq!(a_labels(host), expected, "{host}");
        }
    }

    #[test]
    fn zones_are_second_level_and_listed_once() {
        for (at, zone) in ZONES.iter().enumerate() {
            assert_eq!(zone.name.split('.').count(), 2, "{}", zone.name);
            assert!(ZONES[at + 1..].iter().all(|other| other.name != zone.name), "{}", zone.name);
        }
    }
}
