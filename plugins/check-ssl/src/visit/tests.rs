use std::{cell::RefCell, rc::Rc};

use vedette_sdk::{
    Check, Observation,
    client_hello::{SSL3, TLS10, TLS11, TLS12, TLS13},
    http::Response,
    net::Phase,
    testing::{Host, Step},
};

use super::*;
use crate::{
    Ssl,
    fixture::{self, DOMAIN, NOW},
    hello::script::{Heard, Server},
    result::Grade,
};

fn tls(reason: &str) -> NetError {
    NetError::Tls(reason.to_owned())
}

/// A host that fails every handshake so, in front of a server that answers raw hellos; and what
/// hellos it got.
fn host(failure: NetError, server: Server) -> (Host, Rc<RefCell<Vec<Heard>>>) {
    let host = Host::new();
    host.set_remaining(Duration::from_secs(30));
    host.tls(move |_| Err(failure.clone()));
    let asked: Rc<RefCell<Vec<Heard>>> = Rc::default();
    let log = Rc::clone(&asked);
    host.tcp(move |request| {
        assert_eq!((request.endpoint.host.as_str(), request.endpoint.port), (DOMAIN, 443));
        log.borrow_mut().push(Heard::read(&request.send));
        Ok(server.answer(&request.send))
    });
    host.x509(|chain| {
        assert_eq!(chain.certificates, [vec![1], vec![2]]);
        assert_eq!((chain.server_name, chain.at), (DOMAIN, NOW));
        let ocsp_staple = chain.staple.map(|_| "good".to_owned());
        Ok(Examination { ocsp_staple, ..fixture::examination() })
    });
    host.connection(|_| Err(NetError::Refused));
    (host, asked)
}

fn run(host: &Host, omit: &[&str]) -> Observation<SslResult> {
    let omit = omit.iter().map(|field| (*field).to_owned()).collect();
    Ssl::run(&host.cx(), Job { omit, ..Job::new(DOMAIN, Config::default()) })
        .expect("the check works")
}

#[test]
fn server_that_no_library_speaks_to_is_seen_in_clear() {
    let nothing = || tls("nothing in common: neither version nor cipher suite");
    for (failure, versions, suites, version, cipher, bits, grade) in [
        (
            nothing(),
            &[TLS12][..],
            &[0xc014, 0x0035][..],
            "TLSv1.2",
            "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
            256,
            Grade::B,
        ),
        (
            nothing(),
            &[TLS12],
            &[0x009c],
            "TLSv1.2",
            "TLS_RSA_WITH_AES_128_GCM_SHA256",
            128,
            Grade::B,
        ),
        (
            tls("alert 40 HandshakeFailure"),
            &[TLS12],
            &[0x009f],
            "TLSv1.2",
            "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384",
            256,
            Grade::A,
        ),
        (
            tls("alert 70 ProtocolVersion"),
            &[TLS10, TLS11],
            &[0x002f],
            "TLSv1.1",
            "TLS_RSA_WITH_AES_128_CBC_SHA",
            128,
            Grade::C,
        ),
        (nothing(), &[TLS10], &[0x0035], "TLSv1.0", "TLS_RSA_WITH_AES_256_CBC_SHA", 256, Grade::C),
        (
            tls("closed during the handshake"),
            &[SSL3],
            &[0x000a],
            "SSLv3",
            "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
            112,
            Grade::F,
        ),
        (
            NetError::Reset,
            &[TLS10],
            &[0x0005],
            "TLSv1.0",
            "TLS_RSA_WITH_RC4_128_SHA",
            128,
            Grade::F,
        ),
        // It wants to know its client.
        (
            tls("alert 42 BadCertificate"),
            &[TLS12],
            &[0xc02f],
            "TLSv1.2",
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            128,
            Grade::A,
        ),
    ] {
        let (host, asked) = host(failure, Server::new(versions, suites));
        let seen = run(&host, &[]).facts;
        assert_eq!((seen.valid, seen.error.as_deref()), (true, None), "{version} {cipher}");
        assert_eq!(seen.protocol_version.as_deref(), Some(version));
        assert_eq!(seen.cipher_name.as_deref(), Some(cipher));
        assert_eq!(seen.cipher_strength, Some(bits));
        assert_eq!((seen.issuer.as_str(), seen.days_remaining), ("R11", Some(60)));
        assert_eq!(seen.chain.len(), 2);
        assert_eq!((seen.hsts.as_ref(), seen.mixed_content.as_ref()), (None, None));
        // Without HTTP there is no HSTS, so A is the most.
        assert_eq!(seen.tls_grade, Some(grade), "{version} {cipher}");
        assert_eq!(asked.borrow().len(), 10);
    }
}

#[test]
fn without_a_grade_only_the_versions_are_asked_for() {
    let (host, asked) = host(tls("alert 40 HandshakeFailure"), Server::new(&[TLS11], &[0x0035]));
    let seen = run(&host, &["tls_grade"]).facts;
    assert!(seen.valid && seen.tls_grade.is_none());
    let versions: Vec<u16> = asked.borrow().iter().map(|heard| heard.version).collect();
    assert_eq!(versions, [TLS12, TLS13, TLS11, TLS10, SSL3]);
}

#[test]
fn server_that_wants_nothing_usual_is_seen_with_and_without_a_grade() {
    for (suites, cipher) in [
        (&[0x0084][..], "TLS_RSA_WITH_CAMELLIA_256_CBC_SHA"),
        (&[0xc09c], "TLS_RSA_WITH_AES_128_CCM"),
        (&[0xc060], "TLS_ECDHE_RSA_WITH_ARIA_128_GCM_SHA256"),
        (&[0x003b], "TLS_RSA_WITH_NULL_SHA256"),
        // The second has no certificate, and is what the grade's hellos get.
        (&[0x0041, 0x0046], "TLS_RSA_WITH_CAMELLIA_128_CBC_SHA"),
    ] {
        for omit in [&[] as &[&str], &["tls_grade"]] {
            let failure = tls("alert 40 HandshakeFailure");
            let (host, _) = host(failure, Server::new(&[TLS12], suites));
            let seen = run(&host, omit).facts;
            assert_eq!((seen.valid, seen.error.as_deref()), (true, None), "{cipher} {omit:?}");
            assert_eq!(seen.cipher_name.as_deref(), Some(cipher), "{omit:?}");
            assert_eq!(seen.chain.len(), 2, "{cipher} {omit:?}");
        }
    }
}

#[test]
fn chain_seen_in_clear_is_judged_like_any_other() {
    let (host, _) = host(tls("alert 40 HandshakeFailure"), Server::new(&[TLS12], &[0x0035]));
    host.x509(|chain| {
        assert!(chain.complete, "a missing issuer may be fetched");
        let mut seen = fixture::examination();
        seen.chain[0].not_after = NOW - 1;
        Ok(seen)
    });
    let seen = run(&host, &[]);
    assert_eq!(seen.facts.error.as_deref(), Some("certificate_expired"));
    assert_eq!((seen.facts.days_remaining, seen.facts.tls_grade), (Some(-1), Some(Grade::F)));
    assert_eq!(seen.metrics.len(), 1, "there was no handshake to time");
}

#[test]
fn staple_of_any_hello_covers_the_leaf() {
    let examination = |staple: Option<&[u8]>| {
        let mut seen = fixture::examination();
        seen.chain[0].has_ocsp_url = true;
        seen.ocsp_staple = staple.map(|_| "good".to_owned());
        Ok(seen)
    };
    let mut server = Server::new(&[TLS12], &[0x0035]);
    server.staple = Some(vec![0x30, 0]);
    let (host, asked) = host(tls("alert 40 HandshakeFailure"), server.clone());
    host.x509(move |chain| examination(chain.staple));
    assert_eq!(run(&host, &["tls_grade"]).facts.ocsp_stapling, Some(true));
    assert_eq!(asked.borrow().len(), 5);

    // One that comes only when asked for again.
    let hellos = Rc::new(RefCell::new(0));
    let count = Rc::clone(&hellos);
    host.tcp(move |request| {
        *count.borrow_mut() += 1;
        let staple = server.staple.clone().filter(|_| *count.borrow() > 5);
        Ok(Server { staple, ..server.clone() }.answer(&request.send))
    });
    assert_eq!(run(&host, &["tls_grade"]).facts.ocsp_stapling, Some(true));
    assert_eq!(*hellos.borrow(), 6);
    *hellos.borrow_mut() = 0;
    assert_eq!(run(&host, &["tls_grade", "ocsp_stapling"]).facts.ocsp_stapling, Some(false));
    assert_eq!(*hellos.borrow(), 5);
}

#[test]
fn wrong_signature_is_no_valid_certificate() {
    let failure = || tls("certificate bad_signature was not accepted: BadSignature");
    for (algorithm, bits, error) in [
        ("RSA", 2_048, Some("tls_handshake_failed")),
        ("EC", 256, Some("tls_handshake_failed")),
        // Keys that the host cannot check say nothing.
        ("RSA", 1_024, None),
        ("EC", 224, None),
    ] {
        let (host, _) = host(failure(), Server::new(&[TLS12], &[0xc02f]));
        host.x509(move |_| {
            let mut seen = fixture::examination();
            (seen.chain[0].key_algorithm, seen.chain[0].key_bits) = (algorithm.to_owned(), bits);
            Ok(seen)
        });
        let seen = run(&host, &[]).facts;
        assert_eq!(seen.error.as_deref(), error, "{algorithm} {bits}");
        assert_eq!(seen.chain.is_empty(), error.is_some());
        assert_eq!(seen.protocol_version.as_deref(), Some("TLSv1.2"));
    }
}

#[test]
fn tls13_alone_shows_no_chain() {
    let (host, _) = host(tls("alert 40 HandshakeFailure"), Server::new(&[TLS13], &[0x1301]));
    let seen = run(&host, &[]).facts;
    assert_eq!(seen.error.as_deref(), Some("tls_handshake_failed"));
    assert_eq!(seen.protocol_version.as_deref(), Some("TLSv1.3"));
    assert_eq!((seen.chain.len(), seen.tls_grade), (0, None));
}

#[test]
fn server_that_tells_nothing_stays_what_it_was() {
    for (failure, answer, token, hellos) in [
        (
            tls("alert 40 HandshakeFailure"),
            Ok(crate::hello::script::alert(40)),
            "tls_handshake_failed",
            11,
        ),
        // It speaks an old version alone, and not for this name.
        (
            tls("alert 70 ProtocolVersion"),
            Ok(crate::hello::script::alert(112)),
            "tls_unrecognized_name",
            11,
        ),
        (tls("not-tls"), Ok(b"220 mail.example ESMTP\r\n".to_vec()), "tls_not_spoken", 1),
        (NetError::Reset, Err(NetError::Reset), "connection_reset", 1),
        (tls("alert 112 UnrecognisedName"), Err(NetError::Reset), "tls_unrecognized_name", 0),
        (NetError::Timeout(Phase::Handshake), Err(NetError::Reset), "connection_timeout", 0),
    ] {
        let (host, _) = host(failure, Server::new(&[], &[]));
        let asked = Rc::new(RefCell::new(0));
        let count = Rc::clone(&asked);
        host.tcp(move |_| {
            *count.borrow_mut() += 1;
            answer.clone()
        });
        let seen = run(&host, &[]).facts;
        assert_eq!(seen, facts::of_failure(DOMAIN, token));
        assert_eq!(*asked.borrow(), hellos, "{token}");
    }
}

#[test]
fn chain_that_cannot_be_examined_is_our_own_trouble() {
    let (host, _) = host(tls("alert 40 HandshakeFailure"), Server::new(&[TLS12], &[0x0035]));
    host.x509(|_| Err("not examined".to_owned()));
    let job = Job::new(DOMAIN, Config::default());
    assert!(matches!(Ssl::run(&host.cx(), job), Err(CheckError::Failed(_))));
}

/// A host whose handshake ends well, and whose page has HSTS for a year.
fn well(report: Report) -> Host {
    let host = Host::new();
    host.set_remaining(Duration::from_secs(30));
    host.tls(move |_| Ok(report.clone()));
    host.http(|request| {
        let hsts = ("strict-transport-security".to_owned(), "max-age=31536000".to_owned());
        Ok(Response {
            status: 200,
            headers: vec![hsts],
            body: Vec::new(),
            truncated: false,
            final_url: request.url.clone(),
            hops: Vec::new(),
            peer_address: "192.0.2.7".to_owned(),
            timing: fixture::report().timing,
        })
    });
    host
}

#[test]
fn finished_handshake_is_graded_by_ten_hellos_to_the_same_address() {
    let host = well(fixture::report());
    let asked = Rc::new(RefCell::new(0));
    let count = Rc::clone(&asked);
    let server = Server::new(&[TLS12, TLS13], &[0x1301, 0x1302, 0xc02f, 0xc030]);
    host.tcp(move |request| {
        assert_eq!(request.endpoint.connect_to.as_deref(), Some("192.0.2.7"));
        *count.borrow_mut() += 1;
        Ok(server.answer(&request.send))
    });
    assert_eq!(run(&host, &[]).facts.tls_grade, Some(Grade::APlus));
    assert_eq!(*asked.borrow(), 10);
    // The page is visited for HSTS, whoever else looks at it.
    let seen = run(&host, &["hsts", "mixed_content"]).facts;
    assert_eq!(seen.tls_grade, Some(Grade::APlus));
    assert_eq!(run(&host, &["tls_grade"]).facts.tls_grade, None);
    assert_eq!(*asked.borrow(), 20);
}

#[test]
fn grade_is_null_rather_than_a_guess() {
    let host = well(fixture::report());
    host.tcp(|_| Err(NetError::Reset));
    host.connection(|_| Err(NetError::Reset));
    let seen = run(&host, &[]).facts;
    assert!(seen.valid && seen.tls_grade.is_none() && seen.hsts.is_some());
}

#[test]
fn mail_server_of_the_past_is_seen_behind_starttls() {
    let host = Host::new();
    host.tls(|_| Err(tls("nothing in common: neither version nor cipher suite")));
    host.x509(|_| Ok(fixture::examination()));
    let server = Server::new(&[TLS10], &[0x0035]);
    let talks = Rc::new(RefCell::new(0));
    let count = Rc::clone(&talks);
    host.connection(move |endpoint| {
        assert_eq!(endpoint.port, 25);
        *count.borrow_mut() += 1;
        let server = server.clone();
        let mut waiting = b"220 mx\r\n".to_vec();
        Ok(Box::new(move |step| match step {
            Step::Write(data) => {
                waiting = match data {
                    b"EHLO vedette.invalid\r\n" => b"250 STARTTLS\r\n".to_vec(),
                    b"STARTTLS\r\n" => b"220 go\r\n".to_vec(),
                    hello => server.answer(hello),
                };
                Ok(Vec::new())
            }
            Step::Read { .. } => Ok(std::mem::take(&mut waiting)),
            Step::StartTls { .. } => Err(NetError::Reset),
        }))
    });
    let job = Job { port: Some(25), ..Job::new(DOMAIN, Config::default()) };
    let seen = Ssl::run(&host.cx(), job).expect("the check works").facts;
    assert_eq!((seen.valid, seen.protocol_version.as_deref()), (true, Some("TLSv1.0")));
    assert_eq!((seen.chain.len(), seen.tls_grade), (2, None));
    assert_eq!(*talks.borrow(), 1, "one conversation shows it all");
}

#[test]
fn second_look_waits_on_an_idle_connection() {
    let mut report = fixture::report();
    report.examination.chain[0].has_ocsp_url = true;
    let host = well(report);
    let waited: Rc<RefCell<Vec<u32>>> = Rc::default();
    let log = Rc::clone(&waited);
    host.connection(move |endpoint| {
        assert_eq!(endpoint.connect_to.as_deref(), Some("192.0.2.7"));
        let log = Rc::clone(&log);
        Ok(Box::new(move |step| {
            let Step::Read { max } = step else { panic!("nothing is said: {step:?}") };
            log.borrow_mut().push(max);
            Err(NetError::Timeout(Phase::Receive))
        }))
    });
    assert_eq!(run(&host, &["tls_grade"]).facts.ocsp_stapling, Some(false));
    assert_eq!(waited.borrow().len(), 1);
}

#[test]
fn results_of_every_kind_satisfy_the_schema() {
    let settings = vedette_sdk::schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<SslResult>().to_value();
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let graded = well(fixture::report());
    let server = Server::new(&[TLS12, TLS13], &[0x1301, 0xc02f]);
    graded.tcp(move |request| Ok(server.answer(&request.send)));
    let (old, _) = host(tls("alert 70 ProtocolVersion"), Server::new(&[TLS10], &[0x0035]));
    let (away, _) = host(NetError::Refused, Server::new(&[], &[]));
    for (host, grade) in [(graded, "A+"), (old, "C"), (away, "null")] {
        let result = serde_json::to_value(run(&host, &[]).facts).expect("it has a form in JSON");
        let errors: Vec<String> =
            validator.iter_errors(&result).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(result["tls_grade"].as_str().unwrap_or("null"), grade);
    }
    let guess = serde_json::json!({"valid": true, "tls_grade": "A-"});
    assert!(!validator.is_valid(&guess));
}
