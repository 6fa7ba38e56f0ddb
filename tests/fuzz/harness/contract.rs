//! What the host accepts of a check. A stranger who makes a check answer more makes it break.

use vedette_sdk::{Assessment, Check, Facts, Finding, Observation};

/// Panics where the host would refuse the observation.
pub fn observed<F: Facts>(observation: &Observation<F>) {
    let result = serde_json::to_string(&observation.facts).expect("facts have a form in JSON");
    assert!(result.len() <= RESULT, "a result of {} bytes", result.len());
    at_most("summary", &observation.summary, TEXT);
    assert!(observation.metrics.iter().all(|metric| metric.value.is_finite()));
}

/// Panics where the host would refuse the verdict of this check.
pub fn assessed<C: Check>(assessment: &Assessment) {
    assert!(assessment.findings.len() <= FINDINGS, "{} findings", assessment.findings.len());
    if let Some(memory) = &assessment.memory {
        at_most("memory", memory, MEMORY);
    }
    let events = C::describe().events;
    for finding in &assessment.findings {
        assert!(events.iter().any(|event| event.name == finding.event), "{}", finding.event);
        found(finding);
    }
}

fn found(finding: &Finding) {
    at_most("dedup key", &finding.dedup_key, KEY);
    at_most("message", &finding.message, TEXT);
    at_most("suggestion", finding.suggestion.as_deref().unwrap_or_default(), SUGGESTION);
    at_most("details", finding.details.as_deref().unwrap_or_default(), DETAILS);
}

fn at_most(what: &str, text: &str, most: usize) {
    assert!(text.len() <= most, "{what} of {} bytes, at most {most}", text.len());
}

/// As in the host's `output`: bytes, and items.
const RESULT: usize = 256 << 10;
const MEMORY: usize = 64 << 10;
const TEXT: usize = 1 << 10;
const SUGGESTION: usize = 2 << 10;
const DETAILS: usize = 16 << 10;
const KEY: usize = 256;
const FINDINGS: usize = 32;
