use serde_json::Value;
use vedette_sdk::{
    Settled,
    date::{self, DAY},
};

use super::*;
use crate::fixture::{self, DOMAIN, NOW};

mod condition;
mod evidence;
mod fleet;
mod replacement;

/// A site whose results arrive one after the other; memory and settled result are carried on as
/// the host does.
struct Site {
    config: Config,
    alert_days: u16,
    memory: Option<String>,
    settled: Option<Settled<SslResult>>,
}

impl Site {
    fn new() -> Self {
        Self { config: Config::default(), alert_days: 14, memory: None, settled: None }
    }

    fn judge(&mut self, current: SslResult, now: i64) -> Assessment {
        let assessment = assess(Evidence {
            current: current.clone(),
            current_at: now,
            settled: self.settled.clone(),
            siblings: Vec::new(),
            config: self.config.clone(),
            alert_days: self.alert_days,
            memory: self.memory.clone(),
        });
        self.memory.clone_from(&assessment.memory);
        self.settled = Some(Settled { facts: current, at: now });
        assessment
    }
}

/// A valid certificate that expires in so many days.
fn valid(days: i64, now: i64) -> SslResult {
    leaf("aa01", now + days * DAY, now)
}

fn leaf(fingerprint: &str, expires_at: i64, now: i64) -> SslResult {
    let mut result = fixture::result();
    result.chain[0].fingerprint = fingerprint.to_owned();
    result.chain[0].valid_to = Some(date::rfc3339(expires_at));
    result.valid_to = Some(date::rfc3339(expires_at));
    result.expires_at = result.valid_to.clone();
    result.days_remaining = Some(date::days_until(expires_at, now));
    result
}

fn invalid(error: &str) -> SslResult {
    SslResult { valid: false, error: Some(error.to_owned()), ..fixture::result() }
}

fn away() -> SslResult {
    crate::facts::of_failure(DOMAIN, "connection_refused")
}

fn events(assessment: &Assessment) -> Vec<&str> {
    assessment.findings.iter().map(|finding| finding.event.as_str()).collect()
}

fn details(finding: &Finding) -> Value {
    let details = finding.details.as_deref().expect("a change has details");
    serde_json::from_str(details).expect("details are JSON")
}

/// The change that a second result makes of a first.
fn change(before: SslResult, after: SslResult) -> Assessment {
    let mut site = Site::new();
    site.judge(before, NOW);
    site.judge(after, NOW + 3_600)
}
