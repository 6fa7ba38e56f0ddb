//! ClientHello messages (RFC 8446, 4.1.2; RFC 5246, 7.4.1.2; RFC 6101, 5.6.1.2), for checks that ask a
//! server what its TLS is able to without a handshake.

use std::net::IpAddr;

use crate::Cx;

/// What a ClientHello says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The newest version that it offers.
    pub version: u16,
    /// Versions below 1.3 are offered too.
    pub below_tls13: bool,
    pub suites: Vec<u16>,
    pub groups: &'static [u16],
}

/// Whether the alert that ends the connection follows in the same write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    AtOnce,
    ByHand,
}

/// What a hello is made with, drawn by the host.
pub fn random(cx: &Cx) -> [u8; RANDOM] {
    let drawn = cx.random(RANDOM as u32);
    drawn.try_into().expect("the host draws as many bytes as it is asked for")
}

/// A ClientHello in its record, and behind it a fatal alert where `closing` says so: a server
/// waits for the client after its flight, and goes away at once when it has been told to. A
/// `server_name` that is empty or an address is not sent.
pub fn write(offer: &Offer, server_name: &str, random: &[u8; RANDOM], closing: Closing) -> Vec<u8> {
    let record_version = offer.version.min(TLS10);
    let hello = message(&body(offer, server_name, random));
    let mut bytes = record(HANDSHAKE, record_version, &hello);
    if closing == Closing::AtOnce {
        bytes.extend(record(ALERT, record_version, &[FATAL, HANDSHAKE_FAILURE]));
    }
    bytes
}

fn body(offer: &Offer, server_name: &str, random: &[u8; RANDOM]) -> Vec<u8> {
    let (own, rest) = random.split_at(32);
    let (session, share) = rest.split_at(32);
    let offers_tls13 = offer.version == TLS13;
    let mut body = offer.version.min(TLS12).to_be_bytes().to_vec();
    body.extend(own);
    // Boxes in between let TLS 1.3 pass when it looks like a resumption (RFC 8446, D.4).
    body.extend(vector8(if offers_tls13 { session } else { &[] }));
    let mut suites = offer.suites.clone();
    if offer.version == SSL3 {
        suites.push(RENEGOTIATION_SCSV);
    }
    body.extend(vector16(&words(&suites)));
    // DEFLATE is offered to see whether it is taken (CRIME); TLS 1.3 forbids to.
    body.extend(vector8(if offers_tls13 { &[0] } else { &[1, 0] }));
    if offer.version != SSL3 {
        let extensions = extensions(offer, server_name, share);
        let padding = padding(body.len() + extensions.len());
        body.extend(vector16(&[extensions, padding].concat()));
    }
    body
}

fn extensions(offer: &Offer, server_name: &str, share: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    if !server_name.is_empty() && server_name.parse::<IpAddr>().is_err() {
        let name = [&[0][..], &vector16(server_name.as_bytes())].concat();
        all.extend(extension(SERVER_NAME, &vector16(&name)));
    }
    // type ocsp, no responders, no extensions
    all.extend(extension(STATUS_REQUEST, &[1, 0, 0, 0, 0]));
    all.extend(extension(SUPPORTED_GROUPS, &vector16(&words(offer.groups))));
    all.extend(extension(POINT_FORMATS, &vector8(&[0])));
    all.extend(extension(SIGNATURE_ALGORITHMS, &vector16(&words(SIGNATURES))));
    all.extend(extension(EXTENDED_MASTER_SECRET, &[]));
    all.extend(extension(RENEGOTIATION_INFO, &vector8(&[])));
    if offer.version == TLS13 {
        let below: &[u16] = if offer.below_tls13 { &[TLS12, TLS11, TLS10] } else { &[] };
        let versions = [&[TLS13], below].concat();
        all.extend(extension(SUPPORTED_VERSIONS, &vector8(&words(&versions))));
        let entry = [&X25519.to_be_bytes()[..], &vector16(share)].concat();
        all.extend(extension(KEY_SHARE, &vector16(&entry)));
    }
    all
}

/// Some load balancers hang on hellos of 256 to 511 bytes (RFC 7685). `length`: the body without
/// the length of its extensions.
fn padding(length: usize) -> Vec<u8> {
    let length = length + 2 + 4;
    if !(256..512).contains(&length) {
        return Vec::new();
    }
    extension(PADDING, &vec![0; 512_usize.saturating_sub(length + 4)])
}

fn message(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("a hello is a few hundred bytes");
    let [_, length @ ..] = length.to_be_bytes();
    [&[CLIENT_HELLO], &length[..], body].concat()
}

fn record(kind: u8, version: u16, payload: &[u8]) -> Vec<u8> {
    [&[kind], &version.to_be_bytes()[..], &vector16(payload)].concat()
}

fn extension(kind: u16, data: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &vector16(data)].concat()
}

fn vector8(bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).expect("what is written here is short");
    [&[length], bytes].concat()
}

fn vector16(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).expect("a hello is a few hundred bytes");
    [&length.to_be_bytes()[..], bytes].concat()
}

fn words(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Bytes that a hello needs: its random, a session id and a key share, 32 each.
pub const RANDOM: usize = 96;

pub const SSL3: u16 = 0x0300;
pub const TLS10: u16 = 0x0301;
pub const TLS11: u16 = 0x0302;
pub const TLS12: u16 = 0x0303;
pub const TLS13: u16 = 0x0304;

/// x25519, P-256, P-384.
pub const MODERN_GROUPS: &[u16] = &[X25519, 0x0017, 0x0018];
/// Also P-521, secp256k1, P-224 and P-192: a server whose only curve is missing would look as if
/// it had no elliptic curves at all.
pub const ALL_GROUPS: &[u16] = &[X25519, 0x0017, 0x0018, 0x0019, 0x0016, 0x0015, 0x0013];

const HANDSHAKE: u8 = 22;
const ALERT: u8 = 21;
const CLIENT_HELLO: u8 = 1;
const FATAL: u8 = 2;
const HANDSHAKE_FAILURE: u8 = 40;
/// RFC 5746, 3.3: stands for the extension where there are none.
const RENEGOTIATION_SCSV: u16 = 0x00ff;

const SERVER_NAME: u16 = 0;
const STATUS_REQUEST: u16 = 5;
const SUPPORTED_GROUPS: u16 = 10;
const POINT_FORMATS: u16 = 11;
const SIGNATURE_ALGORITHMS: u16 = 13;
const PADDING: u16 = 21;
const EXTENDED_MASTER_SECRET: u16 = 23;
const SUPPORTED_VERSIONS: u16 = 43;
const KEY_SHARE: u16 = 51;
const RENEGOTIATION_INFO: u16 = 0xff01;

const X25519: u16 = 0x001d;
/// ECDSA, EdDSA, PSS, PKCS #1, DSA; also with SHA-224 and SHA-1, which old servers insist on.
const SIGNATURES: &[u16] = &[
    0x0403, 0x0503, 0x0603, 0x0807, 0x0808, 0x0804, 0x0805, 0x0806, 0x0809, 0x080a, 0x080b, 0x0401,
    0x0501, 0x0601, 0x0303, 0x0301, 0x0203, 0x0201, 0x0402, 0x0302, 0x0202,
];
