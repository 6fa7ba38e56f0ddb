//! Answers to raw hellos, with and without STARTTLS, and the grade of what they tell. Every hello
//! is answered with the same flight, but for the suite and the version that it is to choose.

#![no_main]

use std::{cell::Cell, rc::Rc};

use check_ssl::fuzz;
use libfuzzer_sys::fuzz_target;
use vedette_fuzz::{Input, host, plant};
use vedette_sdk::{
    net::NetError,
    testing::{Dialogue, Step},
    tls::Starttls,
    x509::Certificate,
};

fuzz_target!(init: plant(seeds(), LONG, 256 << 10), |data: &[u8]| {
    let mut input = Input(data);
    let starttls = input.choose(&PROTOCOLS);
    let chunk = usize::from(input.byte()) * 64 + 1;
    let negotiated = match input.number() {
        0 => None,
        suite => Some((0x0303, suite)),
    };
    let length = input.byte() % 4;
    let seen = host::examination((0..length).map(|_| certificate(&mut input)).collect());
    let answer: Rc<[u8]> = input.rest().into();
    let host = host::lonely();
    let flight = Rc::clone(&answer);
    host.tcp(move |_| if flight.is_empty() { Err(NetError::Reset) } else { Ok(flight.to_vec()) });
    host.connection(move |_| Ok(dialogue(Rc::clone(&answer), chunk)));
    fuzz::hellos(&host.cx(), starttls, negotiated, &seen);
});

/// A server that says its answer in pieces, whatever it hears.
fn dialogue(answer: Rc<[u8]>, chunk: usize) -> Dialogue {
    let said = Cell::new(0);
    Box::new(move |step| match step {
        Step::Read { max } => {
            let start = said.get();
            let end = answer.len().min(start + chunk.min(max as usize));
            said.set(end);
            Ok(answer[start..end].to_vec())
        }
        Step::Write(_) | Step::StartTls { .. } => Ok(Vec::new()),
    })
}

/// What the host may have read.
fn certificate(input: &mut Input<'_>) -> Certificate {
    let flags = input.byte();
    Certificate {
        signature_algorithm: input.choose(&SIGNATURES).to_owned(),
        key_algorithm: input.choose(&["RSA", "EC", "Ed25519", "DSA", "1.2.3"]).to_owned(),
        key_bits: u32::from(input.number()) << (flags >> 4),
        is_ca: flags & 1 != 0,
        self_signed: flags & 2 != 0,
        in_trust_path: flags & 4 != 0,
        ..host::certificate()
    }
}

const SIGNATURES: [&str; 4] = [
    "sha256WithRSAEncryption",
    "sha1WithRSAEncryption",
    "ecdsa-with-SHA384",
    "md5WithRSAEncryption",
];

const PROTOCOLS: [Option<Starttls>; 8] = [
    None,
    None,
    Some(Starttls::Smtp),
    Some(Starttls::Imap),
    Some(Starttls::Pop3),
    Some(Starttls::Ftp),
    Some(Starttls::Postgres),
    Some(Starttls::Xmpp),
];

/// What goes on and on: empty records, warnings, replies.
const LONG: &[(&str, &str)] = &[
    ("\0\u{7f}\0\0\0", "\u{16}\u{3}\u{3}\0\0"),
    ("\0\u{7f}\0\0\0", "\u{16}\u{3}\u{3}\0\u{1}\0"),
    ("\0\u{7f}\0\0\0", "\u{15}\u{3}\u{3}\0\u{2}\u{1}\u{70}"),
    ("\u{2}\u{7f}\0\0\0", "250-\r\n"),
    ("\u{7}\u{7f}\0\0\0", "<proceed"),
];

/// Plain, in large pieces, no suite negotiated, one RSA leaf of 2048 bits.
const HEAD: &[u8] = &[0, 255, 0, 0, 1, 4, 0, 0, 8, 0];

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![Vec::new()];
    for suite in [0xc030, 0x1302, 0x009f, 0x000a, 0x0005, 0x0001, 0xc014, 0x0033] {
        for version in [0x0300, 0x0301, 0x0303] {
            seeds.push([HEAD, &flight(version, suite)].concat());
        }
    }
    for (alert, level) in [(40, 2), (0, 1), (112, 1), (70, 2)] {
        seeds.push([HEAD, &record(21, &[level, alert])].concat());
    }
    let greetings: [&[u8]; 6] = [
        b"220 mx\r\n250-mx\r\n250 STARTTLS\r\n220 go\r\n",
        b"* OK imap\r\n* CAPABILITY X\r\na OK begin\r\n",
        b"+OK pop\r\n+OK begin\r\n",
        b"220 ftp\r\n234 go\r\n",
        b"S",
        b"<stream:stream><stream:features><starttls/></stream:features><proceed/>",
    ];
    for (protocol, greeting) in (2..).zip(greetings) {
        // In small pieces, since a server does not speak before it is asked to.
        let head = [&[protocol, 0], &HEAD[2..]].concat();
        seeds.push([&head, greeting, &flight(0x0303, 0xc030)].concat());
    }
    seeds.push([HEAD, b"HTTP/1.1 400 Bad Request\r\n\r\n"].concat());
    seeds
}

/// From ServerHello to ServerHelloDone.
fn flight(version: u16, suite: u16) -> Vec<u8> {
    let hello = [
        &version.to_be_bytes()[..],
        &[7; 32],
        &[0],
        &suite.to_be_bytes(),
        &[0, 0, 11, 0xff, 1, 0, 1, 0, 0, 43, 0, 2, 3, 3],
    ]
    .concat();
    let certificates = [&[0, 0, 7, 0, 0, 4][..], b"leaf"].concat();
    let staple = [&[1, 0, 0, 6][..], b"staple"].concat();
    let key = [&[0, 4][..], &[0xff; 4], &[0, 1, 2, 0, 1, 3]].concat();
    let messages = [
        message(2, &hello),
        message(11, &certificates),
        message(22, &staple),
        message(12, &key),
        message(14, &[]),
    ];
    record(22, &messages.concat())
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u8::try_from(body.len()).expect("a short message");
    [&[kind, 0, 0, length], body].concat()
}

fn record(kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len()).expect("a short record").to_be_bytes();
    [&[kind, 3, 3], &length[..], payload].concat()
}
