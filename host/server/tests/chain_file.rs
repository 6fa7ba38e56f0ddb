//! `vedette check ssl --chain-file`: the same judgement as of a server, from a file and for any
//! moment.
//!
//! The certificates in `chain_file/` are of 2026, for www.example.com, and have a demand for staples.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::{Value, json};

const LEAF: &str = include_str!("chain_file/leaf.pem");
const INTERMEDIATE: &str = include_str!("chain_file/intermediate.pem");
const ROOT: &str = include_str!("chain_file/root.pem");

/// Files of one test.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.0.path().join(name);
        std::fs::write(&file, text).expect("written");
        file
    }
}

fn vedette(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vedette"));
    // Compiled once for all tests.
    command
        .env("CACHE_DIRECTORY", concat!(env!("CARGO_TARGET_TMPDIR"), "/native-code"))
        .env_remove("VEDETTE_CONFIG");
    command.args(arguments).output().expect("it runs")
}

/// Judges for www.example.com, with the root trusted.
fn judge(files: &Files, chain: &str, more: &[&str]) -> Output {
    let (chain, root) = (files.write("chain.pem", chain), files.write("root.pem", ROOT));
    let arguments = ["check", "ssl", "--chain-file", text(&chain), "--ca-file", text(&root)];
    vedette(&[&arguments[..], more].concat())
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn answer(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {output:?}"))
}

#[test]
fn a_good_chain_is_valid_and_what_a_file_cannot_tell_is_null() {
    let files = Files::new();
    let chain = format!("{LEAF}{INTERMEDIATE}");
    let good =
        judge(&files, &chain, &["--name", "www.example.com", "--at", "2026-06-01", "--json"]);
    assert_eq!(good.status.code(), Some(0), "{good:?}");
    let answer = answer(&good);
    assert_eq!(answer["valid"], true, "{answer}");
    assert_eq!(answer["days_remaining"], 214, "counted from --at");
    assert_eq!(answer["issuer"], "Example Intermediate");
    assert_eq!(answer["san"], json!(["www.example.com", "example.com"]));
    assert_eq!(answer["chain"].as_array().map(Vec::len), Some(2));
    assert_eq!(answer["chain_complete"], true);
    assert_eq!(answer["findings"], json!([]));
    for field in [
        "error",
        "chain_error",
        "protocol_version",
        "cipher_name",
        "cipher_strength",
        "ocsp_stapling",
        "hsts",
        "mixed_content",
    ] {
        assert_eq!(answer[field], Value::Null, "{field}");
    }
}

#[test]
fn every_other_chain_is_told_by_its_token() {
    let files = Files::new();
    let chain = format!("{LEAF}{INTERMEDIATE}");
    let (good, june) = ("www.example.com", "2026-06-01");
    let table = [
        (&chain, good, "2026-12-25T12:00:00Z", None, Some("ssl.expiring")),
        (&chain, good, "2027-06-01", Some("certificate_expired"), Some("ssl.expired")),
        (&chain, good, "2025-06-01", Some("certificate_not_yet_valid"), Some("ssl.invalid")),
        (&chain, "www.example.org", june, Some("hostname_mismatch"), Some("ssl.invalid")),
        (&chain, "192.0.2.1", june, Some("hostname_mismatch"), Some("ssl.invalid")),
        (&LEAF.to_owned(), good, june, Some("incomplete_chain"), Some("ssl.invalid")),
        (&format!("{LEAF}{ROOT}"), good, june, Some("incomplete_chain"), Some("ssl.invalid")),
        (&format!("{LEAF}{ROOT}{INTERMEDIATE}"), good, june, None, None),
        (&format!("{LEAF}{}{INTERMEDIATE}", ROOT.repeat(21)), good, june, None, None),
    ];
    for (chain, name, at, error, finding) in table {
        let judged = judge(&files, chain, &["--name", name, "--at", at, "--json"]);
        let answer = answer(&judged);
        assert_eq!(answer["error"].as_str(), error, "{name} at {at}: {answer}");
        let found: Vec<_> = answer["findings"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|found| &found["type"])
            .collect();
        assert_eq!(found, finding.map(Value::from).iter().collect::<Vec<_>>(), "{name} at {at}");
        assert_eq!(judged.status.code(), Some(i32::from(finding.is_some())), "{judged:?}");
    }
}

#[test]
fn roots_are_trusted_where_they_are_given() {
    let files = Files::new();
    let chain = files.write("chain.pem", &format!("{LEAF}{INTERMEDIATE}{ROOT}"));
    let about = ["--name", "www.example.com", "--at", "2026-06-01", "--json"];
    let arguments = [&["check", "ssl", "--chain-file", text(&chain)][..], &about].concat();
    let judged = vedette(&arguments);
    assert_eq!(answer(&judged)["error"], "untrusted_root");
    assert_eq!(judged.status.code(), Some(1), "{judged:?}");
}

#[test]
fn people_read_the_same() {
    let files = Files::new();
    let chain = format!("{LEAF}{INTERMEDIATE}");
    let judged = judge(&files, &chain, &["--name", "www.example.com", "--at", "2027-06-01"]);
    assert_eq!(judged.status.code(), Some(1), "{judged:?}");
    let page = String::from_utf8_lossy(&judged.stdout);
    for words in ["www.example.com", "certificate_expired", "ssl.expired", "Example Intermediate"] {
        assert!(page.contains(words), "{page}");
    }
}

#[test]
fn what_cannot_be_judged_is_exit_code_2_and_one_line() {
    let files = Files::new();
    let good = format!("{LEAF}{INTERMEDIATE}");
    let about = ["--name", "www.example.com", "--at", "2026-06-01"];
    let key = "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n";
    let large = format!(
        "-----BEGIN CERTIFICATE-----\n{}-----END CERTIFICATE-----\n",
        format!("{}\n", "A".repeat(64)).repeat(6_400)
    );
    let table: [(String, &[&str], &str); 7] = [
        (String::new(), &about, "holds no certificate"),
        (format!("{good}{key}"), &about, "holds a private key"),
        (large, &about, "holds 300 KiB of certificates"),
        (LEAF.replace("MII", "M*I"), &about, "cannot read certificate 1"),
        (good.clone(), &["--name", "www.example.com", "--at", "soon"], "--at must be a date"),
        (good.clone(), &["--name", "localhost"], "must have at least two labels"),
        (good, &["--name", "https://www.example.com/"], "must be a bare host name"),
    ];
    for (chain, more, expected) in table {
        let refused = judge(&files, &chain, more);
        assert_eq!(refused.status.code(), Some(2), "{expected}: {refused:?}");
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(said.contains(expected) && said.lines().count() == 1, "{said}");
        assert!(!said.contains("c2VjcmV0") && refused.stdout.is_empty(), "{said}");
    }
    let missing =
        vedette(&[&["check", "ssl", "--chain-file", "/nowhere.pem"][..], &about].concat());
    assert_eq!(missing.status.code(), Some(2), "{missing:?}");
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot read /nowhere.pem"));
}

#[test]
fn flags_that_do_not_go_together_are_refused() {
    let files = Files::new();
    let chain = files.write("chain.pem", LEAF);
    let chain = text(&chain);
    for arguments in [
        &["check", "ssl", "--chain-file", chain][..],
        &["check", "ssl", "--name", "www.example.com"],
        &["check", "ssl", "example.com", "--name", "www.example.com"],
        &["check", "ssl", "example.com", "--at", "2026-06-01"],
        &["check", "ssl", "example.com", "--chain-file", chain, "--name", "example.com"],
        &["check", "ssl", "--chain-file", chain, "--name", "example.com", "--port", "443"],
        &["check", "dns", "--chain-file", chain, "--name", "example.com"],
    ] {
        let refused = vedette(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {refused:?}");
        assert!(!refused.stderr.is_empty(), "{arguments:?}");
    }
}
