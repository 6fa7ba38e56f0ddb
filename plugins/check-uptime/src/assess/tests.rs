use vedette_sdk::{Settled, Severity};

use super::*;
use crate::{events, facts};

const NOW: i64 = 1_767_225_600;

fn result(status: Status) -> UptimeResult {
    let url = "https://example.com/".to_owned();
    let failed = facts::of_failure(url, "connection_refused");
    let error = failed.error.clone().filter(|_| status == Status::Down);
    UptimeResult { status, error, response_time_ms: 6_300.0, ..failed }
}

fn evidence(
    current: Status,
    settled: Option<Status>,
    memory: Option<String>,
    now: i64,
) -> Evidence<Config, UptimeResult> {
    Evidence {
        current: result(current),
        current_at: now,
        settled: settled.map(|status| Settled { facts: result(status), at: now - 60 }),
        siblings: Vec::new(),
        config: Config::default(),
        alert_days: 14,
        memory,
    }
}

fn found(assessment: &Assessment) -> Vec<(&str, &str)> {
    let findings = assessment.findings.iter();
    findings.map(|finding| (finding.event.as_str(), finding.dedup_key.as_str())).collect()
}

fn down_since(assessment: &Assessment) -> Option<i64> {
    let memory = assessment.memory.as_deref()?;
    let memory: Memory = serde_json::from_str(memory).expect("it was remembered");
    memory.down_since
}

#[test]
fn status_decides_health_and_finding() {
    let (down, degraded) = (("site.down", "site"), ("site.degraded", "site"));
    let up_again = ("site.up", "recovery");
    for (current, settled, health, findings) in [
        (Status::Up, None, Health::Ok, vec![]),
        (Status::Up, Some(Status::Up), Health::Ok, vec![]),
        (Status::Up, Some(Status::Degraded), Health::Ok, vec![up_again]),
        (Status::Up, Some(Status::Down), Health::Ok, vec![up_again]),
        (Status::Degraded, None, Health::Degraded, vec![degraded]),
        (Status::Degraded, Some(Status::Down), Health::Degraded, vec![degraded]),
        (Status::Down, None, Health::Down, vec![down]),
        (Status::Down, Some(Status::Down), Health::Down, vec![down]),
    ] {
        let assessment = assess(evidence(current, settled, None, NOW));
        assert_eq!(assessment.health, health, "{current:?} after {settled:?}");
        assert_eq!(found(&assessment), findings, "{current:?} after {settled:?}");
    }
}

#[test]
fn trouble_is_one_alert_that_rises_and_recovery_another() {
    assert_eq!(events::DOWN.alert_type, events::DEGRADED.alert_type);
    assert!(events::DOWN.severity == Severity::Critical);
    assert!(events::DEGRADED.severity == Severity::Warning);
    assert_ne!(events::TROUBLE, events::RECOVERY);
}

#[test]
fn recovery_tells_how_long_the_outage_was() {
    let first = assess(evidence(Status::Down, Some(Status::Up), None, NOW));
    let second = assess(evidence(Status::Down, Some(Status::Up), first.memory, NOW + 5));
    let third = assess(evidence(Status::Down, Some(Status::Down), second.memory, NOW + 600));
    let up = assess(evidence(Status::Up, Some(Status::Down), third.memory, NOW + 840));
    assert_eq!(up.findings[0].message, "https://example.com/ is up again after 14 minutes");
    // Still to be confirmed; then it is over.
    let again = assess(evidence(Status::Up, Some(Status::Down), up.memory, NOW + 850));
    assert_eq!(again.findings[0].message, "https://example.com/ is up again after 14 minutes");
    let settled = assess(evidence(Status::Up, Some(Status::Up), again.memory, NOW + 900));
    assert_eq!((settled.findings.len(), down_since(&settled)), (0, None));
}

#[test]
fn end_of_slowness_tells_that_the_site_is_in_time_again() {
    let well = assess(evidence(Status::Up, Some(Status::Degraded), None, NOW));
    let said = "https://example.com/ answers in time again: it took 6.3 s";
    assert_eq!((well.findings[0].message.as_str(), down_since(&well)), (said, None));
}

#[test]
fn site_whose_name_was_never_found_is_down_like_any_other() {
    let missing = |settled: Option<UptimeResult>, memory| {
        let mut evidence = evidence(Status::Down, None, memory, NOW);
        evidence.current.error = Some("dns_not_found".to_owned());
        evidence.settled = settled.map(|facts| Settled { facts, at: NOW - 60 });
        evidence
    };
    let not_there = missing(None, None).current;
    let first = assess(missing(None, None));
    assert_eq!((first.health, found(&first)), (Health::Down, vec![("site.down", "site")]));
    let still = assess(missing(Some(not_there.clone()), first.memory));
    assert_eq!(found(&still), [("site.down", "site")]);
    // Also where an outage was not remembered.
    for memory in [still.memory, None] {
        let mut there = evidence(Status::Up, None, memory, NOW);
        there.settled = Some(Settled { facts: not_there.clone(), at: NOW - 60 });
        assert_eq!(found(&assess(there)), [("site.up", "recovery")]);
    }
}

#[test]
fn outage_counts_from_its_own_beginning() {
    let flap = assess(evidence(Status::Down, Some(Status::Up), None, NOW));
    let over = assess(evidence(Status::Up, Some(Status::Up), flap.memory, NOW + 5));
    assert_eq!(down_since(&over), None);
    let next = assess(evidence(Status::Down, Some(Status::Up), over.memory, NOW + 86_400));
    let up = assess(evidence(Status::Up, Some(Status::Down), next.memory, NOW + 86_460));
    assert_eq!(up.findings[0].message, "https://example.com/ is up again after 1 minute");
}

#[test]
fn slow_after_down_needs_no_more_confirmation_unless_it_is_a_recovery() {
    for (settled, confirmations) in [(Status::Up, Some(1)), (Status::Down, None)] {
        let down = assess(evidence(Status::Down, Some(settled), None, NOW));
        let slow = assess(evidence(Status::Degraded, Some(settled), down.memory, NOW + 5));
        assert_eq!(slow.findings[0].confirmations, confirmations, "{settled:?}");
    }
    let slow = assess(evidence(Status::Degraded, Some(Status::Up), None, NOW));
    assert_eq!(slow.findings[0].confirmations, None);
}

#[test]
fn foreign_memory_and_turned_clocks_do_no_harm() {
    for memory in ["", "[]", "{\"down_since\":\"x\"}", "{\"down_since\":9223372036854775807}"] {
        for now in [NOW, i64::MIN + 60] {
            let memory = Some(memory.to_owned());
            let up = assess(evidence(Status::Up, Some(Status::Down), memory, now));
            assert_eq!(found(&up), [("site.up", "recovery")]);
        }
    }
}

#[test]
fn slow_site_is_told_with_its_limit() {
    let message = |degraded_ms| {
        let mut evidence = evidence(Status::Degraded, None, None, NOW);
        evidence.config.degraded_ms = degraded_ms;
        assess(evidence).findings.remove(0).message
    };
    assert_eq!(
        message(5_000),
        "https://example.com/ is slow: it took 6.3 s to answer, more than the 5.0 s allowed",
    );
    assert_eq!(message(0), "https://example.com/ is slow: it took 6.3 s to answer");
}

/// A site whose results arrive one after the other, each of which settles.
#[derive(Default)]
struct Site {
    config: Config,
    memory: Option<String>,
    settled: Option<Settled<UptimeResult>>,
    runs: i64,
}

impl Site {
    fn judge(&mut self, url: &str, status: Status) -> Assessment {
        self.runs += 1;
        let now = NOW + 60 * self.runs;
        let facts = UptimeResult { url: Some(url.to_owned()), ..result(status) };
        let assessment = assess(Evidence {
            current: facts.clone(),
            current_at: now,
            settled: self.settled.replace(Settled { facts, at: now }),
            siblings: Vec::new(),
            config: self.config.clone(),
            alert_days: 14,
            memory: self.memory.take(),
        });
        self.memory.clone_from(&assessment.memory);
        assessment
    }

    fn asked_over(scheme: Scheme) -> Self {
        Self { config: Config { scheme, ..Config::default() }, ..Self::default() }
    }
}

const SECURE: &str = "https://example.com/a?b=c";
const PLAIN: &str = "http://example.com/a?b=c";

#[test]
fn site_that_was_seen_over_https_and_answers_over_plain_http_alone_is_down() {
    let mut site = Site::default();
    assert!(found(&site.judge(SECURE, Status::Up)).is_empty());
    for status in [Status::Up, Status::Degraded] {
        let lost = site.judge(PLAIN, status);
        assert_eq!((lost.health, found(&lost)), (Health::Down, vec![("site.down", "site")]));
        assert_eq!(
            lost.findings[0].message,
            "https://example.com/a is down over https: only plain http answers",
        );
        let suggestion = lost.findings[0].suggestion.as_deref().unwrap_or_default();
        assert!(suggestion.contains("set scheme to http"), "{suggestion}");
    }
    // What else is wrong is told as always.
    let refused = site.judge(SECURE, Status::Down);
    assert!(refused.findings[0].message.ends_with("the connection was refused"));
    let over = site.judge(SECURE, Status::Up);
    assert_eq!(found(&over), [("site.up", "recovery")]);
    assert_eq!(over.findings[0].message, "https://example.com/a is up again after 3 minutes");
    assert!(found(&site.judge(SECURE, Status::Up)).is_empty());
}

#[test]
fn plain_http_is_up_where_https_was_never_seen_or_is_not_wanted() {
    let both = [SECURE, PLAIN, PLAIN];
    for (scheme, urls) in [
        (Scheme::Auto, [PLAIN, PLAIN, PLAIN]),
        (Scheme::Http, both),
        // Another port is another service; and what was never up was never seen.
        (Scheme::Auto, ["https://example.com:8443/", "http://example.com:8080/", PLAIN]),
        (Scheme::Auto, ["http://example.com", "http://example.com:443", "http://example.com"]),
    ] {
        let mut site = Site::asked_over(scheme);
        for url in urls {
            assert!(found(&site.judge(url, Status::Up)).is_empty(), "{scheme:?} {url}");
        }
    }
    let mut site = Site::default();
    site.judge(SECURE, Status::Down);
    assert_eq!(found(&site.judge(PLAIN, Status::Up)), [("site.up", "recovery")]);
    // Nor is it what was, when https comes.
    let mut site = Site::default();
    site.judge(PLAIN, Status::Up);
    let settled = site.settled.clone();
    site.judge(SECURE, Status::Up);
    site.settled = settled;
    assert!(found(&site.judge(SECURE, Status::Up)).is_empty());
}

#[test]
fn owner_accepts_plain_http_by_asking_for_it() {
    let mut site = Site::default();
    site.judge(SECURE, Status::Up);
    site.judge(PLAIN, Status::Up);
    site.config.scheme = Scheme::Http;
    assert!(found(&site.judge(PLAIN, Status::Up)).is_empty());
    // Also when they leave it to the check again.
    site.config.scheme = Scheme::Auto;
    assert!(found(&site.judge(PLAIN, Status::Up)).is_empty());
}
