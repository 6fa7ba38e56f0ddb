//! Handshake messages of a server, taken apart (RFC 5246, 7.4; RFC 8446, 4).

use crate::suites::{self, Exchange};

/// What is left of a message.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(&'a [u8]);

/// The start of a server's flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServerHello {
    /// As negotiated: the extension's where there is one.
    pub(super) version: u16,
    pub(super) cipher: u16,
    pub(super) compression: u8,
    /// It answered renegotiation_info (RFC 5746).
    pub(super) renegotiation: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_be_bytes)
    }

    pub(super) fn u24(&mut self) -> Option<usize> {
        let [high, middle, low] = self.take(3)?.try_into().ok()?;
        Some(usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low))
    }

    fn vector8(&mut self) -> Option<&'a [u8]> {
        let length = self.u8()?;
        self.take(length.into())
    }

    fn vector16(&mut self) -> Option<&'a [u8]> {
        let length = self.u16()?;
        self.take(length.into())
    }

    fn vector24(&mut self) -> Option<&'a [u8]> {
        let length = self.u24()?;
        self.take(length)
    }
}

/// A HelloRetryRequest has the same form, and tells as much.
pub(super) fn server_hello(body: &[u8]) -> Option<ServerHello> {
    let mut body = Reader::new(body);
    let version = body.u16()?;
    body.take(32)?;
    body.vector8().filter(|session| session.len() <= 32)?;
    let (cipher, compression) = (body.u16()?, body.u8()?);
    let mut hello = ServerHello { version, cipher, compression, renegotiation: false };
    if body.is_empty() {
        return Some(hello);
    }
    let mut extensions = Reader::new(body.vector16()?);
    while !extensions.is_empty() {
        let kind = extensions.u16()?;
        let mut data = Reader::new(extensions.vector16()?);
        match kind {
            SUPPORTED_VERSIONS => hello.version = data.u16()?,
            RENEGOTIATION_INFO => hello.renegotiation = true,
            _ => {}
        }
    }
    Some(hello)
}

/// The DER of each certificate, leaf first; a list that breaks off counts as far as it goes.
pub(super) fn certificates(body: &[u8]) -> Vec<Vec<u8>> {
    let Some(list) = Reader::new(body).vector24() else { return Vec::new() };
    let mut list = Reader::new(list);
    let certificates = std::iter::from_fn(|| list.vector24());
    certificates.filter(|der| !der.is_empty()).take(MAX_CHAIN).map(<[u8]>::to_vec).collect()
}

/// The OCSP response (RFC 6066, 8).
pub(super) fn staple(body: &[u8]) -> Option<Vec<u8>> {
    let mut body = Reader::new(body);
    let ocsp = body.u8()? == 1;
    body.vector24().filter(|response| ocsp && !response.is_empty()).map(<[u8]>::to_vec)
}

/// Bits of the prime that a ServerKeyExchange names; none where the suite's keys are agreed on
/// in another way (on a curve, or in an export key).
pub(super) fn prime_bits(cipher: u16, body: &[u8]) -> Option<u32> {
    if suites::suite(cipher)?.exchange != Exchange::Dhe {
        return None;
    }
    let prime = Reader::new(body).vector16()?;
    let zeros = prime.iter().take_while(|byte| **byte == 0).count();
    let digits = prime.get(zeros..)?;
    let length = u32::try_from(digits.len()).ok()?;
    digits.first().map(|first| 8 * length - first.leading_zeros())
}

const SUPPORTED_VERSIONS: u16 = 43;
const RENEGOTIATION_INFO: u16 = 0xff01;
/// More certificates than an answer has room for, unless they are none.
const MAX_CHAIN: usize = 1_000;
