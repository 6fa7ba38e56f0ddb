//! Flights built by hand, and a server that answers hellos by a rule: what the tests of raw hellos
//! are about.

use vedette_sdk::client_hello::{self, Closing, RANDOM};

use super::{
    Hello, Outcome,
    flight::{self, Answer},
};

/// A ClientHello, as a server reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Of the record.
    pub(crate) record_version: u16,
    /// The newest that is offered.
    pub(crate) version: u16,
    pub(crate) suites: Vec<u16>,
    pub(crate) compression: Vec<u8>,
    pub(crate) session: Vec<u8>,
    pub(crate) server_name: Option<String>,
    /// Versions below TLS 1.3 are offered too.
    pub(crate) below_tls13: bool,
    pub(crate) extensions: Vec<(u16, Vec<u8>)>,
    /// What follows the record of the hello.
    pub(crate) behind: Vec<u8>,
}

impl Heard {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        assert_eq!((bytes[0], bytes[5], bytes[6]), (22, 1, 0), "a ClientHello in its record");
        let end = 5 + usize::from(word(3));
        assert_eq!(usize::from(word(7)), end - 9, "the message fills the record");
        let mut at = 9 + 2 + 32;
        let mut part = |width: usize| {
            let length =
                bytes[at..at + width].iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            at += width + length;
            bytes[at - length..at].to_vec()
        };
        let (session, suites, compression) = (part(1), words(&part(2)), part(1));
        let extensions = if at < end { list(&bytes[at + 2..end]) } else { Vec::new() };
        let of = |kind: u16| extensions.iter().find(|(own, _)| *own == kind).map(|(_, data)| data);
        let versions = of(43).map(|data| words(&data[1..]));
        let server_name =
            of(0).map(|data| String::from_utf8(data[5..].to_vec()).expect("a name is ASCII"));
        Self {
            record_version: word(1),
            version: versions.as_ref().map_or(word(9), |versions| versions[0]),
            below_tls13: versions.is_none_or(|versions| versions.len() > 1),
            suites,
            compression,
            session,
            server_name,
            extensions,
            behind: bytes[end..].to_vec(),
        }
    }
}

/// A server that can do some versions and suites, its favourite suite first.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) versions: Vec<u16>,
    pub(crate) suites: Vec<u16>,
    pub(crate) chain: Vec<Vec<u8>>,
    pub(crate) staple: Option<Vec<u8>>,
    /// Bits of its Diffie-Hellman group.
    pub(crate) group: u32,
    pub(crate) renegotiation: bool,
    pub(crate) compression: u8,
}

impl Server {
    pub(crate) fn new(versions: &[u16], suites: &[u16]) -> Self {
        Self {
            versions: versions.to_vec(),
            suites: suites.to_vec(),
            chain: vec![vec![1], vec![2]],
            staple: None,
            group: 2048,
            renegotiation: true,
            compression: 0,
        }
    }

    /// Its flight, or alert 70 or 40.
    pub(crate) fn answer(&self, hello: &[u8]) -> Vec<u8> {
        let heard = Heard::read(hello);
        let fits = |version: &&u16| {
            **version <= heard.version && (heard.below_tls13 || **version == 0x0304)
        };
        let Some(version) = self.versions.iter().filter(fits).max() else { return alert(70) };
        let defined = |id: &&u16| {
            let suite = crate::suites::suite(**id).expect("a registered suite");
            heard.suites.contains(id) && suite.is_defined_at(*version)
        };
        let Some(suite) = self.suites.iter().find(defined) else { return alert(40) };
        record(&self.flight(*version, *suite, &heard))
    }

    /// What a run makes of its answer.
    pub(crate) fn outcome(&self, hello: Hello) -> Outcome {
        let hello = client_hello::write(&hello.offer(), "www.example.com", &BYTES, Closing::AtOnce);
        match flight::read(&self.answer(&hello)) {
            Answer::Hello(flight) => Outcome::Answered(flight),
            _ => Outcome::Refused,
        }
    }

    fn flight(&self, version: u16, suite: u16, heard: &Heard) -> Vec<u8> {
        let mut extensions = Vec::new();
        if version == 0x0304 {
            extensions.push((43, vec![3, 4]));
            return server_hello(0x0303, suite, 0, &extensions);
        }
        if self.renegotiation {
            extensions.push((0xff01, vec![0]));
        }
        let compression = heard.compression.iter().find(|own| **own == self.compression);
        let mut flight =
            server_hello(version, suite, compression.copied().unwrap_or_default(), &extensions);
        let columns = crate::suites::suite(suite).expect("a registered suite");
        if !columns.anonymous {
            flight.extend(certificate(&self.chain));
            flight.extend(self.staple.as_deref().map(status).unwrap_or_default());
        }
        flight.extend(match columns.exchange {
            crate::suites::Exchange::Dhe => prime_exchange(self.group),
            crate::suites::Exchange::Ecdhe => curve_exchange(),
            _ => Vec::new(),
        });
        flight.extend(message(14, &[]));
        flight
    }
}

pub(crate) fn record(payload: &[u8]) -> Vec<u8> {
    payload.chunks(1 << 14).flat_map(|chunk| [&[22, 3, 3][..], &vector16(chunk)].concat()).collect()
}

pub(crate) fn alert(description: u8) -> Vec<u8> {
    vec![21, 3, 3, 0, 2, 2, description]
}

pub(crate) fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &vector24(body)].concat()
}

pub(crate) fn server_hello(
    version: u16,
    suite: u16,
    compression: u8,
    extensions: &[(u16, Vec<u8>)],
) -> Vec<u8> {
    let mut body = [&version.to_be_bytes()[..], &[7; 32], &[4, 1, 2, 3, 4]].concat();
    body.extend(suite.to_be_bytes());
    body.push(compression);
    let extension =
        |(kind, data): &(u16, Vec<u8>)| [&kind.to_be_bytes()[..], &vector16(data)].concat();
    let extensions: Vec<u8> = extensions.iter().flat_map(extension).collect();
    if !extensions.is_empty() {
        body.extend(vector16(&extensions));
    }
    message(2, &body)
}

pub(crate) fn certificate(chain: &[Vec<u8>]) -> Vec<u8> {
    let list: Vec<u8> = chain.iter().flat_map(|der| vector24(der)).collect();
    message(11, &vector24(&list))
}

pub(crate) fn status(response: &[u8]) -> Vec<u8> {
    message(22, &[&[1][..], &vector24(response)].concat())
}

/// ServerKeyExchange with a prime of so many bits.
pub(crate) fn prime_exchange(bits: u32) -> Vec<u8> {
    let mut prime = vec![0xff; bits.div_ceil(8) as usize];
    prime[0] >>= (8 - bits % 8) % 8;
    message(12, &[vector16(&prime), vector16(&[2]), vector16(&[9; 16]), vec![4, 1, 0, 0]].concat())
}

/// ServerKeyExchange on P-256.
pub(crate) fn curve_exchange() -> Vec<u8> {
    message(12, &[&[3, 0, 0x17, 65][..], &[4; 65], &[4, 3, 0, 2, 1, 2]].concat())
}

/// What a hello of a test is made of.
pub(super) const BYTES: [u8; RANDOM] = [5; RANDOM];

fn vector16(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).expect("short").to_be_bytes()[..], bytes].concat()
}

fn vector24(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).expect("short").to_be_bytes()[1..], bytes].concat()
}

fn words(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect()
}

fn list(mut bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let mut all = Vec::new();
    while let [a, b, c, d, rest @ ..] = bytes {
        let (data, behind) = rest.split_at(usize::from(u16::from_be_bytes([*c, *d])));
        all.push((u16::from_be_bytes([*a, *b]), data.to_vec()));
        bytes = behind;
    }
    all
}
