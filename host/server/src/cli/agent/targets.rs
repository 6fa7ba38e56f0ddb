//! What an agent looks at: `HOST[:PORT]`, from flags and from a file.
//!
//! *Invariant:* no place is there twice, and there are no more than the service keeps of one agent.

use std::{
    collections::HashMap,
    fs,
    net::{IpAddr, Ipv6Addr},
    path::Path,
    str::FromStr,
};

use anyhow::{Context, anyhow, ensure};
use vedette_model::{Target, agent::MOST_PLACES};

/// As it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    host: Target,
    port: u16,
}

/// A host and all its ports to look at.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) name: Target,
    pub(super) ports: Vec<u16>,
}

/// All places of the flags and of the file, by their hosts.
///
/// # Errors
/// When the file cannot be read, a line of it is no place, or there is none at all, or more than
/// the service keeps of one agent: it would leave the others out of every report.
pub(super) fn all(flags: &[Place], file: Option<&Path>) -> anyhow::Result<Vec<Host>> {
    let mut places = flags.to_vec();
    if let Some(file) = file {
        let shown = file.display();
        let text = fs::read_to_string(file)
            .with_context(|| format!("--targets {shown}: cannot read it"))?;
        places.extend(listed(&text).map_err(|wrong| anyhow!("--targets {shown}, {wrong}"))?);
    }
    ensure!(
        !places.is_empty(),
        "--targets names nothing to look at: write one HOST[:PORT] on each line"
    );
    let hosts = by_host(places);
    let count: usize = hosts.iter().map(|host| host.ports.len()).sum();
    ensure!(
        count <= MOST_PLACES,
        "--target and --targets name {count} places; one agent looks at {MOST_PLACES} at most: \
         give the others to another agent, with a key of its own"
    );
    Ok(hosts)
}

fn listed(text: &str) -> Result<Vec<Place>, String> {
    let mut places = Vec::new();
    for (nth, line) in text.lines().enumerate() {
        let place = line.split('#').next().unwrap_or_default().trim();
        if place.is_empty() {
            continue;
        }
        let read = Place::from_str(place);
        places.push(read.map_err(|wrong| format!("line {}: {place} {wrong}", nth + 1))?);
    }
    Ok(places)
}

fn by_host(places: Vec<Place>) -> Vec<Host> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut known: HashMap<Target, usize> = HashMap::new();
    for Place { host, port } in places {
        let nth = *known.entry(host).or_insert_with_key(|name| {
            hosts.push(Host { name: name.clone(), ports: Vec::new() });
            hosts.len() - 1
        });
        let ports = &mut hosts[nth].ports;
        if !ports.contains(&port) {
            ports.push(port);
        }
    }
    hosts
}

impl FromStr for Place {
    type Err = String;

    /// A name or an address; one of version 6 stands in brackets where a port follows.
    fn from_str(text: &str) -> Result<Self, String> {
        let (host, port) = split(text).ok_or(SHAPE)?;
        let port = match port {
            None => DEFAULT_PORT,
            Some(port) => read_port(port).ok_or(SHAPE)?,
        };
        let host = Target::parse_local(host).map_err(|invalid| invalid.reason.into_owned())?;
        Ok(Self { host, port })
    }
}

fn split(text: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        host.parse::<Ipv6Addr>().ok()?;
        return match rest {
            "" => Some((host, None)),
            _ => Some((host, Some(rest.strip_prefix(':')?))),
        };
    }
    // Its colons are its own.
    if text.parse::<IpAddr>().is_ok() {
        return Some((text, None));
    }
    Some(match text.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    })
}

/// Digits alone: `u16` itself would read a sign.
fn read_port(text: &str) -> Option<u16> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| is_number && *port > 0)
}

const DEFAULT_PORT: u16 = 443;
const SHAPE: &str = "must be HOST or HOST:PORT, such as intranet.example.com:8443 or [fd00::1]:443";

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> Place {
        text.parse().expect("a place")
    }

    fn read(text: &str) -> Result<(String, u16), String> {
        text.parse().map(|place: Place| (place.host.to_string(), place.port))
    }

    #[test]
    fn a_place_is_a_host_and_perhaps_a_port() {
        for (text, host, port) in [
            ("Intranet.Example.com", "intranet.example.com", 443),
            ("intranet.example.com:8443", "intranet.example.com", 8443),
            ("printer.internal:1", "printer.internal", 1),
            ("DB01:636", "db01", 636),
            ("localhost", "localhost", 443),
            ("10.0.0.7", "10.0.0.7", 443),
            ("10.0.0.7:65535", "10.0.0.7", 65_535),
            ("fd00::7", "fd00::7", 443),
            ("[fd00::7]", "fd00::7", 443),
            ("[fd00::7]:636", "fd00::7", 636),
        ] {
            assert_eq!(read(text), Ok((host.to_owned(), port)), "{text}");
        }
        for text in [
            "",
            ":443",
            "1234",
            "https://intranet.example.com",
            "intranet.example.com:",
            "intranet.example.com:0",
            "intranet.example.com:+443",
            "intranet.example.com:65536",
            "intranet.example.com:https",
            "intranet.example.com/path",
            "two words.example.com",
            "[fd00::7",
            "[fd00::7]443",
            "[intranet.example.com]:443",
            "300.1.1.1",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_has_one_place_a_line() {
        let text = "# the racks\n\n  a.example.com \nb.example.com:8443 # behind the proxy\r\n";
        let places = listed(text).expect("places");
        let named = ["a.example.com", "b.example.com:8443"].map(place);
        assert_eq!(places, named);
        let wrong = listed("a.example.com\n# fine\nb:nowhere\n").expect_err("no port");
        assert!(wrong.starts_with("line 3: b:nowhere must be"), "{wrong}");
    }

    #[test]
    fn places_are_gathered_by_host_and_none_is_there_twice() {
        let places = ["a.example:1", "b.example", "A.example:2", "a.example:1", "b.example:443"];
        let places = places.map(place);
        let hosts = all(&places, None).expect("places");
        let seen: Vec<_> =
            hosts.iter().map(|host| (host.name.to_string(), host.ports.clone())).collect();
        let expected =
            vec![("a.example".to_owned(), vec![1, 2]), ("b.example".to_owned(), vec![443])];
        assert_eq!(seen, expected);
    }

    #[test]
    fn no_more_places_are_taken_than_the_service_keeps() {
        let mut places: Vec<Place> =
            (0..MOST_PLACES).map(|nth| place(&format!("host-{nth}.example"))).collect();
        places.push(place("host-0.example:443"));
        assert_eq!(all(&places, None).expect("one is there twice").len(), MOST_PLACES);
        places.push(place("host-0.example:444"));
        let refused = all(&places, None).expect_err("one too many").to_string();
        assert!(refused.contains("--targets") && refused.contains("1001 places"), "{refused}");
    }

    #[test]
    fn what_is_wrong_with_the_file_names_its_flag() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("targets");
        let said = |text: Option<&str>| {
            if let Some(text) = text {
                fs::write(&file, text).expect("written");
            }
            format!("{:#}", all(&[], Some(file.as_path())).expect_err("refused"))
        };
        assert!(said(None).starts_with("--targets /"));
        assert!(said(Some("# nothing\n")).starts_with("--targets names nothing"));
        assert!(said(Some("a\nb c\n")).contains("targets, line 2: b c must be a bare host name"));
    }
}
