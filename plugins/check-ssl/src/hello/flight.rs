//! The answer to a hello, from ServerHello to ServerHelloDone.

use vedette_sdk::client_hello::TLS13;

use super::{
    message::{self, Reader, ServerHello},
    records::{self, CLOSE_NOTIFY},
};

/// What a server showed in clear: all of its flight up to TLS 1.2, the ServerHello of TLS 1.3.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flight {
    pub(crate) version: u16,
    pub(crate) cipher: u16,
    /// 0 = none.
    pub(crate) compression: u8,
    /// It renegotiates safely (RFC 5746).
    pub(crate) renegotiation: bool,
    /// DER, leaf first as served. Empty in TLS 1.3 and with anonymous suites.
    pub(crate) chain: Vec<Vec<u8>>,
    pub(crate) staple: Option<Vec<u8>>,
    /// Size of the Diffie-Hellman group, where it is one of primes.
    pub(crate) prime_bits: Option<u32>,
    /// Nothing more follows in clear.
    pub(crate) complete: bool,
}

/// What came back for a hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Hello(Flight),
    /// Instead of a ServerHello; `close_notify` is 0.
    Alert(u8),
    /// Not a byte.
    Silence,
    /// The first bytes are no TLS record.
    Other,
    /// TLS, and neither hello nor alert.
    Nonsense,
}

impl Flight {
    /// Whether this is the leaf that was served.
    pub(crate) fn is_of(&self, leaf: &[u8]) -> bool {
        self.chain.first().is_some_and(|own| own == leaf)
    }

    fn of(hello: ServerHello) -> Self {
        let ServerHello { version, cipher, compression, renegotiation } = hello;
        let complete = version >= TLS13;
        Self { version, cipher, compression, renegotiation, complete, ..Self::default() }
    }

    /// What else the flight brings. A message that was cut off ends it.
    fn follow(&mut self, messages: &mut Reader<'_>) {
        while !self.complete
            && let Some((kind, body)) = next(messages)
        {
            match kind {
                CERTIFICATE if self.chain.is_empty() => self.chain = message::certificates(body),
                CERTIFICATE_STATUS if self.staple.is_none() => self.staple = message::staple(body),
                SERVER_KEY_EXCHANGE => self.prime_bits = message::prime_bits(self.cipher, body),
                SERVER_HELLO_DONE => self.complete = true,
                // Among others CertificateRequest: a server that wants to know its client.
                _ => {}
            }
        }
    }
}

impl Answer {
    /// Whether more bytes could tell more.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Self::Hello(flight) => flight.complete,
            Self::Alert(_) | Self::Other => true,
            Self::Silence | Self::Nonsense => false,
        }
    }
}

/// Reads an answer, whole or as far as it came. An alert behind a ServerHello is the echo of our
/// own.
pub(super) fn read(bytes: &[u8]) -> Answer {
    if bytes.is_empty() {
        return Answer::Silence;
    }
    let said = records::read(bytes);
    if !said.is_tls {
        return Answer::Other;
    }
    let mut messages = Reader::new(&said.handshake);
    if let Some(hello) = first_hello(&mut messages) {
        let mut flight = Flight::of(hello);
        flight.follow(&mut messages);
        return Answer::Hello(flight);
    }
    said.alert.map_or(Answer::Nonsense, Answer::Alert)
}

/// Alerts by which a server says that it does not want what was offered.
pub(super) fn is_refusal(alert: u8) -> bool {
    matches!(alert, CLOSE_NOTIFY | 40 | 47 | 70 | 71 | 80 | 86)
}

fn first_hello(messages: &mut Reader<'_>) -> Option<ServerHello> {
    loop {
        match next(messages)? {
            (HELLO_REQUEST, _) => {}
            (SERVER_HELLO, body) => return message::server_hello(body),
            _ => return None,
        }
    }
}

/// The next whole message.
fn next<'a>(messages: &mut Reader<'a>) -> Option<(u8, &'a [u8])> {
    let kind = messages.u8()?;
    let length = messages.u24()?;
    Some((kind, messages.take(length)?))
}

/// The alert of a server that has no certificate for the name (RFC 6066, 3).
pub(super) const UNRECOGNIZED_NAME: u8 = 112;

const HELLO_REQUEST: u8 = 0;
const SERVER_HELLO: u8 = 2;
const CERTIFICATE: u8 = 11;
const SERVER_KEY_EXCHANGE: u8 = 12;
const SERVER_HELLO_DONE: u8 = 14;
const CERTIFICATE_STATUS: u8 = 22;
