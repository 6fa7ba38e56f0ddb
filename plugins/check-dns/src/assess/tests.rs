use std::collections::BTreeMap;

use serde_json::{Value, json};
use vedette_sdk::{Finding, Settled};

use super::*;
use crate::{fixture::NOW, result::Dnssec};

mod any_history;
mod bounds;
mod change;
mod failure;
mod loss;
mod rotation;

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;
const NAME: &str = "www.example.com";

/// A site whose results arrive one after the other. Keeps what the host keeps: the memory, how
/// often each finding was reported in a row, and the last settled result.
#[derive(Default)]
struct Site {
    memory: Option<String>,
    settled: Option<Settled<DnsResult>>,
    /// By key: runs in a row, and whether it was raised.
    tracked: BTreeMap<String, (u8, bool)>,
    raised: Vec<Finding>,
    now: i64,
}

impl Site {
    fn new() -> Self {
        Self { now: NOW, ..Self::default() }
    }

    /// One run, an hour after the last; answers the messages of the alerts that it raised.
    fn run(&mut self, current: DnsResult) -> Vec<String> {
        self.now += HOUR;
        let before = self.raised.len();
        self.judge(current);
        self.raised[before..].iter().map(|finding| finding.message.clone()).collect()
    }

    fn judge(&mut self, current: DnsResult) -> Assessment {
        let evidence = Evidence {
            current: current.clone(),
            current_at: self.now,
            settled: self.settled.clone(),
            siblings: Vec::new(),
            config: NoConfig {},
            alert_days: 14,
            memory: self.memory.clone(),
        };
        let assessment = assess(evidence.clone());
        assert_eq!(assess(evidence), assessment, "the same evidence gives the same bytes");
        within_limits(&assessment);
        if assessment.health == Health::Unknown {
            return assessment;
        }
        self.memory.clone_from(&assessment.memory);
        let before = std::mem::take(&mut self.tracked);
        for finding in &assessment.findings {
            let (count, raised) = before.get(&finding.dedup_key).copied().unwrap_or_default();
            let confirmed = count + 1 >= finding.confirmations.unwrap_or(2);
            if confirmed && !raised {
                self.raised.push(finding.clone());
            }
            self.tracked.insert(finding.dedup_key.clone(), (count + 1, raised || confirmed));
        }
        if self.tracked.values().all(|(_, raised)| *raised) {
            self.settled = Some(Settled { facts: current, at: self.now });
        }
        assessment
    }

    /// So many equal runs; answers the number of alerts after each.
    fn counts(&mut self, current: &DnsResult, runs: usize) -> Vec<usize> {
        (0..runs).map(|_| self.run(current.clone()).len()).collect()
    }
}

fn within_limits(assessment: &Assessment) {
    assert!(assessment.memory.as_ref().is_none_or(|memory| memory.len() <= 64 << 10));
    assert!(assessment.findings.len() <= 32);
    for finding in &assessment.findings {
        assert!(finding.message.len() <= 1 << 10, "{}", finding.message.len());
        assert!(finding.dedup_key.len() <= 256);
        assert!(finding.suggestion.as_ref().is_some_and(|text| text.len() <= 2 << 10));
        assert!(finding.details.as_ref().is_some_and(|text| text.len() <= 16 << 10));
    }
}

fn result(records: Value) -> DnsResult {
    let sets = records.as_object().expect("a table of types");
    let sets = sets.iter().map(|(rtype, values)| json!({"type": rtype, "values": values}));
    let records: Vec<Value> = sets.collect();
    let result = json!({"domain": NAME, "records": records, "dnssec": null, "error": null});
    serde_json::from_value(result).expect("it is a result")
}

fn a(addresses: &[&str]) -> DnsResult {
    result(json!({"A": addresses}))
}

fn failed(error: &str) -> DnsResult {
    let failed_types = RecordType::ALL.map(|rtype| rtype.name().to_owned()).to_vec();
    DnsResult { error: Some(error.to_owned()), failed_types, ..result(json!({})) }
}

fn missing() -> DnsResult {
    DnsResult { error: Some("nxdomain".to_owned()), ..result(json!({})) }
}

fn signed(enabled: bool, valid: Option<bool>) -> DnsResult {
    DnsResult { dnssec: Some(Dnssec { enabled, valid }), ..a(&["192.0.2.1"]) }
}
