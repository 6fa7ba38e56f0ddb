//! The program's command line: what it refuses, and how.

use std::process::{Command, Output};

fn vedette(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vedette"))
        // Compiled once for all tests.
        .env("CACHE_DIRECTORY", concat!(env!("CARGO_TARGET_TMPDIR"), "/native-code"))
        .args(arguments)
        .output()
        .expect("it runs")
}

#[test]
fn what_cannot_be_understood_is_refused_with_a_word_on_stderr() {
    for arguments in [
        &["watch"][..],
        &["serve", "--listen"],
        &["serve", "--listen", "nowhere"],
        &["serve", "--edition", "golden", "--db", "mem://"],
        &["serve", "--egress-allow", "10.0.0.0/33"],
        &["check"],
        &["check", "ssl"],
        &["account", "create", "--email", "a@example.com"],
    ] {
        let refused = vedette(arguments);
        assert!(!refused.status.success(), "{arguments:?}: {refused:?}");
        assert!(!refused.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn unknown_keys_of_the_configuration_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("vedette.toml");
    std::fs::write(&file, "[intervals]\nsssl = \"1h\"\n").expect("written");
    let refused = vedette(&["serve", "--db", "mem://", "--config", file.to_str().expect("UTF-8")]);
    assert!(!refused.status.success(), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("sssl"), "{refused:?}");
}

#[test]
fn a_target_that_cannot_be_checked_is_exit_code_2() {
    let refused = vedette(&["check", "ssl", "127.0.0.1"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

#[test]
fn help_names_the_commands() {
    let help = vedette(&["--help"]);
    assert!(help.status.success());
    let text = String::from_utf8_lossy(&help.stdout).into_owned();
    for command in ["serve", "check", "account", "health", "agent"] {
        assert!(text.contains(command), "{text}");
    }
}
