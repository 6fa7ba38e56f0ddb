use vedette_sdk::x509::Examination;

use super::*;
use vedette_sdk::client_hello::{SSL3, TLS10, TLS11, TLS12, TLS13};

use crate::{
    error, facts,
    fixture::{self, NOW},
    hello::{Answers, Hello, Outcome, script::Server},
    result::Hsts,
};

const YEAR: u64 = 31_536_000;

/// TLS 1.2 and 1.3, RSA 2048, AES of 128 and 256 bits, HSTS for a year.
fn good() -> Facts {
    Facts {
        trust: Trust::Good,
        dated_signature: false,
        key: Key::Modular(2048),
        weakest_key: Key::Modular(2048),
        oldest: TLS12,
        newest: TLS13,
        weakest: 128,
        strongest: 256,
        group: None,
        worthless_suite: false,
        rc4: Rc4::No,
        ssl3_with_blocks: false,
        short_blocks_chosen: false,
        compression: false,
        unsafe_renegotiation: false,
        rsa_exchange_chosen: false,
        aead_chosen: true,
        hsts: Some(YEAR),
    }
}

fn but(change: impl FnOnce(&mut Facts)) -> Facts {
    let mut facts = good();
    change(&mut facts);
    facts
}

#[test]
fn worked_examples_come_out_as_in_the_guide() {
    let three_des_only = but(|facts| {
        (facts.newest, facts.weakest, facts.strongest) = (TLS12, 112, 112);
        (facts.short_blocks_chosen, facts.aead_chosen) = (true, false);
    });
    for (what, facts, points, grade) in [
        ("1.2 and 1.3 with HSTS", good(), 93, Grade::APlus),
        ("the same without HSTS", but(|facts| facts.hsts = None), 93, Grade::A),
        ("plus 1.0", but(|facts| facts.oldest = TLS10), 91, Grade::B),
        ("1.2 only", but(|facts| facts.newest = TLS12), 93, Grade::A),
        ("1.0 only", but(|facts| (facts.oldest, facts.newest) = (TLS10, TLS10)), 90, Grade::C),
        ("1.2 with 3DES only", three_des_only, 65, Grade::C),
    ] {
        assert_eq!((score::points(&facts), facts.grade()), (points, grade), "{what}");
    }
}

#[test]
fn each_rule_has_its_cap() {
    type Change = fn(&mut Facts);
    let table: &[(Grade, Change)] = &[
        (Grade::F, |facts| facts.trust = Trust::Bad),
        (Grade::F, |facts| facts.dated_signature = true),
        (Grade::F, |facts| facts.weakest_key = Key::Modular(1023)),
        (Grade::F, |facts| facts.weakest_key = Key::Curve(122)),
        (Grade::F, |facts| facts.group = Some(1023)),
        (Grade::F, |facts| facts.worthless_suite = true),
        (Grade::F, |facts| (facts.oldest, facts.newest) = (SSL3, SSL3)),
        (Grade::F, |facts| facts.rc4 = Rc4::Only),
        (Grade::F, |facts| facts.weakest = 111),
        (Grade::F, |facts| facts.weakest = 0),
        (Grade::C, |facts| (facts.oldest, facts.newest) = (TLS10, TLS11)),
        (Grade::C, |facts| (facts.oldest, facts.newest) = (TLS11, TLS11)),
        (Grade::C, |facts| facts.compression = true),
        (Grade::C, |facts| (facts.oldest, facts.ssl3_with_blocks) = (SSL3, true)),
        (Grade::C, |facts| facts.rc4 = Rc4::Modern),
        (Grade::C, |facts| facts.short_blocks_chosen = true),
        (Grade::B, |facts| facts.oldest = TLS11),
        (Grade::B, |facts| facts.oldest = TLS10),
        (Grade::B, |facts| facts.oldest = SSL3),
        (Grade::B, |facts| facts.rc4 = Rc4::Old),
        (Grade::B, |facts| facts.trust = Trust::Completable),
        (Grade::B, |facts| facts.weakest_key = Key::Modular(1024)),
        (Grade::B, |facts| facts.weakest_key = Key::Modular(2047)),
        (Grade::B, |facts| facts.weakest_key = Key::Curve(162)),
        (Grade::B, |facts| facts.group = Some(1024)),
        (Grade::B, |facts| facts.group = Some(2047)),
        (Grade::B, |facts| (facts.newest, facts.rsa_exchange_chosen) = (TLS12, true)),
        (Grade::B, |facts| facts.aead_chosen = false),
        (Grade::A, |facts| facts.newest = TLS12),
        (Grade::A, |facts| facts.unsafe_renegotiation = true),
        (Grade::A, |facts| facts.hsts = None),
        (Grade::A, |facts| facts.hsts = Some(15_551_999)),
        // What caps nothing.
        (Grade::APlus, |facts| facts.hsts = Some(15_552_000)),
        (Grade::APlus, |facts| facts.weakest = 112),
        (Grade::APlus, |facts| facts.group = Some(2048)),
        (Grade::APlus, |facts| facts.rsa_exchange_chosen = true),
        (Grade::APlus, |facts| facts.oldest = TLS13),
        (Grade::APlus, |facts| (facts.key, facts.weakest_key) = (Key::Curve(256), Key::Curve(256))),
    ];
    for (number, (grade, change)) in table.iter().enumerate() {
        assert_eq!(but(change).grade(), *grade, "row {number}");
    }
}

#[test]
fn lowest_of_points_and_caps_wins() {
    let many = but(|facts| {
        (facts.compression, facts.oldest, facts.hsts) = (true, TLS10, None);
    });
    assert_eq!(many.grade(), Grade::C);
    // 40 + 0.3 · 40 + 0.4 · 20 points, without a cap below that.
    let poor = but(|facts| {
        (facts.weakest, facts.strongest) = (112, 112);
        (facts.key, facts.group) = (Key::Modular(512), None);
    });
    assert_eq!((score::points(&poor), poor.grade()), (50, Grade::C));
    let nothing = but(|facts| (facts.weakest, facts.strongest) = (0, 0));
    assert_eq!((score::points(&nothing), nothing.grade()), (0, Grade::F));
}

/// What a server answers to all ten hellos.
fn answers(server: &Server) -> Answers {
    let mut answers = Answers::default();
    answers.add(&Hello::ALL, Hello::ALL.iter().map(|hello| server.outcome(*hello)).collect());
    answers
}

fn graded(server: &Server, handshake: Option<(u16, u16)>, seen: &Examination) -> Option<Grade> {
    let hsts = Hsts { enabled: true, max_age: Some(YEAR), ..Hsts::default() };
    let (version, cipher) = handshake.unwrap_or((TLS12, 0xc030));
    let result = facts::of_chain("www.example.com", version, cipher, seen, NOW);
    of(&Evidence {
        negotiated: handshake,
        answers: &answers(server),
        seen,
        result: &result,
        hsts: Some(&hsts),
    })
}

const TLS13_SUITES: [u16; 3] = [0x1301, 0x1302, 0x1303];
const AEAD: [u16; 4] = [0xc02f, 0xc030, 0xcca8, 0x009e];
const OLD: [u16; 6] = [0xc013, 0xc014, 0x0033, 0x0039, 0x002f, 0x0035];

#[test]
fn usual_profiles_of_servers_have_their_grades() {
    let modern = Server::new(&[TLS13], &TLS13_SUITES);
    let intermediate = Server::new(&[TLS12, TLS13], &[&TLS13_SUITES[..], &AEAD].concat());
    let without_tls13 = Server::new(&[TLS12], &AEAD);
    let old = Server::new(
        &[TLS10, TLS11, TLS12, TLS13],
        &[&TLS13_SUITES[..], &AEAD, &OLD, &[0x000a]].concat(),
    );
    let tls13 = Some((TLS13, 0x1301));
    let tls12 = Some((TLS12, 0xc02f));
    let with = |server: &Server, change: fn(&mut Server)| {
        let mut server = server.clone();
        change(&mut server);
        server
    };
    for (what, server, handshake, grade) in [
        ("modern", modern, tls13, Grade::APlus),
        ("intermediate", intermediate.clone(), tls13, Grade::APlus),
        ("intermediate without 1.3", without_tls13.clone(), tls12, Grade::A),
        ("old", old, tls13, Grade::B),
        ("small group", with(&intermediate, |server| server.group = 1_024), tls13, Grade::B),
        ("broken group", with(&intermediate, |server| server.group = 768), tls13, Grade::F),
        ("CRIME", with(&without_tls13, |server| server.compression = 1), tls12, Grade::C),
        (
            "unsafe renegotiation",
            with(&intermediate, |server| server.renegotiation = false),
            tls13,
            Grade::A,
        ),
        (
            "3DES at the end of the list",
            with(&intermediate, |server| server.suites.push(0x000a)),
            tls13,
            Grade::APlus,
        ),
        (
            "3DES first",
            with(&without_tls13, |server| server.suites.insert(0, 0xc012)),
            tls12,
            Grade::C,
        ),
        ("RC4 too", with(&without_tls13, |server| server.suites.push(0x0005)), tls12, Grade::C),
        (
            "anonymous too",
            with(&intermediate, |server| server.suites.push(0x0034)),
            tls13,
            Grade::F,
        ),
        ("export too", with(&intermediate, |server| server.suites.push(0x0003)), tls13, Grade::F),
        (
            "no encryption",
            with(&intermediate, |server| server.suites.push(0x0002)),
            tls13,
            Grade::F,
        ),
        ("CBC alone", Server::new(&[TLS12], &[0xc014, 0xc013]), None, Grade::B),
        ("RSA exchange alone", Server::new(&[TLS12], &[0x009d, 0x002f]), None, Grade::B),
        ("TLS 1.0 alone", Server::new(&[TLS10], &OLD), None, Grade::C),
        ("TLS 1.1 alone", Server::new(&[TLS11], &OLD), None, Grade::C),
        ("SSL 3.0 alone", Server::new(&[SSL3], &[0x0035, 0x002f]), None, Grade::F),
        ("SSL 3.0 too", Server::new(&[SSL3, TLS12], &[0xc030, 0x0035]), None, Grade::C),
        ("RC4 alone", Server::new(&[TLS10, TLS12], &[0x0005, 0x0004]), None, Grade::F),
        ("RC4 in 1.0", Server::new(&[TLS10], &[0x0005, 0x0035]), None, Grade::C),
    ] {
        let grade = Some(grade);
        assert_eq!(graded(&server, handshake, &fixture::examination()), grade, "{what}");
    }
}

#[test]
fn certificate_counts_as_the_result_judged_it() {
    type Change = fn(&mut Examination);
    let refuse = |seen: &mut Examination, token: &str| {
        seen.verification.trusted = false;
        seen.verification.error = Some(token.to_owned());
    };
    let server = Server::new(&[TLS12, TLS13], &[&TLS13_SUITES[..], &AEAD].concat());
    let table: &[(&str, Option<Grade>, Change)] = &[
        ("expired", Some(Grade::F), |seen| seen.chain[0].not_after = NOW - 1),
        ("other name", Some(Grade::F), |seen| seen.verification.hostname_matches = false),
        ("revoked", Some(Grade::F), |seen| seen.ocsp_staple = Some("revoked".to_owned())),
        ("RSA 1024", Some(Grade::B), |seen| {
            (seen.chain[0].key_algorithm, seen.chain[0].key_bits) = ("RSA".to_owned(), 1_024);
        }),
        ("RSA 512", Some(Grade::F), |seen| {
            (seen.chain[0].key_algorithm, seen.chain[0].key_bits) = ("RSA".to_owned(), 512);
        }),
        ("issuer of 1024 bits", Some(Grade::B), |seen| seen.chain[1].key_bits = 1_024),
        ("SHA-1", Some(Grade::F), |seen| {
            seen.chain[0].signature_algorithm = "ecdsa-with-SHA1".to_owned();
        }),
        ("issuer with MD5", Some(Grade::F), |seen| {
            seen.chain[1].signature_algorithm = "md5WithRSAEncryption".to_owned();
        }),
        ("sent root with SHA-1", Some(Grade::APlus), |seen| {
            seen.chain[1].self_signed = true;
            seen.chain[1].signature_algorithm = "sha1WithRSAEncryption".to_owned();
        }),
        ("extra with SHA-1", Some(Grade::APlus), |seen| {
            seen.chain[1].in_trust_path = false;
            seen.chain[1].signature_algorithm = "sha1WithRSAEncryption".to_owned();
        }),
        ("key of an unknown kind", None, |seen| seen.chain[0].key_algorithm = "1.2.3".to_owned()),
        ("no certificate", None, |seen| seen.chain.clear()),
    ];
    for (what, grade, change) in table {
        let mut seen = fixture::examination();
        change(&mut seen);
        assert_eq!(graded(&server, Some((TLS13, 0x1301)), &seen), *grade, "{what}");
    }
    for (token, completed, grade) in [
        (error::SELF_SIGNED, false, Grade::F),
        (error::UNTRUSTED_ROOT, false, Grade::F),
        (error::BAD_SIGNATURE, false, Grade::F),
        (error::INVALID_PURPOSE, false, Grade::F),
        (error::NOT_YET_VALID, false, Grade::F),
        (error::INCOMPLETE_CHAIN, false, Grade::F),
        (error::INCOMPLETE_CHAIN, true, Grade::B),
        // An exponent of 1 leaves no other trace.
        (error::WEAK_KEY, false, Grade::F),
    ] {
        let mut seen = fixture::examination();
        refuse(&mut seen, token);
        seen.verification.completed_by_aia = completed;
        assert_eq!(graded(&server, Some((TLS13, 0x1301)), &seen), Some(grade), "{token}");
    }
}

#[test]
fn hsts_counts_only_when_it_is_in_force() {
    let server = Server::new(&[TLS12, TLS13], &[&TLS13_SUITES[..], &AEAD].concat());
    let answers = answers(&server);
    let (seen, result) = (fixture::examination(), fixture::result());
    let hsts = |enabled, max_age| Some(Hsts { enabled, max_age, ..Hsts::default() });
    for (hsts, grade) in [
        (hsts(true, Some(15_552_000)), Grade::APlus),
        (hsts(true, Some(15_551_999)), Grade::A),
        (hsts(false, Some(YEAR)), Grade::A),
        (hsts(false, None), Grade::A),
        (None, Grade::A),
    ] {
        let negotiated = Some((TLS13, 0x1301));
        let evidence = Evidence {
            negotiated,
            answers: &answers,
            seen: &seen,
            result: &result,
            hsts: hsts.as_ref(),
        };
        assert_eq!(of(&evidence), Some(grade), "{hsts:?}");
    }
}

#[test]
fn hellos_that_told_nothing_make_no_grade() {
    let (seen, result) = (fixture::examination(), fixture::result());
    let negotiated = Some((TLS13, 0x1301));
    let grade = |outcomes: Vec<Outcome>| {
        let mut answers = Answers::default();
        answers.add(&Hello::ALL, outcomes);
        of(&Evidence { negotiated, answers: &answers, seen: &seen, result: &result, hsts: None })
    };
    assert_eq!(grade(vec![Outcome::Unknown; 10]), None);
    assert_eq!(grade(Vec::new()), None);
    // A server that resets what it does not like, and refuses once: the handshake tells the rest.
    let mut outcomes = vec![Outcome::Unknown; 10];
    outcomes[3] = Outcome::Refused;
    assert_eq!(grade(outcomes), Some(Grade::A));
}
