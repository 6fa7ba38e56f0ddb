//! Chains from files: `vedette check ssl --chain-file`.
//!
//! *Invariant:* nothing of a private key that somebody put into the file is read or printed.

use std::{fs::File, io::Read, path::Path};

use anyhow::{Context, anyhow, bail, ensure};
use rustls::pki_types::{
    CertificateDer,
    pem::{self, PemObject},
};
use vedette_model::{CheckType, Timestamp, parse};

use super::flags;

/// A chain to judge, and when; none = now.
#[derive(Debug)]
pub(super) struct Chain {
    /// DER, in the order of the file: leaf first.
    pub(super) certificates: Vec<Vec<u8>>,
    pub(super) at: Option<Timestamp>,
}

/// What only a server can tell.
pub(super) const UNKNOWABLE: [&str; 4] = ["hsts", "mixed_content", "ocsp_stapling", "tls_grade"];

impl Chain {
    /// The chain that the flags ask for, if they ask for one.
    pub(super) fn of(flags: &flags::Chain, check_type: &CheckType) -> anyhow::Result<Option<Self>> {
        let Some(file) = &flags.chain_file else { return Ok(None) };
        ensure!(
            check_type.as_str() == "ssl",
            "--chain-file is for the check ssl: {check_type} looks at no certificates"
        );
        let at = flags.at.as_deref().map(moment).transpose()?;
        Ok(Some(Self { certificates: read(file)?, at }))
    }
}

fn moment(text: &str) -> anyhow::Result<Timestamp> {
    let at = parse::date_or_time("at", text);
    at.map(|day| day.start()).map_err(|invalid| anyhow::anyhow!("--at {}", invalid.reason))
}

fn read(file: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let name = file.display();
    let mut pem = Vec::new();
    File::open(file)
        .and_then(|open| open.take(LARGEST_FILE + 1).read_to_end(&mut pem))
        .with_context(|| format!("cannot read {name}"))?;
    ensure!(pem.len() as u64 <= LARGEST_FILE, "{name} is larger than {} MiB", LARGEST_FILE >> 20);
    let pem = plain(&pem);
    if labels(&pem).any(|label| label.ends_with(b"PRIVATE KEY")) {
        bail!("{name} holds a private key: give a file with the certificates alone");
    }
    if labels(&pem).any(|label| label == b"TRUSTED CERTIFICATE") {
        bail!("{name} holds a trusted certificate of OpenSSL: `openssl x509` writes a plain one");
    }
    let mut certificates = Vec::new();
    for (nth, certificate) in CertificateDer::pem_slice_iter(&pem).enumerate() {
        let certificate = certificate.map_err(|error| {
            anyhow!("cannot read certificate {} of {name}: {}", nth + 1, reason(&error))
        })?;
        certificates.push(certificate.to_vec());
    }
    let size = certificates.iter().map(Vec::len).sum::<usize>();
    ensure!(!certificates.is_empty(), "{name} holds no certificate in PEM");
    ensure!(
        size <= LARGEST_CHAIN,
        "{name} holds {} KiB of certificates: a chain has at most {} KiB",
        size.div_ceil(1024),
        LARGEST_CHAIN >> 10
    );
    Ok(certificates)
}

/// Without the mark that editors put in front of a text, and with the old name of a certificate
/// replaced by the one that is read.
fn plain(pem: &[u8]) -> Vec<u8> {
    let pem = pem.strip_prefix(BYTE_ORDER_MARK).unwrap_or(pem);
    pem.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')).flat_map(renamed).copied().collect()
}

/// The two parts of a line between which the old name stood.
fn renamed(line: &[u8]) -> impl Iterator<Item = &u8> {
    let old = [&b"-----BEGIN "[..], b"-----END "].into_iter().find_map(|mark| {
        let rest = line.strip_prefix(mark)?.strip_prefix(b"X509 ")?;
        rest.starts_with(b"CERTIFICATE-----").then(|| (&line[..mark.len()], rest))
    });
    let (mark, rest) = old.unwrap_or((line, &[]));
    mark.iter().chain(rest)
}

/// What the sections are called: `CERTIFICATE`, `RSA PRIVATE KEY`, …
fn labels(pem: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = pem.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii);
    lines.filter_map(|line| line.strip_prefix(b"-----BEGIN ")?.strip_suffix(b"-----"))
}

/// What is wrong, without the bytes that the library prints.
fn reason(error: &pem::Error) -> String {
    match error {
        pem::Error::MissingSectionEnd { .. } => "its END line is missing".to_owned(),
        pem::Error::IllegalSectionStart { .. } => "its BEGIN line is broken".to_owned(),
        other => other.to_string(),
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// What is looked at of a chain that a server sends.
const LARGEST_CHAIN: usize = 256 << 10;
/// Room for the text that tools write between certificates.
const LARGEST_FILE: u64 = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    const SOMETHING: &str = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";

    /// What `read` says of a file with this text.
    fn said(text: &str) -> Result<Vec<Vec<u8>>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("chain.pem");
        std::fs::write(&file, text).expect("written");
        let read = read(&file);
        read.map_err(|cause| format!("{cause:#}").replace(&folder.path().display().to_string(), ""))
    }

    #[test]
    fn certificates_are_read_in_their_order_with_text_between() {
        let other = SOMETHING.replace("MAA=", "MAEF");
        let text = format!("subject=CN=leaf\r\n{SOMETHING}\nissuer:\n{other}");
        assert_eq!(said(&text), Ok(vec![vec![0x30, 0], vec![0x30, 1, 5]]));
        assert_eq!(said(&format!("\u{feff}{text}")).map(|chain| chain.len()), Ok(2));
        let renamed = SOMETHING.replace(" CERTIFICATE", " X509 CERTIFICATE");
        assert_eq!(said(&format!("{renamed}{SOMETHING}")), Ok(vec![vec![0x30, 0]; 2]));
        assert_eq!(said(&SOMETHING.repeat(30)).map(|chain| chain.len()), Ok(30));
    }

    #[test]
    fn what_is_no_chain_is_refused_in_one_line() {
        let large = format!(
            "-----BEGIN CERTIFICATE-----\n{}-----END CERTIFICATE-----\n",
            format!("{}\n", "A".repeat(64)).repeat(6_400)
        );
        let table = [
            (String::new(), "holds no certificate"),
            ("hello\n".repeat(9), "holds no certificate"),
            (large, "holds 300 KiB of certificates: a chain has at most 256 KiB"),
            ("x".repeat(3 << 20), "is larger than 2 MiB"),
            (SOMETHING.replace("MAA=", "M*A="), "cannot read certificate 1 of"),
            (SOMETHING.replace("-----END", "-----UND"), "its END line is missing"),
            (SOMETHING.replace("CERTIFICATE-----\nM", "CERTIFICATE--\nM"), "BEGIN line is broken"),
            (
                SOMETHING.replace(" CERTIFICATE", " TRUSTED CERTIFICATE"),
                "holds a trusted certificate of OpenSSL",
            ),
        ];
        for (text, expected) in table {
            let said = said(&text).expect_err(expected);
            assert!(said.contains(expected), "{said:?} has no {expected:?}");
            assert_eq!(said.lines().count(), 1, "{said:?}");
        }
        let missing = read(Path::new("/nowhere/chain.pem")).expect_err("there is none");
        assert!(format!("{missing:#}").starts_with("cannot read /nowhere/chain.pem: "));
    }

    #[test]
    fn a_private_key_is_refused_unread() {
        for kind in ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY"] {
            let key = format!("-----BEGIN {kind}-----\nc2VjcmV0\n-----END {kind}-----\n");
            let marked = format!("\u{feff}{key}");
            for text in [format!("{SOMETHING}{key}"), format!("{key}{SOMETHING}"), marked, key] {
                let said = said(&text).expect_err("it has a key");
                assert!(said.contains("holds a private key"), "{said}");
                assert!(!said.contains("c2VjcmV0"), "{said}");
            }
        }
    }

    #[test]
    fn moments_are_days_or_times() {
        assert_eq!(moment("2026-11-20").expect("a day").timestamp(), 1_795_132_800);
        let at = moment("2026-11-20T01:00:00+01:00").expect("a time").timestamp();
        assert_eq!(at, 1_795_132_800);
        for text in ["", "now", "1795132800", "2026-13-01", "2026-11-20T25:00:00Z"] {
            let said = moment(text).expect_err("it is no moment").to_string();
            assert!(said.starts_with("--at must be a date such as "), "{said}");
        }
    }
}
