use std::{cell::RefCell, rc::Rc, time::Duration};

use proptest::prelude::*;
use vedette_sdk::{
    client_hello::{self, Closing, TLS10, TLS12, TLS13},
    net::{Endpoint, NetError, Phase},
    testing::{Host, Step},
    tls::Starttls,
};

use super::{
    flight::{Answer, read},
    script::{self, BYTES, Heard, Server, alert, message, record},
    *,
};

fn heard(hello: Hello, server_name: &str) -> Heard {
    Heard::read(&client_hello::write(&hello.offer(), server_name, &BYTES, Closing::AtOnce))
}

fn extension(heard: &Heard, kind: u16) -> Option<&[u8]> {
    heard.extensions.iter().find(|(own, _)| *own == kind).map(|(_, data)| data.as_slice())
}

fn flight(bytes: &[u8]) -> Flight {
    match read(bytes) {
        Answer::Hello(flight) => flight,
        other => panic!("a flight, not {other:?}"),
    }
}

#[test]
fn hello_says_which_versions_it_offers() {
    for (hello, record_version, version, below, compression) in [
        (Hello::P13, 0x0301, 0x0304, false, &[0][..]),
        (Hello::P12, 0x0301, 0x0303, true, &[1, 0]),
        (Hello::P11, 0x0301, 0x0302, true, &[1, 0]),
        (Hello::P10, 0x0301, 0x0301, true, &[1, 0]),
        (Hello::P30, 0x0300, 0x0300, true, &[1, 0]),
        (Hello::W1, 0x0301, 0x0303, true, &[1, 0]),
        (Hello::S256, 0x0301, 0x0304, true, &[0]),
    ] {
        let heard = heard(hello, "www.example.com");
        assert_eq!(
            (heard.record_version, heard.version, heard.below_tls13, heard.compression.as_slice()),
            (record_version, version, below, compression),
            "{hello:?}"
        );
        assert_eq!(heard.session.len(), if version == 0x0304 { 32 } else { 0 });
        let [high, low] = record_version.to_be_bytes();
        assert_eq!(heard.behind, [21, high, low, 0, 2, 2, 40], "the alert that ends it");
    }
}

#[test]
fn hello_carries_what_servers_want_to_see() {
    for hello in Hello::ALL {
        let heard = heard(hello, "www.example.com");
        assert_eq!(heard.extensions.is_empty(), hello == Hello::P30);
        if hello == Hello::P30 {
            assert_eq!(heard.suites.last(), Some(&0x00ff));
            continue;
        }
        assert_eq!(heard.server_name.as_deref(), Some("www.example.com"));
        assert_eq!(extension(&heard, 5), Some(&[1, 0, 0, 0, 0][..]));
        assert_eq!(extension(&heard, 11), Some(&[1, 0][..]));
        assert_eq!(extension(&heard, 0xff01), Some(&[0][..]));
        assert_eq!(extension(&heard, 23), Some(&[][..]));
        let signatures = extension(&heard, 13).expect("signature_algorithms");
        assert!(signatures[2..].chunks(2).any(|scheme| scheme == [2, 1]), "SHA-1 with RSA");
        let groups = extension(&heard, 10).expect("supported_groups");
        assert_eq!(&groups[2..8], [0, 0x1d, 0, 0x17, 0, 0x18]);
        let share = extension(&heard, 51);
        assert_eq!(share.is_some(), heard.version == 0x0304);
        assert!(share.is_none_or(|share| share[..6] == [0, 36, 0, 0x1d, 0, 32]));
    }
}

#[test]
fn address_is_not_sent_as_a_name() {
    for address in ["192.0.2.7", "2001:db8::1"] {
        assert_eq!(heard(Hello::P12, address).server_name, None);
    }
}

#[test]
fn no_hello_has_a_length_that_load_balancers_choke_on() {
    for length in 1..=253 {
        for hello in Hello::ALL.into_iter().chain([Hello::Rest]) {
            let bytes =
                client_hello::write(&hello.offer(), &"a".repeat(length), &BYTES, Closing::ByHand);
            let body = bytes.len() - 5;
            assert!(!(256..512).contains(&body), "{hello:?} with {body} bytes");
            assert!(body < 1_200);
            assert_eq!(Heard::read(&bytes).behind, [0; 0]);
        }
    }
}

#[test]
fn whole_flight_of_tls12_is_read() {
    let chain = vec![vec![1; 40_000], vec![2; 3]];
    let bytes = record(
        &[
            message(0, &[]),
            script::server_hello(0x0303, 0x009f, 1, &[(0xff01, vec![0]), (5, Vec::new())]),
            script::certificate(&chain),
            script::status(&[0x30, 0]),
            script::prime_exchange(1_023),
            message(13, &[1, 1, 0, 0, 0, 0]),
            message(14, &[]),
        ]
        .concat(),
    );
    let expected = Flight {
        version: TLS12,
        cipher: 0x009f,
        compression: 1,
        renegotiation: true,
        chain,
        staple: Some(vec![0x30, 0]),
        prime_bits: Some(1_023),
        complete: true,
    };
    assert_eq!(flight(&bytes), expected);
    // The echo of our own alert, and what comes after the flight, change nothing.
    assert_eq!(flight(&[bytes.clone(), alert(40)].concat()), expected);
    assert_eq!(flight(&[bytes, record(&message(11, &[0, 0, 0]))].concat()), expected);
}

#[test]
fn messages_may_be_cut_into_any_records() {
    let payload = [
        script::server_hello(0x0302, 0xc014, 0, &[]),
        script::certificate(&[vec![7; 300]]),
        script::curve_exchange(),
        message(14, &[]),
    ]
    .concat();
    let whole = flight(&record(&payload));
    assert!(whole.complete && whole.prime_bits.is_none() && whole.chain == [vec![7; 300]]);
    for size in [1, 2, 3, 5, 100] {
        let bytes: Vec<u8> = payload.chunks(size).flat_map(record).collect();
        assert_eq!(flight(&bytes), whole, "records of {size}");
    }
}

#[test]
fn server_hello_of_tls13_ends_what_is_in_clear() {
    let hello = script::server_hello(0x0303, 0x1301, 0, &[(43, vec![3, 4]), (51, vec![0; 36])]);
    let bytes = [record(&hello), vec![20, 3, 3, 0, 1, 1], vec![23, 3, 3, 0, 2, 9, 9]].concat();
    let seen = flight(&bytes);
    assert_eq!((seen.version, seen.cipher, seen.complete), (TLS13, 0x1301, true));
    // A HelloRetryRequest has a random of its own, and means the same.
    let mut retry = hello;
    retry[6..14].copy_from_slice(&[0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11]);
    assert_eq!(flight(&record(&retry)), seen);
}

#[test]
fn anonymous_flight_has_no_chain() {
    let bytes = record(
        &[
            script::server_hello(0x0301, 0x0034, 0, &[]),
            script::prime_exchange(768),
            message(14, &[]),
        ]
        .concat(),
    );
    let seen = flight(&bytes);
    assert_eq!((seen.chain.len(), seen.prime_bits), (0, Some(768)));
}

#[test]
fn what_came_before_the_end_counts() {
    let bytes = record(
        &[
            script::server_hello(0x0303, 0xc030, 0, &[]),
            script::certificate(&[vec![1]]),
            message(14, &[]),
        ]
        .concat(),
    );
    let hello = 5 + 4 + 2 + 32 + 5 + 2 + 1;
    for end in 0..bytes.len() {
        match read(&bytes[..end]) {
            Answer::Silence => assert_eq!(end, 0),
            Answer::Nonsense => assert!(end < hello, "{end}"),
            Answer::Hello(seen) => {
                assert!(end >= hello && !seen.complete);
                assert_eq!(seen.chain.is_empty(), end < hello + 4 + 3 + 4, "{end}");
            }
            other => panic!("{end} bytes of a flight are {other:?}"),
        }
    }
}

#[test]
fn a_thousand_certificates_are_kept() {
    let chain: Vec<Vec<u8>> = (1..=1_100u16).map(|n| n.to_be_bytes().to_vec()).collect();
    let bytes = record(
        &[script::server_hello(0x0303, 0x002f, 0, &[]), script::certificate(&chain)].concat(),
    );
    assert_eq!(flight(&bytes).chain, chain[..1_000]);
}

#[test]
fn other_answers_are_told_apart() {
    for (bytes, expected) in [
        (Vec::new(), Answer::Silence),
        (alert(70), Answer::Alert(70)),
        (alert(112), Answer::Alert(112)),
        (vec![21, 3, 1, 0, 2, 1, 0], Answer::Alert(0)),
        (b"220 mail.example ESMTP\r\n".to_vec(), Answer::Other),
        (record(&message(14, &[])), Answer::Nonsense),
        (record(&message(2, &[3, 3])), Answer::Nonsense),
        (vec![21, 3, 1, 0, 2, 1, 112], Answer::Nonsense),
    ] {
        assert_eq!(read(&bytes), expected);
    }
    // A warning about the name does not keep a server from going on.
    let hello = record(&script::server_hello(0x0303, 0xc02f, 0, &[]));
    assert!(matches!(read(&[vec![21, 3, 3, 0, 2, 1, 112], hello].concat()), Answer::Hello(_)));
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_fail(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        read(&bytes);
        read(&record(&bytes));
        read(&record(&[script::server_hello(0x0303, 0x0033, 0, &[]), bytes].concat()));
    }

    #[test]
    fn damaged_messages_only_tell_less(
        kind in prop::sample::select(vec![2_u8, 11, 12, 13, 22]),
        body in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let hello = script::server_hello(0x0303, 0x0033, 0, &[]);
        let seen = flight(&record(&[hello, message(kind, &body), message(14, &[])].concat()));
        prop_assert_eq!((seen.version, seen.cipher, seen.complete), (TLS12, 0x0033, true));
        prop_assert!(seen.chain.iter().map(Vec::len).sum::<usize>() <= body.len());
    }
}

#[test]
fn largest_answer_is_read_in_one_pass() {
    // A quarter of a megabyte of one-byte records, and of empty messages.
    let hello: Vec<u8> =
        script::server_hello(0x0303, 0x0033, 0, &[]).chunks(1).flat_map(record).collect();
    let bytes = [hello, record(&[13]).repeat(100_000)].concat();
    assert!(!flight(&bytes).complete);
    let bytes = [
        record(&script::server_hello(0x0303, 0x0033, 0, &[])),
        record(&message(13, &[]).repeat(60_000)),
    ];
    assert!(!flight(&bytes.concat()).complete);
}

fn endpoint() -> Endpoint {
    Endpoint { host: "www.example.com".to_owned(), port: 443, connect_to: None }
}

fn ask(host: &Host, starttls: Option<Starttls>, hellos: &[Hello]) -> Vec<Outcome> {
    let (cx, endpoint) = (host.cx(), endpoint());
    Prober::new(&cx, &endpoint, starttls, Duration::from_secs(10)).ask(hellos)
}

/// One hello, the bytes that come back for it, and no second conversation.
fn outcome(hello: Hello, answer: &[u8]) -> Outcome {
    let host = Host::new();
    let answer = answer.to_vec();
    host.tcp(move |_| Ok(answer.clone()));
    host.connection(|_| Err(NetError::Refused));
    ask(&host, None, &[hello]).remove(0)
}

#[test]
fn acceptance_is_a_server_hello_for_what_was_offered() {
    let hello = |version, suite| record(&script::server_hello(version, suite, 0, &[]));
    let tls13 = record(&script::server_hello(0x0303, 0x1302, 0, &[(43, vec![3, 4])]));
    let answered = |outcome| matches!(outcome, Outcome::Answered(_));
    assert!(answered(outcome(Hello::P12, &hello(0x0303, 0xc030))));
    assert!(answered(outcome(Hello::P12, &hello(0x0301, 0x002f))), "an older version answers");
    assert!(answered(outcome(Hello::P13, &tls13)));
    assert!(answered(outcome(Hello::S256, &tls13)));
    assert!(answered(outcome(Hello::S256, &hello(0x0303, 0xc030))));
    for (asked, answer) in [
        (Hello::P13, hello(0x0303, 0x1302)),
        (Hello::P11, hello(0x0303, 0x002f)),
        (Hello::P12, hello(0x0303, 0x1301)),
        (Hello::P12, hello(0x0200, 0x002f)),
        (Hello::W2, hello(0x0303, 0xc030)),
    ] {
        assert_eq!(outcome(asked, &answer), Outcome::Unknown, "{asked:?}");
    }
}

#[test]
fn refusal_is_an_alert_that_means_it() {
    for (code, expected) in [
        (40, Outcome::Refused),
        (47, Outcome::Refused),
        (70, Outcome::Refused),
        (71, Outcome::Refused),
        (80, Outcome::Refused),
        (86, Outcome::Refused),
        (112, Outcome::UnknownName),
        (50, Outcome::Unknown),
    ] {
        assert_eq!(outcome(Hello::P12, &alert(code)), expected, "{code}");
    }
    assert_eq!(outcome(Hello::P12, b"SSH-2.0-x\r\n"), Outcome::NotTls);
}

/// What a conversation is: each read brings the next of these.
fn conversation(host: &Host, reads: Vec<Result<Vec<u8>, NetError>>) -> Rc<RefCell<Vec<Vec<u8>>>> {
    let written: Rc<RefCell<Vec<Vec<u8>>>> = Rc::default();
    let log = Rc::clone(&written);
    host.connection(move |_| {
        let log = Rc::clone(&log);
        let mut reads = reads.clone().into_iter();
        Ok(Box::new(move |step| match step {
            Step::Write(data) => {
                log.borrow_mut().push(data.to_vec());
                Ok(Vec::new())
            }
            Step::Read { .. } => reads.next().unwrap_or(Err(NetError::Timeout(Phase::Receive))),
            Step::StartTls { .. } => panic!("raw hellos do not start TLS"),
        }))
    });
    written
}

#[test]
fn server_that_the_alert_silenced_is_asked_once_more() {
    let flight = Server::new(&[TLS12], &[0x002f]);
    let hello =
        client_hello::write(&Hello::P12.offer(), "www.example.com", &BYTES, Closing::ByHand);
    let bytes = flight.answer(&hello);
    let (first, rest) = bytes.split_at(20);
    for silence in [Ok(Vec::new()), Err(NetError::Reset), Err(NetError::Timeout(Phase::Receive))] {
        let host = Host::new();
        host.tcp(move |_| silence.clone());
        let written = conversation(&host, vec![Ok(first.to_vec()), Ok(rest.to_vec())]);
        let outcome = ask(&host, None, &[Hello::P12]).remove(0);
        let Outcome::Answered(seen) = outcome else { panic!("it answers: {outcome:?}") };
        assert_eq!((seen.version, seen.cipher, seen.complete), (TLS12, 0x002f, true));
        let written = written.borrow();
        assert_eq!(written.len(), 1);
        assert_eq!(Heard::read(&written[0]).behind, [0; 0], "without the alert");
    }
}

#[test]
fn silence_is_no_refusal_and_a_clean_close_is() {
    let partial = record(&script::server_hello(0x0303, 0x002f, 0, &[]));
    for (reads, expected) in [
        (vec![Ok(Vec::new())], Outcome::Refused),
        (vec![Ok(alert(40))], Outcome::Refused),
        (vec![Err(NetError::Reset)], Outcome::Unknown),
        (vec![Err(NetError::Timeout(Phase::Receive))], Outcome::Unknown),
        (vec![Ok(vec![22]), Ok(Vec::new())], Outcome::Unknown),
        (vec![Ok(vec![22, 3, 3, 64, 0]); 100], Outcome::Unknown),
    ] {
        let host = Host::new();
        host.tcp(|_| Err(NetError::Reset));
        conversation(&host, reads.clone());
        assert_eq!(ask(&host, None, &[Hello::P12]), [expected], "{:?}", reads[0]);
    }
    let host = Host::new();
    host.tcp(|_| Ok(Vec::new()));
    conversation(&host, vec![Ok(partial), Err(NetError::Reset)]);
    assert!(matches!(ask(&host, None, &[Hello::P12])[0], Outcome::Answered(_)));
}

#[test]
fn hellos_go_out_together_within_their_time() {
    let host = Host::new();
    let asked: Rc<RefCell<Vec<u32>>> = Rc::default();
    let log = Rc::clone(&asked);
    let server = Server::new(&[TLS12, TLS13], &[0x1302, 0xc030]);
    host.set_remaining(Duration::from_secs(30));
    host.tcp(move |request| {
        log.borrow_mut().push(request.timeout_ms);
        assert_eq!(request.max, 256 << 10);
        Ok(server.answer(&request.send))
    });
    let outcomes = ask(&host, None, &Hello::ALL);
    let accepted: Vec<bool> =
        outcomes.iter().map(|outcome| matches!(outcome, Outcome::Answered(_))).collect();
    let [p13, p12, .., s256] = accepted[..] else { panic!("ten outcomes") };
    assert!(p13 && p12 && s256);
    assert!(outcomes[2..9].iter().all(|outcome| *outcome == Outcome::Refused));
    // Three waves of four share ten seconds.
    assert_eq!(*asked.borrow(), [3_333; 10]);
    host.set_remaining(Duration::from_millis(400));
    assert_eq!(ask(&host, None, &[Hello::P12]), [Outcome::Unknown]);
}

#[test]
fn port_with_starttls_is_talked_to_first() {
    let server = Server::new(&[TLS10], &[0x002f]);
    let hello =
        client_hello::write(&Hello::P12.offer(), "www.example.com", &BYTES, Closing::ByHand);
    let line = |text: &str| Ok(text.as_bytes().to_vec());
    let flight = || Ok(server.answer(&hello));
    for (protocol, reads, said) in [
        (
            Starttls::Smtp,
            vec![
                line("220-mx\r\n"),
                line("220 ok\r\n"),
                line("250-a\r\n250 b\r\n"),
                line("220 go\r\n"),
                flight(),
            ],
            vec!["EHLO vedette.invalid\r\n", "STARTTLS\r\n"],
        ),
        (
            Starttls::Imap,
            vec![line("* OK x\r\n"), line("a OK\r\n"), flight()],
            vec!["a STARTTLS\r\n"],
        ),
        (Starttls::Pop3, vec![line("+OK x\r\n"), line("+OK\r\n"), flight()], vec!["STLS\r\n"]),
        (Starttls::Ftp, vec![line("220 x\r\n"), line("234\r\n"), flight()], vec!["AUTH TLS\r\n"]),
        (
            Starttls::Xmpp,
            vec![line("<stream:features/>"), line("<proceed/>"), flight()],
            vec![
                "<?xml version='1.0'?><stream:stream to='www.example.com' version='1.0' \
                 xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>",
                "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>",
            ],
        ),
        (Starttls::Postgres, vec![line("S"), flight()], vec![]),
    ] {
        let host = Host::new();
        let written = conversation(&host, reads);
        let outcome = ask(&host, Some(protocol), &[Hello::P12]).remove(0);
        let Outcome::Answered(seen) = outcome else { panic!("{protocol:?} answers: {outcome:?}") };
        assert_eq!(seen.version, TLS10);
        let written = written.borrow();
        let (hello, before) = written.split_last().expect("the hello was written");
        Heard::read(hello);
        if protocol == Starttls::Postgres {
            assert_eq!(before, [[0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]]);
        } else {
            let before: Vec<_> = before.iter().map(|own| String::from_utf8_lossy(own)).collect();
            assert_eq!(before, said, "{protocol:?}");
        }
    }
}

#[test]
fn server_that_declines_starttls_is_unknown() {
    let host = Host::new();
    conversation(&host, vec![Ok(b"220 x\r\n".to_vec()), Ok(b"502 no\r\n".to_vec())]);
    assert_eq!(ask(&host, Some(Starttls::Smtp), &[Hello::P12]), [Outcome::Unknown]);
}
