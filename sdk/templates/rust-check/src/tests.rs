//! Against a native double of the host: no WebAssembly, no network.

use std::time::Duration;

use vedette_sdk::{
    Check, Evidence, Health, Job,
    net::NetError,
    testing::{Host, Step},
};

use crate::{Banner, Config, Facts};

/// What a run sees of a server that says this.
fn seen(said: &'static [u8], expected: &str) -> Facts {
    let host = Host::new();
    host.connection(move |_| {
        let mut left = said;
        Ok(Box::new(move |step: Step<'_>| match step {
            Step::Read { .. } => Ok(std::mem::take(&mut left).to_vec()),
            Step::Write(_) | Step::StartTls { .. } => Err(NetError::Reset),
        }))
    });
    let config = Config {
        expected: expected.to_owned(),
        ..Config::default()
    };
    let ran = Banner::run(&host.cx(), Job::new("server.example", config));
    ran.expect("the plugin can check").facts
}

fn judged(facts: Facts) -> (Health, Vec<String>) {
    let assessment = Banner::assess(Evidence {
        current: facts,
        current_at: 1_767_225_600,
        settled: None,
        siblings: Vec::new(),
        config: Config::default(),
        alert_days: 14,
        memory: None,
    });
    (
        assessment.health,
        assessment
            .findings
            .into_iter()
            .map(|finding| finding.event)
            .collect(),
    )
}

#[test]
fn expected_banner_is_fine() {
    let facts = seen(b"SSH-2.0-OpenSSH_9.9\r\nmore", "OpenSSH");
    assert_eq!(facts.banner.as_deref(), Some("SSH-2.0-OpenSSH_9.9"));
    assert_eq!(judged(facts), (Health::Ok, Vec::new()));
}

#[test]
fn another_banner_is_a_finding() {
    let facts = seen(b"220 mx.example ESMTP\r\n", "OpenSSH");
    assert_eq!(facts.matched, Some(false));
    assert_eq!(
        judged(facts),
        (Health::Degraded, vec!["{{type}}.unexpected".to_owned()])
    );
}

#[test]
fn silent_server_is_down() {
    let facts = seen(b"", "");
    assert_eq!(facts.error.as_deref(), Some("no_banner"));
    assert_eq!(
        judged(facts),
        (Health::Down, vec!["{{type}}.silent".to_owned()])
    );
}

#[test]
fn server_that_sends_a_byte_a_second_is_read_until_the_timeout() {
    let host = Host::new();
    let clock = host.clone();
    host.connection(move |_| {
        let (clock, mut left) = (clock.clone(), Duration::from_secs(10));
        Ok(Box::new(move |step: Step<'_>| match step {
            Step::Read { .. } => {
                left -= Duration::from_secs(1);
                clock.set_remaining(left);
                Ok(b"a".to_vec())
            }
            Step::Write(_) | Step::StartTls { .. } => Err(NetError::Reset),
        }))
    });
    let ran = Banner::run(&host.cx(), Job::new("server.example", Config::default()));
    let facts = ran.expect("the plugin can check").facts;
    assert_eq!(facts.banner.as_deref(), Some("aaaaa"));
}

#[test]
fn server_that_is_away_is_an_observation() {
    let host = Host::new();
    host.connection(|_| Err(NetError::Refused));
    let ran = Banner::run(&host.cx(), Job::new("server.example", Config::default()));
    let facts = ran.expect("the plugin can check").facts;
    assert_eq!(facts.error.as_deref(), Some("connection_refused"));
}

#[test]
fn configuration_out_of_bounds_names_the_place() {
    let wrong = Config {
        port: Some(0),
        timeout_ms: 0,
        ..Config::default()
    };
    let problems = Banner::validate("server.example", wrong).expect_err("refused");
    let places: Vec<_> = problems
        .iter()
        .map(|problem| problem.pointer.as_str())
        .collect();
    assert_eq!(places, ["/port", "/timeout_ms"]);
    assert!(Banner::validate("server.example", Config::default()).is_ok());
}
