//! `openssl verify` as a second opinion on whether a chain is valid.
//!
//! At security level 1, which is what its own TLS clients ask for. Where the program is not
//! installed there is nothing to compare with, and a line says so.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::UNIX_EPOCH,
};

use rustls_pki_types::{CertificateDer, pem::PemObject};

use crate::{
    cases::{self, Case, HOST},
    maker::Kind,
    verdict::judge,
    webpki_peer,
};

#[test]
fn openssl_agrees_but_for_what_is_explained() {
    let Some(version) = version() else {
        println!("skipped: there is no program openssl to compare with");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let cases = cases::all();
    let (mut agreed, mut either) = (0, 0);
    let mut unexplained = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let verified = verify(case, &folder.path().join(number.to_string()));
        let ours = judge(case).verification.error;
        if verified.status.success() == ours.is_none() {
            agreed += 1;
            either += 1;
            continue;
        }
        if webpki_peer::verify(case).is_ok() == ours.is_none() {
            either += 1;
        }
        if explanation(case).is_none() {
            let said = said(&verified);
            unexplained.push(format!("{}: openssl {said}, we {ours:?}", case.title()));
        }
    }
    let explained = cases.len() - agreed - unexplained.len();
    println!("{version}: agreed {agreed} of {}, {explained} explained", cases.len());
    println!("{version} or rustls-webpki: agreed {either} of {}", cases.len());
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
    // What is explained is rare cases on purpose; were it most of them, this would compare nothing.
    assert!(agreed * 10 >= cases.len() * 9, "agreed {agreed} of {}", cases.len());
    assert!(either * 20 >= cases.len() * 19, "one of two agreed {either} of {}", cases.len());
}

fn explanation(case: &Case) -> Option<&'static str> {
    let of_case =
        |(family, name, _): &&(&str, &str, &str)| (*family, *name) == (case.family, case.name);
    EXPLAINED.iter().find(of_case).map(|(_, _, why)| *why)
}

/// Certificates that only openssl can make: of algorithms and keys of the past, and of odd ones.
#[test]
fn certificates_of_the_past_are_read_and_called_weak() {
    if version().is_none() {
        println!("skipped: there is no program openssl to make certificates with");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for made in MADE {
        let found = judge(&made.make(&folder.path().join(made.name)));
        let leaf = &found.chain[0];
        let facts = (leaf.key_algorithm.as_str(), leaf.key_bits, leaf.signature_algorithm.as_str());
        let verdict = found.verification.error.as_deref();
        if (facts, verdict) != (made.facts, made.expected) {
            wrong.push(format!("{}: {facts:?}, {verdict:?}", made.name));
        }
    }
    println!("made by openssl: {} of {} as expected", MADE.len() - wrong.len(), MADE.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Of a program that says it is OpenSSL: forks take other arguments.
fn version() -> Option<String> {
    let output = Command::new("openssl").arg("version").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    version.starts_with("OpenSSL").then(|| version.trim().to_owned())
}

fn verify(case: &Case, folder: &Path) -> Output {
    std::fs::create_dir(folder).unwrap();
    let write = |name: &str, certificates: &[Vec<u8>]| -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, pem(certificates)).unwrap();
        path
    };
    let mut command = Command::new("openssl");
    command.args(["verify", "-no-CApath", "-no-CAstore", "-CAfile"]);
    command.arg(write("roots.pem", &case.roots));
    if case.chain.len() > 1 {
        command.arg("-untrusted").arg(write("rest.pem", &case.chain[1..]));
    }
    let of_name =
        if case.host.parse::<IpAddr>().is_ok() { "-verify_ip" } else { "-verify_hostname" };
    command.args([of_name, case.host, "-purpose", "sslserver", "-auth_level", "1"]);
    command.args(["-attime", &case.at.to_string()]);
    command.arg(write("leaf.pem", &case.chain[..1])).output().unwrap()
}

/// The line with the error.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = text.lines().find(|line| line.starts_with("error "));
    line.unwrap_or(if output.status.success() { "says ok" } else { "fails" }).to_owned()
}

fn now() -> i64 {
    UNIX_EPOCH.elapsed().unwrap().as_secs().try_into().unwrap()
}

fn pem(certificates: &[Vec<u8>]) -> String {
    let blocks = certificates.iter().map(|der| {
        let lines = base64(der);
        format!("-----BEGIN CERTIFICATE-----\n{lines}-----END CERTIFICATE-----\n")
    });
    blocks.collect()
}

/// In lines of 64 characters.
fn base64(der: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for line in der.chunks(48) {
        for three in line.chunks(3) {
            let bits = three.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
            let bits = bits << (8 * (3 - three.len()));
            for place in 0..4 {
                let digit = ALPHABET[(bits >> (18 - 6 * place)) as usize & 63];
                text.push(if place > three.len() { '=' } else { char::from(digit) });
            }
        }
        text.push('\n');
    }
    text
}

/// (family, name, why we differ): first what it refuses and we call valid, then the other way.
const EXPLAINED: &[(&str, &str, &str)] = &[
    ("dates", "at the last second", "it takes the last second for over; RFC 5280 does not"),
    ("dates", "trusted root expired", "it looks at the dates of trusted roots"),
    ("dates", "trusted root expired and sent", "it looks at the dates of trusted roots"),
    ("cross-signed root", "below an expired root that is trusted", "the same"),
    ("path length", "of the root, exceeded", "it looks at more of a root than its name and key"),
    ("signature", "good, with another key identifier", "it takes a hint for a rule"),
    ("cross-signed intermediate", "untrusted one first", GOES_STRAIGHT),
    ("cross-signed intermediate", "untrusted one first, with its root", GOES_STRAIGHT),
    ("cross-signed intermediate", "one that is no CA first", GOES_STRAIGHT),
    ("cross-signed intermediate", "all bad ones first", GOES_STRAIGHT),
    ("many cross-signed", "the good one last", GOES_STRAIGHT),
    ("names", "wildcard in part, at the end", "it follows RFC 6125, which RFC 9525 replaced"),
    ("names", "wildcard in part, at the front", "it follows RFC 6125, which RFC 9525 replaced"),
    ("names", "common name alone", "it falls back to the common name; browsers do not"),
    (
        "name constraints",
        "wildcard that reaches into the excluded",
        "it compares the asterisk as a label of its own (CVE-2025-61727 elsewhere)",
    ),
];

const GOES_STRAIGHT: &str =
    "it takes one issuer of each certificate and never goes back for another";

/// A root and a leaf below it.
struct Made {
    name: &'static str,
    /// What makes a key.
    key: &'static [&'static str],
    /// What both are signed with, besides the key.
    signing: &'static [&'static str],
    facts: (&'static str, u32, &'static str),
    expected: Option<&'static str>,
}

const RSA_1024: &[&str] = &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"];
const RSA_2048: &[&str] = &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"];
const RSA_PSS: &[&str] = &["-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048"];
const P224: &[&str] = &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp224r1"];
const P256: &[&str] = &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"];
const P384: &[&str] = &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"];
const ED448: &[&str] = &["-algorithm", "ED448"];
const WEAK: Option<&str> = Some("weak_key");

#[rustfmt::skip]
const MADE: &[Made] = &[
    Made { name: "rsa-sha1", key: RSA_2048, signing: &["-sha1"], facts: ("RSA", 2048, "sha1WithRSAEncryption"), expected: WEAK },
    Made { name: "rsa-md5", key: RSA_2048, signing: &["-md5"], facts: ("RSA", 2048, "md5WithRSAEncryption"), expected: WEAK },
    Made { name: "rsa-sha224", key: RSA_2048, signing: &["-sha224"], facts: ("RSA", 2048, "sha224WithRSAEncryption"), expected: WEAK },
    Made { name: "rsa-1024", key: RSA_1024, signing: &["-sha256"], facts: ("RSA", 1024, "sha256WithRSAEncryption"), expected: WEAK },
    Made { name: "rsa-1024-sha384", key: RSA_1024, signing: &["-sha384"], facts: ("RSA", 1024, "sha384WithRSAEncryption"), expected: WEAK },
    Made { name: "rsa-signed-by-pss", key: RSA_2048, signing: &["-sha256", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32", "-sigopt", "rsa_mgf1_md:sha256"], facts: ("RSA", 2048, "rsassaPss"), expected: None },
    Made { name: "pss-key", key: RSA_PSS, signing: &["-sha256"], facts: ("RSA", 2048, "rsassaPss"), expected: WEAK },
    Made { name: "ecdsa-sha1", key: P256, signing: &["-sha1"], facts: ("EC", 256, "ecdsa-with-SHA1"), expected: WEAK },
    Made { name: "ecdsa-sha1-p384", key: P384, signing: &["-sha1"], facts: ("EC", 384, "ecdsa-with-SHA1"), expected: WEAK },
    Made { name: "ecdsa-sha512-p256", key: P256, signing: &["-sha512"], facts: ("EC", 256, "ecdsa-with-SHA512"), expected: None },
    Made { name: "ecdsa-p224", key: P224, signing: &["-sha256"], facts: ("EC", 224, "ecdsa-with-SHA256"), expected: WEAK },
    Made { name: "ed448", key: ED448, signing: &[], facts: ("Ed448", 456, "ED448"), expected: WEAK },
];

impl Made {
    fn make(&self, folder: &Path) -> Case {
        std::fs::create_dir(folder).unwrap();
        let run = |arguments: &[&str]| {
            let output =
                Command::new("openssl").args(arguments).current_dir(folder).output().unwrap();
            assert!(output.status.success(), "{}: {arguments:?}: {output:?}", self.name);
        };
        for key in ["root.key", "leaf.key"] {
            run(&[&["genpkey", "-out", key], self.key].concat());
        }
        let dates = ["-days", "36500", "-set_serial"];
        let root = ["req", "-x509", "-new", "-key", "root.key", "-subj", "/CN=Old Root"];
        run(&[&root[..], &dates, &["1", "-out", "root.pem"], self.signing].concat());
        let request = ["req", "-new", "-key", "leaf.key", "-subj", "/CN=leaf", "-out", "leaf.csr"];
        run(&[&request[..], self.signing].concat());
        std::fs::write(folder.join("leaf.cnf"), format!("subjectAltName=DNS:{HOST}\n")).unwrap();
        let sign = ["x509", "-req", "-in", "leaf.csr", "-CA", "root.pem", "-CAkey", "root.key"];
        let named = ["-extfile", "leaf.cnf", "-out", "leaf.pem"];
        run(&[&sign[..], &dates, &["2"], &named, self.signing].concat());
        let read = |name: &str| {
            CertificateDer::from_pem_file(folder.join(name)).unwrap().as_ref().to_vec()
        };
        Case {
            family: "made by openssl",
            name: self.name,
            kind: Kind::Rsa2048,
            // They are valid from now on.
            at: now() + 60,
            chain: vec![read("leaf.pem")],
            roots: vec![read("root.pem")],
            host: HOST,
            expected: self.expected,
        }
    }
}
